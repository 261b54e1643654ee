// What turns that go in their order make.
#ifndef PB_ONNX_IN_ORDER_H
#define PB_ONNX_IN_ORDER_H

#include "core/frontend/onnx/rows.h"

// Of each row of i64 numbers the sums of those in front: [rows, count + 1].
int pb__o_running(pb_onnx* o, int each);
// Of [count, size] slices, ordered by their first numbers that differ, which one comes first, second, ...: [count],
// i64. Those that are the same keep their order. Time size n log n.
int pb__o_sorted(pb_onnx* o, int slices);
// Of boxes, four corners of [batches, boxes] each (y0, x0, y1, x1): at [batch, i, j], flat, 1 where what two share is
// more than `most` of what both cover; i32.
int pb__o_overlaps(pb_onnx* o, const int* corners, int most);
// `taken`: [batches, classes, boxes], i64, in the order of their scores, 0 where a box does not count; `order`: which
// box each is. 0 too where one in front of it, which is 1, overlaps it.
int pb__o_apart(pb_onnx* o, int taken, int order, int overlaps);

#endif
