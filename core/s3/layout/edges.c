// Twins of tensors at the graph's edge, and of those inside that are made in one layout and read in another
// (crossings.c has the copies between the two).
#include "core/s3/compose.h"
#include "core/s3/layout/layout.h"

#include <stdlib.h>
#include <string.h>

enum { MANY_ELEMENTS = 1 << 16 };

// A copy of the whole value, which is a crossing by itself.
static bool makes_same(const pb_layout* l, int n, const pb_value* value) {
  const pb_value* made = &l->program.values[pb_program_stored(&l->program, n)];
  return pb_nest_is_copy(&l->program.nests[n]) && made->rank == value->rank &&
         !memcmp(made->shape, value->shape, sizeof(int64_t) * (size_t)value->rank);
}

// Whether the nest stores otherwise than by rows of lanes, or (`turned`) along other lanes than it reads.
static bool stores_across(const pb_layout* l, int n, bool turned) {
  const pb_nest* nest = &l->program.nests[n];
  return !pb__layout_walks(l, nest, &nest->access[nest->access_count - 1]) || (turned && pb__layout_turns(l, n));
}

// A concatenation whose parts begin inside a block, or a reshape, is put together plain; where movers go along rows of
// lanes a transposed copy too.
static bool put_together(const pb_layout* l, int v) {
  PB_FOR_WRITERS (n, &l->program, v)
    if (pb_nest_is_copy(&l->program.nests[n]) && stores_across(l, n, l->whole_rows)) return true;
  return false;
}

// Made element by element, and walked otherwise than by rows of lanes: behind a reshape. It is made plain.
bool pb__layout_flattened(const pb_layout* l, int v) {
  PB_FOR_WRITERS (n, &l->program, v)
    if (l->program.nests[n].reduce == PB_SET && l->program.nests[n].access_count > 1 && stores_across(l, n, true))
      return true;
  return false;
}

static bool is_edge(const pb_value* value) { return value->kind == PB_VALUE_INPUT || value->kind == PB_VALUE_OUTPUT; }

// Whether a nest by itself wants the value's channels along lanes: one that reads it, or (`made`) a contraction that
// makes it.
static bool has_own_channels(const pb_layout* l, int v, bool made) {
  pb_contraction_dims roles;
  PB_FOR_ACCESSES (n, a, &l->program, v)
    if (pb__layout_said(l, n, a) == PB_LIE_CHANNELS &&
        (made ? pb_program_writes(&l->program, n, v) && pb__layout_contraction_dims(l, n, &roles)
              : pb_program_reads(&l->program, n, v)))
      return true;
  return false;
}

// Whether a nest reads the value otherwise than in blocks: its lanes are along no channels, or it walks no blocks of
// them, or finds its elements by numbers; or it makes rows of heads behind which nothing but zeros may lie.
static bool reads_plain(const pb_layout* l, int n, int v) {
  const pb_nest* nest = &l->program.nests[n];
  double zero;
  for (int a = 0; a + 1 < nest->access_count; ++a)
    if (l->program.value_of[n][a] == v &&
        (!pb__layout_walks_blocks(l, n, a) ||
         (l->whole_rows ? pb__layout_ends_in(l, pb_program_stored(&l->program, n), &zero)
                        : pb_program_is_fixed(&l->program, n) || pb__layout_asks_for_plain(l, n, a, v))))
      return true;
  return false;
}

static bool is_read_plain(const pb_layout* l, int v) {
  PB_FOR_USES (n, &l->program, v)
    if (reads_plain(l, n, v)) return true;
  return false;
}

// Whether a convolution reads it that takes each channel for itself, and whose lanes are channels therefore, and all
// else that reads it walks blocks of them too; what makes it does not.
static bool is_for_channels_alone(const pb_layout* l, int v) {
  pb_contraction_dims roles;
  bool any = false;
  if (!pb_program_is_local(&l->program, v) || !pb__layout_stays_plain(l, v) || is_read_plain(l, v)) return false;
  PB_FOR_USES (n, &l->program, v)
    any |= pb_program_reads(&l->program, n, v) && pb__layout_contraction_dims(l, n, &roles) &&
           l->program.value_of[n][roles.x] == v && pb__layout_depthwise(&l->program.nests[n], &roles) >= 0;
  return any;
}

