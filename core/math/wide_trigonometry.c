// sin, cos and tan of f64. The reduction is Payne and Hanek's in whole numbers ("Radian Reduction for Trigonometric
// Functions", 1983): x = m 2^e, and of 2/pi only the 192 bits are taken that m 2^e brings to the quadrant's two bits
// and what is behind them. No f64 comes nearer to a multiple of pi/2 than 2^-61 of one, so that 124 bits of the product
// tell the rest to its own last place.
#include "core/math/wide.h"

#include <math.h>
#include <stdint.h>

enum {
  WORDS = 20,       // of 2/pi, 64 bits each, behind ZEROS bits
  ZEROS = 81,       // so that x of 2^-27 takes the first ones
  WINDOW = 3,       // words that are multiplied
  DIGITS = 6,       // the same in halves, which have products of 64 bits
  LAST_PLACE = 1075 // the exponent as it is stored, of numbers whose last place is 1
};

static int shifted(pb_nest* n, pb_op op, int v, int by) { return pb__op(n, op, v, pb__i64(n, by)); }

static int is_set(pb_nest* n, int v, int bit) {
  int b = pb__op(n, PB_OP_AND, v, pb__i64(n, bit)), zero = pb__i64(n, 0);
  return pb_nest_node(n, PB_OP_LESS, PB_I1, zero, b);
}

// The words from number `word` on, one more than the window: halved 5 times, by the bits of the number.
static void choose_words(pb_nest* n, int word, int* w) {
  static const uint64_t two_over_pi[WORDS] = {0x0,
                                              0x517cc1b72722,
                                              0xa94fe13abe8fa9a,
                                              0x6ee06db14acc9e21,
                                              0xc820ff28b1d5ef5d,
                                              0xe2b0db92371d2126,
                                              0xe9700324977504e8,
                                              0xc90e7f0ef58e5894,
                                              0xd39f74411afa975d,
                                              0xa24274ce38135a2f,
                                              0xbf209cc8eb1cc1a9,
                                              0x9cfa4e422fc5defc,
                                              0x941d8ffc4bffef02,
                                              0xcc07f79788c5ad05,
                                              0x368fb69b3f6793e5,
                                              0x84dba7a31fb34f2f,
                                              0xf516ba93dd63f5f2,
                                              0xf8bd9e839cfbc529,
                                              0x497535fdafd88fc6,
                                              0xae842b0198237e3d};
  int all[WORDS];
  for (int k = 0; k < WORDS; ++k) all[k] = pb__i64(n, (int64_t)two_over_pi[k]);
  for (int step = 16; step; step /= 2) {
    int far = is_set(n, word, step), wanted = step == 16 ? WINDOW + 1 : WINDOW + step;
    for (int k = 0; k < wanted; ++k) all[k] = pb__select(n, far, all[k + step], all[k]);
  }
  for (int k = 0; k <= WINDOW; ++k) w[k] = all[k];
}

// The window's bits as digits of 32, the lowest first.
static void choose_digits(pb_nest* n, int bit, int* digits) {
  int w[WINDOW + 1], low = pb__i64(n, UINT32_MAX), most = pb__i64(n, 63);
  choose_words(n, shifted(n, PB_OP_SHRU, bit, 6), w);
  int by = pb__op(n, PB_OP_AND, bit, most), back = pb__sub(n, most, by);
  for (int k = 0; k < WINDOW; ++k) {
    int next = pb__op(n, PB_OP_SHRU, shifted(n, PB_OP_SHRU, w[k + 1], 1), back);
    int word = pb__op(n, PB_OP_OR, pb__op(n, PB_OP_SHL, w[k], by), next);
    digits[DIGITS - 2 - 2 * k] = pb__op(n, PB_OP_AND, word, low);
    digits[DIGITS - 1 - 2 * k] = shifted(n, PB_OP_SHRU, word, 32);
  }
}

// product += m d 2^(32 at), its digits past the last one dropped.
static void add_product(pb_nest* n, int m, const int* d, int at, int* product) {
  int low = pb__i64(n, UINT32_MAX), carry = -1;
  for (int k = 0; k + at < DIGITS; ++k) {
    int t = pb__mul(n, m, d[k]);
    if (product[k + at] >= 0) t = pb__add(n, t, product[k + at]);
    if (carry >= 0) t = pb__add(n, t, carry);
    product[k + at] = pb__op(n, PB_OP_AND, t, low);
    carry = shifted(n, PB_OP_SHRU, t, 32);
  }
}

