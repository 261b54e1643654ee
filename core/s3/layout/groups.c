// Convolutions of groups. Where instructions take whole rows of lanes, as many groups are taken together as fill rows,
// with zeros in the weights between them: 32 groups of 4 channels on 16 lanes become 8 groups of 16, whose weights are
// blocks along a diagonal; but where each channel is a group and an instruction sums each lane for itself, lanes are
// channels and no weight is zero. Else a vector of results lies within one group, or its lanes are several whole
// groups: then the lanes of a group read the same element of x, and those of the next one that of its own channels
// (pb_vaccess.run), and nothing is multiplied in vain; only groups that fit neither way are taken together. Never those
// of floats: zeros do not keep infinity and NaN apart.
#include "core/s3/layout/layout.h"

#include <string.h>

// Products by zero, for each that counts, from where on plain operations on single elements are not slower; one
// instruction makes so many times the group of them.
enum { PRODUCTS_IN_VAIN = 16 };

int pb__layout_dim_with(const pb_nest* nest, const pb_contraction_dims* roles, pb_role role, const pb_index* index) {
  for (int d = 0; d < nest->dim_count; ++d)
    if (roles->role[d] == role && index->coef[d]) return d;
  return -1;
}

bool pb__layout_read_groups(const pb_nest* nest, const pb_contraction_dims* roles, pb_grouped* out) {
  const pb_access *x = &nest->access[roles->x], *w = &nest->access[roles->w], *y = &nest->access[roles->y];
  if (x->rank < 4 || w->rank != x->rank || y->rank != x->rank) return false;
  out->g = pb__layout_dim_with(nest, roles, PB_ROLE_B, &x->index[1]);
  if (out->g < 0) return false;
  out->o = pb__layout_dim_with(nest, roles, PB_ROLE_N, &y->index[1]);
  out->c = pb__layout_dim_with(nest, roles, PB_ROLE_K, &x->index[1]);
  out->groups = nest->extent[out->g];
  out->of_floats = pb_type_is_float(roles->x_type);
  out->outs = out->o < 0 ? 1 : nest->extent[out->o];
  out->ins = out->c < 0 ? 1 : nest->extent[out->c];
  return w->index[0].coef[out->g] == out->outs && x->index[1].coef[out->g] == out->ins &&
         y->index[1].coef[out->g] == out->outs;
}

// Whether each channel is for itself, and an instruction takes its lanes so: nothing is between channels to be zero.
static bool goes_by_lanes(const pb_layout* l, const pb_nest* nest, const pb_contraction_dims* roles) {
  pb_contraction_dims unused;
  return pb__layout_depthwise(nest, roles) >= 0 && pb_chip_lane_contraction(l->unit->chip, roles, NULL, &unused);
}

static bool read(const pb_layout* l, int n, pb_contraction_dims* roles, pb_grouped* g) {
  const pb_nest* nest = &l->program.nests[n];
  return pb__layout_contraction_dims(l, n, roles) && pb__layout_weighs(l, n, roles) &&
         pb__layout_read_groups(nest, roles, g) && (l->whole_rows || g->ins > 1 || g->outs > 1) &&
         !goes_by_lanes(l, nest, roles);
}

// The widest run of channels, at most a block, that is whole groups or a part of one; 0: they cross each other.
static int64_t groups_in_block(int64_t channels, int64_t block) {
  if (channels >= block) return channels % block ? 0 : 1;
  return block % channels ? 0 : block / channels;
}

// Whether dims of the groups, cut in blocks, steps and lanes as `s` says, stay inside the blocks of one side.
static bool stays_inside(const pb_layout_groups* s, int64_t channels, int64_t block) {
  if (channels % block == 0) return true;
  return s->lanes * channels == block || (s->block * channels == block && s->lanes * channels <= block);
}

static bool fit(const pb_layout* l, const pb_grouped* g, pb_layout_groups* s) {
  int64_t x = pb__layout_block(l, g->ins * g->groups), y = pb__layout_block(l, g->outs * g->groups);
  int64_t of_x = groups_in_block(g->ins, x), of_y = groups_in_block(g->outs, y);
  bool narrow = g->outs < l->lanes;
  if (!of_x || !of_y || (narrow ? l->lanes % g->outs || g->outs % g->ins : g->outs % l->lanes)) return false;
  s->lanes = narrow ? l->lanes / g->outs : 1;
  s->block = of_x > of_y ? of_x : of_y;
  // a last block of fewer groups lies in one of each side; weights of 0 are those of lanes that no channel fills
  bool ends = g->of_floats && s->block * g->ins == x && s->block * g->outs == y;
  return (ends || g->groups % s->block == 0) && s->block % s->lanes == 0 && stays_inside(s, g->ins, x) &&
         stays_inside(s, g->outs, y);
}

bool pb__layout_grouped(const pb_layout* l, int n, pb_grouped* g, pb_layout_groups* s) {
  pb_contraction_dims roles;
  return read(l, n, &roles, g) && fit(l, g, s);
}

bool pb__layout_walks_groups(const pb_layout* l, int n, int a) {
  pb_contraction_dims roles;
  pb_grouped g;
  pb_layout_groups s;
  return read(l, n, &roles, &g) && (a == roles.x || a == roles.y) && fit(l, &g, &s);
}

