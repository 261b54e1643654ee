// Inside row_numbers: a front end may say places in a tensor by element numbers, of a copy that is flat (StableHLO's
// gather does). Where a number is that of a row times what a row has, rows are gathered of the tensor as it lies.
//
//   before   f[128 * r + c] = t[r, c];  y[i, c] = f[128 * n[i] + c]
//   after    y[i, c] = t[n[i], c]
#include "core/s3/compose.h"
#include "core/s3/legalise/legalise.h"
#include "core/select/select.h"

#include <string.h>

enum { NONE = -1 };

int pb__rows_table(const pb_nest* nest) {
  const pb_expr_node* value = &nest->expr[nest->expr_count - 1];
  if (nest->reduce != PB_SET || nest->access[nest->access_count - 1].gathered) return NONE;
  if (nest->expr_count < 3 || value->op != PB_OP_LOAD || value->args[0] < 0) return NONE;
  for (int a = 0; a + 1 < nest->access_count; ++a)
    if ((nest->access[a].gathered != 0) != (a == value->operand) || nest->access[a].boxed) return NONE;
  return value->operand;
}

// Whether the nest copies all of a tensor of two dims, as it lies.
static bool copies_flat(const pb_nest* nest) {
  const pb_access *from = &nest->access[0], *to = &nest->access[1];
  int64_t walked = pb_nest_iterations(nest);
  if (!pb_copies_elements(nest) || from->splat || from->rank != 2) return false;
  for (int d = 0; d < nest->dim_count; ++d)
    if (nest->extent[d] > 1 && pb_access_stride(from, d) != pb_access_stride(to, d)) return false;
  return walked == pb_access_elements(from) && walked == pb_access_elements(to) && !pb_access_offset(from) &&
         !pb_access_offset(to);
}

// The factor beside `wide` of a product; NONE: it is none.
static int factor_of(const pb_nest* nest, int n, int64_t wide) {
  const pb_expr_node* product = &nest->expr[n];
  for (int side = 0; side < 2 && product->op == PB_OP_MUL; ++side) {
    const pb_expr_node* number = &nest->expr[product->args[side]];
    if (pb_is_number(number, wide)) return product->args[1 - side];
  }
  return NONE;
}

int pb__rows_unflatten(const pb_program* p, int n, pb_nest* rows, int* copy) {
  const pb_nest* nest = &p->nests[n];
  int a = pb__rows_table(nest);
  if (a < 0 || nest->access[a].rank != 1) return NONE;
  *copy = pb_program_only_writer(p, p->value_of[n][a]);
  if (*copy < 0 || *copy > n || !copies_flat(&p->nests[*copy])) return NONE;
  const pb_access* table = &p->nests[*copy].access[0];
  int at = nest->expr[nest->expr_count - 1].args[0];
  if (nest->expr[at].op != PB_OP_SEXT || nest->expr[at].type != PB_INDEX) return NONE;
  int64_t least, most, wide = table->shape[1];
  int row = factor_of(nest, nest->expr[at].args[0], wide);
  if (row < 0 || !pb_index_range(nest, &nest->access[a].index[0], &least, &most) || least < 0 || most >= wide)
    return NONE;
  pb_nest_copy(rows, nest);
  rows->expr[at].args[0] = row;
  pb_access* access = &rows->access[a];
  *access = *table;
  memset(access->index, 0, sizeof access->index);
  access->index[1] = nest->access[a].index[0];
  access->gathered = 1;
  pb_nest_end(rows, rows->expr_count - 1);
  return p->value_of[*copy][0];
}