// x in quarters of a turn: the whole ones, of which two bits count, and pi/2 times the rest, |r| <= pi/4, in two
// numbers.
typedef struct reduced {
  int quadrant, r, tail;
} reduced;

// high 2^-64 + low 2^-128 of pi/2, high with its sign.
static void to_radians(pb_nest* n, int high, int low, reduced* a) {
  int sign = shifted(n, PB_OP_SHR, high, 63); // the magnitude, one less where it turns over
  high = pb__op(n, PB_OP_XOR, high, sign);
  low = pb__op(n, PB_OP_XOR, low, sign);
  int rest = pb__op(n, PB_OP_AND, high, pb__i64(n, 0x7ff)); // the others are a number as they are
  int first = pb_nest_node(n, PB_OP_SITOFP, PB_F64, pb__op(n, PB_OP_XOR, high, rest), -1);
  rest = shifted(n, PB_OP_SHL, rest, 52);
  rest = pb__op(n, PB_OP_OR, rest, shifted(n, PB_OP_SHRU, low, 12));
  int second = pb_nest_node(n, PB_OP_SITOFP, PB_F64, rest, -1);
  first = pb__mul(n, first, pb__f64(n, 0x1p-64));
  second = pb__mul(n, second, pb__f64(n, 0x1p-116));
  int sum = pb__add(n, first, second), lost = pb__sub(n, second, pb__sub(n, sum, first));
  int quarter = pb__f64(n, 0x1.921fb54442d18p+0);
  pb_wide_pair p = pb__wide_product(n, sum, quarter);
  lost = pb__mul(n, lost, quarter);
  int small = pb__mul(n, sum, pb__f64(n, 0x1.1a62633145c07p-54));
  int below = pb__add(n, p.low, pb__add(n, small, lost)), bits = shifted(n, PB_OP_SHL, sign, 63);
  a->r = pb__wide_number(n, pb__op(n, PB_OP_XOR, pb__wide_bits(n, p.high), bits));
  a->tail = pb__wide_number(n, pb__op(n, PB_OP_XOR, pb__wide_bits(n, below), bits));
}

// Of a magnitude; what is below 2^-27 or no number is reduced to anything.
static reduced reduce(pb_nest* n, int magnitude) {
  int bits = pb__wide_bits(n, magnitude), digits[DIGITS], product[DIGITS] = {-1, -1, -1, -1, -1, -1};
  int fraction = pb__op(n, PB_OP_AND, bits, pb__i64(n, 0xfffffffffffff));
  int m = pb__op(n, PB_OP_OR, fraction, pb__i64(n, 0x10000000000000));
  int exponent = shifted(n, PB_OP_SHRU, bits, 52);
  int bit = pb__sub(n, exponent, pb__i64(n, LAST_PLACE + 2 - ZEROS));
  bit = pb__op(n, PB_OP_MAX, bit, pb__i64(n, 0));
  choose_digits(n, bit, digits);
  int low = pb__op(n, PB_OP_AND, m, pb__i64(n, UINT32_MAX));
  add_product(n, low, digits, 0, product);
  add_product(n, shifted(n, PB_OP_SHRU, m, 32), digits, 1, product);
  int high = pb__op(n, PB_OP_OR, shifted(n, PB_OP_SHL, product[5], 32), product[4]);
  int middle = pb__op(n, PB_OP_OR, shifted(n, PB_OP_SHL, product[3], 32), product[2]);
  reduced a = {.quadrant = shifted(n, PB_OP_SHRU, pb__add(n, high, pb__i64(n, (int64_t)1 << 61)), 62)};
  int top = shifted(n, PB_OP_SHL, high, 2);
  top = pb__op(n, PB_OP_OR, top, shifted(n, PB_OP_SHRU, middle, 62));
  to_radians(n, top, shifted(n, PB_OP_SHL, middle, 2), &a);
  return a;
}

