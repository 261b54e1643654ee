// Inside core/math: expressions written like expressions. Every function appends to the nest's nodes and returns the
// new one's index; constants that are there already are shared.
#ifndef PB_MATH_BUILD_H
#define PB_MATH_BUILD_H

#include "core/math/math.h"

int pb__f32(pb_nest* n, double value);
int pb__i32(pb_nest* n, int64_t value);
int pb__select(pb_nest* n, int condition, int yes, int no);
// c[0] + c[1] x + ...
int pb__polynomial(pb_nest* n, int x, const float* c, int count);
// The i32 that has an integer where a number has its exponent, so that adding it to a number's bits multiplies by 2^i:
// 2^(i + more), and y 2^i. Both must be normal numbers; scaling makes anything of a NaN.
int pb__power_of_two(pb_nest* n, int exponent, int more);
int pb__scaled(pb_nest* n, int y, int exponent);
// `magnitude`, which must not be negative, with the sign of x.
int pb__with_sign_of(pb_nest* n, int magnitude, int x);

static inline int pb__op(pb_nest* n, pb_op op, int a, int b) { return pb_nest_node(n, op, n->expr[a].type, a, b); }
static inline int pb__add(pb_nest* n, int a, int b) { return pb__op(n, PB_OP_ADD, a, b); }
static inline int pb__sub(pb_nest* n, int a, int b) { return pb__op(n, PB_OP_SUB, a, b); }
static inline int pb__mul(pb_nest* n, int a, int b) { return pb__op(n, PB_OP_MUL, a, b); }
static inline int pb__div(pb_nest* n, int a, int b) { return pb__op(n, PB_OP_DIV, a, b); }
static inline int pb__abs(pb_nest* n, int a) { return pb__op(n, PB_OP_ABS, a, -1); }
static inline int pb__sqrt(pb_nest* n, int a) { return pb__op(n, PB_OP_SQRT, a, -1); }
static inline int pb__less(pb_nest* n, int a, int b) { return pb_nest_node(n, PB_OP_LESS, PB_I1, a, b); }
static inline int pb__bits(pb_nest* n, int a) { return pb_nest_node(n, PB_OP_BITCAST, PB_I32, a, -1); }
static inline int pb__from_bits(pb_nest* n, int a) { return pb_nest_node(n, PB_OP_BITCAST, PB_F32, a, -1); }
static inline int pb__to_float(pb_nest* n, int a) { return pb_nest_node(n, PB_OP_SITOFP, PB_F32, a, -1); }
// The smaller of x and a number; NaN stays NaN, which MIN would lose.
static inline int pb__at_most(pb_nest* n, int x, double limit) {
  int c = pb__f32(n, limit);
  return pb__select(n, pb__less(n, c, x), c, x);
}
static inline int pb__at_least(pb_nest* n, int x, double limit) {
  int c = pb__f32(n, limit);
  return pb__select(n, pb__less(n, x, c), c, x);
}

// e^r as 2^i (1 + q) by Cody and Waite's reduction: x = i log(2) + r, |r| <= log(2) / 2. |x| < 2^21.
typedef struct pb_exp_parts {
  int exponent, q; // i where a number's exponent is, an i32; an f32
} pb_exp_parts;
pb_exp_parts pb__exp_parts(pb_nest* n, int x);
pb_exp_parts pb__expm1_parts(pb_nest* n, int x); // q exact to its own ULP, where the above is to that of 1 + q

int pb__exp(pb_nest* n, int x); // the rows of the table
int pb__exp2(pb_nest* n, int x);
int pb__expm1(pb_nest* n, int x);
int pb__tanh(pb_nest* n, int x);
int pb__log(pb_nest* n, int x);
int pb__log2(pb_nest* n, int x);
int pb__log1p(pb_nest* n, int x);
int pb__erf(pb_nest* n, int x);

#endif
