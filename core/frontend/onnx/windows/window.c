// Windows over the dims behind channels: convolutions and pools, of any number of them.
#include "core/frontend/onnx/rows.h"

#include <string.h>

#define IN(k) pb__o_in(o, k)
#define OUT(v) pb__o_out(o, 0, v)

enum { FAR = 1 << 20 };

static void fit_one(pb_onnx* o, const char* mode, bool hangs, int64_t extent, int64_t reach, pb_onnx_conv* w, int s,
                    int64_t* out) {
  bool upper = !strcmp(mode, "SAME_UPPER"), lower = !strcmp(mode, "SAME_LOWER");
  if (!strcmp(mode, "VALID")) w->low[s] = w->high[s] = 0;
  if (upper || lower) {
    *out = (extent + w->stride[s] - 1) / w->stride[s];
    int64_t need = (*out - 1) * w->stride[s] + reach - extent;
    if (need < 0) need = 0;
    w->low[s] = lower ? need - need / 2 : need / 2;
    w->high[s] = need - w->low[s];
  }
  // gap: what the last window hangs over, until the caller takes it
  *out = pb__window_places(extent, w->low[s], w->high[s], reach, w->stride[s], hangs, &w->gap[s]);
  if (!*out) pb__o_refuse(o, "a window larger than the padded input");
}

void pb__o_read_window(pb_onnx* o, const int64_t* extents, int spaces, const int64_t* kernel, pb_onnx_conv* w,
                       int64_t* out) {
  const char* mode = pb__o_text(o, "auto_pad", "NOTSET");
  int64_t pads[2 * PB_FLAT_RANK];
  memset(w, 0, sizeof *w);
  if (strcmp(mode, "NOTSET") && strcmp(mode, "VALID") && strcmp(mode, "SAME_UPPER") && strcmp(mode, "SAME_LOWER"))
    pb__o_refuse(o, "auto_pad '%s'", mode);
  pb__o_ints(o, "strides", spaces, 1, w->stride);
  pb__o_ints(o, "dilations", spaces, 1, w->dilation);
  pb__o_ints(o, "pads", 2 * spaces, 0, pads);
  w->borders = !strncmp(mode, "SAME", 4) || pb__o_int(o, "ceil_mode", 0);
  for (int s = 0; s < spaces; ++s) {
    w->low[s] = pads[s];
    w->high[s] = pads[spaces + s];
    bool good = w->stride[s] > 0 && w->dilation[s] > 0 && kernel[s] > 0 && w->low[s] >= 0 && w->high[s] >= 0 &&
                w->stride[s] < FAR && w->dilation[s] < FAR && kernel[s] < FAR && w->low[s] < FAR && w->high[s] < FAR;
    if (!good) pb__o_refuse(o, "strides, dilations and windows are 1 to 2^20, pads 0 to 2^20");
    if (pb__o_bad(o)) return;
    int64_t reach = (kernel[s] - 1) * w->dilation[s] + 1;
    fit_one(o, mode, pb__o_int(o, "ceil_mode", 0), extents[s], reach, w, s, &out[s]);
  }
}

// ---- convolutions ----

static bool of_weights(pb_onnx* o, const pb_flat_type* in, const pb_flat_type* w, int64_t inputs) {
  bool fits = in->rank >= 3 && in->rank <= 5 && w->rank == in->rank && pb__o_meet(o, in->shape[1], inputs);
  const pb_attr* said = pb_node_attr(o->n, "kernel_shape");
  for (int s = 2; fits && said && s < in->rank; ++s)
    fits = said->count == in->rank - 2 && said->ints[s - 2] == w->shape[s];
  if (!fits) pb__o_refuse(o, "an input and weights that do not fit, or of other than 1 to 3 dims");
  return fits;
}

