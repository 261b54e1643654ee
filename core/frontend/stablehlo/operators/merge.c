#include "core/frontend/stablehlo/operators/merge.h"

#include <string.h>

// The work tensor has two halves of n numbers along the axis: pass p reads one and writes the other. A number has in
// its low half which element stands there, in its high one how many of the left run are taken by then; it is an i32
// where 16 bits hold either, of which twice as many stay near. Passes whose
// runs are longer than all there is leave the order as it is; where n is open (core/open) there are as many as any n
// takes.
enum { ALL_PASSES = 32 };

static pb_type work_type(const pb_door_merge* m) { return m->half == 16 ? PB_I32 : PB_I64; }

static int whole(pb_nest* n, int64_t v) { return pb_nest_integer(n, PB_I64, v); }
static int op(pb_nest* n, pb_op o, int a, int b) { return pb_nest_node(n, o, PB_I64, a, b); }
static int add(pb_nest* n, int a, int b) { return op(n, PB_OP_ADD, a, b); }
static int less(pb_nest* n, int a, int b) { return pb_nest_node(n, PB_OP_LESS, PB_I1, a, b); }

static int low_half(pb_nest* n, const pb_door_merge* m, int number) {
  return op(n, PB_OP_AND, number, whole(n, ((int64_t)1 << m->half) - 1));
}

static int wide(pb_nest* n, int number) {
  return n->expr[number].type == PB_I64 ? number : op(n, PB_OP_SEXT, number, -1);
}

// The work tensor has the dim `abreast` as two: which of some rows side by side is the second.
static int work_index(const pb_door_merge* m, int r) { return r + (m->abreast >= 0 && r > m->abreast); }

static void move_work(pb_door* d, const pb_door_merge* m, int access) {
  for (int r = 0; r < m->rank; ++r)
    if (r != m->axis) pb_make_move(&d->m, access, work_index(m, r), m->dims[r], 1);
  if (m->abreast >= 0) pb_make_move(&d->m, access, m->abreast + 1, m->next, 1);
}

// The same of a tensor of the shape.
static void move_rows(pb_door* d, const pb_door_merge* m, int access) {
  for (int r = 0; r < m->rank; ++r)
    if (r != m->axis) pb_make_move(&d->m, access, r, m->dims[r], r == m->abreast ? m->side : 1);
  if (m->abreast >= 0) pb_make_move(&d->m, access, m->abreast, m->next, 1);
}

// The number at place `at` of the half that begins at `base`.
static int number_at(pb_door* d, const pb_door_merge* m, int base, int at) {
  pb_nest* n = &d->m.nest;
  int access = pb_make_access(&d->m, m->work), place = add(n, base, pb__door_within(n, at, 0, m->count - 1));
  move_work(d, m, access);
  return wide(n, pb_nest_gather(n, access, work_index(m, m->axis), pb__door_as_place(n, place)));
}

static int new_work(pb_door* d, const pb_door_merge* m) {
  int64_t shape[PB_NEST_RANK + 1] = {0};
  int dims[PB_NEST_RANK + 1], axis = work_index(m, m->axis);
  for (int r = 0; r < m->rank; ++r) shape[work_index(m, r)] = r == m->abreast ? m->shape[r] / m->side : m->shape[r];
  if (m->abreast >= 0) shape[m->abreast + 1] = m->side;
  shape[axis] *= 2;
  int work = pb_make_value(&d->m, work_type(m), m->rank + (m->abreast >= 0), shape);
  pb_nest* n = pb_make_walk(&d->m, "init", work, dims);
  int turn = pb__door_turn(n, dims[axis]);
  if (m->half == 16) (void)pb_nest_node(n, PB_OP_TRUNC, PB_I32, turn, -1);
  pb_make_end(&d->m, work, dims);
  return work;
}

// Each merge waits for its own last step: some side by side fill the time. As many rows as divide what there is.
static void choose_abreast(const pb_door* d, pb_door_merge* m) {
  enum { MOST = 8 };
  m->abreast = m->next = -1;
  m->side = 1;
  if (d->m.consts->open || m->rank + 1 > PB_GRAPH_RANK || m->rank + 5 > PB_NEST_DIMS) return;
  for (int r = m->rank - 1; r >= 0 && m->abreast < 0; --r)
    for (int64_t side = MOST; r != m->axis && side > 1; --side)
      if (m->shape[r] % side == 0) {
        m->abreast = r;
        m->side = side;
        break;
      }
}

