// Nests executed on the host: the loops as an odometer, the body node by node.
#include "core/poly/evaluate.h"

#include <string.h>

typedef struct run {
  const pb_nest* nest;
  void* const* data;
  int64_t at[PB_NEST_DIMS]; // the loops' iterations
  pb_number value[PB_NEST_EXPR];
} run;

static int64_t index_of(const run* r, const pb_index* index) {
  int64_t at = index->cst;
  for (int d = 0; d < r->nest->dim_count; ++d) at += index->coef[d] * r->at[d];
  return at;
}

// The element's place in memory, with `more` added to the index that the body computes; NULL: outside of the tensor.
static char* place_of(const run* r, int access, int64_t more) {
  const pb_access* a = &r->nest->access[access];
  int64_t element = 0;
  for (int k = 0; k < a->rank; ++k) {
    int64_t at = index_of(r, &a->index[k]) + (a->gathered == k + 1 ? more : 0);
    if (at < 0 || at >= a->shape[k]) return NULL;
    element = element * a->shape[k] + at;
  }
  return (char*)r->data[access] + element * (int64_t)pb_number_bytes(a->type);
}

static pb_number constant_of(pb_type type, double value, int64_t integer) {
  return type == PB_F32   ? (pb_number){.f = (float)value}
         : type == PB_F64 ? (pb_number){.d = value}
                          : (pb_number){.i = integer};
}

static bool load(run* r, const pb_expr_node* node, pb_number* made) {
  const pb_access* a = &r->nest->access[node->operand];
  const char* at = place_of(r, node->operand, node->args[0] >= 0 ? r->value[node->args[0]].i : 0);
  if (at)
    *made = pb_number_read(a->type, at);
  else
    *made = constant_of(a->type, a->fill, (int64_t)a->fill);
  return at || a->boxed;
}

static bool compute(run* r, int n) {
  const pb_expr_node* node = &r->nest->expr[n];
  pb_number v[3] = {{0}}, *made = &r->value[n];
  pb_type types[3] = {PB_TYPE_COUNT, PB_TYPE_COUNT, PB_TYPE_COUNT};
  if (node->op == PB_OP_LOAD) return load(r, node, made);
  if (node->op == PB_OP_CONST) return *made = constant_of(node->type, node->value, node->integer), true;
  if (node->op == PB_OP_INDEX) return made->i = r->at[node->operand], true;
  for (int k = 0; k < 3 && node->args[k] >= 0; ++k) {
    v[k] = r->value[node->args[k]];
    types[k] = r->nest->expr[node->args[k]].type;
  }
  return pb_number_compute(node, types, v, made);
}

static bool store(run* r) {
  const pb_nest* nest = r->nest;
  int last = nest->access_count - 1;
  pb_type type = nest->access[last].type;
  pb_number number = r->value[nest->expr_count - 1];
  char* at = place_of(r, last, nest->access[last].gathered ? r->value[nest->stored_at].i : 0);
  if (!at) return false;
  if (pb_reduce_combines(nest->reduce)) {
    pb_expr_node combine = {.op = pb_reduce_op(nest->reduce), .type = type, .args = {0, 1, -1}};
    const pb_number v[3] = {pb_number_read(type, at), number};
    if (!pb_number_compute(&combine, (const pb_type[3]){type, type, type}, v, &number)) return false;
  }
  pb_number_write(type, number, at);
  return true;
}

static bool has_numbers(const pb_nest* nest) {
  for (int a = 0; a < nest->access_count; ++a)
    if (!pb_number_is_of(nest->access[a].type)) return false;
  for (int k = 0; k < nest->expr_count; ++k)
    if (!pb_number_is_of(nest->expr[k].type) || nest->expr[k].op == PB_OP_OTHER || nest->expr[k].op == PB_OP_IMM)
      return false;
  return !nest->outer_count && nest->expr_count;
}

bool pb_nest_evaluate(const pb_nest* nest, void* const* data) {
  run r = {.nest = nest, .data = data};
  if (!has_numbers(nest)) return false;
  for (int64_t turn = 0, turns = pb_nest_iterations(nest); turn < turns; ++turn) {
    for (int k = 0; k < nest->expr_count; ++k)
      if (!compute(&r, k)) return false;
    if (!store(&r)) return false;
    for (int d = nest->dim_count - 1; d >= 0 && ++r.at[d] == nest->extent[d]; --d) r.at[d] = 0;
  }
  return true;
}
