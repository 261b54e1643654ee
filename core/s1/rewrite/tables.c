// Steps of one function of codes, each with a scale of its own, as quantisers leave GELU and silu: a table of a table,
// a table times or plus one number, a sum or a product of codes and of a table of the same codes. All of them together
// are a function of one code: a table, whose numbers are computed here as the operators would. What the model has
// between, if nobody else reads it, goes.
//
//   before   b = T[a + 128];  c = clamp(roundeven((b - zb) * m + 1) + zc);
//            y = clamp(roundeven((a - za) * (c - zc) * n) + zy)
//   after    y = U[a + 128]
#include "core/s1/control.h"
#include "core/s1/lift/lift.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CODES = 256, CODE_MIDDLE = 128, NONE = -1 };

// The codes that a value takes, by those of the value that it is a function of.
typedef struct factor {
  int of;               // value; NONE: it is one code
  int from;             // the same elements in the shape that the table goes through
  const int32_t* table; // NULL: it is that value itself
  size_t maker;         // of a table: 1 + an operator whose form has it
  int32_t code;         // of one code
} factor;

typedef struct joiner {
  pb_s1* p;
  pb_consts* consts;
  factor* known; // by value, of those that are tables or copies
} joiner;

static bool same_shape(const pb_s1_value* a, const pb_s1_value* b) {
  return a->rank == b->rank && !memcmp(a->shape, b->shape, sizeof *a->shape * (size_t)a->rank);
}

static factor factor_of(const joiner* j, int value) {
  const int base = pb_s1_base(j->p, value);
  const factor* known = &j->known[base];
  if (!known->maker && known->of == NONE) return (factor){.of = base, .from = value};
  factor f = *known;
  if (!f.table) f.from = value;
  return f;
}

// A constant all of whose codes are one. false: it is none.
static bool is_one_code(const joiner* j, int id, factor* f) {
  const pb_const* c = j->consts->items[id];
  int64_t count = 1;
  for (int r = 0; r < c->rank; ++r) count *= c->shape[r];
  const int8_t* codes = c->type == PB_I8 && count > 0 ? pb_const_data(j->consts, id) : NULL;
  for (int64_t k = 1; codes && k < count; ++k)
    if (codes[k] != codes[0]) return false;
  if (codes) *f = (factor){.of = NONE, .code = codes[0]};
  return codes;
}

static int32_t code_of(const factor* f, int code) {
  if (f->of == NONE) return f->code;
  return f->table ? f->table[code] : code - CODE_MIDDLE;
}

// As build.c has it, every step rounded once.
static int32_t result(const joiner* j, const pb_s1_op* op, int32_t a, int32_t b) {
  if (op->kind == PB_S1_TABLE) return ((const int32_t*)pb_const_data(j->consts, op->weights))[a + CODE_MIDDLE];
  float x = (float)a - (float)op->zx, z = (float)b - (float)op->zz;
  float sum = op->kind == PB_S1_RESCALE ? x * op->ma : op->kind == PB_S1_MUL ? x * z * op->ma : x * op->ma + z * op->mb;
  float code = rintf(sum) + (float)op->zy;
  return (int32_t)fminf(fmaxf(code, (float)op->lo), (float)op->hi);
}

// Whether the operator is a step behind a table: all it takes is functions of one value by itself, one of them a table.
static bool reads_factors(const joiner* j, const pb_s1_op* op, factor* a, factor* b) {
  bool two = op->kind == PB_S1_MUL || op->kind == PB_S1_ADD;
  if ((!two && op->kind != PB_S1_TABLE && op->kind != PB_S1_RESCALE) || op->terms || op->x < 0) return false;
  *a = *b = factor_of(j, op->x);
  if (two && op->z >= 0) {
    *b = factor_of(j, op->z);
    if (op->weights >= 0 || a->of != b->of || !same_shape(&j->p->values[op->x], &j->p->values[op->z])) return false;
  } else if (two && (op->weights < 0 || !is_one_code(j, op->weights, b))) {
    return false;
  }
  return (a->table || b->table) && !j->p->values[a->of].is_variable;
}

// Whether the value's table goes through the matrix of its rows, as all that has its lanes along the last dim.
static bool has_rows(const pb_s1_value* v) { return v->rank > 2 && v->rank != 4; }

