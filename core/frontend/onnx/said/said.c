// Elements in other places, where what says them comes at run time.
#include "core/frontend/onnx/said/said.h"

#include <string.h>

#define OUT(v) pb__o_out(o, 0, v)

static void unknown(int count, int64_t* shape) {
  for (int k = 0; k < count; ++k) shape[k] = -1;
}

static int extents_of(pb_onnx* o, int x) { return pb__o_vector(o, pb__o_type(o, x)->rank, pb__o_type(o, x)->shape); }

static int either(pb_onnx* o, int a, int b) { return a < 0 ? b : b < 0 ? a : pb__o_binary(o, "or", a, b); }

static int within(pb_onnx* o, int v, int low, int high) { return pb__o_least(o, pb__o_most(o, v, low), high); }

// ---- other shapes of the same elements ----

void pb__o_said_reshape(pb_onnx* o) {
  int x = pb__o_in_moved(o, 0), said = pb__o_numbers(o, 1, NULL);
  const pb_flat_type in = *pb__o_type(o, x);
  int64_t count = pb__o_type(o, said)->shape[0], same[PB_FLAT_RANK], shape[PB_FLAT_RANK];
  if (count < 1 || count > PB_SOURCE_EXTENTS) pb__o_refuse(o, "a shape of %lld extents", (long long)count);
  if (pb__o_bad(o)) return;
  for (int k = 0; k < count; ++k) same[k] = k < in.rank ? in.shape[k] : -1; // which is wrong
  int all = pb__o_whole(o, pb__o_elements(o, x)), one = pb__o_whole(o, 1), zero = pb__o_whole(o, 0), copied = -1;
  if (!pb__o_int(o, "allowzero", 0)) copied = pb__o_compare(o, "EQ", said, zero);
  if (copied >= 0) said = pb__o_select(o, copied, pb__o_vector(o, (int)count, same), said);
  int rest = pb__o_is(o, "EQ", said, -1), counted = pb__o_cast(o, rest, PB_I64);
  int others = pb__o_total(o, pb__o_select(o, rest, one, said), "multiply");
  int left = pb__o_div(o, all, pb__o_most(o, others, one));
  said = pb__o_select(o, rest, left, said);
  int other = pb__o_compare(o, "NE", pb__o_total(o, said, "multiply"), all);
  int wrong = pb__o_binary(o, "or", other, pb__o_compare(o, "GT", pb__o_total(o, counted, "add"), one));
  unknown((int)count, shape);
  pb__o_extents(o, 0, said, wrong, (int)count, shape);
  OUT(pb__o_refilled(o, x, (int)count, shape));
}

void pb__o_said_squeeze(pb_onnx* o) {
  int x = pb__o_in_moved(o, 0), axes = pb__o_numbers(o, 1, NULL), wrong;
  const pb_flat_type in = *pb__o_type(o, x);
  int64_t gone = pb__o_type(o, axes)->shape[0], shape[PB_FLAT_RANK];
  int rank = in.rank - (int)gone;
  if (gone < 1 || rank < 0) pb__o_refuse(o, "%lld axes of %d dims", (long long)gone, in.rank);
  if (pb__o_bad(o)) return;
  if (!rank) { // of one element alone: the axes are all
    OUT(pb__o_reshape(o, x, 0, NULL));
    return;
  }
  int flags = pb__o_flags(o, axes, in.rank, &wrong), extents = extents_of(o, x);
  int goes = pb__o_is(o, "NE", flags, 0);
  int longer = pb__o_any(o, pb__o_binary(o, "and", goes, pb__o_is(o, "NE", extents, 1)));
  unknown(rank, shape);
  int left = pb__o_unflagged(o, extents, flags, rank);
  pb__o_extents(o, 0, left, either(o, wrong, longer), rank, shape);
  OUT(pb__o_refilled(o, x, rank, shape));
}

