// Kernels that run as plain loops, shared among threads.
#ifndef PB_S3_PLAIN_H
#define PB_S3_PLAIN_H

#include <mlir-c/IR.h>
#include <stdbool.h>

// Cuts a dim of what the kernel writes among threads, where its loops allow it: then it is marked pb.shared, and has
// pb.work, how many operations its loops come to. What it calls, pb_partition, may not be in the module yet.
bool pb_plain_share(MlirOperation func);
bool pb_plain_may_share(MlirOperation func);

#endif
