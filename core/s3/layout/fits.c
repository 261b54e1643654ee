// Inside `layout`: what nests ask of the layouts of values. A value lies in blocks of channels only where every nest
// that touches it walks them so; what cannot stays plain.
#include "core/s3/compose.h"
#include "core/s3/layout/layout.h"

// ---- accesses ----

// Where code goes by single elements one dim walks the channels. Nests may take a part of them that is whole blocks, as
// concatenations and splits do; where nothing is added up the last block may be the tensor's last one.
static bool walks_part(const pb_layout* l, const pb_nest* nest, const pb_access* access, int64_t channels) {
  int64_t first = access->index[1].cst, block = pb__layout_block(l, access->shape[1]);
  bool stores = access == &nest->access[nest->access_count - 1], sums = nest->reduce != PB_SET;
  if (first % block || (sums && !stores)) return false;
  return channels % block == 0 || (!sums && first + channels == access->shape[1]);
}

bool pb__layout_walks(const pb_layout* l, const pb_nest* nest, const pb_access* access) {
  const pb_index* index = &access->index[1];
  int64_t inner = 1, all = 1;
  int dims = 0;
  if (access->rank < 2 || index->cst % l->lanes) return false;
  for (int d = 0; d < nest->dim_count; ++d) {
    if (index->coef[d] == 1 && inner != 1) return false;
    if (index->coef[d] == 1) inner = nest->extent[d];
    if (index->coef[d]) all *= nest->extent[d];
    dims += index->coef[d] != 0;
  }
  if (!l->whole_rows && (dims > 1 || index->cst || all < access->shape[1]))
    return dims < 2 && walks_part(l, nest, access, all);
  for (int d = 0; d < nest->dim_count; ++d)
    if (index->coef[d] && index->coef[d] != 1 && (index->coef[d] % l->lanes || inner % l->lanes)) return false;
  return index->cst + all == access->shape[1] ||
         (all % l->lanes == 0 && index->cst + all < access->shape[1] + l->lanes);
}

bool pb__layout_walks_blocks(const pb_layout* l, int n, int a) {
  return pb__layout_walks(l, &l->program.nests[n], &l->program.nests[n].access[a]) ||
         (!l->whole_rows && pb__layout_walks_groups(l, n, a));
}

bool pb__layout_has_room(const pb_layout* l, int n, int* dims, int* packed) {
  const pb_nest* nest = &l->program.nests[n];
  pb_contraction_dims roles;
  bool walks[PB_NEST_DIMS] = {0}, contraction = pb__layout_contraction_dims(l, n, &roles);
  *dims = nest->dim_count + (contraction ? 3 : 0);
  *packed = 0;
  for (int a = 0; a < nest->access_count; ++a) {
    int used = 2;
    for (int d = 0; d < nest->dim_count; ++d) {
      used += pb_access_uses(&nest->access[a], d);
      if (contraction || walks[d] || nest->access[a].rank < 2 || !nest->access[a].index[1].coef[d]) continue;
      walks[d] = true;
      *dims += l->summed ? 2 : 1; // blocks, rows of lanes in one
    }
    if (pb_program_is_const(&l->program, n, a) && used > *packed) *packed = used;
  }
  return *dims <= PB_NEST_DIMS && *packed <= PB_PACK_DIMS;
}

// The dim from element to element along the channels, -1: none. Those of a stack of rows are its last dim.
static int along_lanes(const pb_nest* nest, const pb_access* access) {
  int channels = access->rank == 3 ? 2 : 1;
  for (int d = 0; access->rank > 1 && d < nest->dim_count; ++d)
    if (access->index[channels].coef[d] == 1 && nest->extent[d] > 1) return d;
  return -1;
}

bool pb__layout_turns(const pb_layout* l, int n) {
  const pb_nest* nest = &l->program.nests[n];
  const pb_access* store = &nest->access[nest->access_count - 1];
  int to = along_lanes(nest, store);
  for (int a = 0; nest->reduce == PB_SET && a + 1 < nest->access_count; ++a) {
    const pb_access* access = &nest->access[a];
    int from = along_lanes(nest, access);
    if (pb_program_is_const(&l->program, n, a) || from == to) continue;
    // What is stored may have one channel, and then no dim along its lanes: where the other's lanes become another
    // index, those that no channel fills would go past its end. So may what is read: its elements go along lanes then.
    bool past = to < 0 && store->rank > 1 && pb_access_uses(store, from) && access->shape[1] % l->lanes;
    bool plain = pb__layout_kind_at_edge(l, l->program.value_of[n][a]) == PB_VALUE_INPUT; // from which copies come
    bool lanes = !plain && (access->rank == 2 || pb__layout_is_image(l, access->rank));
    bool elsewhere = from < 0 && lanes && pb_access_uses(access, to);
    if (to < 0 ? past : from >= 0 || elsewhere) return true;
  }
  return false;
}

// Whether the dim of the access's channels walks another index of a tensor that may lie in blocks too: both would be
// split. An image's whole blocks may walk a dim of a volume; lanes that no channel fills would go past its end.
static bool transposes(const pb_layout* l, const pb_nest* nest, const pb_access* access) {
  int dim = -1;
  pb_index_single(&access->index[1], &dim);
  bool fills = access->shape[1] % pb__layout_block(l, access->shape[1]) == 0;
  for (int b = 0; b < nest->access_count && dim >= 0; ++b)
    for (int r = 0; r < nest->access[b].rank; ++r)
      if (r != 1 && (nest->access[b].rank == 4 || (nest->access[b].rank == 5 && (access->rank == 5 || !fills))) &&
          nest->access[b].index[r].coef[dim])
        return true;
  return false;
}

