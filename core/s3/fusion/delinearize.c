// Delinearize: rows that a product walks as head * rows + row become two indices, of the tensors inside the program and
// of all nests that walk them; columns alike. Requires the program function in value form, its layouts chosen; leaves
// it in value form. Exact: the same elements at the same places in memory.
//
//   before   s[h * 32 + r, k] += q[r, h, c] * k[k, h, c];  m[i] = max s[i, k]         i < 128
//   after    s[h, r, k] += q[r, h, c] * k[k, h, c];        m[h, r] = max s[h, r, k]   h < 4, r < 32
//
// What works on rows knows no heads, and a product by heads does: over one shape they share both loops, and can be one
// kernel (fuse_stages.c). So can rows of products and their sums, where several loops count the rows (reductions.c).
#include "core/s3/fusion/fusion.h"

#include "core/s3/compose.h"
#include "core/s3/kernel/contraction_dims.h"
#include "core/s3/layout/layout.h"

#include <string.h>

// The dims and indices that have to be cut so that one of them can be. By value and by nest.
typedef struct cutter {
  pb_program* p;
  int64_t inner;                                // extent of the inner of two
  bool (*index)[PB_NEST_RANK];                  // by value: it is cut
  bool (*dim)[PB_NEST_DIMS];                    // by nest: it is cut
  int* indices;                                 // by value: how many are
  int *values, value_count, *nests, nest_count; // that have any
} cutter;

// Of an index that several dims walk, each over all that those of smaller steps do: the one of the largest step. -1: it
// is none of these, or not all of the shape.
static int outermost(const pb_nest* nest, const pb_access* access, int r) {
  const int64_t* coef = access->index[r].coef;
  int64_t span = 1;
  int dims = 0, last = -1;
  if (access->index[r].cst) return -1;
  for (bool found = true; found;) {
    found = false;
    for (int d = 0; d < nest->dim_count && !found; ++d) {
      if (coef[d] != span || nest->extent[d] == 1) continue;
      span *= nest->extent[d];
      last = d;
      found = true;
      ++dims;
    }
  }
  for (int d = 0; d < nest->dim_count; ++d) dims -= coef[d] != 0 && nest->extent[d] > 1;
  return dims == 0 && span == access->shape[r] && last >= 0 && coef[last] > 1 ? last : -1;
}

static bool cut_value(cutter* c, int value, int r);

static bool cut_dim(cutter* c, int n, int d) {
  const pb_nest* nest = &c->p->nests[n];
  if (c->dim[n][d]) return true;
  c->dim[n][d] = true;
  c->nests[c->nest_count++] = n;
  // an index that is read does not hinder it
  if (nest->dim_count == PB_NEST_DIMS || pb_nest_needs_its_loops(nest)) return false;
  for (int a = 0; a < nest->access_count; ++a)
    for (int r = 0; r < nest->access[a].rank; ++r)
      if (pb_program_is_local(c->p, c->p->value_of[n][a]) && pb_access_whole_dim(nest, &nest->access[a], r) == d &&
          !cut_value(c, c->p->value_of[n][a], r))
        return false;
  return true;
}

static bool cut_value(cutter* c, int value, int r) {
  if (c->index[value][r]) return true;
  if (c->indices[value]++ || c->p->values[value].rank == PB_NEST_RANK) return false;
  c->index[value][r] = true;
  c->values[c->value_count++] = value;
  PB_FOR_ACCESSES (n, a, c->p, value) {
    const pb_nest* nest = &c->p->nests[n];
    const pb_access* access = &nest->access[a];
    if (!pb_access_is_plain(access)) return false;
    bool keeps_runs = !access->index[r].cst && pb__layout_keeps_runs(nest, &access->index[r], c->inner, false);
    int d = pb_access_whole_dim(nest, access, r);
    if (d >= 0 ? !cut_dim(c, n, d) : !keeps_runs) return false;
  }
  return true;
}

// ---- carried out ----

static void apply(cutter* c) {
  for (int k = 0; k < c->nest_count; ++k)
    for (int n = c->nests[k], d = PB_NEST_DIMS; d-- > 0;)
      if (c->dim[n][d]) {
        pb_nest_cut_dim(&c->p->nests[n], d, c->inner);
        c->dim[n][d] = false;
      }
  for (int k = 0; k < c->value_count; ++k) {
    int r = 0;
    while (!c->index[c->values[k]][r]) ++r;
    pb_program_cut_value(c->p, c->values[k], r, c->inner);
  }
}

