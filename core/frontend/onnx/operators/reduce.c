// What takes many elements together: reductions, softmax, orders.
#include "core/frontend/onnx/said/said.h"

#include <math.h>
#include <string.h>

int pb__o_worked(pb_onnx* o, int x) {
  pb_type type = pb__o_type(o, x)->type;
  return pb__o_cast(o, x, pb_scalar_worked(type) == PB_F32 ? PB_F32 : type);
}

static int reduced(pb_onnx* o, int x, const char* how, const bool* gone, bool keep) {
  return keep ? pb__o_reduce_kept(o, x, how, gone) : pb__o_reduce(o, x, how, gone);
}

int pb__o_sum(pb_onnx* o, int x, const bool* gone, bool keep) {
  return pb__o_cast(o, reduced(o, pb__o_worked(o, x), "add", gone, keep), pb__o_type(o, x)->type);
}

static int64_t gone_elements(const pb_onnx* o, int x, const bool* gone) {
  int64_t count = 1;
  for (int r = 0; r < pb__o_type(o, x)->rank; ++r)
    if (gone[r]) count *= pb__o_type(o, x)->shape[r];
  return count;
}

static int mean(pb_onnx* o, int x, const bool* gone, bool keep) {
  int sum = reduced(o, pb__o_worked(o, x), "add", gone, keep);
  sum = pb__o_div(o, sum, pb__o_like(o, sum, (double)gone_elements(o, x, gone)));
  return pb__o_cast(o, sum, pb__o_type(o, x)->type);
}

int pb__o_mean(pb_onnx* o, int x, const bool* gone) { return mean(o, x, gone, true); }

// An infinite maximum is not taken off: of infinities that are alike nothing would be left.
static int shift(pb_onnx* o, int x, const bool* gone) {
  int most = pb__o_reduce_kept(o, x, "maximum", gone);
  int zero = pb__o_like(o, most, 0);
  return pb__o_select(o, pb__o_unary(o, "is_finite", most), most, zero);
}

static void read_axes(pb_onnx* o, int rank, bool* gone) {
  int64_t axes[PB_GRAPH_RANK];
  int count = pb__o_says(o, 1) ? 0 : pb__o_list(o, "axes", 1, PB_GRAPH_RANK, axes);
  memset(gone, 0, PB_FLAT_RANK * sizeof *gone);
  for (int r = 0; r < rank && count <= 0; ++r) gone[r] = !pb__o_int(o, "noop_with_empty_axes", 0);
  for (int k = 0; k < count; ++k) gone[pb__o_axis(o, axes[k], rank)] = rank > 0;
}

void pb__o_op_reduce(pb_onnx* o) {
  const char* how = o->row->detail;
  if (strcmp(how, "max") != 0 && strcmp(how, "min") != 0) pb__o_works_in_f32(o);
  // An empty list says none or all of them, whatever comes.
  bool listed = pb__o_says(o, 1) && pb__o_elements(o, pb__o_in(o, 1)) > 0;
  if (listed) {
    pb__o_said_reduce(o);
    return;
  }
  bool gone[PB_FLAT_RANK], keep = pb__o_int(o, "keepdims", 1);
  int x = pb__o_in(o, 0), y = x;
  read_axes(o, pb__o_type(o, x)->rank, gone);
  if (!strcmp(how, "max") || !strcmp(how, "min")) {
    y = reduced(o, x, how[1] == 'a' ? "maximum" : "minimum", gone, keep);
  } else if (!strcmp(how, "mean")) {
    y = mean(o, x, gone, keep);
  } else if (!strcmp(how, "product")) {
    y = pb__o_cast(o, reduced(o, pb__o_worked(o, x), "multiply", gone, keep), pb__o_type(o, x)->type);
  } else if (!strcmp(how, "logexp")) {
    int most = shift(o, x, gone), rest = pb__o_unary(o, "exponential", pb__o_sub(o, x, most));
    y = pb__o_add(o, pb__o_unary(o, "log", pb__o_sum(o, rest, gone, true)), most);
    if (!keep) y = pb__o_reduce(o, y, "add", gone);
  } else {
    if (!strcmp(how, "L1")) x = pb__o_unary(o, "abs", x);
    if (!strcmp(how, "L2") || !strcmp(how, "square")) x = pb__o_mul(o, x, x);
    y = pb__o_sum(o, x, gone, keep);
    if (!strcmp(how, "L2")) y = pb__o_unary(o, "sqrt", y);
    if (!strcmp(how, "log")) y = pb__o_unary(o, "log", y);
  }
  pb__o_out(o, 0, y);
}