static bool is_product(const pb_layout* l, int v) {
  pb_contraction_dims roles;
  PB_FOR_WRITERS (n, &l->program, v)
    if (pb__layout_contraction_dims(l, n, &roles)) return true;
  return false;
}

// Whether an output is the one result of codes, element by element, and nothing else reads it: where neighbours of
// planes fill rows of lanes, the codes come out of their blocks and not what is made of them, which takes more bytes.
bool pb__layout_widens_codes(const pb_layout* l, int n) {
  const pb_nest* nest = &l->program.nests[n];
  const pb_access *x = &nest->access[0], *y = &nest->access[nest->access_count - 1];
  int v = pb_program_stored(&l->program, n);
  const pb_value* value = &l->program.values[v];
  if (value->kind != PB_VALUE_OUTPUT || value->rank != 4 || nest->access_count != 2 || nest->reduce != PB_SET ||
      pb_type_bits(x->type) >= pb_type_bits(y->type) || !pb_same_walk(x, y) || value->shape[1] == 1)
    return false;
  PB_FOR_USES (m, &l->program, v)
    if (m != n && !l->program.gone[m]) return false;
  return pb_access_elements(y) >= MANY_ELEMENTS && value->shape[2] * value->shape[3] % l->lanes == 0 &&
         pb_nest_iterations(nest) == pb_access_elements(y);
}

// Where whole rows are taken plain tensors are read and written by movers alone: a copy more is for what units take.
static bool wants_twin(const pb_layout* l, int v) {
  const pb_value* value = &l->program.values[v];
  if (!l->whole_rows)
    return is_edge(value) ? value->rank > 1
                          : pb__layout_is_image(l, value->rank) && has_own_channels(l, v, false) &&
                                (put_together(l, v) || is_for_channels_alone(l, v));
  if (value->rank != 4 && value->rank != 2) return false;
  bool one_row = value->rank == 2 && value->shape[0] == 1;
  bool read = false, computed = false, summed = false, even = value->shape[1] % l->lanes == 0;
  PB_FOR_USES (n, &l->program, v) {
    read |= pb_program_reads(&l->program, n, v) && !pb_program_writes(&l->program, n, v) && !makes_same(l, n, value);
    summed |= pb_program_reads(&l->program, n, v) && l->program.nests[n].reduce != PB_SET;
    computed |= pb_program_writes(&l->program, n, v) && !pb_nest_is_copy(&l->program.nests[n]) &&
                !pb__layout_widens_codes(l, n);
  }
  if (value->kind == PB_VALUE_INPUT) return read && (value->type == PB_I8 || summed);
  bool number = computed && value->type == PB_F32 && value->shape[1] == 1; // what computes it does so in all lanes
  if (value->kind == PB_VALUE_OUTPUT)
    return one_row ? (read && value->type == PB_I8) ||
                         (!even && (number || is_product(l, v) || pb__layout_made_with_numbers(l, v)))
                   : computed || summed || (read && put_together(l, v));
  if (value->kind != PB_VALUE_LOCAL) return false;
  bool lies_so = one_row && even && !pb__layout_read_by_rows(l, v); // to products, which take rows of lanes anywhere
  return put_together(l, v) || (summed && !lies_so && pb__layout_flattened(l, v));
}

// Whether the value is made in blocks, by a unit that takes sums or largest elements or by code's contractions: what is
// computed from that element by element goes from blocks to anything, but what a unit makes of rows that end inside a
// row of lanes and of a number for each.
static bool made_in_blocks(const pb_layout* l, int v) {
  const pb_value* value = &l->program.values[v];
  bool image = pb__layout_is_image(l, value->rank), rows = value->rank == 2;
  if (value->kind != PB_VALUE_LOCAL) return false;
  if (!l->whole_rows) return image && has_own_channels(l, v, true);
  return ((image || rows) && pb_program_is_reduced(&l->program, v)) ||
         (rows && value->shape[1] % l->lanes && pb__layout_made_with_numbers(l, v));
}

// The operator in the model that value v is copied for, or that makes it.
static const char* operator_of(const pb_layout* l, int v) {
  int n = pb_program_next_use(&l->program, v, -1);
  while (n >= 0 && pb__layout_is_apart(l, n)) n = pb_program_next_use(&l->program, v, n);
  return n >= 0 ? l->program.nests[n].name : "";
}

