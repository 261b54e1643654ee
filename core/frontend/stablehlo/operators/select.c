// The k largest of many without an order of all: the k-th largest is found bit by bit, as the largest number that k
// elements or more reach, which takes a count of all for each bit, in lanes. Those above it, and of those that are
// it as many as are missing, are the ones that are wanted; where they stand is looked up in the numbers of them so far,
// by halving. Then k are put in order. Of many for each of the k, blocks are chosen so first, and only their elements
// are looked at.
#include "core/frontend/stablehlo/operators/select.h"

#include "core/frontend/stablehlo/operators/merge.h"

#include <string.h>

enum { MANY = 256 }; // elements; of fewer all are ranked (sort.c)

// Bits of the numbers that order elements; 0: there are none.
static int bits_of(pb_type type) {
  switch (type) {
  case PB_F64:
  case PB_I64:
  case PB_UI64:
    return 64;
  case PB_F32:
  case PB_I32:
  case PB_UI32:
    return 32;
  case PB_F16:
  case PB_BF16:
  case PB_I16:
  case PB_UI16:
    return 16;
  case PB_I8:
  case PB_UI8:
    return 8;
  default:
    return 0;
  }
}

bool pb__door_selects(const pb_door* d, const pb_s1_value* x, int64_t count) {
  int64_t n = x->rank ? x->shape[x->rank - 1] : 0;
  return n > MANY && 2 * count <= n && !d->m.consts->open && x->rank + 1 < PB_NEST_RANK && bits_of(x->type) > 0;
}

// ---- the k-th largest ----

// A number for all elements of that shape.
static int splat(pb_writer* w, pb_flat_type type, int64_t number) {
  pb_flat_type one = pb__write_shaped(type, 0, NULL);
  int64_t* bytes = PB_NEW_ARRAY(&w->d->m.program->arena, int64_t, 1);
  *bytes = number; // its low bytes are the number of fewer bits
  int scalar = pb__write_constant(w, one, bytes);
  pb_flat_attr along = pb__write_ints(w, "broadcast_dimensions", 0, NULL);
  return type.rank ? pb__write(w, "stablehlo.broadcast_in_dim", type, 1, &scalar, 1, &along) : scalar;
}

static int with_number(pb_writer* w, const char* name, int x, int64_t number) {
  return pb__write_binary(w, name, x, splat(w, pb__write_type(w, x), number));
}

// The least number of a key's type.
static int64_t least_of(pb_type key) { return key == PB_I64 ? INT64_MIN : INT32_MIN; }

// As i32, of more bits i64, in the order of the elements: floats in that of all their codes (-0 below 0, NaN outside of
// the infinities).
static int keys(pb_writer* w, int x) {
  pb_flat_type type = pb__write_type(w, x), as = type;
  int bits = bits_of(type.type);
  pb_type key = bits > 32 ? PB_I64 : PB_I32;
  if (type.type == PB_UI32 || type.type == PB_UI64) {
    as.type = key;
    int code = pb__write(w, "stablehlo.bitcast_convert", as, 1, &x, 0, NULL);
    return with_number(w, "stablehlo.xor", code, least_of(key));
  }
  if (!pb_type_is_float(type.type)) return type.type == key ? x : pb__write_converted(w, x, key);
  as.type = bits >= 32 ? key : PB_I16;
  int code = pb__write(w, "stablehlo.bitcast_convert", as, 1, &x, 0, NULL);
  if (as.type != key) code = pb__write_converted(w, code, key);
  int sign = with_number(w, "stablehlo.shift_right_arithmetic", code, pb_type_bits(key) - 1);
  int64_t rest = bits == 64 ? INT64_MAX : bits == 32 ? INT32_MAX : INT16_MAX;
  return pb__write_binary(w, "stablehlo.xor", code, with_number(w, "stablehlo.and", sign, rest));
}

