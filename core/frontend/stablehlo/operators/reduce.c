// What combines many elements: reductions and windows, by any body.
#include "core/frontend/stablehlo/door.h"
#include "core/s1/long_sums.h"

#include <stdlib.h>
#include <string.h>

// Sums and maxima that the planner knows by themselves: their order does not matter to it. Narrow floats round in each
// step: those are bodies.
static pb_reduce known_reduction(const pb_flat_op* op, pb_type type) {
  const char* how = pb__door_combiner(op, 0);
  bool plain = type == PB_F32 || type == PB_F64 || (!pb_type_is_float(type) && type != PB_I1);
  if (plain && !strcmp(how, "stablehlo.add")) return PB_ACC_ADD;
  if (plain && pb_type_is_float(type) && !strcmp(how, "stablehlo.maximum")) return PB_ACC_MAXIMUM;
  bool is_signed = type == PB_I8 || type == PB_I16 || type == PB_I32 || type == PB_I64;
  bool is_unsigned = type == PB_UI8 || type == PB_UI16;
  if (strcmp(how, "stablehlo.maximum")) return PB_ACC_BODY;
  return is_signed ? PB_ACC_MAX : is_unsigned ? PB_ACC_MAXU : PB_ACC_BODY;
}

// Vectors have no reduction to the least element: it is the largest negative, turned round, to the bit. LLVM does as
// well with what are plain loops over integers.
static bool is_turned(const pb_door* d, const pb_flat_op* op, pb_type type) {
  bool is_known = type == PB_F32 && pb__door_makes_code(d) && !d->open && !d->m.consts->open;
  return is_known && !strcmp(pb__door_combiner(op, 0), "stablehlo.minimum");
}

// y = -x, element by element; x may be one number.
static void turn_round(pb_door* d, const char* what, int x, int y) {
  int dims[PB_NEST_RANK], access;
  (void)pb_make_walk(&d->m, what, y, dims);
  int v = pb__door_load(d, x, &access);
  if (access >= 0 && pb_made(&d->m, x)->rank) pb_make_along(&d->m, access, dims);
  pb__door_store(d, pb_nest_node(&d->m.nest, PB_OP_NEG, PB_F32, v, -1), y, dims);
}

// The value that elements are combined into, filled with what they begin with: the operator's result, but where it is
// turned round.
static int begin_result(pb_door* d, const pb_flat_op* op, int initial) {
  const pb_flat_type* out = pb__door_type(d, op->results[0]);
  bool turned = is_turned(d, op, out->type);
  int y = turned ? pb_make_value(&d->m, out->type, out->rank, out->shape) : pb__door_result(d, op, 0);
  if (turned)
    turn_round(d, "init", initial, y);
  else
    pb__door_fill(d, y, initial);
  return y;
}

// The nest that is being made reads what y holds as well, in the last access, and combines both by the body.
static pb_status combine(pb_door* d, const pb_flat_op* op, int element, int y, const int* dims) {
  pb_nest* n = &d->m.nest;
  pb_type type = pb_made(&d->m, y)->type;
  if (is_turned(d, op, type)) {
    pb__door_last(d, pb_nest_node(n, PB_OP_NEG, type, element, -1), type);
    n->reduce = PB_ACC_MAXIMUM;
    pb_make_end(&d->m, y, dims);
    turn_round(d, "point", y, pb__door_result(d, op, 0));
    return PB_OK;
  }
  n->reduce = known_reduction(op, type);
  if (n->reduce == PB_ACC_BODY) {
    int own = pb_make_access(&d->m, y), both[2], result;
    pb_make_along(&d->m, own, dims);
    both[0] = pb_scalar_load(n, own, type);
    both[1] = element;
    PB_TRY(pb__door_body(d, n, op, 0, (pb_door_ends){2, both}, 1, &type, &result));
    pb__door_last(d, result, type);
  } else {
    pb__door_last(d, element, type);
  }
  pb_make_end(&d->m, y, dims);
  return PB_OK;
}

static bool is_long_sum(const pb_door* d, pb_type type, int64_t count) {
  return pb__door_makes_code(d) && !d->m.consts->open && type == PB_F32 && count >= PB_S1_LONG_SUM;
}

