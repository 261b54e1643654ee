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
      const pb_value* value = &l->program.values[from];
      if (writes && value->kind == PB_VALUE_LOCAL &&
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

static int64_t summed_channels(const pb_layout* l) {
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
  if (value->kind == PB_VALUE_CONST || chosen->refused || is_moved_alone(l, v)) return;
  if (value->rank == 4 && l->gains[v] && !must_stay_plain(l, v)) {
    if (!pb__layout_can_block(l, v, -1)) return;
    int64_t channels = value->shape[1];
    if (value->type == PB_F32 && channels % l->lanes && maximises_plain(l, v)) return;
    chosen->kind = PB_LAYOUT_BLOCKED;
    chosen->block = pb__layout_block(l, channels);
    bool outside = value->kind != PB_VALUE_LOCAL;
    if (channels * 2 > l->lanes || in_groups(l, v)) return;
    int group = group_for(l, value->type);
    if (outside ? value->kind == PB_VALUE_INPUT : is_narrow(l, v)) {
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
  if (value->kind == PB_VALUE_INPUT) chosen->kind = PB_LAYOUT_PLAIN;
}

// ---- nests ----

static void print_split(pb_layout* l, int n, const pb_nest* nest, const int64_t* size, pb_split* s) {
  pb_nest out = *nest;
  pb__layout_split(l, nest, size, NULL, &out, s);
  pb__layout_rewrite_all(l, n, s, nest, &out);
  pb__layout_mask_rest(l, pb_program_stored(&l->program, n), &out);
  pb__layout_print(l, &out);
}

// Zeros into the lanes of the last block that no channel fills, where `store` walks the tensor (NULL: everywhere).
static void fill_rest(pb_layout* l, const pb_nest* nest, const pb_access* store, int v, int64_t channels) {
  int64_t block = l->values[v].block, rest = channels % block;
  pb_nest fill = {.name = nest->name, .part = "pad", .access_count = 1};
  pb_access* to = &fill.access[0];
  to->type = l->program.values[v].type;
  pb__layout_use_made(l, to, v);
  for (int r = 0; r < to->rank; ++r) {
    bool lane = r == to->rank - 1;
    int64_t extent = r == 1 ? 1 : lane ? block - rest : store ? 1 : to->shape[r];
    to->index[r].cst = r == 1 ? to->shape[1] - 1 : lane ? rest : store ? store->index[r].cst : 0;
    for (int d = 0; store && !lane && r != 1 && d < nest->dim_count; ++d)
      if (store->index[r].coef[d]) extent *= nest->extent[d];
    if (extent == 1) continue;
    to->index[r].coef[fill.dim_count] = 1;
    fill.extent[fill.dim_count++] = extent;
  }
  pb_nest_const(&fill, to->type, 0);
  pb__layout_print(l, &fill);
}

// A nest that also walks a plain tensor along split channels that do not fill their last block: the whole blocks, then
// the rest of the last one.
static void rewrite_cut(pb_layout* l, int n, const int64_t* size, int dim) {
  const pb_nest* nest = &l->program.nests[n];
  pb_nest part = *nest;
  pb_split s;
  pb__layout_split_none(&s);
  memcpy(s.full, nest->extent, sizeof s.full);
  int64_t whole = nest->extent[dim] / size[dim] * size[dim];
  part.extent[dim] = whole;
  if (whole) print_split(l, n, &part, size, &s);
  part.extent[dim] = nest->extent[dim] - whole;
  pb__layout_split_none(&s);
  memcpy(s.full, nest->extent, sizeof s.full);
  s.cut[dim] = true;
  s.shift[dim] = whole;
  print_split(l, n, &part, size, &s);
  int v = pb_program_stored(&l->program, n);
  if (l->values[v].kind == PB_LAYOUT_BLOCKED && nest->reduce == PB_SET)
    fill_rest(l, nest, &nest->access[nest->access_count - 1], v, nest->extent[dim]);
}

// One channel that no dim walks gets one: nests beside this one write and read all lanes of its block.
static void walk_single_channel(pb_layout* l, int n) {
  pb_nest* nest = &l->program.nests[n];
  int stored = pb_program_stored(&l->program, n), dim;
  if (l->values[stored].kind != PB_LAYOUT_BLOCKED || nest->dim_count + 2 > PB_NEST_DIMS ||
      !pb_index_single(&pb_nest_store(nest)->index[1], &dim) || dim >= 0)
    return;
  dim = nest->dim_count++;
  nest->extent[dim] = 1;
  for (int a = 0; a < nest->access_count; ++a)
    if (l->values[l->program.value_of[n][a]].kind == PB_LAYOUT_BLOCKED) nest->access[a].index[1].coef[dim] = 1;
}

// Whether all that the nest reads along the dim may be read past its end: padded values along their last dim, blocks,
// constants (which are padded then) and what the dim does not move.
static bool all_padded(const pb_layout* l, int n, int dim) {
  const pb_nest* nest = &l->program.nests[n];
  for (int a = 0; a < nest->access_count; ++a) {
    int v = l->program.value_of[n][a], d;
    const pb_access* access = &nest->access[a];
    if (!pb_access_uses(access, dim) || l->program.values[v].kind == PB_VALUE_CONST) continue;
    if (l->values[v].kind != PB_LAYOUT_PADDED || !pb_index_single(&access->index[access->rank - 1], &d) || d != dim)
      return false;
    for (int r = 0; r + 1 < access->rank; ++r)
      if (access->index[r].coef[dim]) return false;
  }
  return true;
}

static void rewrite_plain(pb_layout* l, int n) {
  walk_single_channel(l, n);
  const pb_nest* nest = &l->program.nests[n];
  int64_t size[PB_NEST_DIMS] = {0};
  int cut = -1;
  for (int a = 0; a < nest->access_count; ++a) {
    int v = l->program.value_of[n][a], dim;
    if (l->values[v].kind == PB_LAYOUT_BLOCKED && pb_index_single(&nest->access[a].index[1], &dim) && dim >= 0)
      size[dim] = l->values[v].block;
  }
  for (int a = 0; a < nest->access_count; ++a) {
    int v = l->program.value_of[n][a], dim;
    const pb_access* access = &nest->access[a];
    if (l->program.values[v].kind == PB_VALUE_CONST) continue;
    if (l->values[v].kind == PB_LAYOUT_PADDED && a == nest->access_count - 1 &&
        pb_index_single(&access->index[access->rank - 1], &dim) && dim >= 0 && nest->reduce == PB_SET &&
        (nest->extent[dim] % l->lanes == 0 || all_padded(l, n, dim))) {
      if (size[dim] < l->lanes) size[dim] = l->lanes; // rows of blocks end where rows of vectors do
      continue;
    }
    if (l->values[v].kind == PB_LAYOUT_BLOCKED) continue;
    // one channel that the result has no dim for: lanes that no channel fills would each write its elements again
    bool sets = a == nest->access_count - 1 && nest->reduce == PB_SET;
    for (int d = 0; d < nest->dim_count; ++d)
      if (size[d] && (sets || pb_access_uses(access, d)) && nest->extent[d] % size[d] &&
          !(l->values[v].kind == PB_LAYOUT_PADDED && all_padded(l, n, d)))
        cut = d;
  }
  pb_split s;
  pb__layout_split_none(&s);
  if (cut >= 0)
    rewrite_cut(l, n, size, cut);
  else
    print_split(l, n, nest, size, &s);
}

// What sets a contraction's sum is printed with the contraction, which knows what it starts from.
static void rewrite_nest(pb_layout* l, int n) {
  pb_roles roles;
  int made = pb_program_stored(&l->program, n);
  PB_FOR_USES (m, &l->program, made)
    if (m > n && pb__layout_is_init(l, n, m) && pb__layout_roles(l, m, &roles)) return;
  bool contracts = pb__layout_roles(l, n, &roles);
  if (contracts && pb__layout_contraction(l, n, &roles)) return;
  PB_FOR_USES (k, &l->program, made)
    if (contracts && k < n && pb__layout_is_init(l, k, n)) rewrite_plain(l, k);
  rewrite_plain(l, n);
}

// ---- the edges of the graph ----

static void copy_edge(pb_layout* l, int v, bool in) {
  const pb_value* value = &l->program.values[v];
  if (value->kind == PB_VALUE_CONST || !pb__layout_has_twin(l, v)) return;
  pb_access outer = {.ref = l->values[v].outer, .type = value->type, .rank = value->rank};
  memcpy(outer.shape, value->shape, sizeof outer.shape);
  int64_t block = l->values[v].kind == PB_LAYOUT_BLOCKED ? l->values[v].block : 0, channels = value->shape[1];
  for (int part = 0; part < (block ? 2 : 1); ++part) {
    int64_t whole = block ? channels / block : 0, rest = block ? channels % block : 0;
    if (block && !(part ? rest : whole)) continue;
    pb_nest copy = {.name = value->name, .part = "copy", .access_count = 2};
    pb_access plain = outer, inner = {.type = value->type};
    pb__layout_use_value(l, &inner, v);
    for (int r = 0; r < value->rank; ++r) {
      bool channel = block && r == 1;
      int64_t extent = channel ? (part ? 1 : whole) : value->shape[r];
      plain.index[r].cst = channel && part ? whole * block : 0;
      inner.index[r].cst = channel && part ? whole : 0;
      if (extent == 1) continue;
      plain.index[r].coef[copy.dim_count] = channel ? block : 1;
      inner.index[r].coef[copy.dim_count] = 1;
      copy.extent[copy.dim_count++] = extent;
    }
    if (block) {
      plain.index[1].coef[copy.dim_count] = 1;
      inner.index[value->rank].coef[copy.dim_count] = 1;
      copy.extent[copy.dim_count++] = part ? rest : block;
    }
    copy.access[0] = in ? plain : inner;
    copy.access[1] = in ? inner : plain;
    pb_nest_load(&copy, 0);
    pb__layout_print(l, &copy);
    if (!in || !part) continue;
    fill_rest(l, &copy, NULL, v, channels);
  }
}

pb_status pb_s3_layout_vector(pb_unit* unit) {
  pb_layout layout = {.unit = unit, .apart = &(pb_layout_apart){0}}, *l = &layout;
  pb_vector_facts facts = pb_vector_facts_of(unit->chip);
  l->lanes = facts.lanes;
  PB_TRY(pb_program_read(pb_module_func(unit->module, "main"), &unit->pass, unit->diag, &l->program));
  l->roles = PB_NEW_ARRAY(&unit->pass, pb_layout_roles, (size_t)l->program.nest_count + 1);
  l->summed = summed_channels(l);
  pb__layout_merge_groups(l);
  l->values = PB_NEW_ARRAY(&unit->pass, pb_layout_value, (size_t)l->program.value_count + 1);
  for (int v = 0; v < l->program.value_count; ++v) l->values[v].block = l->lanes;
  l->gathers = PB_NEW_ARRAY(&unit->pass, bool, (size_t)l->program.nest_count + 1);
  find_gains(l);
  do {
    for (int v = 0; v < l->program.value_count; ++v) l->values[v].kind = PB_LAYOUT_PLAIN;
    for (int turn = 0; turn < CHOICE_TURNS; ++turn) // a pointwise chain follows what its first value is
      for (int v = 0; v < l->program.value_count; ++v) choose_value(l, v);
  } while (pb__layout_refuse_groups(l));
  pb__layout_find_rests(l);
  for (int v = 0; v < l->program.value_count; ++v) pb__layout_describe(l, v);
  for (int v = 0; v < l->program.value_count; ++v)
    if (l->program.values[v].kind == PB_VALUE_INPUT) copy_edge(l, v, true);
  for (int n = 0; n < l->program.nest_count; ++n) {
    rewrite_nest(l, n);
    pb__layout_clean_rest(l, n);
  }
  for (int v = 0; v < l->program.value_count; ++v)
    if (l->program.values[v].kind == PB_VALUE_OUTPUT) copy_edge(l, v, false);
  pb_text text = {0};
  pb__layout_print_program(l, &text);
  pb_text_free(&l->allocs);
  pb_text_free(&l->nests);
  pb_status status = pb_module_replace(unit, &text, "layout");
  pb_text_free(&text);
  free(l->consts);
  pb_numbers_free(&l->const_of);
  return status;
}
