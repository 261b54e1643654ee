# pb_test(NAME libs...): a CMocka program from NAME.c in this folder, run by ctest.
find_library(PB_CMOCKA NAMES cmocka REQUIRED)
function(pb_test name)
  add_executable(${name} ${name}.c)
  target_link_libraries(${name} PRIVATE ${ARGN} ${PB_CMOCKA})
  target_compile_definitions(${name} PRIVATE PB_SOURCE_DIR="${CMAKE_SOURCE_DIR}" PB_BINARY_DIR="${CMAKE_BINARY_DIR}")
  add_test(NAME ${name} COMMAND ${name})
endfunction()
