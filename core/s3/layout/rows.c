// Layout of what rows of lanes have in common. A number for each row ([r, 1]: a sum, a largest code, a factor) stands
// in all lanes of a row of its own: then what works lane by lane works on it and with it. Rows may end inside a row of
// lanes where the chip counts the lanes of which it makes such a number; what lies behind them is never counted. And of
// products of two computed tensors (products.c): both are in blocks of lanes already, so only the nest's dims
// are split.
#include "core/s3/kernel/flat.h"
#include "core/s3/layout/layout.h"

#include <string.h>

static bool in_rows(const pb_layout* l, int n, int a) { return pb__layout_in_rows(l, l->program.value_of[n][a]); }

static bool is_contraction(const pb_layout* l, int n) {
  pb_contraction_dims roles;
  return pb__layout_contraction_dims(l, n, &roles);
}

bool pb__layout_ends_rows(const pb_layout* l, int v) {
  const pb_value* value = &l->program.values[v];
  return value->shape[1] % l->lanes && pb__layout_read_by_rows(l, v) &&
         pb_chip_counts_lanes(l->unit->chip, value->type, PB_SET);
}

void pb__layout_choose_ends(pb_layout* l) {
  for (int n = l->program.nest_count - 1; n >= 0; --n) {
    const pb_nest* nest = &l->program.nests[n];
    const pb_access* store = &nest->access[nest->access_count - 1];
    if (nest->reduce != PB_SET || l->values[pb_program_stored(&l->program, n)].kind != PB_LAYOUT_ENDING) continue;
    for (int a = 0; a + 1 < nest->access_count; ++a) {
      pb_layout_value* from = &l->values[l->program.value_of[n][a]];
      bool alike = from->kind == PB_LAYOUT_BLOCKED && nest->access[a].rank == 2 &&
                   !memcmp(nest->access[a].index, store->index, 2 * sizeof *store->index);
      if (alike && nest->access[a].shape[1] == store->shape[1]) from->kind = PB_LAYOUT_ENDING;
    }
  }
}

bool pb__layout_takes_rows(const pb_layout* l, int n) {
  const pb_nest* nest = &l->program.nests[n];
  const pb_access *x = &nest->access[0], *store = &nest->access[nest->access_count - 1];
  int dim;
  if (nest->reduce == PB_SET || nest->access_count < 2 || is_contraction(l, n) || !in_rows(l, n, 0)) return false;
  return x->rank == 2 && pb_index_single(&x->index[1], &dim) && dim >= 0 && !pb_access_uses(store, dim) &&
         (nest->extent[dim] % l->lanes == 0 || l->values[l->program.value_of[n][0]].kind == PB_LAYOUT_ENDING);
}

static bool of_rows_alone(const pb_layout* l, int n) {
  const pb_nest* nest = &l->program.nests[n];
  for (int a = 0; a + 1 < nest->access_count; ++a) {
    int v = l->program.value_of[n][a];
    if (l->program.values[v].kind == PB_VALUE_CONST) continue;
    if (l->values[v].kind != PB_LAYOUT_SPREAD || nest->access[a].gathered) return false;
  }
  return nest->reduce == PB_SET;
}

// Whether the nest copies one element of each row, as of a slice: a mover writes it to all lanes.
static bool copies_column(const pb_layout* l, int n) {
  const pb_nest* nest = &l->program.nests[n];
  const pb_access *x = &nest->access[0], *store = &nest->access[1];
  return pb_nest_is_copy(nest) && x->rank == 2 && in_rows(l, n, 0) && !x->boxed && !pb_index_moves(&x->index[1]) &&
         !pb_index_moves(&store->index[1]);
}

bool pb__layout_read_by_rows(const pb_layout* l, int v) {
  PB_FOR_USES (n, &l->program, v) {
    const pb_nest* nest = &l->program.nests[n];
    const pb_access *x = &nest->access[0], *store = &nest->access[nest->access_count - 1];
    int dim;
    if (nest->reduce != PB_SET && nest->access_count > 1 && l->program.value_of[n][0] == v && x->rank == 2 &&
        store->rank == 2 && store->shape[1] == 1 && pb_index_single(&x->index[1], &dim) && dim >= 0 &&
        !pb_access_uses(store, dim) && !is_contraction(l, n))
      return true;
  }
  return false;
}

bool pb__layout_made_with_numbers(const pb_layout* l, int v) {
  PB_FOR_WRITERS (n, &l->program, v) {
    const pb_nest* nest = &l->program.nests[n];
    for (int a = 0; nest->reduce == PB_SET && a + 1 < nest->access_count; ++a)
      if (nest->access[a].rank == 2 && nest->access[a].shape[1] == 1 && l->program.values[v].shape[1] > 1 &&
          pb_program_is_local(&l->program, l->program.value_of[n][a]))
        return true;
  }
  return false;
}

void pb__layout_choose_rows(pb_layout* l) {
  for (int n = 0; n < l->program.nest_count; ++n) { // in order: what a nest reads is known
    int v = pb_program_stored(&l->program, n);
    const pb_value* value = &l->program.values[v];
    if (!pb__layout_is_open(l, v) || value->rank != 2 || value->shape[1] != 1) continue;
    if (pb__layout_takes_rows(l, n) || copies_column(l, n)) l->values[v].kind = PB_LAYOUT_SPREAD;
    bool made = l->program.nests[n].access_count > 1 && of_rows_alone(l, n), read = false;
    for (int a = 0; made && a + 1 < l->program.nests[n].access_count; ++a)
      read |= l->values[l->program.value_of[n][a]].kind == PB_LAYOUT_SPREAD;
    if (made && read) l->values[v].kind = PB_LAYOUT_SPREAD;
  }
}

