// Orders, by any comparator; elements that are alike keep their order. Of few each one's rank is how many go before it,
// which takes the square of their number and any number of units at once; many are sorted by the digits of their keys
// where cores run code and the comparator is known to compare such (radix.h), and merged else (merge.h).
#include "core/frontend/stablehlo/operators/merge.h"
#include "core/frontend/stablehlo/operators/radix.h"
#include "core/frontend/stablehlo/operators/select.h"

#include <string.h>

static int truth(pb_nest* n, int byte) { // a byte of 0 or 1 as a condition
  return pb_nest_node(n, PB_OP_LESS, PB_I1, pb_nest_integer(n, PB_I8, 0), byte);
}

// Whether element j goes before element i: what the comparator says, or it says nothing and j stood in front.
static int precedes(pb_nest* n, int j_first, int i_first, int j, int i) {
  int none = pb_nest_node(n, PB_OP_XOR, PB_I8, i_first, pb_nest_integer(n, PB_I8, 1));
  int at_i = pb__door_turn(n, i), at_j = pb__door_turn(n, j);
  int in_front = pb_nest_node(n, PB_OP_LESS, PB_I1, at_j, at_i);
  int stays = pb_nest_node(n, PB_OP_AND, PB_I1, truth(n, none), in_front);
  return pb_nest_node(n, PB_OP_OR, PB_I1, truth(n, j_first), stays);
}

typedef pb_status comparator(pb_door* d, const pb_flat_op* op, const int* first, const int* second, int* node);

enum { MOST = 4 };  // operands, parts of complex ones by themselves
enum { FEW = 256 }; // elements that are ranked

// The ranks along `axis` of what x orders, as i32.
static pb_status ranks(pb_door* d, const pb_flat_op* op, int count, const int* x, int axis, comparator* goes_first,
                       int* rank) {
  const pb_s1_value in = *pb_made(&d->m, x[0]);
  int dims[PB_NEST_RANK], other[PB_NEST_RANK], of_i[MOST], of_j[MOST], j_first, i_first;
  if (count > MOST || in.rank + 1 > PB_NEST_DIMS) return pb__door_refuse(d, op, "too many operands");
  *rank = pb_make_value(&d->m, PB_I32, in.rank, in.shape);
  (void)pb_make_walk(&d->m, "init", *rank, dims);
  (void)pb_nest_integer(&d->m.nest, PB_I32, 0);
  pb_make_end(&d->m, *rank, dims);
  pb_nest* n = pb_make_walk(&d->m, "reduce", *rank, dims);
  memcpy(other, dims, sizeof other);
  other[axis] = pb_make_loop(&d->m, in.shape[axis]);
  for (int k = 0; k < count; ++k) {
    pb_type type = pb_made(&d->m, x[k])->type;
    int i = pb_make_access(&d->m, x[k]), j = pb_make_access(&d->m, x[k]);
    pb_make_along(&d->m, i, dims);
    pb_make_along(&d->m, j, other);
    of_i[k] = pb_scalar_load(n, i, type);
    of_j[k] = pb_scalar_load(n, j, type);
  }
  PB_TRY(goes_first(d, op, of_j, of_i, &j_first));
  PB_TRY(goes_first(d, op, of_i, of_j, &i_first));
  int before = precedes(n, j_first, i_first, other[axis], dims[axis]);
  (void)pb_nest_node(n, PB_OP_ZEXT, PB_I32, before, -1);
  n->reduce = PB_ACC_ADD;
  pb_make_end(&d->m, *rank, dims);
  return PB_OK;
}

static bool are_few(const pb_door* d, int64_t count) { return count <= FEW && !d->m.consts->open; }

// Whether orders along the axis are made by the digits of keys.
static bool has_digits(const pb_door* d, const pb_s1_value* in, int axis) {
  return pb__door_makes_code(d) && (!d->m.consts->open || d->long_rows) && in->rank + 3 <= PB_NEST_DIMS &&
         in->shape[axis] <= INT32_MAX && !pb_type_is_code(in->type);
}

// The order along `axis` of what x orders: which comes first, second, ..., by merging.
static pb_status merged(pb_door* d, const pb_flat_op* op, int count, const int* x, int axis, comparator* goes_first,
                        int* order) {
  const pb_s1_value in = *pb_made(&d->m, x[0]);
  int left[MOST], right[MOST], swap;
  if (count > MOST || in.rank + 1 > PB_NEST_DIMS) return pb__door_refuse(d, op, "too many operands");
  pb_door_merge m = pb__door_merge_start(d, in.rank, in.shape, axis, 1);
  for (int k = 0; k < count; ++k) {
    pb_type type = pb_made(&d->m, x[k])->type;
    left[k] = pb_scalar_decoded(&d->m.nest, pb__door_merge_load(d, &m, x[k], m.left), type);
    right[k] = pb_scalar_decoded(&d->m.nest, pb__door_merge_load(d, &m, x[k], m.right), type);
  }
  PB_TRY(goes_first(d, op, right, left, &swap));
  *order = pb__door_merge_end(d, &m, truth(&d->m.nest, swap));
  return PB_OK;
}