static int summed_so_far(pb_writer* w, int x) {
  pb_flat_type type = pb__write_type(w, x), one = pb__write_shaped(type, 0, NULL);
  int axis = type.rank - 1;
  int64_t size[PB_FLAT_RANK], pad[2 * PB_FLAT_RANK] = {0};
  for (int r = 0; r < type.rank; ++r) size[r] = r == axis ? type.shape[r] : 1;
  pad[2 * axis] = type.shape[axis] - 1;
  const pb_flat_attr attrs[] = {pb__write_ints(w, "window_dimensions", type.rank, size),
                                pb__write_ints(w, "padding", 2 * type.rank, pad)};
  const pb_flat_block add = pb__write_combiner(w, "stablehlo.add", one);
  return pb__write_by(w, "stablehlo.reduce_window", type, 2, (const int[]){x, splat(w, one, 0)}, 2, attrs, 1, &add);
}

// x, without its last dim, for all of it.
static int along_rows(pb_writer* w, int x, pb_flat_type type) {
  int64_t dims[PB_FLAT_RANK];
  for (int r = 0; r < PB_FLAT_RANK; ++r) dims[r] = r;
  const pb_flat_attr along = pb__write_ints(w, "broadcast_dimensions", type.rank - 1, dims);
  type.type = pb__write_type(w, x).type;
  return pb__write(w, "stablehlo.broadcast_in_dim", type, 1, &x, 1, &along);
}

// How many of each row are at least at + more: compared where they are counted, so that nothing is stored between.
static int counted(pb_writer* w, int key, int at, int64_t more) {
  pb_door* d = w->d;
  int x = pb__door_get(d, key).value, from = pb__door_get(d, at).value, dims[PB_NEST_RANK];
  const pb_s1_value in = *pb_made(&d->m, x), lead = *pb_made(&d->m, from);
  int sums = pb_make_value(&d->m, in.type, lead.rank, lead.shape);
  (void)pb_make_walk(&d->m, "init", sums, dims);
  (void)pb_nest_integer(&d->m.nest, in.type, 0);
  pb_make_end(&d->m, sums, dims);
  pb_nest* n = pb_make_walk(&d->m, "reduce", sums, dims);
  dims[lead.rank] = pb_make_loop(&d->m, in.shape[lead.rank]);
  int element = pb_make_access(&d->m, x), limit = pb_make_access(&d->m, from);
  pb_make_along(&d->m, element, dims);
  pb_make_along(&d->m, limit, dims);
  int value = pb_nest_load(n, element), least = pb_nest_load(n, limit), step = pb_nest_integer(n, in.type, more);
  least = pb_nest_node(n, PB_OP_ADD, in.type, least, step);
  (void)pb_nest_node(n, PB_OP_ZEXT, in.type, pb_nest_node(n, PB_OP_LESS_EQUAL, PB_I1, least, value), -1);
  n->reduce = PB_ACC_ADD;
  pb_make_end(&d->m, sums, dims);
  pb_flat_type type = pb__write_type(w, at);
  return pb__write_given(w, type, (pb_door_value){sums, -1});
}

// The largest number of so many bits that `enough` of each row reach, keys of i32 and of i64.
static int reached(pb_writer* w, int key, int bits, bool is_signed, int enough) {
  pb_flat_type type = pb__write_type(w, key), lead = pb__write_shaped(type, type.rank - 1, type.shape);
  int64_t least = is_signed ? (int64_t)((uint64_t)-1 << (bits - 1)) : 0;
  int at = splat(w, lead, least);
  for (int bit = bits - 1; bit >= 0 && w->status == PB_OK; --bit) {
    int64_t more = (int32_t)((uint32_t)1 << bit); // with the first of 32 bits it goes round from the least number
    int is = pb__write_compared(w, "GE", counted(w, key, at, more), enough);
    at = pb__write_chosen(w, is, with_number(w, "stablehlo.add", at, more), at);
  }
  return at;
}

