#include "core/base/half.h"
#include "core/base/half_expr.h"
#include "core/s1/scalar/nodes.h"
#include "core/s1/scalar/special.h"

#include <math.h>
#include <string.h>

pb_type pb_scalar_worked(pb_type type) { return pb_type_is_narrow(type) ? PB_F32 : pb_type_stored(type); }
int pb_scalar_select(pb_nest* n, int truth, int yes, int no) { return choose(n, is_true(n, truth), yes, no); }

// ---- narrow floats ----

static int add_node(void* nest, const pb_expr_node* given) {
  pb_nest* n = nest;
  int id = node(n, given->op, given->type, -1, -1);
  n->expr[id] = *given;
  return id;
}

// An f64 as an f32 whose last bit is set when something was lost, so that rounding it further rounds the f64 once.
static int to_odd(pb_nest* n, int v) {
  int near = node(n, PB_OP_TRUNCF, PB_F32, v, -1), back = node(n, PB_OP_EXTF, PB_F64, near, -1);
  int all = bits(n, near), one = integer(n, PB_I32, 1);
  int reached = same(n, PB_OP_ABS, back, -1), further = compare(n, PB_OP_LESS, same(n, PB_OP_ABS, v, -1), reached);
  int cut = same(n, PB_OP_OR, choose(n, further, same(n, PB_OP_SUB, all, one), all), one);
  int exact = compare(n, PB_OP_EQUAL, back, v), is_number = compare(n, PB_OP_EQUAL, v, v);
  int odd = node(n, PB_OP_BITCAST, PB_F32, cut, -1);
  return choose(n, exact, near, choose(n, is_number, odd, near));
}

int pb_scalar_decoded(pb_nest* n, int stored, pb_type type) {
  return pb_type_is_narrow(type) ? pb_half_widened(&(pb_expr_writer){add_node, n}, type, stored) : stored;
}

int pb_scalar_encoded(pb_nest* n, int worked, pb_type type) {
  return pb_type_is_narrow(type) ? pb_half_rounded(&(pb_expr_writer){add_node, n}, type, worked) : worked;
}

int pb_scalar_rounded(pb_nest* n, int worked, pb_type type) {
  return pb_type_is_narrow(type) ? pb_scalar_decoded(n, pb_scalar_encoded(n, worked, type), type) : worked;
}

int pb_scalar_load(pb_nest* n, int access, pb_type type) { return pb_scalar_decoded(n, pb_nest_load(n, access), type); }

int pb_scalar_number(pb_nest* n, pb_type type, double number) {
  pb_type worked = pb_scalar_worked(type);
  return pb_type_is_float(worked) ? pb_nest_const(n, worked, number) : integer(n, worked, (int64_t)number);
}

int pb_scalar_constant(pb_nest* n, pb_type type, const void* bytes) {
  pb_type stored = pb_type_stored(type);
  int64_t whole = 0;
  double number;
  float f;
  if (stored == PB_F32) {
    memcpy(&f, bytes, sizeof f);
    return pb_nest_const(n, PB_F32, (double)f);
  }
  if (stored == PB_F64) {
    memcpy(&number, bytes, sizeof number);
    return pb_nest_const(n, PB_F64, number);
  }
  int shift = 64 - pb_type_bits(stored);
  memcpy(&whole, bytes, (size_t)pb_type_bits(stored) / 8);
  if (pb_type_is_narrow(type)) return pb_nest_const(n, PB_F32, (double)pb_narrow_number(type, (uint16_t)whole));
  whole = (int64_t)((uint64_t)whole << shift) >> shift;
  return integer(n, stored, whole);
}

// ---- conversions ----

// f32 to i32 in f32 alone, half as wide as by way of f64: its largest number below 2^31, and what is not below it
// apart.
static int float_to_int(pb_nest* n, int v) {
  int is_number = compare(n, PB_OP_EQUAL, v, v), zero = pb_nest_const(n, PB_F32, 0);
  int number = choose(n, is_number, v, zero), least = pb_nest_const(n, PB_F32, -0x1p31);
  int above = same(n, PB_OP_MAX, number, least), most = pb_nest_const(n, PB_F32, 0x1.fffffep30);
  int whole = node(n, PB_OP_FPTOSI, PB_I32, same(n, PB_OP_MIN, above, most), -1);
  int over = compare(n, PB_OP_LESS_EQUAL, pb_nest_const(n, PB_F32, 0x1p31), v), end = integer(n, PB_I32, INT32_MAX);
  return choose(n, over, end, whole);
}