// The first place, or the last, where it is, as lanes find it: the largest of numbers of 32 bits. The first one is the
// largest counted from the end.
static int place_in_lanes(pb_onnx* o, int is, int axis, int rank, const int64_t* shape, bool last) {
  bool gone[PB_FLAT_RANK] = {false};
  gone[axis] = true;
  int end = pb__o_integer(o, PB_I32, shape[axis] - 1), place = pb__o_iota(o, PB_I32, rank, shape, axis);
  if (!last) place = pb__o_sub(o, end, place);
  place = pb__o_reduce_kept(o, pb__o_select(o, is, place, pb__o_integer(o, PB_I32, -1)), "maximum", gone);
  return pb__o_cast(o, last ? place : pb__o_sub(o, end, place), PB_I64);
}

// NaN counts as the largest and the least: what is NaN is unlike itself.
int pb__o_first_of_most(pb_onnx* o, int x, int axis, bool least, bool last) {
  const pb_flat_type in = *pb__o_type(o, x);
  bool gone[PB_FLAT_RANK] = {false};
  gone[axis] = true;
  if (in.rank && !in.shape[axis]) pb__o_refuse(o, "an operand without elements");
  if (in.rank) pb_consts_guard(o->l->consts, false, 1, in.shape[axis], "an operand without elements");
  int most = pb__o_reduce_kept(o, x, least ? "minimum" : "maximum", gone);
  int is = pb__o_compare(o, "EQ", x, most);
  if (pb_type_is_float(in.type)) is = pb__o_binary(o, "or", is, pb__o_compare(o, "NE", x, x));
  int64_t shape[PB_FLAT_RANK] = {1, 1, 1, 1, 1, 1, 1, 1};
  shape[axis] = in.shape[axis];
  if (pb__door_makes_code(&o->door) && !o->l->consts->open && in.rank && in.shape[axis] <= INT32_MAX)
    return place_in_lanes(o, is, axis, in.rank, shape, last);
  int place = pb__o_iota(o, PB_I64, in.rank, shape, axis);
  place = pb__o_select(o, is, place, pb__o_integer(o, PB_I64, last ? -1 : in.shape[axis]));
  return pb__o_reduce_kept(o, place, last ? "maximum" : "minimum", gone);
}

void pb__o_op_arg_most(pb_onnx* o) {
  int x = pb__o_in(o, 0), axis = pb__o_axis(o, pb__o_int(o, "axis", 0), pb__o_type(o, x)->rank);
  if (pb__o_bad(o)) return;
  int y = pb__o_first_of_most(o, x, axis, !strcmp(o->row->detail, "min"), pb__o_int(o, "select_last_index", 0));
  bool gone[PB_FLAT_RANK] = {false};
  gone[axis] = true;
  pb__o_out(o, 0, pb__o_int(o, "keepdims", 1) ? y : pb__o_reduce(o, y, "add", gone));
}

// The axes that Softmax and its like go over: up to opset 12 all from the axis on.
static void soft_axes(pb_onnx* o, int rank, bool* axes) {
  bool old = pb__o_opset(o) < 13;
  int64_t first = pb__o_int(o, "axis", old ? 1 : -1);
  int axis = old && first == rank ? rank : pb__o_axis(o, first, rank);
  memset(axes, 0, PB_FLAT_RANK * sizeof *axes);
  for (int r = axis; r < rank; ++r) axes[r] = old || r == axis;
}

int pb__o_softmax(pb_onnx* o, int x, const bool* axes, bool logarithm) {
  pb_type type = pb__o_type(o, x)->type;
  x = pb__o_worked(o, x);
  int rest = pb__o_sub(o, x, pb__o_reduce_kept(o, x, "maximum", axes));
  int e = pb__o_unary(o, "exponential", rest), sum = pb__o_reduce_kept(o, e, "add", axes);
  int y = logarithm ? pb__o_sub(o, rest, pb__o_unary(o, "log", sum)) : pb__o_div(o, e, sum);
  return pb__o_cast(o, y, type);
}

void pb__o_op_softmax(pb_onnx* o) {
  bool axes[PB_FLAT_RANK];
  int x = pb__o_in(o, 0);
  soft_axes(o, pb__o_type(o, x)->rank, axes);
  if (!pb__o_bad(o)) pb__o_out(o, 0, pb__o_softmax(o, x, axes, o->row->detail[0] != 0));
}

void pb__o_op_hardmax(pb_onnx* o) {
  bool axes[PB_FLAT_RANK];
  int x = pb__o_in(o, 0), axis = 0;
  const pb_flat_type in = *pb__o_type(o, x);
  soft_axes(o, in.rank, axes);
  if (pb__o_bad(o)) return;
  while (axis < in.rank && !axes[axis]) ++axis;
  int64_t shape[PB_FLAT_RANK], inner = 1;
  int rank = axis + 1;
  for (int r = 0; r < in.rank; ++r) {
    bool flat = axis < in.rank - 1 && axes[in.rank - 1]; // as one axis
    if (r < axis || !flat) shape[r] = in.shape[r];
    if (!flat) rank = in.rank;
    if (r >= axis && flat) inner *= in.shape[r];
    if (flat) shape[axis] = inner;
  }
  if (axis == in.rank) pb__o_refuse(o, "over no axis");
  int flat = pb__o_reshape(o, x, rank, shape);
  if (pb__o_bad(o)) return;
  int first = pb__o_first_of_most(o, flat, axis, false, false);
  int64_t row[PB_FLAT_RANK] = {1, 1, 1, 1, 1, 1, 1, 1};
  row[axis] = shape[axis];
  int is = pb__o_compare(o, "EQ", pb__o_iota(o, PB_I64, rank, row, axis), first);
  pb__o_out(o, 0, pb__o_reshape(o, pb__o_cast(o, is, in.type), in.rank, in.shape));
}

