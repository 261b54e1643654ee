// Inside tiling: a stage of a kernel on its way into the tile. tiling_build.c has its loops, sums and epilogues,
// tiling_operands.c what brings its operands to the instruction, tiling_homes.c their buffers, tiling_registers.c what
// is of registers alone.
#ifndef PB_S3_TILING_STAGE_H
#define PB_S3_TILING_STAGE_H

#include "core/s3/kernel/vector_kernel.h"
#include "core/s3/tree/tiling.h"
#include "core/select/cover.h"

// A stage that reduces.
typedef struct pb_tile_stage {
  int x_memory, sums_memory; // x_memory: where x waits; the instruction may read it in another one
  int x_held;                // that one; the same: x takes one step
  pb_nest* store;            // takes the sums to their tensor
  int* kept;                 // the buffer in which x stays, where some of it does; -1: there is none yet
  pb_nest main;              // over its own dims, operands that have a home as buffers; last: few accesses are in use
} pb_tile_stage;

// ---- operands ----

// The memories in which x waits and the instruction reads it. false: t fails.
bool pb__stage_operand_memories(pb_tiling* t, pb_tile_stage* s, const pb_tile* tile);
// Brings the operands whose home is at this level, or, on the way in, outside it.
bool pb__stage_bring_operands(pb_tiling* t, pb_tile_stage* s, const pb_tile* tile, int level);

// How many homes tensors of a nest that reduces nothing have on the way to its instructions, and its result on the way
// out: in registers that no mover reaches from outside they take several steps. 1: one step, or none.
typedef struct pb_point_homes {
  int x, result;
} pb_point_homes;
// The pieces of a nest whose tensors may lie anywhere.
bool pb__tiling_pieces(pb_tiling* t, const pb_nest* nest, int carried, pb_cover* cover);
pb_point_homes pb_point_homes_of(const pb_chip* chip, const pb_group* group);
// Brings what has a home at this level that is not the nearest one: the nest goes on with it. `stores`: with what takes
// the result out of such homes, PB_MAX_HOMES at most, to be added behind all that is inside; *count is set. In
// tiling_steps.c.
bool pb__steps_bring(pb_tiling* t, pb_nest* main, const pb_tile* tile, int level, pb_nest** stores, int* count);

// ---- registers ----

// Whether cores compute the stage in registers: its tensors are read and written where they are, for caches show them;
// operands of products, and what nests of a tile make for each other, lie in the register file.
static inline bool pb__in_registers(const pb_tiling* t) { return t->group->registers != NULL; }
// t's group and plan as the tree has them: over the tree's dims, each tensor by element number.
void pb__registers_begin(pb_tiling* t);
// Whether the axes are such as tiles in registers can have. false: t fails.
bool pb__registers_axes_legal(pb_tiling* t);
// The runs of a axis of register tiles, and whether they are of columns.
int pb__register_runs(const pb_tiling* t, const pb_tile* tile, const pb_axis* axis, pb_iterations* runs);
bool pb__registers_is_column(const pb_tiling* t, int axis);
// The registers are free for another tile.
static inline void pb__registers_free(pb_tiling* t) { t->next_register = t->first_register; }
// Whether the dim is one whose elements are the lanes of a register.
bool pb__registers_is_lane(const pb_tiling* t, int dim);

#endif
