// Inside `layout`: which value gets which layout. Blocks of channels where what touches the value walks them so
// (fits.c) and, where plain tensors can be read too, something gains by it; rows of lanes for what is made in such.
#include "core/s3/layout/layout.h"

#include <string.h>

enum { CHOICE_TURNS = 4 };

// Neighbours that one lane of a contraction's sum takes. Codes of 16 bits are narrow floats where the chip multiplies
// such.
static int group_for(const pb_layout* l, pb_type type) {
  pb_vector_insn insn = {0};
  for (int k = 0; k < PB_NARROW_TYPES && !insn.insn; ++k)
    if (pb_type_bits(pb_narrow_type(k)) == 16 && type == pb_type_stored(pb_narrow_type(k)))
      insn = pb_vector_contraction(l->selections, pb_narrow_type(k), pb_narrow_type(k), PB_F32);
  if (!insn.insn) insn = pb_vector_contraction(l->selections, type, type, pb_type_is_float(type) ? PB_F32 : PB_I32);
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
    pb_contraction_dims roles;
    if (!pb__layout_contraction_dims(l, n, &roles)) continue;
    pb_matrix_insn matrix = pb_matrix_contraction(l->selections, &roles);
    int64_t sum = (int64_t)matrix.steps * matrix.product.group;
    if (matrix.product.insn && matrix.product.lanes == l->lanes && sum % l->lanes == 0) return sum;
  }
  return 0;
}

// Whether contractions take the value as it lies, by groups of their windows' columns.
static bool under_windows(const pb_layout* l, int v) {
  bool any = false;
  PB_FOR_USES (n, &l->program, v) {
    pb_contraction_dims roles;
    if (!pb__layout_contraction_dims(l, n, &roles) || l->program.value_of[n][roles.x] != v) continue;
    if (pb__layout_window(l, n, &roles) < 0) return false;
    any = true;
  }
  return any;
}

// ---- kinds ----

// Whether a convolution of several groups takes or makes it.
static bool in_groups(const pb_layout* l, int v) {
  PB_FOR_ACCESSES (n, a, &l->program, v)
    if (pb__layout_walks_groups(l, n, a)) return true;
  return false;
}

// Numbers in registers of another width, and tensors around a load at a computed index, stay as they are.
static bool is_moved_alone(const pb_layout* l, int v) {
  pb_type type = l->program.values[v].type;
  if (type != PB_F32 && type != PB_I32 && type != PB_I16 && type != PB_I8) return true;
  PB_FOR_USES (n, &l->program, v)
    if (pb_program_is_fixed(&l->program, n)) return true;
  return false;
}

// A maximum of channels that lie plainly never reaches the lanes behind them, which stay -inf.
static bool maximises_plain(const pb_layout* l, int v) {
  PB_FOR_WRITERS (n, &l->program, v) {
    const pb_nest* nest = &l->program.nests[n];
    bool most = nest->reduce == PB_ACC_MAX || nest->reduce == PB_ACC_MAXIMUM;
    for (int a = 0; most && a + 1 < nest->access_count; ++a)
      if (l->values[l->program.value_of[n][a]].kind == PB_LAYOUT_PLAIN) return true;
  }
  return false;
}

// Whether the value is no rows and no image, and plain for that.
static bool has_no_channels(const pb_layout* l, const pb_value* value) {
  return value->rank > 2 && !pb__layout_is_image(l, value->rank);
}

// Whether the value is made of a tensor that ends where the model says and not at a whole row: an input of the graph,
// one that is made element by element behind a reshape, the plain twin of the value, or a stack that is no image.
static bool made_of_plain(const pb_layout* l, int v) {
  const pb_layout_twin* twin = pb__layout_twin_of(l, v);
  if (twin && l->program.value_of[twin->copy][1] == v) return true;
  PB_FOR_WRITERS (n, &l->program, v)
    for (int a = 0; a + 1 < l->program.nests[n].access_count; ++a) {
      int from = l->program.value_of[n][a];
      pb_value_kind kind = pb__layout_kind_at_edge(l, from);
      bool plain = pb__layout_flattened(l, from) || has_no_channels(l, &l->program.values[from]);
      if (kind == PB_VALUE_INPUT || (kind == PB_VALUE_LOCAL && from != v && plain)) return true;
    }
  return false;
}

