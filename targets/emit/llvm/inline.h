// Instructions' functions as what they are.
#ifndef PB_LLVM_INLINE_H
#define PB_LLVM_INLINE_H

#include <mlir-c/IR.h>

// Calls of functions that are to be inlined always, and that take no memory, become copies of their bodies. An unrolled
// tile has a call for each product: as calls each would be converted, and then inlined, by itself.
void pb_llvm_inline(MlirModule module);

#endif
