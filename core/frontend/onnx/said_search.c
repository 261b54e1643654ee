// Unique and NonMaxSuppression of what comes at run time. Time with the square of how many there are; what constants
// say is folded (core/s1/fold_search.c).
#include "core/frontend/onnx/in_order.h"
#include "core/frontend/onnx/said.h"

#include <string.h>

static int one_dim(pb_onnx* o, int v) {
  int64_t all = pb__o_elements(o, v);
  return pb__o_reshape(o, v, 1, &all);
}

// ---- Unique ----

typedef struct slices {
  int ordering, same; // [count, count]
  int before;         // of the same shape: j < i
  int leads;          // [count]: no slice in front is the same
  int64_t count;
} slices;

static const bool along_j[2] = {false, true};

// Sums over j of truths, i64.
static int counted(pb_onnx* o, int truths) { return pb__o_reduce(o, pb__o_cast(o, truths, PB_I64), "add", along_j); }

// x as [count, size], a slice a row.
static slices compare_slices(pb_onnx* o, int x) {
  slices s = {.count = pb__o_type(o, x)->shape[0]};
  int64_t square[2] = {s.count, s.count};
  s.ordering = pb__o_ordering(o, x);
  s.same = pb__o_is(o, "EQ", pb__o_cast(o, s.ordering, PB_I64), 0);
  int j = pb__o_iota(o, PB_I64, 2, square, 1), i = pb__o_iota(o, PB_I64, 2, square, 0);
  s.before = pb__o_compare(o, "LT", j, i);
  int again = pb__o_binary(o, "and", s.same, s.before);
  s.leads = pb__o_unary(o, "not", pb__o_reduce(o, again, "or", along_j));
  return s;
}

// Of each slice the number of its group: in order of value, or of their first slices.
static int groups_of(pb_onnx* o, const slices* s, bool sorted) {
  int64_t row[2] = {1, s->count};
  if (sorted) {
    int less = pb__o_is(o, "LT", pb__o_cast(o, s->ordering, PB_I64), 0);
    return counted(o, pb__o_binary(o, "and", less, pb__o_reshape(o, s->leads, 2, row)));
  }
  int turns = pb__o_reshape(o, pb__o_turns(o, s->count), 2, row);
  int first = pb__o_reduce(o, pb__o_select(o, s->same, turns, pb__o_whole(o, s->count)), "minimum", along_j);
  int each = pb__o_reshape(o, pb__o_cast(o, s->leads, PB_I64), 2, row);
  int64_t more = s->count + 1;
  return pb__o_along_axis(o, pb__o_reshape(o, pb__o_running(o, each), 1, &more), 0, first);
}

// The slices that lead a group, in the groups' order; behind them anything.
static int leaders(pb_onnx* o, const slices* s, int groups) {
  int64_t column[2] = {s->count, 1};
  pb_onnx_places p = {.dropped = 1, .drop = {0}, .maps = 1, .map = {0}};
  int none = pb__o_expand(o, pb__o_whole(o, 0), 1, &s->count);
  int at = pb__o_select(o, s->leads, groups, pb__o_whole(o, s->count)); // outside, where nothing is stored
  at = pb__o_reshape(o, at, 2, column);
  return pb__o_scatter(o, none, at, pb__o_turns(o, s->count), "second", &p);
}

static void give_along(pb_onnx* o, int k, int x, int axis, int places, int count, int wrong) {
  const pb_flat_type in = *pb__o_type(o, x);
  int64_t shape[PB_FLAT_RANK];
  int here[PB_FLAT_RANK];
  if (!pb__o_wants(o, k) || pb__o_bad(o)) return;
  for (int r = 0; r < in.rank; ++r) {
    shape[r] = r == axis ? -1 : in.shape[r];
    here[r] = r == axis ? count : pb__o_vector(o, 1, &in.shape[r]);
  }
  pb__o_extents(o, k, pb__o_join(o, in.rank, here, 0), wrong, in.rank, shape);
  if (pb__o_bad(o)) return;
  int at = pb__o_along_axis(o, places, 0, pb__o_turns(o, shape[axis]));
  pb__o_out(o, k, pb__o_along_axis(o, x, axis, at));
}

void pb__o_op_unique(pb_onnx* o) {
  int x = pb__o_in_moved(o, 0);
  const pb_attr* along = pb_node_attr(o->n, "axis");
  int64_t all = pb__o_elements(o, x), shape[2];
  int axis = along ? pb__o_axis(o, along->i, pb__o_type(o, x)->rank) : 0;
  if (!along) x = pb__o_reshape(o, x, 1, &all);
  if (pb__o_bad(o)) return;
  const pb_flat_type in = *pb__o_type(o, x);
  if (pb_type_is_code(in.type) || !all) pb__o_refuse(o, "of %s", all ? "codes" : "nothing");
  if (pb__o_bad(o)) return;
  shape[0] = in.shape[axis];
  shape[1] = all / in.shape[axis];
  int rows = pb__o_reshape(o, pb__o_worked(o, pb__o_moved(o, x, axis, 0)), 2, shape);
  if (in.type == PB_I1) rows = pb__o_cast(o, rows, PB_I32);
  if (pb__o_bad(o)) return;
  slices s = compare_slices(o, rows);
  int groups = groups_of(o, &s, pb__o_int(o, "sorted", 1)), places = leaders(o, &s, groups);
  int none = -1; // of NaN nothing says which are alike
  if (pb_type_is_float(in.type)) none = pb__o_any(o, pb__o_compare(o, "NE", x, x));
  int count = pb__o_total(o, pb__o_cast(o, s.leads, PB_I64), "add");
  count = pb__o_reshape(o, count, 1, (const int64_t[]){1});
  give_along(o, 0, x, axis, places, count, none);
  give_along(o, 1, places, 0, pb__o_turns(o, s.count), count, none);
  if (pb__o_wants(o, 2)) pb__o_out(o, 2, groups);
  give_along(o, 3, counted(o, s.same), 0, places, count, none);
}

