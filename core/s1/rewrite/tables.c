// A sum or a product of codes and of a table of the same codes, as the steps of silu are when each has a scale of its
// own, is a function of one code: a table, whose numbers are computed here as the operator would. What the model has
// between, if nobody else reads it, goes.
//
//   before   b = T[a + 128];  y = clamp(roundeven((a - za) * (b - zb) * m) + zy)
//   after    y = U[a + 128]
#include "core/s1/control.h"
#include "core/s1/lift/lift.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CODES = 256, CODE_MIDDLE = 128 };

// The codes that a value takes, by those of the value that it is a function of.
typedef struct factor {
  int of;               // value
  const int32_t* table; // NULL: it is that value itself
} factor;

static bool same_shape(const pb_s1_value* a, const pb_s1_value* b) {
  return a->rank == b->rank && !memcmp(a->shape, b->shape, sizeof *a->shape * (size_t)a->rank);
}

static factor factor_of(const pb_s1* p, pb_consts* consts, const size_t* maker, int value) {
  int base = pb_s1_base(p, value);
  if (!maker[base]) return (factor){base, NULL};
  const pb_s1_op* op = &p->ops[maker[base] - 1];
  return (factor){pb_s1_base(p, op->x), pb_const_data(consts, op->weights)};
}

static int32_t code_of(const factor* f, int code) { return f->table ? f->table[code] : code - CODE_MIDDLE; }

// As build.c has it, every step rounded once.
static int32_t result(const pb_s1_op* op, int32_t a, int32_t b) {
  float x = (float)a - (float)op->zx, z = (float)b - (float)op->zz;
  float sum = op->kind == PB_S1_MUL ? x * z * op->ma : x * op->ma + z * op->mb;
  float code = rintf(sum) + (float)op->zy;
  return (int32_t)fminf(fmaxf(code, (float)op->lo), (float)op->hi);
}

// Whether the operator's operands are both functions of one value by itself, one of them a table of it.
static bool joins(const pb_s1* p, const pb_s1_op* op, const factor* a, const factor* b) {
  if ((op->kind != PB_S1_MUL && op->kind != PB_S1_ADD) || op->z < 0 || op->weights >= 0 || op->terms) return false;
  return a->of == b->of && (a->table || b->table) && !p->values[a->of].is_variable &&
         same_shape(&p->values[op->x], &p->values[op->z]);
}

// The operator becomes the table, which has the form of one that makes an operand.
static void join(pb_s1* p, pb_consts* consts, const size_t* maker, pb_s1_op* op, const factor* a, const factor* b) {
  int32_t* table = PB_NEW_ARRAY(&consts->arena, int32_t, CODES);
  const int64_t shape = CODES;
  for (int c = 0; c < CODES; ++c) table[c] = result(op, code_of(a, c), code_of(b, c));
  pb_s1_op whole = p->ops[maker[pb_s1_base(p, a->table ? op->x : op->z)] - 1];
  whole.name = op->name;
  whole.type = op->type;
  whole.y = op->y;
  whole.zy = op->zy;
  whole.lo = op->lo;
  whole.hi = op->hi;
  whole.weights = pb_consts_add(consts, pb_printf(&consts->arena, "%s.table", op->name), PB_I32, 1, &shape, table);
  *op = whole;
}

void pb__s1_join_tables(pb_s1* program, pb_consts* consts) {
  size_t* maker = calloc(program->value_count + 1, sizeof *maker); // by value: 1 + the table that makes it
  if (!maker) pb_no_memory(program->value_count);
  for (size_t k = 0; k < program->op_count; ++k) {
    pb_s1_op* op = &program->ops[k];
    if (op->z >= 0 && op->x >= 0) {
      factor a = factor_of(program, consts, maker, op->x), b = factor_of(program, consts, maker, op->z);
      if (joins(program, op, &a, &b)) join(program, consts, maker, op, &a, &b);
    }
    bool whole = op->kind == PB_S1_TABLE && same_shape(&program->values[op->x], &program->values[op->y]);
    if (whole && !program->values[op->y].is_variable) maker[pb_s1_base(program, op->y)] = k + 1;
  }
  free(maker);
}