void pb__o_said_unsqueeze(pb_onnx* o) {
  int x = pb__o_in_moved(o, 0), axes = pb__o_numbers(o, 1, NULL), wrong;
  const pb_flat_type in = *pb__o_type(o, x);
  int64_t more = pb__o_type(o, axes)->shape[0], shape[PB_FLAT_RANK];
  int rank = in.rank + (int)more;
  if (more < 1 || rank > PB_SOURCE_EXTENTS) pb__o_refuse(o, "%lld axes beside %d dims", (long long)more, in.rank);
  if (pb__o_bad(o)) return;
  int flags = pb__o_flags(o, axes, rank, &wrong);
  int extents = pb__o_vector(o, 1, (const int64_t[]){1});
  if (in.rank) { // those in front that are not new
    int old = pb__o_sub(o, pb__o_whole(o, 1), flags), place = pb__o_in_front(o, old);
    extents = pb__o_along_axis(o, extents_of(o, x), 0, place);
  }
  int is_new = pb__o_is(o, "NE", flags, 0);
  extents = pb__o_select(o, is_new, pb__o_whole(o, 1), extents);
  unknown(rank, shape);
  pb__o_extents(o, 0, extents, wrong, rank, shape);
  OUT(pb__o_refilled(o, x, rank, shape));
}

// ---- repeated ----

void pb__o_said_expand(pb_onnx* o) {
  int x = pb__o_in_moved(o, 0), said = pb__o_numbers(o, 1, NULL);
  const pb_flat_type in = *pb__o_type(o, x);
  int64_t count = pb__o_type(o, said)->shape[0], own[PB_FLAT_RANK], shape[PB_FLAT_RANK];
  int rank = count > in.rank ? (int)count : in.rank;
  if (rank < 1 || rank > PB_SOURCE_EXTENTS) pb__o_refuse(o, "a shape of %d extents", rank);
  if (pb__o_bad(o)) return;
  for (int r = 0; r < rank; ++r) {
    own[r] = r < rank - in.rank ? 1 : in.shape[r - (rank - in.rank)];
    shape[r] = own[r] == 1 ? -1 : own[r];
  }
  if (count < rank)
    said = pb__o_join(
        o, 2, (const int[]){pb__o_vector(o, rank - (int)count, (const int64_t[]){1, 1, 1, 1, 1, 1, 1, 1}), said}, 0);
  int one = pb__o_whole(o, 1), mine = pb__o_vector(o, rank, own);
  said = pb__o_select(o, pb__o_compare(o, "EQ", said, one), mine, said);
  pb__o_extents(o, 0, said, -1, rank, shape);
  if (!pb__o_bad(o)) OUT(pb__o_expand(o, x, rank, shape));
}

void pb__o_said_tile(pb_onnx* o) {
  int x = pb__o_in_moved(o, 0), times = pb__o_numbers(o, 1, NULL);
  const pb_flat_type in = *pb__o_type(o, x);
  int64_t shape[PB_FLAT_RANK];
  if (in.rank < 1 || pb__o_type(o, times)->shape[0] != in.rank) pb__o_refuse(o, "repeats that are not one a dim");
  if (pb__o_bad(o)) return;
  unknown(in.rank, shape);
  pb__o_extents(o, 0, pb__o_mul(o, times, extents_of(o, x)), -1, in.rank, shape);
  for (int r = 0; r < in.rank && !pb__o_bad(o); ++r)
    x = pb__o_along_axis(o, x, r, pb__o_by(o, "remainder", pb__o_turns(o, shape[r]), in.shape[r]));
  OUT(x);
}

void pb__o_said_fill(pb_onnx* o, int number) {
  int said = pb__o_numbers(o, 0, NULL);
  int64_t count = pb__o_type(o, said)->shape[0], shape[PB_FLAT_RANK];
  if (count < 1 || count > PB_SOURCE_EXTENTS) pb__o_refuse(o, "a shape of %lld extents", (long long)count);
  if (pb__o_bad(o)) return;
  unknown((int)count, shape);
  pb__o_extents(o, 0, said, -1, (int)count, shape);
  if (!pb__o_bad(o)) OUT(pb__o_expand(o, number, (int)count, shape));
}

