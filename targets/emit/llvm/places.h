// Loops that add to elements at places that they compute, as histograms and sums by segment do, a few hundred turns at
// a time: first the places and what is added, which LLVM puts in lanes, then the additions, one by one.
#ifndef PB_LLVM_PLACES_H
#define PB_LLVM_PLACES_H

#include <mlir-c/IR.h>

// Needs: plain kernels as loops of affine. Bits stay as they are.
void pb_llvm_places(MlirModule module);

#endif
