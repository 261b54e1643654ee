// How a kernel runs on cores with vector registers: the tile that stays in registers, and the blocks that stay in
// caches. Chosen by the description alone.
#ifndef PB_S3_VECTOR_PLAN_H
#define PB_S3_VECTOR_PLAN_H

#include "core/s3/tree/tiling.h"

// A plan as the registers see it.
typedef struct pb_vplan {
  int64_t tile[PB_NEST_DIMS]; // steps of each dim of the main nest in registers at once: elements, or whole vectors
                              // along lane_dim. Summed dims: how far the loop is unrolled
  int64_t row_chunks;         // parts of the tiles that do not move w, and
  int64_t column_chunks;      // of those that do: their product is the work to share between threads
  int64_t sum_blocks;         // parts of the outermost summed dim; between two the sums are in memory
  bool columns_inside;        // inside a part, tiles that move w run faster than those that do not
  int64_t cycles;             // predicted, of one thread
  const char* bound;          // by what
} pb_vplan;

// The cheapest plan. Its bands, outermost first: parts of the outermost summed dim, then (from here on inside
// result_level are the sums) tiles of rows and of columns, then summed dims by as many steps as are written out.
// Operands are in registers inside all of them.
void pb_vplan_make(const pb_chip* chip, const pb_vkernel* kernel, pb_plan* plan);
// Fills cycles and bound. false: it is illegal, *why says why.
bool pb_vplan_cost(const pb_chip* chip, const pb_vkernel* kernel, pb_plan* plan, const char** why);
// Reads the bands. false: they are none of such a plan, *why says why.
bool pb_vplan_of(const pb_vkernel* kernel, const pb_plan* plan, pb_vplan* registers, const char** why);
// Bytes a cycle at which a tensor of this size is read again.
int64_t pb_vplan_rate(const pb_chip* chip, int64_t bytes);

pb_vtiles pb_vplan_tiles(const pb_vkernel* kernel, const pb_vplan* plan, int dim);
// Whether partial sums may lie where the result will: both are of the same kind.
bool pb_vplan_can_block(const pb_vkernel* kernel);
// The outermost summed dim, -1: none.
int pb_vplan_outer_sum(const pb_vkernel* kernel);

// Inside: the plan of what was chosen; in vector_plan_bands.c.
void pb__vplan_bands(const pb_vkernel* kernel, const pb_vplan* registers, pb_plan* plan);

#endif
