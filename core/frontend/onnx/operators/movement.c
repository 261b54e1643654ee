// Elements in other places.
#include "core/frontend/onnx/said/said.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define IN(k) pb__o_in(o, k)
#define OUT(v) pb__o_out(o, 0, v)

void pb__o_op_folded(pb_onnx* o) { pb__o_refuse(o, "of what is not constant"); }

// Of constants it is folded; where its length is an extent of an open dim it is made, from start and step.
void pb__o_op_range(pb_onnx* o) {
  if (pb__o_says(o, 0) || pb__o_says(o, 1) || pb__o_says(o, 2)) {
    pb__o_said_range(o);
    return;
  }
  int64_t at[3], count;
  for (int k = 0; k < 3; ++k)
    if (pb__o_list(o, NULL, k, 1, &at[k]) != 1) pb__o_refuse(o, "of what is not constant");
  if (pb__o_bad(o)) return;
  int start = pb__o_in(o, 0), step = pb__o_in(o, 2);
  pb_type type = pb__o_type(o, start)->type;
  if (!at[2]) pb__o_refuse(o, "a step of 0");
  if (pb__o_bad(o)) return;
  count = at[2] > 0 ? (at[1] - at[0] + at[2] - 1) / at[2] : (at[0] - at[1] - at[2] - 1) / -at[2];
  start = pb__o_reshape(o, start, 0, NULL);
  step = pb__o_reshape(o, step, 0, NULL);
  OUT(pb__o_add(o, pb__o_mul(o, pb__o_iota(o, type, 1, &count, 0), step), start));
}

// What only asks for a shape is folded where it can be; what is left has an operand that nothing makes.
void pb__o_op_shape_of(pb_onnx* o) {
  int x = pb__o_in_moved(o, 0);
  const pb_flat_type in = *pb__o_type(o, x);
  if (pb__o_bad(o)) return;
  int64_t all = pb__o_elements(o, x), from = pb__o_int(o, "start", 0), to = pb__o_int(o, "end", in.rank);
  if (o->row->detail[0]) {
    OUT(pb__o_constant(o, PB_I64, 0, NULL, &all));
    return;
  }
  from = from < 0 ? (from < -in.rank ? 0 : from + in.rank) : from > in.rank ? in.rank : from;
  to = to < 0 ? (to < -in.rank ? 0 : to + in.rank) : to > in.rank ? in.rank : to;
  int64_t count = to > from ? to - from : 0;
  OUT(pb__o_constant(o, PB_I64, 1, &count, in.shape + from));
}

void pb__o_op_reshape(pb_onnx* o) {
  if (pb__o_says(o, 1)) {
    (!strcmp(o->n->op, "Squeeze")     ? pb__o_said_squeeze
     : !strcmp(o->n->op, "Unsqueeze") ? pb__o_said_unsqueeze
                                      : pb__o_said_reshape)(o);
    return;
  }
  int x = pb__o_in_moved(o, 0), rank = 0;
  const pb_flat_type in = *pb__o_type(o, x);
  pb_s1_value shape = {.rank = in.rank};
  int64_t to[PB_GRAPH_RANK];
  memcpy(shape.shape, in.shape, sizeof in.shape);
  if (o->status == PB_OK) o->status = pb__read_reshape(o->l, o->n, &shape, to, &rank);
  if (!pb__o_bad(o)) OUT(pb__o_reshape(o, x, rank, to));
}

// One dim more, 1 long, at a place that counts from either end of the result's dims: Unsqueeze with one axis.
void pb__o_op_expand_dims(pb_onnx* o) {
  int tensor = o->n->inputs[0], rank = pb__o_type(o, pb__o_in(o, 0))->rank;
  int64_t place;
  if (pb__o_list(o, NULL, 1, 1, &place) != 1) pb__o_refuse(o, "a place that is none");
  if (pb__o_bad(o)) return;
  pb_attr axes = pb__o_axes(o, "axes", pb__o_axis(o, place, rank + 1));
  pb__o_node(o, "Unsqueeze", 1, &tensor, &axes, 1, o->n->outputs[0]);
}

