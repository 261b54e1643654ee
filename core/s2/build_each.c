// Element by element on any types, and look-ups. Truths are bytes of 0 or 1.
#include "core/s1/scalar/scalar.h"
#include "core/s2/builder.h"

#include <math.h>
#include <stdint.h>

// The largest numbers below 2^31 and 2^63 that f32 has: what is further out has no integer.
#define MOST_I32 2147483520.0
#define MOST_I64 9223371487098961920.0

static int node(pb_nest* n, pb_op op, pb_type type, int a, int b) { return pb_nest_node(n, op, type, a, b); }

static int choose(pb_nest* n, int condition, int yes, int no) {
  int id = pb_nest_node(n, PB_OP_SELECT, n->expr[yes].type, condition, yes);
  n->expr[id].args[2] = no;
  return id;
}

static int is_true(pb_nest* n, int byte) {
  int zero = pb_nest_integer(n, PB_I8, 0);
  return node(n, PB_OP_LESS, PB_I1, zero, byte);
}

static int as_byte(pb_nest* n, int condition) { return node(n, PB_OP_ZEXT, PB_I8, condition, -1); }

static int is_not(pb_nest* n, int byte) { return node(n, PB_OP_XOR, PB_I8, byte, pb_nest_integer(n, PB_I8, 1)); }

static int equal(pb_nest* n, int a, int b) { return as_byte(n, node(n, PB_OP_EQUAL, PB_I1, a, b)); }

static int kept(pb_nest* n, int v, double least, double most) {
  int is_number = node(n, PB_OP_EQUAL, PB_I1, v, v), zero = pb_nest_const(n, PB_F32, 0);
  int number = choose(n, is_number, v, zero);
  int above = node(n, PB_OP_MAX, PB_F32, number, pb_nest_const(n, PB_F32, least));
  return node(n, PB_OP_MIN, PB_F32, above, pb_nest_const(n, PB_F32, most));
}

// Towards 0, what is out of range the nearest that there is, NaN 0: as other types are converted (scalar.c).
static int to_integer(pb_nest* n, int v, pb_type type) {
  bool wide = type == PB_I64;
  double end = wide ? 9223372036854775808.0 : 2147483648.0; // one past the largest
  int whole = node(n, PB_OP_FPTOSI, type, kept(n, v, -end, wide ? MOST_I64 : MOST_I32), -1);
  int over = node(n, PB_OP_LESS_EQUAL, PB_I1, pb_nest_const(n, PB_F32, end), v);
  return choose(n, over, pb_nest_integer(n, type, wide ? INT64_MAX : INT32_MAX), whole);
}

static int to_code(pb_nest* n, int v, bool is_unsigned) {
  v = kept(n, v, is_unsigned ? 0 : INT8_MIN, is_unsigned ? UINT8_MAX : INT8_MAX);
  return node(n, PB_OP_TRUNC, PB_I8, node(n, PB_OP_FPTOSI, PB_I32, v, -1), -1);
}

static int widened(pb_nest* n, const pb_s1_op* op, int v, pb_type type) {
  pb_type from = n->expr[v].type;
  if (from == PB_F32) return to_integer(n, v, type);
  if (pb_type_bits(from) > pb_type_bits(type)) return node(n, PB_OP_TRUNC, type, v, -1);
  if (from != type) v = node(n, PB_OP_SEXT, type, v, -1);
  return op->unsigned_x ? node(n, PB_OP_ADD, type, v, pb_nest_integer(n, type, 128)) : v;
}

static int cast(pb_nest* n, const pb_s1_op* op, int v, pb_type from, pb_type to) {
  if (from == to && op->unsigned_x == op->unsigned_y) return v;
  switch (to) {
  case PB_F32:
    v = node(n, PB_OP_SITOFP, PB_F32, v, -1);
    return op->unsigned_x ? node(n, PB_OP_ADD, PB_F32, v, pb_nest_const(n, PB_F32, 128)) : v;
  case PB_I1: {
    int zero = from == PB_F32 ? pb_nest_const(n, PB_F32, 0)
                              : pb_nest_integer(n, n->expr[v].type, op->unsigned_x ? INT8_MIN : 0);
    return is_not(n, equal(n, v, zero));
  }
  case PB_I8:
    v = from == PB_F32 ? to_code(n, v, op->unsigned_y)
                       : node(n, PB_OP_TRUNC, PB_I8, widened(n, op, v, from == PB_I64 ? PB_I64 : PB_I32), -1);
    return op->unsigned_y ? node(n, PB_OP_XOR, PB_I8, v, pb_nest_integer(n, PB_I8, INT8_MIN)) : v;
  case PB_BF16:
  case PB_F16:
  case PB_E4M3:
  case PB_E5M2:
    return pb_scalar_encoded(n, v, to);
  default:
    return widened(n, op, v, to);
  }
}

