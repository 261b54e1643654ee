// Inside `layout`: a nest that is no contraction, over split dims. Where instructions take whole rows of lanes the
// lanes behind a tensor's last channel are computed too; else a nest that also walks a plain tensor is cut in two, of
// whole blocks and of the last one.
#include "core/s3/layout/layout.h"

#include <string.h>

// Whether no tensor of the nest lies otherwise than the model has it: one row that is padded lies so too.
static bool is_plain(const pb_layout* l, int n) {
  const pb_nest* nest = &l->program.nests[n];
  for (int a = 0; a < nest->access_count; ++a) {
    pb_layout_kind kind = l->values[l->program.value_of[n][a]].kind;
    const pb_access* access = &nest->access[a];
    bool stored = a == nest->access_count - 1, uneven = access->rank && access->shape[access->rank - 1] % l->lanes;
    if (!pb_program_is_const(&l->program, n, a) && kind != PB_LAYOUT_PLAIN &&
        (kind != PB_LAYOUT_PADDED || (stored && uneven)))
      return false;
  }
  return true;
}

static void print_split(pb_layout* l, int n, const pb_nest* nest, const int64_t* size, const bool* pads, pb_split* s) {
  pb_nest out = *nest;
  pb__layout_split(l, nest, size, pads, &out, s);
  pb__layout_rewrite_all(l, n, s, nest, &out);
  if (is_plain(l, n)) pb__layout_spread_in_plain(l, n, &out);
  if (nest->reduce == PB_SET) pb__layout_splat(l, &out);
  pb__layout_mask_rest(l, pb_program_stored(&l->program, n), &out);
  pb__layout_print(l, &out);
}

// Index r is walked as the store walks it, which may leave elements between.
static void fill_like(pb_nest* fill, const pb_nest* nest, const pb_access* store, int r) {
  fill->access[0].index[r].cst = store->index[r].cst;
  for (int d = 0; d < nest->dim_count; ++d)
    if (store->index[r].coef[d])
      pb_nest_walk(fill, &fill->access[0].index[r], store->index[r].coef[d], nest->extent[d]);
}

void pb__layout_fill_rest(pb_layout* l, const pb_nest* nest, const pb_access* store, int v, int64_t channels,
                          double number) {
  bool rows = l->values[v].kind == PB_LAYOUT_PADDED;
  int one = rows ? -1 : 1; // the index of blocks, of which it is the last one
  pb_nest fill = {.name = nest->name, .part = "pad", .access_count = 1};
  pb_access* to = &fill.access[0];
  to->type = l->program.values[v].type;
  pb__layout_use_made(l, to, v);
  for (int r = 0, lanes = to->rank - 1; r < to->rank; ++r) {
    to->index[r].cst = r == one ? to->shape[1] - 1 : r == lanes ? (rows ? channels : channels % to->shape[r]) : 0;
    if (r == lanes)
      pb_nest_walk(&fill, &to->index[r], 1, to->shape[r] - to->index[r].cst);
    else if (r != one && store)
      fill_like(&fill, nest, store, r);
    else if (r != one)
      pb_nest_walk(&fill, &to->index[r], 1, to->shape[r]);
  }
  pb_nest_const(&fill, to->type, number);
  pb__layout_print(l, &fill);
}

void pb__layout_take_part(const pb_nest* nest, int dim, int64_t first, int64_t count, pb_nest* part, pb_split* s) {
  pb_nest_copy(part, nest);
  part->extent[dim] = count;
  pb__layout_split_none(s);
  memcpy(s->full, nest->extent, sizeof s->full);
  s->shift[dim] = first;
}