// Towards 0, what is out of range the nearest that there is, NaN 0.
static int float_to_integer(pb_nest* n, int v, pb_type to) {
  bool is_unsigned = pb_type_is_unsigned(to);
  int width = pb_type_bits(to);
  pb_type stored = pb_type_stored(to);
  if (n->expr[v].type == PB_F32 && stored == PB_I32 && !is_unsigned) return float_to_int(n, v);
  if (n->expr[v].type == PB_F32) v = node(n, PB_OP_EXTF, PB_F64, v, -1);
  int is_number = compare(n, PB_OP_EQUAL, v, v);
  v = choose(n, is_number, v, pb_nest_const(n, PB_F64, 0));
  double end = ldexp(1, is_unsigned ? width : width - 1); // one past the largest
  int least = pb_nest_const(n, PB_F64, is_unsigned ? 0 : -end);
  int most = pb_nest_const(n, PB_F64, width < 64 ? end - 1 : nextafter(end, 0));
  int inside = same(n, PB_OP_MIN, same(n, PB_OP_MAX, v, least), most);
  int whole = node(n, is_unsigned && width == 64 ? PB_OP_FPTOUI : PB_OP_FPTOSI, PB_I64, inside, -1);
  if (width < 64) return node(n, PB_OP_TRUNC, stored, whole, -1);
  int over = compare(n, PB_OP_LESS_EQUAL, pb_nest_const(n, PB_F64, end), v);
  return choose(n, over, integer(n, PB_I64, is_unsigned ? -1 : INT64_MAX), whole);
}

static int integer_to_integer(pb_nest* n, int v, pb_type from, pb_type to) {
  pb_type a = pb_type_stored(from), b = pb_type_stored(to);
  if (pb_type_bits(b) < pb_type_bits(a)) return node(n, PB_OP_TRUNC, b, v, -1);
  if (pb_type_bits(b) == pb_type_bits(a)) return v;
  return node(n, pb_type_is_unsigned(from) || from == PB_I1 ? PB_OP_ZEXT : PB_OP_SEXT, b, v, -1);
}

// To a narrow float only once rounded: bits that an f64 would round away stay as one that is set.
static int sticky(pb_nest* n, int v, bool is_unsigned) {
  int low = same(n, PB_OP_AND, v, integer(n, PB_I64, 0x7ff)), zero = integer(n, PB_I64, 0);
  int kept = same(n, PB_OP_AND, v, integer(n, PB_I64, ~0x7ffll));
  int marked = same(n, PB_OP_OR, kept, integer(n, PB_I64, 0x400));
  int rest = choose(n, compare(n, PB_OP_EQUAL, low, zero), v, marked);
  const int64_t exact = 1ll << 53;
  int shifted = same(n, PB_OP_ADD, v, integer(n, PB_I64, exact));
  int small = is_unsigned ? compare(n, PB_OP_LESSU, v, integer(n, PB_I64, exact))
                          : compare(n, PB_OP_LESSU, shifted, integer(n, PB_I64, 2 * exact));
  return choose(n, small, v, rest);
}

static int integer_to_float(pb_nest* n, int v, pb_type from, pb_type to) {
  bool is_unsigned = pb_type_is_unsigned(from) || from == PB_I1;
  pb_op op = is_unsigned ? PB_OP_UITOFP : PB_OP_SITOFP;
  if (!pb_type_is_narrow(to)) return node(n, op, to, v, -1);
  if (pb_type_bits(from) <= 16) return node(n, op, PB_F32, v, -1);
  if (pb_type_bits(from) == 64) v = sticky(n, v, is_unsigned);
  return to_odd(n, node(n, op, PB_F64, v, -1));
}