// Whether the value is put together of several: none of them fills what a row has behind the last one.
static bool made_of_parts(const pb_layout* l, int v) {
  int parts = 0;
  PB_FOR_WRITERS (n, &l->program, v) parts += pb_nest_is_copy(&l->program.nests[n]);
  return parts > 1;
}

// The values that a product of two computed tensors takes or makes, and what those are made of or become element by
// element: heads are blocks of such a row.
void pb__layout_find_heads(pb_layout* l) {
  const pb_program* p = &l->program;
  pb_contraction_dims roles;
  l->heads = PB_NEW_ARRAY(&l->unit->pass, bool, (size_t)p->value_count + 1);
  for (int n = 0; n < p->nest_count; ++n)
    if (pb__layout_contraction_dims(l, n, &roles) && !pb__layout_weighs(l, n, &roles))
      for (int a = 0; a < p->nests[n].access_count; ++a) l->heads[p->value_of[n][a]] = true;
  for (bool more = true; more;) {
    more = false;
    for (int k = 0; k < 2 * p->nest_count; ++k) { // there and back
      int n = k < p->nest_count ? k : 2 * p->nest_count - 1 - k;
      bool any = false;
      for (int a = 0; a < p->nests[n].access_count && p->nests[n].reduce == PB_SET; ++a)
        any |= l->heads[p->value_of[n][a]];
      for (int a = 0; a < p->nests[n].access_count && any; ++a) {
        more |= !l->heads[p->value_of[n][a]];
        l->heads[p->value_of[n][a]] = true;
      }
    }
  }
}

// Whether a nest takes parts of the one row apart into rows of lanes of its own, and of the last ones more than the row
// has where it ends with its lanes: parts of 5 elements of 15, 16 lanes each.
static bool is_read_past(const pb_layout* l, int v) {
  const pb_value* value = &l->program.values[v];
  int dim;
  PB_FOR_ACCESSES (n, a, &l->program, v) {
    const pb_nest* nest = &l->program.nests[n];
    const pb_access *read = &nest->access[a], *store = &nest->access[nest->access_count - 1];
    if (read == store || store->rank < 2 || !pb_index_single(&store->index[1], &dim) || dim < 0) continue;
    int64_t last = read->index[1].cst;
    for (int d = 0; d < nest->dim_count; ++d)
      last += read->index[1].coef[d] *
              ((d == dim ? pb__layout_blocks(nest->extent[d], l->lanes) * l->lanes : nest->extent[d]) - 1);
    if (last >= pb__layout_blocks(value->shape[1], l->lanes) * l->lanes) return true;
  }
  return false;
}

// [r, c] in rows of lanes.
static pb_layout_kind kind_of_rows(const pb_layout* l, int v) {
  const pb_value* value = &l->program.values[v];
  bool uneven = value->shape[1] % l->lanes && (made_of_plain(l, v) || made_of_parts(l, v));
  if (pb__layout_flattened(l, v)) return PB_LAYOUT_PLAIN;
  if (pb__layout_ends_rows(l, v)) return PB_LAYOUT_ENDING;
  bool blocked = value->shape[0] > 1 || uneven || pb__layout_read_by_rows(l, v) || l->heads[v] ||
                 pb__layout_made_with_numbers(l, v) || is_read_past(l, v);
  return blocked ? PB_LAYOUT_BLOCKED : PB_LAYOUT_PADDED;
}

void pb__layout_settle(const pb_layout* l, bool* set, pb_layout_stays stays) {
  for (bool more = true; more;) {
    more = false;
    for (int v = 0; v < l->program.value_count; ++v) {
      if (!set[v] || stays(l, v)) continue;
      set[v] = false;
      more = true;
    }
  }
}

// ---- tensors of one channel ----

static bool has_one_channel(const pb_layout* l, int v) {
  const pb_value* value = &l->program.values[v];
  bool column = value->type == PB_I8 && value->rank >= 2 && value->shape[value->rank - 1] == 1;
  return value->rank >= 2 && value->shape[1] == 1 && (value->type == PB_F32 || column) && pb_value_elements(value) > 1;
}

