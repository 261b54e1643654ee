// Layout: every value gets the layout in which the chip's vectors and its matrix instruction walk it. Requires the
// program function in value form; leaves it in value form. Does nothing on a chip without rows of lanes.
//   [n, c, h, w] made and used inside becomes [n, c / D, h, w, D]; [n, c] becomes [n, c / D, D], [1, c] is padded to a
//   multiple of D; what comes in or leaves is copied from and to such a twin (edges.c);
//   weights become [o / D, k, D] with k in the order (c / D, window, D); vectors over channels become [c / D, D];
//   scalar factors become vectors of D equal numbers, since the vector unit reads its factors by rows.
// An input of few channels stays as it is: instead its contraction reads a gathered tensor [h, w, k] whose rows are
// whole windows. That tensor is written by plain copies here and gone after fusion: only tiles of it ever exist.
// Exact: sums are of integers, or keep their order.
#include "core/s3/layout/layout.h"
#include "core/s3/fallback.h"
#include "core/s3/routes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Whether another nest than copies computes with the value: then it lies in blocks, and copies take it out of them.
static bool computed_with(const pb_layout* l, int value) {
  PB_FOR_USES (n, &l->program, value)
    if (pb_program_reads(&l->program, n, value) && !pb_program_writes(&l->program, n, value) &&
        (l->program.nests[n].expr_count != 1 || l->program.nests[n].reduce != PB_SET))
      return true;
  return false;
}

// Whether a sum or a largest element is taken into the value: units make those in rows of lanes.
static bool is_reduced(const pb_layout* l, int value) {
  PB_FOR_USES (n, &l->program, value)
    if (pb_program_writes(&l->program, n, value) && l->program.nests[n].reduce != PB_SET) return true;
  return false;
}

static void keep_plain(pb_layout* l, int value) {
  l->values[value].kind = PB_LAYOUT_PLAIN;
  PB_FOR_USES (n, &l->program, value) // what is copied into it (a pad's inside) stays plain too
    if (pb_program_writes(&l->program, n, value) && l->program.nests[n].access_count == 2 &&
        l->program.nests[n].expr_count == 1 && l->program.value_of[n][0] != value) {
      int source = l->program.value_of[n][0];
      if (l->values[source].kind != PB_LAYOUT_PLAIN && !computed_with(l, source) && !is_reduced(l, source))
        keep_plain(l, source);
    }
}

// Whether only this nest reads the value, directly or through a padded copy of it.
static bool read_by_alone(const pb_layout* l, int value, int nest) {
  PB_FOR_USES (k, &l->program, value) {
    if (k == nest || !pb_program_reads(&l->program, k, value) || pb_program_writes(&l->program, k, value)) continue;
    const pb_nest* copy = &l->program.nests[k];
    if (copy->expr_count != 1 || copy->reduce != PB_SET) return false;
    if (!read_by_alone(l, l->program.value_of[k][copy->access_count - 1], nest)) return false;
  }
  return true;
}

// A plain tensor may come from the outside or from a pointwise nest over plain tensors, not from one that makes blocks.
static bool can_be_plain(const pb_layout* l, int value, int nest) {
  if (!read_by_alone(l, value, nest)) return false;
  PB_FOR_USES (k, &l->program, value) {
    if (!pb_program_writes(&l->program, k, value)) continue;
    const pb_nest* maker = &l->program.nests[k];
    if (maker->reduce != PB_SET) return false;
    for (int a = 0; a + 1 < maker->access_count; ++a) {
      int from = l->program.value_of[k][a];
      bool outside = l->program.values[from].kind != PB_VALUE_LOCAL;
      if (!outside && (maker->expr_count != 1 || !can_be_plain(l, from, nest))) return false;
    }
  }
  return true;
}

bool pb__layout_walks(const pb_layout* l, const pb_nest* nest, const pb_access* access) {
  const pb_index* index = &access->index[1];
  int64_t inner = 1, all = 1;
  if (access->rank < 2 || index->cst % l->lanes) return false;
  for (int d = 0; d < nest->dim_count; ++d) {
    if (index->coef[d] == 1 && inner != 1) return false;
    if (index->coef[d] == 1) inner = nest->extent[d];
    if (index->coef[d]) all *= nest->extent[d];
  }
  for (int d = 0; d < nest->dim_count; ++d)
    if (index->coef[d] && index->coef[d] != 1 && (index->coef[d] % inner || inner % l->lanes || all % inner))
      return false;
  return index->cst + all == access->shape[1] ||
         (all % l->lanes == 0 && index->cst + all < access->shape[1] + l->lanes);
}

