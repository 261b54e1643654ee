// Numbers of some 106 bits as sums of two f64, and powers of f64, whose exponents need as many.
#include "core/math/wide.h"

#include <math.h>
#include <stdint.h>

// v's upper 26 bits, and the others.
static pb_wide_pair split(pb_nest* n, int v) {
  int c = pb__mul(n, v, pb__f64(n, 0x1p27 + 1)), high = pb__sub(n, c, pb__sub(n, c, v));
  return (pb_wide_pair){high, pb__sub(n, v, high)};
}

pb_wide_pair pb__wide_product(pb_nest* n, int a, int b) {
  pb_wide_pair u = split(n, a), v = split(n, b);
  int p = pb__mul(n, a, b), e = pb__sub(n, pb__mul(n, u.high, v.high), p);
  e = pb__add(n, e, pb__mul(n, u.high, v.low));
  e = pb__add(n, e, pb__mul(n, u.low, v.high));
  return (pb_wide_pair){p, pb__add(n, e, pb__mul(n, u.low, v.low))};
}

// a + b of |a| >= |b|, or a of 0.
static pb_wide_pair sum(pb_nest* n, int a, int b) {
  int s = pb__add(n, a, b), e = pb__sub(n, b, pb__sub(n, s, a));
  return (pb_wide_pair){s, e};
}

static pb_wide_pair times(pb_nest* n, pb_wide_pair a, pb_wide_pair b) {
  pb_wide_pair p = pb__wide_product(n, a.high, b.high);
  int cross = pb__mul(n, a.high, b.low);
  cross = pb__add(n, cross, pb__mul(n, a.low, b.high));
  return sum(n, p.high, pb__add(n, p.low, cross));
}

// log(x) of a finite x above 0 to some 68 bits: x = 2^k (1 + f), s = f / (2 + f), and
// 2 s + 2/3 s^3 + 2/5 s^5 + ..., of which the first two terms are pairs.
static pb_wide_pair log_of(pb_nest* n, int x) {
  const int64_t root = 0x3fe6a09e667f3bcd; // of 1/2
  double c[10];
  for (int k = 0; k < 10; ++k) c[k] = 2.0 / (2 * k + 5);
  int tiny = pb__less(n, x, pb__f64(n, 0x1p-1022)), shift = pb__i64(n, 52), one = pb__f64(n, 1);
  int bits = pb__wide_bits(n, pb__select(n, tiny, pb__mul(n, x, pb__f64(n, 0x1p54)), x));
  int k = pb__op(n, PB_OP_SHR, pb__sub(n, bits, pb__i64(n, root)), shift);
  int f = pb__sub(n, pb__wide_number(n, pb__sub(n, bits, pb__op(n, PB_OP_SHL, k, shift))), one);
  k = pb__select(n, tiny, pb__sub(n, k, pb__i64(n, 54)), k);
  int exponent = pb_nest_node(n, PB_OP_SITOFP, PB_F64, k, -1);
  pb_wide_pair under = sum(n, pb__f64(n, 2), f), s = {pb__div(n, f, under.high), -1};
  pb_wide_pair back = pb__wide_product(n, s.high, under.high);
  int rest = pb__sub(n, pb__sub(n, f, back.high), back.low);
  rest = pb__sub(n, rest, pb__mul(n, s.high, under.low));
  s.low = pb__div(n, rest, under.high);
  pb_wide_pair z = times(n, s, s), cube = times(n, z, s);
  pb_wide_pair third;
  third.high = pb__f64(n, 0x1.5555555555555p-1);
  third.low = pb__f64(n, 0x1.5555555555555p-55);
  cube = times(n, cube, third);
  int fifth = pb__mul(n, pb__mul(n, z.high, z.high), s.high);
  fifth = pb__mul(n, fifth, pb__wide_polynomial(n, z.high, c, 10));
  int twice = pb__add(n, s.high, s.high), low = pb__add(n, s.low, s.low);
  pb_wide_pair all = sum(n, pb__mul(n, exponent, pb__f64(n, 0x1.62e42fefa3800p-1)), twice); // 11 bits of 0 at its end
  pb_wide_pair more = sum(n, all.high, cube.high);
  low = pb__add(n, low, pb__mul(n, exponent, pb__f64(n, 0x1.ef35793c76730p-45)));
  low = pb__add(n, low, pb__add(n, fifth, cube.low));
  low = pb__add(n, low, pb__add(n, all.low, more.low));
  return sum(n, more.high, low);
}

static int is_whole(pb_nest* n, int y) {
  return pb_nest_node(n, PB_OP_EQUAL, PB_I1, pb_nest_node(n, PB_OP_WHOLE, PB_F64, y, -1), y);
}

// |x|^y of numbers: e^(y log|x|), y kept where that is 0 or infinite long since.
static int power_of(pb_nest* n, int magnitude, int y) {
  int most = pb__f64(n, 0x1p64), least = pb__f64(n, -0x1p64);
  int by = pb_nest_node(n, PB_OP_MIN, PB_F64, y, most);
  by = pb_nest_node(n, PB_OP_MAX, PB_F64, by, least);
  pb_wide_pair log = log_of(n, magnitude), p = pb__wide_product(n, log.high, by);
  p = sum(n, p.high, pb__add(n, p.low, pb__mul(n, log.low, by)));
  int power = pb__wide_exp(n, p.high), far = pb__f64(n, 1000), inside = pb__less(n, pb__abs(n, p.high), far);
  int low = pb__select(n, inside, p.low, pb__f64(n, 0));
  int more = pb__add(n, power, pb__mul(n, power, low));
  return pb__select(n, pb__less(n, power, pb__f64(n, INFINITY)), more, power);
}

// What has no logarithm, and signs, as IEEE 754 has it.
int pb__wide_pow(pb_nest* n, int x, int y) {
  int magnitude = pb__abs(n, x), one = pb__f64(n, 1), zero = pb__f64(n, 0), most = pb__f64(n, INFINITY);
  int some = pb__less(n, zero, magnitude), finite = pb__less(n, magnitude, most), up = pb__less(n, zero, y);
  int inside = pb_nest_node(n, PB_OP_AND, PB_I1, some, finite);
  int power = power_of(n, pb__select(n, inside, magnitude, one), y);
  int grows = pb__select(n, up, most, zero), falls = pb__select(n, up, zero, most);
  power = pb__select(n, finite, pb__select(n, some, power, falls), grows);
  int is_one = pb_nest_node(n, PB_OP_EQUAL, PB_I1, magnitude, one);
  power = pb__select(n, is_one, one, power);
  int negative = pb__wide_with_sign_of(n, power, x), integral = is_whole(n, y);
  int even = is_whole(n, pb__mul(n, y, pb__f64(n, 0.5)));
  int with_sign = pb__select(n, even, power, pb__select(n, integral, negative, power));
  int below = pb__less(n, x, zero), undefined = pb__select(n, finite, pb__f64(n, NAN), power);
  int result = pb__select(n, below, pb__select(n, integral, with_sign, undefined), with_sign);
  int has_x = pb_nest_node(n, PB_OP_EQUAL, PB_I1, x, x), has_y = pb_nest_node(n, PB_OP_EQUAL, PB_I1, y, y);
  result = pb__select(n, has_x, pb__select(n, has_y, result, y), x);
  int always = pb__select(n, pb_nest_node(n, PB_OP_EQUAL, PB_I1, x, one), one, result);
  return pb__select(n, pb_nest_node(n, PB_OP_EQUAL, PB_I1, y, zero), one, always);
}
