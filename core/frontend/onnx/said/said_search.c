// Unique and NonMaxSuppression of what comes at run time; what constants say is folded (core/s1/rewrite/fold_search.c).
#include "core/frontend/onnx/in_order.h"
#include "core/frontend/onnx/said/said.h"

#include <string.h>

static int one_dim(pb_onnx* o, int v) {
  int64_t all = pb__o_elements(o, v);
  return pb__o_reshape(o, v, 1, &all);
}

// ---- Unique ----

typedef struct slices {
  int64_t count;
  int order;   // [count]: which slice comes first by value, second, ...; those that are the same in their order
  int leads;   // [count], in that order: it differs from the one in front
  int groups;  // [count]: of each slice the number of its group, in order of value or of their first slices
  int leaders; // [count]: the first slices of the groups; behind them anything
} slices;

// Of a vector of truths how many hold in front of each, and in front of its end: [count + 1].
static int running(pb_onnx* o, int truths, int64_t count) {
  int64_t row[2] = {1, count}, more = count + 1;
  int each = pb__o_reshape(o, pb__o_cast(o, truths, PB_I64), 2, row);
  return pb__o_reshape(o, pb__o_running(o, each), 1, &more);
}

// values[p] at places[p] of [count]: put there, or "add"ed.
static int spread(pb_onnx* o, const slices* s, int places, int values, const char* how) {
  int64_t column[2] = {s->count, 1};
  pb_onnx_places p = {.dropped = 1, .drop = {0}, .maps = 1, .map = {0}};
  int none = pb__o_expand(o, pb__o_whole(o, 0), 1, &s->count);
  return pb__o_scatter(o, none, pb__o_reshape(o, places, 2, column), values, how, &p);
}

// x as [count, size], a slice a row.
static slices group_slices(pb_onnx* o, int x, bool sorted) {
  slices s = {.count = pb__o_type(o, x)->shape[0]};
  int64_t count = s.count;
  int leading;
  s.order = pb__o_sorted(o, x);
  int rows = pb__o_along_axis(o, x, 0, s.order), first = pb__o_expand(o, pb__o_whole(o, 1), 1, (const int64_t[]){1});
  s.leads = pb__o_is(o, "NE", first, 0);
  if (count > 1) {
    int next = pb__o_part(o, rows, 0, 1, count), differ = pb__o_part(o, rows, 0, 0, count - 1);
    differ = pb__o_compare(o, "NE", next, differ);
    differ = pb__o_reduce(o, differ, "or", (const bool[]){false, true});
    s.leads = pb__o_join(o, 2, (const int[]){s.leads, differ}, 0);
  }
  int number = pb__o_by(o, "subtract", pb__o_part(o, running(o, s.leads, count), 0, 1, count + 1), 1);
  s.groups = spread(o, &s, s.order, number, "second");
  s.leaders = pb__o_along_axis(o, s.order, 0, pb__o_places_of(o, s.leads, &leading));
  if (sorted) return s;
  int leads = pb__o_is(o, "NE", spread(o, &s, s.order, pb__o_cast(o, s.leads, PB_I64), "second"), 0);
  int mine = pb__o_along_axis(o, s.leaders, 0, s.groups); // the first slice of each one's group
  s.groups = pb__o_along_axis(o, running(o, leads, count), 0, mine);
  s.leaders = pb__o_places_of(o, leads, &leading);
  return s;
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
  slices s = group_slices(o, rows, pb__o_int(o, "sorted", 1));
  int none = -1; // of NaN nothing says which are alike
  if (pb_type_is_float(in.type)) none = pb__o_any(o, pb__o_compare(o, "NE", x, x));
  int count = pb__o_total(o, pb__o_cast(o, s.leads, PB_I64), "add");
  count = pb__o_reshape(o, count, 1, (const int64_t[]){1});
  give_along(o, 0, x, axis, s.leaders, count, none);
  give_along(o, 1, s.leaders, 0, pb__o_turns(o, s.count), count, none);
  if (pb__o_wants(o, 2)) pb__o_out(o, 2, s.groups);
  int ones = pb__o_expand(o, pb__o_whole(o, 1), 1, &s.count);
  if (!pb__o_wants(o, 3)) return;
  int alike = spread(o, &s, s.groups, ones, "add");
  give_along(o, 3, alike, 0, pb__o_turns(o, s.count), count, none);
}

// ---- NonMaxSuppression ----

enum { MOST_SLOTS = 4096 }; // a number as large as that means all

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

// So many boxes of a class may be taken: as a constant says, or all. Of an open number it is what the constant says.
static int64_t slots_of(pb_onnx* o, int64_t boxes) {
  int64_t most;
  if (!pb__o_has(o, 2)) return 1;
  bool said = !pb__o_says(o, 2) && pb__o_list(o, NULL, 2, 1, &most) == 1 && most < MOST_SLOTS;
  if (!said || (most > boxes && !o->l->consts->open)) return boxes;
  return most < 1 ? 1 : most;
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
  o->door.long_rows = true;
  int sorted = pb__o_top(o, scores, s.shape[2], &which);
  o->door.long_rows = false;
  int taken = pb__o_compare(o, "EQ", sorted, sorted);
  if (pb__o_has(o, 4)) taken = pb__o_compare(o, "GT", sorted, number_or(o, 4, PB_F32, -1));
  taken = pb__o_cast(o, taken, PB_I64);
  taken = pb__o_apart(o, taken, which, corner, overlap, slots_of(o, s.shape[2]));
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
