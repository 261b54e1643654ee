# LLVM and MLIR 22 and isl as interface targets: pb::mlir, pb::isl. The MLIR C API comes in static archives that resolve
# against the two shared objects; linking MLIR's own imported targets would bring a second copy of every registry.
find_program(PB_LLVM_CONFIG NAMES llvm-config-22 REQUIRED)
execute_process(COMMAND ${PB_LLVM_CONFIG} --libdir OUTPUT_VARIABLE PB_LLVM_LIBDIR OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${PB_LLVM_CONFIG} --includedir OUTPUT_VARIABLE PB_LLVM_INCLUDE OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${PB_LLVM_CONFIG} --bindir OUTPUT_VARIABLE PB_LLVM_BINDIR OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
find_program(PB_TBLGEN NAMES llvm-tblgen HINTS ${PB_LLVM_BINDIR} NO_DEFAULT_PATH REQUIRED)

file(GLOB PB_MLIR_CAPI ${PB_LLVM_LIBDIR}/libMLIRCAPI*.a)
find_library(PB_MLIR_SO NAMES MLIR HINTS ${PB_LLVM_LIBDIR} NO_DEFAULT_PATH REQUIRED)
find_library(PB_LLVM_SO NAMES LLVM-22 HINTS ${PB_LLVM_LIBDIR} REQUIRED)
add_library(pb_mlir INTERFACE)
add_library(pb::mlir ALIAS pb_mlir)
target_include_directories(pb_mlir SYSTEM INTERFACE ${PB_LLVM_INCLUDE})
target_link_libraries(pb_mlir INTERFACE -Wl,--start-group ${PB_MLIR_CAPI} -Wl,--end-group ${PB_MLIR_SO} ${PB_LLVM_SO} stdc++ m)

find_library(PB_ISL_SO NAMES isl REQUIRED)
add_library(pb_isl INTERFACE)
add_library(pb::isl ALIAS pb_isl)
target_link_libraries(pb_isl INTERFACE ${PB_ISL_SO})

find_library(PB_JANSSON NAMES jansson REQUIRED)