static pb_status by_body(pb_door* d, const pb_flat_op* op, const int* first, const int* second, int* node) {
  int arguments[2 * MOST], count = 0, at = 0;
  for (int k = 0; k < op->operand_count; ++k) {
    int parts = pb__door_type(d, op->operands[k])->is_complex ? 2 : 1;
    for (int p = 0; p < parts; ++p) arguments[count++] = first[at + p];
    for (int p = 0; p < parts; ++p) arguments[count++] = second[at + p];
    at += parts;
  }
  const pb_type truth = PB_I1;
  return pb__door_body(d, &d->m.nest, op, 0, (pb_door_ends){count, arguments}, 1, &truth, node);
}

// The element's rank as a place below `most`.
static int place_of(pb_door* d, int rank, const int* dims, int64_t most, int* number) {
  pb_nest* n = &d->m.nest;
  int access = pb_make_access(&d->m, rank);
  pb_make_along(&d->m, access, dims);
  *number = pb_nest_node(n, PB_OP_SEXT, PB_I64, pb_nest_load(n, access), -1);
  int at = pb_nest_node(n, PB_OP_MAX, PB_I64, *number, pb_nest_integer(n, PB_I64, 0));
  at = pb_nest_node(n, PB_OP_MIN, PB_I64, at, pb_nest_integer(n, PB_I64, most - 1));
  return pb__door_as_place(n, at);
}

static void store(pb_door* d, int y, int axis, const int* dims, int place) {
  pb_nest* n = &d->m.nest;
  int to = pb_make_access(&d->m, y);
  for (int r = 0; r < n->access[to].rank; ++r)
    if (r != axis) pb_make_move(&d->m, to, r, dims[r], 1);
  n->access[to].gathered = 1 + axis;
  n->stored_at = place;
  n->reduce = PB_ACC_BODY;
  pb_make_finish(&d->m);
}

pb_status pb__door_sort(pb_door* d, const pb_flat_op* op) {
  int x[MOST], rank, dims[PB_NEST_RANK], number, at = 0;
  int count = pb__door_flat_operands(d, op, 0, op->operand_count, MOST, x);
  if (count < 0) return pb__door_refuse(d, op, "more than four operands, a complex one counted twice");
  if (op->result_count != op->operand_count) return pb__door_refuse(d, op, "another number of results");
  const pb_s1_value in = *pb_made(&d->m, x[0]);
  int64_t axis = pb__door_int(op, "dimension", -1);
  if (axis < 0) axis += in.rank;
  if (axis < 0 || axis >= in.rank) return pb__door_refuse(d, op, "no such dimension");
  for (int k = 0; k < op->operand_count; ++k) {
    const pb_s1_value* v = pb_made(&d->m, pb__door_in(d, op, k));
    if (v->rank != in.rank || memcmp(v->shape, in.shape, sizeof(int64_t) * (size_t)in.rank))
      return pb__door_refuse(d, op, "operands of different shapes");
    if (!pb__door_alike(d, op, k, k)) return pb__door_refuse(d, op, "a result of another type");
  }
  bool few = are_few(d, in.shape[axis]);
  pb_radix_key keys[PB_RADIX_KEYS];
  int key_count = !few && has_digits(d, &in, (int)axis) ? pb__door_radix_keys(d, op, keys) : 0;
  if (key_count)
    rank = pb__door_radix(d, x, (int)axis, key_count, keys);
  else
    PB_TRY((few ? ranks : merged)(d, op, count, x, (int)axis, by_body, &rank));
  for (int k = 0; k < op->operand_count; ++k)
    for (int part = 0; part < (pb__door_type(d, op->results[k])->is_complex ? 2 : 1); ++part, ++at) {
      int y = pb__door_result_part(d, op, k, part);
      if (!few) {
        pb__door_in_order(d, x[at], rank, (int)axis, y);
        continue;
      }
      pb_make_copy(&d->m, x[at], y);
      pb_nest* n = pb_make_walk(&d->m, "point", x[at], dims);
      int place = place_of(d, rank, dims, in.shape[axis], &number), from = pb_make_access(&d->m, x[at]);
      pb_make_along(&d->m, from, dims);
      (void)pb_nest_load(n, from);
      store(d, y, (int)axis, dims, place);
    }
  return PB_OK;
}

static pb_status larger(pb_door* d, const pb_flat_op* op, const int* first, const int* second, int* node) {
  pb_type type = pb__door_type(d, op->operands[0])->type;
  *node = pb_scalar_compare(&d->m.nest, PB_GT, type, true, first[0], second[0]);
  return PB_OK;
}

// An order's first ones, as i32.
static void first_places(pb_door* d, int order, int y) {
  int dims[PB_NEST_RANK];
  pb_nest* n = pb_make_walk(&d->m, "point", y, dims);
  int from = pb_make_access(&d->m, order);
  pb_make_along(&d->m, from, dims);
  (void)pb_nest_node(n, PB_OP_TRUNC, PB_I32, pb_nest_load(n, from), -1);
  pb_make_end(&d->m, y, dims);
}

