// Blocks of sums and products so far, and of sums and products, go in lanes.
#ifndef PB_LLVM_SO_FAR_H
#define PB_LLVM_SO_FAR_H

#include "tdl/chip.h"

#include <mlir-c/IR.h>

// Needs: plain kernels as loops of affine. What a block of sixteen makes is rounded in another order than by turns.
void pb_llvm_so_far(MlirModule module, const pb_chip* chip);

#endif
