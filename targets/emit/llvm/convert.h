// Narrow floats that cores convert by instructions: what the plan has as plain operations on codes becomes LLVM's own
// conversions.
#ifndef PB_EMIT_LLVM_CONVERT_H
#define PB_EMIT_LLVM_CONVERT_H

#include "tdl/chip.h"

#include <mlir-c/IR.h>

// Of the types that the chip converts (`Converts` of its description): the operations of core/base/half_expr.h, on
// numbers or rows of them, become llvm.fpext and llvm.fptrunc. Both give the same numbers; which NaN it is may differ.
void pb_llvm_convert(MlirModule module, const pb_chip* chip);

#endif
