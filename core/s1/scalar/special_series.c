// Functions with series of their own, in f64 whatever the type but for one: those of fit_wide.py (special_series.h),
// whose rests are below a quarter of f64's last place.
#include "core/s1/scalar/special.h"

#include "core/s1/scalar/special_series.h"
#include "core/s1/scalar/wide_nodes.h"

#include <math.h>

// c[0] + c[1] x + ...
static int powers(pb_nest* n, int x, const double* c, int count) {
  int sum = number(n, c[count - 1]);
  for (int k = count - 2; k >= 0; --k) {
    int next = number(n, c[k]);
    sum = add(n, mul(n, sum, x), next);
  }
  return sum;
}

#define SERIES(n, t, c) powers(n, t, c, sizeof(c) / sizeof *(c))

// x in [least, most] as t in [-1, 1]; what is outside goes to the ends.
static int scaled(pb_nest* n, int x, double least, double most) {
  int end = number(n, most);
  x = same(n, PB_OP_MINIMUM, same(n, PB_OP_MAXIMUM, x, number(n, least)), end);
  int one = number(n, 1), slope = number(n, 2 / (most - least));
  return sub(n, mul(n, sub(n, x, number(n, least)), slope), one);
}

// The upper part of a number, of so many bits fewer; what is left is exact.
static int upper_part(pb_nest* n, int x, int fewer) {
  int mask = integer(n, PB_I64, -((int64_t)1 << fewer));
  return node(n, PB_OP_BITCAST, PB_F64, same(n, PB_OP_AND, bits(n, x), mask), -1);
}

// a * b - c, where c is nearly the product: the parts' products are exact.
static int product_rest(pb_nest* n, int a, int b, int c) {
  int ah = upper_part(n, a, 27), bh = upper_part(n, b, 27), al = sub(n, a, ah), bl = sub(n, b, bh);
  int rest = sub(n, mul(n, ah, bh), c);
  rest = add(n, rest, mul(n, ah, bl));
  rest = add(n, rest, mul(n, al, bh));
  return add(n, rest, mul(n, al, bl));
}

// a + b - sum, exactly.
static int sum_rest_of(pb_nest* n, int a, int b, int sum) {
  int back = sub(n, sum, a), rest = sub(n, a, sub(n, sum, back)), other = sub(n, b, back);
  return add(n, rest, other);
}

// With t = 2 / (2 + |x|): t e^(-x^2) f(t), which has no trouble far out. x^2 = h^2 + (x - h) (x + h), where h is x's
// upper 21 bits and its square exact, and the second power of e next to 1. What t and its product with f were rounded
// by is added to what is left of them. Near 0 it is 1 - erf(x).
SPECIAL(erfc) {
  (void)type;
  int x = wide(n, v[0]), a = call(n, PB_OP_ABS, x), two = number(n, 2), one = number(n, 1);
  int near = same(n, PB_OP_MINIMUM, a, number(n, 28)); // a square that has a power of e; the result is 0 before
  int sum = add(n, two, near), sum_rest = sum_rest_of(n, two, near, sum);
  int t = over(n, two, sum), t_rest = product_rest(n, t, sum, two);
  t_rest = add(n, t_rest, mul(n, t, sum_rest));
  t_rest = call(n, PB_OP_NEG, over(n, t_rest, sum));
  t_rest = add(n, t_rest, mul(n, t_rest, t)); // nearly what f changes by as well
  enum { TERMS = sizeof erfc_scaled / sizeof *erfc_scaled };
  int at = scaled(n, t, 1.0 / 15, 1), inner = powers(n, at, erfc_scaled + 1, TERMS - 1),
      first = number(n, erfc_scaled[0]);
  int step = mul(n, at, inner), f = add(n, step, first), f_rest = add(n, sub(n, first, f), step);
  f_rest = add(n, f_rest, product_rest(n, at, inner, step));
  int product = mul(n, f, t), rest = product_rest(n, f, t, product);
  rest = add(n, rest, mul(n, f, t_rest));
  rest = add(n, rest, mul(n, f_rest, t));
  int high = upper_part(n, near, 32), apart = sub(n, near, high), less_by = mul(n, apart, add(n, near, high));
  static const double minus_expm1[] = {1, -1.0 / 2, 1.0 / 6, -1.0 / 24, 1.0 / 120};
  int smaller = mul(n, less_by, SERIES(n, less_by, minus_expm1));
  rest = sub(n, rest, mul(n, product, smaller));
  product = add(n, product, rest);
  int y = mul(n, product, call(n, PB_OP_EXP, call(n, PB_OP_NEG, mul(n, high, high))));
  int left = less(n, x, number(n, 0));
  y = choose(n, left, sub(n, two, y), y);
  int small = less(n, a, number(n, 0.5));
  int erf = add(n, x, mul(n, x, SERIES(n, mul(n, x, x), erf_near)));
  return as(n, choose(n, small, sub(n, one, erf), y), v[0]);
}