static bool is_one_row(const pb_value* value) {
  return value->type == PB_F32 && (value->rank < 2 || (value->rank == 2 && value->shape[0] == 1));
}

// Whether elements along the lanes of what the nest reads by an access become elements of a column: copies take them
// out of their lanes.
static bool turns_to_column(const pb_layout* l, const pb_nest* nest, const pb_access* rows) {
  const pb_access* column = &nest->access[nest->access_count - 1];
  bool turns = false, lanes = rows->rank == 2 || pb__layout_is_image(l, rows->rank);
  for (int d = 0; lanes && column->rank == 2 && d < nest->dim_count; ++d)
    turns |= nest->extent[d] > 1 && rows->index[1].coef[d] && column->index[0].coef[d];
  return turns;
}

// Whether the nest reads the column's elements for all of a row each: no command takes one lane for others.
static bool repeats_elements(const pb_layout* l, int n, int v) {
  const pb_nest* nest = &l->program.nests[n];
  const pb_value* value = &l->program.values[v];
  bool any = false;
  if (value->rank != 2 || value->shape[0] == 1 || pb_program_stored(&l->program, n) == v) return false;
  for (int a = 0; a + 1 < nest->access_count; ++a) {
    if (l->program.value_of[n][a] != v) continue;
    if (!pb_nest_repeats(nest, &nest->access[a])) return false;
    any = true;
  }
  return any;
}

// Whether pointwise nests and copies alone touch the value, on such values where they compute anything, or on one row.
static bool stays_single(const pb_layout* l, int v) {
  PB_FOR_USES (n, &l->program, v) {
    const pb_nest* nest = &l->program.nests[n];
    if (nest->reduce != PB_SET || pb_program_is_fixed(&l->program, n)) return false;
    if (repeats_elements(l, n, v)) continue;
    for (int a = 0; a < nest->access_count && !pb_nest_is_copy(nest); ++a) {
      int with = l->program.value_of[n][a];
      const pb_value* value = &l->program.values[with];
      bool out = pb_program_stored(&l->program, n) == v && turns_to_column(l, nest, &nest->access[a]);
      if (value->kind != PB_VALUE_CONST && !l->single[with] && !is_one_row(value) && !has_no_channels(l, value) && !out)
        return false;
    }
  }
  return true;
}

// Words of one channel, and columns of codes, that stand in no row by themselves: they stay plain, where they fill
// lanes.
static void find_single(pb_layout* l) {
  l->single = PB_NEW_ARRAY(&l->unit->pass, bool, (size_t)l->program.value_count + 1);
  for (int v = 0; v < l->program.value_count; ++v) l->single[v] = has_one_channel(l, v);
  pb__layout_settle(l, l->single, stays_single);
}

bool pb__layout_is_open(const pb_layout* l, int v) {
  return pb__layout_kind_at_edge(l, v) == PB_VALUE_LOCAL && !l->values[v].refused && !pb__layout_touched(l, v, true);
}

// As far as the value by itself tells; edges have twins.
static void choose_kind(pb_layout* l, int v) {
  const pb_value* value = &l->program.values[v];
  pb_layout_value* chosen = &l->values[v];
  chosen->kind = PB_LAYOUT_PLAIN;
  if (!pb__layout_is_open(l, v)) return;
  chosen->block = pb__layout_block(l, value->rank > 1 ? value->shape[1] : 1);
  bool image = pb__layout_is_image(l, value->rank);
  if (l->whole_rows)
    chosen->kind = image ? PB_LAYOUT_BLOCKED : value->rank == 2 ? kind_of_rows(l, v) : PB_LAYOUT_PLAIN;
  else if (image && !is_moved_alone(l, v) && pb__layout_has_channels(l, v))
    chosen->kind = PB_LAYOUT_BLOCKED;
}

// Whether a value that is narrow lies in blocks of a group: not plainly.
static bool in_narrow_blocks(const pb_layout* l, int v) {
  return group_for(l, l->program.values[v].type) > 1 && !under_windows(l, v);
}

// Whether a contraction takes x otherwise than by rows of lanes, which its few channels would hardly fill: units by
// rows of gathered windows, code by groups that it sums. Where each channel is summed for itself, it takes a lane of
// the result's.
static bool takes_narrow(const pb_layout* l, int n, const pb_contraction_dims* roles) {
  const pb_nest* nest = &l->program.nests[n];
  return l->whole_rows ? pb__layout_should_gather(l, nest, roles) : pb__layout_depthwise(nest, roles) < 0;
}

