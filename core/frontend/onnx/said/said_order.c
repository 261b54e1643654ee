// Reductions and orders whose axes or numbers come at run time.
#include "core/frontend/onnx/in_order.h"
#include "core/frontend/onnx/said/said.h"

#include <string.h>

#define OUT(v) pb__o_out(o, 0, v)

// ---- reductions ----

// Along one axis, or not at all where its flag is 0. Either way the extent stays: the one sum stands at each place.
static int reduced_where(pb_onnx* o, int x, int axis, int flag, const char* by) {
  bool gone[PB_FLAT_RANK] = {false};
  gone[axis] = true;
  return pb__o_select(o, flag, pb__o_reduce_kept(o, x, by, gone), x);
}

static int reduced_by(pb_onnx* o, int x, int flags, const char* by) {
  for (int r = 0; r < pb__o_type(o, x)->rank && !pb__o_bad(o); ++r) {
    int flag = pb__o_is(o, "NE", pb__o_entry(o, flags, r), 0);
    x = reduced_where(o, x, r, flag, by);
  }
  return x;
}

// How many elements are taken together.
static int together(pb_onnx* o, int extents, int flags) {
  int is = pb__o_is(o, "NE", flags, 0);
  return pb__o_total(o, pb__o_select(o, is, extents, pb__o_whole(o, 1)), "multiply");
}

static int reduced(pb_onnx* o, int x, int extents, int flags) {
  const char* how = o->row->detail;
  pb_type type = pb__o_type(o, x)->type;
  if (!strcmp(how, "max") || !strcmp(how, "min")) return reduced_by(o, x, flags, how[1] == 'a' ? "maximum" : "minimum");
  int w = pb__o_worked(o, x);
  if (!strcmp(how, "logexp")) {
    int most = reduced_by(o, w, flags, "maximum"), zero = pb__o_like(o, most, 0);
    most = pb__o_select(o, pb__o_unary(o, "is_finite", most), most, zero);
    int sum = reduced_by(o, pb__o_unary(o, "exponential", pb__o_sub(o, w, most)), flags, "add");
    return pb__o_cast(o, pb__o_add(o, pb__o_unary(o, "log", sum), most), type);
  }
  if (!strcmp(how, "L1")) w = pb__o_unary(o, "abs", w);
  if (!strcmp(how, "L2") || !strcmp(how, "square")) w = pb__o_mul(o, w, w);
  w = reduced_by(o, w, flags, strcmp(how, "product") ? "add" : "multiply");
  if (!strcmp(how, "L2")) w = pb__o_unary(o, "sqrt", w);
  if (!strcmp(how, "log")) w = pb__o_unary(o, "log", w);
  if (!strcmp(how, "mean")) w = pb__o_div(o, w, pb__o_cast(o, together(o, extents, flags), pb__o_type(o, w)->type));
  return pb__o_cast(o, w, type);
}

void pb__o_said_reduce(pb_onnx* o) {
  int x = pb__o_in(o, 0), axes = pb__o_numbers(o, 1, NULL), wrong;
  const pb_flat_type in = *pb__o_type(o, x);
  int64_t count = pb__o_type(o, axes)->shape[0], shape[PB_FLAT_RANK];
  bool keep = pb__o_int(o, "keepdims", 1);
  int rank = keep ? in.rank : in.rank - (int)count;
  if (count < 1 || rank < 0) pb__o_refuse(o, "%lld axes of %d dims", (long long)count, in.rank);
  if (pb__o_elements(o, x) < 1) pb__o_refuse(o, "axes that are not constant of what has no elements");
  if (rank >= PB_FLAT_RANK) pb__o_refuse(o, "a result of 8 dims");
  if (pb__o_bad(o)) return;
  int flags = pb__o_flags(o, axes, in.rank, &wrong), extents = pb__o_vector(o, in.rank, in.shape);
  int y = reduced(o, x, extents, flags);
  if (!rank) { // all of them
    for (int r = 0; r < in.rank; ++r) y = pb__o_part(o, y, r, 0, 1);
    if (!pb__o_bad(o)) OUT(pb__o_reshape(o, y, 0, NULL));
    return;
  }
  int is = pb__o_is(o, "NE", flags, 0);
  int left = pb__o_select(o, is, pb__o_whole(o, 1), extents);
  int said = keep ? left : pb__o_unflagged(o, extents, flags, rank);
  for (int k = 0; k < rank; ++k) shape[k] = -1;
  pb__o_extents(o, 0, said, wrong, rank, shape);
  if (pb__o_bad(o)) return;
  if (keep) {
    for (int r = 0; r < in.rank; ++r) y = pb__o_along_axis(o, y, r, pb__o_turns(o, shape[r]));
    OUT(y);
    return;
  }
  // Of dims that are left the index, of others 0: place by place in the flat tensor.
  int64_t all = pb__o_elements(o, y), step[PB_FLAT_RANK], inner = 1;
  for (int r = in.rank - 1; r >= 0; --r) {
    step[r] = inner;
    inner *= in.shape[r];
  }
  int steps = pb__o_unflagged(o, pb__o_vector(o, in.rank, step), flags, rank), at = -1;
  for (int k = 0; k < rank && !pb__o_bad(o); ++k) {
    int part = pb__o_iota(o, PB_I64, rank, shape, k);
    part = pb__o_mul(o, part, pb__o_entry(o, steps, k));
    at = at < 0 ? part : pb__o_add(o, at, part);
  }
  if (pb__o_bad(o)) return;
  pb_onnx_places p = {.dropped = 1, .drop = {0}, .maps = 1, .map = {0}, .size = {1}};
  int64_t places[PB_FLAT_RANK + 1];
  for (int k = 0; k <= rank; ++k) places[k] = k < rank ? shape[k] : 1;
  int flat = pb__o_reshape(o, y, 1, &all);
  OUT(pb__o_gather(o, flat, pb__o_reshape(o, at, rank + 1, places), &p, rank, shape));
}

