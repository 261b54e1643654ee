// f64: powers of e, logarithms, arcs, cube roots. Series are Taylor's on arguments that are reduced far enough for
// their rest to be below half an ULP.
#include "core/math/wide.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

enum { MANTISSA_BITS = 52, EXPONENT_BIAS = 1023 };
#define ROUNDER 0x1.8p52 // added to a number below 2^51 it leaves the nearest integer in the low bits
#define LOG2_E 0x1.71547652b82fep+0
#define LOG2_HIGH 0x1.62e42fee00000p-1 // of 32 bits: products by an exponent are exact
#define LOG2_LOW 0x1.a39ef35793c76p-33
#define LEAST_NORMAL 0x1p-1022

int pb__f64(pb_nest* n, double value) {
  for (int k = 0; k < n->expr_count; ++k)
    if (n->expr[k].op == PB_OP_CONST && n->expr[k].type == PB_F64 && !memcmp(&n->expr[k].value, &value, sizeof value))
      return k;
  return pb_nest_const(n, PB_F64, value);
}

int pb__i64(pb_nest* n, int64_t value) {
  for (int k = 0; k < n->expr_count; ++k)
    if (n->expr[k].op == PB_OP_CONST && n->expr[k].type == PB_I64 && n->expr[k].integer == value) return k;
  return pb_nest_integer(n, PB_I64, value);
}

int pb__wide_polynomial(pb_nest* n, int x, const double* c, int count) {
  int sum = pb__f64(n, c[count - 1]);
  for (int k = count - 2; k >= 0; --k) {
    int next = pb__f64(n, c[k]);
    sum = pb__add(n, pb__mul(n, sum, x), next);
  }
  return sum;
}

int pb__wide_with_sign_of(pb_nest* n, int magnitude, int x) {
  int least = pb__i64(n, INT64_MIN), sign = pb__op(n, PB_OP_AND, pb__wide_bits(n, x), least);
  return pb__wide_number(n, pb__op(n, PB_OP_OR, pb__wide_bits(n, magnitude), sign));
}

pb_nearest pb__wide_nearest(pb_nest* n, int x) {
  int rounder = pb__f64(n, ROUNDER), sum = pb__add(n, x, rounder);
  int zero = pb__wide_bits(n, rounder), integer = pb__sub(n, pb__wide_bits(n, sum), zero);
  return (pb_nearest){integer, pb__sub(n, sum, rounder)};
}

static int at_most(pb_nest* n, int x, double limit) {
  int c = pb__f64(n, limit);
  return pb__select(n, pb__less(n, c, x), c, x);
}

static int at_least(pb_nest* n, int x, double limit) {
  int c = pb__f64(n, limit);
  return pb__select(n, pb__less(n, x, c), c, x);
}

// e^x = 2^k (1 + q).
typedef struct parts {
  int k, q;
} parts;

static parts exp_parts(pb_nest* n, int x) {
  double c[12];
  double factorial = 1;
  for (int k = 0; k < 12; ++k) c[k] = 1 / (factorial *= k + 2);
  pb_nearest whole = pb__wide_nearest(n, pb__mul(n, x, pb__f64(n, LOG2_E)));
  int high = pb__sub(n, x, pb__mul(n, whole.number, pb__f64(n, LOG2_HIGH)));
  int low = pb__mul(n, whole.number, pb__f64(n, LOG2_LOW)), r = pb__sub(n, high, low);
  int lost = pb__sub(n, pb__sub(n, high, r), low);
  int tail = pb__wide_polynomial(n, r, c, 12);
  tail = pb__mul(n, pb__mul(n, r, r), tail);
  return (parts){whole.integer, pb__add(n, r, pb__add(n, tail, lost))};
}

static int power_of_two(pb_nest* n, int k) {
  int biased = pb__add(n, k, pb__i64(n, EXPONENT_BIAS));
  return pb__wide_number(n, pb__op(n, PB_OP_SHL, biased, pb__i64(n, MANTISSA_BITS)));
}

// In two steps, so that results below the normal numbers are rounded once and those above the largest are infinite.
int pb__wide_exp(pb_nest* n, int x) {
  parts e = exp_parts(n, at_least(n, at_most(n, x, 711), -747));
  int half = pb__op(n, PB_OP_SHR, e.k, pb__i64(n, 1)), rest = pb__sub(n, e.k, half);
  int y = pb__add(n, e.q, pb__f64(n, 1));
  int last = power_of_two(n, rest);
  return pb__mul(n, pb__mul(n, y, power_of_two(n, half)), last);
}

