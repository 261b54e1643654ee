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
// What a tile inside all of the plan's axes has of each dim.
void pb_plan_tile(const pb_plan* plan, const pb_nest* main, int64_t* tile);

#endif
