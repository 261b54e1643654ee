// One iteration of the loops that the stages of a kernel share: each stage is a kernel of its own, on buffers that hold
// what lies between them.
#ifndef PB_S3_ITERATION_H
#define PB_S3_ITERATION_H

#include "core/s3/kernel/group.h"

typedef struct pb_iteration {
  int value_count;
  const pb_value* values; // of the iteration's program
  int count;              // stages
  pb_program* views;
  pb_group* groups;
  int** origin; // by stage, by value of its view: that of the iteration
} pb_iteration;

// Reads the nests of an iteration, whose locals are buffers, by stage: of[] is each nest's. Those locals that stay in
// one stage's registers are none. false: the chip cannot run the last of iteration->count stages; where cores run code,
// its group says why.
bool pb_iteration_read(const pb_chip* chip, const pb_program* program, const int* of, int stages, pb_arena* arena,
                       pb_iteration* iteration);

#endif
