// sin, cos, tan and powers of f32, by way of f64. The reduction is Payne and Hanek's: 2/pi in parts of 29 bits, so that
// each product by an f32 is exact. Multiples of 4 go from each product, and of it, before the sum is added, the whole
// turns of both: where the two nearly cancel both are below 1 then, and their sum is exact. So it is off by 2^-53 of
// itself and of the products that are still to come, 2^-29 of those before; what is left of an f32 is 2^-32 at least.
#include "core/math/wide.h"

#include <math.h>
#include <stdint.h>

static int whole(pb_nest* n, int x) { return pb_nest_node(n, PB_OP_ROUNDEVEN, PB_F64, x, -1); }

typedef struct reduced {
  int quadrant, r; // an i64 of which two bits count; the rest in [-pi/4, pi/4]
} reduced;

static reduced reduce(pb_nest* n, int x) {
  static const double parts[] = {0x1.45f306dp-1,   0x1.9391054p-30, 0x1.4fe13abp-59, 0x1.d1f534dp-88,
                                 0x1.b81b6c5p-117, 0x1.5993c4p-148, 0x1.c820ff2p-175};
  int wide = pb__widened(n, x), sum = -1, turns = pb__f64(n, 0), four = pb__f64(n, 4);
  for (size_t k = 0; k < sizeof parts / sizeof *parts; ++k) {
    int p = pb__mul(n, wide, pb__f64(n, parts[k]));
    p = pb__sub(n, p, pb__mul(n, whole(n, pb__mul(n, p, pb__f64(n, 0.25))), four));
    int turn = whole(n, sum >= 0 ? pb__add(n, sum, p) : p), rest = pb__sub(n, p, turn);
    sum = sum >= 0 ? pb__add(n, sum, rest) : rest;
    turns = pb__add(n, turns, turn);
  }
  int r = pb__mul(n, sum, pb__f64(n, 0x1.921fb54442d18p+0));
  return (reduced){pb__wide_nearest(n, turns).integer, r};
}

// Taylor's; what is left out is below 2^-45 of the result.
enum { SINE_TERMS = 6, COSINE_TERMS = 7 };

static int sine(pb_nest* n, int r, int square) {
  double c[SINE_TERMS], factorial = 1;
  for (int k = 0; k < SINE_TERMS; ++k) c[k] = (k % 2 ? 1 : -1) / (factorial *= (2 * k + 2) * (2 * k + 3));
  int sum = pb__wide_polynomial(n, square, c, SINE_TERMS);
  return pb__add(n, r, pb__mul(n, pb__mul(n, r, square), sum));
}

static int cosine(pb_nest* n, int square) {
  double c[COSINE_TERMS], factorial = 1;
  for (int k = 0; k < COSINE_TERMS; ++k) c[k] = (k % 2 ? 1 : -1) / (factorial *= (2 * k + 1) * (2 * k + 2));
  int rest = pb__mul(n, square, pb__wide_polynomial(n, square, c, COSINE_TERMS));
  return pb__add(n, pb__f64(n, 1), rest);
}

static int bit(pb_nest* n, int quadrant, int which) {
  int b = pb__op(n, PB_OP_AND, quadrant, pb__i64(n, which)), zero = pb__i64(n, 0);
  return pb_nest_node(n, PB_OP_LESS, PB_I1, zero, b);
}

// `ahead`: quadrants that are added.
static int wave(pb_nest* n, int x, int ahead) {
  reduced a = reduce(n, x);
  int square = pb__mul(n, a.r, a.r), quadrant = pb__add(n, a.quadrant, pb__i64(n, ahead));
  int even = sine(n, a.r, square), odd = cosine(n, square), y = pb__select(n, bit(n, quadrant, 1), odd, even);
  int minus = pb_nest_node(n, PB_OP_NEG, PB_F64, y, -1);
  y = pb__select(n, bit(n, quadrant, 2), minus, y);
  return pb__narrowed(n, y);
}

// -0 stays.
int pb__sin(pb_nest* n, int x) {
  int y = wave(n, x, 0), zero = pb__f32(n, 0);
  return pb__select(n, pb_nest_node(n, PB_OP_EQUAL, PB_I1, x, zero), x, y);
}

int pb__cos(pb_nest* n, int x) { return wave(n, x, 1); }

int pb__tan(pb_nest* n, int x) {
  reduced a = reduce(n, x);
  int square = pb__mul(n, a.r, a.r), s = sine(n, a.r, square), c = cosine(n, square), odd = bit(n, a.quadrant, 1);
  int above = pb__select(n, odd, pb_nest_node(n, PB_OP_NEG, PB_F64, c, -1), s);
  int y = pb__narrowed(n, pb__div(n, above, pb__select(n, odd, s, c))), zero = pb__f32(n, 0);
  return pb__select(n, pb_nest_node(n, PB_OP_EQUAL, PB_I1, x, zero), x, y);
}

static int is_whole(pb_nest* n, int y) {
  return pb_nest_node(n, PB_OP_EQUAL, PB_I1, pb_nest_node(n, PB_OP_WHOLE, PB_F64, y, -1), y);
}

// e^(y log|x|) in f64; what has no logarithm, and signs, as IEEE 754 has it.
int pb__pow(pb_nest* n, int x, int y) {
  int wide = pb__widened(n, x), by = pb__widened(n, y), one = pb__f64(n, 1), zero = pb__f64(n, 0);
  int magnitude = pb__abs(n, wide);
  int power = pb__wide_exp(n, pb__mul(n, by, pb__wide_log(n, magnitude)));
  int is_one = pb_nest_node(n, PB_OP_EQUAL, PB_I1, magnitude, one);
  int is_number = pb_nest_node(n, PB_OP_EQUAL, PB_I1, by, by);
  power = pb__select(n, is_one, pb__select(n, is_number, one, by), power);
  int negative = pb__wide_with_sign_of(n, power, wide), integral = is_whole(n, by);
  int even = is_whole(n, pb__mul(n, by, pb__f64(n, 0.5)));
  int with_sign = pb__select(n, even, power, pb__select(n, integral, negative, power));
  int below = pb__less(n, wide, zero), far = pb__less(n, magnitude, pb__f64(n, INFINITY));
  int undefined = pb__select(n, integral, with_sign, pb__select(n, far, pb__f64(n, NAN), with_sign));
  int result = pb__select(n, below, undefined, with_sign);
  int always = pb__select(n, pb_nest_node(n, PB_OP_EQUAL, PB_I1, wide, one), one, result);
  return pb__narrowed(n, pb__select(n, pb_nest_node(n, PB_OP_EQUAL, PB_I1, by, zero), one, always));
}
