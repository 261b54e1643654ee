// Arcs and hyperbolic functions. All but sinh and cosh is computed in f64 and rounded at the end.
#include "core/s1/scalar/special.h"

#include "core/s1/scalar/wide_nodes.h"

#include <math.h>

SPECIAL(asin) {
  (void)type;
  int x = wide(n, v[0]), one = number(n, 1);
  int above = add(n, one, x), root = call(n, PB_OP_SQRT, mul(n, sub(n, one, x), above));
  int angle = same(n, PB_OP_ATAN2, x, add(n, one, root));
  return as(n, add(n, angle, angle), v[0]);
}

SPECIAL(acos) {
  (void)type;
  int x = wide(n, v[0]), one = number(n, 1);
  int along = call(n, PB_OP_SQRT, add(n, one, x));
  int angle = same(n, PB_OP_ATAN2, call(n, PB_OP_SQRT, sub(n, one, x)), along);
  return as(n, add(n, angle, angle), v[0]);
}

// e^x / 2, which is a number longer than e^x. Of f32 as CHLO defines it, which rounds e's power.
static int half_power(pb_nest* n, int x) {
  if (n->expr[x].type == PB_F32) return call(n, PB_OP_EXP, add(n, x, like(n, x, -0.6931471805599453)));
  int half = number(n, 0.5), large = less(n, number(n, 709), x), short_of = mul(n, x, half);
  int e = call(n, PB_OP_EXP, choose(n, large, short_of, x)), y = mul(n, e, half);
  return choose(n, large, mul(n, y, e), y);
}

// Near 0 with t = e^x - 1: (t + t / (t + 1)) / 2.
SPECIAL(sinh) {
  (void)type;
  int x = v[0], a = call(n, PB_OP_ABS, x), t = call(n, PB_OP_EXPM1, x), one = like(n, x, 1);
  int half = like(n, x, 0.5), near = mul(n, add(n, t, over(n, t, add(n, t, one))), half);
  int falls = half_power(n, call(n, PB_OP_NEG, x)), far = sub(n, half_power(n, x), falls);
  int y = choose(n, less(n, a, one), near, far);
  return choose(n, compare(n, PB_OP_EQUAL, x, like(n, x, 0)), x, y);
}

SPECIAL(cosh) {
  (void)type;
  int falls = half_power(n, call(n, PB_OP_NEG, v[0]));
  return add(n, half_power(n, v[0]), falls);
}

SPECIAL(asinh) {
  (void)type;
  int x = wide(n, v[0]), a = call(n, PB_OP_ABS, x), one = number(n, 1), large = less(n, number(n, 0x1p500), a);
  int square = mul(n, a, a), root = call(n, PB_OP_SQRT, add(n, one, square));
  int argument = add(n, a, over(n, square, add(n, one, root)));
  int y = call(n, PB_OP_LOG1P, choose(n, large, a, argument)); // 1 more is nothing there
  int none = number(n, 0);
  y = add(n, y, choose(n, large, number(n, 0x1.62e42fefa39efp-1), none));
  return as(n, with_sign(n, y, x), v[0]);
}

SPECIAL(acosh) {
  (void)type;
  int x = wide(n, v[0]), t = sub(n, x, number(n, 1)), large = less(n, number(n, 0x1p500), x);
  int root = call(n, PB_OP_SQRT, mul(n, t, add(n, t, number(n, 2))));
  int y = call(n, PB_OP_LOG1P, choose(n, large, x, add(n, t, root)));
  int none = number(n, 0);
  y = add(n, y, choose(n, large, number(n, 0x1.62e42fefa39efp-1), none));
  int nan = number(n, NAN), below = choose(n, less(n, t, number(n, 0)), nan, y);
  return as(n, below, v[0]);
}

SPECIAL(atanh) {
  (void)type;
  int x = wide(n, v[0]), a = call(n, PB_OP_ABS, x);
  int under = sub(n, number(n, 1), a), y = call(n, PB_OP_LOG1P, over(n, add(n, a, a), under));
  return as(n, with_sign(n, mul(n, y, number(n, 0.5)), x), v[0]);
}
