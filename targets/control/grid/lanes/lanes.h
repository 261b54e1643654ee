// Vectors become values of lanes: what a warp does as one thread with vector registers, its lanes do together.
//
//   before   void k3(ptr, ptr, i64 thread, i64 threads)      %v = load <32 x float>, ptr %p
//   after    kernel void pb_k3(ptr global, ptr global)        %q = getelementptr float, ptr %p, i32 %lane
//                                                             %v = load float, ptr %q
//
// A vector of n elements is ceil(n / width) neighbours a lane: lane l has those from l times that number on, so that
// what changes the width of elements but not the bits of a vector changes nothing between lanes. What is no vector is
// one value that all lanes have; of such a store the first lane does it alone, so that no two lanes ever write one
// element. Lanes see what others wrote behind a wait of the warp, which stands between a store and an access that could
// meet it in a tensor that the kernel both writes and reads. Between warps nothing waits: S3's kernels have no such
// places.
//
// This is done on LLVM's IR, and not on MLIR's vectors: there every form of load, store and shuffle of three dialects
// has come down to few instructions with one meaning each, and what lanes cannot do is found there whoever made it.
#ifndef PB_GRID_LANES_H
#define PB_GRID_LANES_H

#include "targets/control/grid/lanes/isa.h"

#include <stdbool.h>

typedef struct pb_launch {
  int warps; // of a block
  int blocks;
  int64_t memory; // bytes that each warp, of a kernel that is spread its block, has to itself, of its block's memory
                  // or, if `outside`, of the system's
  bool outside;
  bool spread; // its iterations are threads' (targets/control/grid/spread.h): there are no vectors
} pb_launch;

typedef struct pb_lanes {
  const pb_isa* isa;
  int width;      // lanes of a warp
  int64_t inside; // bytes of memory that a block has at most
  char* why;      // malloc'ed; what cannot be done, NULL: nothing
} pb_lanes;

// Replaces the function of that name by an entry `symbol` for the launch, in which thread numbers are those of warps;
// launch->memory, which may take warps away from a block, is said by it. A launch with memory outside has one more
// pointer behind its tensors, to that of all warps. false: lanes->why.
bool pb_lanes_make(pb_lanes* lanes, LLVMModuleRef module, const char* name, const char* symbol, pb_launch* launch);

#endif