pb_door_merge pb__door_merge_start(pb_door* d, int rank, const int64_t* shape, int axis, int64_t keys) {
  pb_door_merge m = {.rank = rank, .axis = axis, .count = shape[axis], .keys = keys};
  memcpy(m.shape, shape, sizeof *shape * (size_t)rank);
  do ++m.passes;
  while ((int64_t)1 << m.passes < m.count);
  if (d->m.consts->open) m.passes = ALL_PASSES;
  m.half = !d->m.consts->open && m.count <= INT16_MAX ? 16 : 32;
  choose_abreast(d, &m);
  m.work = new_work(d, &m);
  pb_nest* n = pb_make_start(&d->m, "order");
  for (int r = 0; r < rank; ++r)
    m.dims[r] = r == axis ? -1 : pb_make_loop(&d->m, r == m.abreast ? shape[r] / m.side : shape[r]);
  int by = pb_make_loop(&d->m, keys), pass = pb_make_loop(&d->m, m.passes), turn = pb_make_loop(&d->m, m.count);
  if (m.abreast >= 0) m.next = pb_make_loop(&d->m, m.side);
  int p = pb__door_turn(n, pass), k = pb__door_turn(n, turn), key = pb__door_turn(n, by), none = whole(n, 0);
  int back = op(n, PB_OP_MUL, key, whole(n, -1));
  m.key = add(n, back, whole(n, keys - 1));
  m.turn = k;
  // Which half: all passes before.
  int done = add(n, op(n, PB_OP_MUL, key, whole(n, m.passes)), p);
  int odd = less(n, none, op(n, PB_OP_AND, done, whole(n, 1)));
  int half = whole(n, m.count), first = pb__door_chosen(n, odd, half, none);
  m.base = pb__door_chosen(n, odd, none, half); // what is written
  // Runs of `width` from `start` on, the last one shorter: `all` in both, `most` in the left one.
  int width = op(n, PB_OP_SHL, whole(n, 1), p), pair = op(n, PB_OP_SHL, whole(n, 2), p);
  int at = op(n, PB_OP_AND, k, op(n, PB_OP_SUB, pair, whole(n, 1))), start = op(n, PB_OP_SUB, k, at);
  int left = op(n, PB_OP_SUB, whole(n, m.count), start);
  int all = op(n, PB_OP_MIN, pair, left), most = op(n, PB_OP_MIN, width, left);
  int before = number_at(d, &m, m.base, add(n, k, whole(n, -1)));
  int inside = less(n, none, at), taken = op(n, PB_OP_SHR, before, whole(n, m.half));
  taken = pb__door_chosen(n, inside, taken, none);
  int other = add(n, most, op(n, PB_OP_SUB, at, taken)); // the next one of the right run
  m.has_left = less(n, taken, most);
  m.has_right = less(n, other, all);
  m.left = pb__door_within(n, low_half(n, &m, number_at(d, &m, first, add(n, start, taken))), 0, m.count - 1);
  m.right = pb__door_within(n, low_half(n, &m, number_at(d, &m, first, add(n, start, other))), 0, m.count - 1);
  m.taken = taken;
  return m;
}

int pb__door_merge_load(pb_door* d, const pb_door_merge* m, int x, int place) {
  int access = pb_make_access(&d->m, x);
  move_rows(d, m, access);
  return pb_nest_gather(&d->m.nest, access, m->axis, pb__door_as_place(&d->m.nest, place));
}

// Which elements the last pass has put where.
static int order_of(pb_door* d, const pb_door_merge* m) {
  int order = pb_make_value(&d->m, PB_I64, m->rank, m->shape), at = work_index(m, m->axis);
  pb_door_merge now = *m;
  pb_nest* n = pb_make_start(&d->m, "point");
  for (int r = 0; r < m->rank; ++r)
    now.dims[r] = pb_make_loop(&d->m, r == m->abreast ? m->shape[r] / m->side : m->shape[r]);
  if (m->abreast >= 0) now.next = pb_make_loop(&d->m, m->side);
  int from = pb_make_access(&d->m, m->work);
  move_work(d, &now, from);
  pb_make_move(&d->m, from, at, now.dims[m->axis], 1);
  if (m->passes * m->keys % 2) n->access[from].index[at].cst += m->count;
  (void)pb__door_within(n, low_half(n, m, wide(n, pb_nest_load(n, from))), 0, m->count - 1);
  int to = pb_make_access(&d->m, order);
  move_rows(d, &now, to);
  pb_make_move(&d->m, to, m->axis, now.dims[m->axis], 1);
  pb_make_finish(&d->m);
  return order;
}

int pb__door_merge_end(pb_door* d, const pb_door_merge* m, int right_first) {
  pb_nest* n = &d->m.nest;
  int one = whole(n, 1), none = whole(n, 0);
  int to_right = pb__door_chosen(n, m->has_left, pb__door_chosen(n, right_first, one, none), one);
  to_right = pb__door_chosen(n, m->has_right, to_right, none);
  int is = less(n, none, to_right), taken = add(n, m->taken, op(n, PB_OP_SUB, one, to_right));
  int chosen = pb__door_chosen(n, is, m->right, m->left), access = pb_make_access(&d->m, m->work);
  move_work(d, m, access);
  n->access[access].gathered = 1 + work_index(m, m->axis);
  n->stored_at = pb__door_as_place(n, add(n, m->base, m->turn));
  int made = op(n, PB_OP_SHL, taken, whole(n, m->half));
  made = op(n, PB_OP_OR, made, chosen);
  if (m->half == 16) (void)pb_nest_node(n, PB_OP_TRUNC, PB_I32, made, -1);
  n->reduce = PB_ACC_BODY;
  pb_make_finish(&d->m);
  return order_of(d, m);
}

void pb__door_in_order(pb_door* d, int x, int order, int axis, int y) {
  int dims[PB_NEST_RANK];
  pb_nest* n = pb_make_walk(&d->m, "gather", y, dims);
  int at = pb_make_access(&d->m, order), from = pb_make_access(&d->m, x);
  pb_make_along(&d->m, at, dims);
  for (int r = 0; r < n->access[from].rank; ++r)
    if (r != axis) pb_make_move(&d->m, from, r, dims[r], 1);
  int place = pb__door_as_place(n, pb__door_within(n, pb_nest_load(n, at), 0, pb_made(&d->m, x)->shape[axis] - 1));
  (void)pb_nest_gather(n, from, axis, place);
  pb_make_end(&d->m, y, dims);
}