// A nest that also walks a plain tensor along split channels that do not fill their last block: the whole blocks, then
// the rest of the last one.
static void rewrite_cut(pb_layout* l, int n, const int64_t* size, int dim) {
  const pb_nest* nest = &l->program.nests[n];
  pb_nest part;
  pb_split s;
  int64_t rest = nest->extent[dim] % size[dim], whole = nest->extent[dim] - rest;
  pb__layout_take_part(nest, dim, 0, whole, &part, &s);
  if (whole) print_split(l, n, &part, size, NULL, &s);
  pb__layout_take_part(nest, dim, whole, rest, &part, &s);
  s.cut[dim] = true;
  print_split(l, n, &part, size, NULL, &s);
  int v = pb_program_stored(&l->program, n);
  if (l->values[v].kind == PB_LAYOUT_BLOCKED && nest->reduce == PB_SET)
    pb__layout_fill_rest(l, nest, &nest->access[nest->access_count - 1], v, nest->extent[dim], 0);
}

// Channels that are walked already, as those that a product sums over, stay apart from the one that gets a dim.
static void walk_single_channel(pb_layout* l, int n) {
  pb_nest* nest = &l->program.nests[n];
  if (nest->dim_count + 2 > PB_NEST_DIMS) return;
  int dim = pb_nest_add_dim(nest, 1);
  for (int a = 0; a < nest->access_count; ++a) {
    pb_index* channel = &nest->access[a].index[1];
    bool walked = false;
    for (int d = 0; d < dim; ++d) walked |= channel->coef[d] != 0;
    if (l->values[l->program.value_of[n][a]].kind == PB_LAYOUT_BLOCKED && !walked) channel->coef[dim] = 1;
  }
}

// Whether all that the nest reads along the dim may be read past its end: padded values along their last dim whose rows
// are set to their ends, blocks, constants (which are padded then) and what the dim does not move.
static bool all_padded(const pb_layout* l, int n, int dim) {
  const pb_nest* nest = &l->program.nests[n];
  for (int a = 0; a < nest->access_count; ++a) {
    int v = l->program.value_of[n][a], d;
    const pb_access* access = &nest->access[a];
    if (!pb_access_uses(access, dim) || l->program.values[v].kind == PB_VALUE_CONST) continue;
    if (l->values[v].kind != PB_LAYOUT_PADDED || l->values[v].ends_early ||
        !pb_index_single(&access->index[access->rank - 1], &d) || d != dim)
      return false;
    for (int r = 0; r + 1 < access->rank; ++r)
      if (access->index[r].coef[dim]) return false;
  }
  return true;
}

// Whether a contraction adds to what the nest sets: it walks whole vectors, also where a row ends inside one.
static bool begins_sum(const pb_layout* l, int n) {
  pb_contraction_dims roles;
  PB_FOR_WRITERS (m, &l->program, pb_program_stored(&l->program, n))
    if (m > n && l->program.nests[m].reduce != PB_SET && pb__layout_contraction_dims(l, m, &roles)) return true;
  return false;
}

// Zeros behind the ends of the rows that a sum begins with: nobody takes what is summed there, but it is read.
static void fill_row_ends(pb_layout* l, int n) {
  const pb_nest* nest = &l->program.nests[n];
  int v = pb_program_stored(&l->program, n), last = l->values[v].rank - 1;
  int64_t ends = l->program.values[v].shape[last];
  if (ends < l->values[v].shape[last]) pb__layout_fill_rest(l, nest, &nest->access[nest->access_count - 1], v, ends, 0);
}

static void rewrite_whole(pb_layout* l, int n, const int64_t* size, const bool* pads) {
  const pb_nest* nest = &l->program.nests[n];
  pb_split s;
  pb__layout_split_none(&s);
  print_split(l, n, nest, size, pads, &s);
}

// The dim that walks the access's lanes, alone; -1: none.
static int along(const pb_access* access, int axis) {
  return access->rank > 1 ? pb_index_dim(&access->index[axis]) : -1;
}

// The same of a value in blocks, of which the nest may take a part that begins at one of them. Where several dims walk
// the channels, as those of groups do, it is the one of neighbours: the others go by whole blocks (pb__layout_walks).
static int along_blocks(const pb_nest* nest, const pb_access* access, int64_t block) {
  pb_access whole = *access;
  if (whole.index[1].cst % block == 0) whole.index[1].cst = 0;
  int dim = along(&whole, 1);
  for (int d = 0; d < nest->dim_count && dim < 0 && whole.index[1].cst == 0; ++d)
    if (whole.index[1].coef[d] == 1 && nest->extent[d] % block == 0) dim = d;
  return dim;
}