void pb__o_said_range(pb_onnx* o) {
  int start = pb__o_reshape(o, pb__o_in(o, 0), 0, NULL), end = pb__o_reshape(o, pb__o_in(o, 1), 0, NULL),
      step = pb__o_reshape(o, pb__o_in(o, 2), 0, NULL);
  pb_type type = pb__o_type(o, start)->type, wide = pb_type_is_float(type) ? PB_F64 : PB_I64;
  int64_t shape[1] = {-1};
  int first = pb__o_cast(o, start, wide), by = pb__o_cast(o, step, wide), turns;
  int far = pb__o_sub(o, pb__o_cast(o, end, wide), first);
  int none = pb__o_compare(o, "EQ", by, pb__o_number(o, wide, 0));
  by = pb__o_select(o, none, pb__o_number(o, wide, 1), by);
  if (wide == PB_F64) {
    turns = pb__o_cast(o, pb__o_unary(o, "ceil", pb__o_div(o, far, by)), PB_I64);
  } else { // towards 0, and one more where something is left
    turns = pb__o_div(o, far, by);
    int left = pb__o_sub(o, far, pb__o_mul(o, turns, by)), zero = pb__o_whole(o, 0);
    int up = pb__o_compare(o, "GT", by, zero), same = pb__o_compare(o, "EQ", pb__o_compare(o, "GT", left, zero), up);
    int more = pb__o_binary(o, "and", pb__o_compare(o, "NE", left, zero), same);
    turns = pb__o_add(o, turns, pb__o_cast(o, more, PB_I64));
  }
  turns = pb__o_reshape(o, pb__o_most(o, turns, pb__o_whole(o, 0)), 1, (const int64_t[]){1});
  pb__o_extents(o, 0, turns, none, 1, shape);
  if (pb__o_bad(o)) return;
  int at = pb__o_cast(o, pb__o_iota(o, PB_I64, 1, shape, 0), type);
  OUT(pb__o_add(o, pb__o_mul(o, at, step), start));
}

int pb__o_said_depth(pb_onnx* o, int axis, const pb_flat_type* in, int64_t* depth) {
  int64_t shape[PB_FLAT_RANK];
  int parts[PB_FLAT_RANK], many = pb__o_in(o, 1);
  if (pb__o_elements(o, many) != 1) pb__o_refuse(o, "a depth that is not one number");
  if (pb__o_bad(o)) return many;
  many = pb__o_reshape(o, pb__o_cast(o, many, PB_I64), 1, (const int64_t[]){1});
  for (int r = 0; r <= in->rank; ++r) {
    shape[r] = r == axis ? -1 : in->shape[r - (r > axis)];
    parts[r] = r == axis ? many : pb__o_vector(o, 1, &shape[r]);
  }
  pb__o_extents(o, 0, pb__o_join(o, in->rank + 1, parts, 0), -1, in->rank + 1, shape);
  *depth = shape[axis];
  return pb__o_reshape(o, many, 0, NULL);
}

// ---- parts ----

// What is said of axes, at each dim; `missing` where nothing is.
static int at_dims(pb_onnx* o, int axes, int rank, int said, int64_t missing, int flags) {
  int64_t row[2] = {1, pb__o_type(o, axes)->shape[0]};
  int zero = pb__o_whole(o, 0), same = pb__o_same_dim(o, axes, rank);
  int parts = pb__o_select(o, same, pb__o_reshape(o, said, 2, row), zero);
  int sum = pb__o_reduce(o, parts, "add", (const bool[]){false, true});
  int is_said = pb__o_is(o, "NE", flags, 0);
  return pb__o_select(o, is_said, sum, pb__o_whole(o, missing));
}

