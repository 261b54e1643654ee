// x / (s * sqrt(s)), as bodies pull at each other, in rows of lanes where a processor estimates reciprocal roots,
// within 3 ulp. A divider and a unit for roots would take longer than all else that such a sum computes. x / sqrt(s) is
// left: norms of codes promise its bits.
#ifndef PB_LLVM_ROOTS_H
#define PB_LLVM_ROOTS_H

#include "tdl/chip.h"

#include <mlir-c/IR.h>

// Needs: kernels whose rows are vectors, their operations arith's and math's.
void pb_llvm_roots(MlirModule module, const pb_chip* chip);

#endif