// Of 64 bits the upper half first, and of those that have the one that is found the lower half, less what is above:
// each in lanes of 32 bits.
static int reached_by_halves(pb_writer* w, int key, int64_t count) {
  enum { HALF = 32 };
  int upper = with_number(w, "stablehlo.shift_right_arithmetic", key, HALF);
  upper = pb__write_converted(w, upper, PB_I32);
  int lower = with_number(w, "stablehlo.and", key, UINT32_MAX);
  lower = pb__write_converted(w, with_number(w, "stablehlo.add", lower, INT32_MIN), PB_I32);
  pb_flat_type type = pb__write_type(w, upper), lead = pb__write_shaped(type, type.rank - 1, type.shape);
  int all = splat(w, lead, count), none = splat(w, lead, 0), most = splat(w, lead, INT32_MAX);
  int first = reached(w, upper, HALF, true, all);
  int is_most = pb__write_compared(w, "EQ", first, most), above = counted(w, upper, first, 1);
  above = pb__write_chosen(w, is_most, none, above); // nothing is above the most
  int spread = along_rows(w, first, type), least = splat(w, type, INT32_MIN);
  lower = pb__write_chosen(w, pb__write_compared(w, "EQ", upper, spread), lower, least);
  int second = reached(w, lower, HALF, true, pb__write_binary(w, "stablehlo.subtract", all, above));
  first = with_number(w, "stablehlo.shift_left", pb__write_converted(w, first, PB_I64), HALF);
  second = with_number(w, "stablehlo.subtract", pb__write_converted(w, second, PB_I64), INT32_MIN);
  return pb__write_binary(w, "stablehlo.add", first, second);
}

static int kth(pb_writer* w, int key, pb_type from, int64_t count) {
  pb_flat_type type = pb__write_type(w, key);
  int bits = bits_of(from);
  if (bits > 32) return reached_by_halves(w, key, count);
  int enough = splat(w, pb__write_shaped(type, type.rank - 1, type.shape), count);
  return reached(w, key, bits, !pb_type_is_unsigned(from) || bits == 32, enough);
}

// ---- where they stand ----

static int whole(pb_nest* n, int64_t v) { return pb_nest_integer(n, PB_I64, v); }
static int op(pb_nest* n, pb_op o, int a, int b) { return pb_nest_node(n, o, PB_I64, a, b); }

static int load_wide(pb_nest* n, int load) { return n->expr[load].type == PB_I64 ? load : op(n, PB_OP_SEXT, load, -1); }

// Some halvings of find_places in one nest, from `step` on: of places so far, -1: none, others are made, or the result.
static int halve(pb_door* d, int sums, int missing, int so_far, int64_t step, int times, int places) {
  const pb_s1_value in = *pb_made(&d->m, sums), out = *pb_made(&d->m, places);
  int axis = in.rank - 1, half = pb_type_bits(in.type) / 2, dims[PB_NEST_RANK];
  int made = step >> times ? pb_make_value(&d->m, PB_I64, out.rank, out.shape) : places;
  pb_nest* n = pb_make_walk(&d->m, "gather", made, dims);
  int from = pb_make_access(&d->m, sums), more = pb_make_access(&d->m, missing), below = whole(n, 0);
  for (int r = 0; r < axis; ++r) {
    pb_make_move(&d->m, from, r, dims[r], 1);
    pb_make_move(&d->m, more, r, dims[r], 1);
  }
  if (so_far >= 0) {
    int start = pb_make_access(&d->m, so_far);
    pb_make_along(&d->m, start, dims);
    below = pb_nest_load(n, start);
  }
  int m = pb__door_turn(n, dims[axis]), wanted = load_wide(n, pb_nest_load(n, more));
  for (; step && times--; step /= 2) {
    int next = op(n, PB_OP_ADD, below, whole(n, step));
    int at = op(n, PB_OP_ADD, next, whole(n, -1));
    at = pb__door_within(n, at, 0, in.shape[axis] - 1);
    int sum = load_wide(n, pb_nest_gather(n, from, axis, pb__door_as_place(n, at)));
    int above = op(n, PB_OP_SHR, sum, whole(n, half));
    int alike = op(n, PB_OP_AND, sum, whole(n, ((int64_t)1 << half) - 1));
    int all = op(n, PB_OP_ADD, above, op(n, PB_OP_MIN, alike, wanted));
    int there = pb_nest_node(n, PB_OP_LESS_EQUAL, PB_I1, next, whole(n, in.shape[axis]));
    int fewer = pb_nest_node(n, PB_OP_LESS_EQUAL, PB_I1, all, m);
    int on = pb_nest_node(n, PB_OP_SELECT, PB_I64, pb_nest_node(n, PB_OP_AND, PB_I1, there, fewer), next);
    n->expr[on].args[2] = below;
    below = on;
  }
  pb_make_end(&d->m, made, dims);
  return made;
}