int pb_scalar_converted(pb_nest* n, int v, pb_type from, pb_type to) {
  if (from == to) return v;
  if (to == PB_I1) return inverted(n, as_byte(n, compare(n, PB_OP_EQUAL, v, like(n, v, 0))));
  bool from_float = pb_type_is_float(from), to_float = pb_type_is_float(to);
  if (from_float && !to_float) return float_to_integer(n, v, to);
  if (!from_float) return to_float ? integer_to_float(n, v, from, to) : integer_to_integer(n, v, from, to);
  pb_type a = n->expr[v].type, b = pb_scalar_worked(to);
  if (a == b) return v;
  if (a == PB_F32) return node(n, PB_OP_EXTF, PB_F64, v, -1);
  return pb_type_is_narrow(to) ? to_odd(n, v) : node(n, PB_OP_TRUNCF, PB_F32, v, -1);
}

// ---- comparisons ----

// Bits that are ordered as integers: below 0 the magnitude's are turned over.
static int ordered(pb_nest* n, int v) {
  int all = bits(n, v);
  pb_type type = n->expr[all].type;
  int sign = same(n, PB_OP_SHR, all, integer(n, type, pb_type_bits(type) - 1));
  return same(n, PB_OP_XOR, all, same(n, PB_OP_SHRU, sign, integer(n, type, 1)));
}

int pb_scalar_compare(pb_nest* n, pb_compare how, pb_type type, bool total_order, int a, int b) {
  bool is_unsigned = pb_type_is_unsigned(type) || type == PB_I1;
  if (total_order && pb_type_is_float(type)) {
    a = ordered(n, a);
    b = ordered(n, b);
  }
  pb_op less = is_unsigned ? PB_OP_LESSU : PB_OP_LESS;
  pb_op less_equal = is_unsigned ? PB_OP_LESS_EQUALU : PB_OP_LESS_EQUAL;
  switch (how) {
  case PB_EQ:
    return as_byte(n, compare(n, PB_OP_EQUAL, a, b));
  case PB_NE:
    return inverted(n, as_byte(n, compare(n, PB_OP_EQUAL, a, b)));
  case PB_LT:
    return as_byte(n, compare(n, less, a, b));
  case PB_LE:
    return as_byte(n, compare(n, less_equal, a, b));
  case PB_GT:
    return as_byte(n, compare(n, less, b, a));
  case PB_GE:
    break;
  }
  return as_byte(n, compare(n, less_equal, b, a));
}

// ---- operations ----

#define BINARY(name, of_truths, of_floats, of_integers, of_unsigned)                                                   \
  static int name(pb_nest* n, pb_type type, const int* v) {                                                            \
    pb_op op = type == PB_I1               ? of_truths                                                                 \
               : pb_type_is_float(type)    ? of_floats                                                                 \
               : pb_type_is_unsigned(type) ? of_unsigned                                                               \
                                           : of_integers;                                                              \
    return same(n, op, v[0], v[1]);                                                                                    \
  }
BINARY(add, PB_OP_OR, PB_OP_ADD, PB_OP_ADD, PB_OP_ADD)
BINARY(subtract, PB_OP_XOR, PB_OP_SUB, PB_OP_SUB, PB_OP_SUB)
BINARY(multiply, PB_OP_AND, PB_OP_MUL, PB_OP_MUL, PB_OP_MUL)
BINARY(maximum, PB_OP_OR, PB_OP_MAXIMUM, PB_OP_MAX, PB_OP_MAXU)
BINARY(minimum, PB_OP_AND, PB_OP_MINIMUM, PB_OP_MIN, PB_OP_MINU)
BINARY(and_of, PB_OP_AND, PB_OP_AND, PB_OP_AND, PB_OP_AND)
BINARY(or_of, PB_OP_OR, PB_OP_OR, PB_OP_OR, PB_OP_OR)
BINARY(xor_of, PB_OP_XOR, PB_OP_XOR, PB_OP_XOR, PB_OP_XOR)
#undef BINARY

