// Operations on numbers and rows of them, one for one.
#ifndef PB_LLVM_DIRECT_H
#define PB_LLVM_DIRECT_H

#include <mlir-c/IR.h>

// In every function: operations that LLVM's dialect has by another name become those, for a tenth of what the
// conversion takes for each. Others stay for it.
void pb_llvm_rename(MlirModule module);

#endif
