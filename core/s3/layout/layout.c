// Layout: every value gets the layout in which the chip's instructions walk it, D lanes to a row. Requires the program
// function in value form; leaves it in value form. Does nothing on a chip without rows of lanes.
//   [n, c, h, w] made and used inside becomes [n, c / D, h, w, D]; other rows of a contraction's results are padded to
//   a multiple of D; what comes in or leaves is copied from and to such a twin (edges.c); constant weights become [o /
//   D, k, D, group], k in the order of the loops (contract.c); vectors over channels become [c / D, D]; operands of a
//   large contraction that are not constant are brought into such layouts by copies.
// Where instructions take whole rows of lanes (l->whole_rows) and nothing else:
//   [n, c] becomes [n, c / D, D]; scalar factors become vectors of D equal numbers;
//   an input of few channels stays as it is, and its contraction reads rows of whole windows (gather.c).
// Else volumes, [n, c, d, h, w], lie as images do; a few channels that only a contraction reads keep blocks of its
// group, and plain tensors are read too; parts of a tensor lie in blocks where they are whole ones, and what is put
// together of others is copied into blocks. Sums of floats are taken in another order, blocks of channels outermost. An
// instruction that takes x without sign gets x with its sign bit flipped, that is x and half the range more, and the
// sums start from what this adds too much.
#include "core/s3/layout/layout.h"
#include "core/s3/fallback.h"
#include "core/s3/transfer_paths.h"

#include <stdlib.h>

static pb_status check_types(const pb_layout* l, int n) {
  const pb_nest* nest = &l->program.nests[n];
  const char* lacks = NULL;
  for (int a = 0; a < nest->access_count; ++a)
    if (l->program.values[l->program.value_of[n][a]].type == PB_I64) lacks = "has no instruction on elements of i64";
  if (pb_nest_is_fixed(nest) && !pb_nest_gathers(nest))
    lacks = "computes no index and combines by sums and maxima alone";
  if (!pb__layout_looks_up(l, n)) lacks = "reads nothing at an index that comes at run time";
  if (!lacks) return PB_OK;
  return pb_unsupported(l->unit->diag, (pb_place){.what = nest->name}, 4048, "another target, or --fallback=cpu",
                        "%s %s", l->unit->chip->name, lacks);
}

static pb_status check_room(const pb_layout* l, int n) {
  int dims, packed;
  if (pb__layout_has_room(l, n, &dims, &packed)) return PB_OK;
  return pb_unsupported(l->unit->diag, (pb_place){.what = l->program.nests[n].name}, 4041, "fewer dimensions",
                        "in rows of lanes it has %d loops, %d around a constant; at most %d and %d", dims, packed,
                        PB_NEST_DIMS, PB_PACK_DIMS);
}

// Whether x is a plain tensor whose channels end inside a row that is taken whole: it is read as a gathered one then.
static bool rows_end_early(const pb_layout* l, int n, const pb_contraction_dims* roles) {
  const pb_nest* nest = &l->program.nests[n];
  int channel = pb__layout_summed_along(nest, roles, 1, true);
  return channel >= 0 && l->values[l->program.value_of[n][roles->x]].kind == PB_LAYOUT_PLAIN &&
         nest->extent[channel] % l->row && pb__layout_dim_of_role(nest, roles, PB_ROLE_B) == -1;
}

// Refusals of what no whole rows of lanes fit. *computed: whether it multiplies two computed tensors.
static pb_status check_rows(pb_layout* l, int n, const pb_contraction_dims* contraction, bool* computed) {
  const pb_nest* nest = &l->program.nests[n];
  PB_TRY(check_types(l, n));
  PB_TRY(check_room(l, n));
  if (contraction) PB_TRY(pb__layout_check_floats(l, n, contraction));
  for (int a = 0; !contraction && a < nest->access_count; ++a)
    if (pb__layout_in_rows(l, l->program.value_of[n][a]) && pb__layout_sums_lanes(l, nest, &nest->access[a]) &&
        !pb__layout_takes_rows(l, n))
      return pb_unsupported(l->unit->diag, (pb_place){.what = nest->name}, 4043,
                            "a multiple of them, or another target",
                            "it adds up %lld channels, which end inside a row of %lld lanes",
                            (long long)nest->access[a].shape[1], (long long)l->lanes);
  *computed = contraction && !pb__layout_weighs(l, n, contraction);
  return *computed ? pb__layout_check_rows(l, n) : PB_OK;
}

// Whether the nest sets what a contraction adds to, which prints it, as it knows what its sum starts from.
static bool starts_contraction(const pb_layout* l, int n) {
  pb_contraction_dims roles;
  PB_FOR_USES (m, &l->program, pb_program_stored(&l->program, n))
    if (m > n && pb__layout_is_init(l, n, m) && pb__layout_contraction_dims(l, m, &roles) &&
        !pb__layout_is_apart(l, m) && (!l->whole_rows || pb__layout_weighs(l, m, &roles)))
      return true;
  return false;
}