// The columns of weights that meet more than padding; the others are left out (core/s1/rewrite/live_window.c). Where
// extents are open all stay: which ones meet padding alone hangs on them.
static int live_columns(pb_onnx* o, int w, const int64_t* extents, const int64_t* out, pb_onnx_conv* c) {
  const pb_flat_type kernel = *pb__o_type(o, w);
  int64_t from[PB_FLAT_RANK] = {0}, to[PB_FLAT_RANK] = {kernel.shape[0], kernel.shape[1]};
  int spaces = kernel.rank - 2;
  bool any = false;
  if (o->l->consts->open) return w;
  for (int s = 0; s < spaces; ++s) {
    pb__taps live =
        pb__live_taps(extents[s], out[s], kernel.shape[2 + s], c->stride[s], c->dilation[s], c->low[s], c->high[s]);
    from[2 + s] = live.first;
    to[2 + s] = live.end;
    any |= live.end - live.first < kernel.shape[2 + s];
  }
  const pb_const* weights = pb__constant(o->l, pb__input(o->n, 1));
  bool numbers = !pb_type_is_float(kernel.type); // codes are, whoever computes them
  if (!any || (!numbers && !(weights && pb_const_is_finite(o->l->consts, weights->id)))) return w;
  for (int s = 0; s < spaces; ++s) {
    c->low[s] -= from[2 + s] * c->dilation[s];
    c->high[s] -= (kernel.shape[2 + s] - to[2 + s]) * c->dilation[s];
  }
  return pb__o_slice(o, w, from, to, NULL);
}

int pb__o_convolved(pb_onnx* o, int x, int w, int with, pb_type type) {
  const pb_flat_type in = *pb__o_type(o, x), kernel = *pb__o_type(o, w);
  int64_t groups = pb__o_int(o, "group", 1), out[PB_FLAT_RANK];
  pb_onnx_conv c;
  if (groups < 1 || groups > FAR) groups = 0;
  if (!of_weights(o, &in, &kernel, groups * kernel.shape[1]) || !groups || kernel.shape[0] % groups) {
    pb__o_refuse(o, "groups that do not fit");
    return x;
  }
  pb__o_read_window(o, in.shape + 2, in.rank - 2, kernel.shape + 2, &c, out);
  if (pb__o_bad(o)) return x;
  c.groups = groups;
  for (int s = 0; s < in.rank - 2; ++s) c.gap[s] = 1;
  if (with >= 0) {
    int64_t low[PB_FLAT_RANK] = {0}, high[PB_FLAT_RANK] = {0};
    memcpy(low + 2, c.low, sizeof *low * (size_t)(in.rank - 2));
    memcpy(high + 2, c.high, sizeof *high * (size_t)(in.rank - 2));
    x = pb__o_pad(o, x, with, low, high, NULL);
    memset(c.low, 0, sizeof c.low);
    memset(c.high, 0, sizeof c.high);
  } else {
    w = live_columns(o, w, in.shape + 2, out, &c);
  }
  return pb__o_conv(o, x, w, &c, type);
}

pb_type pb__o_between(pb_type type, bool steps) { return steps && pb_type_is_narrow(type) ? PB_F32 : type; }

int pb__o_with_bias(pb_onnx* o, int y, int k, pb_type type) {
  if (!pb__o_has(o, k)) return pb__o_cast(o, y, type);
  int bias = pb__o_cast(o, IN(k), pb__o_type(o, y)->type);
  return pb__o_cast(o, pb__o_add(o, y, pb__o_along(o, bias, pb__o_type(o, y)->rank, 1)), type);
}

void pb__o_op_conv(pb_onnx* o) {
  int x = IN(0), w = IN(1);
  if (pb__o_type(o, x)->type != pb__o_type(o, w)->type) pb__o_refuse(o, "operands of several types");
  pb_type type = pb__o_type(o, x)->type, between = pb__o_between(type, pb__o_has(o, 2));
  int y = pb__o_convolved(o, x, w, -1, between);
  OUT(pb__o_with_bias(o, y, 2, type));
}

