// Inside plan: dims of a kernel's main nest by what tiles of them are: of rows, of columns, of what is summed. What one
// command walks, or one register holds, is no dim of these.
#ifndef PB_S3_PLAN_DIMS_H
#define PB_S3_PLAN_DIMS_H

#include "core/s3/kernel/taps.h"
#include "core/s3/tree/tiling.h"

// Each outermost first. Of kernels without an instruction that multiplies all results are rows.
typedef struct pb_plan_dims {
  int rows[PB_NEST_DIMS], row_count, columns[PB_NEST_DIMS], column_count, sums[PB_NEST_DIMS], sum_count;
  int batches;      // of the rows, the first ones: one image after the other
  int outer, inner; // the next one, and the last one if that is another; -1: there is none
  pb_taps taps;     // where each lane is for itself
} pb_plan_dims;

void pb__plan_dims_of(const pb_chip* chip, const pb_group* group, pb_plan_dims* dims);
// What a tile inside all of the plan's bands has of each dim.
void pb_plan_tile(const pb_plan* plan, const pb_nest* main, int64_t* tile);
// Another band inside those of the plan, if it cuts what is left of its dim, `whole`.
void pb__plan_add_band(pb_plan* plan, int dim, int64_t step, int64_t whole);
// The same for each of these dims, by their steps (NULL: one by one); steps and wholes: by dim.
void pb__plan_add_bands(pb_plan* plan, const int* dims, int count, const int64_t* steps, const int64_t* wholes);

#endif