// ---- NonMaxSuppression ----

// y0, x0, y1, x1 of boxes that are two corners in any order, or a middle and an extent.
static void corners_of(pb_onnx* o, int boxes, int* corner) {
  const pb_flat_type in = *pb__o_type(o, boxes);
  int v[4], half = pb__o_number(o, PB_F32, 0.5);
  for (int k = 0; k < 4; ++k) v[k] = pb__o_reshape(o, pb__o_part(o, boxes, 2, k, k + 1), 2, in.shape);
  bool centre = pb__o_int(o, "center_point_box", 0);
  for (int k = 0; k < 2; ++k) {
    int low = centre ? 1 - k : k, reach = centre ? pb__o_mul(o, v[3 - k], half) : -1;
    corner[k] = centre ? pb__o_sub(o, v[low], reach) : pb__o_least(o, v[k], v[k + 2]);
    corner[k + 2] = centre ? pb__o_add(o, v[low], reach) : pb__o_most(o, v[k], v[k + 2]);
  }
}

static int number_or(pb_onnx* o, int k, pb_type type, int missing) {
  if (!pb__o_has(o, k)) return missing;
  int v = pb__o_in(o, k);
  if (pb__o_elements(o, v) != 1) pb__o_refuse(o, "operand %d is not one number", k);
  return pb__o_bad(o) ? missing : pb__o_reshape(o, pb__o_cast(o, v, type), 0, NULL);
}

// Of those that are taken, the first ones of each class: truths, flat.
static int first_ones(pb_onnx* o, int taken, int most) {
  const pb_flat_type in = *pb__o_type(o, taken);
  int64_t rows[2] = {in.shape[0] * in.shape[1], in.shape[2]};
  taken = pb__o_reshape(o, taken, 2, rows);
  int before = pb__o_part(o, pb__o_running(o, taken), 1, 0, rows[1]);
  int is = pb__o_is(o, "NE", taken, 0), few = pb__o_compare(o, "LT", before, most);
  return one_dim(o, pb__o_binary(o, "and", is, few));
}

void pb__o_op_suppress(pb_onnx* o) {
  int boxes = pb__o_in(o, 0), scores = pb__o_in(o, 1), corner[4], which, count;
  const pb_flat_type b = *pb__o_type(o, boxes), s = *pb__o_type(o, scores);
  if (b.type != PB_F32 || s.type != PB_F32 || b.rank != 3 || s.rank != 3 || b.shape[2] != 4 ||
      b.shape[0] != s.shape[0] || b.shape[1] != s.shape[2] || pb__is_empty(3, s.shape))
    pb__o_refuse(o, "boxes and scores that do not fit");
  int most = number_or(o, 2, PB_I64, pb__o_whole(o, 0));
  int overlap = number_or(o, 3, PB_F32, pb__o_number(o, PB_F32, 0));
  if (pb__o_bad(o)) return;
  corners_of(o, boxes, corner);
  int sorted = pb__o_top(o, scores, s.shape[2], &which);
  int taken = pb__o_compare(o, "EQ", sorted, sorted);
  if (pb__o_has(o, 4)) taken = pb__o_compare(o, "GT", sorted, number_or(o, 4, PB_F32, -1));
  int overlaps = pb__o_overlaps(o, corner, overlap);
  taken = pb__o_apart(o, pb__o_cast(o, taken, PB_I64), which, overlaps);
  if (pb__o_bad(o)) return;
  int places = pb__o_places_of(o, first_ones(o, taken, most), &count);
  int64_t shape[2] = {-1, 3}, all = pb__o_elements(o, which), classes = s.shape[1], each = s.shape[2];
  int said = pb__o_join(o, 2, (const int[]){count, pb__o_vector(o, 1, &shape[1])}, 0), parts[3];
  pb__o_extents(o, 0, said, -1, 2, shape);
  if (pb__o_bad(o)) return;
  int at = pb__o_along_axis(o, places, 0, pb__o_turns(o, shape[0]));
  int box = pb__o_along_axis(o, pb__o_reshape(o, pb__o_cast(o, which, PB_I64), 1, &all), 0, at);
  int row = pb__o_by(o, "divide", at, each);
  parts[0] = pb__o_by(o, "divide", row, classes);
  parts[1] = pb__o_by(o, "remainder", row, classes);
  parts[2] = box;
  for (int k = 0; k < 3; ++k) parts[k] = pb__o_reshape(o, parts[k], 2, (const int64_t[]){shape[0], 1});
  pb__o_out(o, 0, pb__o_join(o, 3, parts, 1));
}
