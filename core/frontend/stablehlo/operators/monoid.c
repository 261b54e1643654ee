// What a body of several operations does, tried on some numbers, for no rule tells it of any body. Whether one, as the
// logarithm of two exponentials' sum is, combines numbers in any order alike, and its first number changes none of
// them; whether one of numbers and their places keeps the largest, or the least, and its place.
#include "core/frontend/stablehlo/door.h"

#include <math.h>
#include <string.h>

enum { MOST_OPS = 64, MOST_ENDS = 4 };

typedef struct trial {
  const pb_flat_block* body;
  int flat[MOST_OPS + MOST_ENDS]; // what has a number: the arguments and results so far
  double number[MOST_OPS + MOST_ENDS];
  int count;
} trial;

static double added(double a, double b) { return a + b; }
static double less(double a, double b) { return a - b; }
static double times(double a, double b) { return a * b; }
static double over(double a, double b) { return a / b; }
static double most(double a, double b) { return isnan(a) || a > b ? a : b; }
static double least(double a, double b) { return isnan(a) || a < b ? a : b; }
static double both(double a, double b) { return a != 0 && b != 0; }
static double either(double a, double b) { return a != 0 || b != 0; }
static double negative(double a) { return -a; }
static double inverted(double a) { return a == 0; }

static const struct {
  const char* name;
  double (*of)(double a, double b);
} binary[] = {{"add", added},    {"subtract", less}, {"multiply", times}, {"divide", over},
              {"maximum", most}, {"minimum", least}, {"and", both},       {"or", either}};
static const struct {
  const char* name;
  double (*of)(double a);
} unary[] = {{"abs", fabs},    {"negate", negative},    {"exponential", exp}, {"exponential_minus_one", expm1},
             {"log", log},     {"log_plus_one", log1p}, {"sqrt", sqrt},       {"tanh", tanh},
             {"not", inverted}};

static bool number_of(const trial* t, int flat, double* is) {
  for (int k = 0; k < t->count; ++k)
    if (t->flat[k] == flat) return *is = t->number[k], true;
  return false;
}

bool pb__door_as_double(pb_type type, const void* bytes, double* is) {
  float narrow = 0;
  if (type == PB_F64) memcpy(is, bytes, sizeof *is);
  if (type == PB_F32) memcpy(&narrow, bytes, sizeof narrow), *is = (double)narrow;
  return type == PB_F64 || type == PB_F32;
}

static bool constant(const pb_flat_op* op, double* is) {
  const pb_flat_attr* value = pb_flat_find(op, "value");
  if (!value || value->kind != PB_FLAT_TENSOR || value->type.rank || value->type.is_complex) return false;
  return pb__door_as_double(value->type.type, value->bytes, is);
}

static bool compared(const pb_flat_op* op, double a, double b, double* is) {
  const char* const how[] = {"EQ", "NE", "LT", "LE", "GT", "GE"};
  const bool answer[] = {a == b, a != b, a<b, a <= b, a> b, a >= b};
  for (int k = 0; k < 6; ++k)
    if (pb__door_says(op, "comparison_direction", how[k])) return *is = answer[k], true;
  return false;
}

static bool computed(const trial* t, const pb_flat_op* op, double* is) {
  double v[3];
  const char* name = op->name + strlen("stablehlo.");
  if (strncmp(op->name, "stablehlo.", strlen("stablehlo.")) != 0 || op->result_count != 1 || op->operand_count > 3)
    return false;
  if (!strcmp(name, "constant")) return constant(op, is);
  for (int k = 0; k < op->operand_count; ++k)
    if (!number_of(t, op->operands[k], &v[k])) return false;
  if (!strcmp(name, "select") && op->operand_count == 3) return *is = v[0] != 0 ? v[1] : v[2], true;
  if (!strcmp(name, "compare") && op->operand_count == 2) return compared(op, v[0], v[1], is);
  for (size_t k = 0; k < sizeof binary / sizeof *binary; ++k)
    if (!strcmp(name, binary[k].name) && op->operand_count == 2) return *is = binary[k].of(v[0], v[1]), true;
  for (size_t k = 0; k < sizeof unary / sizeof *unary; ++k)
    if (!strcmp(name, unary[k].name) && op->operand_count == 1) return *is = unary[k].of(v[0]), true;
  return false;
}