int64_t pb__door_block_of_sum(const pb_door* d, pb_type type, int64_t count) {
  enum { LEAST = 32, MOST = 512 };
  if (!is_long_sum(d, type, count)) return 0;
  int64_t best = 0;
  for (int64_t b = LEAST; b <= MOST; ++b) // as many as there are blocks, nearly
    if (count % b == 0 && (!best || llabs(b * b - count) < llabs(best * best - count))) best = b;
  return best;
}

// How many of so many rows of `inner` elements are a block of nearly `wanted` elements; 0: none is.
static int64_t rows_of_block(int64_t rows, int64_t inner, int64_t wanted) {
  enum { LEAST = 32 };
  int64_t best = 0;
  for (int64_t b = 1; b < rows && (b == 1 || b * inner <= 4 * wanted); ++b)
    if (rows % b == 0 && b * inner >= LEAST && (!best || llabs(b * inner - wanted) < llabs(best * inner - wanted)))
      best = b;
  return best;
}

// The first dim that goes: of a sum over many rows, whose columns are lanes, *block of them are summed by themselves.
// In a row lanes are sums by themselves as it is; longer ones, and all of a tensor, go by blocks of them too. -1: it is
// none.
static int many_rows(const pb_door* d, const pb_flat_op* op, const pb_s1_value* in, const bool* gone, int64_t* block) {
  enum { LANES = 16, LEAST_ROW = 1024 };
  int first = 0;
  while (first < in->rank && !gone[first]) ++first;
  bool sums = known_reduction(op, in->type) == PB_ACC_ADD && in->rank && in->rank < PB_GRAPH_RANK;
  if (!sums || first == in->rank || in->rank + 2 > PB_NEST_DIMS) return -1;
  int64_t inner = 1, rows = in->shape[first], wanted = 1;
  for (int r = first + 1; r < in->rank; ++r)
    if (gone[r]) inner *= in->shape[r];
  while (wanted * wanted < rows * inner) wanted *= 2;
  bool in_lanes = gone[in->rank - 1];
  if (in_lanes)
    *block = is_long_sum(d, in->type, rows * inner / LANES)
                 ? rows_of_block(rows, inner, wanted > LEAST_ROW ? wanted : LEAST_ROW)
                 : 0;
  else if (inner > 1)
    *block = is_long_sum(d, in->type, rows * inner) ? rows_of_block(rows, inner, wanted) : 0;
  else
    *block = pb__door_block_of_sum(d, in->type, rows);
  return *block ? first : -1;
}

// x summed over the dims that are `gone`; where `at` is one, only so many rows of it together as `block` says: [blocks,
// what is kept].
static int summed_first(pb_door* d, int x, const bool* gone, int at, int64_t block) {
  const pb_s1_value in = *pb_made(&d->m, x);
  int64_t shape[PB_NEST_RANK];
  int rank = 0, dims[PB_NEST_RANK], loops[PB_NEST_RANK], to = at >= 0;
  if (at >= 0) shape[rank++] = in.shape[at] / block;
  for (int r = 0; r < in.rank; ++r)
    if (!gone[r]) shape[rank++] = in.shape[r];
  int y = pb_make_value(&d->m, in.type, rank, shape);
  (void)pb_make_walk(&d->m, "init", y, dims);
  (void)pb_scalar_number(&d->m.nest, in.type, 0);
  pb_make_end(&d->m, y, dims);
  pb_nest* n = pb_make_walk(&d->m, "reduce", y, dims);
  for (int r = 0; r < in.rank; ++r)
    loops[r] = gone[r] ? pb_make_loop(&d->m, r == at ? block : in.shape[r]) : dims[to++];
  int access = pb_make_access(&d->m, x);
  pb_make_along(&d->m, access, loops);
  if (at >= 0) pb_make_move(&d->m, access, at, dims[0], block);
  (void)pb_nest_load(n, access);
  n->reduce = PB_ACC_ADD;
  pb_make_end(&d->m, y, dims);
  return y;
}

