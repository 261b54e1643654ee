#include "core/frontend/stablehlo/operators/trial.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

enum { MOST_OPS = 64 };

typedef struct trial {
  int flat[MOST_OPS + PB_TRIAL_ARGUMENTS]; // what has a number: the arguments and results so far
  double number[MOST_OPS + PB_TRIAL_ARGUMENTS];
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

static int64_t place_of_code(double a) {
  int64_t code;
  memcpy(&code, &a, sizeof code);
  return code < 0 ? code ^ INT64_MAX : code;
}

bool pb__door_code_less(double a, double b) { return place_of_code(a) < place_of_code(b); }

static bool compared(const pb_flat_op* op, double a, double b, double* is) {
  if (pb_flat_find(op, "compare_type") && pb__door_says(op, "compare_type", "TOTALORDER")) {
    int order = pb__door_code_less(b, a) - pb__door_code_less(a, b);
    a = order;
    b = 0;
  }
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

bool pb__door_try(const pb_flat_block* body, const double* numbers, int made, double* is) {
  trial t = {.count = 0};
  if (body->argument_count > PB_TRIAL_ARGUMENTS || body->op_count < 2 || body->op_count > MOST_OPS) return false;
  for (int k = 0; k < body->argument_count; ++k) {
    t.flat[t.count] = body->arguments[k];
    t.number[t.count++] = numbers[k];
  }
  for (int k = 0; k + 1 < body->op_count; ++k) {
    const pb_flat_op* op = &body->ops[k];
    if (!computed(&t, op, &t.number[t.count])) return false;
    t.flat[t.count++] = op->results[0];
  }
  const pb_flat_op* end = &body->ops[body->op_count - 1];
  if (end->operand_count != made) return false;
  for (int k = 0; k < made; ++k)
    if (!number_of(&t, end->operands[k], &is[k])) return false;
  return true;
}