// 2^k (1 + q) - 1, with one factor of 2 outside, since 2^1024 is no number.
int pb__wide_expm1(pb_nest* n, int x) {
  parts e = exp_parts(n, at_least(n, at_most(n, x, 710), -40));
  int s = power_of_two(n, pb__sub(n, e.k, pb__i64(n, 1)));
  int rest = pb__sub(n, s, pb__f64(n, 0.5)), y = pb__add(n, pb__mul(n, s, e.q), rest);
  return pb__wide_with_sign_of(n, pb__mul(n, y, pb__f64(n, 2)), x);
}

// With t = e^(2|x|) - 1: t / (t + 2).
int pb__wide_tanh(pb_nest* n, int x) {
  int magnitude = pb__abs(n, x), t = pb__wide_expm1(n, at_most(n, pb__add(n, magnitude, magnitude), 60));
  return pb__wide_with_sign_of(n, pb__div(n, t, pb__add(n, t, pb__f64(n, 2))), x);
}

// log(x), x normal or not, finite and above 0: x = 2^e (1 + f), and with s = f / (2 + f) it is 2 atanh(s).
static int log_of_positive(pb_nest* n, int x) {
  const int64_t root = 0x3fe6a09e667f3bcd; // of 1/2
  double c[11];
  for (int k = 0; k < 11; ++k) c[k] = 2.0 / (2 * k + 3);
  int tiny = pb__less(n, x, pb__f64(n, LEAST_NORMAL));
  int bits = pb__wide_bits(n, pb__select(n, tiny, pb__mul(n, x, pb__f64(n, 0x1p54)), x));
  int shift = pb__i64(n, MANTISSA_BITS);
  int k = pb__op(n, PB_OP_SHR, pb__sub(n, bits, pb__i64(n, root)), shift);
  int one = pb__f64(n, 1);
  int f = pb__sub(n, pb__wide_number(n, pb__sub(n, bits, pb__op(n, PB_OP_SHL, k, shift))), one);
  k = pb__select(n, tiny, pb__sub(n, k, pb__i64(n, 54)), k);
  int e = pb_nest_node(n, PB_OP_SITOFP, PB_F64, k, -1);
  int s = pb__div(n, f, pb__add(n, f, pb__f64(n, 2))), z = pb__mul(n, s, s);
  int rest = pb__mul(n, z, pb__wide_polynomial(n, z, c, 11));
  int half = pb__f64(n, 0.5);
  half = pb__mul(n, pb__mul(n, f, f), half);
  int low = pb__mul(n, e, pb__f64(n, LOG2_LOW));
  low = pb__add(n, pb__mul(n, s, pb__add(n, half, rest)), low);
  int less = pb__sub(n, pb__sub(n, half, low), f);
  return pb__sub(n, pb__mul(n, e, pb__f64(n, LOG2_HIGH)), less);
}

static int with_specials(pb_nest* n, int x, int y) {
  int zero = pb__f64(n, 0), of_zero = pb__f64(n, -INFINITY), nan = pb__f64(n, NAN);
  int below = pb__select(n, pb__less(n, x, zero), nan, of_zero);
  y = pb__select(n, pb__less(n, x, pb__f64(n, 0x1p-1074)), below, y);
  return pb__select(n, pb__less(n, x, pb__f64(n, INFINITY)), y, x);
}

int pb__wide_log(pb_nest* n, int x) { return with_specials(n, x, log_of_positive(n, x)); }

// As of f32: the logarithm of 1 + x rounded, and what was lost over that.
int pb__wide_log1p(pb_nest* n, int x) {
  int u = pb__add(n, x, pb__f64(n, 1)), lost = pb__sub(n, x, pb__sub(n, u, pb__f64(n, 1)));
  int correction = pb__div(n, lost, at_least(n, u, LEAST_NORMAL));
  int y = pb__add(n, log_of_positive(n, u), correction);
  int of_zero = pb__f64(n, -INFINITY), nan = pb__f64(n, NAN);
  int below = pb__select(n, pb__less(n, u, pb__f64(n, 0)), nan, of_zero);
  y = pb__wide_with_sign_of(n, y, x);
  y = pb__select(n, pb__less(n, u, pb__f64(n, 0x1p-1074)), below, y);
  return pb__select(n, pb__less(n, x, pb__f64(n, INFINITY)), y, x);
}