// The pads of a result that is asked for, or as large as the strides make it.
static void wanted_pads(pb_onnx* o, int s, int64_t all, int64_t wanted, const char* mode, pb_onnx_conv* c) {
  int64_t total = all - wanted;
  if (total < 0) total = 0;
  bool upper = !strcmp(mode, "SAME_UPPER");
  c->low[s] = upper ? total / 2 : total - total / 2;
  c->high[s] = all - wanted - c->low[s];
  if (wanted < 1) pb__o_refuse(o, "an output shape that makes no sense");
}

// A convolution over its input with gaps, by the weights turned round.
void pb__o_op_conv_transpose(pb_onnx* o) {
  int x = IN(0), w = IN(1);
  const pb_flat_type in = *pb__o_type(o, x), kernel = *pb__o_type(o, w);
  int spaces = in.rank - 2;
  int64_t groups = pb__o_int(o, "group", 1), more[PB_FLAT_RANK], wanted[PB_FLAT_RANK], out[PB_FLAT_RANK];
  const char* mode = pb__o_text(o, "auto_pad", "NOTSET");
  pb_onnx_conv c, made = {.groups = groups, .reversed = true};
  if (in.type != kernel.type || groups < 1 || !of_weights(o, &in, &kernel, kernel.shape[0]) || in.shape[1] % groups)
    pb__o_refuse(o, "weights or groups that do not fit");
  if (pb__o_bad(o)) return;
  pb__o_ints(o, "output_padding", spaces, 0, more);
  const pb_attr* said = pb_node_attr(o->n, "output_shape");
  if (said && said->count == in.rank) // batch and channels in front
    memcpy(wanted, said->ints + 2, sizeof *wanted * (size_t)spaces);
  else
    pb__o_ints(o, "output_shape", spaces, 0, wanted);
  int64_t plenty[PB_FLAT_RANK];
  for (int s = 0; s < spaces; ++s) plenty[s] = (int64_t)FAR * FAR; // any window fits there
  pb__o_read_window(o, plenty, spaces, kernel.shape + 2, &c, out);
  bool same = !strncmp(mode, "SAME", 4);
  for (int s = 0; s < spaces && !pb__o_bad(o); ++s) {
    int64_t reach = (kernel.shape[2 + s] - 1) * c.dilation[s] + 1;
    int64_t all = c.stride[s] * (in.shape[2 + s] - 1) + reach + more[s];
    if (said || same) wanted_pads(o, s, all, said ? wanted[s] : in.shape[2 + s] * c.stride[s], mode, &c);
    made.stride[s] = 1;
    made.gap[s] = c.stride[s];
    made.dilation[s] = c.dilation[s];
    made.low[s] = reach - 1 - c.low[s];
    made.high[s] = reach - 1 - c.high[s] + more[s];
  }
  if (pb__o_bad(o)) return;
  int64_t parts[PB_FLAT_RANK] = {groups, kernel.shape[0] / groups, kernel.shape[1]}, order[PB_FLAT_RANK] = {0, 2, 1},
          turned[PB_FLAT_RANK] = {groups * kernel.shape[1], kernel.shape[0] / groups};
  for (int s = 0; s < spaces; ++s) {
    parts[3 + s] = turned[2 + s] = kernel.shape[2 + s];
    order[3 + s] = 3 + s;
  }
  w = pb__o_transpose(o, pb__o_reshape(o, w, in.rank + 1, parts), order);
  w = pb__o_reshape(o, w, in.rank, turned);
  const pb_const* weights = pb__constant(o->l, pb__input(o->n, 1));
  int constant = weights ? weights->id : -1;
  // no result at the edge has a product with what is beside the input, which are zeros here
  if (weights && in.type == PB_F32 && !pb_const_is_finite(o->l->consts, constant))
    pb__o_refuse(o, "weights that are not finite");
  pb_type type = pb__o_between(in.type, pb__o_has(o, 2));
  int y = pb__o_conv_by_phases(o, x, w, &made, constant, type);
  OUT(pb__o_with_bias(o, y < 0 ? pb__o_conv(o, x, w, &made, type) : y, 2, in.type));
}
