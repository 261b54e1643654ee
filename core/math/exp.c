// e^x and what is made of it. The reduction is Cody and Waite's (Software Manual for the Elementary Functions, 1980);
// the polynomials are fit.py's.
#include "core/math/build.h"

#include <math.h>

// Added to a number below 2^22 it leaves the nearest integer (to even) in the low bits of the sum; its own bits are all
// further up, so that a shift to the exponent's place leaves the integer alone.
#define ROUNDER 12582912.0 // 1.5 * 2^23
enum { MANTISSA_BITS = 23 };
// log(2) in two: products of the first, of 15 bits, by an exponent are exact.
#define LOG2_HIGH 0.693145751953125
#define LOG2_LOW 1.428606765330187e-06
#define LOG2_E 1.4426950408889634

static int exponent_of(pb_nest* n, int shifted) {
  int by = pb__i32(n, MANTISSA_BITS);
  return pb__op(n, PB_OP_SHL, pb__bits(n, shifted), by);
}

static pb_exp_parts reduced(pb_nest* n, int x, const float* c, int count) {
  int rounder = pb__f32(n, ROUNDER), shifted = pb__add(n, pb__mul(n, x, pb__f32(n, LOG2_E)), rounder);
  int whole = pb__sub(n, shifted, rounder);
  int r = pb__sub(n, x, pb__mul(n, whole, pb__f32(n, LOG2_HIGH)));
  r = pb__sub(n, r, pb__mul(n, whole, pb__f32(n, LOG2_LOW)));
  int sum = pb__polynomial(n, r, c, count);
  int q = pb__add(n, r, pb__mul(n, pb__mul(n, r, r), sum));
  return (pb_exp_parts){exponent_of(n, shifted), q};
}

pb_exp_parts pb__exp_parts(pb_nest* n, int x) {
  static const float c[] = {4.999999404e-01f, 1.666652113e-01f, 4.166825488e-02f, 8.368662558e-03f, 1.382146846e-03f};
  return reduced(n, x, c, 5);
}

pb_exp_parts pb__expm1_parts(pb_nest* n, int x) {
  static const float c[] = {4.999999702e-01f, 1.666654646e-01f, 4.166744277e-02f, 8.366253227e-03f, 1.386994845e-03f};
  return reduced(n, x, c, 5);
}

// y * 2^i, the function of x. Results below the normal numbers are made 2^64 too large first, so that the one product
// rounds. From `overflow` on, where the exponent has no room, it is infinite; NaN stays NaN.
static int result_of(pb_nest* n, int x, int y, int exponent, double overflow) {
  int small = pb__less(n, x, pb__f32(n, 0)), more = pb__i32(n, (int64_t)64 << MANTISSA_BITS);
  y = pb__scaled(n, y, pb__select(n, small, pb__add(n, exponent, more), exponent));
  y = pb__select(n, small, pb__mul(n, y, pb__f32(n, 0x1p-64)), y);
  int far = pb__add(n, x, pb__f32(n, INFINITY));
  return pb__select(n, pb__less(n, x, pb__f32(n, overflow)), y, far);
}

// Below the limit the result is less than half the least subnormal.
int pb__exp(pb_nest* n, int x) {
  x = pb__at_least(n, x, -104);
  pb_exp_parts e = pb__exp_parts(n, x);
  return result_of(n, x, pb__add(n, e.q, pb__f32(n, 1)), e.exponent, 88.72283935546875);
}

int pb__exp2(pb_nest* n, int x) {
  static const float c[] = {6.931471825e-01f, 2.402264774e-01f, 5.550359935e-02f,
                            9.618505836e-03f, 1.339081209e-03f, 1.532649476e-04f};
  x = pb__at_least(n, x, -151);
  int rounder = pb__f32(n, ROUNDER), shifted = pb__add(n, x, rounder);
  int r = pb__sub(n, x, pb__sub(n, shifted, rounder));
  int one = pb__f32(n, 1), y = pb__add(n, pb__mul(n, r, pb__polynomial(n, r, c, 6)), one);
  return result_of(n, x, y, exponent_of(n, shifted), 128);
}

// 2^i (1 + q) - 1 = 2 (2^(i - 1) q + (2^(i - 1) - 1/2)): one factor of 2 stays outside, since 2^128 is no number.
int pb__expm1(pb_nest* n, int x) {
  pb_exp_parts e = pb__expm1_parts(n, pb__at_least(n, pb__at_most(n, x, 89), -18));
  int s = pb__power_of_two(n, e.exponent, -1);
  int rest = pb__sub(n, s, pb__f32(n, 0.5)), y = pb__add(n, pb__mul(n, s, e.q), rest);
  y = pb__mul(n, y, pb__f32(n, 2));
  return pb__with_sign_of(n, y, x); // -0
}

// With t = e^(2|x|) - 1: t / (t + 2), which is 1 from 9.02 on.
int pb__tanh(pb_nest* n, int x) {
  int again = pb__abs(n, x), twice = pb__add(n, pb__abs(n, x), again);
  pb_exp_parts e = pb__expm1_parts(n, pb__at_most(n, twice, 20));
  int s = pb__power_of_two(n, e.exponent, 0);
  int rest = pb__sub(n, s, pb__f32(n, 1)), t = pb__add(n, pb__mul(n, s, e.q), rest);
  return pb__with_sign_of(n, pb__div(n, t, pb__add(n, t, pb__f32(n, 2))), x);
}
