#include "core/s3/legalise/legalise.h"

#include <math.h>
#include <string.h>

// A number, or one for each step along a dim of the nest.
typedef struct numbers {
  int dim; // -1: one for all
  int64_t count;
  const double* at;
} numbers;

// The dim along which the access walks all of a tensor, -1: it stays at the only element. -2: otherwise.
static int dim_along(const pb_nest* nest, const pb_access* access) {
  int dim = -1;
  for (int d = 0; d < nest->dim_count; ++d) {
    int64_t stride = nest->extent[d] > 1 ? pb_access_stride(access, d) : 0;
    if (!stride) continue;
    if (stride != 1 || dim >= 0) return -2;
    dim = d;
  }
  bool whole = pb_access_elements(access) == (dim < 0 ? 1 : nest->extent[dim]);
  return whole && !pb_access_offset(access) && !access->boxed && !access->gathered ? dim : -2;
}

// Node e as numbers: of a constant, or that it loads from one.
static bool numbers_of(pb_unit* unit, const pb_program* p, int n, int e, numbers* out) {
  const pb_nest* nest = &p->nests[n];
  const pb_expr_node* node = &nest->expr[e];
  *out = (numbers){.dim = -1, .count = 1};
  if (node->op == PB_OP_CONST) {
    double* number = PB_NEW_ARRAY(&unit->pass, double, 1);
    *number = pb_type_is_float(node->type) ? node->value : (double)node->integer;
    out->at = number;
    return true;
  }
  if (node->op != PB_OP_LOAD || node->args[0] >= 0 || !pb_program_is_const(p, n, node->operand)) return false;
  const pb_access* access = &nest->access[node->operand];
  const pb_value* value = &p->values[p->value_of[n][node->operand]];
  out->dim = dim_along(nest, access);
  if (out->dim < -1 || value->expands || (value->type != PB_F32 && value->type != PB_I32)) return false;
  out->count = pb_access_elements(access);
  double* at = PB_NEW_ARRAY(&unit->pass, double, (size_t)out->count);
  const char* data = pb_const_data(unit->consts, value->const_id);
  if (!data) return false;
  for (int64_t k = 0; k < out->count; ++k) {
    float real;
    int32_t integer;
    memcpy(&real, data + 4 * k, sizeof real);
    memcpy(&integer, data + 4 * k, sizeof integer);
    at[k] = value->type == PB_F32 ? real : integer;
  }
  out->at = at;
  return true;
}

static double number_at(const numbers* x, int64_t k) { return x->at[x->dim < 0 ? 0 : k]; }

// The operands of a commutative node: whichever is made of `op` is *first.
static bool sides(const pb_nest* nest, int e, pb_op of, pb_op op, int* first, int* second) {
  const pb_expr_node* node = &nest->expr[e];
  if (node->op != of) return false;
  int side = nest->expr[node->args[0]].op == op ? 0 : 1;
  *first = node->args[side];
  *second = node->args[1 - side];
  return nest->expr[*first].op == op;
}

// f32(sums + less) * by + more
typedef struct scaled_sums {
  int sums;
  numbers less, by, more;
} scaled_sums;

static bool find_sums(pb_unit* unit, const pb_program* p, int n, int x, scaled_sums* s) {
  static const double zero = 0;
  const numbers none = {.dim = -1, .count = 1, .at = &zero};
  const pb_nest* nest = &p->nests[n];
  int product = x, factor, converted, table;
  s->more = s->less = none;
  if (nest->expr[x].op == PB_OP_ADD &&
      !(sides(nest, x, PB_OP_ADD, PB_OP_MUL, &product, &table) && numbers_of(unit, p, n, table, &s->more)))
    return false;
  if (!sides(nest, product, PB_OP_MUL, PB_OP_SITOFP, &converted, &factor) || !numbers_of(unit, p, n, factor, &s->by))
    return false;
  s->sums = nest->expr[converted].args[0];
  if (nest->expr[s->sums].type != PB_I32) return false;
  if (nest->expr[s->sums].op != PB_OP_ADD) return nest->expr[s->sums].op == PB_OP_LOAD;
  if (!sides(nest, s->sums, PB_OP_ADD, PB_OP_LOAD, &converted, &table)) return false;
  if (!numbers_of(unit, p, n, table, &s->less)) { // the other one is the table
    int other = converted;
    converted = table;
    if (nest->expr[converted].op != PB_OP_LOAD || !numbers_of(unit, p, n, other, &s->less)) return false;
  }
  s->sums = converted;
  return true;
}

// All along one dim, if along any. -2: along several.
static int shared_dim(const scaled_sums* s) {
  const numbers* all[] = {&s->less, &s->by, &s->more};
  int dim = -1;
  for (int k = 0; k < 3; ++k) {
    if (all[k]->dim < 0 || all[k]->dim == dim) continue;
    if (dim >= 0) return -2;
    dim = all[k]->dim;
  }
  return dim;
}

// A load of a new constant by that dim: its node.
static int load_table(pb_unit* unit, pb_program* p, int n, int dim, int64_t count, pb_type type, const char* name,
                      const void* data) {
  int value = pb_program_add_const(p, &unit->pass, unit->consts, name, type, 1, &count, data);
  int access = pb_program_add_access(p, &unit->pass, n, value);
  if (dim >= 0) p->nests[n].access[access].index[0].coef[dim] = 1;
  return pb_nest_load(&p->nests[n], access);
}

int pb_rescale(pb_unit* unit, pb_program* p, int n, int x, double scale) {
  enum { MOST = 1 << 30 }; // of the table, so that sums stay within i32
  scaled_sums s;
  pb_nest* nest = &p->nests[n];
  if (nest->access_count + 2 > PB_NEST_JOINED || !find_sums(unit, p, n, x, &s)) return -1;
  int dim = shared_dim(&s);
  if (dim < -1) return -1;
  int64_t count = dim < 0 ? 1 : nest->extent[dim];
  int32_t* table = pb_alloc_array(&unit->consts->arena, (size_t)count, sizeof *table);
  float* scales = pb_alloc_array(&unit->consts->arena, (size_t)count, sizeof *scales);
  for (int64_t k = 0; k < count; ++k) {
    double by = number_at(&s.by, k), steps = by != 0 ? number_at(&s.more, k) / by : NAN;
    steps = number_at(&s.less, k) + (number_at(&s.more, k) == 0 ? 0 : nearbyint(steps));
    if (!(fabs(steps) < MOST)) return -1;
    table[k] = (int32_t)steps;
    scales[k] = (float)(by * scale);
  }
  int sums = s.sums, more = load_table(unit, p, n, dim, count, PB_I32, "shifts", table);
  int made = pb_nest_node(nest, PB_OP_SITOFP, PB_F32, pb_nest_node(nest, PB_OP_ADD, PB_I32, sums, more), -1);
  return pb_nest_node(nest, PB_OP_MUL, PB_F32, made, load_table(unit, p, n, dim, count, PB_F32, "scales", scales));
}