static pb_status reduce_one(pb_door* d, const pb_flat_op* op, const bool* all_gone) {
  int x = pb__door_in(d, op, 0), access, dims[PB_NEST_RANK], kept[PB_NEST_RANK];
  bool first_gone[PB_NEST_RANK] = {true}, behind[PB_NEST_RANK] = {false}, rest_gone[PB_NEST_RANK];
  const bool* gone = all_gone;
  int64_t block;
  const pb_s1_value whole = *pb_made(&d->m, x);
  if (known_reduction(op, whole.type) == PB_ACC_ADD && is_long_sum(d, whole.type, PB_S1_LONG_SUM) &&
      pb_s1_sums_behind(whole.rank, whole.shape, gone, behind)) {
    x = summed_first(d, x, behind, -1, 0);
    for (int r = 0, kept_rank = 0; r < whole.rank; ++r)
      if (!behind[r]) rest_gone[kept_rank++] = all_gone[r];
    gone = rest_gone;
  }
  int at = many_rows(d, op, pb_made(&d->m, x), gone, &block);
  if (at >= 0) {
    x = summed_first(d, x, gone, at, block);
    gone = first_gone;
  }
  const pb_s1_value in = *pb_made(&d->m, x);
  int r, to = 0, y = begin_result(d, op, pb__door_in(d, op, 1));
  (void)pb_make_start(&d->m, "reduce");
  for (r = 0; r < in.rank; ++r)
    if (!gone[r]) kept[to++] = dims[r] = pb_make_loop(&d->m, in.shape[r]);
  for (r = 0; r < in.rank; ++r)
    if (gone[r]) dims[r] = pb_make_loop(&d->m, in.shape[r]);
  int element = pb__door_load(d, x, &access);
  if (access >= 0) pb_make_along(&d->m, access, dims);
  return combine(d, op, element, y, kept);
}

// Over dims of one element each: that meets the initial value.
static pb_status reduce_single(pb_door* d, const pb_flat_op* op, const bool* gone) {
  int x = pb__door_in(d, op, 0), y = pb__door_result(d, op, 0), dims[PB_NEST_RANK], all[PB_NEST_RANK], access, to = 0;
  int ends[2], result;
  const pb_s1_value in = *pb_made(&d->m, x);
  pb_nest* n = pb_make_walk(&d->m, "point", y, dims);
  for (int r = 0; r < in.rank; ++r) all[r] = gone[r] ? -1 : dims[to++];
  ends[0] = pb__door_load(d, pb__door_in(d, op, 1), &access);
  ends[1] = pb__door_load(d, x, &access);
  if (access >= 0) pb_make_along(&d->m, access, all);
  PB_TRY(pb__door_body(d, n, op, 0, (pb_door_ends){2, ends}, 1, &in.type, &result));
  pb__door_store(d, result, y, dims);
  return PB_OK;
}

// ---- several results at once ----

typedef pb_door_state state;

static pb_type bits_type(pb_type stored) { return stored == PB_F32 ? PB_I32 : stored == PB_F64 ? PB_I64 : stored; }
static int width_of(pb_type type) { return pb_type_bits(pb_type_stored(type)); }

// The bits below number k's.
static int offset_of(const pb_type* types, int k) {
  int offset = 0;
  for (int i = 0; i < k; ++i) offset += width_of(types[i]);
  return offset;
}

bool pb__door_fits_state(const pb_type* types, int count) {
  return count <= PB_DOOR_RESULTS && offset_of(types, count) <= 128;
}

state pb__door_new_state(pb_door* d, const pb_type* types, int count, int rank, const int64_t* shape) {
  state s = {.count = count};
  for (int k = 0; k < count; ++k) s.types[k] = types[k];
  s.whole = offset_of(types, count) > 64 ? PB_I128 : PB_I64;
  s.value = pb_make_value(&d->m, s.whole, rank, shape);
  return s;
}

static int shift_of(pb_nest* n, const state* s, int k) {
  int amount = pb_nest_integer(n, PB_I64, offset_of(s->types, k));
  return s->whole == PB_I128 ? pb_nest_node(n, PB_OP_ZEXT, PB_I128, amount, -1) : amount;
}