static int of_f32(pb_nest* n, double value) { return pb_nest_const(n, PB_F32, value); }

static int powers_of_f32(pb_nest* n, int x, double least, double most, const double* c, int count) {
  int slope = of_f32(n, 2 / (most - least)), middle = of_f32(n, (most + least) / (most - least));
  int t = sub(n, mul(n, x, slope), middle), sum = of_f32(n, c[count - 1]);
  for (int k = count - 2; k >= 0; --k) {
    int next = of_f32(n, c[k]);
    sum = add(n, mul(n, sum, t), next);
  }
  return sum;
}

// The same of f32 in f32, as random numbers take it by the million: twice as many lanes, and a quarter of the terms.
// Off by some last places.
static int erf_inv_of_f32(pb_nest* n, int x) {
#define SERIES_OF_F32(x, least, most, c) powers_of_f32(n, x, least, most, c, sizeof(c) / sizeof *(c))
  int one = of_f32(n, 1), five = of_f32(n, 5), a = call(n, PB_OP_ABS, x), above = add(n, one, a);
  int w = call(n, PB_OP_NEG, call(n, PB_OP_LOG, mul(n, sub(n, one, a), above)));
  int near = SERIES_OF_F32(w, 0, 5, erf_inv_near_f32);
  int far = SERIES_OF_F32(call(n, PB_OP_SQRT, w), 0x1.1e3779b97f4a8p+1, 4.08, erf_inv_far_f32);
  int y = mul(n, x, choose(n, less(n, w, five), near, far));
  int end = mul(n, x, of_f32(n, INFINITY)); // of 1 and -1
  y = choose(n, less(n, a, one), y, end);
  int inside = less_equal(n, a, one), nan = of_f32(n, NAN);
  y = choose(n, inside, y, nan);
  return choose(n, compare(n, PB_OP_EQUAL, x, x), y, x);
}

// x f(w) with w = -log(1 - x^2), by its root further out.
SPECIAL(erf_inv) {
  (void)type;
  if (n->expr[v[0]].type == PB_F32) return erf_inv_of_f32(n, v[0]);
  int x = wide(n, v[0]), one = number(n, 1), a = call(n, PB_OP_ABS, x);
  int above = add(n, one, a), w = call(n, PB_OP_NEG, call(n, PB_OP_LOG, mul(n, sub(n, one, a), above)));
  int near = SERIES(n, scaled(n, w, 0, 5), erf_inv_near);
  int far = SERIES(n, scaled(n, call(n, PB_OP_SQRT, w), 0x1.1e3779b97f4a8p+1, 6.01), erf_inv_far);
  int y = mul(n, x, choose(n, less(n, w, number(n, 5)), near, far));
  int end = with_sign(n, number(n, INFINITY), x);
  y = choose(n, less_equal(n, one, a), end, y);
  int nan = number(n, NAN);
  y = choose(n, less(n, one, a), nan, y);
  return as(n, choose(n, compare(n, PB_OP_EQUAL, x, x), y, x), v[0]);
}

