// Inside `registers`: the text of one register tile.
#ifndef PB_S3_VECTOR_EMIT_H
#define PB_S3_VECTOR_EMIT_H

#include "core/s3/kernel/vector_kernel.h"
#include "core/s3/lower/lowered.h"

typedef struct pb_vload {
  const pb_access* access;
  int64_t displacement;
  int part;
  const char* name;
} pb_vload;

// A loop over the terms of a tile's sums.
typedef struct pb_vsum {
  int level;                // its variable is %o<level>, which
  int64_t iterations, step; // counts by `step` for each iteration
} pb_vsum;

// Of a kernel whose sums are taken in parts, the loop over these: sums begin in the first iteration, and other
// iterations but the last leave them where the result will be, if `ends_last`.
typedef struct pb_vblocks {
  int level; // -1: there is none
  int64_t last;
  bool ends_last;
} pb_vblocks;

typedef struct pb_vemit {
  const pb_group* group; // one tile
  const pb_vkernel* k;   // as cores run it
  const pb_chip* chip;
  pb_arena* arena;
  pb_lowered* out;
  pb_text* text; // its body
  int sum_count;
  pb_vsum sums[PB_NEST_OUTERS];
  int sum_at[PB_NEST_OUTERS]; // by level: which of these loops stands there, -1: one over tiles does, or none
  pb_vblocks blocks;
  int64_t size[PB_NEST_DIMS];    // of the tile, in steps: registers, or iterations of a sum
  int short_lanes[PB_NEST_DIMS]; // its last vector or matrix has so many elements, 0: all
  int walk[PB_NEST_DIMS];        // 1 + id: %q<id> walks the dim by walk_step, where a tile's values are finished
  int64_t walk_step[PB_NEST_DIMS];
  pb_vload* loads; // made already in this stretch of code
  size_t load_count, load_capacity;
} pb_vemit;

// One tile, which stands in loops %o<level>. false: it has more values than there can be.
bool pb_vemit_tile(pb_vemit* e, int indent);
#endif