void pb__o_op_expand(pb_onnx* o) {
  if (pb__o_says(o, 1)) {
    pb__o_said_expand(o);
    return;
  }
  int x = pb__o_in_moved(o, 0), rank = pb__o_type(o, x)->rank;
  int64_t said[PB_GRAPH_RANK], shape[PB_GRAPH_RANK];
  int count = pb__o_list(o, NULL, 1, PB_GRAPH_RANK, said);
  memcpy(shape, pb__o_type(o, x)->shape, sizeof shape);
  if (!pb__o_bad(o) && !pb__broadcast(shape, &rank, said, count)) pb__o_refuse(o, "shapes that do not fit");
  if (!pb__o_bad(o)) OUT(pb__o_expand(o, x, rank, shape));
}

void pb__o_op_transpose(pb_onnx* o) {
  int x = pb__o_in_moved(o, 0), rank = pb__o_type(o, x)->rank;
  int64_t order[PB_FLAT_RANK];
  const pb_attr* perm = pb_node_attr(o->n, "perm");
  unsigned seen = 0;
  if (perm && perm->count != rank) pb__o_refuse(o, "a permutation of another length");
  for (int r = 0; r < rank && !pb__o_bad(o); ++r) {
    order[r] = perm ? perm->ints[r] : rank - 1 - r;
    if (order[r] < 0 || order[r] >= rank || seen >> order[r] & 1) pb__o_refuse(o, "an order that is no permutation");
    if (!pb__o_bad(o)) seen |= 1u << order[r];
  }
  if (!pb__o_bad(o)) OUT(pb__o_transpose(o, x, order));
}

// One axis of a box, the first place in the order of the step; how many there are.
static int64_t steps_of(pb_onnx* o, int64_t extent, int64_t start, int64_t end, int64_t step, int64_t* first) {
  static const char text[] = "a slice is kept inside of its tensor";
  bool back = step < 0;
  int64_t by = back ? -step : step;
  *first = 0;
  if (!extent) return 0;
  end = pb__slice_bound(o->l, end, extent, back, true);
  start = pb__slice_bound(o->l, start, extent, back, false);
  int64_t least = pb_consts_smaller(o->l->consts, start, end, text), far = back ? start : end;
  *first = back ? start : least;
  if (far < least)
    pb__o_refuse(o, "bounds of which it hangs on extents which is the smaller"); // a number that stands for it
  return (far - least + by - 1) / by;
}

void pb__o_op_slice(pb_onnx* o) {
  for (int k = 1; k <= 4; ++k) {
    if (!pb__o_says(o, k)) continue;
    pb__o_said_slice(o);
    return;
  }
  int x = pb__o_in_moved(o, 0);
  const pb_flat_type in = *pb__o_type(o, x);
  int64_t starts[PB_GRAPH_RANK], ends[PB_GRAPH_RANK], axes[PB_GRAPH_RANK], steps[PB_GRAPH_RANK];
  int64_t from[PB_FLAT_RANK] = {0}, to[PB_FLAT_RANK], by[PB_FLAT_RANK];
  bool turned[PB_FLAT_RANK] = {false}, seen[PB_FLAT_RANK] = {false};
  const int64_t far = (int64_t)1 << 31;
  int count = pb__o_list(o, "starts", 1, PB_GRAPH_RANK, starts),
      ends_count = pb__o_list(o, "ends", 2, PB_GRAPH_RANK, ends);
  int axis_count = pb__o_list(o, "axes", 3, PB_GRAPH_RANK, axes),
      step_count = pb__o_list(o, NULL, 4, PB_GRAPH_RANK, steps);
  if (count < 0 || ends_count != count || (axis_count >= 0 && axis_count != count) ||
      (step_count >= 0 && step_count != count))
    pb__o_refuse(o, "starts, ends, axes and steps of several lengths");
  memcpy(to, in.shape, sizeof to);
  for (int r = 0; r < PB_FLAT_RANK; ++r) by[r] = 1;
  for (int k = 0; k < count && !pb__o_bad(o); ++k) {
    int r = pb__o_axis(o, axis_count < 0 ? k : axes[k], in.rank);
    int64_t step = step_count < 0 ? 1 : steps[k] < -far ? -far : steps[k] > far ? far : steps[k], first;
    if (!step || seen[r]) pb__o_refuse(o, "a step of 0, or an axis twice");
    if (pb__o_bad(o)) return;
    seen[r] = true;
    int64_t turns = steps_of(o, in.shape[r], starts[k], ends[k], step, &first);
    turned[r] = step < 0;
    by[r] = step < 0 ? -step : step;
    from[r] = step < 0 && turns ? first - (turns - 1) * by[r] : first;
    to[r] = turns ? from[r] + (turns - 1) * by[r] + 1 : from[r];
  }
  if (!pb__o_bad(o)) OUT(pb__o_reverse(o, pb__o_slice(o, x, from, to, by), turned));
}

