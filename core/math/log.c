// Logarithms: x = 2^e (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)), and log(1 + f) = f - f^2 / 2 + f^3 P(f), as in Cephes
// (Moshier, 1989); P is fit.py's.
#include "core/math/build.h"

#include <math.h>

enum { SQRT_HALF_BITS = 0x3f3504f3, MANTISSA_BITS = 23 };
#define LEAST_NORMAL 0x1p-126
#define LEAST 0x1p-149
#define LOG2_HIGH 0.693145751953125
#define LOG2_LOW 1.428606765330187e-06

typedef struct parts {
  int e, f, z; // f32: the exponent, and log(1 + f) = f + z
} parts;

static parts reduced(pb_nest* n, int x) {
  static const float c[] = {3.333333135e-01f, -2.500081956e-01f, 2.000124156e-01f, -1.662340909e-01f,
                            1.420158148e-01f, -1.315961331e-01f, 1.276220083e-01f, -7.636403292e-02f};
  int subnormal = pb__less(n, x, pb__f32(n, LEAST_NORMAL));
  int bits = pb__bits(n, pb__select(n, subnormal, pb__mul(n, x, pb__f32(n, 0x1p23)), x));
  int shift = pb__i32(n, MANTISSA_BITS);
  int e = pb__op(n, PB_OP_SHR, pb__sub(n, bits, pb__i32(n, SQRT_HALF_BITS)), shift);
  int m = pb__from_bits(n, pb__sub(n, bits, pb__op(n, PB_OP_SHL, e, shift)));
  int f = pb__sub(n, m, pb__f32(n, 1)), square = pb__mul(n, f, f);
  int sum = pb__polynomial(n, f, c, 8), cubic = pb__mul(n, pb__mul(n, square, f), sum);
  int z = pb__sub(n, cubic, pb__mul(n, square, pb__f32(n, 0.5)));
  int none = pb__f32(n, 0), more = pb__select(n, subnormal, pb__f32(n, -23), none);
  int exponent = pb__add(n, pb__to_float(n, e), more);
  return (parts){exponent, f, z};
}

// y, except at 0, at infinity, for what is negative and for NaN.
static int with_specials(pb_nest* n, int x, int y) {
  int of_zero = pb__f32(n, -INFINITY), nan = pb__f32(n, NAN);
  int below = pb__select(n, pb__less(n, x, pb__f32(n, 0)), nan, of_zero);
  y = pb__select(n, pb__less(n, x, pb__f32(n, LEAST)), below, y);
  return pb__select(n, pb__less(n, x, pb__f32(n, INFINITY)), y, x);
}

static int of_parts(pb_nest* n, parts p) {
  int low = pb__add(n, p.z, pb__mul(n, p.e, pb__f32(n, LOG2_LOW)));
  int rest = pb__add(n, p.f, low);
  return pb__add(n, pb__mul(n, p.e, pb__f32(n, LOG2_HIGH)), rest);
}

int pb__log(pb_nest* n, int x) { return with_specials(n, x, of_parts(n, reduced(n, x))); }

// The factor log2(e) in two, so that what is largest is added last.
int pb__log2(pb_nest* n, int x) {
  parts p = reduced(n, x);
  int high = pb__f32(n, 1.4375), low = pb__f32(n, 5.1950408889634073e-3);
  int sum = pb__mul(n, p.f, low);
  sum = pb__add(n, pb__mul(n, p.z, low), sum);
  sum = pb__add(n, sum, pb__mul(n, p.z, high));
  sum = pb__add(n, sum, pb__mul(n, p.f, high));
  return with_specials(n, x, pb__add(n, p.e, sum));
}

// With u = 1 + x rounded: log(u) + (x - (u - 1)) / u (Goldberg, 1991). At -1 the correction is 0 / 0 without the bound.
int pb__log1p(pb_nest* n, int x) {
  int u = pb__add(n, x, pb__f32(n, 1)), lost = pb__sub(n, x, pb__sub(n, u, pb__f32(n, 1)));
  int correction = pb__div(n, lost, pb__at_least(n, u, LEAST_NORMAL));
  int y = pb__add(n, of_parts(n, reduced(n, u)), correction);
  int of_zero = pb__f32(n, -INFINITY), nan = pb__f32(n, NAN);
  int below = pb__select(n, pb__less(n, u, pb__f32(n, 0)), nan, of_zero);
  y = pb__with_sign_of(n, y, x);
  y = pb__select(n, pb__less(n, u, pb__f32(n, LEAST)), below, y);
  return pb__select(n, pb__less(n, x, pb__f32(n, INFINITY)), y, x);
}
