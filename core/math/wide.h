// Inside core/math: expressions of f64, written like those of f32 in build.h.
#ifndef PB_MATH_WIDE_H
#define PB_MATH_WIDE_H

#include "core/math/build.h"

int pb__f64(pb_nest* n, double value); // constants that are there already are shared
int pb__i64(pb_nest* n, int64_t value);
static inline int pb__wide_bits(pb_nest* n, int a) { return pb_nest_node(n, PB_OP_BITCAST, PB_I64, a, -1); }
static inline int pb__wide_number(pb_nest* n, int a) { return pb_nest_node(n, PB_OP_BITCAST, PB_F64, a, -1); }
static inline int pb__widened(pb_nest* n, int a) { return pb_nest_node(n, PB_OP_EXTF, PB_F64, a, -1); }
static inline int pb__narrowed(pb_nest* n, int a) { return pb_nest_node(n, PB_OP_TRUNCF, PB_F32, a, -1); }
// c[0] + c[1] x + ...
int pb__wide_polynomial(pb_nest* n, int x, const double* c, int count);
int pb__wide_with_sign_of(pb_nest* n, int magnitude, int x);
// The integer nearest to x, |x| < 2^51, in the low bits of an i64 and as a number. Of NaN any integer.
typedef struct pb_nearest {
  int integer, number;
} pb_nearest;
pb_nearest pb__wide_nearest(pb_nest* n, int x);
// A number as the sum of two, `low` below half of high's last place: what f64 alone would round away.
typedef struct pb_wide_pair {
  int high, low;
} pb_wide_pair;
// a b without loss, |a| and |b| below 2^995 (Dekker, "A floating-point technique for extending the available
// precision", 1971).
pb_wide_pair pb__wide_product(pb_nest* n, int a, int b);

int pb__wide_exp(pb_nest* n, int x); // the rows of the table
int pb__wide_expm1(pb_nest* n, int x);
int pb__wide_tanh(pb_nest* n, int x);
int pb__wide_log(pb_nest* n, int x);
int pb__wide_log1p(pb_nest* n, int x);
int pb__wide_atan(pb_nest* n, int x);
int pb__wide_atan2(pb_nest* n, int y, int x);
int pb__wide_cbrt(pb_nest* n, int x);
int pb__wide_sin(pb_nest* n, int x);
int pb__wide_cos(pb_nest* n, int x);
int pb__wide_tan(pb_nest* n, int x);
int pb__wide_pow(pb_nest* n, int x, int y);
int pb__wide_erf(pb_nest* n, int x);
// Of f32 by way of f64.
int pb__sin(pb_nest* n, int x);
int pb__cos(pb_nest* n, int x);
int pb__tan(pb_nest* n, int x);
int pb__pow(pb_nest* n, int x, int y);

#endif
