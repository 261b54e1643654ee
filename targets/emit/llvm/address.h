// Loads and stores of tensors by pointers that the accesses of a loop share.
#ifndef PB_LLVM_ADDRESS_H
#define PB_LLVM_ADDRESS_H

#include <mlir-c/IR.h>

// In every function: affine loads and stores at linear indices of tensors of fixed shape become those of LLVM's
// dialect. What their indices have in common is added up once, in front of the innermost loop that leaves it alone;
// what differs is a constant. Others stay for the conversion.
void pb_llvm_address(MlirModule module);

#endif
