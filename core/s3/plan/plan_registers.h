// How a kernel runs on cores with vector registers: the tile that stays in registers, and the parts that stay in
// caches.
#ifndef PB_S3_PLAN_REGISTERS_H
#define PB_S3_PLAN_REGISTERS_H

#include "core/s3/kernel/vector_kernel.h"
#include "core/s3/tree/tiling.h"

// A plan's bands, outermost first: parts of the outermost summed dim, then (from here on inside result_level are the
// sums) tiles of rows and of columns, then summed dims by as many steps as are written out. Operands are in registers
// inside all of them.

// Whether its bands are those of such a plan, and its tile fits the registers; else *why says why.
bool pb_registers_plan_legal(const pb_chip* chip, const pb_vkernel* kernel, const pb_plan* plan, const char** why);

// Inside. A plan as the registers see it.
typedef struct pb_register_tiles {
  int64_t tile[PB_NEST_DIMS]; // steps of each dim of the main nest in registers at once: elements, or whole vectors
                              // along lane_dim. Summed dims: how far the loop is unrolled
  int64_t sum_blocks;         // parts of the outermost summed dim; between two the sums are in memory
  bool columns_inside;        // tiles that move w run faster than those that do not
} pb_register_tiles;

// The plan of such tiles, nothing shared, and back from a legal one, but for what runs faster.
void pb__register_bands(const pb_vkernel* kernel, const pb_register_tiles* tiles, pb_plan* plan);
void pb__register_tiles_of(const pb_vkernel* kernel, const pb_plan* plan, pb_register_tiles* tiles);
int64_t pb__register_sum_blocks(const pb_vkernel* kernel, const pb_plan* plan);
bool pb__register_parts_legal(const pb_vkernel* kernel, const pb_plan* plan, const char** why);
// Registers of a tile's sums or values, and those that there are for them.
int64_t pb__register_points(const pb_vkernel* kernel, const pb_register_tiles* tiles);
int64_t pb__register_count(const pb_chip* chip, const pb_vkernel* kernel);
// The outermost summed dim, -1: none.
int pb__register_outer_sum(const pb_vkernel* kernel);

#endif
