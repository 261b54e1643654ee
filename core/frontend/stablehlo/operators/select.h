// The largest of many, found and not sorted.
#ifndef PB_STABLEHLO_SELECT_H
#define PB_STABLEHLO_SELECT_H

#include "core/frontend/stablehlo/write_out.h"

// Whether that is less work than an order of all, and is possible.
bool pb__door_selects(const pb_door* d, const pb_s1_value* x, int64_t count);
// Where the `count` largest along the last dim of the operator's operand stand, in the order of their places: a value of
// i64. Of those that are alike the first ones are taken.
pb_status pb__door_select(pb_door* d, const pb_flat_op* top, int64_t count, int* places) PB_MUST_CHECK;

#endif
