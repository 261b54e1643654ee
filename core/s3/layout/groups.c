// Convolutions of groups. Where instructions take whole rows of lanes, as many groups are taken together as fill rows,
// with zeros in the weights between them: 32 groups of 4 channels on 16 lanes become 8 groups of 16, whose weights are
// blocks along a diagonal. Else a vector of results lies within one group, or its lanes are several whole groups: then
// the lanes of a group read the same element of x, and those of the next one that of its own channels
// (pb_vaccess.run), and nothing is multiplied in vain; only groups that fit neither way are taken together. Never those
// of floats: zeros do not keep infinity and NaN apart.
#include "core/s3/layout/layout.h"

// Products by zero, for each that counts, from where on plain operations on single elements are not slower; one
// instruction makes so many times the group of them.
enum { PRODUCTS_IN_VAIN = 16 };

static bool read(const pb_layout* l, int n, pb_roles* roles, pb_grouped* g) {
  return pb__layout_roles(l, n, roles) && l->program.values[l->program.value_of[n][roles->w]].kind == PB_VALUE_CONST &&
         pb_grouped_read(&l->program.nests[n], roles, g) && (l->whole_rows || g->ins > 1 || g->outs > 1);
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
  return g->groups % s->block == 0 && s->block % s->lanes == 0 && stays_inside(s, g->ins, x) &&
         stays_inside(s, g->outs, y);
}

bool pb__layout_grouped(const pb_layout* l, int n, pb_grouped* g, pb_layout_groups* s) {
  pb_roles roles;
  return read(l, n, &roles, g) && fit(l, g, s);
}

bool pb__layout_walks_groups(const pb_layout* l, int n, int a) {
  pb_roles roles;
  pb_grouped g;
  pb_layout_groups s;
  return read(l, n, &roles, &g) && (a == roles.x || a == roles.y) && fit(l, &g, &s);
}

bool pb__layout_refuse_groups(pb_layout* l) {
  bool any = false;
  for (int n = 0; n < l->program.nest_count; ++n) {
    pb_roles roles;
    pb_grouped g;
    if (!read(l, n, &roles, &g)) continue;
    pb_layout_value *x = &l->values[l->program.value_of[n][roles.x]], *y = &l->values[l->program.value_of[n][roles.y]];
    if (l->whole_rows || x->kind == y->kind || (x->refused && y->refused)) continue;
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

// How many groups must be taken together for rows of lanes, or blocks, to fit and, if there is such an instruction, for
// it to find its neighbours; 0: it does not pay. Groups that never fill rows become one; where each is one channel, a
// row of them, of which the last may end early.
static int64_t together(const pb_layout* l, const pb_nest* nest, const pb_roles* roles, const pb_grouped* g) {
  const pb_access* a = nest->access;
  pb_vector_insn insn = pb_vector_contraction(l->unit->chip, roles->x_type, roles->w_type, a[roles->y].type);
  int64_t group = insn.insn ? insn.group : 1;
  for (; group > 0; group = group > 1 ? 1 : 0)
    for (int64_t s = 1; s <= g->groups && (l->whole_rows || s <= PRODUCTS_IN_VAIN * group); ++s) {
      pb_grouped all = joined(g, s);
      pb_layout_groups fits;
      if (g->groups % s == 0 && all.ins % group == 0 &&
          (l->whole_rows ? fills_rows(l, &all) : all.groups == 1 || fit(l, &all, &fits)))
        return s;
    }
  return !l->whole_rows ? 0 : pb__layout_depthwise(nest, roles) >= 0 ? l->lanes : g->groups;
}

void pb__layout_merge_groups(pb_layout* l) {
  for (int n = 0; n < l->program.nest_count; ++n) {
    pb_roles roles;
    pb_grouped g;
    if (pb__layout_is_apart(l, n) || !read(l, n, &roles, &g) || l->program.nests[n].dim_count + 2 > PB_NEST_DIMS)
      continue;
    int x = l->program.value_of[n][roles.x], y = l->program.value_of[n][roles.y];
    if (l->program.values[x].type == PB_F32) continue;
    if (!l->whole_rows && (!pb__layout_can_block(l, x, n) || !pb__layout_can_block(l, y, n))) continue;
    int64_t s = together(l, &l->program.nests[n], &roles, &g);
    if (s <= 1) continue;
    pb_grouped_merge(l->unit, &l->program, n, &roles, &g, s);
    l->roles[n].read = false;
  }
}