// A divisor of 0 and a quotient past the end would trap: there the divisor is 1.
static int safe_divisor(pb_nest* n, pb_type type, const int* v, int* by_zero) {
  *by_zero = compare(n, PB_OP_EQUAL, v[1], like(n, v[1], 0));
  int safe = choose(n, *by_zero, like(n, v[1], 1), v[1]);
  if (pb_type_is_unsigned(type)) return safe;
  pb_type stored = n->expr[v[1]].type;
  int least = integer(n, stored, (int64_t)((uint64_t)-1 << (pb_type_bits(stored) - 1)));
  int over = compare(n, PB_OP_EQUAL, v[0], least), minus = compare(n, PB_OP_EQUAL, v[1], like(n, v[1], -1));
  return choose(n, over, choose(n, minus, like(n, v[1], 1), safe), safe);
}

// The upper half of a product of 64 bits, by halves; with signs it is less one factor where the other is negative.
static int upper_half_of_64(pb_nest* n, bool is_unsigned, int x, int y) {
  int low = integer(n, PB_I64, UINT32_MAX), half = integer(n, PB_I64, 32), last = integer(n, PB_I64, 63);
  int xl = same(n, PB_OP_AND, x, low), xh = same(n, PB_OP_SHRU, x, half);
  int yl = same(n, PB_OP_AND, y, low), yh = same(n, PB_OP_SHRU, y, half);
  int carry = same(n, PB_OP_SHRU, same(n, PB_OP_MUL, xl, yl), half);
  int middle = same(n, PB_OP_ADD, same(n, PB_OP_MUL, xh, yl), carry), rest = same(n, PB_OP_AND, middle, low);
  int other = same(n, PB_OP_ADD, same(n, PB_OP_MUL, xl, yh), rest);
  middle = same(n, PB_OP_SHRU, middle, half);
  int upper = same(n, PB_OP_ADD, same(n, PB_OP_MUL, xh, yh), middle);
  upper = same(n, PB_OP_ADD, upper, same(n, PB_OP_SHRU, other, half));
  if (is_unsigned) return upper;
  upper = same(n, PB_OP_SUB, upper, same(n, PB_OP_AND, same(n, PB_OP_SHR, x, last), y));
  return same(n, PB_OP_SUB, upper, same(n, PB_OP_AND, same(n, PB_OP_SHR, y, last), x));
}

static int upper_half(pb_nest* n, pb_type type, const int* v) {
  bool is_unsigned = pb_type_is_unsigned(type);
  pb_type stored = n->expr[v[0]].type;
  int bits = pb_type_bits(stored);
  if (bits == 64) return upper_half_of_64(n, is_unsigned, v[0], v[1]);
  pb_op wider = is_unsigned ? PB_OP_ZEXT : PB_OP_SEXT;
  int x = node(n, wider, PB_I64, v[0], -1), y = node(n, wider, PB_I64, v[1], -1), product = same(n, PB_OP_MUL, x, y);
  return node(n, PB_OP_TRUNC, stored, same(n, PB_OP_SHRU, product, integer(n, PB_I64, bits)), -1);
}

static int divide(pb_nest* n, pb_type type, const int* v) {
  int by_zero;
  if (pb_type_is_float(type)) return same(n, PB_OP_DIV, v[0], v[1]);
  int divisor = safe_divisor(n, type, v, &by_zero);
  int quotient = same(n, pb_type_is_unsigned(type) ? PB_OP_DIVU : PB_OP_DIV, v[0], divisor);
  return choose(n, by_zero, like(n, v[0], -1), quotient);
}