void pb__o_op_split(pb_onnx* o) {
  if (pb__o_says(o, 1)) {
    pb__o_said_split(o);
    return;
  }
  int x = pb__o_in_moved(o, 0), axis = pb__o_axis(o, pb__o_int(o, "axis", 0), pb__o_type(o, x)->rank),
      parts = o->n->output_count;
  int64_t* sizes = PB_NEW_ARRAY(&o->arena, int64_t, (size_t)parts + 1);
  int count = pb__o_list(o, "split", 1, parts, sizes);
  if (count >= 0 && count != parts) pb__o_refuse(o, "%d parts and %d results", count, parts);
  if (pb__o_bad(o)) return;
  int64_t extent = pb__o_type(o, x)->shape[axis], each = (extent + parts - 1) / parts, at = 0;
  for (int k = 0; k < parts && !pb__o_bad(o); ++k) {
    int64_t size = count >= 0 ? sizes[k] : pb__part_end(o->l, each, k, extent) - at;
    if (size < 0 || size > extent - at) pb__o_refuse(o, "parts that do not fit");
    if (pb__o_bad(o)) return;
    pb__o_out(o, k, pb__o_part(o, x, axis, at, at + size));
    at += size;
  }
  if (at != extent) pb__o_refuse(o, "parts that do not fill it");
}

// A part without elements may be long along the axis, where another dim is 0. PyTorch leaves ones of shape [0] beside
// tensors of any rank: they add nothing.
void pb__o_op_concat(pb_onnx* o) {
  int *parts = PB_NEW_ARRAY(&o->arena, int, (size_t)o->n->input_count + 1), count = 0, rank = 0, kept = 0;
  for (int k = 0; k < o->n->input_count; ++k) {
    int part = IN(k), its = pb__o_type(o, part)->rank;
    parts[count++] = part;
    rank = its > rank ? its : rank;
  }
  for (int k = 0; k < count; ++k) {
    const pb_flat_type* t = pb__o_type(o, parts[k]);
    if (t->rank == rank || t->rank != 1 || t->shape[0]) parts[kept++] = parts[k];
  }
  if (!kept) pb__o_refuse(o, "without parts");
  if (pb__o_bad(o)) return;
  int axis = pb__o_axis(o, pb__o_int(o, "axis", pb__o_opset(o) < 4 ? 1 : 0), rank);
  if (!pb__o_bad(o)) OUT(pb__o_join(o, kept, parts, axis));
}

// ---- constant places ----

int pb__o_take(pb_onnx* o, int x, int axis, int64_t count, const int64_t* places) {
  const pb_flat_type in = *pb__o_type(o, x);
  int64_t shape[PB_FLAT_RANK], step = count > 1 ? places[1] - places[0] : 1;
  bool line = step > 0;
  for (int64_t k = 0; k < count; ++k) {
    if (places[k] < 0 || places[k] >= in.shape[axis]) pb__o_refuse(o, "a place that is not there");
    line &= places[k] == places[0] + k * step;
  }
  memcpy(shape, in.shape, sizeof shape);
  shape[axis] = count;
  if (pb__o_bad(o)) return x;
  if (line) {
    int64_t from[PB_FLAT_RANK] = {0}, to[PB_FLAT_RANK], by[PB_FLAT_RANK] = {1, 1, 1, 1, 1, 1, 1, 1};
    memcpy(to, in.shape, sizeof to);
    from[axis] = places[0];
    to[axis] = places[count - 1] + 1;
    by[axis] = step;
    return pb__o_slice(o, x, from, to, by);
  }
  int64_t times = count % in.shape[axis] ? 0 : count / in.shape[axis], wide[PB_FLAT_RANK + 1], dims[PB_FLAT_RANK];
  for (int64_t k = 0; k < count && times; ++k) times = places[k] == k / times ? times : 0;
  if (times && in.rank < PB_FLAT_RANK) { // each as often
    for (int r = 0; r < in.rank; ++r) {
      wide[r + (r > axis)] = in.shape[r];
      dims[r] = r + (r > axis);
    }
    wide[axis + 1] = times;
    return pb__o_reshape(o, pb__o_broadcast(o, x, in.rank + 1, wide, dims), in.rank, shape);
  }
  pb_onnx_places p = {.dropped = 1, .drop = {axis}, .maps = 1, .map = {axis}};
  for (int r = 0; r < in.rank; ++r) {
    p.size[r] = r == axis ? 1 : in.shape[r];
    if (r != axis) p.window[p.windows++] = r;
  }
  int64_t column[2] = {count, 1};
  return pb__o_gather(o, x, pb__o_constant(o, PB_I64, 2, column, places), &p, in.rank, shape);
}

