// Layout for cores with vector registers and cached memory: every value gets the layout in which registers and their
// contraction instruction walk it. Requires the program function in value form; leaves it in value form.
//   [n, c, h, w] made and used inside becomes [n, c / D, h, w, D], D lanes; the last dim of other values made by a
//   contraction is padded to a multiple of D; a few channels that only a contraction reads keep blocks of its group;
//   constant weights become [o / D, k..., D, group] with k in the order of the loops; vectors over channels are padded;
//   operands of a large contraction that are not constant are brought into such layouts by copies;
//   at the inputs and outputs of the graph copies convert.
// Sums of floats are taken in another order, blocks of channels outermost. An instruction that takes x without sign
// gets x with its sign bit flipped, that is x and half the range more, and the sums start from what this adds too much.
#include "core/s3/layout/layout.h"

#include <string.h>

enum { CHOICE_TURNS = 4 };

// ---- which values become what ----

// Of the tensor whose twin it is, else its own.
static pb_value_kind edge_kind(const pb_layout* l, int v) {
  const pb_layout_twin* twin = pb__layout_twin_of(l, v);
  return l->program.values[twin ? twin->edge : v].kind;
}

static bool walks_channels(const pb_layout* l, int n, int a) {
  const pb_nest* nest = &l->program.nests[n];
  int dim;
  if (!pb_index_single(&nest->access[a].index[1], &dim)) return false;
  return dim < 0 ? nest->access[a].shape[1] == 1 : nest->extent[dim] == nest->access[a].shape[1];
}

// Few channels that come straight from the outside and go straight into contractions.
static bool is_narrow(const pb_layout* l, int v) {
  PB_FOR_USES (n, &l->program, v) {
    const pb_nest* nest = &l->program.nests[n];
    pb_roles roles;
    bool writes = pb_program_stored(&l->program, n) == v, contracts = pb__layout_roles(l, n, &roles);
    if (writes && nest->reduce != PB_SET) return false;
    for (int a = 0; a + 1 < nest->access_count; ++a) {
      int from = l->program.value_of[n][a];
      if (writes && edge_kind(l, from) == PB_VALUE_LOCAL &&
          !(from < v && l->values[from].kind == PB_LAYOUT_BLOCKED && l->values[from].block < l->lanes))
        return false;
      bool copies = nest->reduce == PB_SET && nest->expr_count == 1;
      if (from == v && !copies && !(contracts && a == roles.x)) return false;
    }
  }
  return true;
}

// Codes of 16 bits that contractions take are narrow floats.
static int group_for(const pb_layout* l, pb_type type) {
  pb_type factor = type == pb_type_stored(PB_BF16) ? PB_BF16 : type;
  pb_vector_insn insn =
      pb_vector_contraction(l->unit->chip, factor, factor, pb_type_is_float(factor) ? PB_F32 : PB_I32);
  return insn.insn ? insn.group : 1;
}

// Channels that lie next to each other: a vector; for an instruction on matrices all that it sums over, or all there
// are.
int64_t pb__layout_block(const pb_layout* l, int64_t channels) {
  if (!l->summed) return l->lanes;
  return channels % l->summed == 0 ? l->summed : pb__layout_blocks(channels, l->lanes) * l->lanes;
}

int64_t pb__layout_summed_channels(const pb_layout* l) {
  for (int n = 0; n < l->program.nest_count; ++n) {
    const pb_access* a = l->program.nests[n].access;
    pb_roles roles;
    if (!pb__layout_roles(l, n, &roles)) continue;
    pb_matrix_insn matrix = pb_matrix_contraction(l->unit->chip, roles.x_type, roles.w_type, a[roles.y].type);
    int64_t sum = (int64_t)matrix.steps * matrix.group;
    if (matrix.insn && matrix.lanes == l->lanes && sum % l->lanes == 0) return sum;
  }
  return 0;
}

// Sums and maxima over channels that are no contraction would take the rest of the last block with them; a
// transposition has two dims that would be split. Dim 1 of stacks of matrices is no channel.
static bool must_stay_plain(const pb_layout* l, int v) {
  PB_FOR_USES (n, &l->program, v) {
    const pb_nest* nest = &l->program.nests[n];
    const pb_access* store = &nest->access[nest->access_count - 1];
    pb_roles roles;
    bool contracts = pb__layout_roles(l, n, &roles);
    if (contracts && l->program.values[l->program.value_of[n][roles.w]].kind == PB_VALUE_CONST) continue;
    for (int a = 0; a < nest->access_count; ++a) {
      int dim = -1;
      if (l->program.value_of[n][a] != v) continue;
      if (contracts) return true;
      pb_index_single(&nest->access[a].index[1], &dim);
      if (dim >= 0 && nest->reduce != PB_SET && !pb_access_uses(store, dim)) return true;
      for (int b = 0; b < nest->access_count && dim >= 0; ++b)
        for (int r = 0, other; r < nest->access[b].rank; ++r)
          if (r != 1 && nest->access[b].rank == 4 && pb_index_single(&nest->access[b].index[r], &other) && other == dim)
            return true;
    }
  }
  return false;
}