static int integer(pb_nest* n, pb_op binary, int x, int z) {
  pb_type type = n->expr[x].type;
  if (z >= 0) return node(n, binary, type, x, z);
  int negated = node(n, PB_OP_SUB, type, pb_nest_integer(n, type, 0), x);
  return binary == PB_OP_NEG ? negated : node(n, PB_OP_MAX, type, x, negated);
}

static int result(pb_nest* n, const builder* b, const pb_s1_op* op, const int* v) {
  switch (op->each) {
  case PB_S1_EQUAL:
    return equal(n, v[0], v[1]);
  case PB_S1_LESS:
    return as_byte(n, node(n, PB_OP_LESS, PB_I1, v[0], v[1]));
  case PB_S1_LESS_EQUAL:
    return as_byte(n, node(n, PB_OP_LESS_EQUAL, PB_I1, v[0], v[1]));
  case PB_S1_IS_NAN:
    return is_not(n, equal(n, v[0], v[0]));
  case PB_S1_AND:
    return node(n, PB_OP_AND, PB_I8, v[0], v[1]);
  case PB_S1_OR:
    return node(n, PB_OP_OR, PB_I8, v[0], v[1]);
  case PB_S1_XOR:
    return node(n, PB_OP_XOR, PB_I8, v[0], v[1]);
  case PB_S1_NOT:
    return is_not(n, v[0]);
  case PB_S1_WHERE:
    return choose(n, is_true(n, v[0]), v[1], v[2]);
  case PB_S1_CAST:
    return cast(n, op, v[0], b->program->values[op->x].type, b->program->values[op->y].type);
  case PB_S1_INTEGER:
    return integer(n, op->binary, v[0], v[1]);
  case PB_S1_EXPAND:
    break;
  }
  return v[0];
}

void pb__s2_each(builder* b, const pb_s1_op* op) {
  pb_access y = pb__s2_on_value(b, op->y);
  pb_nest n = pb__s2_start(op, op->each == PB_S1_EXPAND ? "copy" : "point");
  const int operands[3] = {op->x, op->z, op->third};
  int dims[PB_NEST_RANK], loaded[3] = {-1, -1, -1};
  pb__s2_walk(&n, &y, dims);
  for (int k = 0; k < 3; ++k) {
    if (operands[k] < 0) continue;
    n.access[n.access_count++] = pb__s2_repeat(pb__s2_on_value(b, operands[k]), &y, dims);
    loaded[k] = pb_nest_load(&n, n.access_count - 1);
  }
  (void)result(&n, b, op, loaded);
  n.access[n.access_count++] = pb__s2_along(y, dims);
  pb__s2_print(b, &n);
}

// i < 0 ? i + extent : i, kept within the extent, as an index.
static int place_of(pb_nest* n, int i, int64_t extent) {
  if (n->expr[i].type != PB_I64) i = node(n, PB_OP_SEXT, PB_I64, i, -1);
  int zero = pb_nest_integer(n, PB_I64, 0), below = node(n, PB_OP_LESS, PB_I1, i, zero);
  int from_end = node(n, PB_OP_ADD, PB_I64, i, pb_nest_integer(n, PB_I64, extent));
  i = node(n, PB_OP_MAX, PB_I64, choose(n, below, from_end, i), zero);
  i = node(n, PB_OP_MIN, PB_I64, i, pb_nest_integer(n, PB_I64, extent - 1));
  return node(n, PB_OP_SEXT, PB_INDEX, i, -1);
}

void pb__s2_gather(builder* b, const pb_s1_op* op) {
  pb_access x = pb__s2_on_value(b, op->x), z = pb__s2_on_value(b, op->z), y = pb__s2_on_value(b, op->y);
  pb_nest n = pb__s2_start(op, "gather");
  int dims[PB_NEST_RANK], behind = op->pointwise ? 1 : z.rank; // dims of y that stand for the axis
  pb__s2_walk(&n, &y, dims);
  for (int r = 0; r < z.rank; ++r) pb__s2_move(&z, r, dims[op->pointwise ? r : op->axis + r], 1);
  for (int r = 0; r < x.rank; ++r)
    if (r != op->axis) pb__s2_move(&x, r, dims[r < op->axis ? r : r - 1 + behind], 1);
  n.access[0] = z;
  n.access[1] = x;
  n.access[2] = pb__s2_along(y, dims);
  n.access_count = 3;
  int at = place_of(&n, pb_nest_load(&n, 0), x.shape[op->axis]);
  pb_nest_gather(&n, 1, op->axis, at);
  pb__s2_print(b, &n);
}
