// Weights of windows where each lane is for itself: rows of lanes, as far apart as the instruction wants them, whatever
// of the window a command takes.
#include "core/s3/kernel/taps.h"
#include "core/s3/tree/tiling_stage.h"

void pb__stage_taps(const pb_tiling* t, const pb_tile* tile, pb_hold* h) {
  const pb_group* g = t->group;
  const pb_memory* memory = &t->chip->memories[g->contraction->operands[g->insn_roles.w].memory];
  pb_taps taps;
  pb_taps_of(t->chip, &g->main, &g->roles, g->contraction, &g->insn_roles, &taps);
  h->buffer = (pb_access){.type = h->buffer.type, .rank = 2, .shape = {1, g->lanes}};
  for (int d = 0; d < g->main.dim_count; ++d) { // dims of a tile's windows that one command walks, then the lanes
    if (!taps.apart[d] || tile->extent[d] < 2) continue;
    h->dims[h->count] = d;
    h->step[h->count++] = taps.apart[d] / g->lanes;
    h->buffer.shape[0] += taps.apart[d] / g->lanes * (tile->extent[d] - 1);
  }
  for (int d = 0; d < g->main.dim_count; ++d) {
    if (g->roles.role[d] != PB_ROLE_B || pb_access_stride(&g->main.access[g->roles.y], d) != 1) continue;
    h->dims[h->count] = d;
    h->index[h->count] = 1;
    h->step[h->count++] = 1;
  }
  if (pb_holds_tiles(memory))
    h->buffer.shape[0] = memory->bytes / memory->banks * 8 / pb_type_bits(h->buffer.type) / g->lanes;
}