int pb__door_packed(pb_nest* n, const state* s, const int* worked) {
  int whole = -1;
  for (int k = 0; k < s->count; ++k) {
    int v = pb_scalar_encoded(n, worked[k], s->types[k]);
    pb_type stored = n->expr[v].type, bits = bits_type(stored);
    if (bits != stored) v = pb_nest_node(n, PB_OP_BITCAST, bits, v, -1);
    if (bits != s->whole) v = pb_nest_node(n, PB_OP_ZEXT, s->whole, v, -1);
    if (k) v = pb_nest_node(n, PB_OP_SHL, s->whole, v, shift_of(n, s, k));
    whole = k ? pb_nest_node(n, PB_OP_OR, s->whole, whole, v) : v;
  }
  return whole;
}

int pb__door_unpacked(pb_nest* n, const state* s, int whole, int k) {
  pb_type stored = pb_type_stored(s->types[k]), bits = bits_type(stored);
  int v = k ? pb_nest_node(n, PB_OP_SHRU, s->whole, whole, shift_of(n, s, k)) : whole;
  if (bits != s->whole) v = pb_nest_node(n, PB_OP_TRUNC, bits, v, -1);
  if (bits != stored) v = pb_nest_node(n, PB_OP_BITCAST, stored, v, -1);
  return pb_scalar_decoded(n, v, s->types[k]);
}

static void set_state(pb_door* d, const state* s, const int* from) {
  int dims[PB_NEST_RANK], access, worked[PB_DOOR_RESULTS];
  (void)pb_make_walk(&d->m, "init", s->value, dims);
  for (int k = 0; k < s->count; ++k) worked[k] = pb__door_load(d, from[k], &access);
  (void)pb__door_packed(&d->m.nest, s, worked);
  pb_make_end(&d->m, s->value, dims);
}

// The elements that the nest has loaded, onto what the state holds.
static pb_status combine_state(pb_door* d, const pb_flat_op* op, const state* s, const int* elements, const int* dims) {
  pb_nest* n = &d->m.nest;
  int own = pb_make_access(&d->m, s->value), all[2 * PB_DOOR_RESULTS], results[PB_DOOR_RESULTS];
  pb_make_along(&d->m, own, dims);
  int old = pb_nest_load(n, own);
  for (int k = 0; k < s->count; ++k) {
    all[k] = pb__door_unpacked(n, s, old, k);
    all[s->count + k] = elements[k];
  }
  PB_TRY(pb__door_body(d, n, op, 0, (pb_door_ends){2 * s->count, all}, s->count, s->types, results));
  (void)pb__door_packed(n, s, results);
  n->reduce = PB_ACC_BODY;
  pb_make_end(&d->m, s->value, dims);
  return PB_OK;
}

void pb__door_take_results(pb_door* d, const pb_flat_op* op, const state* s) {
  int dims[PB_NEST_RANK], at = 0;
  for (int k = 0; k < op->result_count; ++k)
    for (int part = 0; part < (pb__door_type(d, op->results[k])->is_complex ? 2 : 1); ++part) {
      int y = pb__door_result_part(d, op, k, part);
      pb_nest* n = pb_make_walk(&d->m, "point", y, dims);
      pb_make_along(&d->m, pb_make_access(&d->m, s->value), dims);
      pb__door_store(d, pb__door_unpacked(n, s, pb_nest_load(n, 0), at++), y, dims);
    }
}

// What is reduced and what it begins with, parts of complex numbers by themselves.
typedef struct reduced {
  int count, x[PB_DOOR_RESULTS], initial[PB_DOOR_RESULTS];
  pb_type types[PB_DOOR_RESULTS];
} reduced;

static pb_status read_operands(pb_door* d, const pb_flat_op* op, reduced* in) {
  const pb_flat_type* first = pb__door_type(d, op->operands[0]);
  int results = op->result_count;
  for (int k = 0; k < results; ++k) {
    const pb_flat_type *x = pb__door_type(d, op->operands[k]), *start = pb__door_type(d, op->operands[results + k]),
                       *y = pb__door_type(d, op->results[k]);
    if (x->rank != first->rank || memcmp(x->shape, first->shape, sizeof(int64_t) * (size_t)first->rank))
      return pb__door_refuse(d, op, "operands of different shapes");
    if (start->type != x->type || y->type != x->type || start->is_complex != x->is_complex ||
        y->is_complex != x->is_complex)
      return pb__door_refuse(d, op, "operands of different types");
  }
  in->count = pb__door_flat_operands(d, op, 0, results, PB_DOOR_RESULTS, in->x);
  bool fits =
      in->count > 0 && in->count == pb__door_flat_operands(d, op, results, results, PB_DOOR_RESULTS, in->initial);
  for (int k = 0; fits && k < in->count; ++k) in->types[k] = pb_made(&d->m, in->x[k])->type;
  if (!fits || !pb__door_fits_state(in->types, in->count))
    return pb__door_refuse(d, op, "more than %d results, or more than 128 bits of them", PB_DOOR_RESULTS);
  return PB_OK;
}

