// The loop that the last product of a kernel of several stages sums over: in attention, keys. What lies between has it
// as an index, or has been reduced over it.
#ifndef PB_S3_KEY_LOOP_H
#define PB_S3_KEY_LOOP_H

#include "core/s3/program.h"

typedef struct pb_key_loop {
  int64_t keys;
  int *dim, *lane; // by nest: its dim over keys, or over blocks of them, and that in a block; -1: none
  int64_t* unit;   // by nest: keys in an iteration of dim
  int* index;      // by value between: its index over keys; -1: none
} pb_key_loop;

// false: there is none, or a nest walks a part of a value between alone.
bool pb_key_loop_find(const pb_program* program, pb_arena* arena, pb_key_loop* loop);
// The most keys that an iteration of some nest takes.
int64_t pb_key_loop_unit(const pb_program* program, const pb_key_loop* loop);

#endif