bool pb__layout_refuse_groups(pb_layout* l) {
  bool any = false;
  for (int n = 0; n < l->program.nest_count; ++n) {
    pb_contraction_dims roles;
    pb_grouped g;
    if (!read(l, n, &roles, &g)) continue;
    pb_layout_value *x = &l->values[l->program.value_of[n][roles.x]], *y = &l->values[l->program.value_of[n][roles.y]];
    if (x->kind == y->kind || (x->refused && y->refused)) continue;
    any = x->refused = y->refused = true;
  }
  return any;
}

// ---- groups taken together ----

static pb_grouped joined(const pb_grouped* g, int64_t together) {
  pb_grouped all = *g;
  all.groups /= together;
  all.ins *= together;
  all.outs *= together;
  return all;
}

static bool fills_rows(const pb_layout* l, const pb_grouped* g) {
  return g->ins % l->lanes == 0 && g->outs % l->lanes == 0;
}

// How many groups must be taken together to fill rows of lanes. Groups that never do become one; where each is one
// channel, a row of them, of which the last may end early.
static int64_t together_in_rows(const pb_layout* l, const pb_nest* nest, const pb_contraction_dims* roles,
                                const pb_grouped* g) {
  for (int64_t s = 1; s <= g->groups; ++s) {
    pb_grouped all = joined(g, s);
    if (g->groups % s == 0 && fills_rows(l, &all)) return s;
  }
  return pb__layout_depthwise(nest, roles) >= 0 ? l->lanes : g->groups;
}

// The same for blocks to fit and, if there is such an instruction, for it to find its neighbours; 0: it does not pay.
static int64_t together_in_blocks(const pb_layout* l, const pb_contraction_dims* roles, const pb_grouped* g) {
  pb_vector_insn insn = pb_vector_contraction(l->selections, roles->x_type, roles->w_type, roles->y_type);
  for (int64_t group = insn.insn ? insn.group : 1; group > 0; group = group > 1 ? 1 : 0)
    for (int64_t s = 1; s <= g->groups && s <= PRODUCTS_IN_VAIN * group; ++s) {
      pb_grouped all = joined(g, s);
      pb_layout_groups fits;
      if (g->groups % s == 0 && all.ins % group == 0 && (all.groups == 1 || fit(l, &all, &fits))) return s;
    }
  return 0;
}

// Weights [o, c, ...] of `s` groups together: [o, s * c, ...], where an output's own channels stand at its group's
// place, and zeros up to whole numbers of such groups.
static int widen(pb_consts* consts, int id, const pb_grouped* g, int64_t s) {
  const pb_const* from = consts->items[id];
  const char* source = pb_const_data(consts, id);
  int64_t outputs = (g->groups + s - 1) / s * s * g->outs, row = g->ins;
  for (int r = 2; r < from->rank; ++r) row *= from->shape[r];
  size_t size = (size_t)pb_type_bits(from->type) / 8;
  char* data = pb_alloc_array(&consts->arena, (size_t)(outputs * row * s), size);
  for (int64_t o = 0; o < from->shape[0]; ++o)
    memcpy(data + (size_t)((o * s + o / g->outs % s) * row) * size, source + (size_t)(o * row) * size,
           (size_t)row * size);
  int64_t shape[PB_NEST_RANK] = {outputs, g->ins * s};
  memcpy(shape + 2, from->shape + 2, sizeof *shape * (size_t)(from->rank - 2));
  return pb_consts_add(consts, from->name, from->type, from->rank, shape, data);
}

static int need_dim(pb_nest* nest, int dim, int64_t extent) {
  if (dim < 0) dim = nest->dim_count++;
  nest->extent[dim] = extent;
  return dim;
}

// Takes `s` groups of nest n as one, with zeros in the constant weights between them; if they do not divide the groups,
// the last of them reach past x and y. Appends a value to the program; what is there keeps its number.
static void merge(pb_unit* unit, pb_program* program, int n, const pb_contraction_dims* roles, const pb_grouped* g,
                  int64_t s) {
  pb_nest* nest = &program->nests[n];
  pb_value weights = program->values[program->value_of[n][roles->w]];
  weights.const_id = widen(unit->consts, weights.const_id, g, s);
  memcpy(weights.shape, unit->consts->items[weights.const_id]->shape, sizeof(int64_t) * (size_t)weights.rank);
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

static bool is_image_in_blocks(const pb_layout* l, int v, int but) {
  return pb__layout_is_image(l, l->program.values[v].rank) && pb__layout_can_block(l, v, but);
}

void pb__layout_merge_groups(pb_layout* l) {
  for (int n = 0; n < l->program.nest_count; ++n) {
    pb_contraction_dims roles;
    pb_grouped g;
    if (pb__layout_is_apart(l, n) || !read(l, n, &roles, &g) || l->program.nests[n].dim_count + 2 > PB_NEST_DIMS)
      continue;
    int x = l->program.value_of[n][roles.x], y = l->program.value_of[n][roles.y];
    if (pb_type_is_float(roles.x_type)) continue;
    int64_t s = 0;
    if (l->whole_rows)
      s = together_in_rows(l, &l->program.nests[n], &roles, &g);
    else if (is_image_in_blocks(l, x, n) && is_image_in_blocks(l, y, n))
      s = together_in_blocks(l, &roles, &g);
    if (s <= 1) continue;
    merge(l->unit, &l->program, n, &roles, &g, s);
    l->roles[n].read = false;
  }
}