static pb_status reduce_together(pb_door* d, const pb_flat_op* op, const reduced* r, const bool* gone) {
  const pb_flat_type *in = pb__door_type(d, op->operands[0]), *out = pb__door_type(d, op->results[0]);
  int dims[PB_NEST_RANK], kept[PB_NEST_RANK], to = 0, access, elements[PB_DOOR_RESULTS];
  state s = pb__door_new_state(d, r->types, r->count, out->rank, out->shape);
  set_state(d, &s, r->initial);
  (void)pb_make_start(&d->m, "reduce");
  for (int k = 0; k < in->rank; ++k)
    if (!gone[k]) kept[to++] = dims[k] = pb_make_loop(&d->m, in->shape[k]);
  for (int k = 0; k < in->rank; ++k)
    if (gone[k]) dims[k] = pb_make_loop(&d->m, in->shape[k]);
  for (int k = 0; k < r->count; ++k) {
    elements[k] = pb__door_load(d, r->x[k], &access);
    if (access >= 0) pb_make_along(&d->m, access, dims);
  }
  PB_TRY(combine_state(d, op, &s, elements, kept));
  pb__door_take_results(d, op, &s);
  return PB_OK;
}

pb_status pb__door_reduce(pb_door* d, const pb_flat_op* op) {
  const pb_flat_attr* dims = pb_flat_find(op, "dimensions");
  const pb_flat_type* x = pb__door_type(d, op->operands[0]);
  bool gone[PB_NEST_RANK] = {false};
  int kept = 0;
  for (int k = 0; dims->ints && k < dims->count; ++k) {
    if (dims->ints[k] < 0 || dims->ints[k] >= x->rank || gone[dims->ints[k]])
      return pb__door_refuse(d, op, "dimensions that do not fit");
    gone[dims->ints[k]] = true;
  }
  if (op->result_count < 1 || op->operand_count != 2 * op->result_count)
    return pb__door_refuse(d, op, "an initial value for each operand");
  const pb_flat_type* y = pb__door_type(d, op->results[0]);
  bool fits = true;
  for (int r = 0; r < x->rank; ++r) {
    if (gone[r]) continue;
    fits = fits && kept < y->rank && y->shape[kept] == x->shape[r];
    ++kept;
  }
  for (int k = 1; k < op->result_count; ++k) {
    const pb_flat_type* other = pb__door_type(d, op->results[k]);
    fits = fits && other->rank == y->rank && !memcmp(other->shape, y->shape, sizeof(int64_t) * (size_t)y->rank);
  }
  if (!fits || kept != y->rank) return pb__door_refuse(d, op, "a shape that does not fit");
  reduced in;
  PB_TRY(read_operands(d, op, &in));
  bool made;
  PB_TRY(pb__door_extreme(d, op, gone, &made));
  if (!made) PB_TRY(pb__door_wider(d, op, &made));
  if (made) return PB_OK;
  if (in.count > 1) return reduce_together(d, op, &in, gone);
  bool single = !d->open && !d->m.consts->open;
  for (int r = 0; r < x->rank; ++r) single &= !gone[r] || x->shape[r] == 1;
  return single ? reduce_single(d, op, gone) : reduce_one(d, op, gone);
}