static pb_nest copy_of(const pb_value* value, const char* name) {
  pb_nest nest = {.name = name, .part = "copy", .access_count = 2};
  pb_access access = {.type = value->type, .rank = value->rank, .buffer = -1};
  memcpy(access.shape, value->shape, sizeof access.shape);
  for (int r = 0; r < value->rank; ++r) {
    if (value->shape[r] == 1 && r != 1) continue;
    access.index[r].coef[pb_nest_add_dim(&nest, value->shape[r])] = 1;
  }
  nest.access[0] = nest.access[1] = access;
  pb_nest_load(&nest, 0);
  return nest;
}

// `inside`: of a tensor inside, what makes it and reads it in blocks.
static void redirect(pb_layout* l, int from, int to, bool writes, bool inside) {
  PB_FOR_ACCESSES (n, a, &l->program, from) {
    bool store = a == l->program.nests[n].access_count - 1;
    if (inside ? !reads_plain(l, n, from) : !pb__layout_is_apart(l, n) && (writes || !store))
      pb_program_set_value(&l->program, &l->unit->pass, n, a, to);
  }
}

// Puts the copies of all twins among the nests, that of twin k by copies[k].at and .order.
static void insert_copies(pb_layout* l, pb_insertion* copies) {
  for (int k = 0; k < l->twin_count; ++k) {
    const pb_layout_twin* t = &l->twins[k];
    const pb_nest nest = copy_of(&l->program.values[t->edge], t->name);
    copies[k].nest = pb_nest_kept(&l->unit->pass, &nest);
    copies[k].from = t->out ? t->twin : t->edge;
    copies[k].to = t->out ? t->edge : t->twin;
  }
  pb_program_insert(&l->program, &l->unit->pass, copies, l->twin_count);
  for (int k = 0; k < l->twin_count; ++k) l->twins[abs(copies[k].order)].copy = copies[k].at + k;
}

static bool made_by_others(const pb_layout* l, int v) {
  int maker = pb_program_last_writer(&l->program, v);
  return maker >= 0 && !pb__layout_is_apart(l, maker);
}

void pb__layout_add_twins(pb_layout* l) {
  int values = l->program.value_count;
  pb_insertion* copies = PB_NEW_ARRAY(&l->unit->pass, pb_insertion, (size_t)values + 1);
  l->twins = PB_NEW_ARRAY(&l->unit->pass, pb_layout_twin, (size_t)values + 1);
  for (int v = 0; v < values; ++v) {
    pb_value local = l->program.values[v];
    bool apart = pb__layout_touched(l, v, true);
    bool shared = apart && pb__layout_touched(l, v, false) && (pb__layout_is_image(l, local.rank) || local.rank == 2);
    bool inside = !apart && made_in_blocks(l, v) && is_read_plain(l, v);
    bool wanted = shared || inside || wants_twin(l, v);
    if (apart ? !shared || local.kind == PB_VALUE_CONST : !wanted && (!is_edge(&local) || local.rank < 2)) continue;
    const char* name = operator_of(l, v);
    bool output = shared ? made_by_others(l, v)
                         : inside || (local.kind == PB_VALUE_OUTPUT && !(l->whole_rows && put_together(l, v)));
    local.kind = PB_VALUE_LOCAL;
    local.argument = -1;
    int twin = pb_program_add_value(&l->program, &l->unit->pass, &local);
    bool behind = output && !shared && !inside; // of others, inputs above all, the last one comes first
    copies[l->twin_count].at = behind ? l->program.nest_count : pb_program_last_writer(&l->program, v) + 1;
    copies[l->twin_count].order = behind ? l->twin_count : -l->twin_count;
    redirect(l, v, twin, output, inside);
    l->twins[l->twin_count++] = (pb_layout_twin){v, twin, -1, name, output, wanted};
  }
  if (l->twin_count) insert_copies(l, copies);
}

pb_layout_kind pb__layout_kind_of(const pb_layout* l, int v) {
  return pb__layout_in_rows(l, v) ? PB_LAYOUT_BLOCKED : l->values[v].kind;
}

bool pb__layout_reads_as(const pb_layout* l, int n, int a, pb_layout_kind kind) {
  return !pb_program_is_const(&l->program, n, a) && pb__layout_kind_of(l, l->program.value_of[n][a]) == kind;
}

