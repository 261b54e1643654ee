# LLVM and MLIR 22 and isl as interface targets: pb::mlir, pb::isl. The MLIR C API comes in static archives that resolve
# against the two shared objects; linking MLIR's own imported targets would bring a second copy of every registry.
find_program(PB_LLVM_CONFIG NAMES llvm-config-22 REQUIRED)
execute_process(COMMAND ${PB_LLVM_CONFIG} --libdir OUTPUT_VARIABLE PB_LLVM_LIBDIR OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${PB_LLVM_CONFIG} --includedir OUTPUT_VARIABLE PB_LLVM_INCLUDE OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${PB_LLVM_CONFIG} --bindir OUTPUT_VARIABLE PB_LLVM_BINDIR OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
# PB_STATIC_LLVM: LLVM, MLIR, LLD and TableGen become part of libpb.so, for a package that needs none of them on the machine
# (python/pyproject.toml): of their processors the ones that targets are of. Programs that libpb starts are then names for
# functions of it (core/library/programs.c).
option(PB_STATIC_LLVM "libpb.so has LLVM, LLD and TableGen in it" OFF)
if(NOT PB_STATIC_LLVM)
  find_program(PB_TBLGEN NAMES llvm-tblgen HINTS ${PB_LLVM_BINDIR} NO_DEFAULT_PATH REQUIRED)
endif()

set(PB_STATIC_COMPONENTS x86 nvptx amdgpu core passes orcjit mcjit perfjitevents dtlto)
add_library(pb_mlir INTERFACE)
add_library(pb::mlir ALIAS pb_mlir)
target_include_directories(pb_mlir SYSTEM INTERFACE ${PB_LLVM_INCLUDE})
if(PB_STATIC_LLVM)
  file(GLOB PB_MLIR_A ${PB_LLVM_LIBDIR}/libMLIR*.a)
  execute_process(COMMAND ${PB_LLVM_CONFIG} --link-static --libfiles ${PB_STATIC_COMPONENTS} tablegen lto option
                  OUTPUT_VARIABLE PB_LLVM_A OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(PB_LLVM_A UNIX_COMMAND "${PB_LLVM_A}")
  list(FILTER PB_LLVM_A EXCLUDE REGEX libPolly) # a plug-in, which is a package of its own
  find_library(PB_LLD_ELF NAMES lldELF HINTS ${PB_LLVM_LIBDIR} NO_DEFAULT_PATH REQUIRED) # liblld-22-dev
  find_library(PB_LLD_COMMON NAMES lldCommon HINTS ${PB_LLVM_LIBDIR} NO_DEFAULT_PATH REQUIRED)
  target_link_libraries(pb_mlir INTERFACE -Wl,--start-group ${PB_LLD_ELF} ${PB_LLD_COMMON} ${PB_MLIR_A} ${PB_LLVM_A} -Wl,--end-group
                        -static-libgcc -l:libstdc++.a -l:libz.a -l:libzstd.a dl rt m)
  set(PB_TBLGEN pb-tblgen)
else()
  file(GLOB PB_MLIR_CAPI ${PB_LLVM_LIBDIR}/libMLIRCAPI*.a)
  find_library(PB_MLIR_SO NAMES MLIR HINTS ${PB_LLVM_LIBDIR} NO_DEFAULT_PATH REQUIRED)
  find_library(PB_LLVM_SO NAMES LLVM-22 HINTS ${PB_LLVM_LIBDIR} REQUIRED)
  target_link_libraries(pb_mlir INTERFACE -Wl,--start-group ${PB_MLIR_CAPI} -Wl,--end-group ${PB_MLIR_SO} ${PB_LLVM_SO} stdc++ m)
endif()

find_library(PB_ISL_SO NAMES isl REQUIRED)
add_library(pb_isl INTERFACE)
add_library(pb::isl ALIAS pb_isl)
target_link_libraries(pb_isl INTERFACE ${PB_ISL_SO})

find_library(PB_JANSSON NAMES jansson REQUIRED)
