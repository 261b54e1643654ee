// Columns of a window that meet padding alone, wherever it stands, are left out of constant weights: where columns lie
// further apart than the image is wide (atrous convolutions: Chen et al. 2017) often all but one. Zeros times weights
// are zeros, unless a weight is no finite number.
//
//   before   y[o, h, w] += p[c, h + 12 r, w + 12 s] * k[o, c, r, s]     of r, s: 3; p: x[c, 10, 10], 12 zeros around it
//   after    y[o, h, w] += x[c, h, w] * k[o, c, 1, 1]
#include "core/s1/lift/lift.h"

#include <string.h>

pb__taps pb__live_taps(int64_t extent, int64_t out, int64_t window, int64_t stride, int64_t dilation, int64_t low,
                       int64_t high) {
  pb__taps live = {0, window};
  int64_t reach = (out - 1) * stride;
  while (live.first + 1 < live.end && live.first * dilation + reach < low && (live.first + 1) * dilation <= low)
    ++live.first;
  while (live.first + 1 < live.end && (live.end - 1) * dilation - low >= extent &&
         (window - live.end + 1) * dilation <= high)
    --live.end;
  return live;
}

// The rows and columns of weights [o, c, r, s] that are left.
static int cut(pb_consts* consts, int id, const pb__taps* live) {
  const pb_const* from = consts->items[id];
  int64_t rows = live[0].end - live[0].first, columns = live[1].end - live[1].first,
          shape[4] = {from->shape[0], from->shape[1], rows, columns}, planes = shape[0] * shape[1];
  size_t size = (size_t)pb_type_bits(from->type) / 8, run = (size_t)columns * size;
  const char* source = pb_const_data(consts, id);
  char *data = pb_alloc_array(&consts->arena, (size_t)(planes * rows * columns) + 1, size), *to = data;
  for (int64_t p = 0; p < planes; ++p)
    for (int64_t r = live[0].first; r < live[0].end; ++r, to += run)
      memcpy(to, source + (size_t)((p * from->shape[2] + r) * from->shape[3] + live[1].first) * size, run);
  return pb_consts_add(consts, from->name, from->type, 4, shape, data);
}

void pb__live_window(lifter* l, const int64_t* in, const int64_t* out, pb_s1_op* op) {
  pb__taps live[2];
  bool any = false;
  for (int k = 0; k < 2; ++k) {
    live[k] =
        pb__live_taps(in[2 + k], out[2 + k], op->window[k], op->stride[k], op->dilation[k], op->pad[k], op->pad[2 + k]);
    any |= live[k].end - live[k].first < op->window[k];
  }
  if (!any || !pb_const_is_finite(l->consts, op->weights)) return;
  op->weights = cut(l->consts, op->weights, live);
  for (int k = 0; k < 2; ++k) {
    op->pad[k] -= live[k].first * op->dilation[k];
    op->pad[2 + k] -= (op->window[k] - live[k].end) * op->dilation[k];
    op->window[k] = live[k].end - live[k].first;
  }
}
