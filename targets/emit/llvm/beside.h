// Nests that are beside each other (PB_PART_BESIDE) as one loop.
#ifndef PB_LLVM_BESIDE_H
#define PB_LLVM_BESIDE_H

#include <mlir-c/IR.h>

// Those of the function that follow each other, go through the same loops and do not meet in what they store.
void pb_llvm_join_beside(MlirOperation func);

#endif