// Elements `by` further on along the axis, behind as many of the operation's neutral number.
static int shifted(pb_onnx* o, int x, int axis, int64_t by, bool backwards) {
  const pb_flat_type in = *pb__o_type(o, x);
  int64_t none[PB_FLAT_RANK] = {0}, some[PB_FLAT_RANK] = {0}, extent = in.shape[axis];
  some[axis] = by;
  int part = backwards ? pb__o_part(o, x, axis, by, extent) : pb__o_part(o, x, axis, 0, extent - by);
  int neutral = pb__o_like(o, x, strcmp(o->row->detail, "multiply") ? 0 : 1);
  return pb__o_pad(o, part, neutral, backwards ? none : some, backwards ? some : none, none);
}

// Sums (or products) of 2, 4, 8, ... neighbours (Hillis and Steele 1986): time n log n.
static int doubled(pb_onnx* o, int x, int axis, bool exclusive, bool backwards) {
  int64_t extent = pb__o_type(o, x)->shape[axis];
  for (int64_t by = 1; by < extent && !pb__o_bad(o); by *= 2)
    x = pb__o_binary(o, o->row->detail, x, shifted(o, x, axis, by, backwards));
  return exclusive ? shifted(o, x, axis, 1, backwards) : x;
}

// Sums of windows of all elements so far. Where code runs the reader makes blocks of many (prefix.c); commands take
// fewer cycles for rounds over all of them, and open extents that no program computes with are rounds too.
static int cumulated(pb_onnx* o, int x, int axis) {
  enum { SHORT = 32 }; // sums of windows, in one kernel
  const pb_flat_type in = *pb__o_type(o, x);
  bool exclusive = pb__o_int(o, "exclusive", 0), backwards = pb__o_int(o, "reverse", 0);
  bool blocks = o->l->g->keeps_loops && !o->l->consts->open && in.rank + 2 <= PB_NEST_RANK;
  int64_t extent = in.shape[axis];
  x = pb__o_worked(o, x);
  if (extent > SHORT && !blocks && !pb_consts_computes(o->l->consts)) return doubled(o, x, axis, exclusive, backwards);
  if (exclusive && blocks) {
    x = shifted(o, x, axis, 1, backwards);
    exclusive = false;
  }
  pb_onnx_window w = {.size = {0}};
  for (int r = 0; r < in.rank; ++r) w.size[r] = w.stride[r] = w.dilation[r] = 1;
  w.size[axis] = extent;
  int64_t before = exclusive ? extent : extent - 1, behind = exclusive ? -1 : 0;
  w.low[axis] = backwards ? behind : before;
  w.high[axis] = backwards ? before : behind;
  return pb__o_windows(o, x, -1, o->row->detail, &w);
}

void pb__o_op_cumulate(pb_onnx* o) {
  int x = pb__o_in(o, 0), y = -1;
  int64_t at;
  const pb_flat_type in = *pb__o_type(o, x);
  bool said = pb__o_says(o, 1);
  if (!said && pb__o_list(o, NULL, 1, 1, &at) != 1) pb__o_refuse(o, "an axis that is not one number");
  if (said && (in.rank < 1 || pb__o_elements(o, pb__o_in(o, 1)) != 1))
    pb__o_refuse(o, "an axis that is not one number");
  if (pb__o_bad(o)) return;
  if (!said) {
    y = cumulated(o, x, pb__o_axis(o, at, in.rank));
  } else { // along each, and one is taken
    int64_t same[PB_FLAT_RANK];
    memcpy(same, in.shape, sizeof same);
    int axis = pb__o_entry(o, pb__o_numbers(o, 1, NULL), 0), rank = pb__o_whole(o, in.rank);
    int below = pb__o_is(o, "LT", axis, 0);
    axis = pb__o_select(o, below, pb__o_add(o, axis, rank), axis);
    for (int r = 0; r < in.rank && !pb__o_bad(o); ++r) {
      int one = cumulated(o, x, r);
      y = y < 0 ? one : pb__o_select(o, pb__o_is(o, "EQ", axis, r), one, y);
    }
    int below_all = pb__o_is(o, "LT", axis, 0),
        outside = pb__o_binary(o, "or", below_all, pb__o_compare(o, "GE", axis, rank));
    pb__o_extents(o, 0, pb__o_vector(o, in.rank, same), outside, in.rank, same);
  }
  if (!pb__o_bad(o)) pb__o_out(o, 0, pb__o_cast(o, y, in.type));
}
