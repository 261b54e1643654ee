// Buffers that stand for what a tile touches of a tensor: its box, or an index for each dim that walks it.
#include "core/s3/compose.h"
#include "core/s3/tree/tiling.h"

#include <string.h>

// ---- homes with an index a dim ----

pb_access pb__tiling_indexed(const pb_access* access, const int* dims, int count, int last, const int64_t* extents) {
  int places = last > 1 ? count - last + 1 : count > 1 ? count : 1;
  pb_access buffer = {.type = access->type, .buffer = -1, .rank = places > PB_NEST_RANK ? PB_NEST_RANK : places};
  for (int r = 0; r < buffer.rank; ++r) buffer.shape[r] = 1;
  for (int n = count - 1; n >= 0; --n) {
    int back = n < places ? places - 1 - n : 0, r = back < buffer.rank ? buffer.rank - 1 - back : 0;
    buffer.index[r].coef[dims[n]] = buffer.shape[r];
    buffer.shape[r] *= extents[dims[n]];
  }
  return buffer;
}

pb_access pb__tiling_by_dims(const pb_tiling* t, const pb_nest* main, const pb_access* access, const int64_t* extents) {
  const int64_t* walked = t->numbered ? main->extent : extents;
  int dims[PB_NEST_DIMS], count = 0, others = 0;
  for (int lanes = 0; lanes < 2; ++lanes) {
    if (lanes) others = count;
    for (int d = 0; d < main->dim_count; ++d)
      if (walked[d] > 1 && t->group->lane[d] == lanes && pb_access_uses(access, d)) dims[count++] = d;
  }
  return pb__tiling_indexed(access, dims, count, count - others, extents);
}

// The load of such a buffer with what the tile touches of `access`.
static void load_by_dims(const pb_tiling* t, const pb_nest* main, const pb_access* access, const pb_tile* tile,
                         const pb_access* buffer, pb_nest* load) {
  pb_access *from = &load->access[0], *to = &load->access[1];
  int column[PB_NEST_DIMS], dims = 0;
  pb_nest_begin(load, main->name, "stage", 2);
  load->outer_count = pb__tiling_levels(t);
  memset(column, 0xff, sizeof column);
  for (int d = 0; d < main->dim_count; ++d) load->extent[d] = 1;
  for (int i = 0; i < buffer->rank; ++i)
    for (int d = 0; d < main->dim_count; ++d) {
      if (!buffer->index[i].coef[d]) continue;
      column[d] = t->numbered ? d : dims++;
      load->extent[column[d]] = tile->extent[d];
    }
  *from = *access;
  *to = *buffer;
  for (int r = 0; r < from->rank; ++r) pb__tile_begin(tile, main->dim_count, 1, &from->index[r]);
  pb_access_renumber(from, column, main->dim_count);
  pb_access_renumber(to, column, main->dim_count);
  load->dim_count = t->numbered ? main->dim_count : dims;
  pb_nest_load(load, 0);
}

// ---- homes of boxes ----

// Where each lane is for itself, one command reads several lines of a window at once: so lines lie in different banks.
static void spread_lines(const pb_tiling* t, const pb_nest* main, int a, const pb_tile* tile, int memory,
                         pb_access* box) {
  for (int d = 0; d < main->dim_count; ++d)
    for (int r = 0; r < box->rank && t->group->roles.role[d] == PB_ROLE_K && tile->extent[d] > 1; ++r)
      if (main->access[a].index[r].coef[d]) pb__tiling_spread(t->chip, memory, box, r + 1);
}

// A matrix instruction reads the rows of its input one after the other. Where they lie a multiple of the banks apart
// they are all in one bank, and whoever else reads the memory waits for the whole command (a product of 64 rows of 768
// codes took 24% longer on the RTL): so one row of the memory is left free behind each. Other reductions take whole
// rows of lanes, from the beginning of one on.
static void pad_rows(const pb_tiling* t, const pb_nest* main, int a, const pb_tile* tile, int memory, pb_access* box) {
  int walked = -1, rank = -1;
  if (a != t->group->x) return;
  if (!t->group->contraction) { // rows that end inside a row of lanes
    int64_t* last = &box->shape[box->rank - 1];
    if (t->group->reduces && box->rank > 1) *last = (*last + t->group->lanes - 1) / t->group->lanes * t->group->lanes;
    return;
  }
  if (pb_sums_by_lanes(t->group->contraction, &t->group->insn_roles)) {
    spread_lines(t, main, a, tile, memory, box);
    return;
  }
  for (int d = 0; d < main->dim_count; ++d)
    if (t->group->roles.role[d] == PB_ROLE_M && tile->extent[d] > 1) walked = d;
  for (int r = 0; walked >= 0 && r < box->rank; ++r)
    if (main->access[a].index[r].coef[walked]) rank = r;
  if (rank >= 0) pb__tiling_spread(t->chip, memory, box, rank + 1);
}