static void rewrite_contraction(pb_layout* l, int n, const pb_contraction_dims* roles) {
  if (rows_end_early(l, n, roles)) l->gathers[n] = true;
  if (pb__layout_contraction(l, n, roles)) return;
  PB_FOR_USES (k, &l->program, pb_program_stored(&l->program, n))
    if (k < n && pb__layout_is_init(l, k, n)) pb__layout_rewrite_nest(l, k);
  pb__layout_rewrite_nest(l, n);
}

static pb_status rewrite(pb_layout* l, int n) {
  pb_contraction_dims roles;
  if (pb__layout_is_apart(l, n)) {
    pb__layout_print_plain(l, n);
    return PB_OK;
  }
  if (starts_contraction(l, n)) return PB_OK;
  bool contraction = pb__layout_contraction_dims(l, n, &roles), computed = false, crosses = false;
  if (l->whole_rows) {
    PB_TRY(check_rows(l, n, contraction ? &roles : NULL, &computed));
    crosses = !contraction && pb__layout_crosses(l, n);
  }
  if (computed || pb__layout_has_rows(l, n)) {
    pb__layout_rewrite_rows(l, n);
    return PB_OK;
  }
  if (crosses) return pb__layout_cross(l, n);
  if (contraction)
    rewrite_contraction(l, n, &roles);
  else
    pb__layout_rewrite_nest(l, n);
  return PB_OK;
}

// With --fallback operators that no layout fits are put aside, and their number says that it must be tried again.
static pb_status rewrite_all(pb_layout* l) {
  size_t apart = l->apart->count;
  for (int n = 0; n < l->program.nest_count; ++n) {
    l->no_room = false;
    pb_status status = l->program.gone[n] ? PB_OK : rewrite(l, n);
    if (status == PB_OK) pb__layout_clean_rest(l, n);
    if (status == PB_OK && l->no_room)
      status = pb_unsupported(l->unit->diag, (pb_place){.what = l->program.nests[n].name}, 4064, "another target",
                              "its tensors' rows of lanes have no room for it");
    if (status == PB_OK) continue;
    if (status != PB_ERR_UNSUPPORTED || !(l->no_room || pb_may_leave(l->unit))) return status;
    if (!pb__layout_is_apart(l, n)) pb__layout_set_apart(l, n);
  }
  return l->apart->count > apart ? PB_ERR_UNSUPPORTED : PB_OK;
}

// Whether the dim walks another index than that of the channels, of any image that is computed.
static bool walks_elsewhere(const pb_layout* l, int n, int dim) {
  const pb_nest* nest = &l->program.nests[n];
  for (int a = 0; a < nest->access_count; ++a)
    for (int r = 0; r < nest->access[a].rank; ++r)
      if (r != 1 && pb__layout_is_image(l, nest->access[a].rank) && nest->access[a].index[r].coef[dim] &&
          !pb_program_is_const(&l->program, n, a))
        return true;
  return false;
}

// A tensor's only channel, along a dim that another tensor has at another place: it is channel 0. Split into lanes,
// that dim would go past the other's end.
static void keep_single_channels(pb_layout* l) {
  for (int n = 0; n < l->program.nest_count; ++n) {
    pb_nest* nest = &l->program.nests[n];
    for (int d = 0; d < nest->dim_count; ++d) {
      if (nest->reduce != PB_SET || nest->extent[d] != 1 || !walks_elsewhere(l, n, d)) continue;
      for (int a = 0; a < nest->access_count; ++a)
        if (pb__layout_is_image(l, nest->access[a].rank)) nest->access[a].index[1].coef[d] = 0;
    }
  }
}

// Whether a sum that no loop of channels walks makes the value: it is in lane 0 alone.
static bool is_in_one_lane(const pb_layout* l, int v) {
  PB_FOR_WRITERS (n, &l->program, v) {
    const pb_nest* nest = &l->program.nests[n];
    if (nest->reduce != PB_SET && !pb_index_moves(&nest->access[nest->access_count - 1].index[1])) return true;
  }
  return false;
}

// Whether all that the nest computes with is one element, which none of its loops walks.
static bool is_of_one_element(const pb_layout* l, int n) {
  const pb_nest* nest = &l->program.nests[n];
  if (nest->reduce != PB_SET || pb_nest_is_copy(nest) || nest->dim_count != 1) return false;
  if (pb_nest_is_fill(nest) && is_in_one_lane(l, pb_program_stored(&l->program, n))) return false;
  for (int a = 0; a < nest->access_count; ++a)
    if (nest->access[a].rank < 2 || pb_access_elements(&nest->access[a]) != 1 || pb_access_uses(&nest->access[a], 0))
      return false;
  return nest->extent[0] == 1;
}

// Whether it copies a channel that it walks to one that it does not.
static bool copies_one_element(const pb_layout* l, int n, int* dim) {
  const pb_nest* nest = &l->program.nests[n];
  if (!pb_nest_is_copy(nest)) return false;
  const pb_access *from = &nest->access[0], *to = &nest->access[1];
  if (from->rank < 2 || from->rank != to->rank || pb_access_elements(from) != 1 || pb_access_elements(to) != 1)
    return false;
  if (!pb_index_single(&from->index[1], dim) || *dim < 0 || pb_access_uses(to, *dim)) return false;
  return !is_in_one_lane(l, l->program.value_of[n][0]);
}

