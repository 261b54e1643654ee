# PB_TEST_PYTHON: what runs the tests' scripts, that of PB_PYTHON where it is set.
find_program(PB_TEST_PYTHON NAMES python python3 HINTS ${CMAKE_SOURCE_DIR}/.venv/bin NO_CACHE)
if(DEFINED ENV{PB_PYTHON})
  set(PB_TEST_PYTHON $ENV{PB_PYTHON})
endif()
# How ctest runs one: in a fork of a Python that has read the packages, where scripts/test has started such.
set(PB_TEST_SCRIPT ${PB_TEST_PYTHON} -IS ${CMAKE_SOURCE_DIR}/tests/start/start.py)

# pb_test(NAME libs...): a CMocka program from NAME.c in this folder, run by ctest.
find_library(PB_CMOCKA NAMES cmocka REQUIRED)
function(pb_test name)
  add_executable(${name} ${name}.c)
  target_link_libraries(${name} PRIVATE ${ARGN} ${PB_CMOCKA})
  target_compile_definitions(${name} PRIVATE PB_SOURCE_DIR="${CMAKE_SOURCE_DIR}" PB_BINARY_DIR="${CMAKE_BINARY_DIR}")
  add_test(NAME ${name} COMMAND ${name})
endfunction()
