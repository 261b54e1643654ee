// Sums so far, and products, maxima, or what any body makes of all so far: windows of the whole length, as jnp.cumsum
// and its kin are written. One window an element is the length squared. Blocks are linear: what is so far within each
// block, of the blocks' totals, and of both (Blelloch 1990, Prefix sums and their applications, of two levels and
// more); within a block each round combines elements twice as far apart (Hillis and Steele 1986, Data parallel
// algorithms). The body and its first number must be a monoid (monoid.c). Code of a processor goes through many lines
// beside each other in turns (turns.c).
#include "core/frontend/stablehlo/operators/turns.h"
#include "core/frontend/stablehlo/write_out.h"

#include <math.h>
#include <string.h>

// Along rows a kernel's lanes go across blocks' borders, and its rounds are in registers: blocks are long, and of a
// length that the extent has, for what is added at the end is a copy. Down columns lanes are columns; each element is
// combined with a whole block of others, loaded again, and blocks are short. Commands take blocks of one length.
enum {
  LANES = 16,
  LEAST_IN_ROWS = 16,
  IN_ROWS = 32,
  SHORT_IN_ROWS = 64,
  IN_COLUMNS = 8,
  SHORT_IN_COLUMNS = 16,
  LEAST_TURNS = 2
};

static bool down_columns(const pb_door* d, const pb_flat_type* type, int axis) {
  int64_t columns = 1;
  for (int r = axis + 1; r < type->rank; ++r) columns *= type->shape[r];
  return columns >= LANES && pb__door_makes_code(d);
}

static bool is_short(const pb_door* d, const pb_flat_type* type, int axis) {
  return type->shape[axis] <= (down_columns(d, type, axis) ? SHORT_IN_COLUMNS : SHORT_IN_ROWS);
}

static int64_t block_of(const pb_door* d, const pb_flat_type* type, int axis) {
  if (down_columns(d, type, axis)) return IN_COLUMNS;
  for (int64_t block = IN_ROWS; pb__door_makes_code(d) && block >= LEAST_IN_ROWS; --block)
    if (type->shape[axis] % block == 0) return block;
  return IN_ROWS;
}

// The name of what the body does to its two arguments; NULL: more than one operator.
static const char* combines(const pb_flat_op* op) {
  static const char* const names[] = {"stablehlo.add", "stablehlo.multiply", "stablehlo.maximum", "stablehlo.minimum"};
  const pb_flat_block* body = op->region_count == 1 ? &op->regions[0] : NULL;
  if (!body || body->op_count != 2 || body->argument_count != 2) return NULL;
  const pb_flat_op *one = &body->ops[0], *end = &body->ops[1];
  bool both = one->operand_count == 2 && one->result_count == 1 && one->operands[0] != one->operands[1];
  for (int k = 0; both && k < 2; ++k)
    both = one->operands[k] == body->arguments[0] || one->operands[k] == body->arguments[1];
  if (!both || end->operand_count != 1 || end->operands[0] != one->results[0]) return NULL;
  for (size_t k = 0; k < sizeof names / sizeof *names; ++k)
    if (!strcmp(one->name, names[k])) return names[k];
  return NULL;
}

// Whether combining with the value changes nothing, for types in which every step is as exact as the result.
static bool is_neutral(const pb_door* d, const pb_flat_op* op, int value, const char* by) {
  const void* bytes = pb_made_splat(&d->m, value);
  pb_type type = pb_made(&d->m, value)->type;
  double number;
  if (!bytes) return false;
  if (!by) return pb__door_as_double(type, bytes, &number) && pb__door_is_monoid(op, number);
  bool lowest = !strcmp(by, "stablehlo.maximum"), highest = !strcmp(by, "stablehlo.minimum");
  int64_t one = !strcmp(by, "stablehlo.multiply"), is;
  if (pb__door_as_double(type, bytes, &number))
    return number == (lowest ? -(double)INFINITY : highest ? (double)INFINITY : (double)one);
  if ((type != PB_I32 && type != PB_I64) || pb__door_integers(d, value, 1, &is) != 1) return false;
  int64_t low = type == PB_I32 ? INT32_MIN : INT64_MIN, high = type == PB_I32 ? INT32_MAX : INT64_MAX;
  return is == (lowest ? low : highest ? high : one);
}

