// What is so far along a dim, an element a turn of a loop that goes in order: y[j + 1] = body(y[j], x[j + 1]), which
// reads what the turn before has stored (pb_reduce's PB_ACC_BODY). One pass over the tensor, where rounds are several;
// threads share the other dims. What each turn rounds adds up, so long sums of floats go by blocks, each of which
// begins with what those in front make together:
//
//   totals[b] = x[16 b] + .. + x[16 b + 15]      so_far = the same of the totals
//   y[16 b] = so_far[b - 1] + x[16 b]            y[16 b + 1 + t] = y[16 b + t] + x[16 b + 1 + t]
//
// Chains of additions in several blocks are computed beside each other, too.
#include "core/frontend/stablehlo/operators/turns.h"

#include <string.h>

enum {
  BLOCK = 16,
  MOST_ROUNDED = 128, // turns that round, one behind the other
  LANES = 16,
  LEAST_LINES = 16 // beside each other: fewer would leave lanes and threads idle
};

typedef struct turns {
  pb_door* d;
  const pb_flat_op* op;
  const char* combines;
  int axis;
  bool reverse;
  int dims[PB_NEST_RANK], block, turn; // loops of the nest that is being made; dims[axis] is none of them
  int result;                          // its node
} turns;

// A maximum of floats asks for NaN and signs, which takes a turn longer than the rounds take, unless lanes are columns.
static bool is_quick(const pb_flat_type* type, int axis, const char* combines) {
  int64_t columns = 1;
  for (int r = axis + 1; r < type->rank; ++r) columns *= type->shape[r];
  bool chooses = strcmp(combines, "stablehlo.add") && strcmp(combines, "stablehlo.multiply");
  return columns >= LANES || !chooses || !pb_type_is_float(type->type);
}

bool pb__door_takes_turns(const pb_door* d, const pb_flat_type* type, int axis, const char* combines) {
  int64_t lines = 1;
  for (int r = 0; r < type->rank; ++r)
    if (r != axis) lines *= type->shape[r];
  bool can = combines && d->m.consts->in_turns && !d->open && !d->m.consts->open;
  return can && lines >= LEAST_LINES && is_quick(type, axis, combines);
}

// Loops over all lines, and in each over so many blocks of so many turns.
static void start(turns* t, const pb_s1_value* like, int64_t blocks, int64_t count, const char* part) {
  (void)pb_make_start(&t->d->m, part);
  for (int r = 0; r < like->rank; ++r) {
    if (r != t->axis) {
      t->dims[r] = pb_make_loop(&t->d->m, like->shape[r]);
      continue;
    }
    t->dims[r] = -1;
    t->block = pb_make_loop(&t->d->m, blocks);
    t->turn = pb_make_loop(&t->d->m, count);
  }
}

// Element `from` of the line as it is gone through, and so many further for each block and turn.
static int at(turns* t, int value, int64_t from, int64_t by_block, int64_t by_turn) {
  int access = pb_make_access(&t->d->m, value), sign = t->reverse ? -1 : 1;
  pb_make_along(&t->d->m, access, t->dims);
  pb_make_move(&t->d->m, access, t->axis, t->block, sign * by_block);
  pb_make_move(&t->d->m, access, t->axis, t->turn, sign * by_turn);
  pb_index* index = &t->d->m.nest.access[access].index[t->axis];
  index->cst = t->reverse ? t->d->m.nest.access[access].shape[t->axis] - 1 - from : from;
  return access;
}

// What both make together, the one in front and the one behind it as the line is gone through. What is so far of a sum
// of f32 may be an f64: what is rounded there would be in all that follows.
static pb_status combined(turns* t, int before, int element, pb_type type) {
  pb_nest* n = &t->d->m.nest;
  pb_type so_far = n->access[before].type;
  int both[2], result;
  both[t->reverse] = pb_scalar_load(n, before, so_far);
  both[!t->reverse] = pb_scalar_load(n, element, type);
  if (so_far == type) {
    PB_TRY(pb__door_body(t->d, n, t->op, 0, (pb_door_ends){2, both}, 1, &type, &result));
  } else {
    both[!t->reverse] = pb_scalar_converted(n, both[!t->reverse], type, so_far);
    result = pb_nest_node(n, PB_OP_ADD, so_far, both[0], both[1]);
  }
  t->result = result;
  return PB_OK;
}

// Ends the nest: that is stored, or the element alone, in the tensor's type.
static void store(turns* t, int y, int64_t from, int64_t by_block, int64_t by_turn, pb_type type) {
  pb_type to = pb_made(&t->d->m, y)->type;
  int result = to == type ? t->result : pb_scalar_converted(&t->d->m.nest, t->result, type, to);
  pb__door_last(t->d, result, to);
  (void)at(t, y, from, by_block, by_turn);
  pb_make_finish(&t->d->m);
}

