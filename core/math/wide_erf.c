// erf of f64: x + x P(x^2) up to 1, 1 - t e^(-x^2) F(t) with t = 2 / (2 + |x|) from there on.
#include "core/math/wide.h"

#include "core/math/wide_series.h"

enum { NEAR_TERMS = sizeof erf_near / sizeof *erf_near, FAR_TERMS = sizeof erf_far / sizeof *erf_far };

int pb__wide_erf(pb_nest* n, int x) {
  int a = pb__abs(n, x), one = pb__f64(n, 1), two = pb__f64(n, 2), six = pb__f64(n, 6);
  int near = pb__mul(n, a, pb__wide_polynomial(n, pb__mul(n, a, a), erf_near, NEAR_TERMS));
  near = pb__add(n, a, near);
  int kept = pb__select(n, pb__less(n, six, a), six, a); // NaN stays
  int square = pb_nest_node(n, PB_OP_NEG, PB_F64, pb__mul(n, kept, kept), -1);
  int t = pb__div(n, two, pb__add(n, two, kept));
  int middle = pb__f64(n, 11.0 / 24), slope = pb__f64(n, 4.8); // t in [1/4, 2/3]
  int series = pb__wide_polynomial(n, pb__mul(n, pb__sub(n, t, middle), slope), erf_far, FAR_TERMS);
  int rest = pb__mul(n, t, series);
  rest = pb__mul(n, rest, pb__wide_exp(n, square));
  int far = pb__sub(n, one, rest);
  return pb__wide_with_sign_of(n, pb__select(n, pb__less(n, a, one), near, far), x);
}