int pb__layout_reads_kind(const pb_layout* l, int n, pb_layout_kind kind) {
  for (int a = 0; a + 1 < l->program.nests[n].access_count; ++a)
    if (pb__layout_reads_as(l, n, a, kind)) return a;
  return -1;
}

// Whether the twin of an output is computed from plain tensors alone, and for the output only.
static bool made_of_plain(const pb_layout* l, const pb_layout_twin* t) {
  if (l->program.values[t->edge].kind != PB_VALUE_OUTPUT) return false;
  PB_FOR_USES (n, &l->program, t->twin) {
    if (pb_program_reads(&l->program, n, t->twin) && n != t->copy) return false;
    if (!pb_program_writes(&l->program, n, t->twin)) continue;
    if (l->program.nests[n].reduce != PB_SET || pb__layout_reads_kind(l, n, PB_LAYOUT_PLAIN) < 0 ||
        pb__layout_reads_kind(l, n, PB_LAYOUT_BLOCKED) >= 0 || pb__layout_reads_kind(l, n, PB_LAYOUT_PADDED) >= 0)
      return false;
  }
  return true;
}

// Whether the twin is the same bytes as its edge.
static bool is_same(const pb_layout* l, int twin) {
  const pb_value* value = &l->program.values[twin];
  pb_layout_kind kind = l->values[twin].kind;
  return kind == PB_LAYOUT_PLAIN || (kind == PB_LAYOUT_PADDED && value->shape[value->rank - 1] % l->lanes == 0);
}

// Whether one copy alone reads the tensor, and takes whole blocks to a plain one as well, whatever the order of the
// dims.
static bool is_copied_on(const pb_layout* l, int v) {
  int readers = 0;
  PB_FOR_USES (n, &l->program, v) {
    const pb_nest* nest = &l->program.nests[n];
    if (!pb_program_reads(&l->program, n, v)) continue;
    if (readers++ || !pb_nest_is_copy(nest) || !pb__layout_walks(l, nest, &nest->access[0]) ||
        l->values[pb_program_stored(&l->program, n)].kind != PB_LAYOUT_PLAIN)
      return false;
  }
  return readers == 1;
}

void pb__layout_drop_twins(pb_layout* l) {
  for (int k = 0; k < l->twin_count; ++k) {
    const pb_layout_twin* t = &l->twins[k];
    bool inside = t->out && pb_program_is_local(&l->program, t->edge) && !l->values[t->edge].refused &&
                  l->values[t->twin].kind == PB_LAYOUT_BLOCKED;
    if (l->whole_rows) {
      if (made_of_plain(l, t)) l->values[t->twin].kind = PB_LAYOUT_PLAIN;
    } else if (inside && is_copied_on(l, t->edge)) { // it goes from blocks at once
      l->values[t->edge] = l->values[t->twin];
      l->program.gone[t->copy] = true;
      redirect(l, t->twin, t->edge, true, false);
      continue;
    }
    if (!is_same(l, t->twin) || l->values[t->edge].kind == PB_LAYOUT_BLOCKED) continue;
    if (!pb_program_is_local(&l->program, t->edge)) l->values[t->edge].kind = l->values[t->twin].kind;
    l->program.gone[t->copy] = true;
    redirect(l, t->twin, t->edge, true, false);
  }
}

const pb_layout_twin* pb__layout_twin_of(const pb_layout* l, int v) {
  int k = l->twin_count ? v - l->twins[0].twin : -1; // they were added one behind the other
  return k >= 0 && k < l->twin_count ? &l->twins[k] : NULL;
}

int pb__layout_edge_of(const pb_layout* l, int v) {
  const pb_layout_twin* twin = pb__layout_twin_of(l, v);
  return twin ? twin->edge : v;
}

pb_value_kind pb__layout_kind_at_edge(const pb_layout* l, int v) {
  const pb_layout_twin* twin = pb__layout_twin_of(l, v);
  return l->program.values[twin && !twin->wanted ? twin->edge : v].kind;
}

bool pb__layout_unused(const pb_layout* l, int v) {
  const pb_layout_twin* twin = pb__layout_twin_of(l, v);
  return twin && l->program.gone[twin->copy];
}
