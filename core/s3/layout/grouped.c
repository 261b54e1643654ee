#include "core/s3/layout/grouped.h"

#include <string.h>

static int dim_with(const pb_nest* nest, const pb_roles* roles, pb_role role, const pb_index* index) {
  for (int d = 0; d < nest->dim_count; ++d)
    if (roles->role[d] == role && index->coef[d]) return d;
  return -1;
}

bool pb_grouped_read(const pb_nest* nest, const pb_roles* roles, pb_grouped* out) {
  const pb_access *x = &nest->access[roles->x], *w = &nest->access[roles->w], *y = &nest->access[roles->y];
  if (x->rank != 4 || w->rank != 4 || y->rank != 4) return false;
  out->g = dim_with(nest, roles, PB_ROLE_B, &x->index[1]);
  if (out->g < 0) return false;
  out->o = dim_with(nest, roles, PB_ROLE_N, &y->index[1]);
  out->c = dim_with(nest, roles, PB_ROLE_K, &x->index[1]);
  out->groups = nest->extent[out->g];
  out->outs = out->o < 0 ? 1 : nest->extent[out->o];
  out->ins = out->c < 0 ? 1 : nest->extent[out->c];
  return w->index[0].coef[out->g] == out->outs && x->index[1].coef[out->g] == out->ins &&
         y->index[1].coef[out->g] == out->outs;
}

// Weights [o, c, r, s] of `s` groups together: [o, s * c, r, s], where an output's own channels stand at its group's
// place, and zeros up to whole numbers of such groups.
static int widen(pb_consts* consts, int id, const pb_grouped* g, int64_t s) {
  pb_const from = consts->items[id];
  const char* source = pb_const_data(consts, id);
  int64_t outputs = (g->groups + s - 1) / s * s * g->outs, row = g->ins * from.shape[2] * from.shape[3];
  size_t size = (size_t)pb_type_bits(from.type) / 8;
  char* data = pb_alloc_array(&consts->arena, (size_t)(outputs * row * s), size);
  for (int64_t o = 0; o < from.shape[0]; ++o)
    memcpy(data + (size_t)((o * s + o / g->outs % s) * row) * size, source + (size_t)(o * row) * size,
           (size_t)row * size);
  int64_t shape[4] = {outputs, g->ins * s, from.shape[2], from.shape[3]};
  return pb_consts_add(consts, from.name, from.type, 4, shape, data);
}

static int need_dim(pb_nest* nest, int dim, int64_t extent) {
  if (dim < 0) dim = nest->dim_count++;
  nest->extent[dim] = extent;
  return dim;
}

void pb_grouped_merge(pb_unit* unit, pb_program* program, int n, const pb_roles* roles, const pb_grouped* g,
                      int64_t s) {
  pb_nest* nest = &program->nests[n];
  pb_value weights = program->values[program->value_of[n][roles->w]];
  weights.const_id = widen(unit->consts, weights.const_id, g, s);
  memcpy(weights.shape, unit->consts->items[weights.const_id].shape, sizeof(int64_t) * 4);
  pb_program_set_value(program, &unit->pass, n, roles->w, pb_program_add_value(program, &unit->pass, &weights));
  pb_access *x = &nest->access[roles->x], *w = &nest->access[roles->w], *y = &nest->access[roles->y];
  int o = need_dim(nest, g->o, g->outs * s), c = need_dim(nest, g->c, g->ins * s);
  memcpy(w->shape, weights.shape, sizeof w->shape);
  x->index[1].coef[c] = w->index[1].coef[c] = y->index[1].coef[o] = w->index[0].coef[o] = 1;
  x->index[1].coef[g->g] *= s;
  w->index[0].coef[g->g] *= s;
  y->index[1].coef[g->g] *= s;
  nest->extent[g->g] = (g->groups + s - 1) / s;
  if (nest->extent[g->g] == 1) pb_nest_remove_dim(nest, g->g);
}
