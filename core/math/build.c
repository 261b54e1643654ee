#include "core/math/build.h"

#include <math.h>
#include <string.h>

enum { MANTISSA_BITS = 23, EXPONENT_BIAS = 127 };

static int constant(pb_nest* n, pb_type type, double value) {
  for (int k = 0; k < n->expr_count; ++k)
    if (n->expr[k].op == PB_OP_CONST && n->expr[k].type == type && !memcmp(&n->expr[k].value, &value, sizeof value))
      return k;
  return pb_nest_const(n, type, value);
}

int pb__f32(pb_nest* n, double value) { return constant(n, PB_F32, value); }
int pb__i32(pb_nest* n, int64_t value) { return constant(n, PB_I32, (double)value); }

int pb__select(pb_nest* n, int condition, int yes, int no) {
  int id = pb_nest_node(n, PB_OP_SELECT, n->expr[yes].type, condition, yes);
  n->expr[id].args[2] = no;
  return id;
}

int pb__polynomial(pb_nest* n, int x, const float* c, int count) {
  int sum = pb__f32(n, (double)c[count - 1]);
  for (int k = count - 2; k >= 0; --k) {
    int next = pb__f32(n, (double)c[k]);
    sum = pb__add(n, pb__mul(n, sum, x), next);
  }
  return sum;
}

int pb__power_of_two(pb_nest* n, int exponent, int more) {
  return pb__from_bits(n, pb__add(n, exponent, pb__i32(n, (int64_t)(EXPONENT_BIAS + more) << MANTISSA_BITS)));
}

int pb__scaled(pb_nest* n, int y, int exponent) { return pb__from_bits(n, pb__add(n, pb__bits(n, y), exponent)); }

int pb__with_sign_of(pb_nest* n, int magnitude, int x) {
  int least = pb__i32(n, INT32_MIN), sign = pb__op(n, PB_OP_AND, pb__bits(n, x), least);
  return pb__from_bits(n, pb__op(n, PB_OP_OR, pb__bits(n, magnitude), sign));
}
