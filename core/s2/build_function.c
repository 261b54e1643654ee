// Functions of each element as expressions: exp and its kin stay single operators, which a later pass expands where the
// chip lacks them.
#include "core/s2/builder.h"

#include <float.h>
#include <math.h>

#define SQRT_HALF 0.70710678118654752440
#define SQRT_2_BY_PI 0.79788456080286535588

static int number(pb_nest* n, double value) { return pb_nest_const(n, PB_F32, value); }
static int one(pb_nest* n, pb_op op, int a) { return pb_nest_node(n, op, PB_F32, a, -1); }
static int two(pb_nest* n, pb_op op, int a, int b) { return pb_nest_node(n, op, PB_F32, a, b); }

static int select_below_0(pb_nest* n, int x, int yes, int no) {
  int zero = number(n, 0), condition = pb_nest_node(n, PB_OP_LESS, PB_I1, x, zero);
  int id = pb_nest_node(n, PB_OP_SELECT, PB_F32, condition, yes);
  n->expr[id].args[2] = no;
  return id;
}

static int sigmoid(pb_nest* n, int x) {
  int e = one(n, PB_OP_EXP, one(n, PB_OP_NEG, x)), unit = number(n, 1);
  return two(n, PB_OP_DIV, unit, two(n, PB_OP_ADD, e, unit));
}

static int hard_sigmoid(pb_nest* n, const pb_s1_op* op, int x) {
  int v = two(n, PB_OP_MUL, x, number(n, op->ma));
  v = two(n, PB_OP_ADD, v, number(n, op->mb));
  v = pb__s2_bounded(n, op, v, 0, true);
  return pb__s2_bounded(n, op, v, 1, false);
}

static int elu(pb_nest* n, int x, float alpha) {
  int below = one(n, PB_OP_EXPM1, x);
  if (alpha != 1) below = two(n, PB_OP_MUL, below, number(n, alpha));
  return select_below_0(n, x, below, x);
}

// max(x, 0) + log(1 + e^-|x|): e^x itself would overflow.
static int softplus(pb_nest* n, int x) {
  int e = one(n, PB_OP_EXP, one(n, PB_OP_NEG, one(n, PB_OP_ABS, x))), above = two(n, PB_OP_MAX, x, number(n, 0));
  return two(n, PB_OP_ADD, above, one(n, PB_OP_LOG1P, e));
}

static int gelu(pb_nest* n, int x, bool by_tanh) {
  int inner;
  if (by_tanh) {
    int cube = two(n, PB_OP_MUL, two(n, PB_OP_MUL, x, x), x);
    inner = two(n, PB_OP_ADD, x, two(n, PB_OP_MUL, cube, number(n, 0.044715)));
    inner = one(n, PB_OP_TANH, two(n, PB_OP_MUL, inner, number(n, SQRT_2_BY_PI)));
  } else {
    inner = one(n, PB_OP_ERF, two(n, PB_OP_MUL, x, number(n, SQRT_HALF)));
  }
  int half = two(n, PB_OP_MUL, x, number(n, 0.5));
  return two(n, PB_OP_MUL, half, two(n, PB_OP_ADD, inner, number(n, 1)));
}

static int selu(pb_nest* n, const pb_s1_op* op, int x) {
  int scale = number(n, op->mb);
  return two(n, PB_OP_MUL, elu(n, x, op->ma), scale);
}

static int softsign(pb_nest* n, int x) {
  int more = number(n, 1);
  return two(n, PB_OP_DIV, x, two(n, PB_OP_ADD, one(n, PB_OP_ABS, x), more));
}

// What an odd half of a power is taken of: its power is that of 0 for -0, and of infinity for -infinity, of which
// square roots have -0 and none.
static int without_ends(pb_nest* n, int x) {
  int beyond = two(n, PB_OP_ADD, x, number(n, FLT_MAX)); // below 0 for -infinity alone
  int infinity = number(n, INFINITY), plain = two(n, PB_OP_ADD, x, number(n, 0));
  return select_below_0(n, beyond, infinity, plain);
}

// x^|p| by squaring, its odd half by a square root; 1 / that for p < 0. x^0.5 is the square root itself.
static int power(pb_nest* n, int x, float p) {
  int halves = (int)(2 * fabsf(p));
  if (halves % 2 && p != 0.5f) x = without_ends(n, x);
  int result = halves % 2 ? one(n, PB_OP_SQRT, x) : -1, square = x;
  for (int whole = halves / 2; whole; whole /= 2) {
    if (whole % 2) result = result < 0 ? square : two(n, PB_OP_MUL, result, square);
    if (whole > 1) square = two(n, PB_OP_MUL, square, square);
  }
  return p < 0 ? two(n, PB_OP_DIV, number(n, 1), result) : result;
}

int pb__s2_function(pb_nest* n, const pb_s1_op* op, int x) {
  switch (op->function) {
  case PB_S1_ABS:
    return one(n, PB_OP_ABS, x);
  case PB_S1_NEG:
    return one(n, PB_OP_NEG, x);
  case PB_S1_SQRT:
    return one(n, PB_OP_SQRT, x);
  case PB_S1_EXP:
    return one(n, PB_OP_EXP, x);
  case PB_S1_LOG:
    return one(n, PB_OP_LOG, x);
  case PB_S1_RECIPROCAL:
    return two(n, PB_OP_DIV, number(n, 1), x);
  case PB_S1_ERF:
    return one(n, PB_OP_ERF, x);
  case PB_S1_TANH:
    return one(n, PB_OP_TANH, x);
  case PB_S1_SIGMOID:
    return sigmoid(n, x);
  case PB_S1_SILU:
    return two(n, PB_OP_MUL, x, sigmoid(n, x));
  case PB_S1_HARD_SIGMOID:
    return hard_sigmoid(n, op, x);
  case PB_S1_HARD_SWISH:
    return two(n, PB_OP_MUL, x, hard_sigmoid(n, op, x));
  case PB_S1_LEAKY_RELU:
    return select_below_0(n, x, two(n, PB_OP_MUL, x, number(n, op->ma)), x);
  case PB_S1_ELU:
    return elu(n, x, op->ma);
  case PB_S1_SELU:
    return selu(n, op, x);
  case PB_S1_SOFTPLUS:
    return softplus(n, x);
  case PB_S1_SOFTSIGN:
    return softsign(n, x);
  case PB_S1_GELU:
    return gelu(n, x, false);
  case PB_S1_GELU_TANH:
    return gelu(n, x, true);
  case PB_S1_POWER:
    return power(n, x, op->ma);
  }
  return x;
}

int pb__s2_prelu(pb_nest* n, int x, int slope) { return select_below_0(n, x, two(n, PB_OP_MUL, x, slope), x); }
