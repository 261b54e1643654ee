add_executable(pbc pbc.c)
target_link_libraries(pbc PRIVATE pb_driver pb_runtime)
add_dependencies(pbc pb-read-mlir pb-check-core)