// Such an element is a channel: what goes along channels is split into lanes.
static void walk_single_elements(pb_layout* l) {
  for (int n = 0; n < l->program.nest_count; ++n) {
    pb_nest* nest = &l->program.nests[n];
    int dim = 0;
    if (copies_one_element(l, n, &dim)) nest->access[1].index[1].coef[dim] = 1;
    if (!is_of_one_element(l, n)) continue;
    for (int a = 0; a < nest->access_count; ++a) nest->access[a].index[1].coef[0] = 1;
  }
}

// The only channel of an image, which a loop of one iteration walks in what the nest stores, and none in what it reads
// beside that: the loop walks both, for it becomes lanes.
static void walk_channels_alike(pb_layout* l) {
  for (int n = 0; n < l->program.nest_count; ++n) {
    pb_nest* nest = &l->program.nests[n];
    pb_access* store = pb_nest_store(nest);
    int dim = -1;
    if (nest->reduce != PB_SET || pb_nest_is_copy(nest) || !pb__layout_is_image(l, store->rank) ||
        !pb_index_single(&store->index[1], &dim) || dim < 0 || nest->extent[dim] != 1 || walks_elsewhere(l, n, dim))
      continue;
    for (int a = 0; a + 1 < nest->access_count; ++a)
      if (pb__layout_is_image(l, nest->access[a].rank) && nest->access[a].shape[1] == 1 &&
          !pb_index_moves(&nest->access[a].index[1]) && pb_program_is_local(&l->program, l->program.value_of[n][a]) &&
          !is_in_one_lane(l, l->program.value_of[n][a]))
        nest->access[a].index[1].coef[dim] = 1;
  }
}

// Where an image's only channel is, said by the loops that are to be lanes.
static void name_single_channels(pb_layout* l) {
  keep_single_channels(l);
  walk_single_elements(l);
  walk_channels_alike(l);
}

static pb_layout_contraction_dims* unread_roles(const pb_layout* l) {
  return PB_NEW_ARRAY(&l->unit->pass, pb_layout_contraction_dims, (size_t)l->program.nest_count + 1);
}

static pb_status lay_out(pb_unit* unit, pb_layout_apart* apart) {
  pb_layout layout = {.unit = unit, .lanes = pb_chip_lanes(unit->chip), .apart = apart}, *l = &layout;
  pb_select_memo selections = {.chip = unit->chip, .arena = &unit->pass};
  l->selections = &selections;
  l->whole_rows = pb_chip_whole_rows(unit->chip);
  l->row = pb_chip_row(unit->chip);
  l->image_rank = pb_chip_image_rank(unit->chip);
  PB_TRY(pb_program_read_main(unit, &l->program));
  if (l->whole_rows)
    name_single_channels(l);
  else
    pb__layout_take_late_weights(l);
  l->roles = unread_roles(l);
  l->summed = pb__layout_summed_channels(l);
  while (pb__layout_grow_apart(l)) {}
  pb__layout_merge_groups(l);
  l->roles = unread_roles(l);
  if (l->whole_rows) pb__layout_read_sources(l);
  pb__layout_find_heads(l);
  pb__layout_find_lies(l);
  if (l->whole_rows) { // what lies along lanes by its last dim becomes rows, before anything else is chosen
    pb__layout_collapse(l);
    pb__layout_part_heads(l);
  }
  pb__layout_add_twins(l);
  l->roles = unread_roles(l);
  l->gathers = PB_NEW_ARRAY(&unit->pass, bool, (size_t)l->program.nest_count + 1);
  pb__layout_find_heads(l); // of twins and of what was copied for lanes, too
  pb__layout_choose(l);
  pb__layout_drop_twins(l);
  pb__layout_find_rests(l);
  pb__layout_store_without_sign(l);
  for (int v = 0; v < l->program.value_count; ++v) pb__layout_describe(l, v);
  pb_status status = rewrite_all(l);
  pb_text text = {0};
  if (status == PB_OK) pb__layout_print_program(l, &text);
  pb_text_free(&l->allocs);
  pb_text_free(&l->nests);
  if (status == PB_OK) status = pb_program_print_end(unit, &text, "layout");
  free(l->consts);
  pb_numbers_free(&l->const_of);
  return status;
}

pb_status pb_s3_layout(pb_unit* unit) {
  if (pb_chip_lanes(unit->chip) == 1) return PB_OK;
  pb_layout_apart apart = {0};
  pb_diag* diag = unit->diag;
  pb_diag quiet = {.sink = pb_diag_drop};
  size_t before;
  pb_status status;
  do { // what is refused only because of others, which then stand apart, says so when the kernels are planned
    before = apart.count;
    unit->diag = &quiet;
    status = lay_out(unit, &apart);
    unit->diag = diag;
  } while (status == PB_ERR_UNSUPPORTED && apart.count > before);
  if (status != PB_OK) status = lay_out(unit, &apart); // once more, with what is wrong
  free(apart.names);
  return status;
}