static bool is_matrix_of(const pb_s1_value* matrix, const pb_s1_value* v) {
  int64_t rows = 1;
  for (int r = 0; r + 1 < v->rank; ++r) rows *= v->shape[r];
  return matrix->rank == 2 && matrix->shape[0] == rows && matrix->shape[1] == v->shape[v->rank - 1];
}

// The elements that the table goes through, in the shape of what it makes; NONE: there are none.
static int source_of(const joiner* j, const pb_s1_op* op, const factor* a, const factor* b) {
  const factor* factors[] = {a->table ? a : b, a->table ? b : a};
  const pb_s1_value* y = &j->p->values[op->y];
  if (has_rows(y) && y->is_output) return NONE;
  for (int k = 0; k < 2; ++k) {
    const pb_s1_value* from = factors[k]->of == NONE ? NULL : &j->p->values[factors[k]->from];
    if (from && (has_rows(y) ? is_matrix_of(from, y) : same_shape(from, y))) return factors[k]->from;
  }
  return NONE;
}

// The value y is made as a matrix of the shape of `like`, and so are its other shapes.
static int as_matrix(pb_s1* p, int y, int like) {
  pb_s1_value matrix = {.name = p->values[y].name, .type = PB_I8, .rank = 2, .alias_of = NONE, .const_id = NONE};
  memcpy(matrix.shape, p->values[like].shape, 2 * sizeof *matrix.shape);
  int made = (int)p->value_count;
  for (int v = 0; v < made; ++v)
    if (v == y || p->values[v].alias_of == y) p->values[v].alias_of = made;
  PB_PUSH(p->values, p->value_count, p->value_capacity, matrix);
  return made;
}

// The operator becomes the table, which has the form of one that makes an operand.
static void join(joiner* j, pb_s1_op* op, const factor* a, const factor* b) {
  int from = source_of(j, op, a, b);
  if (from == NONE) return;
  int32_t* table = PB_NEW_ARRAY(&j->consts->arena, int32_t, CODES);
  const int64_t shape = CODES;
  for (int c = 0; c < CODES; ++c) table[c] = result(j, op, code_of(a, c), code_of(b, c));
  pb_s1_op whole = j->p->ops[(a->table ? a : b)->maker - 1];
  whole.name = op->name;
  whole.type = op->type;
  whole.x = from;
  whole.y = has_rows(&j->p->values[op->y]) ? as_matrix(j->p, op->y, from) : op->y;
  whole.zy = op->zy;
  whole.lo = op->lo;
  whole.hi = op->hi;
  whole.weights =
      pb_consts_add(j->consts, pb_printf(&j->consts->arena, "%s.table", op->name), PB_I32, 1, &shape, table);
  *op = whole;
}

// What the operator makes, as later ones find it.
static void note(joiner* j, size_t k) {
  const pb_s1_op* op = &j->p->ops[k];
  const bool copies = op->kind == PB_S1_COPY && j->p->values[op->y].type == PB_I8, looks_up = op->kind == PB_S1_TABLE;
  if ((!copies && !looks_up) || j->p->values[op->y].is_variable) return;
  factor* f = &j->known[pb_s1_base(j->p, op->y)];
  if (copies) {
    *f = factor_of(j, op->x);
  } else if (same_shape(&j->p->values[op->x], &j->p->values[op->y])) {
    *f = (factor){.of = factor_of(j, op->x).of, .from = op->x, .maker = k + 1};
    f->table = pb_const_data(j->consts, op->weights);
  }
}

void pb__s1_join_tables(pb_s1* program, pb_consts* consts) {
  size_t values = program->value_count + program->op_count + 1; // those that it adds among them
  joiner j = {.p = program, .consts = consts, .known = calloc(values, sizeof *j.known)};
  if (!j.known) pb_no_memory(values);
  for (size_t v = 0; v < values; ++v) j.known[v].of = NONE;
  for (size_t k = 0; k < program->op_count; ++k) {
    factor a, b;
    if (reads_factors(&j, &program->ops[k], &a, &b)) join(&j, &program->ops[k], &a, &b);
    note(&j, k);
  }
  free(j.known);
}