// ---- padding ----

// Where place k of an axis comes from, when it lies outside.
static int64_t folded(int64_t k, int64_t extent, char how) {
  if (how == 'e') return k < 0 ? 0 : k >= extent ? extent - 1 : k;
  int64_t period = how == 'w' ? extent : 2 * (extent - 1);
  if (period == 0) return 0;
  k = (k % period + period) % period;
  return k < extent ? k : period - k;
}

static int padded(pb_onnx* o, int x, const int64_t* low, const int64_t* high, char how) {
  bool hangs = pb__pads_hang(o->l, o->n);
  for (int r = 0; r < pb__o_type(o, x)->rank && !pb__o_bad(o); ++r) {
    int64_t extent = pb__o_type(o, x)->shape[r], count = extent + low[r] + high[r];
    if (!low[r] && !high[r] && !hangs) continue;
    if (count < 1) pb__o_refuse(o, "a result without elements");
    if (pb__o_bad(o)) return x;
    if (hangs) {
      x = pb__o_padded_along(o, x, r, pb__o_integer(o, PB_I64, low[r]), count, how);
      continue;
    }
    int64_t* places = PB_NEW_ARRAY(&o->arena, int64_t, (size_t)count);
    for (int64_t k = 0; k < count; ++k) places[k] = folded(k - low[r], extent, how);
    x = pb__o_take(o, x, r, count, places);
  }
  return x;
}

void pb__o_op_pad(pb_onnx* o) {
  int x = IN(0);
  const pb_flat_type in = *pb__o_type(o, x);
  const char* mode = pb__o_text(o, "mode", "constant");
  int64_t pads[2 * PB_GRAPH_RANK], axes[PB_GRAPH_RANK], low[PB_FLAT_RANK] = {0}, high[PB_FLAT_RANK] = {0};
  const int64_t most = (int64_t)1 << 31;
  const char* name = pb_node_attr(o->n, "paddings") ? "paddings" : "pads";
  bool constant = !strcmp(mode, "constant"), edge = !strcmp(mode, "edge"), reflect = !strcmp(mode, "reflect");
  if (!constant && !edge && !reflect && strcmp(mode, "wrap")) pb__o_refuse(o, "a mode '%s'", mode);
  int with = pb__o_has(o, 2) ? IN(2) : pb__o_like(o, x, pb__o_real(o, "value", 0));
  with = constant ? pb__o_reshape(o, with, 0, NULL) : with;
  if (pb__o_says(o, 1) || pb__o_says(o, 3)) {
    pb__o_said_pad(o, mode[0], with);
    return;
  }
  int count = pb__o_list(o, name, 1, 2 * PB_GRAPH_RANK, pads), axis_count = pb__o_list(o, NULL, 3, PB_GRAPH_RANK, axes);
  int all = axis_count < 0 ? in.rank : axis_count;
  if (count != 2 * all) pb__o_refuse(o, "pads of %d numbers for %d axes", count, all);
  for (int k = 0; k < all && !pb__o_bad(o); ++k) {
    int r = pb__o_axis(o, axis_count < 0 ? k : axes[k], in.rank);
    if (pads[k] < -most || pads[k] > most || pads[all + k] < -most || pads[all + k] > most)
      pb__o_refuse(o, "pads that make no sense");
    if (pb__o_bad(o)) return;
    low[r] = pads[k];
    high[r] = pads[all + k];
    if (in.shape[r] + low[r] + high[r] > most) pb__o_refuse(o, "pads that make no sense");
  }
  if (pb__o_bad(o)) return;
  if (!constant)
    OUT(padded(o, x, low, high, mode[0]));
  else if (pb__pads_hang(o->l, o->n))
    OUT(pb__o_pad_open(o, x, with, low, high));
  else
    OUT(pb__o_pad(o, x, with, low, high, NULL));
}

