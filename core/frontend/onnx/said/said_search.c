// Unique and NonMaxSuppression of what comes at run time; what constants say is folded (core/s1/rewrite/fold_search.c).
#include "core/frontend/onnx/emit.h"
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

enum {
  MOST_SLOTS = 4096, // a number as large as that means all
  LEAST_NEAR = 128,  // so many boxes of a class at least are looked at first
  TIMES_NEAR = 2     // and so many for each that may be taken
};

typedef struct suppression {
  pb_onnx* o;
  int scores, corner[4]; // [batches, classes, boxes]; of [batches, boxes] each
  int most, overlap;     // numbers: how many of a class may be taken, how much of them others may share
  int64_t slots;         // so many at most, as is known
} suppression;

// Of each class so many boxes in the order of their scores, best ones first.
typedef struct ranked {
  int which, counts,
      taken; // [batches, classes, so many]: which box, whether it counts (i64), whether it is taken; flat
} ranked;

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

// Truths: which scores count.
static int counting(suppression* s, int scores) {
  pb_onnx* o = s->o;
  if (!pb__o_has(o, 4)) return pb__o_compare(o, "EQ", scores, scores);
  return pb__o_compare(o, "GT", scores, number_or(o, 4, PB_F32, -1));
}

static ranked rank(suppression* s, int64_t count) {
  pb_onnx* o = s->o;
  ranked r;
  o->door.long_rows = count == pb__o_type(o, s->scores)->shape[2];
  int sorted = pb__o_top(o, s->scores, count, &r.which);
  o->door.long_rows = false;
  r.counts = pb__o_cast(o, counting(s, sorted), PB_I64);
  r.taken = first_ones(o, pb__o_apart(o, r.counts, r.which, s->corner, s->overlap, s->slots), s->most);
  return r;
}

// Of each class the boxes that are taken, [classes of all batches, slots], as i64, and how many these are.
static void tabulate(suppression* s, const ranked* r, int* table, int* found) {
  pb_onnx* o = s->o;
  const pb_flat_type in = *pb__o_type(o, r->which);
  int64_t each[2] = {in.shape[0] * in.shape[1], in.shape[2]}, all = each[0] * each[1], slots = each[0] * s->slots;
  int64_t column[2] = {all, 1}, to[2] = {each[0], s->slots};
  int taken = pb__o_reshape(o, pb__o_cast(o, r->taken, PB_I64), 2, each);
  *found = pb__o_reduce(o, taken, "add", (const bool[]){false, true});
  int at = pb__o_part(o, pb__o_running(o, taken), 1, 0, each[1]);
  at = pb__o_add(o, at, pb__o_by(o, "multiply", pb__o_iota(o, PB_I64, 2, each, 0), s->slots));
  int outside = pb__o_whole(o, slots); // where nothing is stored
  at = one_dim(o, at);
  at = pb__o_select(o, r->taken, at, outside);
  pb_onnx_places p = {.dropped = 1, .drop = {0}, .maps = 1, .map = {0}};
  int none = pb__o_expand(o, pb__o_whole(o, 0), 1, &slots), boxes = one_dim(o, pb__o_cast(o, r->which, PB_I64));
  *table = pb__o_reshape(o, pb__o_scatter(o, none, pb__o_reshape(o, at, 2, column), boxes, "second", &p), 2, to);
}

// Where few of many boxes may be taken, those are mostly among the best: the first `near` ones of each class are looked
// at. A box depends on better ones alone, so that what is taken of these is right without the others. All are looked at
// only if a class has taken too few then, and has more that count.
static void suppress_near(suppression* s, int64_t near, int* table, int* found) {
  pb_onnx* o = s->o;
  const bool along[3] = {false, false, true};
  const pb_flat_type in = *pb__o_type(o, s->scores);
  int64_t classes = in.shape[0] * in.shape[1];
  int first[2], last[2], states[2];
  ranked r = rank(s, near);
  tabulate(s, &r, &first[0], &first[1]);
  int all = pb__o_reduce(o, pb__o_cast(o, counting(s, s->scores), PB_I64), "add", along);
  int more = pb__o_compare(o, "GT", all, pb__o_reduce(o, r.counts, "add", along));
  int few = pb__o_compare(o, "LT", first[1], s->most);
  int again = pb__o_any(o, pb__o_binary(o, "and", few, pb__o_reshape(o, more, 1, &classes)));
  for (int k = 0; k < 2 && !pb__o_bad(o); ++k) states[k] = pb__o_state_like(o, first[k]);
  if (pb__o_bad(o)) return;
  pb__o_set_states(o, 2, states, first);
  pb__o_mark_loop(o, PB_S1_IF, again);
  r = rank(s, in.shape[2]);
  tabulate(s, &r, &last[0], &last[1]);
  if (pb__o_bad(o)) return;
  pb__o_set_states(o, 2, states, last);
  pb__o_mark_loop(o, PB_S1_ELSE, -1);
  pb__o_mark_loop(o, PB_S1_END, -1);
  *table = states[0];
  *found = states[1];
}