// Each step takes as many whole y off as an f64 counts exactly, which is exact where the f64 product is: 2^24 times a
// number of 24 bits. 11 steps cover the distance between the largest and the smallest f32.
static int float_remainder(pb_nest* n, int x, int y) {
  enum { STEPS = 12, STEP_BITS = 24 };
  int d = same(n, PB_OP_ABS, node(n, PB_OP_EXTF, PB_F64, y, -1), -1);
  int wide = node(n, PB_OP_EXTF, PB_F64, x, -1), r = same(n, PB_OP_ABS, wide, -1);
  for (int k = STEPS - 1; k >= 0; --k) {
    int scaled = same(n, PB_OP_MUL, d, pb_nest_const(n, PB_F64, ldexp(1, k * STEP_BITS)));
    int times = same(n, PB_OP_WHOLE, same(n, PB_OP_DIV, r, scaled), -1);
    r = same(n, PB_OP_SUB, r, same(n, PB_OP_MUL, times, scaled));
    int under = compare(n, PB_OP_LESS, r, pb_nest_const(n, PB_F64, 0)); // the quotient was rounded up
    r = choose(n, under, same(n, PB_OP_ADD, r, scaled), r);
  }
  int y_infinite = compare(n, PB_OP_EQUAL, d, pb_nest_const(n, PB_F64, INFINITY));
  int most = pb_nest_const(n, PB_F64, INFINITY);
  int x_finite = compare(n, PB_OP_LESS, same(n, PB_OP_ABS, wide, -1), most);
  r = choose(n, y_infinite, same(n, PB_OP_ABS, wide, -1), r);
  r = choose(n, x_finite, r, pb_nest_const(n, PB_F64, NAN));
  int magnitude = bits(n, node(n, PB_OP_TRUNCF, PB_F32, r, -1));
  int least = integer(n, PB_I32, INT32_MIN), sign = same(n, PB_OP_AND, bits(n, x), least);
  return node(n, PB_OP_BITCAST, PB_F32, same(n, PB_OP_OR, magnitude, sign), -1);
}

static int remainder_of(pb_nest* n, pb_type type, const int* v) {
  int by_zero;
  if (type == PB_F64) return pb__special_remainder(n, type, v);
  if (pb_type_is_float(type)) return float_remainder(n, v[0], v[1]);
  int divisor = safe_divisor(n, type, v, &by_zero);
  int rest = same(n, pb_type_is_unsigned(type) ? PB_OP_REMU : PB_OP_REM, v[0], divisor);
  return choose(n, by_zero, v[0], rest);
}

static int not_of(pb_nest* n, pb_type type, const int* v) {
  return type == PB_I1 ? inverted(n, v[0]) : same(n, PB_OP_XOR, v[0], like(n, v[0], -1));
}

// By as many bits as there are, or more: nothing stays but the sign.
static int shifted(pb_nest* n, pb_op op, const int* v) {
  int width = pb_type_bits(n->expr[v[0]].type);
  int amount = same(n, PB_OP_AND, v[1], like(n, v[1], width - 1));
  int far = op == PB_OP_SHR ? same(n, PB_OP_SHR, v[0], like(n, v[0], width - 1)) : like(n, v[0], 0);
  int inside = compare(n, PB_OP_LESSU, v[1], like(n, v[1], width));
  return choose(n, inside, same(n, op, v[0], amount), far);
}

#define SHIFT(name, op)                                                                                                \
  static int name(pb_nest* n, pb_type type, const int* v) {                                                            \
    (void)type;                                                                                                        \
    return shifted(n, op, v);                                                                                          \
  }
SHIFT(shift_left, PB_OP_SHL)
SHIFT(shift_right_logical, PB_OP_SHRU)
SHIFT(shift_right_arithmetic, PB_OP_SHR)
#undef SHIFT

static int negate(pb_nest* n, pb_type type, const int* v) {
  return pb_type_is_float(type) ? same(n, PB_OP_NEG, v[0], -1) : same(n, PB_OP_SUB, like(n, v[0], 0), v[0]);
}

static int absolute(pb_nest* n, pb_type type, const int* v) {
  if (pb_type_is_float(type)) return same(n, PB_OP_ABS, v[0], -1);
  return pb_type_is_unsigned(type) ? v[0] : same(n, PB_OP_MAX, v[0], negate(n, type, v));
}

static int sign(pb_nest* n, pb_type type, const int* v) {
  int zero = like(n, v[0], 0), one = like(n, v[0], 1);
  if (pb_type_is_unsigned(type)) return choose(n, compare(n, PB_OP_EQUAL, v[0], zero), zero, one);
  int minus_one = like(n, v[0], -1), not_above = choose(n, compare(n, PB_OP_LESS, v[0], zero), minus_one, v[0]);
  return choose(n, compare(n, PB_OP_LESS, zero, v[0]), one, not_above);
}

