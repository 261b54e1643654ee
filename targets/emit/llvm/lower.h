// Kernels from affine loops over tensors to LLVM's dialect, and from there to LLVM's own IR, for every control whose
// code LLVM makes.
#ifndef PB_LLVM_LOWER_H
#define PB_LLVM_LOWER_H

#include "core/poly/text.h"
#include "tdl/chip.h"

#include <mlir-c/IR.h>

// Registers passes, dialects and translations with the context. Call before the first module of a context, from one
// thread.
void pb_llvm_start(MlirContext context);
// Kernels (pb.kernel) become functions of LLVM's dialect: tensors are pointers, and a kernel that shares its work has
// two numbers behind them, which thread it is and of how many (partition.h). The module must hold the functions of the
// instructions that it calls, as pb_llvm_copy leaves it. false: *why says what went wrong.
bool pb_llvm_lower(MlirModule kernels, const pb_chip* chip, pb_text* why);

#endif
