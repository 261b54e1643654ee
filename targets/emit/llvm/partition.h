// Levels realised for control by threads: a kernel that shares its work gets the number of its thread and how many
// there are.
#ifndef PB_LLVM_PARTITION_H
#define PB_LLVM_PARTITION_H

#include <mlir-c/IR.h>

// In every function marked pb.shared the call of @pb_partition(n) becomes arithmetic on two new last arguments of type
// index: thread t of c takes [n * t / c, n * (t + 1) / c). In those marked pb.alone it is all of it. The module must
// hold no other call of it.
void pb_llvm_partition(MlirModule module);

#endif