// Whether dim 1 of what a contraction makes is its columns, or each channel for itself, and no dim of a stack.
static bool makes_channels(const pb_nest* nest, const pb_roles* roles) {
  int dim;
  if (!pb_index_single(&nest->access[roles->y].index[1], &dim) || dim < 0) return true;
  return roles->role[dim] != PB_ROLE_M;
}

// Whether blocks gain the nest something: a contraction by weights or a window walks them. Rows that are summed for
// themselves, as softmax does, have their lanes along the row.
static bool nest_gains(const pb_layout* l, int n) {
  const pb_nest* nest = &l->program.nests[n];
  const pb_access* store = &nest->access[nest->access_count - 1];
  int dim;
  pb_roles roles;
  if (store->rank != 4) return false;
  if (pb__layout_roles(l, n, &roles))
    return l->program.values[l->program.value_of[n][roles.w]].kind == PB_VALUE_CONST && makes_channels(nest, &roles);
  bool rows = store->shape[3] == 1 && store->shape[2] > 1;
  return nest->reduce != PB_SET && !rows && pb_index_single(&store->index[1], &dim) && dim >= 0;
}

// The values that such nests touch, and those beside them in other nests; what must stay plain passes nothing on.
static void find_gains(pb_layout* l) {
  const pb_program* p = &l->program;
  l->gains = PB_NEW_ARRAY(&l->unit->pass, bool, (size_t)p->value_count + 1);
  bool* plain = PB_NEW_ARRAY(&l->unit->pass, bool, (size_t)p->value_count + 1);
  for (int v = 0; v < p->value_count; ++v)
    plain[v] = p->values[v].rank != 4 || p->values[v].kind == PB_VALUE_CONST || must_stay_plain(l, v);
  for (bool more = true, first = true; more; first = false) {
    more = false;
    for (int k = 0; k < 2 * p->nest_count; ++k) { // there and back
      int n = k < p->nest_count ? k : 2 * p->nest_count - 1 - k;
      bool gains = first && nest_gains(l, n);
      for (int a = 0; a < p->nests[n].access_count && !gains; ++a)
        gains = l->gains[p->value_of[n][a]] && !plain[p->value_of[n][a]];
      for (int a = 0; a < p->nests[n].access_count && gains; ++a) {
        more |= !l->gains[p->value_of[n][a]];
        l->gains[p->value_of[n][a]] = true;
      }
    }
  }
}

bool pb__layout_can_block(const pb_layout* l, int v, int but) {
  if (l->program.values[v].rank != 4 || must_stay_plain(l, v)) return false;
  PB_FOR_USES (n, &l->program, v)
    for (int a = 0; a < l->program.nests[n].access_count && n != but; ++a)
      if (l->program.value_of[n][a] == v && !walks_channels(l, n, a) && !pb__layout_walks_groups(l, n, a)) return false;
  return true;
}

// Whether a convolution of several groups takes or makes it.
static bool in_groups(const pb_layout* l, int v) {
  PB_FOR_USES (n, &l->program, v)
    for (int a = 0; a < l->program.nests[n].access_count; ++a)
      if (l->program.value_of[n][a] == v && pb__layout_walks_groups(l, n, a)) return true;
  return false;
}

// Numbers in registers of another width, and tensors around a load at a computed index, stay as they are.
static bool is_moved_alone(const pb_layout* l, int v) {
  pb_type type = l->program.values[v].type;
  if (type != PB_F32 && type != PB_I32 && type != PB_I16 && type != PB_I8) return true;
  PB_FOR_USES (n, &l->program, v)
    if (pb_nest_is_fixed(&l->program.nests[n])) return true;
  return false;
}

// A maximum of channels that lie plainly never reaches the lanes behind them, which stay -inf.
static bool maximises_plain(const pb_layout* l, int v) {
  PB_FOR_USES (n, &l->program, v) {
    const pb_nest* nest = &l->program.nests[n];
    if (pb_program_stored(&l->program, n) != v || nest->reduce != PB_ACC_MAX) continue;
    for (int a = 0; a + 1 < nest->access_count; ++a)
      if (l->values[l->program.value_of[n][a]].kind == PB_LAYOUT_PLAIN) return true;
  }
  return false;
}