// ---- orders ----

void pb__o_said_top_k(pb_onnx* o) {
  int x = pb__o_in(o, 0), k = pb__o_numbers(o, 1, NULL), where;
  const pb_flat_type in = *pb__o_type(o, x);
  int axis = pb__o_axis(o, pb__o_int(o, "axis", -1), in.rank);
  bool largest = pb__o_int(o, "largest", 1);
  int64_t shape[PB_FLAT_RANK];
  if (pb__o_elements(o, k) != 1) pb__o_refuse(o, "a k that is not one number");
  if (pb__o_bad(o)) return;
  int last = pb__o_moved(o, pb__o_order_of(o, x, largest), axis, in.rank - 1);
  int top = pb__o_top(o, last, in.shape[axis], &where);
  if (!largest) top = pb__o_order_of(o, top, largest);
  int here[PB_FLAT_RANK];
  for (int r = 0; r < in.rank; ++r) here[r] = r == axis ? k : pb__o_vector(o, 1, &in.shape[r]);
  int said = pb__o_join(o, in.rank, here, 0);
  int wrong = pb__o_is(o, "GT", pb__o_entry(o, k, 0), in.shape[axis]);
  int first = pb__o_wants(o, 0) ? 0 : 1;
  for (int r = 0; r < in.rank; ++r) shape[r] = r == axis ? -1 : in.shape[r];
  pb__o_extents(o, first, said, wrong, in.rank, shape);
  if (pb__o_bad(o)) return;
  int turns = pb__o_turns(o, shape[axis]);
  pb__o_out(o, 0, pb__o_along_axis(o, pb__o_moved(o, top, in.rank - 1, axis), axis, turns));
  where = pb__o_cast(o, where, PB_I64);
  pb__o_out(o, 1, pb__o_along_axis(o, pb__o_moved(o, where, in.rank - 1, axis), axis, turns));
}

void pb__o_said_split(pb_onnx* o) {
  int x = pb__o_in_moved(o, 0), sizes = pb__o_numbers(o, 1, NULL);
  const pb_flat_type in = *pb__o_type(o, x);
  int axis = pb__o_axis(o, pb__o_int(o, "axis", 0), in.rank), parts = o->n->output_count;
  if (pb__o_type(o, sizes)->shape[0] != parts) pb__o_refuse(o, "parts and results of several numbers");
  if (pb__o_bad(o)) return;
  int all = pb__o_is(o, "NE", pb__o_total(o, sizes, "add"), in.shape[axis]);
  int below = pb__o_any(o, pb__o_is(o, "LT", sizes, 0));
  int wrong = pb__o_binary(o, "or", all, below), from = pb__o_whole(o, 0);
  for (int k = 0; k < parts && !pb__o_bad(o); ++k) {
    int64_t shape[PB_FLAT_RANK];
    int here[PB_FLAT_RANK], size = pb__o_part(o, sizes, 0, k, k + 1);
    for (int r = 0; r < in.rank; ++r) {
      shape[r] = r == axis ? -1 : in.shape[r];
      here[r] = r == axis ? size : pb__o_vector(o, 1, &in.shape[r]);
    }
    if (pb__o_wants(o, k)) {
      pb__o_extents(o, k, pb__o_join(o, in.rank, here, 0), wrong, in.rank, shape);
      if (pb__o_bad(o)) return;
      int at = pb__o_add(o, pb__o_turns(o, shape[axis]), from);
      pb__o_out(o, k, pb__o_along_axis(o, x, axis, at));
    }
    from = pb__o_add(o, from, pb__o_entry(o, sizes, k));
  }
}

