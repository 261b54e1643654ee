// Scalar bodies on intervals: whatever numbers the operands are, what the body makes of them lies in the interval that
// it makes of theirs. Bodies and numbers are random; a reference evaluates them one by one. What must be known exactly,
// an exponential's 0 far below 0, is a case of its own.
#include "core/s3/fusion/interval.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { LOADS = 3, NODES = 12, BODIES = 20000, SAMPLES = 8 };

static uint32_t seed = 1;

static uint32_t draw(uint32_t below) {
  seed = seed * 1664525 + 1013904223;
  return (seed >> 8) % below;
}

static float number(void) {
  static const float some[] = {0,    -0.0F,  1,       -1,    0.5F,     3,        -7,       100,
                               -104, 1e-40F, -1e-44F, 1e30F, -3.4e38F, INFINITY, -INFINITY};
  return some[draw(sizeof some / sizeof *some)];
}

// One of the numbers of an interval.
static float inside(const pb_interval* x) {
  float between = x->low + (x->high - x->low) * (float)draw(1000) / 1000;
  uint32_t which = draw(3);
  if (which == 0 || isnan(between) || between < x->low || between > x->high) return draw(2) ? x->low : x->high;
  return between;
}

static float reference(const pb_nest* nest, const float* loads) {
  float made[NODES + LOADS] = {0};
  for (int n = 0; n < nest->expr_count; ++n) {
    const pb_expr_node* e = &nest->expr[n];
    float a = e->args[0] >= 0 ? made[e->args[0]] : 0, b = e->args[1] >= 0 ? made[e->args[1]] : 0,
          c = e->args[2] >= 0 ? made[e->args[2]] : 0;
    made[n] = e->op == PB_OP_LOAD     ? loads[e->operand]
              : e->op == PB_OP_CONST  ? (float)e->value
              : e->op == PB_OP_ADD    ? a + b
              : e->op == PB_OP_SUB    ? a - b
              : e->op == PB_OP_MUL    ? a * b
              : e->op == PB_OP_DIV    ? a / b
              : e->op == PB_OP_FMA    ? fmaf(a, b, c)
              : e->op == PB_OP_MAX    ? fmaxf(a, b)
              : e->op == PB_OP_MIN    ? fminf(a, b)
              : e->op == PB_OP_NEG    ? -a
              : e->op == PB_OP_LESS   ? a < b
              : e->op == PB_OP_SELECT ? (a != 0 ? b : c)
                                      : NAN;
  }
  return made[nest->expr_count - 1];
}

static int add(pb_nest* nest, pb_op op, int a, int b, int c) {
  int n = pb_nest_node(nest, op, op == PB_OP_LESS ? PB_I1 : PB_F32, a, b);
  nest->expr[n].args[2] = c;
  return n;
}

static void draw_body(pb_nest* nest) {
  static const pb_op ops[] = {PB_OP_ADD, PB_OP_SUB, PB_OP_MUL, PB_OP_DIV,   PB_OP_FMA,
                              PB_OP_MAX, PB_OP_MIN, PB_OP_NEG, PB_OP_SELECT};
  int last = 0;
  pb_nest_begin(nest, "body", "point", LOADS + 1);
  for (int k = 0; k < LOADS; ++k) nest->access[k].type = PB_F32, last = pb_nest_load(nest, k);
  while (nest->expr_count < NODES - 2) {
    int a = last, b = (int)draw((uint32_t)last + 1), c = (int)draw((uint32_t)last + 1);
    pb_op op = ops[draw(sizeof ops / sizeof *ops)];
    while (nest->expr[b].type != PB_F32) --b;
    while (nest->expr[c].type != PB_F32) --c;
    if (op == PB_OP_SELECT) {
      int truth = add(nest, PB_OP_LESS, b, c, -1);
      last = add(nest, op, truth, a, b);
    } else
      last = add(nest, op, a, op == PB_OP_NEG ? -1 : b, op == PB_OP_FMA ? c : -1);
  }
}

static void numbers_lie_in_intervals(void** state) {
  (void)state;
  pb_arena arena = {0};
  pb_nest* nest = pb_alloc_raw(&arena, sizeof *nest);
  int known = 0;
  for (int body = 0; body < BODIES; ++body) {
    pb_interval loads[LOADS];
    draw_body(nest);
    for (int k = 0; k < LOADS; ++k) {
      float a = number(), b = draw(3) ? number() : a;
      loads[k] = pb_interval_of(a < b ? a : b, a < b ? b : a);
    }
    pb_interval all = pb_nest_interval(nest, loads);
    known += all.kind == PB_BOUNDED;
    for (int k = 0; k < SAMPLES && all.kind == PB_BOUNDED; ++k) {
      float points[LOADS];
      for (int l = 0; l < LOADS; ++l) points[l] = inside(&loads[l]);
      float one = reference(nest, points);
      assert_true(one >= all.low && one <= all.high); // no NaN either
    }
  }
  assert_true(known > BODIES / 10);
  pb_arena_free(&arena);
}

// select(x < -104, -104, x), its bits shifted left: of what lies below one number remains.
static void clamped_numbers_are_one(void** state) {
  (void)state;
  pb_arena arena = {0};
  pb_nest* nest = pb_alloc_raw(&arena, sizeof *nest);
  pb_nest_begin(nest, "clamp", "point", 2);
  int x = pb_nest_load(nest, 0), least = pb_nest_const(nest, PB_F32, -104);
  nest->expr[x].type = PB_F32;
  int clamped = add(nest, PB_OP_SELECT, add(nest, PB_OP_LESS, x, least, -1), least, x);
  int bits = pb_nest_node(nest, PB_OP_BITCAST, PB_I32, clamped, -1);
  int sign = pb_nest_node(nest, PB_OP_AND, PB_I32, bits, pb_nest_integer(nest, PB_I32, INT32_MIN));
  (void)pb_nest_node(nest, PB_OP_BITCAST, PB_F32, sign, -1);
  pb_interval below = pb_interval_of(-INFINITY, -105), around = pb_interval_of(-105, -103);
  pb_interval zero = pb_nest_interval(nest, &below);
  assert_true(pb_interval_is_zero(&zero) && signbit(zero.low));
  assert_int_equal(pb_nest_interval(nest, &around).kind, PB_ANY_NUMBER);
  pb_arena_free(&arena);
}

// Zeros stay zeros, of a sign that nobody knows, if the factor is finite; other numbers do not stay known.
static void zeros_stay_with_factors(void** state) {
  (void)state;
  pb_arena arena = {0};
  pb_nest* nest = pb_alloc_raw(&arena, sizeof *nest);
  for (int divides = 0; divides < 2; ++divides) {
    pb_interval loads[2] = {pb_interval_of(0, 0), {.kind = PB_FACTOR}};
    pb_nest_begin(nest, "scale", "point", 3);
    int a = pb_nest_load(nest, 0), b = pb_nest_load(nest, 1);
    (void)pb_nest_node(nest, divides ? PB_OP_DIV : PB_OP_MUL, PB_F32, a, b);
    pb_interval zero = pb_nest_interval(nest, loads);
    assert_true(pb_interval_is_zero(&zero) && signbit(zero.low) && !signbit(zero.high));
    loads[0].high = 1;
    assert_int_equal(pb_nest_interval(nest, loads).kind, PB_ANY_NUMBER);
  }
  pb_arena_free(&arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(numbers_lie_in_intervals),
                                     cmocka_unit_test(clamped_numbers_are_one),
                                     cmocka_unit_test(zeros_stay_with_factors)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
