// The loop of a kernel of several stages that its last product sums over and its first one makes: in attention, keys.
// What lies between has it as an index, or has been reduced over it.
#ifndef PB_S3_KEY_LOOP_H
#define PB_S3_KEY_LOOP_H

#include "core/s3/program.h"

typedef struct pb_key_loop {
  int64_t keys;
  int *dim, *lane; // by nest: its dim over keys, or over blocks of them, and that in a block of one index; -1: none
  int64_t* unit;   // by nest: keys in an iteration of dim
  int* index;      // by value between: its index over keys, or over blocks; -1: none
  int64_t* step;   // by value between: keys in a step of that index
} pb_key_loop;

// first: the value between that has keys as its index. false: there is none such loop, or a nest walks a part of a
// value between alone.
bool pb_key_loop_find(const pb_program* program, int first, int index, pb_arena* arena, pb_key_loop* loop);
// The most keys that an iteration of some nest, or a step of some value, takes.
int64_t pb_key_loop_unit(const pb_program* program, const pb_key_loop* loop);

#endif