static int first_axes(pb_onnx* o, int count) {
  static const int64_t all[PB_FLAT_RANK] = {0, 1, 2, 3, 4, 5, 6, 7};
  return pb__o_vector(o, count < PB_FLAT_RANK ? count : PB_FLAT_RANK, all);
}

// Extents of dims that no constant axis names stay as they are.
static void keep_others(const pb_onnx* o, int k, const pb_flat_type* in, int named, int64_t* shape) {
  int64_t axes[PB_GRAPH_RANK];
  int count = named;
  unknown(in->rank, shape);
  if (pb__o_says(o, k)) return;
  if (pb__o_has(o, k)) pb__read_integers(o->l, o->n, NULL, k, PB_GRAPH_RANK, axes, &count);
  for (int r = 0; r < in->rank; ++r) {
    bool is_named = !pb__o_has(o, k) && r < named;
    for (int a = 0; pb__o_has(o, k) && a < count; ++a) is_named |= axes[a] == r || axes[a] + in->rank == r;
    if (!is_named) shape[r] = in->shape[r];
  }
}

void pb__o_said_slice(pb_onnx* o) {
  int x = pb__o_in_moved(o, 0), starts = pb__o_numbers(o, 1, "starts"), ends = pb__o_numbers(o, 2, "ends"), wrong;
  const pb_flat_type in = *pb__o_type(o, x);
  int64_t count = pb__o_type(o, starts)->shape[0], shape[PB_FLAT_RANK], known[PB_FLAT_RANK], far = (int64_t)1 << 40;
  if (in.rank < 1 || count < 1 || count > in.rank) pb__o_refuse(o, "%lld starts of %d dims", (long long)count, in.rank);
  if (pb__o_bad(o)) return;
  int axes = pb__o_has(o, 3) ? pb__o_numbers(o, 3, NULL) : first_axes(o, (int)count);
  int steps = pb__o_has(o, 4) ? pb__o_numbers(o, 4, NULL)
                              : pb__o_vector(o, (int)count, (const int64_t[]){1, 1, 1, 1, 1, 1, 1, 1});
  if (pb__o_type(o, ends)->shape[0] != count || pb__o_type(o, axes)->shape[0] != count ||
      pb__o_type(o, steps)->shape[0] != count)
    pb__o_refuse(o, "starts, ends, axes and steps of several lengths");
  if (pb__o_bad(o)) return;
  int flags = pb__o_flags(o, axes, in.rank, &wrong), extents = extents_of(o, x), zero = pb__o_whole(o, 0),
      one = pb__o_whole(o, 1), least = pb__o_whole(o, -far), most = pb__o_whole(o, far);
  int from = within(o, at_dims(o, axes, in.rank, starts, 0, flags), least, most);
  int to = within(o, at_dims(o, axes, in.rank, ends, far, flags), least, most);
  int by = within(o, at_dims(o, axes, in.rank, steps, 1, flags), least, most);
  int none = pb__o_any(o, pb__o_compare(o, "EQ", by, zero)), back = pb__o_compare(o, "LT", by, zero);
  from = pb__o_from_end(o, from, extents);
  to = pb__o_from_end(o, to, extents);
  int last = pb__o_sub(o, extents, one);
  from = within(o, from, zero, pb__o_select(o, back, last, extents));
  int before = pb__o_select(o, back, pb__o_whole(o, -1), zero);
  to = within(o, to, before, pb__o_select(o, back, last, extents));
  int down = pb__o_sub(o, from, to), way = pb__o_select(o, back, down, pb__o_sub(o, to, from));
  int stride = pb__o_most(o, pb__o_unary(o, "abs", by), one);
  int turns = pb__o_add(o, pb__o_div(o, pb__o_sub(o, way, one), stride), one);
  turns = pb__o_select(o, pb__o_compare(o, "GT", way, zero), turns, zero);
  keep_others(o, 3, &in, (int)count, shape);
  memcpy(known, shape, sizeof known);
  pb__o_extents(o, 0, turns, either(o, wrong, none), in.rank, shape);
  for (int r = 0; r < in.rank && !pb__o_bad(o); ++r) {
    if (known[r] >= 0) continue;
    int walked = pb__o_turns(o, shape[r]);
    walked = pb__o_mul(o, walked, pb__o_entry(o, by, r));
    x = pb__o_along_axis(o, x, r, pb__o_add(o, walked, pb__o_entry(o, from, r)));
  }
  OUT(x);
}

