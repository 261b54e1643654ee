// The loop of a kernel of several stages that its last product sums over and its first one makes: in attention, keys.
// What lies between has it as an index, or has been reduced over it.
#ifndef PB_S3_KEY_LOOP_H
#define PB_S3_KEY_LOOP_H

#include "core/s3/program.h"

// How a nest walks an index of so many: by one dim (-1: it is one element), or by blocks (*dim) of *unit elements and
// in them (*lane, else -1). false: otherwise.
bool pb_walks_by_blocks(const pb_nest* nest, const pb_index* index, int64_t extent, int* dim, int* lane, int64_t* unit);

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
