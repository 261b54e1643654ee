// Instructions of a core as code: the functions that stand for them in the IR, with their intrinsics inside.
#ifndef PB_LLVM_INTRINSIC_H
#define PB_LLVM_INTRINSIC_H

#include "core/poly/text.h"
#include "tdl/chip.h"

#include <mlir-c/IR.h>

// A function of vectors without a body: the attribute's value is an intrinsic that takes what one lane has of each, and
// behind its name the constants that it takes beside them, "llvm.amdgcn.sudot4 1 1 0".
#define PB_LLVM_OF_LANE "pb-of-lane"

// The core's instruction that a function stands for (pb.instruction); NULL: it is none's.
const pb_insn* pb_intrinsic_of(const pb_chip* chip, MlirOperation func);
// Its function once more, with the intrinsic as its body, to be inlined.
void pb_intrinsic_print(const pb_chip* chip, const pb_insn* insn, MlirOperation func, pb_text* text);

#endif
