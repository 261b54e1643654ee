// Nests whose turns go in their order and read what turns before them made: a body of its own over a tensor that is all
// there before (pb_reduce's PB_ACC_BODY), as StableHLO's scatter is one. They take time with the number of turns, where
// a nest for each result would take it with their square.
#include "core/frontend/onnx/in_order.h"

#include "core/frontend/onnx/emit.h"
#include "core/frontend/stablehlo/operators/merge.h"
#include "core/frontend/stablehlo/operators/radix.h"

#include <string.h>

typedef struct turns {
  pb_onnx* o;
  pb_maker* m;
  int flat; // of S1: the tensor that turns change, of one dim
  int dims[PB_NEST_RANK];
} turns;

// The loops of an element-by-element walk over `shape`, over a tensor of `all` elements that begins as `from`.
static turns begin(pb_onnx* o, int from, int rank, const int64_t* shape) {
  turns t = {.o = o, .m = &o->door.m};
  int64_t all = pb__o_elements(o, from);
  t.m->type = o->n->op;
  t.flat = pb_make_value(t.m, pb__o_type(o, from)->type, 1, &all);
  pb_make_copy(t.m, o->door.value[from], t.flat);
  (void)pb_make_start(t.m, "point");
  for (int r = 0; r < rank; ++r) t.dims[r] = pb_make_loop(t.m, shape[r]);
  return t;
}

// A tensor seen as one of one dim, at `start` and so many elements more for each turn of each loop.
static int access_to(turns* t, int value, int64_t start, int rank, const int64_t* steps) {
  int access = pb_make_access(t->m, value);
  for (int r = 0; r < rank; ++r) pb_make_move(t->m, access, 0, t->dims[r], steps[r]);
  t->m->nest.access[access].index[0].cst += start;
  return access;
}

static int in(turns* t, int v, int rank, const int64_t* steps) {
  return pb_scalar_load(&t->m->nest, access_to(t, t->o->door.value[v], 0, rank, steps), pb__o_type(t->o, v)->type);
}

static int own(turns* t, int64_t start, int rank, const int64_t* steps) {
  return pb_nest_load(&t->m->nest, access_to(t, t->flat, start, rank, steps));
}

// The last node is what a turn makes; the result, in this shape.
static int end(turns* t, int64_t start, int steps_rank, const int64_t* steps, pb_type type, int rank,
               const int64_t* shape) {
  int64_t all = 1;
  for (int r = 0; r < rank; ++r) all *= shape[r];
  (void)access_to(t, t->flat, start, steps_rank, steps);
  t->m->nest.reduce = PB_ACC_BODY;
  pb_make_finish(t->m);
  int y = pb__o_new(t->o, type, 1, &all);
  t->o->door.value[y] = t->flat;
  return pb__o_reshape(t->o, y, rank, shape);
}

static int as_one_dim(pb_onnx* o, int v) {
  int64_t all = pb__o_elements(o, v);
  return pb__o_reshape(o, v, 1, &all);
}

static int zeros(pb_onnx* o, pb_type type, int64_t count) {
  return pb__o_expand(o, pb__o_integer(o, type, 0), 1, &count);
}

int pb__o_running(pb_onnx* o, int each) {
  const pb_flat_type x = *pb__o_type(o, each);
  int64_t rows = x.shape[0], count = x.shape[1], shape[2] = {rows, count + 1}, steps[2] = {count + 1, 1};
  int none = zeros(o, PB_I64, rows * (count + 1));
  if (pb__o_bad(o) || pb__is_empty(2, x.shape)) return pb__o_reshape(o, none, 2, shape);
  each = as_one_dim(o, each);
  turns t = begin(o, none, 2, x.shape);
  int more = in(&t, each, 2, (const int64_t[]){count, 1});
  (void)pb_nest_node(&t.m->nest, PB_OP_ADD, PB_I64, own(&t, 0, 2, steps), more);
  return end(&t, 1, 2, steps, PB_I64, 2, shape);
}