void pb__tiling_spread(const pb_chip* chip, int memory, pb_access* box, int index) {
  const pb_memory* m = &chip->memories[memory];
  int64_t size = pb_type_bits(box->type) / 8, pitch = size;
  if (m->banks < 2 || index < 1 || index >= box->rank) return;
  for (int r = index; r < box->rank; ++r) pitch *= box->shape[r];
  if (pitch % (m->row_bytes * 2) == 0) box->shape[index] += index + 1 == box->rank ? m->row_bytes / size : 1;
}

// Whether the nest is a load that brings the same part of the same tensor.
static bool brings_the_same(const pb_nest* nest, const pb_nest* load) {
  const pb_access *from = &nest->access[0], *other = &load->access[0];
  bool same = !strcmp(nest->part, load->part) && nest->access_count == 2 && nest->expr_count == 1 && from->memref.ptr &&
              pb_value_same(from->memref, other->memref) && from->boxed == other->boxed &&
              nest->dim_count == load->dim_count;
  for (int d = 0; d < load->dim_count && same; ++d) same = nest->extent[d] == load->extent[d];
  return same && pb_same_indices(from, other);
}

// The buffer at this level, of the same form, that has been filled with what `load` brings, for another stage or for
// the same one in another iteration; -1: there is none.
static int filled_before(const pb_tiling* t, const pb_access* local, const pb_home_at* at, const pb_nest* load) {
  for (const pb_tree* node = t->body[at->level]->first; node; node = node->next) {
    if (node->kind != PB_TREE_NEST || !brings_the_same(node->nest, load)) continue;
    int b = node->nest->access[1].buffer;
    const pb_buffer* buffer = &t->buffers[b];
    bool same = buffer->level == at->level && buffer->memory == at->memory && buffer->depth == at->depth &&
                buffer->type == local->type && buffer->rank == local->rank;
    for (int r = 1; r < local->rank && same; ++r) same = buffer->shape[r] == local->shape[r];
    if (same) return b;
  }
  return -1;
}

void pb__tiling_buffer(pb_tiling* t, pb_access* access, const int64_t* extents, int level, int memory, int depth,
                       const char* name, pb_nest* load) {
  pb_access origin, box;
  pb__tiling_box(t, access, extents, level, &box, &origin);
  *access = box;
  pb__tiling_own(t, access, level, memory, depth, name);
  pb__tiling_copy_box(t, &box, &origin, load);
  pb__tiling_lie_in(t, &load->access[1], access->buffer);
}

// The box of what the tile touches of access `a`, as that walks it, with what its rows need behind them.
static pb_access box_of(pb_tiling* t, const pb_nest* main, int a, const pb_tile* tile, const pb_home_at* at,
                        pb_access* held, pb_nest* load) {
  pb_nest one, point;
  pb_access origin, local;
  pb_nest_begin(&one, main->name, "", 1);
  one.access[0] = main->access[a];
  pb__tiling_expand(t, main, &one, tile, &point);
  pb__tiling_box(t, &point.access[0], point.extent, at->level, held, &origin);
  local = *held;
  pad_rows(t, main, a, tile, at->memory, &local);
  pb__tiling_copy_box(t, held, &origin, load);
  memcpy(local.index, one.access[0].index, sizeof local.index);
  for (int r = 0; r < local.rank; ++r) pb__index_add(&local.index[r], -1, &origin.index[r]);
  return local;
}

bool pb__tiling_home(pb_tiling* t, pb_nest* main, int a, const pb_tile* tile, const pb_home_at* at, pb_nest* load,
                     pb_access* box) {
  pb_access held, local, *access = &main->access[a];
  int there = at->buffer ? *at->buffer : -1;
  if (at->form || t->numbered) { // a number has no box
    local = at->form ? *at->form : pb__tiling_by_dims(t, main, access, tile->extent);
    load_by_dims(t, main, access, tile, &local, load);
    for (int r = 0; r < local.rank; ++r) pb__tile_begin(tile, main->dim_count, -1, &local.index[r]);
  } else {
    local = box_of(t, main, a, tile, at, &held, load);
    if (at->shares) there = filled_before(t, &local, at, load);
    if (box) *box = held;
  }
  if (there < 0)
    pb__tiling_own(t, &local, at->level, at->memory, at->depth, at->name);
  else
    pb__tiling_lie_in(t, &local, there);
  if (t->failure) return true;
  pb__tiling_lie_in(t, &load->access[1], local.buffer);
  *access = local;
  if (at->buffer) *at->buffer = local.buffer;
  return there < 0;
}
