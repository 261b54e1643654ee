// e^x and what is made of it. The reduction is Cody and Waite's (Software Manual for the Elementary Functions, 1980);
// the polynomials are fit.py's.
#include "core/math/build.h"

// Added to a number below 2^22 it leaves the nearest integer (to even) in the low bits of the sum.
#define ROUNDER 12582912.0 // 1.5 * 2^23
enum { ROUNDER_BITS = 0x4b400000 };
// log(2) in two: products of the first, of 15 bits, by an exponent are exact.
#define LOG2_HIGH 0.693145751953125
#define LOG2_LOW 1.428606765330187e-06
#define LOG2_E 1.4426950408889634

static pb_exp_parts reduced(pb_nest* n, int x, const float* c, int count) {
  int rounder = pb__f32(n, ROUNDER), shifted = pb__add(n, pb__mul(n, x, pb__f32(n, LOG2_E)), rounder);
  int whole = pb__sub(n, shifted, rounder);
  int r = pb__sub(n, x, pb__mul(n, whole, pb__f32(n, LOG2_HIGH)));
  r = pb__sub(n, r, pb__mul(n, whole, pb__f32(n, LOG2_LOW)));
  int q = pb__add(n, r, pb__mul(n, pb__mul(n, r, r), pb__polynomial(n, r, c, count)));
  return (pb_exp_parts){pb__sub(n, pb__bits(n, shifted), pb__i32(n, ROUNDER_BITS)), q};
}

pb_exp_parts pb__exp_parts(pb_nest* n, int x) {
  static const float c[] = {4.999999404e-01f, 1.666652113e-01f, 4.166825488e-02f, 8.368662558e-03f, 1.382146846e-03f};
  return reduced(n, x, c, 5);
}

pb_exp_parts pb__expm1_parts(pb_nest* n, int x) {
  static const float c[] = {4.999999702e-01f, 1.666654646e-01f, 4.166744277e-02f, 8.366253227e-03f, 1.386994845e-03f};
  return reduced(n, x, c, 5);
}

// y * 2^i in two steps, for results that leave the range of normal numbers: only the second can round.
static int scaled(pb_nest* n, int y, int i) {
  int half = pb__op(n, PB_OP_SHR, i, pb__i32(n, 1));
  y = pb__mul(n, y, pb__power_of_two(n, half));
  return pb__mul(n, y, pb__power_of_two(n, pb__sub(n, i, half)));
}

// Beyond the limits the result is infinite, or less than half the least subnormal.
int pb__exp(pb_nest* n, int x) {
  pb_exp_parts e = pb__exp_parts(n, pb__at_least(n, pb__at_most(n, x, 89), -104));
  return scaled(n, pb__add(n, e.q, pb__f32(n, 1)), e.i);
}

int pb__exp2(pb_nest* n, int x) {
  static const float c[] = {6.931471825e-01f, 2.402264774e-01f, 5.550359935e-02f,
                            9.618505836e-03f, 1.339081209e-03f, 1.532649476e-04f};
  x = pb__at_least(n, pb__at_most(n, x, 129), -151);
  int rounder = pb__f32(n, ROUNDER), shifted = pb__add(n, x, rounder);
  int r = pb__sub(n, x, pb__sub(n, shifted, rounder));
  int y = pb__add(n, pb__mul(n, r, pb__polynomial(n, r, c, 6)), pb__f32(n, 1));
  return scaled(n, y, pb__sub(n, pb__bits(n, shifted), pb__i32(n, ROUNDER_BITS)));
}

// 2^i (1 + q) - 1 = 2 (2^(i - 1) q + (2^(i - 1) - 1/2)): one factor of 2 stays outside, since 2^128 is no number.
int pb__expm1(pb_nest* n, int x) {
  pb_exp_parts e = pb__expm1_parts(n, pb__at_least(n, pb__at_most(n, x, 89), -18));
  int s = pb__power_of_two(n, pb__sub(n, e.i, pb__i32(n, 1)));
  int y = pb__add(n, pb__mul(n, s, e.q), pb__sub(n, s, pb__f32(n, 0.5)));
  y = pb__mul(n, y, pb__f32(n, 2));
  return pb__with_sign_of(n, y, x); // -0
}

// With t = e^(2|x|) - 1: t / (t + 2), which is 1 from 9.02 on.
int pb__tanh(pb_nest* n, int x) {
  int twice = pb__add(n, pb__abs(n, x), pb__abs(n, x));
  pb_exp_parts e = pb__expm1_parts(n, pb__at_most(n, twice, 20));
  int s = pb__power_of_two(n, e.i);
  int t = pb__add(n, pb__mul(n, s, e.q), pb__sub(n, s, pb__f32(n, 1)));
  return pb__with_sign_of(n, pb__div(n, t, pb__add(n, t, pb__f32(n, 2))), x);
}
