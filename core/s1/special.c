// All but sinh and cosh is computed in f64 and rounded at the end. Series of Chebyshev's polynomials are
// fit_special.py's: their relative errors are below 1e-12, far inside half an ULP of f32; of f64 there are only what
// elementary functions make.
#include "core/s1/special.h"

#include "core/s1/nodes.h"

#include <math.h>

static int wide(pb_nest* n, int v) { return n->expr[v].type == PB_F32 ? node(n, PB_OP_EXTF, PB_F64, v, -1) : v; }
static int as(pb_nest* n, int v, int of) {
  return n->expr[of].type == PB_F32 ? node(n, PB_OP_TRUNCF, PB_F32, v, -1) : v;
}
static int number(pb_nest* n, double value) { return pb_nest_const(n, PB_F64, value); }
static int add(pb_nest* n, int a, int b) { return same(n, PB_OP_ADD, a, b); }
static int sub(pb_nest* n, int a, int b) { return same(n, PB_OP_SUB, a, b); }
static int mul(pb_nest* n, int a, int b) { return same(n, PB_OP_MUL, a, b); }
static int over(pb_nest* n, int a, int b) { return same(n, PB_OP_DIV, a, b); }
static int call(pb_nest* n, pb_op op, int a) { return same(n, op, a, -1); }
static int less(pb_nest* n, int a, int b) { return compare(n, PB_OP_LESS, a, b); }
static int less_equal(pb_nest* n, int a, int b) { return compare(n, PB_OP_LESS_EQUAL, a, b); }

static int with_sign(pb_nest* n, int magnitude, int of) {
  int all = integer(n, PB_I64, INT64_MIN);
  all = same(n, PB_OP_AND, bits(n, of), all);
  all = same(n, PB_OP_OR, bits(n, magnitude), all);
  return node(n, PB_OP_BITCAST, PB_F64, all, -1);
}

// Clenshaw's sum, t in [-1, 1].
static int chebyshev(pb_nest* n, int t, const double* c, int count) {
  int twice = add(n, t, t), b1 = number(n, c[count - 1]), b2 = number(n, 0);
  for (int k = count - 2; k > 0; --k) {
    int b = number(n, c[k]);
    b = add(n, sub(n, mul(n, twice, b1), b2), b);
    b2 = b1;
    b1 = b;
  }
  int first = number(n, c[0]);
  return add(n, sub(n, mul(n, t, b1), b2), first);
}

// x in [least, most] as t in [-1, 1]; what is outside goes to the ends.
static int scaled(pb_nest* n, int x, double least, double most) {
  int end = number(n, most);
  x = same(n, PB_OP_MINIMUM, same(n, PB_OP_MAXIMUM, x, number(n, least)), end);
  int one = number(n, 1), slope = number(n, 2 / (most - least));
  return sub(n, mul(n, sub(n, x, number(n, least)), slope), one);
}

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

// As CHLO defines them, in the type that is worked on: e^(x + log(1/2)) and e^(-x + log(1/2)), which stay numbers
// longer than e^x; near 0 with t = e^x - 1 (t + t / (t + 1)) / 2.
static int half_power(pb_nest* n, int x) { return call(n, PB_OP_EXP, add(n, x, like(n, x, -0.6931471805599453))); }

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
  int x = wide(n, v[0]), a = call(n, PB_OP_ABS, x), one = number(n, 1), large = less(n, number(n, 0x1p28), a);
  int square = mul(n, a, a), root = call(n, PB_OP_SQRT, add(n, one, square));
  int argument = add(n, a, over(n, square, add(n, one, root)));
  int y = call(n, PB_OP_LOG1P, choose(n, large, a, argument)); // 1 more is nothing there
  int none = number(n, 0);
  y = add(n, y, choose(n, large, number(n, 0x1.62e42fefa39efp-1), none));
  return as(n, with_sign(n, y, x), v[0]);
}

