// What turns that go in their order make.
#ifndef PB_ONNX_IN_ORDER_H
#define PB_ONNX_IN_ORDER_H

#include "core/frontend/onnx/rows.h"

// Of each row of i64 numbers the sums of those in front: [rows, count + 1].
int pb__o_running(pb_onnx* o, int each);
// Of [count, size] slices, ordered by their first numbers that differ, which one comes first, second, ...: [count],
// i64. Those that are the same keep their order. Time size n log n, of single numbers n.
int pb__o_sorted(pb_onnx* o, int slices);
// `taken`: [batches, classes, boxes], i64, in the order of their scores, 0 where a box does not count, of all boxes or
// the first ones; `order`: which box each is; `corners`: of all boxes, four of [batches, all boxes] (y0, x0, y1, x1). 0
// too where a box in front of it, which is 1, shares more with it than `most` of what both cover, and behind the first
// `slots` that are 1. Time boxes x those that are 1 of a row, by a loop of the host.
int pb__o_apart(pb_onnx* o, int taken, int order, const int* corners, int most, int64_t slots);

#endif