// The dim along which each element has a window of all in front of it, itself included; `reverse`: behind it. -1: none.
static int whole_dim(const pb_door* d, const pb_flat_op* op, bool* reverse) {
  const pb_flat_type* in = pb__door_type(d, op->operands[0]);
  static const char* const ones[] = {"window_strides", "base_dilations", "window_dilations"};
  pb_door* all = (pb_door*)(uintptr_t)d; // attributes are read into its arena
  const int64_t *size = pb__door_ints(all, op, "window_dimensions", in->rank, 1),
                *pad = pb__door_ints(all, op, "padding", 2 * in->rank, 0);
  int axis = -1;
  for (int k = 0; k < 3; ++k) {
    const int64_t* step = pb__door_ints(all, op, ones[k], in->rank, 1);
    for (int r = 0; r < in->rank; ++r)
      if (!step || step[r] != 1) return -1;
  }
  for (int r = 0; size && pad && r < in->rank; ++r) {
    int64_t low = pad[2 * r], high = pad[2 * r + 1], before = in->shape[r] - 1;
    if (size[r] == 1 && !low && !high) continue;
    if (axis >= 0 || size[r] != in->shape[r] || low + high != before || (low && high)) return -1;
    axis = r;
    *reverse = high > 0;
  }
  return axis;
}

typedef struct prefix {
  pb_writer w;
  const pb_flat_op* op;
  const char* by;
  bool reverse;
} prefix;

// Of the values of two tensors of one type, element by element; the first stands in front in the window.
static int combined(prefix* p, int x, int y) {
  if (p->by) return pb__write_binary(&p->w, p->by, x, y);
  pb_flat_type type = pb__write_type(&p->w, x);
  int64_t dims[PB_FLAT_RANK];
  for (int r = 0; r < type.rank; ++r) dims[r] = r;
  pb_flat_attr along = pb__write_ints(&p->w, "dimensions", type.rank, dims);
  return pb__write_by(&p->w, "stablehlo.map", type, 2, (const int[]){x, y}, 1, &along, 1, p->op->regions);
}

// What is so far along a short dim, in as many rounds as its extent has binary digits.
static int doubled(prefix* p, int x, int axis) {
  int64_t extent = pb__write_type(&p->w, x).shape[axis];
  for (int64_t by = 1; by < extent; by *= 2) {
    int front = pb__write_rows(&p->w, x, axis, 0, extent - by), behind = pb__write_rows(&p->w, x, axis, by, extent);
    int both = combined(p, front, behind);
    int rest = p->reverse ? pb__write_rows(&p->w, x, axis, extent - by, extent) : pb__write_rows(&p->w, x, axis, 0, by);
    x = pb__write_joined(&p->w, axis, 2, p->reverse ? (const int[]){both, rest} : (const int[]){rest, both});
  }
  return x;
}

static int reshaped(prefix* p, int x, int rank, const int64_t* shape) {
  pb_flat_type type = pb__write_shaped(pb__write_type(&p->w, x), rank, shape);
  return pb__write(&p->w, "stablehlo.reshape", type, 1, &x, 0, NULL);
}

// As x, but of so many rows along the axis, all of the neutral number.
static int neutral_rows(prefix* p, int x, int axis, int64_t rows) {
  int64_t shape[PB_FLAT_RANK];
  pb_flat_type type = pb__write_type(&p->w, x);
  memcpy(shape, type.shape, sizeof shape);
  shape[axis] = rows;
  pb_flat_attr along = pb__write_ints(&p->w, "broadcast_dimensions", 0, shape);
  return pb__write(&p->w, "stablehlo.broadcast_in_dim", pb__write_shaped(type, type.rank, shape), 1,
                   &p->op->operands[1], 1, &along);
}