void pb__o_op_tile(pb_onnx* o) {
  if (o->n->input_count == 2 && pb__o_says(o, 1)) {
    pb__o_said_tile(o);
    return;
  }
  int x = pb__o_in_moved(o, 0);
  const pb_flat_type in = *pb__o_type(o, x);
  int64_t times[PB_GRAPH_RANK];
  int count = pb__o_list(o, NULL, 1, PB_GRAPH_RANK, times);
  if (o->n->input_count == 3) pb__o_refuse(o, "in the form of opset 1");
  if (count != in.rank) pb__o_refuse(o, "%d repeats for %d dims", count, in.rank);
  for (int r = in.rank - 1; r >= 0 && !pb__o_bad(o); --r) {
    int64_t shape[PB_FLAT_RANK], wide[PB_FLAT_RANK + 1], dims[PB_FLAT_RANK];
    memcpy(shape, pb__o_type(o, x)->shape, sizeof shape);
    if (times[r] == 1) continue;
    if (times[r] < 0 || (shape[r] && times[r] > PB_MAX_ELEMENTS / shape[r])) pb__o_refuse(o, "repeats that do not fit");
    if (pb__o_bad(o)) return;
    if (in.rank == PB_FLAT_RANK) pb__o_refuse(o, "of 8 dims");
    for (int s = 0; s < in.rank; ++s) {
      wide[s + (s >= r)] = shape[s];
      dims[s] = s + (s >= r);
    }
    wide[r] = times[r];
    shape[r] *= times[r];
    if (!pb__o_bad(o)) x = pb__o_reshape(o, pb__o_broadcast(o, x, in.rank + 1, wide, dims), in.rank, shape);
  }
  OUT(x);
}

void pb__o_op_trilu(pb_onnx* o) {
  int x = IN(0);
  const pb_flat_type in = *pb__o_type(o, x);
  bool upper = pb__o_int(o, "upper", 1);
  if (in.rank < 2) pb__o_refuse(o, "an input that is no matrix");
  if (pb__o_bad(o)) return;
  const int64_t *sides = in.shape + in.rank - 2, alone[2] = {1, sides[1]}, column[2] = {sides[0], 1};
  int row = pb__o_iota(o, PB_I64, 2, column, 0), col = pb__o_iota(o, PB_I64, 2, alone, 1);
  if (pb__o_has(o, 1)) row = pb__o_add(o, row, pb__o_reshape(o, IN(1), 0, NULL));
  int is = pb__o_compare(o, upper ? "GE" : "LE", col, row);
  OUT(pb__o_select(o, is, x, pb__o_like(o, x, 0)));
}

// ---- blocks ----

void pb__o_op_depth_to_space(pb_onnx* o) {
  int x = IN(0);
  const pb_flat_type in = *pb__o_type(o, x);
  int64_t b = pb__o_int(o, "blocksize", 0);
  const char* mode = pb__o_text(o, "mode", "DCR");
  bool first = !strcmp(mode, "DCR");
  if (!first && strcmp(mode, "CRD")) pb__o_refuse(o, "a mode '%s'", mode);
  if (in.rank != 4 || b < 1 || b > 1 << 15 || in.shape[1] % (b * b)) pb__o_refuse(o, "a block size that does not fit");
  if (pb__o_bad(o)) return;
  int64_t c = in.shape[1] / (b * b), h = in.shape[2], w = in.shape[3];
  const int64_t parts[] = {in.shape[0], first ? b : c, b, first ? c : b, h, w};
  const int64_t of_first[] = {0, 3, 4, 1, 5, 2}, of_last[] = {0, 1, 4, 2, 5, 3};
  int y = pb__o_transpose(o, pb__o_reshape(o, x, 6, parts), first ? of_first : of_last);
  OUT(pb__o_reshape(o, y, 4, (const int64_t[]){in.shape[0], c, h * b, w * b}));
}