int pb__o_sorted(pb_onnx* o, int slices) {
  const pb_flat_type x = *pb__o_type(o, slices);
  int64_t count = x.shape[0], size = x.shape[1];
  int y = pb__o_new(o, PB_I64, 1, &count), side[2];
  slices = as_one_dim(o, slices);
  if (pb__o_bad(o)) return y;
  pb_maker* maker = &o->door.m;
  maker->type = o->n->op;
  if (size == 1 && !pb_type_is_code(x.type)) {
    int numbers = o->door.value[slices];
    o->door.value[y] = pb__door_radix(&o->door, &numbers, 0, 1, &(pb_radix_key){.operand = 0});
    return y;
  }
  pb_door_merge m = pb__door_merge_start(&o->door, 1, &count, 0, size);
  pb_nest* n = &maker->nest;
  for (int k = 0; k < 2; ++k) {
    int at = pb_nest_node(n, PB_OP_MUL, PB_I64, k ? m.right : m.left, pb_nest_integer(n, PB_I64, size));
    at = pb_nest_node(n, PB_OP_ADD, PB_I64, at, m.key);
    int access = pb_make_access(maker, o->door.value[slices]);
    side[k] = pb_scalar_decoded(n, pb_nest_gather(n, access, 0, pb__door_as_place(n, at)), x.type);
  }
  int swap = pb_scalar_compare(n, PB_LT, x.type, false, side[1], side[0]);
  swap = pb_nest_node(n, PB_OP_LESS, PB_I1, pb_nest_integer(n, PB_I8, 0), swap);
  o->door.value[y] = pb__door_merge_end(&o->door, &m, swap);
  return y;
}

// ---- boxes ----

static int lesser(pb_nest* n, int a, int b) {
  return pb_scalar_select(n, pb_scalar_compare(n, PB_LT, PB_F32, false, a, b), a, b);
}

static int greater(pb_nest* n, int a, int b) {
  return pb_scalar_select(n, pb_scalar_compare(n, PB_LT, PB_F32, false, a, b), b, a);
}

static int real(pb_nest* n, pb_op op, int a, int b) { return pb_nest_node(n, op, PB_F32, a, b); }

static int both(pb_nest* n, int a, int b) { return pb_nest_node(n, PB_OP_AND, n->expr[a].type, a, b); }

static int positive(pb_nest* n, int a) {
  return pb_scalar_compare(n, PB_GT, PB_F32, false, a, pb_nest_const(n, PB_F32, 0));
}

static int area(pb_nest* n, const int* at) {
  int height = real(n, PB_OP_SUB, at[2], at[0]), width = real(n, PB_OP_SUB, at[3], at[1]);
  return real(n, PB_OP_MUL, height, width);
}

// Whether two boxes, four corners each, share more than `most` of what both cover: an i1 as a byte.
static int overlap(pb_nest* n, const int* a, const int* b, int most) {
  int end = lesser(n, a[2], b[2]), begin = greater(n, a[0], b[0]), height = real(n, PB_OP_SUB, end, begin);
  end = lesser(n, a[3], b[3]);
  begin = greater(n, a[1], b[1]);
  int width = real(n, PB_OP_SUB, end, begin), shared = real(n, PB_OP_MUL, height, width);
  int one = area(n, a), other = area(n, b), of = real(n, PB_OP_ADD, one, other);
  of = real(n, PB_OP_DIV, shared, real(n, PB_OP_SUB, of, shared));
  int is = pb_scalar_compare(n, PB_GT, PB_F32, false, of, most);
  is = both(n, is, positive(n, height));
  is = both(n, is, positive(n, width));
  is = both(n, is, positive(n, one));
  return both(n, is, positive(n, other));
}