// So many rows more behind the dim's end, of the neutral number.
static int lengthened(prefix* p, int x, int axis, int64_t rows) {
  return pb__write_joined(&p->w, axis, 2, (const int[]){x, neutral_rows(p, x, axis, rows)});
}

static int scanned(prefix* p, int x, int axis);

// What all blocks in front make together: of the first one nothing.
static int of_blocks_before(prefix* p, int totals, int axis) {
  int64_t blocks = pb__write_type(&p->w, totals).shape[axis];
  int so_far = scanned(p, totals, axis), none = neutral_rows(p, totals, axis, 1);
  int rest = pb__write_rows(&p->w, so_far, axis, p->reverse, blocks - 1 + p->reverse);
  return pb__write_joined(&p->w, axis, 2, p->reverse ? (const int[]){rest, none} : (const int[]){none, rest});
}

static int scanned(prefix* p, int x, int axis) {
  pb_flat_type type = pb__write_type(&p->w, x);
  const int64_t block = block_of(p->w.d, &type, axis);
  int64_t shape[PB_FLAT_RANK], extent = type.shape[axis], blocks = (extent + block - 1) / block;
  if (is_short(p->w.d, &type, axis) || p->w.status != PB_OK) return doubled(p, x, axis);
  if (extent % block) x = lengthened(p, x, axis, blocks * block - extent);
  memcpy(shape, type.shape, sizeof *shape * (size_t)axis);
  shape[axis] = blocks;
  shape[axis + 1] = block;
  for (int r = axis + 1; r < type.rank; ++r) shape[r + 1] = type.shape[r];
  int within = doubled(p, reshaped(p, x, type.rank + 1, shape), axis + 1);
  int last = p->reverse ? 0 : block - 1, totals = pb__write_rows(&p->w, within, axis + 1, last, last + 1);
  shape[axis + 1] = 1; // a total a block
  int before = of_blocks_before(p, totals, axis);
  shape[axis + 1] = block;
  before = pb__write_spread(&p->w, before, type.rank + 1, shape);
  int y = p->reverse ? combined(p, within, before) : combined(p, before, within);
  int64_t whole[PB_FLAT_RANK];
  memcpy(whole, type.shape, sizeof whole);
  whole[axis] = blocks * block;
  y = reshaped(p, y, type.rank, whole);
  return extent % block ? pb__write_rows(&p->w, y, axis, 0, extent) : y;
}

pb_status pb__door_prefix(pb_door* d, const pb_flat_op* op, bool* made) {
  bool reverse = false;
  *made = false;
  if (op->operand_count != 2 || op->result_count != 1) return PB_OK;
  const char* by = combines(op); // NULL: a body of several operations
  const pb_flat_type* in = pb__door_type(d, op->operands[0]);
  if (d->open || d->m.consts->open || in->is_complex || in->rank < 1 || in->rank + 2 > PB_NEST_RANK) return PB_OK;
  int axis = whole_dim(d, op, &reverse);
  if (axis < 0 || !is_neutral(d, op, pb__door_in(d, op, 1), by)) return PB_OK;
  bool in_turns = pb__door_takes_turns(d, in, axis, by);
  if (in_turns ? in->shape[axis] < LEAST_TURNS : is_short(d, in, axis)) return PB_OK;
  if (in_turns) {
    int y;
    *made = true;
    PB_TRY(pb__door_by_turns(d, op, by, pb__door_in(d, op, 0), axis, reverse, &y));
    return pb__door_bind(d, op, op->results[0], (pb_door_value){y, -1});
  }
  prefix p = {pb__write_start(d, op), op, by, reverse};
  pb__write_result(&p.w, 0, scanned(&p, op->operands[0], axis));
  *made = true;
  return pb__write_end(&p.w);
}