// The first elements of so many blocks from `first` on, behind what is so far at their ends; -1: nothing is.
static pb_status begin_blocks(turns* t, int x, int so_far, int y, int64_t first, int64_t count) {
  const pb_s1_value in = *pb_made(&t->d->m, x);
  start(t, &in, count, 1, so_far < 0 ? "copy" : "point");
  int before = so_far < 0 ? -1 : at(t, so_far, 0, 1, 0), element = at(t, x, first * BLOCK, BLOCK, 0);
  if (so_far < 0)
    t->result = pb_scalar_load(&t->d->m.nest, element, in.type);
  else
    PB_TRY(combined(t, before, element, in.type));
  store(t, y, first * BLOCK, BLOCK, 0, so_far < 0 ? in.type : pb_made(&t->d->m, so_far)->type);
  return PB_OK;
}

// The turns behind the first elements of so many blocks.
static pb_status go_on(turns* t, int x, int y, int64_t first, int64_t blocks, int64_t count) {
  const pb_s1_value in = *pb_made(&t->d->m, x);
  pb_type type = pb_made(&t->d->m, y)->type;
  if (!blocks || !count) return PB_OK;
  start(t, &in, blocks, count, "point");
  int element = at(t, x, first * BLOCK + 1, BLOCK, 1), before = at(t, y, first * BLOCK, BLOCK, 1);
  PB_TRY(combined(t, before, element, in.type));
  t->d->m.nest.reduce = PB_ACC_BODY;
  store(t, y, first * BLOCK + 1, BLOCK, 1, type);
  return PB_OK;
}

// All of a line behind each other.
static pb_status one_block(turns* t, int x, int y) {
  PB_TRY(begin_blocks(t, x, -1, y, 0, 1));
  return go_on(t, x, y, 0, 1, pb_made(&t->d->m, x)->shape[t->axis] - 1);
}

// Of each of so many blocks what all its elements make together. Along rows each turn takes what the one before has
// made, too: where what is so far is made in turns, all of it is one kernel, a few lines at a time.
static pb_status totals_of(turns* t, int x, int64_t blocks, int totals) {
  const pb_s1_value in = *pb_made(&t->d->m, x);
  bool adds = !strcmp(t->combines, "stablehlo.add"), in_rows = t->axis == in.rank - 1;
  start(t, &in, blocks, 1, "init");
  t->result = pb_scalar_number(&t->d->m.nest, in.type, !adds);
  store(t, totals, 0, 1, 0, in.type);
  start(t, &in, blocks, BLOCK, in_rows ? "point" : "reduce");
  int before = adds && !in_rows ? -1 : at(t, totals, 0, 1, 0), element = at(t, x, 0, BLOCK, 1);
  if (before < 0)
    t->result = pb_scalar_load(&t->d->m.nest, element, in.type);
  else
    PB_TRY(combined(t, before, element, in.type));
  t->d->m.nest.reduce = before < 0 ? PB_ACC_ADD : PB_ACC_BODY;
  store(t, totals, 0, 1, 0, in.type);
  return PB_OK;
}

static pb_status taken(turns* t, int x, int y) {
  const pb_s1_value in = *pb_made(&t->d->m, x);
  int64_t extent = in.shape[t->axis], blocks = (extent + BLOCK - 1) / BLOCK, shape[PB_NEST_RANK];
  bool adds = !strcmp(t->combines, "stablehlo.add"), wide = adds && in.type == PB_F32;
  bool rounds = pb_type_is_float(in.type) && (adds || !strcmp(t->combines, "stablehlo.multiply"));
  if (!rounds || extent <= MOST_ROUNDED) return one_block(t, x, y);
  memcpy(shape, in.shape, sizeof shape);
  shape[t->axis] = blocks - 1;
  int totals = pb_make_value(&t->d->m, in.type, in.rank, shape);
  int so_far = pb_make_value(&t->d->m, wide ? PB_F64 : in.type, in.rank, shape);
  PB_TRY(totals_of(t, x, blocks - 1, totals));
  PB_TRY(wide ? one_block(t, totals, so_far) : taken(t, totals, so_far));
  PB_TRY(begin_blocks(t, x, -1, y, 0, 1));
  PB_TRY(begin_blocks(t, x, so_far, y, 1, blocks - 1));
  int64_t whole = extent / BLOCK, rest = extent % BLOCK;
  PB_TRY(go_on(t, x, y, 0, whole, BLOCK - 1));
  return rest ? go_on(t, x, y, whole, 1, rest - 1) : PB_OK;
}

pb_status pb__door_by_turns(pb_door* d, const pb_flat_op* op, const char* combines, int x, int axis, bool reverse,
                            int* y) {
  turns t = {.d = d, .op = op, .combines = combines, .axis = axis, .reverse = reverse};
  const pb_s1_value in = *pb_made(&d->m, x);
  *y = pb_make_value(&d->m, in.type, in.rank, in.shape);
  return taken(&t, x, *y);
}