// Place m of the result is the first that has more than m wanted ones up to it: so many do not, found by halving.
// `sums` has those above the k-th in its high half and those like it in the low one, of which `missing` are wanted.
static void find_places(pb_door* d, int sums, int missing, int places) {
  enum { AT_ONCE = 12 }; // each is a load, of which a nest has PB_NEST_ACCESSES
  int64_t step = 1, extent = pb_made(&d->m, sums)->shape[pb_made(&d->m, sums)->rank - 1];
  while (2 * step <= extent) step *= 2;
  for (int so_far = -1; step; step >>= AT_ONCE) so_far = halve(d, sums, missing, so_far, step, AT_ONCE, places);
}

// The places of the k largest, from the first one on: i64. `from`: the type of what has these keys.
static int chosen_places(pb_writer* w, int key, pb_type from, int64_t count) {
  pb_door* d = w->d;
  pb_flat_type type = pb__write_type(w, key), wide = type;
  int axis = type.rank - 1;
  int64_t n = type.shape[axis], shape[PB_FLAT_RANK];
  int limit = along_rows(w, kth(w, key, from, count), type);
  wide.type = n <= INT16_MAX ? PB_I32 : PB_I64;
  int half = pb_type_bits(wide.type) / 2;
  int none = splat(w, wide, 0), one = splat(w, wide, 1), above_it = splat(w, wide, (int64_t)1 << half);
  int is_it = pb__write_compared(w, "EQ", key, limit), is_above = pb__write_compared(w, "GT", key, limit);
  int both = pb__write_chosen(w, is_above, above_it, pb__write_chosen(w, is_it, one, none));
  int sums = summed_so_far(w, both), all = pb__write_rows(w, sums, axis, n - 1, n);
  int above = with_number(w, "stablehlo.shift_right_arithmetic", all, half);
  int missing = pb__write_binary(w, "stablehlo.subtract", splat(w, pb__write_type(w, all), count), above);
  memcpy(shape, type.shape, sizeof *shape * (size_t)type.rank);
  shape[axis] = count;
  int places = pb_make_value(&d->m, PB_I64, type.rank, shape);
  if (w->status == PB_OK) find_places(d, pb__door_get(d, sums).value, pb__door_get(d, missing).value, places);
  return places;
}

// ---- by blocks ----

// Of the k blocks whose largest elements are the k largest ones, each has one that goes before all of any other block,
// be it only as the first of those that are alike, for blocks are neighbours and the first blocks are taken. So the k
// largest of all are the k largest of those blocks. Fewer are left than there are where blocks are as long as there are
// elements for each of the k, squared.
enum { LEAST_BLOCK = 8, MOST_BLOCK = 64, FEWER = 3 };

static int64_t block_of(int64_t n, int64_t count) {
  int64_t block = LEAST_BLOCK;
  while (2 * block <= MOST_BLOCK && 2 * block * block * count <= n) block *= 2;
  return n / block + block * count <= n / FEWER && n >= FEWER * MANY ? block : 0;
}

// The keys with the least one behind them, as many as fill the last block.
static int filled(pb_writer* w, int key, int64_t block) {
  pb_flat_type rest = pb__write_type(w, key);
  int axis = rest.rank - 1;
  if (!(rest.shape[axis] % block)) return key;
  rest.shape[axis] = block - rest.shape[axis] % block;
  const int parts[] = {key, splat(w, rest, least_of(rest.type))};
  return pb__write_joined(w, axis, 2, parts);
}

static int largest_of_blocks(pb_writer* w, int key, int64_t block) {
  pb_flat_type type = pb__write_type(w, key), one = pb__write_shaped(type, 0, NULL), blocks = type;
  int64_t axis = type.rank;
  type.shape[axis - 1] /= block;
  blocks = type;
  blocks.shape[blocks.rank++] = block;
  int apart = pb__write(w, "stablehlo.reshape", blocks, 1, &key, 0, NULL);
  const pb_flat_attr dims = pb__write_ints(w, "dimensions", 1, &axis);
  const pb_flat_block most = pb__write_combiner(w, "stablehlo.maximum", one);
  const int operands[] = {apart, splat(w, one, least_of(one.type))};
  return pb__write_by(w, "stablehlo.reduce", type, 2, operands, 1, &dims, 1, &most);
}

