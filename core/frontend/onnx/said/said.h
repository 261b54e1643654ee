// Rows whose operands say extents at run time: tried where those are no constants.
#ifndef PB_ONNX_SAID_H
#define PB_ONNX_SAID_H

#include "core/frontend/onnx/extents.h"

void pb__o_said_reshape(pb_onnx* o);
void pb__o_said_squeeze(pb_onnx* o);
void pb__o_said_unsqueeze(pb_onnx* o);
void pb__o_said_expand(pb_onnx* o);
void pb__o_said_tile(pb_onnx* o);
void pb__o_said_fill(pb_onnx* o, int number);
void pb__o_said_range(pb_onnx* o);
int pb__o_said_depth(pb_onnx* o, int axis, const pb_flat_type* indices, int64_t* depth); // OneHot's, as a number too
void pb__o_said_slice(pb_onnx* o);
void pb__o_said_pad(pb_onnx* o, char how, int with); // how: "constant", "edge", "reflect", "wrap"
// One axis of x with `low`, a number of the program, elements in front, `count` in all.
int pb__o_padded_along(pb_onnx* o, int x, int axis, int low, int64_t count, char how);

typedef struct pb_onnx_resize {
  const char *transform, *nearest;
  char mode; // n, l or c
  bool antialias, exclude;
  double cubic;
} pb_onnx_resize;
// By sizes, or by scales of operand scales_at: said_resize.c.
void pb__o_said_resize(pb_onnx* o, const pb_onnx_resize* plan, bool by_sizes, int scales_at,
                       const int64_t* known); // extents that those of inputs say; NULL: data do

// Reductions and orders: said_order.c.
void pb__o_said_reduce(pb_onnx* o);
void pb__o_said_top_k(pb_onnx* o);
void pb__o_said_split(pb_onnx* o);
void pb__o_said_compress(pb_onnx* o);
// The places of what holds in a vector of truths, in order and as many as *count says; behind them anything.
int pb__o_places_of(pb_onnx* o, int truths, int* count);

#endif
