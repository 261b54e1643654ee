// Which part of its tensors a kernel of cores touches in one of the shares that it is cut into.
#ifndef PB_DRIVER_SHARE_REACH_H
#define PB_DRIVER_SHARE_REACH_H

#include "core/base/arena.h"

#include <mlir-c/IR.h>
#include <stdbool.h>
#include <stdint.h>

// Of an argument. `own`: share s of n touches elements s / n to (s + 1) / n of the tensor, as it lies, and no others.
typedef struct pb_reach {
  bool read, written, own;
  int64_t span; // elements from the first to the last that a share touches, at most
} pb_reach;

// The reach of each argument of the kernel, as its code says it; false: it is not cut into `shares` shares, or more is
// done with its tensors than loads and stores. In the arena.
bool pb__share_reach(MlirOperation kernel, int64_t shares, pb_arena* arena, pb_reach** reach);

#endif