// Taylor's, and the tail's part: r + (z r S(z) + tail (1 - z/2)) with z = r^2.
static int sine(pb_nest* n, const reduced* a, int z, int half) {
  double c[8], factorial = 1;
  for (int k = 0; k < 8; ++k) c[k] = (k % 2 ? 1 : -1) / (factorial *= (2 * k + 2) * (2 * k + 3));
  int sum = pb__wide_polynomial(n, z, c, 8), cube = pb__mul(n, a->r, z);
  int one = pb__f64(n, 1), rest = pb__mul(n, a->tail, pb__sub(n, one, half));
  rest = pb__add(n, pb__mul(n, cube, sum), rest);
  return pb__add(n, a->r, rest);
}

// w + ((1 - w - z/2) + (z^2 C(z) - r tail)) with w = 1 - z/2.
static int cosine(pb_nest* n, const reduced* a, int z, int half) {
  double c[8], factorial = 2;
  for (int k = 0; k < 8; ++k) c[k] = (k % 2 ? -1 : 1) / (factorial *= (2 * k + 3) * (2 * k + 4));
  int sum = pb__wide_polynomial(n, z, c, 8), one = pb__f64(n, 1), w = pb__sub(n, one, half);
  sum = pb__mul(n, pb__mul(n, z, z), sum);
  int lost = pb__sub(n, pb__sub(n, one, w), half);
  lost = pb__add(n, lost, pb__sub(n, sum, pb__mul(n, a->r, a->tail)));
  return pb__add(n, w, lost);
}

static int negated(pb_nest* n, int v) { return pb_nest_node(n, PB_OP_NEG, PB_F64, v, -1); }

// sin and cos are in each other's place where the quadrant is odd.
typedef struct wave {
  int quadrant, sine, cosine;
} wave;

static wave wave_of(pb_nest* n, int magnitude) {
  reduced a = reduce(n, magnitude);
  int z = pb__mul(n, a.r, a.r), half = pb__mul(n, z, pb__f64(n, 0.5));
  wave w = {.quadrant = a.quadrant, .sine = sine(n, &a, z, half)};
  w.cosine = cosine(n, &a, z, half);
  return w;
}

// y where |x| is not below 2^-27, `small` there, and NaN where x is no number.
static int ends(pb_nest* n, int magnitude, int y, int small) {
  int near = pb__less(n, magnitude, pb__f64(n, 0x1p-27));
  y = pb__select(n, near, small, y);
  int finite = pb__less(n, magnitude, pb__f64(n, INFINITY)), nan = pb__f64(n, NAN);
  return pb__select(n, finite, y, nan);
}

// y, turned over where x is below 0.
static int turned_as(pb_nest* n, int y, int x) {
  int least = pb__i64(n, INT64_MIN), sign = pb__op(n, PB_OP_AND, pb__wide_bits(n, x), least);
  return pb__wide_number(n, pb__op(n, PB_OP_XOR, pb__wide_bits(n, y), sign));
}

int pb__wide_sin(pb_nest* n, int x) {
  int magnitude = pb__abs(n, x);
  wave w = wave_of(n, magnitude);
  int y = pb__select(n, is_set(n, w.quadrant, 1), w.cosine, w.sine), minus = negated(n, y);
  y = pb__select(n, is_set(n, w.quadrant, 2), minus, y);
  y = turned_as(n, y, x);
  return ends(n, magnitude, y, x);
}

int pb__wide_cos(pb_nest* n, int x) {
  int magnitude = pb__abs(n, x), one = pb__f64(n, 1);
  wave w = wave_of(n, magnitude);
  int next = pb__add(n, w.quadrant, pb__i64(n, 1));
  int y = pb__select(n, is_set(n, next, 1), w.cosine, w.sine), minus = negated(n, y);
  return ends(n, magnitude, pb__select(n, is_set(n, next, 2), minus, y), one);
}

int pb__wide_tan(pb_nest* n, int x) {
  int magnitude = pb__abs(n, x);
  wave w = wave_of(n, magnitude);
  int odd = is_set(n, w.quadrant, 1), minus = negated(n, w.cosine);
  int above = pb__select(n, odd, minus, w.sine);
  int y = pb__div(n, above, pb__select(n, odd, w.sine, w.cosine));
  y = turned_as(n, y, x);
  return ends(n, magnitude, y, x);
}