// atan(t) = atan(c) + atan((t - c) / (1 + t c)) for the nearest of five c, t not below 0.
static int atan_of_positive(pb_nest* n, int t) {
  static const struct {
    double least, c, high, low;
  } near[] = {{0.4375, 0.5, 0x1.dac670561bb4fp-2, 0x1.a2b7f222f65e2p-56},
              {0.6875, 1, 0x1.921fb54442d18p-1, 0x1.1a62633145c07p-55},
              {1.1875, 1.5, 0x1.f730bd281f69bp-1, 0x1.007887af0cbbdp-56},
              {2.4375, INFINITY, 0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54}};
  double c[24];
  for (int k = 0; k < 24; ++k) c[k] = (k % 2 ? -1.0 : 1.0) / (2 * k + 3);
  int above = t, below = pb__f64(n, 1), high = pb__f64(n, 0), low = pb__f64(n, 0), one = pb__f64(n, 1);
  for (int k = 0; k < 4; ++k) {
    int is = pb_nest_node(n, PB_OP_LESS_EQUAL, PB_I1, pb__f64(n, near[k].least), t);
    bool last = near[k].c == INFINITY;
    int by = last ? -1 : pb__f64(n, near[k].c);
    above = pb__select(n, is, last ? pb__f64(n, -1) : pb__sub(n, t, by), above);
    below = pb__select(n, is, last ? t : pb__add(n, one, pb__mul(n, t, by)), below);
    high = pb__select(n, is, pb__f64(n, near[k].high), high);
    low = pb__select(n, is, pb__f64(n, near[k].low), low);
  }
  int r = pb__div(n, above, below), z = pb__mul(n, r, r);
  int rest = pb__wide_polynomial(n, z, c, 24);
  rest = pb__mul(n, pb__mul(n, r, z), rest);
  return pb__sub(n, high, pb__sub(n, pb__sub(n, rest, low), r));
}

int pb__wide_atan(pb_nest* n, int x) { return pb__wide_with_sign_of(n, atan_of_positive(n, pb__abs(n, x)), x); }

int pb__wide_atan2(pb_nest* n, int y, int x) {
  int a = pb__abs(n, y), b = pb__abs(n, x), zero = pb__f64(n, 0), most = pb__f64(n, INFINITY);
  int ratio = pb__div(n, a, b);
  int flat = pb_nest_node(n, PB_OP_EQUAL, PB_I1, a, zero);
  ratio = pb__select(n, flat, pb__select(n, pb_nest_node(n, PB_OP_EQUAL, PB_I1, b, b), zero, b), ratio);
  int far = pb_nest_node(n, PB_OP_EQUAL, PB_I1, pb_nest_node(n, PB_OP_MIN, PB_F64, a, b), most);
  int again = pb__add(n, a, b), is_number = pb_nest_node(n, PB_OP_EQUAL, PB_I1, pb__add(n, a, b), again);
  int both = pb__add(n, a, b), diagonal = pb__select(n, is_number, pb__f64(n, 1), both);
  ratio = pb__select(n, far, diagonal, ratio);
  int angle = atan_of_positive(n, ratio);
  int less = pb__sub(n, angle, pb__f64(n, 0x1.1a62633145c07p-53));
  int other = pb__sub(n, pb__f64(n, 0x1.921fb54442d18p+1), less), no_bits = pb__i64(n, 0);
  int left = pb_nest_node(n, PB_OP_LESS, PB_I1, pb__wide_bits(n, x), no_bits);
  return pb__wide_with_sign_of(n, pb__select(n, left, other, angle), y);
}

// A third of the exponent to begin with, then Halley's iteration, whose error is cubed each time.
int pb__wide_cbrt(pb_nest* n, int x) {
  int magnitude = pb__abs(n, x), tiny = pb__less(n, magnitude, pb__f64(n, LEAST_NORMAL));
  int huge = pb__less(n, pb__f64(n, 0x1p1000), magnitude), one = pb__f64(n, 1);
  int up = pb__select(n, huge, pb__f64(n, 0x1p-54), one);
  up = pb__select(n, tiny, pb__f64(n, 0x1p54), up);
  int down = pb__select(n, huge, pb__f64(n, 0x1p18), one);
  down = pb__select(n, tiny, pb__f64(n, 0x1p-18), down);
  int a = pb__mul(n, magnitude, up), three = pb__i64(n, 3);
  int third = pb_nest_node(n, PB_OP_DIV, PB_I64, pb__wide_bits(n, a), three);
  int t = pb__wide_number(n, pb__add(n, third, pb__i64(n, 0x2a9f789300000000)));
  for (int k = 0; k < 4; ++k) {
    int cube = pb__mul(n, pb__mul(n, t, t), t);
    int step = pb__add(n, pb__add(n, cube, cube), a);
    step = pb__div(n, pb__sub(n, a, cube), step);
    t = pb__add(n, t, pb__mul(n, t, step));
  }
  t = pb__mul(n, t, down);
  int inside = pb__less(n, magnitude, pb__f64(n, INFINITY)), some = pb__less(n, pb__f64(n, 0), magnitude);
  int itself = pb__add(n, magnitude, pb__f64(n, 0));
  t = pb__select(n, some, pb__select(n, inside, t, magnitude), itself);
  return pb__wide_with_sign_of(n, t, x);
}