// The dim from element to element along the channels, -1: none.
static int along_lanes(const pb_nest* nest, const pb_access* access) {
  for (int d = 0; access->rank > 1 && d < nest->dim_count; ++d)
    if (access->index[1].coef[d] == 1 && nest->extent[d] > 1) return d;
  return -1;
}

bool pb__layout_turns(const pb_layout* l, int n) {
  const pb_nest* nest = &l->program.nests[n];
  int to = along_lanes(nest, &nest->access[nest->access_count - 1]);
  for (int a = 0; nest->reduce == PB_SET && to >= 0 && a + 1 < nest->access_count; ++a) {
    const pb_access* access = &nest->access[a];
    int from = along_lanes(nest, access);
    bool elsewhere = access->rank > 1 && pb_access_uses(access, to); // of one channel: not along its lanes
    if (l->program.values[l->program.value_of[n][a]].kind != PB_VALUE_CONST && from != to && (from >= 0 || elsewhere))
      return true;
  }
  return false;
}

// Whether the value is made of a tensor that ends where the model says and not at a whole row: an input of the graph,
// one that is made element by element behind a reshape, or the plain twin of the value.
static bool made_of_plain(const pb_layout* l, int v) {
  const pb_layout_twin* twin = pb__layout_twin_of(l, v);
  if (twin && l->program.value_of[twin->copy][1] == v) return true;
  PB_FOR_USES (n, &l->program, v)
    for (int a = 0; pb_program_writes(&l->program, n, v) && a + 1 < l->program.nests[n].access_count; ++a) {
      int from = l->program.value_of[n][a];
      pb_value_kind kind = l->program.values[from].kind;
      if (kind == PB_VALUE_INPUT || (kind == PB_VALUE_LOCAL && from != v && pb__layout_flattened(l, from))) return true;
    }
  return false;
}

// Whether the value is put together of several: none of them fills what a row has behind the last one.
static bool made_of_parts(const pb_layout* l, int v) {
  int parts = 0;
  PB_FOR_USES (n, &l->program, v) {
    const pb_nest* nest = &l->program.nests[n];
    parts += pb_program_writes(&l->program, n, v) && nest->reduce == PB_SET && nest->access_count == 2 &&
             nest->expr_count == 1;
  }
  return parts > 1;
}

// Whether the nest adds up (or takes the largest of) what lies along the lanes: lanes that are filled up would count.
// Sums of products are none of these, as their weights are zero there.
static bool sums_lanes(const pb_layout* l, const pb_nest* nest, const pb_access* access) {
  const pb_access* store = &nest->access[nest->access_count - 1];
  if (nest->reduce == PB_SET || access == store || access->rank < 2 || access->shape[1] % l->lanes == 0) return false;
  for (int d = 0; d < nest->dim_count; ++d)
    if (access->index[1].coef[d] && !pb_access_uses(store, d)) return true;
  return false;
}

