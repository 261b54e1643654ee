// Convolutions of groups with several channels each: as many groups are taken together as fill whole rows of lanes,
// with zeros in the weights between them. 32 groups of 4 channels on 16 lanes become 8 groups of 16, whose weights are
// blocks along a diagonal; groups that fit no row become one. Exact for codes: what is added is zero.
#include "core/s3/layout_lanes.h"

#include <string.h>

// A grouped contraction: dims of the groups, of results and of inputs within one, -1 where that extent is 1.
typedef struct grouped {
  int g, o, c;
  int64_t groups, outs, ins;
} grouped;

static int dim_with(const pb_nest* nest, const pb_roles* roles, pb_role role, const pb_index* index) {
  for (int d = 0; d < nest->dim_count; ++d)
    if (roles->role[d] == role && index->coef[d]) return d;
  return -1;
}

static bool read_grouped(const pb_nest* nest, const pb_roles* roles, grouped* out) {
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

// How many groups fill whole rows of lanes of inputs and of results: all, if fewer never do.
static int64_t together(const pb_lanes_layout* l, const grouped* g) {
  for (int64_t s = 1; s < g->groups; ++s)
    if (g->groups % s == 0 && s * g->ins % l->lanes == 0 && s * g->outs % l->lanes == 0) return s;
  return g->groups;
}

// Weights [o, c, r, s] of `s` groups together: [o, s * c, r, s], where an output's own channels stand at its group's
// place.
static int widen(pb_lanes_layout* l, int id, const grouped* g, int64_t s) {
  pb_const from = l->unit->consts->items[id];
  const char* source = pb_const_data(l->unit->consts, id);
  int64_t outputs = from.shape[0], row = g->ins * from.shape[2] * from.shape[3];
  size_t size = (size_t)pb_type_bits(from.type) / 8;
  char* data = pb_alloc(&l->unit->consts->arena, (size_t)(outputs * row * s) * size);
  for (int64_t o = 0; o < outputs; ++o)
    memcpy(data + (size_t)((o * s + o / g->outs % s) * row) * size, source + (size_t)(o * row) * size,
           (size_t)row * size);
  int64_t shape[4] = {outputs, g->ins * s, from.shape[2], from.shape[3]};
  return pb_consts_add(l->unit->consts, from.name, from.type, 4, shape, data);
}

static int need_dim(pb_nest* nest, int dim, int64_t extent) {
  if (dim < 0) dim = nest->dim_count++;
  nest->extent[dim] = extent;
  return dim;
}

static void remove_dim(pb_nest* nest, int dim) {
  --nest->dim_count;
  for (int d = dim; d < nest->dim_count; ++d) nest->extent[d] = nest->extent[d + 1];
  for (int a = 0; a < nest->access_count; ++a)
    for (int r = 0; r < nest->access[a].rank; ++r) {
      int64_t* coef = nest->access[a].index[r].coef;
      for (int d = dim; d < nest->dim_count; ++d) coef[d] = coef[d + 1];
      coef[nest->dim_count] = 0;
    }
}

static void merge(pb_lanes_layout* l, int n, const pb_roles* roles, const grouped* g, int64_t s) {
  pb_nest* nest = &l->program.nests[n];
  pb_value weights = l->program.values[l->program.value_of[n][roles->w]];
  weights.const_id = widen(l, weights.const_id, g, s);
  memcpy(weights.shape, l->unit->consts->items[weights.const_id].shape, sizeof(int64_t) * 4);
  l->program.value_of[n][roles->w] = pb__lanes_add_value(l, &weights);
  pb_access *x = &nest->access[roles->x], *w = &nest->access[roles->w], *y = &nest->access[roles->y];
  int o = need_dim(nest, g->o, g->outs * s), c = need_dim(nest, g->c, g->ins * s);
  w->shape[1] = weights.shape[1];
  x->index[1].coef[c] = w->index[1].coef[c] = y->index[1].coef[o] = w->index[0].coef[o] = 1;
  x->index[1].coef[g->g] *= s;
  w->index[0].coef[g->g] *= s;
  y->index[1].coef[g->g] *= s;
  nest->extent[g->g] /= s;
  if (nest->extent[g->g] == 1) remove_dim(nest, g->g);
}

void pb__lanes_merge_groups(pb_lanes_layout* l) {
  for (int n = 0; n < l->program.nest_count; ++n) {
    pb_roles roles;
    grouped g;
    const pb_nest* nest = &l->program.nests[n];
    if (!pb__lanes_roles(l, n, &roles) || !read_grouped(nest, &roles, &g)) continue;
    if (l->program.values[l->program.value_of[n][roles.w]].kind != PB_VALUE_CONST) continue;
    int64_t s = together(l, &g);
    if (s > 1 && pb__lanes_depthwise(nest, &roles) < 0 && nest->dim_count + 2 <= PB_NEST_DIMS)
      merge(l, n, &roles, &g, s);
  }
}