static int with_sign(pb_nest* n, int magnitude, int of) {
  pb_type type = bits_type(n->expr[of].type);
  int least = integer(n, type, type == PB_I64 ? INT64_MIN : INT32_MIN);
  int its = same(n, PB_OP_AND, bits(n, of), least), all = same(n, PB_OP_OR, bits(n, magnitude), its);
  return node(n, PB_OP_BITCAST, n->expr[of].type, all, -1);
}

static int round_away(pb_nest* n, pb_type type, const int* v) {
  (void)type;
  int x = same(n, PB_OP_ABS, v[0], -1), whole = same(n, PB_OP_WHOLE, x, -1), rest = same(n, PB_OP_SUB, x, whole);
  int up = compare(n, PB_OP_LESS_EQUAL, like(n, x, 0.5), rest);
  return with_sign(n, choose(n, up, same(n, PB_OP_ADD, whole, like(n, x, 1)), whole), v[0]);
}

static int is_finite(pb_nest* n, pb_type type, const int* v) {
  (void)type;
  int most = like(n, v[0], INFINITY);
  return as_byte(n, compare(n, PB_OP_LESS, same(n, PB_OP_ABS, v[0], -1), most));
}

static int is_inf(pb_nest* n, pb_type type, const int* v) {
  (void)type;
  int most = like(n, v[0], INFINITY);
  return as_byte(n, compare(n, PB_OP_EQUAL, same(n, PB_OP_ABS, v[0], -1), most));
}

static int is_pos_inf(pb_nest* n, pb_type type, const int* v) {
  (void)type;
  return as_byte(n, compare(n, PB_OP_EQUAL, v[0], like(n, v[0], INFINITY)));
}

static int is_neg_inf(pb_nest* n, pb_type type, const int* v) {
  (void)type;
  return as_byte(n, compare(n, PB_OP_EQUAL, v[0], like(n, v[0], -INFINITY)));
}

// By the exponent's bits; where it is below 0, what is left of 1 / x^-z.
static int whole_power(pb_nest* n, bool has_sign, int x, int z) {
  int one = like(n, x, 1), zero = like(n, x, 0), result = one, square = x;
  int count = pb_type_bits(n->expr[z].type) - has_sign;
  for (int k = 0; k < count; ++k) {
    int bit = integer(n, n->expr[z].type, (int64_t)((uint64_t)1 << k)), set = same(n, PB_OP_AND, z, bit);
    int without = compare(n, PB_OP_EQUAL, set, zero), with = same(n, PB_OP_MUL, result, square);
    result = choose(n, without, result, with);
    if (k + 1 < count) square = same(n, PB_OP_MUL, square, square);
  }
  if (!has_sign) return result;
  int minus = like(n, x, -1), even = compare(n, PB_OP_EQUAL, same(n, PB_OP_AND, z, one), zero);
  int of_minus = choose(n, even, one, minus), is_minus = compare(n, PB_OP_EQUAL, x, minus);
  int others = choose(n, is_minus, of_minus, zero), is_one = compare(n, PB_OP_EQUAL, x, one);
  int below = choose(n, is_one, one, others), is_below = compare(n, PB_OP_LESS, z, zero);
  return choose(n, is_below, below, result);
}

static int power(pb_nest* n, pb_type type, const int* v) {
  if (pb_type_is_float(type)) return same(n, PB_OP_POW, v[0], v[1]);
  return whole_power(n, !pb_type_is_unsigned(type), v[0], v[1]);
}

static int square(pb_nest* n, pb_type type, const int* v) { return multiply(n, type, (const int[]){v[0], v[0]}); }

// With e = exp(-|x|): 1 / (1 + e), or e times that below 0.
static int logistic(pb_nest* n, pb_type type, const int* v) {
  (void)type;
  int x = v[0], one = like(n, x, 1), zero = like(n, x, 0);
  int e = same(n, PB_OP_EXP, same(n, PB_OP_NEG, same(n, PB_OP_ABS, x, -1), -1), -1);
  int above = choose(n, compare(n, PB_OP_LESS, x, zero), e, one);
  return same(n, PB_OP_DIV, above, same(n, PB_OP_ADD, one, e));
}

