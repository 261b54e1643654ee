# Runs COMMAND_LINE; fails unless it exits with CODE and prints PATTERN.
execute_process(COMMAND ${COMMAND_LINE} RESULT_VARIABLE code OUTPUT_VARIABLE out ERROR_VARIABLE out)
if(NOT code EQUAL CODE)
  message(FATAL_ERROR "exit code ${code}, expected ${CODE}\n${out}")
endif()
if(NOT out MATCHES "${PATTERN}")
  message(FATAL_ERROR "no '${PATTERN}' in\n${out}")
endif()