SPECIAL(acosh) {
  (void)type;
  int x = wide(n, v[0]), t = sub(n, x, number(n, 1)), large = less(n, number(n, 0x1p28), x);
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

// With t = 2 / (2 + |x|): t e^(-x^2) f(t), which has no trouble far out.
SPECIAL(erfc) {
  (void)type;
  static const double erfc_scaled[] = {
      0.611456247338934,      0.3361084789633679,     0.05155360612435133,    0.001674324002946962,
      -0.0007578579463665917, -5.329256167282137e-05, 1.826788865640994e-05,  7.628285819953141e-07,
      -5.729799987712487e-07, 2.238794388452715e-08,  1.683710406278349e-08,  -2.754162266637559e-09,
      -2.589215589489941e-10, 1.446323767626289e-10,  -1.268721153882478e-11, -3.864643877923133e-12,
      1.258068126592051e-12,  -7.196837681794026e-14, -4.318335961761978e-14, 1.282158964626851e-14,
      -9.541277283460723e-16, -2.757563976511551e-16};
  int x = wide(n, v[0]), a = call(n, PB_OP_ABS, x), two = number(n, 2), t = over(n, two, add(n, two, a));
  int f = chebyshev(n, scaled(n, t, 2.0 / 15, 1), erfc_scaled, sizeof erfc_scaled / sizeof *erfc_scaled);
  // |x| is kept where its square has a power of e; the f32 is 0 long before
  int near = same(n, PB_OP_MINIMUM, a, number(n, 13));
  int y = call(n, PB_OP_EXP, call(n, PB_OP_NEG, mul(n, near, near)));
  y = mul(n, mul(n, f, t), y);
  int left = less(n, x, number(n, 0));
  return as(n, choose(n, left, sub(n, two, y), y), v[0]);
}

// x f(w) with w = -log(1 - x^2), by its root further out.
SPECIAL(erf_inv) {
  (void)type;
  static const double erf_inv_near[] = {1.49129894047449,       0.60175630341083,       -0.009170559500081115,
                                        -0.004962635326766609,  0.000915379670007989,   -3.88956275741078e-06,
                                        -2.420259940506004e-05, 3.266571592455395e-06,  2.775888979316875e-07,
                                        -1.302336302631773e-07, 8.104643206324003e-09,  2.862438453877161e-09,
                                        -5.975093485461576e-10, -1.222321795283328e-11, 1.959583183799408e-11,
                                        -2.051039733067444e-12, -3.446871312052815e-13};
  static const double erf_inv_far[] = {3.106693680456261,     1.033874378210799,      0.004595236820902722,
                                       -0.001677581416624316, 0.0005350964067774293,  -0.0001509706748246259,
                                       3.230146122849586e-05, -3.436744265837624e-06, -6.758417181532095e-07,
                                       4.085651573390488e-07, -8.397795602001784e-08, 1.63658217915933e-09,
                                       3.955966442800744e-09, -1.116731458911831e-09, 9.001568733521522e-11,
                                       3.063023681620178e-11, -1.170866155695082e-11};
  int x = wide(n, v[0]), one = number(n, 1), a = call(n, PB_OP_ABS, x);
  int above = add(n, one, a), w = call(n, PB_OP_NEG, call(n, PB_OP_LOG, mul(n, sub(n, one, a), above)));
  int near = chebyshev(n, scaled(n, w, 0, 5), erf_inv_near, 17);
  int far =
      chebyshev(n, scaled(n, call(n, PB_OP_SQRT, w), 0x1.1e3779b97f4a8p+1, 0x1.13463fa37014ep+2), erf_inv_far, 17);
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

// Lanczos' sum for z = x - 1 >= -1/2: log(Gamma(x)), by its partial fractions with g = 7.
static int lgamma_of_positive(pb_nest* n, int x) {
  static const double c[] = {676.5203681218851,  -1259.1392167224028,  771.32342877765313,    -176.61502916214059,
                             12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7};
  int z = sub(n, x, number(n, 1)), sum = number(n, 0.99999999999980993);
  for (int k = 0; k < 8; ++k) {
    int under = add(n, z, number(n, k + 1));
    sum = add(n, sum, over(n, number(n, c[k]), under));
  }
  int t = add(n, z, number(n, 7.5)), half = number(n, 0.5);
  int power = call(n, PB_OP_LOG, t);
  power = sub(n, mul(n, add(n, z, half), power), t);
  int of_sum = call(n, PB_OP_LOG, sum);
  return add(n, add(n, number(n, 0.9189385332046727), power), of_sum);
}

// Below 1/2 by reflection.
SPECIAL(lgamma) {
  (void)type;
  int x = wide(n, v[0]), half = number(n, 0.5), reflected = less(n, x, half), one = number(n, 1);
  int y = lgamma_of_positive(n, choose(n, reflected, sub(n, one, x), x));
  int r = sub(n, x, call(n, PB_OP_ROUNDEVEN, x));
  int sine = series(n, mul(n, r, r), 3.141592653589793, 1);
  sine = mul(n, call(n, PB_OP_ABS, r), sine);
  int less_by = add(n, call(n, PB_OP_LOG, sine), y), other = sub(n, number(n, 1.1447298858494002), less_by);
  y = choose(n, reflected, other, y);
  int two = number(n, 2), exact = choose(n, compare(n, PB_OP_EQUAL, x, one), one, two); // its zeros
  int zero = number(n, 0);
  y = choose(n, compare(n, PB_OP_EQUAL, x, exact), zero, y);
  int most = number(n, INFINITY), far = compare(n, PB_OP_EQUAL, call(n, PB_OP_ABS, x), most);
  return as(n, choose(n, far, number(n, INFINITY), y), v[0]);
}

// Ten steps of the recurrence, then the asymptotic series; below 1/2 by reflection.
SPECIAL(digamma) {
  static const double c[] = {1.0 / 12, -1.0 / 120, 1.0 / 252, -1.0 / 240, 1.0 / 132, -691.0 / 32760, 1.0 / 12};
  enum { STEPS = 10, TERMS = sizeof c / sizeof *c };
  (void)type;
  int x = wide(n, v[0]), half = number(n, 0.5), reflected = less(n, x, half), one = number(n, 1);
  int z = choose(n, reflected, sub(n, one, x), x), sum = over(n, one, z);
  for (int k = 1; k < STEPS; ++k) sum = add(n, sum, over(n, one, add(n, z, number(n, k))));
  z = add(n, z, number(n, STEPS));
  int inverse = over(n, one, z), square = mul(n, inverse, inverse), tail = number(n, c[TERMS - 1]);
  for (int k = TERMS - 2; k >= 0; --k) {
    int next = number(n, c[k]);
    tail = add(n, mul(n, tail, square), next);
  }
  int rest = add(n, mul(n, tail, square), sum), part = mul(n, inverse, half);
  int y = sub(n, sub(n, call(n, PB_OP_LOG, z), part), rest);
  int r = sub(n, x, call(n, PB_OP_ROUNDEVEN, x)), r2 = mul(n, r, r);
  int cosine = series(n, r2, 1, 0), tangent = over(n, mul(n, r, series(n, r2, 3.141592653589793, 1)), cosine);
  y = choose(n, reflected, sub(n, y, over(n, number(n, 3.141592653589793), tangent)), y);
  int pole = compare(n, PB_OP_EQUAL, r, number(n, 0));
  int zero = compare(n, PB_OP_EQUAL, x, number(n, 0));
  int nan = number(n, NAN), minus = call(n, PB_OP_NEG, x);
  int at_pole = choose(n, zero, with_sign(n, number(n, INFINITY), minus), nan);
  y = choose(n, reflected, choose(n, pole, at_pole, y), y);
  int far = compare(n, PB_OP_EQUAL, x, number(n, INFINITY));
  return as(n, choose(n, far, x, y), v[0]);
}

// e^-|x| I1(x): x f(|x|) up to 8, f(8 / |x|) / sqrt(|x|) from there on.
SPECIAL(bessel_i1e) {
  (void)type;
  static const double i1e_near[] = {
      0.1262935932218169,    -0.1764165183578343,    0.1026436586898472,    -0.05294598120809511,
      0.02472644903062654,   -0.01056408489462626,   0.004156422944312898,  -0.001513572450631308,
      0.0005122859561685669, -0.0001617608158260206, 4.781565107552513e-05, -1.327316365607865e-05,
      3.470251308132879e-06, -8.568720265498016e-07, 2.003294753252944e-07, -4.445059131173335e-08,
      9.381537289813008e-09, -1.887249785177833e-09, 3.625590482872863e-10, -6.663497198018827e-11,
      1.173619282027712e-11, -1.984055811123382e-12, 3.224477952474851e-13, -5.046800309228973e-14,
      7.745433665769265e-15};
  static const double i1e_far[] = {0.3892871624387704,     -0.009760163462475586,  -0.0001105689726921194,
                                   -3.881578662190118e-06, -2.511455696069906e-07, -2.630541949360246e-08,
                                   -3.833794528630241e-09, -5.58650556794974e-10,  -1.892275408782037e-11,
                                   3.251822995229335e-11,  1.411845903238422e-11,  2.031037113485392e-12,
                                   -7.183662031714003e-13, -4.095227924966447e-13, -1.937496829990529e-14,
                                   4.118875867596106e-14,  1.187057728075405e-14,  -5.307616958175526e-15};
  int x = wide(n, v[0]), a = call(n, PB_OP_ABS, x), eight = number(n, 8);
  int near = mul(n, a, chebyshev(n, scaled(n, a, 0, 8), i1e_near, 25));
  int far = chebyshev(n, scaled(n, over(n, eight, a), 1e-4, 1), i1e_far, 18);
  // past 80,000 the first terms of its series in 1 / x
  int inverse = over(n, number(n, 1), a), second = mul(n, inverse, number(n, 0.14960335515053727));
  int tail = sub(n, number(n, 0.3989422804014327), second);
  far = choose(n, less(n, number(n, 79000), a), tail, far);
  far = over(n, far, call(n, PB_OP_SQRT, a));
  int y = choose(n, less_equal(n, a, eight), near, far);
  y = with_sign(n, y, x);
  return as(n, choose(n, compare(n, PB_OP_EQUAL, x, x), y, x), v[0]);
}
