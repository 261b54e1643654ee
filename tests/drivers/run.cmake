# Runs an engine on the device KIND: it ends with CODE, and says TEXT, or has the right bits.
separate_arguments(OPTIONS)
execute_process(COMMAND ${BIN}/pb-run ${ENGINE} --device=${KIND} --input ${MODELS}/conv_3x3_in.npy --expect ${MODELS}/conv_3x3_out.npy ${OPTIONS}
  RESULT_VARIABLE code OUTPUT_VARIABLE out ERROR_VARIABLE out)
if(NOT code EQUAL CODE OR (TEXT AND NOT out MATCHES "${TEXT}"))
  message(FATAL_ERROR "exit code ${code}, wanted ${CODE} and '${TEXT}'\n${out}")
endif()
