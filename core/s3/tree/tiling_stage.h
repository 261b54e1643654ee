// Inside tiling: a stage of a kernel on its way into the tile. tiling_build.c has its loops, sums and epilogues,
// tiling_chains.c what brings its operands to the instruction, tiling_homes.c their buffers, tiling_registers.c what
// is of registers alone.
#ifndef PB_S3_TILING_STAGE_H
#define PB_S3_TILING_STAGE_H

#include "core/s3/kernel/vector_kernel.h"
#include "core/s3/tree/tiling.h"
#include "core/select/cover.h"

// The way of an operand or a result: the memories in which it has a home, outside first, that of its instruction last;
// none: it is read where it is. `lies`: as what weights lie on their way.
typedef struct pb_way {
  int access; // of the main nest
  pb_plan_operand of;
  int count, memory[PB_MAX_HOMES];
  bool straight; // code loads it from wherever it lies
  pb_type lies;
} pb_way;

typedef struct pb_tile_stage {
  pb_way* ways;
  int way_count, sums_memory;
  pb_nest* store;                // takes the sums to their tensor
  pb_nest* stores[PB_MAX_HOMES]; // take a result that passes through homes at this level from one to the next outside
  int store_count;
  int* kept;    // the buffer in which x stays, where some of it does; -1: there is none yet
  pb_nest main; // over its own dims, operands that have a home as buffers; last: few accesses are in use
} pb_tile_stage;

// ---- homes ----

// The ways of the main nest's operands. false: t fails.
bool pb__chains_begin(pb_tiling* t, pb_tile_stage* s, const pb_tile* tile);
// Brings what has a home at this level, or, on the way in, outside it; the nearest homes of a nest that reduces nothing
// stand beside its instructions (tiling_point.c). s->stores are to be added behind all that is inside.
bool pb__chains_bring(pb_tiling* t, pb_tile_stage* s, const pb_tile* tile, int level);
// A result's buffer on its way out, and what takes it from there to where it went before. whole: the tile is stored as
// a whole. false: t fails.
bool pb__chains_take_out(pb_tiling* t, pb_nest* main, const pb_tile* tile, const pb_home_at* at, bool whole,
                         pb_nest* store);
// The pieces of a nest whose tensors may lie anywhere.
bool pb__tiling_pieces(pb_tiling* t, const pb_nest* nest, int carried, pb_cover* cover);
// How many homes x has on the way to its instruction, and the result on the way out: to memories that no mover reaches
// from outside they take several steps. 1: one step, or none.
void pb_homes_of(const pb_chip* chip, const pb_group* group, int* x, int* result);

// ---- registers ----

// Whether cores compute the stage in registers: its tensors are read and written where they are, for caches show them;
// operands of products, and what nests of a tile make for each other, lie in the register file.
static inline bool pb__in_registers(const pb_tiling* t) { return t->group->registers != NULL; }
// t's group and plan as the tree has them: over the tree's dims, each tensor by element number.
void pb__registers_begin(pb_tiling* t);
// Whether the axes are such as tiles in registers can have. false: t fails.
bool pb__registers_axes_legal(pb_tiling* t);
// The runs of an axis of register tiles.
int pb__register_runs(const pb_tiling* t, const pb_tile* tile, const pb_axis* axis, pb_iterations* runs);
// The registers are free for another tile.
static inline void pb__registers_free(pb_tiling* t) { t->next_register = t->first_register; }

#endif
