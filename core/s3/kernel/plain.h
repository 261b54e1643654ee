// Kernels that run as plain loops: their order, and how threads share them.
#ifndef PB_S3_PLAIN_H
#define PB_S3_PLAIN_H

#include "tdl/chip.h"

#include <mlir-c/IR.h>
#include <stdbool.h>

// Cuts a dim of what the kernel writes among threads, where its loops allow it: then it is marked pb.shared, and has
// pb.work, how many operations its loops come to. What it calls, pb_partition, may not be in the module yet. Each
// thread has the kernel's own tensors for itself then, if they are small. Before that, where the innermost loop of a
// nest takes elements that are far from each other, and one around it neighbours, of what it reads and writes, and as
// many as there are lanes, that one becomes the innermost: the code generator puts its turns in lanes. What each
// element is made of keeps its order, since turns of that loop write elements of their own.
bool pb_plain_share(const pb_chip* chip, MlirOperation func);
bool pb_plain_may_share(const pb_chip* chip, MlirOperation func);

#endif
