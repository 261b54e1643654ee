// One iteration of the loops that the stages of a kernel share, on threads: each stage is a kernel that one thread runs
// whole.
#ifndef PB_S3_ITERATION_H
#define PB_S3_ITERATION_H

#include "core/s3/kernel/group.h"

typedef struct pb_iteration {
  int count;
  pb_program* views;
  pb_group* groups;
  pb_value* values; // of the iteration's program, with the numbers of its buffers
} pb_iteration;

// Reads the nests of an iteration, whose locals are buffers; those that stay in one stage's registers are none. Buffers
// are numbered behind the arguments, in the order of values. false: the last of iteration->count stages is of no form
// that vectors walk; its group says why.
bool pb_iteration_read(const pb_chip* chip, const pb_program* program, pb_arena* arena, pb_iteration* iteration);
// The same where each nest's stage is known.
bool pb_iteration_read_stages(const pb_chip* chip, const pb_program* program, const int* of, int stages,
                              pb_arena* arena, pb_iteration* iteration);

#endif