// Of a narrow type the code that is one more or less; else the bits.
static int next_after(pb_nest* n, pb_type type, const int* v) {
  bool narrow = pb_type_is_narrow(type);
  int a = v[0], b = v[1], all = narrow ? pb_scalar_encoded(n, a, type) : bits(n, a);
  pb_type whole = n->expr[all].type, number = n->expr[a].type;
  int zero = like(n, a, 0), one = integer(n, whole, 1);
  int back = integer(n, whole, -1), on = integer(n, whole, 1);
  int up = choose(n, compare(n, PB_OP_LESS, a, b), on, back);
  int turned = same(n, PB_OP_SUB, integer(n, whole, 0), up);
  int outward = choose(n, compare(n, PB_OP_LESS, a, zero), turned, up), moved = same(n, PB_OP_ADD, all, outward);
  int next = narrow ? pb_scalar_decoded(n, moved, type) : node(n, PB_OP_BITCAST, number, moved, -1);
  int least = narrow ? pb_scalar_decoded(n, one, type) : node(n, PB_OP_BITCAST, number, one, -1);
  int smallest = with_sign(n, least, b);
  next = choose(n, compare(n, PB_OP_EQUAL, a, zero), smallest, next);
  next = choose(n, compare(n, PB_OP_EQUAL, a, b), b, next);
  next = choose(n, compare(n, PB_OP_EQUAL, a, a), next, a);
  return choose(n, compare(n, PB_OP_EQUAL, b, b), next, b);
}

#define NODE(name, op, operands)                                                                                       \
  static int name(pb_nest* n, pb_type type, const int* v) {                                                            \
    (void)type;                                                                                                        \
    return same(n, op, v[0], operands == 2 ? v[1] : -1);                                                               \
  }
NODE(popcount, PB_OP_POPCOUNT, 1)
NODE(leading_zeros, PB_OP_CLZ, 1)
NODE(floor_of, PB_OP_FLOOR, 1)
NODE(ceil_of, PB_OP_CEIL, 1)
NODE(round_even, PB_OP_ROUNDEVEN, 1)
NODE(sqrt_of, PB_OP_SQRT, 1)
NODE(rsqrt_of, PB_OP_RSQRT, 1)
NODE(cbrt_of, PB_OP_CBRT, 1)
NODE(exp_of, PB_OP_EXP, 1)
NODE(expm1_of, PB_OP_EXPM1, 1)
NODE(log_of, PB_OP_LOG, 1)
NODE(log1p_of, PB_OP_LOG1P, 1)
NODE(tanh_of, PB_OP_TANH, 1)
NODE(sin_of, PB_OP_SIN, 1)
NODE(cos_of, PB_OP_COS, 1)
NODE(tan_of, PB_OP_TAN, 1)
NODE(atan_of, PB_OP_ATAN, 1)
NODE(atan2_of, PB_OP_ATAN2, 2)
NODE(erf_of, PB_OP_ERF, 1)
#undef NODE

enum { F = PB_TAKES_FLOATS, I = PB_TAKES_INTEGERS, T = PB_TAKES_TRUTHS };
#define SAME PB_TYPE_COUNT
static const pb_scalar_row rows[] = {
#define SCALAR(name, operands, types, function, result) {#name, operands, types, function, result},
#include "core/s1/scalar/scalar.def"
#undef SCALAR
};

bool pb_scalar_takes(const pb_scalar_row* row, pb_type type) {
  if (pb_type_is_code(type)) return false;
  return row->types & (unsigned)(type == PB_I1 ? T : pb_type_is_float(type) ? F : I);
}

const pb_scalar_row* pb_scalar_find(const char* name) {
  for (size_t k = 0; k < sizeof rows / sizeof *rows; ++k)
    if (!strcmp(rows[k].name, name)) return &rows[k];
  return NULL;
}
