// Kernels that run as plain loops: their order, and how threads share them.
#ifndef PB_S3_PLAIN_H
#define PB_S3_PLAIN_H

#include "tdl/chip.h"

#include <mlir-c/IR.h>
#include <stdbool.h>

// Where the innermost loop of a nest takes elements that are far from each other, and one around it neighbours, of what
// it reads and writes, and as many as there are lanes, that one becomes the innermost: the code generator puts its
// turns in lanes. What each element is made of keeps its order, since turns of that loop write elements of their own.
void pb_plain_interchange(MlirOperation func, int64_t lanes);
// Cuts a dim of what the kernel writes among threads, where its loops allow it: then it is marked pb.shared, and has
// pb.work, how many operations its loops come to. What it calls, pb_partition, may not be in the module yet. Each
// thread has the kernel's own tensors for itself then, of `own` bytes at most each.
bool pb_plain_share(MlirOperation func, int64_t own);
bool pb_plain_may_share(MlirOperation func, int64_t own);
// Those bytes: none where lanes are threads, of which there are too many.
int64_t pb_plain_own(const pb_chip* chip);

#endif