// Of vectors as long as each other, a truth and a box for each place: the boxes that are taken, with their batches and
// classes. each: so many places has a class.
static void give_boxes(pb_onnx* o, int taken, int boxes, int64_t classes, int64_t each) {
  int count, places = pb__o_places_of(o, taken, &count), parts[3];
  int64_t shape[2] = {-1, 3};
  int said = pb__o_join(o, 2, (const int[]){count, pb__o_vector(o, 1, &shape[1])}, 0);
  pb__o_extents(o, 0, said, -1, 2, shape);
  if (pb__o_bad(o)) return;
  int at = pb__o_along_axis(o, places, 0, pb__o_turns(o, shape[0]));
  int row = pb__o_by(o, "divide", at, each);
  parts[0] = pb__o_by(o, "divide", row, classes);
  parts[1] = pb__o_by(o, "remainder", row, classes);
  parts[2] = pb__o_along_axis(o, boxes, 0, at);
  for (int k = 0; k < 3; ++k) parts[k] = pb__o_reshape(o, parts[k], 2, (const int64_t[]){shape[0], 1});
  pb__o_out(o, 0, pb__o_join(o, 3, parts, 1));
}

// Whether no extent so far is open: there is no such input, and what data say lies behind.
static bool is_fixed(const pb_onnx* o) {
  const pb_symbols* symbols = o->l->consts->symbols;
  if (!o->l->consts->open) return true;
  if (!symbols || o->l->said) return false;
  for (int k = 0; k < symbols->count; ++k)
    if (!pb_symbol_is_said(symbols, k)) return false;
  return true;
}

void pb__o_op_suppress(pb_onnx* o) {
  suppression s = {.o = o, .scores = pb__o_in(o, 1)};
  int boxes = pb__o_in(o, 0), table = -1, found = -1;
  const pb_flat_type b = *pb__o_type(o, boxes), in = *pb__o_type(o, s.scores);
  if (b.type != PB_F32 || in.type != PB_F32 || b.rank != 3 || in.rank != 3 || b.shape[2] != 4 ||
      b.shape[0] != in.shape[0] || b.shape[1] != in.shape[2] || pb__is_empty(3, in.shape))
    pb__o_refuse(o, "boxes and scores that do not fit");
  s.most = number_or(o, 2, PB_I64, pb__o_whole(o, 0));
  s.overlap = number_or(o, 3, PB_F32, pb__o_number(o, PB_F32, 0));
  if (pb__o_bad(o)) return;
  corners_of(o, boxes, s.corner);
  s.slots = slots_of(o, in.shape[2]);
  int64_t near = TIMES_NEAR * s.slots < LEAST_NEAR ? LEAST_NEAR : TIMES_NEAR * s.slots;
  if (!is_fixed(o) || TIMES_NEAR * near > in.shape[2]) {
    ranked r = rank(&s, in.shape[2]);
    if (pb__o_bad(o)) return;
    give_boxes(o, r.taken, one_dim(o, pb__o_cast(o, r.which, PB_I64)), in.shape[1], in.shape[2]);
    return;
  }
  bool open = o->l->consts->open;
  o->l->consts->open = false; // as it is up to here
  suppress_near(&s, near, &table, &found);
  o->l->consts->open = open;
  if (pb__o_bad(o)) return;
  const pb_flat_type slots = *pb__o_type(o, table);
  int64_t column[2] = {slots.shape[0], 1};
  int number = pb__o_iota(o, PB_I64, 2, slots.shape, 1);
  found = pb__o_expand(o, pb__o_reshape(o, found, 2, column), 2, slots.shape);
  int is = one_dim(o, pb__o_compare(o, "LT", number, found));
  table = one_dim(o, table);
  give_boxes(o, is, table, in.shape[1], slots.shape[1]);
}