static void choose_value(pb_layout* l, int v) {
  const pb_value* value = &l->program.values[v];
  pb_layout_value* chosen = &l->values[v];
  if (value->kind != PB_VALUE_LOCAL || chosen->refused || is_moved_alone(l, v)) return; // edges have twins
  if (value->rank == 4 && l->gains[v] && !must_stay_plain(l, v)) {
    if (!pb__layout_can_block(l, v, -1)) return;
    int64_t channels = value->shape[1];
    if (value->type == PB_F32 && channels % l->lanes && maximises_plain(l, v)) return;
    chosen->kind = PB_LAYOUT_BLOCKED;
    chosen->block = pb__layout_block(l, channels);
    pb_value_kind edge = edge_kind(l, v);
    bool outside = edge != PB_VALUE_LOCAL;
    if (channels * 2 > l->lanes || in_groups(l, v)) return;
    int group = group_for(l, value->type);
    if (outside ? edge == PB_VALUE_INPUT : is_narrow(l, v)) {
      chosen->block = (channels + group - 1) / group * group;
      if (group == 1 || outside) chosen->kind = PB_LAYOUT_PLAIN;
    }
    return;
  }
  if (value->rank < 2) return;
  PB_FOR_USES (n, &l->program, v) { // the last dim of what a contraction makes
    int dim;
    if (pb_program_stored(&l->program, n) != v) continue;
    const pb_nest* nest = &l->program.nests[n];
    const pb_access* store = &nest->access[nest->access_count - 1];
    bool whole = pb_index_single(&store->index[store->rank - 1], &dim) && dim >= 0 &&
                 nest->extent[dim] == store->shape[store->rank - 1];
    if (!whole) {
      chosen->kind = PB_LAYOUT_PLAIN;
      return;
    }
    pb_roles roles;
    // a second factor that the network makes has no padding to go with it
    if (pb__layout_roles(l, n, &roles) && roles.role[dim] == PB_ROLE_N &&
        (nest->extent[dim] % l->lanes == 0 ||
         l->program.values[l->program.value_of[n][roles.w]].kind == PB_VALUE_CONST))
      chosen->kind = PB_LAYOUT_PADDED;
    for (int a = 0; nest->reduce == PB_SET && a + 1 < nest->access_count; ++a) { // pointwise from one such
      const pb_access* from = &nest->access[a];
      if (l->values[l->program.value_of[n][a]].kind == PB_LAYOUT_PADDED && from->rank == store->rank &&
          !memcmp(&from->index[from->rank - 1], &store->index[store->rank - 1], sizeof(pb_index)))
        chosen->kind = PB_LAYOUT_PADDED;
    }
  }
  if (edge_kind(l, v) == PB_VALUE_INPUT) chosen->kind = PB_LAYOUT_PLAIN;
}

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
bool pb__layout_sums_lanes(const pb_layout* l, const pb_nest* nest, const pb_access* access) {
  const pb_access* store = &nest->access[nest->access_count - 1];
  if (nest->reduce == PB_SET || access == store || access->rank < 2 || access->shape[1] % l->lanes == 0) return false;
  for (int d = 0; d < nest->dim_count; ++d)
    if (access->index[1].coef[d] && !pb_access_uses(store, d)) return true;
  return false;
}

static void choose_rows(pb_layout* l) {
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
        if (l->values[v].kind == PB_LAYOUT_BLOCKED && pb__layout_sums_lanes(l, nest, &nest->access[a]) &&
            !is_reduced(l, v))
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

static void choose_blocks(pb_layout* l) {
  find_gains(l);
  do {
    for (int v = 0; v < l->program.value_count; ++v) l->values[v].kind = PB_LAYOUT_PLAIN;
    for (int turn = 0; turn < CHOICE_TURNS; ++turn) // a pointwise chain follows what its first value is
      for (int v = 0; v < l->program.value_count; ++v) choose_value(l, v);
  } while (pb__layout_refuse_groups(l));
}

void pb__layout_choose(pb_layout* l) {
  l->values = PB_NEW_ARRAY(&l->unit->pass, pb_layout_value, (size_t)l->program.value_count + 1);
  for (int v = 0; v < l->program.value_count; ++v) l->values[v].block = l->lanes;
  if (l->whole_rows)
    choose_rows(l);
  else
    choose_blocks(l);
}