static void choose(pb_layout* l) {
  for (int v = 0; v < l->program.value_count; ++v) {
    const pb_value* value = &l->program.values[v];
    l->values[v].kind = PB_LAYOUT_PLAIN;
    if (value->kind != PB_VALUE_LOCAL || pb__layout_touched(l, v, true)) continue;
    if (value->rank == 4) l->values[v].kind = PB_LAYOUT_BLOCKED;
    if (value->rank != 2) continue;
    bool uneven = value->shape[1] % l->lanes && (made_of_plain(l, v) || made_of_parts(l, v));
    l->values[v].kind =
        value->shape[0] > 1 || uneven || pb__layout_read_by_rows(l, v) ? PB_LAYOUT_BLOCKED : PB_LAYOUT_PADDED;
    if (pb__layout_ends_rows(l, v)) l->values[v].kind = PB_LAYOUT_ENDING;
    if (pb__layout_flattened(l, v)) l->values[v].kind = PB_LAYOUT_PLAIN;
  }
  pb__layout_choose_ends(l);
  for (int n = 0; n < l->program.nest_count; ++n) {
    const pb_nest* nest = &l->program.nests[n];
    if (pb__layout_is_apart(l, n)) continue;
    for (int a = 0; a < nest->access_count; ++a) {
      int v = l->program.value_of[n][a];
      if (pb__layout_in_rows(l, v) && !pb__layout_walks(l, nest, &nest->access[a])) keep_plain(l, v);
    }
    int stored = pb_program_stored(&l->program, n);
    if (pb__layout_turns(l, n) && pb__layout_in_rows(l, stored)) keep_plain(l, stored);
    pb_roles roles;
    if (!pb__layout_roles(l, n, &roles)) {
      for (int a = 0; a < nest->access_count; ++a) {
        int v = l->program.value_of[n][a];
        if (l->values[v].kind == PB_LAYOUT_BLOCKED && sums_lanes(l, nest, &nest->access[a]) && !is_reduced(l, v))
          keep_plain(l, v);
      }
      continue;
    }
    l->gathers[n] = pb__layout_should_gather(l, nest, &roles) && can_be_plain(l, l->program.value_of[n][roles.x], n);
    if (l->gathers[n]) keep_plain(l, l->program.value_of[n][roles.x]);
  }
  pb__layout_choose_rows(l);
  pb__layout_choose_runs(l);
}

// What reaches past a tensor's end, where lanes are filled up, no chip's plan takes, and no other target's either.
static bool leaves_tensors(const pb_nest* nest) {
  for (int a = 0; a < nest->access_count; ++a)
    for (int r = 0; r < nest->access[a].rank && !nest->access[a].boxed; ++r)
      if (pb_index_can_leave(nest, &nest->access[a].index[r], nest->access[a].shape[r])) return true;
  return false;
}

static pb_status rewrite_plain(pb_layout* l, int n) {
  const pb_nest* nest = &l->program.nests[n];
  int64_t size[PB_NEST_DIMS] = {0};
  bool pads[PB_NEST_DIMS] = {0};
  for (int a = 0; a < nest->access_count; ++a) {
    int dim, v = l->program.value_of[n][a];
    if (l->values[v].kind == PB_LAYOUT_PLAIN || !pb_index_single(&nest->access[a].index[1], &dim) || dim < 0) continue;
    if (pb__layout_in_rows(l, v))
      size[dim] = l->lanes;
    else if (a == nest->access_count - 1)
      pads[dim] = true;
  }
  pb_nest out = *nest;
  pb_split s;
  pb__layout_split_none(&s);
  pb__layout_split(l, nest, size, pads, &out, &s);
  pb__layout_rewrite_all(l, n, &s, nest, &out);
  if (nest->reduce == PB_SET) pb__layout_splat(l, &out);
  if (pb_may_leave(l->unit) && leaves_tensors(&out))
    return pb_unsupported(l->unit->diag, (pb_place){.what = nest->name}, 4064, "another target",
                          "its tensors' rows of lanes have no room for it");
  pb__layout_print(l, &out);
  return PB_OK;
}

// The dim that walks whole groups, -1: one group.
static int dim_of_groups(const pb_nest* nest, const pb_roles* roles) {
  for (int d = 0; d < nest->dim_count; ++d)
    if (roles->role[d] == PB_ROLE_B) return d;
  return -1;
}

// The one dim that walks x, w and y together, when each group has one input and one output channel; -1: no such nest.
int pb__layout_depthwise(const pb_nest* nest, const pb_roles* roles) {
  int found = -1, dim;
  for (int d = 0; d < nest->dim_count; ++d) {
    if (roles->role[d] == PB_ROLE_N) return -1;
    if (roles->role[d] == PB_ROLE_B) found = found < 0 ? d : -2;
  }
  const pb_access* x = &nest->access[roles->x];
  return found >= 0 && x->rank > 1 && pb_index_single(&x->index[1], &dim) && dim == found ? found : -1;
}