// ---- where a condition holds ----

int pb__o_places_of(pb_onnx* o, int truths, int* count) {
  int64_t all = pb__o_type(o, truths)->shape[0], column[2] = {all, 1}, row[2] = {1, all}, more = all + 1;
  int each = pb__o_cast(o, truths, PB_I64);
  *count = pb__o_reshape(o, pb__o_total(o, each, "add"), 1, (const int64_t[]){1});
  int before = pb__o_reshape(o, pb__o_running(o, pb__o_reshape(o, each, 2, row)), 1, &more);
  before = pb__o_part(o, before, 0, 0, all);
  int at = pb__o_select(o, truths, before, pb__o_whole(o, all)); // outside, where nothing is stored
  pb_onnx_places p = {.dropped = 1, .drop = {0}, .maps = 1, .map = {0}};
  int none = pb__o_expand(o, pb__o_whole(o, 0), 1, &all);
  at = pb__o_reshape(o, at, 2, column);
  return pb__o_scatter(o, none, at, pb__o_turns(o, all), "second", &p);
}

void pb__o_said_compress(pb_onnx* o) {
  int x = pb__o_in_moved(o, 0), truths = pb__o_in(o, 1), count;
  const pb_attr* along = pb_node_attr(o->n, "axis");
  int64_t all = pb__o_elements(o, x), shape[PB_FLAT_RANK];
  int axis = along ? pb__o_axis(o, along->i, pb__o_type(o, x)->rank) : 0;
  if (!along) x = pb__o_reshape(o, x, 1, &all);
  if (pb__o_type(o, truths)->type != PB_I1 || pb__o_type(o, truths)->rank != 1)
    pb__o_refuse(o, "a condition that is no list of truths");
  if (pb__o_bad(o)) return;
  const pb_flat_type in = *pb__o_type(o, x);
  if (pb__o_type(o, truths)->shape[0] > in.shape[axis]) pb__o_refuse(o, "a condition that is too long");
  if (pb__o_bad(o)) return;
  pb_consts_guard(o->l->consts, false, pb__o_type(o, truths)->shape[0], in.shape[axis], "a condition that is too long");
  int places = pb__o_places_of(o, truths, &count), here[PB_FLAT_RANK];
  for (int r = 0; r < in.rank; ++r) {
    shape[r] = r == axis ? -1 : in.shape[r];
    here[r] = r == axis ? count : pb__o_vector(o, 1, &in.shape[r]);
  }
  pb__o_extents(o, 0, pb__o_join(o, in.rank, here, 0), -1, in.rank, shape);
  if (pb__o_bad(o)) return;
  OUT(pb__o_along_axis(o, x, axis, pb__o_along_axis(o, places, 0, pb__o_turns(o, shape[axis]))));
}

void pb__o_op_non_zero(pb_onnx* o) {
  int x = pb__o_in(o, 0), count;
  const pb_flat_type in = *pb__o_type(o, x);
  int64_t all = pb__o_elements(o, x), shape[2] = {in.rank, -1}, inner = 1;
  if (in.rank < 1) pb__o_refuse(o, "of a number");
  if (pb__o_bad(o)) return;
  int flat = pb__o_reshape(o, x, 1, &all);
  int truths = in.type == PB_I1 ? flat : pb__o_compare(o, "NE", flat, pb__o_like(o, flat, 0));
  int places = pb__o_places_of(o, truths, &count), rows[PB_FLAT_RANK];
  int said = pb__o_join(o, 2, (const int[]){pb__o_vector(o, 1, shape), count}, 0);
  pb__o_extents(o, 0, said, -1, 2, shape);
  if (pb__o_bad(o)) return;
  int at = pb__o_along_axis(o, places, 0, pb__o_turns(o, shape[1]));
  for (int r = in.rank - 1; r >= 0; --r) {
    int place = pb__o_by(o, "remainder", pb__o_by(o, "divide", at, inner), in.shape[r]);
    rows[r] = pb__o_reshape(o, place, 2, (const int64_t[]){1, shape[1]});
    inner *= in.shape[r];
  }
  OUT(pb__o_join(o, in.rank, rows, 0));
}
