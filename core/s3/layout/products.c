// Products of two computed tensors in rows of lanes. What they sum over, or the columns of the result, may end inside a
// row: the second factor is read there through a box, as the zero point of its codes, so that whatever the first one
// holds is multiplied by 0. A box tests an index; where rows of several heads follow each other in one, the heads are
// runs of rows and become an index of their own.
//
//   before   y[h, c] += (p[h, n] - zp) * (v[h * 25 + n, c] - zv)                     n < 25
//   after    y[h, c] += (p[h, 16 b + l] - zp) * (box(v[h, 16 b + l, c], zv) - zv)    b < 2, l < 16
#include "core/s3/layout/layout.h"

bool pb__layout_zero_of_codes(const pb_nest* nest, int access, double* zero) {
  for (int e = 0; e < nest->expr_count; ++e) {
    const pb_expr_node* node = &nest->expr[e];
    if (node->op != PB_OP_LOAD || node->operand != access) continue;
    for (int k = 0; k < nest->expr_count; ++k) {
      const pb_expr_node* sub = &nest->expr[k];
      if (sub->op != PB_OP_SUB || nest->expr[sub->args[0]].op != PB_OP_SEXT || nest->expr[sub->args[0]].args[0] != e)
        continue;
      *zero = nest->expr[sub->args[1]].value;
      return nest->expr[sub->args[1]].op == PB_OP_CONST;
    }
    *zero = 0;
    return true;
  }
  return false;
}

// ---- runs of rows ----

// Iterations of a dim in one run, where it steps through several whole ones: it is cut in two then. 0: it is not.
static int64_t iterations_in_run(const pb_nest* nest, const pb_index* index, int d, int64_t run) {
  int64_t step = index->coef[d];
  if (step <= 0 || run % step || step * nest->extent[d] <= run || nest->extent[d] % (run / step)) return 0;
  return run / step;
}

bool pb__layout_keeps_runs(const pb_nest* nest, const pb_index* index, int64_t run, bool cuts) {
  int64_t within = index->cst % run;
  int cut = 0;
  for (int d = 0; d < nest->dim_count; ++d) {
    if (index->coef[d] < 0) return false;
    if (index->coef[d] % run == 0) continue;
    int64_t iterations = cuts ? iterations_in_run(nest, index, d, run) : 0;
    cut += iterations > 0;
    within += index->coef[d] * ((iterations ? iterations : nest->extent[d]) - 1);
  }
  return index->cst >= 0 && within < run && nest->dim_count + cut <= PB_NEST_DIMS;
}

static bool can_cut(const pb_layout* l, int v, int64_t run) {
  const pb_value* value = &l->program.values[v];
  if (pb__layout_kind_at_edge(l, v) != PB_VALUE_LOCAL || value->rank != 2 || value->shape[0] % run ||
      !pb__layout_in_rows(l, v))
    return false;
  PB_FOR_ACCESSES (n, a, &l->program, v)
    if (!pb__layout_keeps_runs(&l->program.nests[n], &l->program.nests[n].access[a].index[0], run, true)) return false;
  return true;
}

// Whether dim d of a product of two computed tensors is one in which rows of lanes are not filled.
static bool is_ragged(const pb_layout* l, const pb_nest* nest, const pb_contraction_dims* roles, int d) {
  return (roles->role[d] == PB_ROLE_K || roles->role[d] == PB_ROLE_N) && nest->extent[d] % l->lanes;
}

void pb__layout_choose_runs(pb_layout* l) {
  for (int n = 0; n < l->program.nest_count; ++n) {
    const pb_nest* nest = &l->program.nests[n];
    pb_contraction_dims roles;
    if (!pb__layout_contraction_dims(l, n, &roles)) continue;
    int v = l->program.value_of[n][roles.w];
    const pb_index* rows = &nest->access[roles.w].index[0];
    for (int d = 0; d < nest->dim_count && l->program.values[v].kind != PB_VALUE_CONST; ++d)
      if (is_ragged(l, nest, &roles, d) && rows->coef[d] == 1 && pb_index_dim(rows) < 0 && !l->values[v].run &&
          can_cut(l, v, nest->extent[d]))
        l->values[v].run = nest->extent[d], l->has_runs = true;
  }
}

// What reaches past the end of its run, to fill a row of lanes, does so through a box, and stays one dim.
static void cut_access(pb_nest* nest, int a, int64_t run) {
  for (int d = 0; d < nest->dim_count && !nest->access[a].boxed; ++d) {
    int64_t iterations = iterations_in_run(nest, &nest->access[a].index[0], d, run);
    if (iterations) pb_nest_cut_dim(nest, d++, iterations);
  }
  pb_access_cut_index(&nest->access[a], 0, run);
}

void pb__layout_cut_runs(const pb_layout* l, pb_nest* nest) {
  for (int a = 0; a < nest->access_count; ++a)
    for (int v = 0; v < l->program.value_count; ++v)
      if (l->values[v].run && l->values[v].ref == nest->access[a].ref) {
        cut_access(nest, a, l->values[v].run);
        break;
      }
}

// ---- ends of rows ----

// Whether what the dim lacks to whole rows can be read outside the second factor's box.
static bool fills_up(const pb_layout* l, int n, const pb_contraction_dims* roles, int d) {
  const pb_nest* nest = &l->program.nests[n];
  const pb_access* w = &nest->access[roles->w];
  double zero;
  if (pb__layout_ends_in(l, l->program.value_of[n][roles->w], &zero) && w->index[1].coef[d] == 1) return true;
  bool one = pb_access_whole_dim(nest, w, 0) == d;
  bool run = l->values[l->program.value_of[n][roles->w]].run == nest->extent[d] && w->index[0].coef[d] == 1;
  return (one || run) && w->type == PB_I8 && nest->access[roles->x].type == PB_I8 &&
         pb__layout_zero_of_codes(nest, roles->w, &zero);
}

pb_status pb__layout_check_rows(const pb_layout* l, int n) {
  const pb_nest* nest = &l->program.nests[n];
  pb_contraction_dims roles;
  if (!pb__layout_contraction_dims(l, n, &roles)) return PB_OK;
  for (int d = 0; d < nest->dim_count; ++d)
    if (is_ragged(l, nest, &roles, d) && !fills_up(l, n, &roles, d))
      return pb_unsupported(
          l->unit->diag, (pb_place){.what = nest->name}, 4049, "a multiple of them, or another target",
          "it multiplies two computed tensors over %lld elements, which end inside a row of %lld lanes",
          (long long)nest->extent[d], (long long)l->lanes);
  for (int a = 0; a < nest->access_count; ++a)
    if (!pb__layout_in_rows(l, l->program.value_of[n][a]))
      return pb_unsupported(l->unit->diag, (pb_place){.what = nest->name}, 4049, "heads of whole rows of lanes",
                            "it multiplies two computed tensors whose columns are no rows of %lld lanes",
                            (long long)l->lanes);
  return PB_OK;
}

void pb__layout_box_rows(const pb_layout* l, int n, pb_nest* out) {
  const pb_nest* nest = &l->program.nests[n];
  pb_contraction_dims roles;
  if (!pb__layout_contraction_dims(l, n, &roles)) return;
  for (int d = 0; d < nest->dim_count; ++d)
    if (is_ragged(l, nest, &roles, d) && nest->access[roles.w].index[0].coef[d])
      out->access[roles.w].boxed = pb__layout_zero_of_codes(nest, roles.w, &out->access[roles.w].fill);
}