bool pb__layout_has_rows(const pb_layout* l, int n) {
  for (int a = 0; a < l->program.nests[n].access_count; ++a)
    if (l->values[l->program.value_of[n][a]].kind == PB_LAYOUT_SPREAD) return true;
  return false;
}

bool pb__layout_gathers_rows(const pb_layout* l, int n) {
  const pb_nest* nest = &l->program.nests[n];
  pb_flat flat;
  bool rows = false;
  if (!pb_nest_gathers(nest) || nest->access_count != 3 || nest->reduce != PB_SET) return false;
  pb_flat_begin(nest, &flat);
  for (int a = 0; a + 1 < flat.access_count; ++a) rows |= flat.access[a].rows > 0;
  return rows && pb_select_knows(l->unit->chip, &flat);
}

bool pb__layout_looks_up(const pb_layout* l, int n) {
  const pb_nest* nest = &l->program.nests[n];
  const pb_chip* chip = l->unit->chip;
  for (int a = 0; a < nest->access_count; ++a) {
    bool found = !nest->access[a].gathered || pb__layout_gathers_rows(l, n),
         constant = pb_program_is_const(&l->program, n, a);
    for (int i = 0; i < chip->insn_count && constant; ++i)
      for (int d = 0; d < chip->insns[i].dim_count; ++d)
        found |= chip->insns[i].dims[d].table && chip->insns[i].dims[d].max == pb_access_elements(&nest->access[a]);
    if (!found) return false;
  }
  return true;
}

// What prints a nest without dims gives it one that nothing uses.
static bool is_walked(const pb_nest* nest, int d) {
  for (int a = 0; a < nest->access_count; ++a)
    if (pb_access_uses(&nest->access[a], d)) return true;
  return nest->extent[d] > 1;
}

// Blocks of lanes come first: a tile then holds all blocks of some rows, and the rows' numbers once.
static void blocks_first(const pb_layout* l, const pb_nest* nest, const bool* lanes, pb_nest* out, pb_split* s) {
  pb__layout_split_none(s);
  out->dim_count = 0;
  memcpy(s->full, nest->extent, sizeof s->full);
  for (int d = 0; d < nest->dim_count; ++d) s->size[d] = lanes[d] ? l->lanes : 0;
  for (int d = 0; d < nest->dim_count; ++d)
    if (lanes[d] && pb__layout_blocks(nest->extent[d], l->lanes) > 1)
      s->block[d] = pb_nest_add_dim(out, pb__layout_blocks(nest->extent[d], l->lanes));
  for (int d = 0; d < nest->dim_count; ++d)
    if (!lanes[d] && is_walked(nest, d)) s->keep[d] = pb_nest_add_dim(out, nest->extent[d]);
  for (int d = 0; d < nest->dim_count; ++d)
    if (lanes[d]) s->lane[d] = pb_nest_add_dim(out, l->lanes);
}

// The dim of numbers of rows: that of the lanes which the nest stores, or one more, along which it stores them all.
static void find_row(const pb_layout* l, int n, pb_nest* out, pb_split* s) {
  const pb_nest* nest = &l->program.nests[n];
  int store = nest->access_count - 1, dim;
  if (l->values[l->program.value_of[n][store]].kind == PB_LAYOUT_SPREAD)
    s->row = pb_nest_add_dim(out, l->lanes);
  else if (nest->access[store].rank > 1 && pb_index_single(&nest->access[store].index[1], &dim) && dim >= 0)
    s->row = s->lane[dim];
}

// Whether a number is made of each of the access's rows, which dim d walks and which end inside a row of lanes: the dim
// stays one, and the plan cuts off what fills no row.
static bool counts_row(const pb_layout* l, int n, int a, int d) {
  const pb_nest* nest = &l->program.nests[n];
  return pb__layout_takes_rows(l, n) && a == 0 && nest->extent[d] % l->lanes;
}

// Rows of lanes of a product are as many as the array takes at once. What is tested against a box stays one dim.
static void cut_to_sides(const pb_layout* l, pb_nest* out) {
  pb_contraction_dims roles;
  int64_t columns, sums;
  if (!pb_nest_contraction_dims(out, NULL, &roles) || out->access[roles.w].boxed) return;
  pb__layout_sides(l, &roles, &columns, &sums);
  for (int d = out->dim_count - 1; d >= 0; --d) {
    int64_t side = roles.role[d] == PB_ROLE_N ? columns : roles.role[d] == PB_ROLE_K ? sums : l->lanes;
    if (out->extent[d] == l->lanes && side < l->lanes && out->dim_count < PB_NEST_DIMS) pb_nest_cut_dim(out, d, side);
  }
}

void pb__layout_rewrite_rows(pb_layout* l, int n) {
  const pb_nest* nest = &l->program.nests[n];
  if (nest->access[nest->access_count - 1].rank == 4) pb__layout_complete_single_channel(l, n);
  bool lanes[PB_NEST_DIMS] = {0};
  for (int a = 0; a < nest->access_count; ++a)
    for (int d = 0; in_rows(l, n, a) && d < nest->dim_count; ++d)
      lanes[d] |= nest->access[a].index[1].coef[d] == 1 && !counts_row(l, n, a, d);
  pb_nest out = *nest;
  pb_split s;
  blocks_first(l, nest, lanes, &out, &s);
  find_row(l, n, &out, &s);
  pb__layout_rewrite_all(l, n, &s, nest, &out);
  if (nest->reduce == PB_SET) pb__layout_splat(l, &out);
  pb__layout_box_rows(l, n, &out);
  cut_to_sides(l, &out);
  pb__layout_print(l, &out);
}