pb_status pb__door_map(pb_door* d, const pb_flat_op* op) {
  int y = pb__door_result(d, op, 0), dims[PB_NEST_RANK], nodes[8], access, node;
  pb_type type = pb_made(&d->m, y)->type;
  (void)pb_make_walk(&d->m, "point", y, dims);
  for (int k = 0; k < op->operand_count; ++k) {
    const pb_flat_type *x = pb__door_type(d, op->operands[k]), *out = pb__door_type(d, op->results[0]);
    if (x->rank != out->rank || memcmp(x->shape, out->shape, sizeof(int64_t) * (size_t)x->rank))
      return pb__door_refuse(d, op, "operands of different shapes");
    nodes[k] = pb__door_load(d, pb__door_in(d, op, k), &access);
    if (access >= 0) pb_make_along(&d->m, access, dims);
  }
  PB_TRY(pb__door_body(d, &d->m.nest, op, 0, (pb_door_ends){op->operand_count, nodes}, 1, &type, &node));
  pb__door_store(d, node, y, dims);
  return PB_OK;
}

// ---- windows ----

typedef struct window {
  const int64_t *size, *stride, *base, *dilation, *pad; // pad: low and high by dim
} window;

static pb_status read_window(pb_door* d, const pb_flat_op* op, const pb_s1_value* in, const pb_s1_value* out,
                             window* w) {
  *w =
      (window){pb__door_ints(d, op, "window_dimensions", in->rank, 1),
               pb__door_ints(d, op, "window_strides", in->rank, 1), pb__door_ints(d, op, "base_dilations", in->rank, 1),
               pb__door_ints(d, op, "window_dilations", in->rank, 1), pb__door_ints(d, op, "padding", 2 * in->rank, 0)};
  bool fits = w->size && w->stride && w->base && w->dilation && w->pad && in->rank == out->rank;
  for (int r = 0; fits && r < in->rank; ++r) {
    fits = w->size[r] > 0 && w->stride[r] > 0 && w->base[r] > 0 && w->dilation[r] > 0;
    if (!fits) break;
    int64_t all = (in->shape[r] - 1) * w->base[r] + 1 + w->pad[2 * r] + w->pad[2 * r + 1];
    fits = pb__door_places(all, (w->size[r] - 1) * w->dilation[r] + 1, w->stride[r]) == out->shape[r];
  }
  return fits ? PB_OK : pb__door_refuse(d, op, "a window that does not fit");
}

// The loops of a window over x: those of the results in dims, the access to x moved by both.
static pb_status walk_windows(pb_door* d, const pb_flat_op* op, const window* w, const pb_s1_value* out, int* dims,
                              int* inner) {
  int loops = 0;
  (void)pb_make_start(&d->m, "reduce");
  for (int r = 0; r < out->rank; ++r) loops += (out->shape[r] > 1) + (w->size[r] > 1);
  if (loops > PB_NEST_DIMS) return pb__door_refuse(d, op, "too many dimensions");
  for (int r = 0; r < out->rank; ++r) dims[r] = pb_make_loop(&d->m, out->shape[r]);
  for (int r = 0; r < out->rank; ++r) inner[r] = pb_make_loop(&d->m, w->size[r]);
  return PB_OK;
}

static int load_window(pb_door* d, int x, const window* w, const int* dims, const int* inner) {
  int access = pb_make_access(&d->m, x);
  for (int r = 0; r < pb_made(&d->m, x)->rank; ++r) {
    pb_make_move(&d->m, access, r, dims[r], w->stride[r]);
    pb_make_move(&d->m, access, r, inner[r], w->dilation[r]);
  }
  return pb_scalar_load(&d->m.nest, access, pb_made(&d->m, x)->type);
}

// x with the initial value around it and in its gaps, when any window meets those, at whatever extents.
static pb_status surrounded(pb_door* d, const pb_flat_op* op, const window* w, int with, int* x) {
  bool padded = d->borders;
  for (int r = 0; r < pb_made(&d->m, *x)->rank; ++r) padded |= w->pad[2 * r] || w->pad[2 * r + 1] || w->base[r] != 1;
  return padded ? pb__door_padded(d, op, *x, with, w->pad, w->base, x) : PB_OK;
}