// The only channel, that no dim walks, of a tensor in blocks: nests beside this one write and read all lanes of it.
// Code sets them all at once, along a dim of its own. Commands set one lane of each row, where they copy or begin a sum
// over an image's channels (sums of rows stand in all lanes), and the others are filled.
void pb__layout_complete_single_channel(pb_layout* l, int n) {
  const pb_nest* nest = &l->program.nests[n];
  const pb_access* store = &nest->access[nest->access_count - 1];
  int v = pb_program_stored(&l->program, n), dim;
  if (l->values[v].kind != PB_LAYOUT_BLOCKED || !pb_index_single(&store->index[1], &dim) || dim >= 0) return;
  bool sets = pb_nest_is_copy(nest) || (nest->reduce == PB_SET && store->rank == 4);
  if (!l->whole_rows)
    walk_single_channel(l, n);
  else if (sets && l->program.values[v].shape[1] == 1)
    pb__layout_fill_rest(l, nest, store, v, 1, 0);
}

// The dim whose iterations are lanes of access a, which lies in blocks; -1: none. The only channel of what is read
// stays one number where the result's lanes are another dim's: those behind it are no elements.
static int lanes_of(const pb_layout* l, int n, int a) {
  const pb_nest* nest = &l->program.nests[n];
  int last = nest->access_count - 1, v = l->program.value_of[n][a], to = l->program.value_of[n][last];
  int dim = along_blocks(nest, &nest->access[a], l->values[v].block);
  if (dim < 0 || nest->extent[dim] > 1 || !pb__layout_in_rows(l, to)) return dim;
  int stored = along_blocks(nest, &nest->access[last], l->values[to].block);
  return stored < 0 || stored == dim ? dim : -1;
}

void pb__layout_rewrite_nest(pb_layout* l, int n) {
  pb__layout_complete_single_channel(l, n);
  const pb_nest* nest = &l->program.nests[n];
  int64_t size[PB_NEST_DIMS] = {0};
  bool pads[PB_NEST_DIMS] = {0};
  int cut = -1;
  bool ends_early = false;
  for (int a = 0; a < nest->access_count; ++a) {
    int v = l->program.value_of[n][a], dim = pb__layout_in_rows(l, v) ? lanes_of(l, n, a) : -1;
    if (dim >= 0) size[dim] = l->values[v].block;
  }
  for (int a = 0; a < nest->access_count; ++a) {
    const pb_access* access = &nest->access[a];
    int v = l->program.value_of[n][a], dim = along(access, access->rank - 1);
    bool stored = a == nest->access_count - 1, sets = stored && nest->reduce == PB_SET;
    if (l->program.values[v].kind == PB_VALUE_CONST || pb__layout_in_rows(l, v)) continue;
    bool padded = l->values[v].kind == PB_LAYOUT_PADDED;
    if (l->whole_rows) {
      if (padded && stored && dim >= 0) pads[dim] = true;
      continue;
    }
    if (padded && sets && dim >= 0 && (nest->extent[dim] % l->lanes == 0 || all_padded(l, n, dim))) {
      if (size[dim] < l->lanes) size[dim] = l->lanes; // rows of blocks end where rows of vectors do
      continue;
    }
    ends_early |= sets && padded;
    l->values[v].ends_early |= sets && padded;
    // one channel that the result has no dim for: lanes that no channel fills would each write its elements again
    for (int d = 0; d < nest->dim_count; ++d)
      if (size[d] && (sets || pb_access_uses(access, d)) && nest->extent[d] % size[d] &&
          !(padded && all_padded(l, n, d)))
        cut = d;
  }
  if (cut >= 0)
    rewrite_cut(l, n, size, cut);
  else
    rewrite_whole(l, n, size, pads);
  if (ends_early && begins_sum(l, n)) fill_row_ends(l, n);
}
