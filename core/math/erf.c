// erf(x): x + x P(x^2) near 0, 1 - e^-Q(|x|) further out, where Q fits -log(1 - erf); the scheme is Juffa's. The
// polynomials are fit.py's.
#include "core/math/build.h"

#define NEAR 0.9575
#define FAR 4.0 // from 3.92 on the result is 1

int pb__erf(pb_nest* n, int x) {
  static const float p[] = {1.283791661e-01f, -3.761262894e-01f, 1.128362566e-01f, -2.685574070e-02f,
                            5.192460958e-03f, -8.050818578e-04f, 8.002884715e-05f};
  static const float q[] = {2.535296662e-04f,  1.127439260e+00f, 6.375761032e-01f, 1.035892963e-01f,
                            -2.206340060e-02f, 3.002535086e-03f, -1.918213238e-04f};
  int t = pb__abs(n, x), one = pb__f32(n, 1);
  int near = pb__add(n, pb__mul(n, t, pb__polynomial(n, pb__mul(n, t, t), p, 7)), t);
  int power = pb__polynomial(n, pb__at_most(n, t, FAR), q, 7);
  pb_exp_parts e = pb__exp_parts(n, pb__sub(n, pb__f32(n, 0), power));
  int scale = pb__power_of_two(n, e.exponent, 0), rest = pb__mul(n, pb__add(n, e.q, one), scale);
  int far = pb__sub(n, one, rest), y = pb__select(n, pb__less(n, t, pb__f32(n, NEAR)), near, far);
  return pb__with_sign_of(n, y, x);
}
