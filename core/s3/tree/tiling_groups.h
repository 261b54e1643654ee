// The tree of a kernel of several stages on memories of its own: loops over tiles of what the stages share, and inside
// them each stage by a plan of its own.
#ifndef PB_S3_TILING_GROUPS_H
#define PB_S3_TILING_GROUPS_H

#include "core/s3/tree/tiling.h"

enum { PB_MAX_ITERATIONS = 8 };

// What several stages read of a tensor in an iteration, all of them the same part: a nest of one of them, and its
// access. nest NULL: the value is no such tensor.
typedef struct pb_held {
  const pb_nest* nest;
  int access, memory;     // memory: where a mover brings it
  pb_access part, origin; // origin: where in the tensor the part begins
} pb_held;

// One iteration of the shared loops, its stages as groups.
typedef struct pb_iteration_groups {
  bool fits;              // the chip has instructions for all of it
  const pb_value* values; // of the kernel, those between as large as the iteration makes them
  int count;              // stages
  pb_program* views;      // by stage: its nests
  pb_group* groups;       // by stage
  int** origin;           // by stage, by value of its view: that of the kernel
  int *memory, *maker;    // by value between stages: where it lies, and the stage that makes it; -1
  bool* matrix;           // by value: a matrix instruction reads its rows
  pb_held* held;          // by value
} pb_iteration_groups;

// What is built: begins by pb_stage_tiles_begin, `skewed` as the caller sets it then. Turns are read once and lie in
// its arena; `loops` and `tiles` may change between two trees as long as the bands of `loops` stay.
typedef struct pb_stage_tiles {
  const pb_chip* chip;
  const pb_stages* stages;
  const pb_plan *loops, *tiles; // tiles: by stage
  int built;                    // so many stages, the first ones
  // The first stage's sums are made an iteration of the innermost loop ahead, behind the stage that takes those before:
  // then what makes them works while the stages behind go on with the iteration at hand.
  bool skewed;
  // What several stages read is brought once for all of them. Not with `skewed`.
  bool holds;
  pb_select_memo* memo;
  pb_arena* arena;
  pb_iteration_groups iterations[PB_MAX_ITERATIONS]; // full ones, then those of remainders
  int iteration_count, at;
} pb_stage_tiles;

void pb_stage_tiles_begin(const pb_chip* chip, const pb_stages* stages, const pb_plan* loops, pb_arena* arena,
                          pb_stage_tiles* s);
// Builds the tree, in `arena`. false: impossible, tiling->failure says why.
bool pb_stage_tiles_build(pb_stage_tiles* s, pb_arena* arena, struct pb_proofs* proofs, pb_tiling* tiling);
// A full iteration, once a tree was built; NULL: there was none.
const pb_iteration_groups* pb_stage_tiles_iteration(pb_stage_tiles* s);

#endif