// A corner of [batches, all boxes], flat, as [batches, classes, boxes], flat, in the order of the scores: of all boxes,
// or of the first ones.
static int in_score_order(pb_onnx* o, int corner, int order, const int64_t* shape) {
  int64_t boxes = shape[2], all = shape[0] * shape[1] * boxes;
  int64_t of_batch = pb__o_elements(o, corner) / shape[0];
  const int64_t each[3] = {shape[1] * boxes, boxes, 1}, batch[3] = {of_batch, 0, 0};
  int y = pb__o_new(o, PB_F32, 1, &all);
  turns t = {.o = o, .m = &o->door.m};
  t.m->type = o->n->op;
  t.flat = o->door.value[y] = pb_make_value(t.m, PB_F32, 1, &all);
  pb_nest* n = pb_make_start(t.m, "gather");
  for (int r = 0; r < 3; ++r) t.dims[r] = pb_make_loop(t.m, shape[r]);
  int at = pb_scalar_converted(n, in(&t, order, 3, each), pb__o_type(o, order)->type, PB_I64);
  at = pb_nest_node(n, PB_OP_MAX, PB_I64, at, pb_nest_integer(n, PB_I64, 0));
  at = pb_nest_node(n, PB_OP_MIN, PB_I64, at, pb_nest_integer(n, PB_I64, of_batch - 1));
  int from = access_to(&t, o->door.value[corner], 0, 3, batch);
  (void)pb_nest_gather(n, from, 0, pb__door_as_place(n, at));
  (void)access_to(&t, t.flat, 0, 3, each);
  pb_make_finish(t.m);
  return y;
}

// What a box is: it may still be taken, it is, or it is not.
enum { OUT = 0, OPEN = 1, TAKEN = 2 };

// Of [4, batches, classes, boxes] the corners of one box of each row, whose number is in `first`: [4, batches,
// classes].
static int corners_of_first(pb_onnx* o, int corners, int first) {
  const pb_flat_type x = *pb__o_type(o, corners);
  int y = pb__o_new(o, PB_F32, 3, x.shape), dims[PB_NEST_RANK];
  if (pb__o_bad(o)) return y;
  pb_maker* m = &o->door.m;
  m->type = o->n->op;
  o->door.value[y] = pb_make_value(m, PB_F32, 3, x.shape);
  pb_nest* n = pb_make_walk(m, "gather", o->door.value[y], dims);
  int at = pb_make_access(m, o->door.value[first]), from = pb_make_access(m, o->door.value[corners]);
  for (int r = 0; r < 2; ++r) pb_make_move(m, at, r, dims[r + 1], 1);
  for (int r = 0; r < 3; ++r) pb_make_move(m, from, r, dims[r], 1);
  int place = pb_nest_node(n, PB_OP_SEXT, PB_I64, pb_nest_load(n, at), -1);
  place = pb__door_within(n, place, 0, x.shape[3] - 1);
  (void)pb_nest_gather(n, from, 3, pb__door_as_place(n, place));
  pb_make_end(m, o->door.value[y], dims);
  return y;
}

