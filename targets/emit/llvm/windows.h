// Largest elements of windows, in which NaN wins, are made without asking each for it.
#ifndef PB_LLVM_WINDOWS_H
#define PB_LLVM_WINDOWS_H

#include "tdl/chip.h"

#include <mlir-c/IR.h>

// Needs: kernels as loops of affine, tiles of registers written out. The same numbers; of two zeros either.
void pb_llvm_windows(MlirModule module, const pb_chip* chip);

#endif