pb_status pb__door_reduce_window(pb_door* d, const pb_flat_op* op) {
  const pb_flat_type *in = pb__door_type(d, op->operands[0]), *out = pb__door_type(d, op->results[0]);
  int dims[PB_NEST_RANK], inner[PB_NEST_RANK], elements[PB_DOOR_RESULTS];
  reduced all;
  window w;
  if (op->result_count < 1 || op->operand_count != 2 * op->result_count)
    return pb__door_refuse(d, op, "an initial value for each operand");
  bool made;
  PB_TRY(pb__door_prefix(d, op, &made));
  if (!made) PB_TRY(pb__door_by_lines(d, op, &made));
  if (made) return PB_OK;
  PB_TRY(read_operands(d, op, &all));
  PB_TRY(pb__door_wider(d, op, &made));
  if (made) return PB_OK;
  pb_s1_value a = {.rank = in->rank}, b = {.rank = out->rank};
  memcpy(a.shape, in->shape, sizeof a.shape);
  memcpy(b.shape, out->shape, sizeof b.shape);
  PB_TRY(read_window(d, op, &a, &b, &w));
  for (int k = 0; k < all.count; ++k) PB_TRY(surrounded(d, op, &w, all.initial[k], &all.x[k]));
  if (all.count > 1) {
    state s = pb__door_new_state(d, all.types, all.count, out->rank, out->shape);
    set_state(d, &s, all.initial);
    PB_TRY(walk_windows(d, op, &w, &b, dims, inner));
    for (int k = 0; k < all.count; ++k) elements[k] = load_window(d, all.x[k], &w, dims, inner);
    PB_TRY(combine_state(d, op, &s, elements, dims));
    pb__door_take_results(d, op, &s);
    return PB_OK;
  }
  int y = begin_result(d, op, all.initial[0]);
  PB_TRY(walk_windows(d, op, &w, &b, dims, inner));
  return combine(d, op, load_window(d, all.x[0], &w, dims, inner), y, dims);
}

// ---- select and scatter ----

// Where the window's element that the first body selects lies in x, by its number there; -1: the window is empty. The
// state is that element and the number.
static pb_status select_places(pb_door* d, const pb_flat_op* op, int x, const window* w, const pb_s1_value* source,
                               state* s) {
  static const int32_t nothing = -1;
  static const int64_t zero = 0;
  const pb_s1_value in = *pb_made(&d->m, x);
  const pb_type types[2] = {in.type, PB_I32};
  int dims[PB_NEST_RANK], inner[PB_NEST_RANK], all[2], keep, at = -1, condition = -1;
  *s = pb__door_new_state(d, types, 2, source->rank, source->shape);
  int first = pb_make_constant(&d->m, in.type, 0, NULL, &zero),
      none = pb_make_constant(&d->m, PB_I32, 0, NULL, &nothing);
  set_state(d, s, (const int[]){first, none});
  int flat = pb__door_flat(d, x);
  PB_TRY(walk_windows(d, op, w, source, dims, inner));
  pb_nest* n = &d->m.nest;
  for (int r = 0; r < in.rank; ++r) { // the place along each dim, inside or not
    int stride = pb_nest_integer(n, PB_I64, w->stride[r]);
    int p = pb_nest_node(n, PB_OP_MUL, PB_I64, pb__door_turn(n, dims[r]), stride);
    p = pb_nest_node(n, PB_OP_ADD, PB_I64, p, pb__door_turn(n, inner[r]));
    p = pb_nest_node(n, PB_OP_SUB, PB_I64, p, pb_nest_integer(n, PB_I64, w->pad[2 * r]));
    int last = pb_nest_integer(n, PB_I64, in.shape[r] - 1);
    int is = pb_nest_node(n, PB_OP_LESS_EQUALU, PB_I1, p, last);
    condition = condition < 0 ? is : pb_nest_node(n, PB_OP_AND, PB_I1, condition, is);
    p = pb_nest_node(n, PB_OP_MAX, PB_I64, p, pb_nest_integer(n, PB_I64, 0));
    p = pb_nest_node(n, PB_OP_MIN, PB_I64, p, last);
    if (at >= 0) at = pb_nest_node(n, PB_OP_MUL, PB_I64, at, pb_nest_integer(n, PB_I64, in.shape[r]));
    at = at < 0 ? p : pb_nest_node(n, PB_OP_ADD, PB_I64, at, p);
  }
  if (at < 0) return pb__door_refuse(d, op, "of one number");
  int code = pb_nest_gather(n, pb_make_access(&d->m, flat), 0, pb__door_as_place(n, at));
  int own = pb_make_access(&d->m, s->value);
  pb_make_along(&d->m, own, dims);
  int old = pb_nest_load(n, own), place = pb_nest_node(n, PB_OP_TRUNC, PB_I32, at, -1);
  int element = pb_scalar_decoded(n, code, in.type), best = pb__door_unpacked(n, s, old, 0),
      best_place = pb__door_unpacked(n, s, old, 1);
  all[0] = best;
  all[1] = element;
  const pb_type truth = PB_I1;
  PB_TRY(pb__door_body(d, n, op, 0, (pb_door_ends){2, all}, 1, &truth, &keep));
  int empty = pb_nest_node(n, PB_OP_LESS, PB_I1, best_place, pb_nest_integer(n, PB_I32, 0));
  int other = pb_nest_node(n, PB_OP_EQUAL, PB_I1, keep, pb_nest_integer(n, PB_I8, 0));
  int take = pb_nest_node(n, PB_OP_OR, PB_I1, empty, other);
  take = pb_nest_node(n, PB_OP_AND, PB_I1, take, condition);
  for (int k = 0; k < 2; ++k) {
    all[k] = pb_nest_node(n, PB_OP_SELECT, n->expr[k ? place : element].type, take, k ? place : element);
    n->expr[all[k]].args[2] = k ? best_place : best;
  }
  (void)pb__door_packed(n, s, all);
  n->reduce = PB_ACC_BODY;
  pb_make_end(&d->m, s->value, dims);
  return PB_OK;
}