// What boxes are behind a turn in which the first one of each row is taken: in lanes.
static int behind_turn(pb_onnx* o, int now, int first, int corners, int most) {
  pb_maker* m = &o->door.m;
  int dims[PB_NEST_RANK], a[4], b[4], load, of_first = corners_of_first(o, corners, first);
  int next = pb__o_new(o, PB_I32, 3, pb__o_type(o, now)->shape);
  if (pb__o_bad(o)) return next;
  o->door.value[next] = pb_make_value(m, PB_I32, 3, pb__o_type(o, now)->shape);
  pb_nest* n = pb_make_walk(m, "point", o->door.value[next], dims);
  int from = pb_make_access(m, o->door.value[now]), taker = pb_make_access(m, o->door.value[first]);
  pb_make_along(m, from, dims);
  for (int r = 0; r < 2; ++r) pb_make_move(m, taker, r, dims[r], 1);
  int is = pb_nest_load(n, from), at = pb_nest_load(n, taker);
  int turn = pb_nest_node(n, PB_OP_TRUNC, PB_I32, pb__door_turn(n, dims[2]), -1);
  for (int k = 0; k < 4; ++k) {
    int own = pb_make_access(m, o->door.value[corners]), other = pb_make_access(m, o->door.value[of_first]);
    n->access[own].index[0].cst = n->access[other].index[0].cst = k;
    for (int r = 0; r < 3; ++r) pb_make_move(m, own, r + 1, dims[r], 1);
    for (int r = 0; r < 2; ++r) pb_make_move(m, other, r + 1, dims[r], 1);
    a[k] = pb_nest_load(n, own);
    b[k] = pb_nest_load(n, other);
  }
  int meets = overlap(n, a, b, pb__door_load(&o->door, o->door.value[most], &load));
  int open = pb_nest_integer(n, PB_I32, OPEN), out = pb_nest_integer(n, PB_I32, OUT);
  int takes = pb_nest_integer(n, PB_I32, TAKEN), is_open = pb_scalar_compare(n, PB_EQ, PB_I32, false, is, open);
  int mine = pb_scalar_compare(n, PB_EQ, PB_I32, false, at, turn), made = pb_scalar_select(n, meets, out, open);
  made = pb_scalar_select(n, mine, takes, made);
  (void)pb_scalar_select(n, is_open, made, is);
  pb_make_end(m, o->door.value[next], dims);
  return next;
}

// Each turn takes the first box of each row that may still be, until none may be: time boxes x those that are taken of
// a row.
int pb__o_apart(pb_onnx* o, int taken, int order, const int* corners, int most, int64_t slots) {
  const pb_flat_type x = *pb__o_type(o, taken);
  const bool along[3] = {false, false, true}, everywhere[3] = {true, true, true};
  const int64_t each[4] = {1, x.shape[0], x.shape[1], x.shape[2]};
  int parts[4], begin[2] = {pb__o_cast(o, taken, PB_I32), pb__o_integer(o, PB_I64, 0)}, now[2], next[2];
  order = as_one_dim(o, order);
  for (int k = 0; k < 4; ++k) {
    int flat = as_one_dim(o, corners[k]);
    if (pb__o_bad(o)) return taken;
    parts[k] = pb__o_reshape(o, in_score_order(o, flat, order, x.shape), 4, each);
  }
  int all = pb__o_join(o, 4, parts, 0);
  int none = pb__o_integer(o, PB_I32, x.shape[2]), zero = pb__o_integer(o, PB_I32, 0);
  int left = pb__o_sub(o, none, pb__o_iota(o, PB_I32, 3, x.shape, 2)); // the first one's is the largest
  for (int k = 0; k < 2 && !pb__o_bad(o); ++k) now[k] = pb__o_state_like(o, begin[k]);
  if (pb__o_bad(o)) return taken;
  pb__o_set_states(o, 2, now, begin);
  pb__o_mark_loop(o, PB_S1_LOOP, -1);
  int is_open = pb__o_compare(o, "EQ", now[0], pb__o_integer(o, PB_I32, OPEN));
  int most_left = pb__o_reduce_kept(o, pb__o_select(o, is_open, left, zero), "maximum", along);
  int any = pb__o_compare(o, "GT", pb__o_reduce(o, most_left, "maximum", everywhere), zero);
  any = pb__o_binary(o, "and", any, pb__o_compare(o, "LT", now[1], pb__o_integer(o, PB_I64, slots)));
  pb__o_mark_loop(o, PB_S1_WHILE, any);
  if (pb__o_bad(o)) return taken;
  next[0] = behind_turn(o, now[0], pb__o_sub(o, none, most_left), all, most);
  next[1] = pb__o_add(o, now[1], pb__o_integer(o, PB_I64, 1));
  pb__o_set_states(o, 2, now, next);
  pb__o_mark_loop(o, PB_S1_AGAIN, -1);
  return pb__o_cast(o, pb__o_compare(o, "EQ", now[0], pb__o_integer(o, PB_I32, TAKEN)), PB_I64);
}