// sin(pi r) and cos(pi r), |r| <= 1/2: Taylor's.
static int series(pb_nest* n, int square, double first, int odd) {
  enum { TERMS = 14 };
  double c[TERMS], term = first;
  for (int k = 0; k < TERMS; ++k) {
    c[k] = term;
    term *= -9.869604401089358 / ((2 * k + 1 + odd) * (2 * k + 2 + odd));
  }
  int sum = number(n, c[TERMS - 1]);
  for (int k = TERMS - 2; k >= 0; --k) {
    int next = number(n, c[k]);
    sum = add(n, mul(n, sum, square), next);
  }
  return sum;
}

// log(Gamma(x)) of x not below 0: Stirling's series from 8 on; below, Gamma's recurrence to u in [1, 2.5], whose
// product has one logarithm, and there (u - 1) (u - 2) f(u).
static int lgamma_of_positive(pb_nest* n, int x) {
  static const double stirling[] = {1.0 / 12,        -1.0 / 360, 1.0 / 1260,       -1.0 / 1680,     1.0 / 1188,
                                    -691.0 / 360360, 1.0 / 156,  -3617.0 / 122400, 43867.0 / 244188};
  enum { STEPS = 6 }; // from below 8 to below 2.5
  int one = number(n, 1), two = number(n, 2), most = number(n, 2.5), u = x, product = one;
  for (int k = 0; k < STEPS; ++k) {
    int above = less_equal(n, most, u), next = sub(n, u, one);
    u = choose(n, above, next, u);
    product = choose(n, above, mul(n, product, u), product);
  }
  int up = less(n, x, one), before = sub(n, x, one), first = sub(n, u, one), second = sub(n, u, two);
  first = choose(n, up, x, first); // where u is x + 1 rounded
  second = choose(n, up, before, second);
  product = choose(n, up, x, product);
  u = choose(n, up, add(n, x, one), u);
  int near = mul(n, first, second);
  near = mul(n, near, SERIES(n, scaled(n, u, 1, 2.5), lgamma_near));
  int far = less_equal(n, number(n, 8), x), log = call(n, PB_OP_LOG, choose(n, far, x, product));
  int minus = call(n, PB_OP_NEG, log);
  near = add(n, near, choose(n, up, minus, log));
  int inverse = over(n, one, x), tail = SERIES(n, mul(n, inverse, inverse), stirling);
  int rest = number(n, 0x1.acfe390c97d69p-2), half = number(n, 0.5); // (log(2 pi) - 1) / 2
  tail = add(n, mul(n, tail, inverse), rest);
  int sum = sub(n, log, one);
  sum = mul(n, sub(n, x, half), sum);
  return choose(n, far, add(n, sum, tail), near);
}

// Below 0 by reflection: log(pi / |x sin(pi x)|) - log(Gamma(-x)).
SPECIAL(lgamma) {
  (void)type;
  int x = wide(n, v[0]), a = call(n, PB_OP_ABS, x), y = lgamma_of_positive(n, a);
  int r = sub(n, a, call(n, PB_OP_ROUNDEVEN, a));
  int sine = series(n, mul(n, r, r), 3.141592653589793, 1);
  sine = mul(n, call(n, PB_OP_ABS, r), sine);
  int under = mul(n, sine, a), pi = number(n, 3.141592653589793);
  int other = sub(n, call(n, PB_OP_LOG, over(n, pi, under)), y), reflected = less(n, x, number(n, -0x1p-60));
  y = choose(n, reflected, other, y);
  int most = number(n, INFINITY), far = compare(n, PB_OP_EQUAL, a, most);
  return as(n, choose(n, far, most, y), v[0]);
}

