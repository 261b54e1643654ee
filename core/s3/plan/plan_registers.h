// How a kernel runs on cores with vector registers: the tile that stays in registers, and the parts that stay in
// caches.
#ifndef PB_S3_PLAN_REGISTERS_H
#define PB_S3_PLAN_REGISTERS_H

#include "core/s3/kernel/vector_kernel.h"
#include "core/s3/plan/plan_dims.h"

// A plan's bands, outermost first: parts of the outermost summed dim, then (from here on inside result_level are the
// sums) tiles of rows and of columns, then summed dims by as many steps as are written out. Operands are in registers
// inside all of them.

// Whether its bands are those of such a plan, and its tile fits the registers; else *why says why.
bool pb_registers_plan_legal(const pb_chip* chip, const pb_group* group, const pb_plan* plan, const char** why);

// Inside. The plan of a tile, nothing shared. tile: what it has of each dim, whole registers along lane_dim, of summed
// dims how far the loop is unrolled. blocks: parts of the outermost summed dim, between which the sums are in memory.
// columns_inside: tiles that move w run faster than those that do not.
void pb__register_bands(const pb_group* group, const pb_plan_dims* dims, const int64_t* tile, int64_t blocks,
                        bool columns_inside, pb_plan* plan);
int64_t pb__register_sum_blocks(const pb_vkernel* kernel, const pb_plan* plan);
bool pb__register_parts_legal(const pb_vkernel* kernel, const pb_plan* plan, const char** why);
// Registers that there are for a tile's sums or values.
int64_t pb__register_count(const pb_chip* chip, const pb_vkernel* kernel);

#endif
