// Weights of windows where each lane is for itself: rows of lanes, as far apart as the instruction wants them, whatever
// of the window a command takes.
#include "core/s3/kernel/taps.h"
#include "core/s3/tree/tiling.h"

// Dims of a tile's windows that one command walks, then the lanes.
static int walked_taps(const pb_tiling* t, const pb_tile* tile, const pb_taps* taps, int* dims) {
  const pb_group* g = t->group;
  const pb_access* y = &g->main.access[g->roles.y];
  int count = 0;
  for (int d = 0; d < g->main.dim_count; ++d)
    if (taps->apart[d] && tile->extent[d] > 1) dims[count++] = d;
  for (int d = 0; d < g->main.dim_count; ++d)
    if (g->roles.role[d] == PB_ROLE_B && pb_access_stride(y, d) == 1) dims[count++] = d;
  return count;
}

void pb__tiling_hold_taps(pb_tiling* t, pb_nest* main, const pb_tile* tile, int depth) {
  const pb_group* g = t->group;
  int held = g->contraction->operands[g->insn_roles.w].memory, level = pb__tiling_levels(t), dims[PB_NEST_DIMS];
  const pb_memory* memory = &t->chip->memories[held];
  pb_access box, *access = &main->access[g->roles.w], local = {.type = access->type, .rank = 2, .shape = {1, g->lanes}};
  pb_nest point, load;
  pb_taps taps;
  pb_taps_of(t->chip, &g->main, &g->roles, g->contraction, &g->insn_roles, &taps);
  int count = walked_taps(t, tile, &taps, dims);
  pb_nest_begin(&load, main->name, "stage", 2);
  load.dim_count = count;
  pb__tiling_expand(t, main, tile, &point);
  pb__tiling_box(t, &point.access[g->roles.w], point.extent, level, &box, &load.access[0]);
  for (int k = 0; k + 1 < count; ++k) local.shape[0] += taps.apart[dims[k]] / g->lanes * (tile->extent[dims[k]] - 1);
  if (pb_holds_tiles(memory)) local.shape[0] = memory->bytes / memory->banks * 8 / pb_type_bits(local.type) / g->lanes;
  pb__tiling_own(t, &local, level, held, depth, "held");
  if (t->failure) return;
  load.access[1] = local;
  for (int k = 0; k < count; ++k) {
    int d = dims[k], i = k + 1 == count;
    load.extent[k] = tile->extent[d];
    for (int r = 0; r < access->rank; ++r) load.access[0].index[r].coef[k] = access->index[r].coef[d];
    load.access[1].index[i].coef[k] = local.index[i].coef[d] = i ? 1 : taps.apart[d] / g->lanes;
    for (int c = PB_NEST_DIMS; c < PB_NEST_COLS; ++c)
      local.index[i].coef[c] -= local.index[i].coef[d] * tile->origin[d].coef[c];
    local.index[i].cst -= local.index[i].coef[d] * tile->origin[d].cst;
  }
  pb_nest_load(&load, 0);
  *access = local;
  pb__tiling_add(t, level, &load);
}