void pb__o_op_space_to_depth(pb_onnx* o) {
  int x = IN(0);
  const pb_flat_type in = *pb__o_type(o, x);
  int64_t b = pb__o_int(o, "blocksize", 0);
  const char* mode = pb__o_text(o, "mode", "DCR");
  bool first = !strcmp(mode, "DCR");
  if (!first && strcmp(mode, "CRD")) pb__o_refuse(o, "a mode '%s'", mode);
  if (in.rank != 4 || b < 1 || b > 1 << 15) pb__o_refuse(o, "a block size that does not fit");
  if (pb__o_bad(o)) return;
  bool rows = pb__divides(o->l, in.shape[2], b), columns = pb__divides(o->l, in.shape[3], b);
  if (!rows || !columns) pb__o_refuse(o, "a block size that does not fit");
  if (pb__o_bad(o)) return;
  int64_t c = in.shape[1], h = in.shape[2] / b, w = in.shape[3] / b;
  int y = pb__o_reshape(o, x, 6, (const int64_t[]){in.shape[0], c, h, b, w, b});
  static const int64_t of_first[] = {0, 3, 5, 1, 2, 4}, of_last[] = {0, 1, 3, 5, 2, 4};
  y = pb__o_transpose(o, y, first ? of_first : of_last);
  OUT(pb__o_reshape(o, y, 4, (const int64_t[]){in.shape[0], c * b * b, h, w}));
}

// Rounded down: what stands for the smaller of two numbers may be larger than one of them.
static int64_t half(int64_t x) { return x >= 0 ? x / 2 : -((1 - x) / 2); }

// Of open extents what is cropped and what is padded, one of which is nothing: which one hangs on them.
static int cropped_and_padded(pb_onnx* o, int x, const int64_t* wanted) {
  const pb_flat_type in = *pb__o_type(o, x);
  int64_t from[PB_FLAT_RANK], to[PB_FLAT_RANK], low[PB_FLAT_RANK], high[PB_FLAT_RANK];
  for (int r = 0; r < in.rank; ++r) {
    int64_t both = wanted[r] == in.shape[r] ? wanted[r]
                                            : pb_consts_smaller(o->l->consts, wanted[r], in.shape[r],
                                                                "it is cropped, or padded, as it is here");
    from[r] = half(in.shape[r] - both);
    to[r] = from[r] + both;
    low[r] = half(wanted[r] - both);
    high[r] = wanted[r] - both - low[r];
  }
  int cropped = pb__o_slice(o, x, from, to, NULL), zero = pb__o_like(o, x, 0);
  return pb__o_pad_open(o, cropped, zero, low, high);
}

void pb__o_op_center_crop_pad(pb_onnx* o) {
  int x = IN(0);
  const pb_flat_type in = *pb__o_type(o, x);
  int64_t said[PB_GRAPH_RANK], axes[PB_GRAPH_RANK], low[PB_FLAT_RANK] = {0}, high[PB_FLAT_RANK] = {0};
  int64_t wanted[PB_FLAT_RANK];
  const pb_attr* some = pb_node_attr(o->n, "axes");
  int count = pb__o_list(o, NULL, 1, PB_GRAPH_RANK, said);
  memcpy(wanted, in.shape, sizeof wanted);
  if (count != (some ? some->count : in.rank)) pb__o_refuse(o, "a shape of %d numbers", count);
  for (int k = 0; k < count && !pb__o_bad(o); ++k) {
    axes[k] = pb__o_axis(o, some ? some->ints[k] : k, in.rank);
    int64_t extent = in.shape[axes[k]], more = said[k] - extent;
    if (said[k] < 1 || said[k] > PB_MAX_ELEMENTS) pb__o_refuse(o, "a shape that makes no sense");
    low[axes[k]] = more >= 0 ? more / 2 : -(-more / 2);
    high[axes[k]] = more - low[axes[k]];
    if (!pb__o_bad(o)) wanted[axes[k]] = said[k];
  }
  if (pb__o_bad(o)) return;
  if (o->l->consts->open)
    OUT(cropped_and_padded(o, x, wanted));
  else
    OUT(pb__o_pad(o, x, pb__o_like(o, x, 0), low, high, NULL));
}