// The elements of x whose ranks are below k, and where they stood.
static pb_status first_ones(pb_door* d, const pb_flat_op* op, int x, int64_t count, const int* results) {
  const pb_s1_value in = *pb_made(&d->m, x);
  int rank, dims[PB_NEST_RANK], number, axis = in.rank - 1;
  bool few = are_few(d, in.shape[axis]);
  const pb_radix_key key = {.descending = true, .by_codes = true};
  if (!few && has_digits(d, &in, axis))
    rank = pb__door_radix(d, &x, axis, 1, &key);
  else
    PB_TRY((few ? ranks : merged)(d, op, 1, &x, axis, larger, &rank));
  for (int k = 0; k < 2; ++k) {
    int y = results[k];
    if (!few && !k) pb__door_in_order(d, x, rank, axis, y);
    if (!few && k) first_places(d, rank, y);
    if (!few) continue;
    pb_type stored = pb_type_stored(pb_made(&d->m, y)->type);
    (void)pb_make_walk(&d->m, "init", y, dims);
    (void)(pb_type_is_float(stored) ? pb_nest_const(&d->m.nest, stored, 0) : pb_nest_integer(&d->m.nest, stored, 0));
    pb_make_end(&d->m, y, dims);
    pb_nest* n = pb_make_walk(&d->m, "point", x, dims);
    int place = place_of(d, rank, dims, count, &number), element;
    if (k) {
      element = pb_nest_node(n, PB_OP_TRUNC, PB_I32, pb__door_turn(n, dims[axis]), -1);
    } else {
      int from = pb_make_access(&d->m, x);
      pb_make_along(&d->m, from, dims);
      element = pb_nest_load(n, from);
    }
    int own = pb_make_access(&d->m, y);
    for (int r = 0; r < axis; ++r) pb_make_move(&d->m, own, r, dims[r], 1);
    int old = pb_nest_gather(n, own, axis, place);
    int is = pb_nest_node(n, PB_OP_LESS, PB_I1, number, pb_nest_integer(n, PB_I64, count));
    int chosen = pb_nest_node(n, PB_OP_SELECT, n->expr[element].type, is, element);
    n->expr[chosen].args[2] = old;
    store(d, y, axis, dims, place);
  }
  return PB_OK;
}

// y = places[.., at, ..] as i32, along the last dim.
static void places_at(pb_door* d, int places, int at, int y) {
  const pb_s1_value out = *pb_made(&d->m, y);
  int dims[PB_NEST_RANK], axis = out.rank - 1, number;
  pb_nest* n = pb_make_walk(&d->m, "gather", y, dims);
  int place = place_of(d, at, dims, out.shape[axis], &number), from = pb_make_access(&d->m, places);
  for (int r = 0; r < axis; ++r) pb_make_move(&d->m, from, r, dims[r], 1);
  (void)pb_nest_node(n, PB_OP_TRUNC, PB_I32, pb_nest_gather(n, from, axis, place), -1);
  pb_make_end(&d->m, y, dims);
}

pb_status pb__door_top_k(pb_door* d, const pb_flat_op* op) {
  int x = pb__door_in(d, op, 0), places;
  const pb_s1_value in = *pb_made(&d->m, x);
  int64_t count = pb__door_int(op, "k", 0);
  const pb_flat_type *values = pb__door_type(d, op->results[0]), *said = pb__door_type(d, op->results[1]);
  int axis = in.rank - 1;
  if (in.rank < 1 || count < 1 || count > in.shape[axis] || values->rank != in.rank || values->shape[axis] != count ||
      said->rank != in.rank || said->shape[axis] != count || said->type != PB_I32 || values->type != in.type)
    return pb__door_refuse(d, op, "results that do not fit");
  for (int r = 0; r < axis; ++r)
    if (values->shape[r] != in.shape[r] || said->shape[r] != in.shape[r])
      return pb__door_refuse(d, op, "results that do not fit");
  if (!pb__door_selects(d, &in, count)) {
    const int results[] = {pb__door_result(d, op, 0), pb__door_result(d, op, 1)};
    return first_ones(d, op, x, count, results);
  }
  PB_TRY(pb__door_select(d, op, count, &places));
  d->m.name = pb_printf(&d->m.program->arena, "top_k:%d", op->line); // no longer of what it is written out in
  int64_t shape[PB_GRAPH_RANK];
  memcpy(shape, in.shape, sizeof shape);
  shape[axis] = count;
  int some = pb_make_value(&d->m, in.type, in.rank, shape), at = pb_make_value(&d->m, PB_I32, in.rank, shape);
  pb__door_in_order(d, x, places, axis, some);
  PB_TRY(first_ones(d, op, some, count, (const int[]){pb__door_result(d, op, 0), at}));
  places_at(d, places, at, pb__door_result(d, op, 1));
  return PB_OK;
}
