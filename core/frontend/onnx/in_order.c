// Nests whose turns go in their order and read what turns before them made: a body of its own over a tensor that is all
// there before (pb_reduce's PB_ACC_BODY), as StableHLO's scatter is one. They take time with the number of turns, where
// a nest for each result would take it with their square.
#include "core/frontend/onnx/in_order.h"

#include "core/frontend/onnx/emit.h"
#include "core/frontend/stablehlo/operators/merge.h"

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

// A corner of [batches, boxes] as [batches, classes, boxes], flat, in the order of the scores.
static int in_score_order(pb_onnx* o, int corner, int order, const int64_t* shape) {
  int64_t boxes = shape[2], all = shape[0] * shape[1] * boxes;
  const int64_t each[3] = {shape[1] * boxes, boxes, 1}, batch[3] = {boxes, 0, 0};
  int y = pb__o_new(o, PB_F32, 1, &all);
  turns t = {.o = o, .m = &o->door.m};
  t.m->type = o->n->op;
  t.flat = o->door.value[y] = pb_make_value(t.m, PB_F32, 1, &all);
  pb_nest* n = pb_make_start(t.m, "gather");
  for (int r = 0; r < 3; ++r) t.dims[r] = pb_make_loop(t.m, shape[r]);
  int at = pb_scalar_converted(n, in(&t, order, 3, each), pb__o_type(o, order)->type, PB_I64);
  at = pb_nest_node(n, PB_OP_MAX, PB_I64, at, pb_nest_integer(n, PB_I64, 0));
  at = pb_nest_node(n, PB_OP_MIN, PB_I64, at, pb_nest_integer(n, PB_I64, boxes - 1));
  int from = access_to(&t, o->door.value[corner], 0, 3, batch);
  (void)pb_nest_gather(n, from, 0, pb__door_as_place(n, at));
  (void)access_to(&t, t.flat, 0, 3, each);
  pb_make_finish(t.m);
  return y;
}

// What a box is: it may still be taken, it is, or it is not.
enum { OUT = 0, OPEN = 1, TAKEN = 2 };

// A turn looks at box i and slot j of those that hold the boxes that are taken. An open box meets one that overlaps it
// and is out; or it comes to a slot that holds none, which it then fills, and in the next turn it is taken; or behind
// the last slot it is out. A row of the state has the boxes, the slots and one that stays empty.
int pb__o_apart(pb_onnx* o, int taken, int order, const int* corners, int most, int64_t slots) {
  const pb_flat_type x = *pb__o_type(o, taken);
  int64_t classes = x.shape[1], boxes = x.shape[2], row = boxes + slots + 1, all = x.shape[0] * classes * row;
  const int64_t shape[4] = {x.shape[0], classes, boxes, slots + 1}, free[3] = {x.shape[0], classes, slots + 1};
  const int64_t box[4] = {classes * row, row, 1, 0}, slot[4] = {classes * row, row, 0, 1};
  const int64_t rows[4] = {classes * row, row, 0, 0}, each[4] = {classes * boxes, boxes, 1, 0};
  int corner[4], a[4], b[4], state[2] = {taken, pb__o_expand(o, pb__o_integer(o, PB_I64, -1), 3, free)};
  order = as_one_dim(o, order);
  for (int k = 0; k < 4; ++k) {
    int flat = as_one_dim(o, corners[k]);
    if (pb__o_bad(o)) return taken;
    corner[k] = in_score_order(o, flat, order, x.shape);
  }
  int start = as_one_dim(o, pb__o_join(o, 2, state, 2));
  if (pb__o_bad(o)) return taken;
  turns t = begin(o, start, 4, shape);
  pb_nest* n = &t.m->nest;
  int i = pb__door_turn(n, t.dims[2]), j = pb__door_turn(n, t.dims[3]);
  int is = own(&t, 0, 4, box), before = own(&t, boxes - 1, 4, slot), now = own(&t, boxes, 4, slot);
  int at = pb_nest_node(n, PB_OP_MAX, PB_I64, now, pb_nest_integer(n, PB_I64, 0));
  at = pb__door_as_place(n, pb_nest_node(n, PB_OP_MIN, PB_I64, at, pb_nest_integer(n, PB_I64, boxes - 1)));
  for (int k = 0; k < 4; ++k) {
    a[k] = in(&t, corner[k], 4, each);
    int other = access_to(&t, o->door.value[corner[k]], 0, 4, (const int64_t[]){classes * boxes, boxes, 0, 0});
    b[k] = pb_nest_gather(n, other, 0, at);
  }
  int access, meets = overlap(n, a, b, pb__door_load(&o->door, o->door.value[most], &access));
  int out = pb_nest_integer(n, PB_I64, OUT), open = pb_nest_integer(n, PB_I64, OPEN);
  int is_open = pb_scalar_compare(n, PB_EQ, PB_I64, false, is, open);
  int later = pb_scalar_compare(n, PB_LT, PB_I64, false, out, j);
  int mine = both(n, later, pb_scalar_compare(n, PB_EQ, PB_I64, false, before, i));
  int last = pb_scalar_compare(n, PB_EQ, PB_I64, false, j, pb_nest_integer(n, PB_I64, slots));
  int empty = pb_scalar_compare(n, PB_LT, PB_I64, false, now, out);
  int next = pb_scalar_select(n, meets, out, open);
  next = pb_scalar_select(n, empty, open, next); // nobody is there
  next = pb_scalar_select(n, last, out, next);
  next = pb_scalar_select(n, mine, pb_nest_integer(n, PB_I64, TAKEN), next);
  next = pb_scalar_select(n, is_open, next, is);
  int none = pb_nest_integer(n, PB_I8, 0), fills = both(n, is_open, empty);
  fills = pb_scalar_select(n, last, none, fills);
  fills = pb_scalar_select(n, mine, none, fills);
  int there = pb_nest_node(n, PB_OP_ADD, PB_I64, j, pb_nest_integer(n, PB_I64, boxes));
  int to = access_to(&t, t.flat, 0, 4, rows), place = pb_scalar_select(n, fills, there, i);
  n->stored_at = pb__door_as_place(n, place);
  n->access[to].gathered = 1;
  (void)pb_scalar_select(n, fills, i, next);
  n->reduce = PB_ACC_BODY;
  pb_make_finish(t.m);
  int y = pb__o_new(o, PB_I64, 1, &all);
  o->door.value[y] = t.flat;
  y = pb__o_part(o, pb__o_reshape(o, y, 3, (const int64_t[]){x.shape[0], classes, row}), 2, 0, boxes);
  return pb__o_cast(o, pb__o_compare(o, "EQ", y, pb__o_integer(o, PB_I64, TAKEN)), PB_I64);
}