// Along the time axis the first so many of each batch turned round: the place is length - 1 - t where t < length.
void pb__o_op_reverse_sequence(pb_onnx* o) {
  int x = IN(0), lengths = IN(1);
  const pb_flat_type in = *pb__o_type(o, x);
  int64_t batch = pb__o_int(o, "batch_axis", 1), time = pb__o_int(o, "time_axis", 0);
  if (in.rank < 2 || batch + time != 1 || batch * time != 0) pb__o_refuse(o, "axes other than 0 and 1");
  if (pb__o_bad(o)) return;
  int64_t pair[2] = {in.shape[0], in.shape[1]}, places[3] = {in.shape[0], in.shape[1], 1};
  int t = pb__o_iota(o, PB_I64, 2, pair, (int)time),
      length = pb__o_along(o, pb__o_cast(o, lengths, PB_I64), 2, (int)batch);
  int turned = pb__o_sub(o, pb__o_sub(o, length, pb__o_integer(o, PB_I64, 1)), t);
  int at = pb__o_select(o, pb__o_compare(o, "LT", t, length), turned, t);
  int both[2];
  both[batch] = pb__o_reshape(o, pb__o_iota(o, PB_I64, 2, pair, (int)batch), 3, places);
  both[time] = pb__o_reshape(o, at, 3, places);
  pb_onnx_places p = {.dropped = 2, .drop = {0, 1}, .maps = 2, .map = {0, 1}};
  for (int r = 0; r < in.rank; ++r) {
    p.size[r] = r < 2 ? 1 : in.shape[r];
    if (r >= 2) p.window[p.windows++] = r;
  }
  OUT(pb__o_gather(o, x, pb__o_join(o, 2, both, 2), &p, in.rank, in.shape));
}

// ---- what is made of shapes ----

void pb__o_op_constant_of_shape(pb_onnx* o) {
  int64_t shape[PB_GRAPH_RANK];
  bool said = pb__o_says(o, 0);
  int rank = said ? 0 : pb__o_list(o, NULL, 0, PB_GRAPH_RANK, shape), number;
  const pb_attr* value = pb_node_attr(o->n, "value");
  if (value && (value->tensor < 0 || o->l->consts->items[value->tensor]->bytes == 0))
    pb__o_refuse(o, "a value that is no number");
  if (pb__o_bad(o)) return;
  if (!value) {
    number = pb__o_number(o, PB_F32, 0);
  } else {
    const pb_const* c = o->l->consts->items[value->tensor];
    number = pb__o_constant(o, value->is_unsigned ? PB_UI8 : c->type, 0, NULL, c->data);
  }
  if (said)
    pb__o_said_fill(o, number);
  else
    OUT(pb__o_expand(o, number, rank, shape));
}

void pb__o_op_eye_like(pb_onnx* o) {
  int x = IN(0);
  const pb_flat_type in = *pb__o_type(o, x);
  bool is_unsigned = false;
  int64_t code = pb__o_int(o, "dtype", 0), k = pb__o_int(o, "k", 0);
  pb_type type = code ? pb_onnx_type(code, &is_unsigned) : in.type;
  if (type == PB_TYPE_COUNT || in.rank != 2) pb__o_refuse(o, "no matrix, or of a type that is not read");
  if (pb__o_bad(o)) return;
  int row = pb__o_iota(o, PB_I64, 2, (const int64_t[]){in.shape[0], 1}, 0),
      col = pb__o_iota(o, PB_I64, 2, (const int64_t[]){1, in.shape[1]}, 1);
  int is = pb__o_compare(o, "EQ", pb__o_add(o, row, pb__o_integer(o, PB_I64, k)), col);
  OUT(pb__o_cast(o, is, is_unsigned ? PB_UI8 : type));
}

