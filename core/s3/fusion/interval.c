#include "core/s3/fusion/interval.h"

#include "core/poly/evaluate.h"

#include <math.h>
#include <string.h>

static const pb_interval any = {.kind = PB_ANY_NUMBER};

static pb_interval whole(int64_t number) { return (pb_interval){PB_WHOLE_NUMBER, 0, 0, number}; }

static float lesser(float a, float b) { return a < b || (a == b && signbit(a)) ? a : b; }
static float greater(float a, float b) { return a > b || (a == b && !signbit(a)) ? a : b; }

// The least interval around some numbers; any: one of them is NaN.
static pb_interval around(const float* numbers, int count) {
  pb_interval x = pb_interval_of(numbers[0], numbers[0]);
  for (int k = 0; k < count; ++k) {
    if (isnan(numbers[k])) return any;
    x.low = lesser(x.low, numbers[k]);
    x.high = greater(x.high, numbers[k]);
  }
  return x;
}

static pb_interval element_of(pb_type type, const void* data, int64_t at) {
  const char* from = (const char*)data + at * (pb_type_bits(type) / 8);
  float number;
  if (type == PB_I8) return whole(*(const signed char*)from);
  if (type != PB_F32) return any;
  memcpy(&number, from, sizeof number);
  return isnan(number) ? any : pb_interval_of(number, number);
}

pb_interval pb_constant_interval(pb_type type, const void* data, int64_t count) {
  pb_interval all = element_of(type, data, 0);
  for (int64_t k = 1; k < count; ++k) {
    pb_interval one = element_of(type, data, k);
    if (one.kind != all.kind || one.integer != all.integer) return any;
    all.low = fminf(all.low, one.low);
    all.high = fmaxf(all.high, one.high);
  }
  return all;
}

static bool is_point(const pb_interval* x) {
  return x->kind == PB_BOUNDED && !memcmp(&x->low, &x->high, sizeof x->low);
}

static bool has_infinity(const pb_interval* x) { return isinf(x->low) || isinf(x->high); }

static pb_interval add(const pb_interval* a, const pb_interval* b) {
  const float ends[] = {a->low + b->low, a->high + b->high, a->low + b->high, a->high + b->low};
  return around(ends, has_infinity(a) && has_infinity(b) ? 4 : 2);
}

// a * b + c, rounded once. Corners tell all but where 0 and an infinity meet inside.
static pb_interval multiply(const pb_interval* a, const pb_interval* b, const pb_interval* c) {
  bool inside = (has_infinity(a) && b->low <= 0 && b->high >= 0) || (has_infinity(b) && a->low <= 0 && a->high >= 0);
  float ends[8];
  for (int k = 0; k < 8; ++k) {
    float x = k & 1 ? a->high : a->low, y = k & 2 ? b->high : b->low;
    ends[k] = c ? fmaf(x, y, k & 4 ? c->high : c->low) : x * y;
  }
  return inside || (c && has_infinity(c)) ? any : around(ends, 8);
}

static pb_interval divide(const pb_interval* a, const pb_interval* b) {
  const float ends[] = {a->low / b->low, a->low / b->high, a->high / b->low, a->high / b->high};
  return b->low <= 0 && b->high >= 0 ? any : around(ends, 4);
}

static pb_interval greatest(const pb_interval* a, const pb_interval* b, bool least) {
  return least ? pb_interval_of(lesser(a->low, b->low), lesser(a->high, b->high))
               : pb_interval_of(greater(a->low, b->low), greater(a->high, b->high));
}

static pb_interval of_floats(pb_op op, const pb_interval* a, const pb_interval* b) {
  pb_interval minus = pb_interval_of(-b->high, -b->low);
  switch (op) {
  case PB_OP_ADD:
    return add(a, b);
  case PB_OP_SUB:
    return add(a, &minus);
  case PB_OP_MUL:
    return multiply(a, b, NULL);
  case PB_OP_DIV:
    return divide(a, b);
  case PB_OP_MAX:
  case PB_OP_MAXIMUM:
    return greatest(a, b, false);
  case PB_OP_MIN:
  case PB_OP_MINIMUM:
    return greatest(a, b, true);
  case PB_OP_LESS:
    return a->high < b->low ? whole(1) : a->low >= b->high ? whole(0) : any;
  case PB_OP_LESS_EQUAL:
    return a->high <= b->low ? whole(1) : a->low > b->high ? whole(0) : any;
  case PB_OP_EQUAL:
    return a->high < b->low || b->high < a->low ? whole(0) : any;
  default:
    return any;
  }
}