// Where place k of an axis comes from, when it lies outside.
static int folded(pb_onnx* o, int at, int64_t extent, char how) {
  int zero = pb__o_whole(o, 0), last = pb__o_whole(o, extent - 1);
  if (how == 'e' || how == 'c') return within(o, at, zero, last);
  int64_t period = how == 'w' ? extent : 2 * (extent - 1);
  if (period == 0) return pb__o_mul(o, at, zero);
  int by = pb__o_whole(o, period), rest = pb__o_binary(o, "remainder", at, by);
  rest = pb__o_from_end(o, rest, by);
  int beyond = pb__o_compare(o, "GT", rest, last);
  return pb__o_select(o, beyond, pb__o_sub(o, by, rest), rest);
}

int pb__o_padded_along(pb_onnx* o, int x, int axis, int low, int64_t count, char how) {
  int at = pb__o_sub(o, pb__o_turns(o, count), low);
  return pb__o_along_axis(o, x, axis, folded(o, at, pb__o_type(o, x)->shape[axis], how));
}

void pb__o_said_pad(pb_onnx* o, char how, int with) {
  int x = pb__o_in_moved(o, 0), pads = pb__o_numbers(o, 1, "pads"), wrong;
  const pb_flat_type in = *pb__o_type(o, x);
  int64_t count = pb__o_type(o, pads)->shape[0] / 2, shape[PB_FLAT_RANK], known[PB_FLAT_RANK];
  if (in.rank < 1 || count < 1 || count > in.rank || (!pb__o_has(o, 3) && count != in.rank) ||
      pb__o_type(o, pads)->shape[0] != 2 * count)
    pb__o_refuse(o, "pads that are not two a dim");
  if (pb__o_bad(o)) return;
  int axes = pb__o_has(o, 3) ? pb__o_numbers(o, 3, NULL) : first_axes(o, in.rank);
  if (pb__o_type(o, axes)->shape[0] != count) pb__o_refuse(o, "pads and axes of several lengths");
  if (pb__o_bad(o)) return;
  int flags = pb__o_flags(o, axes, in.rank, &wrong);
  int low = at_dims(o, axes, in.rank, pb__o_part(o, pads, 0, 0, count), 0, flags);
  int high = at_dims(o, axes, in.rank, pb__o_part(o, pads, 0, count, 2 * count), 0, flags);
  keep_others(o, 3, &in, in.rank, shape);
  memcpy(known, shape, sizeof known);
  pb__o_extents(o, 0, pb__o_add(o, pb__o_add(o, extents_of(o, x), low), high), wrong, in.rank, shape);
  for (int r = 0; r < in.rank && !pb__o_bad(o); ++r) {
    if (known[r] >= 0) continue;
    int at = pb__o_turns(o, shape[r]);
    at = pb__o_sub(o, at, pb__o_entry(o, low, r));
    x = pb__o_along_axis(o, x, r, folded(o, at, in.shape[r], how));
    if (how != 'c') continue;
    int inside = pb__o_is(o, "GE", at, 0);
    inside = pb__o_binary(o, "and", inside, pb__o_is(o, "LT", at, in.shape[r]));
    x = pb__o_select(o, pb__o_along(o, inside, in.rank, r), x, with);
  }
  OUT(x);
}