// Whether the channels of what a contraction makes are rows or columns of what it is made of: split into lanes they
// would go past its end.
static bool makes_of_rows(const pb_layout* l, const pb_nest* nest, const pb_contraction_dims* roles) {
  const pb_access *x = &nest->access[roles->x], *y = &nest->access[roles->y];
  int dim = -1;
  if (pb__layout_is_image(l, y->rank) && x->rank == y->rank) pb_index_single(&y->index[1], &dim);
  for (int r = 0; r < x->rank && dim >= 0; ++r)
    if (r != 1 && x->index[r].coef[dim]) return true;
  return false;
}

bool pb__layout_sums_lanes(const pb_layout* l, const pb_nest* nest, const pb_access* access) {
  const pb_access* store = &nest->access[nest->access_count - 1];
  if (nest->reduce == PB_SET || access == store || access->rank < 2) return false;
  if (access->shape[1] % l->lanes == 0) return false;
  for (int d = 0; d < nest->dim_count; ++d)
    if (access->index[1].coef[d] && !pb_access_uses(store, d)) return true;
  return false;
}

// ---- values ----

// Whether a memory of the chip has room for all sums of a tensor like the value in blocks, twice.
static bool has_room_whole(const pb_layout* l, int value) {
  const pb_chip* chip = l->unit->chip;
  const pb_value* v = &l->program.values[value];
  int64_t elements = v->rank > 1 ? pb__layout_blocks(v->shape[1], l->lanes) * l->lanes : 1;
  for (int r = 0; r < v->rank; ++r) elements *= r == 1 ? 1 : v->shape[r];
  for (int m = 0; m < chip->memory_count; ++m)
    if (m != chip->system_memory && chip->memories[m].bytes >= 2 * pb_bytes_of(PB_I32, elements)) return true;
  return false;
}

// Whether another nest than copies computes with the value: then it lies in blocks, and copies take it out of them. Or
// with a copy in blocks, as a padded one is, which is made tile by tile: of a plain value that only goes whole.
static bool computed_with(const pb_layout* l, int value) {
  PB_FOR_USES (n, &l->program, value) {
    if (!pb_program_reads(&l->program, n, value) || pb_program_writes(&l->program, n, value)) continue;
    int to = pb_program_stored(&l->program, n);
    bool copies = l->program.nests[n].expr_count == 1 && l->program.nests[n].reduce == PB_SET;
    bool by_tiles = l->values[to].kind != PB_LAYOUT_PLAIN && !has_room_whole(l, value);
    if (!copies || (by_tiles && computed_with(l, to))) return true;
  }
  return false;
}

// Whether the value's rows, which end inside a row of lanes, are computed with a number for each: such numbers stand in
// whole rows of lanes, and so does what is made with them.
static bool made_by_rows(const pb_layout* l, int v) {
  const pb_value* value = &l->program.values[v];
  return value->rank == 2 && value->shape[1] % l->lanes && pb__layout_made_with_numbers(l, v);
}

void pb__layout_keep_plain(pb_layout* l, int value) {
  l->values[value].kind = PB_LAYOUT_PLAIN;
  if (!l->whole_rows) return;
  PB_FOR_WRITERS (n, &l->program, value) // what is copied into it (a pad's inside) stays plain too
    if (l->program.nests[n].access_count == 2 && l->program.nests[n].expr_count == 1 &&
        l->program.value_of[n][0] != value) {
      int source = l->program.value_of[n][0];
      if (l->values[source].kind != PB_LAYOUT_PLAIN && !computed_with(l, source) &&
          !pb_program_is_reduced(&l->program, source) && !made_by_rows(l, source))
        pb__layout_keep_plain(l, source);
    }
}

bool pb__layout_asks_for_plain(const pb_layout* l, int n, int a, int v) {
  const pb_nest* nest = &l->program.nests[n];
  const pb_access* access = &nest->access[a];
  pb_contraction_dims roles;
  bool contracts = pb__layout_contraction_dims(l, n, &roles), stored = a == nest->access_count - 1;
  double zero;
  if (!stored && pb__layout_ends_in(l, pb_program_stored(&l->program, n), &zero)) return true; // element by element
  if (access->rank > 1 && pb__layout_gathers_rows(l, n)) // rows that begin and end with rows of lanes
    return access->rank != 2 || access->shape[1] % l->lanes != 0;
  bool sums = !contracts && pb__layout_sums_lanes(l, nest, access);
  if (l->whole_rows)
    return sums && !pb_program_is_reduced(&l->program, v) ? l->values[v].kind == PB_LAYOUT_BLOCKED
                                                          : stored && pb__layout_turns(l, n);
  if (sums || !pb__layout_has_room(l, n, &(int){0}, &(int){0})) return true;
  if (contracts) return !pb__layout_weighs(l, n, &roles) || (stored && makes_of_rows(l, nest, &roles));
  return transposes(l, nest, access);
}

bool pb__layout_stays_plain(const pb_layout* l, int v) {
  PB_FOR_ACCESSES (n, a, &l->program, v)
    if (!pb__layout_is_apart(l, n) && pb__layout_asks_for_plain(l, n, a, v)) return true;
  return false;
}

bool pb__layout_can_block(const pb_layout* l, int v, int but) {
  if (pb__layout_stays_plain(l, v)) return false;
  PB_FOR_ACCESSES (n, a, &l->program, v)
    if (n != but && !pb__layout_is_apart(l, n) && !pb__layout_walks_blocks(l, n, a)) return false;
  return true;
}