// The node of whole numbers, or the bits of one number.
static pb_interval of_numbers(const pb_expr_node* node, pb_type from, const pb_interval* a, const pb_interval* b) {
  pb_number v[3] = {{.i = a->integer}, {.i = b->integer}}, made;
  if (a->kind == PB_BOUNDED) v[0] = (pb_number){.f = a->low};
  bool known = pb_number_compute(node, &from, v, &made);
  if (known && node->type == PB_F32 && !isnan(made.f)) return pb_interval_of(made.f, made.f);
  return known && !pb_type_is_float(node->type) ? whole(made.i) : any;
}

static pb_interval select(const pb_interval* truth, const pb_interval* yes, const pb_interval* no) {
  if (truth->kind == PB_WHOLE_NUMBER) return truth->integer ? *yes : *no;
  if (yes->kind != PB_BOUNDED || no->kind != PB_BOUNDED) return any;
  return pb_interval_of(lesser(yes->low, no->low), greater(yes->high, no->high));
}

static pb_interval with_factor(pb_op op, const pb_interval* a, const pb_interval* b) {
  bool left = pb_interval_is_zero(a) && b->kind == PB_FACTOR, right = pb_interval_is_zero(b) && a->kind == PB_FACTOR;
  return (op == PB_OP_MUL && (left || right)) || (op == PB_OP_DIV && left) ? pb_interval_of(-0.0F, 0.0F) : any;
}

// A float of an integer of which nothing else is known.
static pb_interval of_integer(pb_type type) {
  float most = ldexpf(1, pb_type_bits(type) - 1);
  return pb_interval_of(-most, most);
}

static pb_interval constant_of(const pb_expr_node* node) {
  if (node->type == PB_F32) return isnan(node->value) ? any : pb_interval_of((float)node->value, (float)node->value);
  return pb_type_is_float(node->type) ? any : whole(node->integer);
}

static pb_interval node_of(const pb_nest* nest, int n, const pb_interval* loads, const pb_interval* made) {
  const pb_expr_node* node = &nest->expr[n];
  const pb_interval *a = node->args[0] >= 0 ? &made[node->args[0]] : &any,
                    *b = node->args[1] >= 0 ? &made[node->args[1]] : &any,
                    *c = node->args[2] >= 0 ? &made[node->args[2]] : &any;
  if (node->op == PB_OP_LOAD) return node->args[0] >= 0 ? any : loads[node->operand];
  if (node->op == PB_OP_CONST) return constant_of(node);
  bool wholes = a->kind == PB_WHOLE_NUMBER && (node->args[1] < 0 || b->kind == PB_WHOLE_NUMBER) && node->args[2] < 0;
  if (wholes || (node->op == PB_OP_BITCAST && is_point(a)))
    return of_numbers(node, nest->expr[node->args[0]].type, a, b);
  if (node->op == PB_OP_SELECT) return select(a, b, c);
  if (node->op == PB_OP_SITOFP && node->type == PB_F32) return of_integer(nest->expr[node->args[0]].type);
  if (node->op == PB_OP_NEG && a->kind == PB_BOUNDED) return pb_interval_of(-a->high, -a->low);
  if (node->op == PB_OP_FMA && a->kind == PB_BOUNDED && b->kind == PB_BOUNDED && c->kind == PB_BOUNDED)
    return multiply(a, b, c);
  if (a->kind == PB_BOUNDED && b->kind == PB_BOUNDED) return of_floats(node->op, a, b);
  return with_factor(node->op, a, b);
}

pb_interval pb_nest_interval(const pb_nest* nest, const pb_interval* loads) {
  pb_interval made[PB_NEST_EXPR];
  for (int n = 0; n < nest->expr_count; ++n) made[n] = node_of(nest, n, loads, made);
  return nest->expr_count ? made[nest->expr_count - 1] : any;
}
