// Inside `layout`, in front of choosing: where the last of three or four dims lies along the lanes (lies.c), as of
// heads [1, h, t, c] or of a batch of rows [1, t, c], the tensor becomes the rows [h * t, c] that it is in memory
// anyway, and what is said below of rows holds for it. The second factor of a product of two computed tensors is read
// where a copy that turns it takes it from.
//
//   before   t[h, c, n] = k[0, h, n, c];          s[h, n] += q[0, h * 16 + c] * t[h, c, n]         of k: 1x4x25x16
//   after                                         s[h, n] += q[0, h * 16 + c] * k[h * 25 + n, c]   of k: 100x16
//
// Only where instructions take whole rows of lanes: elsewhere plain tensors are read along their last dim too.
#include "core/s3/compose.h"
#include "core/s3/layout/layout.h"

#include <string.h>

// ---- second factors that are copies ----

static bool look_through(pb_layout* l, int n, int a) {
  pb_program* p = &l->program;
  pb_access source;
  int copy = pb_program_source(p, n, a, &source);
  if (copy < 0 || pb__layout_is_apart(l, copy) || !pb_program_is_local(p, p->value_of[copy][0])) return false;
  pb_program_read_source(p, &l->unit->pass, n, a, copy, &source);
  return true;
}

// Takes away copies that nothing reads any more.
static void drop_copies(pb_layout* l) {
  pb_program* p = &l->program;
  if (pb_program_drop_copies(p)) pb_program_drop_nests(p, &l->unit->pass);
  memset(l->roles, 0, sizeof *l->roles * (size_t)p->nest_count); // they are by nest
}

static void read_sources(pb_layout* l) {
  pb_contraction_dims roles;
  bool changed = false;
  for (int n = 0; n < l->program.nest_count; ++n) {
    if (pb__layout_is_apart(l, n) || !pb__layout_contraction_dims(l, n, &roles) || pb__layout_weighs(l, n, &roles))
      continue;
    while (look_through(l, n, roles.w)) changed = true;
  }
  if (changed) drop_copies(l);
}

// ---- tensors that are rows ----

static bool can_lie_otherwise(const pb_layout* l, int v) {
  if (l->program.values[v].kind != PB_VALUE_LOCAL) return false;
  PB_FOR_ACCESSES (n, a, &l->program, v) {
    const pb_access* access = &l->program.nests[n].access[a];
    if (!pb_access_is_plain(access) || pb_access_can_leave(&l->program.nests[n], access)) return false;
  }
  return true;
}

// ---- columns that are rows ----

// How many neighbours in the column a product sums over: those that its one dim of the sum walks. 0: none does so
// alone.
static int64_t summed_neighbours(const pb_nest* nest, const pb_contraction_dims* roles, const pb_access* access) {
  int64_t run = 0;
  for (int d = 0; d < nest->dim_count; ++d) {
    int64_t step = access->index[0].coef[d];
    if (!step || roles->role[d] != PB_ROLE_K) continue;
    if (run || step != 1) return 0;
    run = nest->extent[d];
  }
  return run;
}

// The column's elements that products of two computed tensors sum over, where these do nothing else with it: commands
// take rows. 0: it is no such column.
static int64_t run_of_column(const pb_layout* l, int v) {
  const pb_value* value = &l->program.values[v];
  int64_t run = 0;
  if (value->rank != 2 || value->shape[1] != 1) return 0;
  PB_FOR_ACCESSES (n, a, &l->program, v) {
    const pb_nest* nest = &l->program.nests[n];
    pb_contraction_dims roles;
    if (!pb__layout_contraction_dims(l, n, &roles)) continue;
    int64_t its =
        a == roles.y || pb__layout_weighs(l, n, &roles) ? 0 : summed_neighbours(nest, &roles, &nest->access[a]);
    if (!its || (run && its != run)) return 0;
    run = its;
  }
  if (run < 2 || value->shape[0] % run) return 0;
  PB_FOR_ACCESSES (n, a, &l->program, v)
    if (!pb__layout_keeps_runs(&l->program.nests[n], &l->program.nests[n].access[a].index[0], run, false)) return 0;
  return run;
}

// As rows of so many.
static void turn_into_rows(pb_layout* l, int v, int64_t run) {
  pb_value* value = &l->program.values[v];
  PB_FOR_ACCESSES (n, a, &l->program, v) {
    l->program.nests[n].access[a].rank = 1;
    pb_access_cut_index(&l->program.nests[n].access[a], 0, run);
  }
  value->shape[0] /= run;
  value->shape[1] = run;
}

static bool walks_alone(const pb_nest* nest, const pb_index* index, int d) {
  for (int k = 0; k < nest->dim_count; ++k)
    if (k != d && index->coef[k]) return false;
  return true;
}

// Whether the loop sums the one channel that a tensor has: in blocks it is a whole row of lanes, and of weights too.
static bool sums_one_channel(const pb_nest* nest, int d) {
  if (!pb_nest_reduces_over(nest, d)) return false;
  for (int a = 0; a + 1 < nest->access_count; ++a) {
    const pb_access* access = &nest->access[a];
    if (access->rank > 2 && access->index[1].coef[d] && walks_alone(nest, &access->index[1], d)) return true;
  }
  return false;
}

// Other loops of one iteration move nothing: an index that they walk beside another dim is that dim's.
static void drop_single_iterations(pb_nest* nest) {
  for (int d = 0; d < nest->dim_count; ++d)
    for (int a = 0; nest->extent[d] == 1 && !sums_one_channel(nest, d) && a < nest->access_count; ++a)
      for (int r = 0; r < nest->access[a].rank; ++r)
        if (!walks_alone(nest, &nest->access[a].index[r], d)) nest->access[a].index[r].coef[d] = 0;
}

// Of a stack of rows as it comes, with one row each: the loop over these rows keeps the others from being walked as
// one.
static void drop_single_rows(pb_nest* nest) {
  bool stacks = false;
  for (int a = 0; a < nest->access_count; ++a) stacks |= nest->access[a].rank == 3;
  for (int d = nest->dim_count - 1; stacks && d >= 0 && nest->dim_count > 1; --d) {
    bool rows = nest->extent[d] == 1 && nest->reduce == PB_SET && !pb_nest_is_fixed(nest);
    for (int a = 0; a < nest->access_count; ++a)
      for (int r = 0; r < nest->access[a].rank; ++r)
        rows &= !nest->access[a].index[r].coef[d] || (nest->access[a].rank == 3 && r == 1);
    for (int a = 0; rows && a < nest->access_count; ++a) nest->access[a].index[1].coef[d] = 0;
    if (rows) pb_nest_remove_dim(nest, d);
  }
}

void pb__layout_read_sources(pb_layout* l) {
  for (int n = 0; n < l->program.nest_count; ++n)
    if (!pb__layout_is_apart(l, n)) {
      drop_single_iterations(&l->program.nests[n]);
      drop_single_rows(&l->program.nests[n]);
    }
  read_sources(l);
}

void pb__layout_collapse(pb_layout* l) {
  for (int v = 0; v < l->program.value_count; ++v) {
    bool rows = l->program.values[v].rank > 2 && l->lies[v] == PB_LIE_ROWS;
    int64_t run = rows ? 0 : run_of_column(l, v);
    if ((!rows && !run) || !can_lie_otherwise(l, v)) continue;
    if (run) turn_into_rows(l, v, run);
    while (rows && l->program.values[v].rank > 2) pb_program_join_value(&l->program, v, 0);
  }
}
