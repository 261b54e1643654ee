// Extents that data say: a shape, or what one is computed of, comes at run time. The result's extents are computed in a
// small tensor, which the host reads before it goes on (core/open); while the model is read, numbers stand for them.
#ifndef PB_ONNX_EXTENTS_H
#define PB_ONNX_EXTENTS_H

#include "core/frontend/onnx/rows.h"

bool pb__o_says(const pb_onnx* o, int k); // operand k is there and no constant

// Vectors of i64.
int pb__o_vector(pb_onnx* o, int count, const int64_t* items);
int pb__o_whole(pb_onnx* o, int64_t value);                             // of rank 0
int pb__o_is(pb_onnx* o, const char* direction, int v, int64_t number); // compared with it
int pb__o_by(pb_onnx* o, const char* scalar, int v, int64_t number);    // the function of both
int pb__o_entry(pb_onnx* o, int vector, int k);                         // one element, as rank 0
int pb__o_numbers(pb_onnx* o, int k, const char* name);  // operand k, or the attribute, as a vector of i64
int pb__o_any(pb_onnx* o, int truths);                   // of all elements, as rank 0
int pb__o_total(pb_onnx* o, int vector, const char* by); // "add", "multiply", ..., as rank 0

// Result r has these extents. shape: an extent that is known, or -1, which becomes what stands for it. wrong: a truth
// of rank 0 that there is no such result, -1.
void pb__o_extents(pb_onnx* o, int r, int vector, int wrong, int count, int64_t* shape);

// x at places along the axis, kept inside.
int pb__o_along_axis(pb_onnx* o, int x, int axis, int places);
// 0, 1, ... up to an extent, as i64.
int pb__o_turns(pb_onnx* o, int64_t extent);
// The elements of x in their order, as many as this shape has, which are no more.
int pb__o_refilled(pb_onnx* o, int x, int rank, const int64_t* shape);

// Axes counted from either end, as flags of `rank` dims: 1 where one of them is the dim. *wrong: one is none, or twice.
int pb__o_flags(pb_onnx* o, int axes, int rank, int* wrong);
// The same as truths, rank x axes: whether the dim is that axis.
int pb__o_same_dim(pb_onnx* o, int axes, int rank);
// Places counted from either end, of these extents.
int pb__o_from_end(pb_onnx* o, int at, int extents);
// How many flags are 1 in front of each.
int pb__o_in_front(pb_onnx* o, int flags);
// The extents of dims that are not flagged, `count` of them.
int pb__o_unflagged(pb_onnx* o, int extents, int flags, int count);

#endif