pb_status pb__door_select_and_scatter(pb_door* d, const pb_flat_op* op) {
  int x = pb__door_in(d, op, 0), u = pb__door_in(d, op, 1), y = pb__door_result(d, op, 0), dims[PB_NEST_RANK];
  const pb_s1_value in = *pb_made(&d->m, x), source = *pb_made(&d->m, u);
  int64_t all = pb_made_elements(&d->m, x);
  int arguments[2], result;
  window w;
  state s;
  if (in.type != source.type || !pb__door_alike(d, op, 0, 0))
    return pb__door_refuse(d, op, "operands of different types");
  PB_TRY(read_window(d, op, &in, &source, &w));
  PB_TRY(select_places(d, op, x, &w, &source, &s));
  int flat = pb_make_value(&d->m, in.type, 1, &all);
  pb__door_fill(d, flat, pb__door_in(d, op, 2));
  pb_nest* n = pb_make_walk(&d->m, "point", u, dims);
  int from = pb_make_access(&d->m, u), states = pb_make_access(&d->m, s.value), own = pb_make_access(&d->m, flat);
  pb_make_along(&d->m, from, dims);
  pb_make_along(&d->m, states, dims);
  int place = pb__door_unpacked(n, &s, pb_nest_load(n, states), 1);
  int is = pb_nest_node(n, PB_OP_LESS_EQUAL, PB_I1, pb_nest_integer(n, PB_I32, 0), place);
  int at = pb_nest_node(n, PB_OP_SEXT, PB_I64, place, -1);
  at = pb_nest_node(n, PB_OP_MAX, PB_I64, at, pb_nest_integer(n, PB_I64, 0));
  at = pb_nest_node(n, PB_OP_MIN, PB_I64, at, pb_nest_integer(n, PB_I64, all - 1));
  int where = pb__door_as_place(n, at), old = pb_nest_gather(n, own, 0, where);
  arguments[0] = pb_scalar_decoded(n, old, in.type);
  arguments[1] = pb_scalar_load(n, from, in.type);
  PB_TRY(pb__door_body(d, n, op, 1, (pb_door_ends){2, arguments}, 1, &in.type, &result));
  result = pb_scalar_encoded(n, result, in.type);
  int chosen = pb_nest_node(n, PB_OP_SELECT, n->expr[result].type, is, result);
  n->expr[chosen].args[2] = old;
  int to = pb_make_access(&d->m, flat);
  n->access[to].gathered = 1;
  n->stored_at = where;
  n->reduce = PB_ACC_BODY;
  pb_make_finish(&d->m);
  pb_make_copy(&d->m, flat, y);
  return PB_OK;
}