// The elements of those blocks, one behind the other.
static int gathered_blocks(pb_writer* w, int key, int blocks, int64_t block) {
  pb_door* d = w->d;
  pb_flat_type type = pb__write_type(w, key);
  int axis = type.rank - 1, x = pb__door_get(d, key).value, dims[PB_NEST_RANK];
  int64_t all = type.shape[axis], count = pb_made(&d->m, blocks)->shape[axis];
  type.shape[axis] = count * block;
  int made = pb_make_value(&d->m, type.type, type.rank, type.shape);
  pb_nest* n = pb_make_start(&d->m, "gather");
  for (int r = 0; r < axis; ++r) dims[r] = pb_make_loop(&d->m, type.shape[r]);
  int at = pb_make_loop(&d->m, count), inner = pb_make_loop(&d->m, block);
  int which = pb_make_access(&d->m, blocks), from = pb_make_access(&d->m, x);
  for (int r = 0; r < axis; ++r) {
    pb_make_move(&d->m, which, r, dims[r], 1);
    pb_make_move(&d->m, from, r, dims[r], 1);
  }
  pb_make_move(&d->m, which, axis, at, 1);
  pb_make_move(&d->m, from, axis, inner, 1);
  int length = whole(n, block), first = op(n, PB_OP_MUL, pb_nest_load(n, which), length);
  (void)pb_nest_gather(n, from, axis, pb__door_as_place(n, pb__door_within(n, first, 0, all - block)));
  int to = pb_make_access(&d->m, made);
  for (int r = 0; r < axis; ++r) pb_make_move(&d->m, to, r, dims[r], 1);
  pb_make_move(&d->m, to, axis, at, block);
  pb_make_move(&d->m, to, axis, inner, 1);
  pb_make_finish(&d->m);
  return pb__write_given(w, type, (pb_door_value){made, -1});
}

// Places among all of places among the blocks' elements.
static int places_of(pb_door* d, int blocks, int inside, int64_t block) {
  const pb_s1_value out = *pb_made(&d->m, inside);
  int axis = out.rank - 1, made = pb_make_value(&d->m, PB_I64, out.rank, out.shape), dims[PB_NEST_RANK];
  pb_nest* n = pb_make_walk(&d->m, "gather", made, dims);
  int at = pb_make_access(&d->m, inside), from = pb_make_access(&d->m, blocks);
  pb_make_along(&d->m, at, dims);
  for (int r = 0; r < axis; ++r) pb_make_move(&d->m, from, r, dims[r], 1);
  int place = pb_nest_load(n, at), length = whole(n, block);
  int which = pb__door_within(n, op(n, PB_OP_DIV, place, length), 0, pb_made(&d->m, blocks)->shape[axis] - 1);
  int block_place = pb_nest_gather(n, from, axis, pb__door_as_place(n, which));
  int first = op(n, PB_OP_MUL, block_place, length);
  int inner = op(n, PB_OP_REM, place, length);
  (void)op(n, PB_OP_ADD, first, inner);
  pb_make_end(&d->m, made, dims);
  return made;
}

pb_status pb__door_select(pb_door* d, const pb_flat_op* top, int64_t count, int* places) {
  pb_writer w = pb__write_start(d, top);
  const pb_flat_type* x = pb__door_type(d, top->operands[0]);
  int key = keys(&w, top->operands[0]);
  int64_t block = x->rank + 2 < PB_NEST_RANK ? block_of(x->shape[x->rank - 1], count) : 0;
  if (!block) {
    *places = chosen_places(&w, key, x->type, count);
    return pb__write_end(&w);
  }
  key = filled(&w, key, block);
  int blocks = chosen_places(&w, largest_of_blocks(&w, key, block), x->type, count);
  if (w.status != PB_OK) return pb__write_end(&w);
  *places = places_of(d, blocks, chosen_places(&w, gathered_blocks(&w, key, blocks, block), x->type, count), block);
  return pb__write_end(&w);
}