// From 1 to 2 by its zero there, (x - zero) f(x), which the recurrence takes up to 10; from there on the asymptotic
// series; below 0 by reflection.
SPECIAL(digamma) {
  static const double c[] = {1.0 / 12, -1.0 / 120, 1.0 / 252, -1.0 / 240, 1.0 / 132, -691.0 / 32760, 1.0 / 12};
  enum { STEPS = 8 };
  (void)type;
  int x = wide(n, v[0]), none = number(n, 0), reflected = less(n, x, none), one = number(n, 1), two = number(n, 2);
  int z = choose(n, reflected, sub(n, one, x), x), u = z, sum = none;
  for (int k = 0; k < STEPS; ++k) {
    int above = less(n, two, u), next = sub(n, u, one);
    u = choose(n, above, next, u);
    sum = choose(n, above, add(n, sum, over(n, one, u)), sum);
  }
  int below = less(n, z, one), inverse = over(n, one, z), minus = call(n, PB_OP_NEG, inverse);
  u = choose(n, below, add(n, z, one), u);
  sum = choose(n, below, minus, sum);
  int away = sub(n, u, number(n, 0x1.762d86356be3fp+0));
  away = sub(n, away, number(n, 0x1.b86a722197829p-54));
  int near = mul(n, away, SERIES(n, scaled(n, u, 1, 2), digamma_near));
  near = add(n, near, sum);
  int square = mul(n, inverse, inverse), tail = mul(n, SERIES(n, square, c), square);
  int part = mul(n, inverse, number(n, 0.5));
  int far = sub(n, sub(n, call(n, PB_OP_LOG, z), part), tail);
  int y = choose(n, less(n, z, number(n, 10)), near, far);
  int r = sub(n, x, call(n, PB_OP_ROUNDEVEN, x)), r2 = mul(n, r, r);
  int cosine = series(n, r2, 1, 0), tangent = over(n, mul(n, r, series(n, r2, 3.141592653589793, 1)), cosine);
  y = choose(n, reflected, sub(n, y, over(n, number(n, 3.141592653589793), tangent)), y);
  int pole = compare(n, PB_OP_EQUAL, r, none), zero = compare(n, PB_OP_EQUAL, x, none);
  int nan = number(n, NAN), turned = call(n, PB_OP_NEG, x);
  y = choose(n, reflected, choose(n, pole, nan, y), y);
  y = choose(n, zero, with_sign(n, number(n, INFINITY), turned), y);
  int end = compare(n, PB_OP_EQUAL, x, number(n, INFINITY));
  return as(n, choose(n, end, x, y), v[0]);
}

// e^-|x| I1(x): |x| f(|x|) / ((1 + |x|) (1 + |x| / 8)) up to 8, f(8 / |x|) / sqrt(|x|) from there on.
SPECIAL(bessel_i1e) {
  (void)type;
  int x = wide(n, v[0]), a = call(n, PB_OP_ABS, x), eight = number(n, 8), one = number(n, 1), more = add(n, a, one);
  int part = mul(n, a, number(n, 0.125)), other = add(n, part, one), under = mul(n, more, other);
  int f = SERIES(n, scaled(n, a, 0, 8), i1e_near), above = mul(n, a, f), near = over(n, above, under);
  // What the sums, the products and the quotient were rounded by.
  int under_rest = product_rest(n, more, other, under);
  under_rest = add(n, under_rest, mul(n, sum_rest_of(n, a, one, more), other));
  int part_rest = sum_rest_of(n, part, one, other);
  under_rest = add(n, under_rest, mul(n, part_rest, more));
  int rest = product_rest(n, a, f, above);
  rest = sub(n, rest, product_rest(n, near, under, above));
  rest = sub(n, rest, mul(n, near, under_rest));
  near = add(n, near, over(n, rest, under));
  int far = SERIES(n, scaled(n, over(n, eight, a), 0, 1), i1e_far);
  far = over(n, far, call(n, PB_OP_SQRT, a));
  int y = choose(n, less_equal(n, a, eight), near, far);
  y = with_sign(n, y, x);
  return as(n, choose(n, compare(n, PB_OP_EQUAL, x, x), y, x), v[0]);
}