static pb_status check_types(const pb_layout* l, int n) {
  const pb_nest* nest = &l->program.nests[n];
  const char* chip = l->unit->chip->name;
  if (!pb__layout_looks_up(l, n))
    return pb_unsupported(l->unit->diag, (pb_place){.what = nest->name}, 4048, "another target, or --fallback=cpu",
                          "%s reads nothing at an index that comes at run time", chip);
  if (pb_nest_is_fixed(nest) && !pb_nest_gathers(nest))
    return pb_unsupported(l->unit->diag, (pb_place){.what = nest->name}, 4048, "another target, or --fallback=cpu",
                          "%s computes no index and combines by sums and maxima alone", chip);
  for (int a = 0; a < nest->access_count; ++a)
    if (l->program.values[l->program.value_of[n][a]].type == PB_I64)
      return pb_unsupported(l->unit->diag, (pb_place){.what = nest->name}, 4048, "another target, or --fallback=cpu",
                            "%s has no instruction on elements of i64", chip);
  return PB_OK;
}

// Splitting dims into blocks and lanes makes more of them: in a contraction blocks and lanes of results and of what is
// summed, else one for each dim that walks blocks. Constants are packed dim by dim.
static pb_status check_room(const pb_layout* l, int n, bool contraction) {
  const pb_nest* nest = &l->program.nests[n];
  bool walks[PB_NEST_DIMS] = {0};
  int dims = nest->dim_count + (contraction ? 3 : 0), packed = 0;
  for (int a = 0; a < nest->access_count; ++a) {
    int used = 2;
    for (int d = 0; d < nest->dim_count; ++d) {
      used += pb_access_uses(&nest->access[a], d);
      if (contraction || walks[d] || nest->access[a].rank < 2 || !nest->access[a].index[1].coef[d]) continue;
      walks[d] = true;
      ++dims;
    }
    if (l->program.values[l->program.value_of[n][a]].kind == PB_VALUE_CONST && used > packed) packed = used;
  }
  if (dims <= PB_NEST_DIMS && packed <= PB_PACK_DIMS) return PB_OK;
  return pb_unsupported(l->unit->diag, (pb_place){.what = nest->name}, 4041, "fewer dimensions",
                        "in rows of lanes it has %d loops, %d around a constant; at most %d and %d", dims, packed,
                        PB_NEST_DIMS, PB_PACK_DIMS);
}

// Whether x is a plain tensor whose channels are no whole rows of lanes: it is read as a gathered one then.
static bool rows_end_early(const pb_layout* l, int n, const pb_roles* roles) {
  const pb_nest* nest = &l->program.nests[n];
  int channel = pb__layout_summed_along(nest, roles, 1);
  return channel >= 0 && l->values[l->program.value_of[n][roles->x]].kind == PB_LAYOUT_PLAIN &&
         nest->extent[channel] % l->lanes && dim_of_groups(nest, roles) < 0;
}

// What sets such a contraction's sum is printed with it.
static bool packs_weights(const pb_layout* l, int n, pb_roles* roles) {
  return pb__layout_roles(l, n, roles) && l->program.values[l->program.value_of[n][roles->w]].kind == PB_VALUE_CONST &&
         !pb__layout_is_apart(l, n);
}

static pb_status rewrite_nest(pb_layout* l, int n) {
  pb_roles roles;
  const pb_nest* nest = &l->program.nests[n];
  if (pb__layout_is_apart(l, n)) {
    pb__layout_print_apart(l, n);
    return PB_OK;
  }
  PB_FOR_USES (m, &l->program, pb_program_stored(&l->program, n))
    if (m > n && pb__layout_is_init(l, n, m) && packs_weights(l, m, &roles)) return PB_OK;
  bool contraction = pb__layout_roles(l, n, &roles);
  PB_TRY(check_types(l, n));
  PB_TRY(check_room(l, n, contraction));
  if (contraction) PB_TRY(pb__layout_check_floats(l, n, &roles));
  for (int a = 0; !contraction && a < nest->access_count; ++a)
    if (pb__layout_in_rows(l, l->program.value_of[n][a]) && sums_lanes(l, nest, &nest->access[a]) &&
        !pb__layout_takes_rows(l, n))
      return pb_unsupported(l->unit->diag, (pb_place){.what = nest->name}, 4043,
                            "a multiple of them, or another target",
                            "it adds up %lld channels, which end inside a row of %lld lanes",
                            (long long)nest->access[a].shape[1], (long long)l->lanes);
  bool computed = contraction && l->program.values[l->program.value_of[n][roles.w]].kind != PB_VALUE_CONST;
  if (computed) PB_TRY(pb__layout_check_rows(l, n));
  if (computed || pb__layout_has_rows(l, n)) {
    pb__layout_rewrite_rows(l, n);
    return PB_OK;
  }
  if (!contraction) {
    return pb__layout_crosses(l, n) ? pb__layout_cross(l, n) : rewrite_plain(l, n);
  }
  if (rows_end_early(l, n, &roles)) l->gathers[n] = true;
  return pb__layout_contraction(l, n, &roles) ? PB_OK : rewrite_plain(l, n);
}