static void clear(cutter* c) {
  for (int k = 0; k < c->nest_count; ++k) memset(c->dim[c->nests[k]], 0, sizeof *c->dim);
  for (int k = 0; k < c->value_count; ++k) {
    memset(c->index[c->values[k]], 0, sizeof *c->index);
    c->indices[c->values[k]] = 0;
  }
  c->nest_count = c->value_count = 0;
}

static cutter begin(pb_unit* unit, pb_program* p) {
  size_t nests = (size_t)p->nest_count + 1, values = (size_t)p->value_count + 1;
  return (cutter){.p = p,
                  .index = pb_alloc_array(&unit->pass, values, sizeof(bool[PB_NEST_RANK])),
                  .dim = pb_alloc_array(&unit->pass, nests, sizeof(bool[PB_NEST_DIMS])),
                  .indices = PB_NEW_ARRAY(&unit->pass, int, values),
                  .values = PB_NEW_ARRAY(&unit->pass, int, values),
                  .nests = PB_NEW_ARRAY(&unit->pass, int, nests* PB_NEST_DIMS)};
}

// Cuts the value and what goes with it, or nothing. Returns whether it did.
static bool cut(cutter* c, int value, int r) {
  bool cuts = cut_value(c, value, r);
  if (cuts) apply(c);
  clear(c);
  return cuts;
}

bool pb__cut_index(pb_unit* unit, pb_program* p, int n, int a, int r) {
  cutter c = begin(unit, p);
  const pb_nest* nest = &p->nests[n];
  int d = outermost(nest, &nest->access[a], r);
  if (d < 0 || !pb_program_is_local(p, p->value_of[n][a])) return false;
  c.inner = nest->access[a].index[r].coef[d];
  return cut(&c, p->value_of[n][a], r);
}

// A product of two computed tensors.
static bool is_seed(const pb_program* p, int n, pb_contraction_dims* roles) {
  return p->nests[n].reduce != PB_SET && pb_nest_contraction_dims(&p->nests[n], NULL, roles) &&
         !pb_program_is_const(p, n, roles->x) && !pb_program_is_const(p, n, roles->w);
}

// Whether the nest sums rows of products, which a pointwise nest makes of the rows of two tensors, each with each.
static bool sums_products(const pb_program* p, int n) {
  const pb_nest* nest = &p->nests[n];
  int maker = nest->access_count == 2 && nest->reduce == PB_ACC_ADD ? pb_program_only_writer(p, p->value_of[n][0]) : -1;
  return maker >= 0 && p->nests[maker].access_count == 3 &&
         pb_nest_repeats(&p->nests[maker], &p->nests[maker].access[0]) &&
         pb_nest_repeats(&p->nests[maker], &p->nests[maker].access[1]);
}

// Where access a walks heads and their rows, or their columns, by one index. Heads of a group that share
// their keys move rows too. roles NULL: of what is summed as it is, rows of all loops that stay.
static bool cut_access(cutter* c, int n, const pb_contraction_dims* roles, int a) {
  int value = c->p->value_of[n][a];
  bool any = false;
  for (int r = 0; pb_program_is_local(c->p, value) && r < c->p->nests[n].access[a].rank; ++r) {
    const pb_nest* nest = &c->p->nests[n];
    int d = outermost(nest, &nest->access[a], r);
    if (d < 0 || (roles ? roles->role[d] != PB_ROLE_B && roles->role[d] != PB_ROLE_M : pb_nest_reduces_over(nest, d)))
      continue;
    c->inner = nest->access[a].index[r].coef[d];
    any |= cut(c, value, r);
  }
  return any;
}

bool pb_s3_delinearize(pb_unit* unit, pb_program* p) {
  cutter c = begin(unit, p);
  bool any = false;
  pb_contraction_dims roles;
  for (int n = 0; n < p->nest_count; ++n)
    if (is_seed(p, n, &roles)) {
      any |= cut_access(&c, n, &roles, roles.x);
      any |= cut_access(&c, n, &roles, roles.w);
      any |= cut_access(&c, n, &roles, roles.y);
    } else if (sums_products(p, n)) {
      any |= cut_access(&c, n, NULL, 0);
      any |= cut_access(&c, n, NULL, p->nests[n].access_count - 1);
    }
  return any;
}
