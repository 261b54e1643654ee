# Started by whatever compiles: pbc, libpb.so.
add_executable(pb-read-mlir pb-read-mlir.c)
target_link_libraries(pb-read-mlir PRIVATE pb_stablehlo)