// With --fallback operators that no layout fits are put aside, and their number says that it must be tried again.
static pb_status rewrite_nests(pb_layout* l) {
  size_t apart = l->apart->count;
  for (int n = 0; n < l->program.nest_count; ++n) {
    pb_status status = l->gone[n] ? PB_OK : rewrite_nest(l, n);
    if (status == PB_OK) continue;
    if (status != PB_ERR_UNSUPPORTED || !pb_may_leave(l->unit)) return status;
    if (!pb__layout_is_apart(l, n)) pb__layout_set_apart(l, n);
  }
  return l->apart->count > apart ? PB_ERR_UNSUPPORTED : PB_OK;
}

static pb_status lay_out(pb_unit* unit, pb_layout_apart* apart) {
  pb_layout layout = {.unit = unit, .lanes = pb_chip_lanes(unit->chip), .apart = apart}, *l = &layout;
  PB_TRY(pb_program_read_roomy(pb_module_func(unit->module, "main"), &unit->pass, unit->diag, &l->program));
  while (pb__layout_grow_apart(l)) {}
  l->roles = PB_NEW_ARRAY(&unit->pass, pb_layout_roles, (size_t)l->program.nest_count + 1);
  l->whole_rows = true;
  pb__layout_merge_groups(l);
  pb__layout_add_twins(l);
  l->roles = PB_NEW_ARRAY(&unit->pass, pb_layout_roles, (size_t)l->program.nest_count + 1);
  l->values = PB_NEW_ARRAY(&unit->pass, pb_layout_value, (size_t)l->program.value_count);
  for (int v = 0; v < l->program.value_count; ++v) l->values[v].block = l->lanes;
  l->gathers = PB_NEW_ARRAY(&unit->pass, bool, (size_t)l->program.nest_count + 1);
  l->gone = PB_NEW_ARRAY(&unit->pass, bool, (size_t)l->program.nest_count + 1);
  choose(l);
  pb__layout_drop_twins(l);
  for (int v = 0; v < l->program.value_count; ++v) pb__layout_describe(l, v);
  pb_status status = rewrite_nests(l);
  pb_text text = {0};
  if (status == PB_OK) pb__layout_print_program(l, &text);
  pb_text_free(&l->allocs);
  pb_text_free(&l->nests);
  if (status == PB_OK) status = pb_module_replace(unit, &text, "layout");
  pb_text_free(&text);
  free(l->consts);
  pb_numbers_free(&l->const_of);
  return status;
}

static void say_nothing(void* user, bool error, int code, const char* text) {
  (void)user, (void)error, (void)code, (void)text;
}

pb_status pb_s3_layout(pb_unit* unit) {
  if (pb_vector_facts_of(unit->chip).memory >= 0) return pb_s3_layout_vector(unit);
  if (pb_chip_lanes(unit->chip) == 1) return PB_OK;
  pb_layout_apart apart = {0};
  pb_diag* diag = unit->diag;
  pb_diag quiet = {.sink = say_nothing};
  size_t before;
  pb_status status;
  do { // what is refused only because of others, which then stand apart, says so when the kernels are planned
    before = apart.count;
    unit->diag = pb_may_leave(unit) ? &quiet : diag;
    status = lay_out(unit, &apart);
    unit->diag = diag;
  } while (status == PB_ERR_UNSUPPORTED && apart.count > before);
  if (status != PB_OK && pb_may_leave(unit)) status = lay_out(unit, &apart); // once more, with what is wrong
  free(apart.names);
  return status;
}