// Whether what is made of the value can be narrow as it is: units read plain tensors by movers alone, wherever these
// come from.
static bool leaves_narrow(const pb_layout* l, int v) {
  if (l->whole_rows) return l->narrow[v] || pb__layout_kind_at_edge(l, v) != PB_VALUE_LOCAL;
  return l->program.values[pb__layout_edge_of(l, v)].kind != PB_VALUE_LOCAL || (l->narrow[v] && in_narrow_blocks(l, v));
}

// Few channels that come straight from the outside and go straight into contractions. Copies of such are such, or lie
// plainly: rows of lanes would be read behind the narrow ones.
static bool stays_narrow(const pb_layout* l, int v) {
  PB_FOR_USES (n, &l->program, v) {
    const pb_nest* nest = &l->program.nests[n];
    pb_contraction_dims roles;
    int to = pb_program_stored(&l->program, n);
    bool contracts = pb__layout_contraction_dims(l, n, &roles),
         copies = nest->reduce == PB_SET && nest->expr_count == 1;
    if (to == v && nest->reduce != PB_SET) return false;
    for (int a = 0; a + 1 < nest->access_count; ++a) {
      int from = l->program.value_of[n][a];
      if (to == v && !leaves_narrow(l, from)) return false;
      bool sums = contracts && a == roles.x && takes_narrow(l, n, &roles);
      if (from == v && !sums && !(copies && (l->narrow[to] || l->values[to].kind == PB_LAYOUT_PLAIN))) return false;
    }
  }
  return true;
}

// Whether its channels fill half of a row of lanes at most, and no convolution of several groups walks them.
static bool may_be_narrow(const pb_layout* l, int v) {
  return l->program.values[v].shape[1] * 2 <= l->lanes && !in_groups(l, v);
}

// Of all values of few channels those that nothing wants otherwise.
static void find_narrow(pb_layout* l) {
  const pb_program* p = &l->program;
  l->narrow = PB_NEW_ARRAY(&l->unit->pass, bool, (size_t)p->value_count + 1);
  for (int v = 0; v < p->value_count; ++v)
    l->narrow[v] =
        l->whole_rows || (l->values[v].kind != PB_LAYOUT_PLAIN &&
                          l->program.values[pb__layout_edge_of(l, v)].kind == PB_VALUE_LOCAL && may_be_narrow(l, v));
  pb__layout_settle(l, l->narrow, stays_narrow);
}

// A value in blocks that is better off in narrower ones, or plain.
static void narrow(pb_layout* l, int v) {
  const pb_value* value = &l->program.values[v];
  pb_layout_value* chosen = &l->values[v];
  int64_t channels = value->shape[1];
  pb_value_kind edge = l->program.values[pb__layout_edge_of(l, v)].kind;
  bool outside = edge != PB_VALUE_LOCAL;
  chosen->kind = PB_LAYOUT_PLAIN;
  if (l->few[v]) return;
  if (value->type == PB_F32 && channels % l->lanes && maximises_plain(l, v)) return;
  chosen->kind = PB_LAYOUT_BLOCKED;
  chosen->block = pb__layout_block(l, channels);
  if (outside ? edge != PB_VALUE_INPUT || !may_be_narrow(l, v) : !l->narrow[v]) return;
  int group = group_for(l, value->type);
  chosen->block = (channels + group - 1) / group * group;
  if (outside || !in_narrow_blocks(l, v)) chosen->kind = PB_LAYOUT_PLAIN;
}

