// Tensors by element number, as the conversion to LLVM's dialect takes them.
#ifndef PB_LLVM_FLAT_H
#define PB_LLVM_FLAT_H

#include <mlir-c/IR.h>

// In every function: what collapses or expands a tensor to one dim, in front of the loops, becomes a cast to that dim.
void pb_llvm_flatten(MlirModule module);

#endif