// What the body makes of as many numbers as it has arguments. false: it has an operation that is not known here.
static bool tried(trial* t, const double* numbers, int made, double* is) {
  const pb_flat_block* body = t->body;
  t->count = 0;
  for (int k = 0; k < body->argument_count; ++k) {
    t->flat[t->count] = body->arguments[k];
    t->number[t->count++] = numbers[k];
  }
  for (int k = 0; k + 1 < body->op_count; ++k) {
    const pb_flat_op* op = &body->ops[k];
    if (!computed(t, op, &t->number[t->count])) return false;
    t->flat[t->count++] = op->results[0];
  }
  const pb_flat_op* end = &body->ops[body->op_count - 1];
  if (end->operand_count != made) return false;
  for (int k = 0; k < made; ++k)
    if (!number_of(t, end->operands[k], &is[k])) return false;
  return true;
}

static bool combine(trial* t, double a, double b, double* is) { return tried(t, (const double[]){a, b}, 1, is); }

static bool alike(double a, double b) { return a == b || fabs(a - b) <= 1e-9 * (1 + fabs(a) + fabs(b)); }

bool pb__door_is_monoid(const pb_flat_op* op, double first) {
  const double numbers[] = {first, 0, 1, -1, 0.25, -2.5, 3.75, 17, -40};
  enum { TRIED = sizeof numbers / sizeof *numbers };
  const pb_flat_block* body = op->region_count == 1 ? &op->regions[0] : NULL;
  if (!body || body->argument_count != 2 || body->op_count < 2 || body->op_count > MOST_OPS) return false;
  trial t = {.body = body};
  for (int i = 0; i < TRIED; ++i) {
    double front, behind;
    if (!combine(&t, first, numbers[i], &front) || !combine(&t, numbers[i], first, &behind)) return false;
    if (!alike(front, numbers[i]) || !alike(behind, numbers[i])) return false;
    for (int j = 0; j < TRIED; ++j)
      for (int k = 0; k < TRIED; ++k) {
        double ab, bc, left, right;
        if (!combine(&t, numbers[i], numbers[j], &ab) || !combine(&t, ab, numbers[k], &left)) return false;
        if (!combine(&t, numbers[j], numbers[k], &bc) || !combine(&t, numbers[i], bc, &right)) return false;
        if (!alike(left, right)) return false;
      }
  }
  return true;
}

// The body with the number and place (a, i) in front of (b, j) keeps the better one: NaN is better than all numbers,
// and of those that are alike the first is.
static bool keeps(trial* t, bool largest, double a, double i, double b, double j) {
  bool first = isnan(a) || (largest ? a >= b : a <= b);
  double kept[2];
  if (!tried(t, (const double[]){a, i, b, j}, 2, kept) || kept[1] != (first ? i : j)) return false;
  double better = first ? a : b;
  return kept[0] == better || (isnan(kept[0]) && isnan(better));
}

bool pb__door_keeps_place(const pb_flat_op* op, bool is_float, bool largest) {
  const double whole[] = {0, 1, -1, 3, -40}, floats[] = {0, 1, -1, 0.25, -2.5, INFINITY, -INFINITY, NAN};
  const double* numbers = is_float ? floats : whole;
  int count = is_float ? (int)(sizeof floats / sizeof *floats) : (int)(sizeof whole / sizeof *whole);
  const pb_flat_block* body = op->region_count == 1 ? &op->regions[0] : NULL;
  if (!body || body->argument_count != MOST_ENDS || body->op_count < 2 || body->op_count > MOST_OPS) return false;
  for (int k = 0; k < body->op_count; ++k) // of which NaN and zeros are compared otherwise
    if (pb_flat_find(&body->ops[k], "compare_type") && pb__door_says(&body->ops[k], "compare_type", "TOTALORDER"))
      return false;
  trial t = {.body = body};
  for (int i = 0; i < count; ++i)
    for (int j = 0; j < count; ++j)
      if (!keeps(&t, largest, numbers[i], 0, numbers[j], 1) || !keeps(&t, largest, numbers[i], 2, numbers[j], 7))
        return false;
  return true;
}