// Rows of a contraction's results are padded to whole vectors, and what is made of them element by element.
static void pad(pb_layout* l, int v) {
  const pb_value* value = &l->program.values[v];
  pb_layout_value* chosen = &l->values[v];
  if (value->kind != PB_VALUE_LOCAL || chosen->refused || is_moved_alone(l, v) || value->rank < 2) return;
  if (l->program.values[pb__layout_edge_of(l, v)].kind == PB_VALUE_INPUT || pb__layout_touched(l, v, true)) return;
  PB_FOR_WRITERS (n, &l->program, v) { // the last dim of what a contraction makes
    const pb_nest* nest = &l->program.nests[n];
    const pb_access* store = &nest->access[nest->access_count - 1];
    int dim = pb_access_whole_dim(nest, store, store->rank - 1);
    if (dim < 0) {
      chosen->kind = PB_LAYOUT_PLAIN;
      return;
    }
    pb_contraction_dims roles;
    // a second factor that the network makes has no padding to go with it
    if (pb__layout_contraction_dims(l, n, &roles) && roles.role[dim] == PB_ROLE_N &&
        (nest->extent[dim] % l->lanes == 0 || pb__layout_weighs(l, n, &roles)))
      chosen->kind = PB_LAYOUT_PADDED;
    for (int a = 0; nest->reduce == PB_SET && a + 1 < nest->access_count; ++a) { // pointwise from one such
      const pb_access* from = &nest->access[a];
      if (l->values[l->program.value_of[n][a]].kind == PB_LAYOUT_PADDED && from->rank == store->rank &&
          !memcmp(&from->index[from->rank - 1], &store->index[store->rank - 1], sizeof(pb_index)))
        chosen->kind = PB_LAYOUT_PADDED;
    }
  }
}

// Where vectors are loaded from anywhere: what depends on the layouts of other values. A pointwise chain follows what
// its first value is.
static void refine(pb_layout* l, const bool* gained) {
  bool* blocked = PB_NEW_ARRAY(&l->unit->pass, bool, (size_t)l->program.value_count + 1);
  for (int v = 0; v < l->program.value_count; ++v) blocked[v] = l->values[v].kind != PB_LAYOUT_PLAIN;
  for (int iteration = 0; iteration < CHOICE_TURNS; ++iteration)
    for (int v = 0; v < l->program.value_count; ++v)
      if (blocked[v])
        narrow(l, v);
      else if (!gained[v])
        pad(l, v);
}

// *gained: of values that would lie in rows those that no nest wants plain.
static void choose_kinds(pb_layout* l, bool* gained) {
  find_single(l);
  for (int v = 0; v < l->program.value_count; ++v) {
    choose_kind(l, v);
    if (l->single[v]) l->values[v].kind = PB_LAYOUT_PLAIN;
  }
  pb__layout_choose_ends(l);
  for (int v = 0; v < l->program.value_count; ++v)
    if (pb__layout_in_rows(l, v)) {
      gained[v] = !pb__layout_stays_plain(l, v);
      if (!pb__layout_can_block(l, v, -1)) pb__layout_keep_plain(l, v);
    }
  find_narrow(l);
}

// Contractions that read rows of whole windows, of what stays plain for that.
static void choose_gathers(pb_layout* l) {
  pb_contraction_dims roles;
  for (int n = 0; n < l->program.nest_count; ++n) {
    if (pb__layout_is_apart(l, n) || !pb__layout_contraction_dims(l, n, &roles)) continue;
    int x = l->program.value_of[n][roles.x];
    l->gathers[n] = l->narrow[x] && takes_narrow(l, n, &roles);
    if (!l->gathers[n]) continue;
    pb__layout_keep_plain(l, x);
    pb__layout_open_pad(l, n, &roles);
  }
}

void pb__layout_choose(pb_layout* l) {
  bool* gained = PB_NEW_ARRAY(&l->unit->pass, bool, (size_t)l->program.value_count + 1);
  l->few = PB_NEW_ARRAY(&l->unit->pass, bool, (size_t)l->program.value_count + 1);
  l->values = PB_NEW_ARRAY(&l->unit->pass, pb_layout_value, (size_t)l->program.value_count + 1);
  if (l->whole_rows) {
    choose_kinds(l, gained);
    choose_gathers(l);
  } else {
    pb__layout_find_few(l);
    for (size_t k = 0; k < l->const_count; ++k)
      if (l->consts[k].late && pb_program_is_local(&l->program, l->consts[k].source))
        l->values[l->consts[k].source].refused = true;
    do {
      memset(gained, 0, sizeof *gained * (size_t)l->program.value_count);
      choose_kinds(l, gained);
      refine(l, gained);
    } while (pb__layout_refuse_groups(l));
  }
  pb__layout_choose_rows(l);
  pb__layout_choose_runs(l);
}