// Indices count from the end below 0; outside of the depth the row is all off.
void pb__o_op_one_hot(pb_onnx* o) {
  int64_t depth;
  int indices = IN(0), values = IN(2);
  const pb_flat_type in = *pb__o_type(o, indices);
  const pb_const* c = pb__constant(o->l, pb__input(o->n, 1));
  float real;
  bool is_real = c && pb__scalar_f32(o->l, o->n->inputs[1], &real), said = pb__o_says(o, 1);
  if (said)
    depth = 1; // until it is known what stands for it
  else if (is_real && real >= 1 && real < 1 << 30)
    depth = (int64_t)real;
  else if (pb__o_list(o, NULL, 1, 1, &depth) != 1)
    pb__o_refuse(o, "a depth that is not constant");
  int axis = pb__o_axis(o, pb__o_int(o, "axis", -1), in.rank + 1);
  if (in.rank + 1 > PB_FLAT_RANK) pb__o_refuse(o, "a result of more than 8 dims");
  if (!pb__o_bad(o) && (depth < 1 || pb__o_elements(o, values) != 2))
    pb__o_refuse(o, "depth or values that do not fit");
  if (pb__o_bad(o)) return;
  int64_t shape[PB_FLAT_RANK], row[PB_FLAT_RANK] = {1, 1, 1, 1, 1, 1, 1, 1};
  for (int r = 0; r <= in.rank; ++r) shape[r] = r == axis ? 1 : in.shape[r - (r > axis)];
  int many = said ? pb__o_said_depth(o, axis, &in, &depth) : pb__o_integer(o, PB_I64, depth);
  row[axis] = depth;
  int at = pb__o_reshape(o, pb__o_cast(o, indices, PB_I64), in.rank + 1, shape);
  int from_end = pb__o_add(o, at, many);
  at = pb__o_select(o, pb__o_compare(o, "LT", at, pb__o_integer(o, PB_I64, 0)), from_end, at);
  int is = pb__o_compare(o, "EQ", at, pb__o_iota(o, PB_I64, in.rank + 1, row, axis));
  int off = pb__o_reshape(o, pb__o_part(o, values, 0, 0, 1), 0, NULL),
      on = pb__o_reshape(o, pb__o_part(o, values, 0, 1, 2), 0, NULL);
  OUT(pb__o_select(o, is, on, off));
}

// Where a constant condition holds.
void pb__o_op_compress(pb_onnx* o) {
  if (pb__o_says(o, 1)) {
    pb__o_said_compress(o);
    return;
  }
  int x = IN(0);
  const pb_attr* along = pb_node_attr(o->n, "axis");
  const pb_const* condition = pb__constant(o->l, pb__input(o->n, 1));
  if (!condition || condition->type != PB_I1) pb__o_refuse(o, "a condition that is not constant");
  if (pb__o_bad(o)) return;
  int64_t all = pb__o_elements(o, x), count = 0;
  int axis = along ? pb__o_axis(o, along->i, pb__o_type(o, x)->rank) : 0;
  if (!along) x = pb__o_reshape(o, x, 1, &all);
  if (pb__o_bad(o)) return;
  int64_t* places = PB_NEW_ARRAY(&o->arena, int64_t, condition->bytes + 1);
  for (uint64_t k = 0; k < condition->bytes; ++k)
    if (((const char*)condition->data)[k]) places[count++] = (int64_t)k;
  if (!count) pb__o_refuse(o, "a result without elements");
  if (!pb__o_bad(o)) OUT(pb__o_take(o, x, axis, count, places));
}

// a - b cos(2 pi k / n) + c cos(4 pi k / n)
void pb__o_op_window(pb_onnx* o) {
  const double tau = 6.28318530717958647692;
  static const struct {
    const char* name;
    double a, b, c;
  } kinds[] = {{"hann", 0.5, 0.5, 0}, {"hamming", 25.0 / 46, 21.0 / 46, 0}, {"blackman", 0.42, 0.5, 0.08}};
  int64_t size;
  bool is_unsigned;
  int count = pb__o_list(o, NULL, 0, 1, &size);
  pb_type type = pb_onnx_type(pb__o_int(o, "output_datatype", 1), &is_unsigned);
  if (count != 1 || size < 1 || size > 1 << 24) pb__o_refuse(o, "a size that makes no sense");
  if (!pb_type_is_float(type)) pb__o_refuse(o, "of %s", pb_type_name(type));
  if (pb__o_bad(o)) return;
  double n = (double)(pb__o_int(o, "periodic", 1) ? size : size - 1),
         *values = PB_NEW_ARRAY(&o->arena, double, (size_t)size);
  for (size_t m = 0; m < sizeof kinds / sizeof *kinds; ++m)
    for (int64_t k = 0; k < size && !strcmp(o->row->detail, kinds[m].name); ++k)
      values[k] = kinds[m].a - kinds[m].b * cos(tau * (double)k / n) + kinds[m].c * cos(2 * tau * (double)k / n);
  OUT(pb__o_array(o, type, 1, &size, values));
}
