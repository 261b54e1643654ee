// The remainder of f64, which must be exact however far apart the numbers are: x = a 2^e and y = b 2^f of whole a and b
// below 2^53, so that it is (a 2^(e - f) mod b) 2^f, and the power is made by squares modulo b.
#include "core/s1/scalar/nodes.h"
#include "core/s1/scalar/special.h"

#include <math.h>

enum { EXPONENT_BITS = 11, FRACTION_BITS = 52 };

typedef struct parts {
  int mantissa, exponent; // i64; the exponent as it is stored, 1 of subnormal numbers too
} parts;

static parts parts_of(pb_nest* n, int magnitude) {
  int all = bits(n, magnitude), width = integer(n, PB_I64, FRACTION_BITS);
  int exponent = same(n, PB_OP_SHRU, all, width);
  int fraction = same(n, PB_OP_AND, all, integer(n, PB_I64, ((int64_t)1 << FRACTION_BITS) - 1));
  int whole = same(n, PB_OP_OR, fraction, integer(n, PB_I64, (int64_t)1 << FRACTION_BITS));
  int subnormal = compare(n, PB_OP_EQUAL, exponent, integer(n, PB_I64, 0));
  int mantissa = choose(n, subnormal, fraction, whole), one = integer(n, PB_I64, 1);
  return (parts){mantissa, choose(n, subnormal, one, exponent)};
}

// a b mod m of numbers below m, which is below 2^53: the quotient by f64 is off by a few, and what that leaves is small
// though both products are taken modulo 2^64.
static int product_mod(pb_nest* n, int a, int b, int m, int wide_m) {
  int wide_a = node(n, PB_OP_SITOFP, PB_F64, a, -1), wide_b = node(n, PB_OP_SITOFP, PB_F64, b, -1);
  int quotient = same(n, PB_OP_DIV, same(n, PB_OP_MUL, wide_a, wide_b), wide_m);
  int times = node(n, PB_OP_FPTOSI, PB_I64, quotient, -1), product = same(n, PB_OP_MUL, a, b);
  int rest = same(n, PB_OP_REM, same(n, PB_OP_SUB, product, same(n, PB_OP_MUL, times, m)), m);
  int below = compare(n, PB_OP_LESS, rest, integer(n, PB_I64, 0));
  return choose(n, below, same(n, PB_OP_ADD, rest, m), rest);
}

// 2^exponent mod m, the exponent of EXPONENT_BITS bits.
static int power_mod(pb_nest* n, int exponent, int m, int wide_m) {
  int power = same(n, PB_OP_REM, integer(n, PB_I64, 1), m);
  for (int k = EXPONENT_BITS - 1; k >= 0; --k) {
    if (k < EXPONENT_BITS - 1) power = product_mod(n, power, power, m, wide_m);
    int twice = same(n, PB_OP_ADD, power, power), over = compare(n, PB_OP_LESS, twice, m);
    twice = choose(n, over, twice, same(n, PB_OP_SUB, twice, m));
    int bit = same(n, PB_OP_AND, exponent, integer(n, PB_I64, (int64_t)1 << k));
    int even = compare(n, PB_OP_EQUAL, bit, integer(n, PB_I64, 0));
    power = choose(n, even, power, twice);
  }
  return power;
}

int pb__special_remainder(pb_nest* n, pb_type type, const int* v) {
  (void)type;
  int x = same(n, PB_OP_ABS, v[0], -1), y = same(n, PB_OP_ABS, v[1], -1);
  parts a = parts_of(n, x), b = parts_of(n, y);
  int zero = integer(n, PB_I64, 0), no_divisor = compare(n, PB_OP_EQUAL, b.mantissa, zero);
  int m = choose(n, no_divisor, integer(n, PB_I64, 1), b.mantissa);
  int wide_m = node(n, PB_OP_SITOFP, PB_F64, m, -1);
  int power = power_mod(n, same(n, PB_OP_SUB, a.exponent, b.exponent), m, wide_m);
  int rest = product_mod(n, same(n, PB_OP_REM, a.mantissa, m), power, m, wide_m);
  int width = integer(n, PB_I64, FRACTION_BITS), unit = same(n, PB_OP_SHL, b.exponent, width);
  int scale = node(n, PB_OP_BITCAST, PB_F64, unit, -1), last_place = pb_nest_const(n, PB_F64, 0x1p-52);
  int r = same(n, PB_OP_MUL, same(n, PB_OP_MUL, node(n, PB_OP_SITOFP, PB_F64, rest, -1), last_place), scale);
  int smaller = compare(n, PB_OP_LESS, x, y); // y infinite too
  r = choose(n, smaller, x, r);
  int most = pb_nest_const(n, PB_F64, INFINITY), finite = compare(n, PB_OP_LESS, x, most);
  int nan = pb_nest_const(n, PB_F64, NAN), none = pb_nest_const(n, PB_F64, 0);
  r = choose(n, finite, r, nan);
  int divides = compare(n, PB_OP_LESS, none, y); // neither 0 nor NaN
  r = choose(n, divides, r, nan);
  int least = integer(n, PB_I64, INT64_MIN), sign = same(n, PB_OP_AND, bits(n, v[0]), least);
  return node(n, PB_OP_BITCAST, PB_F64, same(n, PB_OP_OR, bits(n, r), sign), -1);
}
