// Inside reside: tensors between kernels, and what kernels become when some of them stay on the chip.
#ifndef PB_S3_RESIDE_H
#define PB_S3_RESIDE_H

#include "core/base/table.h"
#include "core/s3/plan/plan.h"
#include "core/s3/s3.h"

// A tensor that one kernel makes and kernels behind it take, with a border where some of these read beside it.
typedef struct pb_resident {
  MlirValue tensor; // main's
  int memory;
  int first, last; // launches: the one that makes it, the last that takes it
  int64_t address, bytes;
  int64_t low[PB_NEST_RANK], high[PB_NEST_RANK]; // rows of border, by index
  int64_t spare[PB_NEST_RANK];                   // rows behind those that nobody touches: lines begin in other banks
  double fill;                                   // what the border is; without one nobody looks
} pb_resident;

typedef struct pb_launch {
  MlirOperation call, func;
  const pb_program* program;                // of func, as it was
  int like;                                 // the first launch of the same kernel
  int64_t price;                            // of its plan with the residents so far; 0: not asked yet, -1: it has none
  pb_plan* plan;                            // of `like`: without residents; NULL: none is kept
  int alive[PB_MAX_RESIDENTS], alive_count; // residents that live while it runs
} pb_launch;

typedef struct pb_reside {
  pb_unit* unit;
  pb_launch* launches;
  int launch_count;
  pb_table calls; // launches by their calls
  pb_resident* residents;
  int resident_count;
  pb_table priced; // numbers of prices by what was asked
  int64_t* prices;
  size_t price_count, price_capacity;
} pb_reside;

// The value of the launch's kernel that is the tensor, -1: none.
int pb__reside_value(const pb_reside* s, int launch, MlirValue tensor);
// The launch's kernel with the residents where they are, in the arena.
pb_program* pb__reside_program(const pb_reside* s, int launch, pb_arena* arena);
// Writes the module anew: kernels of their own for launches that differ, the tensors' types and places.
pb_status pb__reside_rewrite(pb_reside* s) PB_MUST_CHECK;

#endif
