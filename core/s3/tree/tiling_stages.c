// From a plan to the tiled kernel of several stages: loops over tiles of what the stages share, and in each turn the
// stages one after the other on buffers.
#include "core/s3/kernel/vector.h"
#include "core/s3/tree/tiling.h"

#include <string.h>

static bool is_between(const pb_stages* s, int value) { return s->program->values[value].kind == PB_VALUE_LOCAL; }

void pb_tiling_begin_stages(const pb_chip* chip, const pb_stages* s, const pb_plan* plan, pb_arena* arena,
                            pb_tiling* t) {
  pb_group* group = PB_NEW(arena, pb_group);
  group->program = s->program;
  group->main.name = s->program->nests[s->program->nest_count - 1].name;
  group->main.dim_count = s->shared;
  memcpy(group->main.extent, s->extent, sizeof s->extent);
  pb_tiling_begin(chip, group, plan, arena, t);
}

// The tile of a nest's own dims.
static void tile_of(const pb_stages* s, int n, const pb_tile* shared, pb_tile* own) {
  pb__tile_whole(&s->program->nests[n], own);
  for (int k = 0; k < s->shared; ++k) {
    own->extent[s->dim[n][k]] = shared->extent[k];
    own->origin[s->dim[n][k]] = shared->origin[k];
  }
}

// A value between begins anew in each turn.
static void stay_inside(const pb_stages* s, const pb_program* turn, int value, pb_access* access) {
  memcpy(access->shape, turn->values[value].shape, sizeof access->shape);
  for (int r = 0; r < access->rank; ++r) {
    if (s->loop[value][r] < 0) continue;
    memset(&access->index[r].coef[PB_NEST_DIMS], 0, sizeof(int64_t) * PB_NEST_OUTERS);
    access->index[r].cst = 0;
  }
}

void pb_tiling_turn(const pb_tiling* t, const pb_stages* s, const pb_tile* tile, pb_arena* arena, pb_program* turn) {
  const pb_program* p = s->program;
  *turn = *p;
  turn->values = PB_NEW_ARRAY(arena, pb_value, (size_t)p->value_count + 1);
  turn->nests = pb_alloc_raw(arena, (size_t)p->nest_count * sizeof *turn->nests);
  memcpy(turn->values, p->values, sizeof *p->values * (size_t)p->value_count);
  for (int v = 0; v < p->value_count; ++v)
    for (int r = 0; is_between(s, v) && r < p->values[v].rank; ++r)
      if (s->loop[v][r] >= 0) turn->values[v].shape[r] = tile->extent[s->loop[v][r]];
  for (int n = 0; n < p->nest_count; ++n) {
    pb_tile own;
    tile_of(s, n, tile, &own);
    pb__tiling_expand(t, &p->nests[n], &own, &turn->nests[n]);
    for (int a = 0; a < p->nests[n].access_count; ++a)
      if (is_between(s, p->value_of[n][a])) stay_inside(s, turn, p->value_of[n][a], &turn->nests[n].access[a]);
  }
}

// Everything inside `level` loops.
static bool build_level(pb_tiling* t, const pb_tile* tile, int level, const void* stages) {
  const pb_stages* s = stages;
  if (level < pb__tiling_levels(t)) return pb__tiling_band(t, tile, level, build_level, s);
  pb_program turn;
  pb_tiling_turn(t, s, tile, t->arena, &turn);
  int *of, *home;
  (void)pb_stages_split(&turn, t->arena, &of);
  pb_stages_homes(&turn, of, pb_vector_facts_of(t->chip).lanes, t->arena, &home);
  int* buffer = PB_NEW_ARRAY(t->arena, int, (size_t)turn.value_count + 1);
  for (int v = 0; v < turn.value_count; ++v) {
    if (!is_between(s, v) || (home[v] >= 0 && home[v] != v)) continue;
    pb_access own = pb_value_shape(&turn.values[v]);
    pb__tiling_own(t, &own, level, t->chip->system_memory, 1, "between");
    if (t->failure) return false;
    buffer[v] = own.buffer;
  }
  for (int v = 0; v < turn.value_count; ++v)
    if (is_between(s, v) && home[v] >= 0) buffer[v] = buffer[home[v]];
  for (int n = 0; n < turn.nest_count; ++n) {
    for (int a = 0; a < turn.nests[n].access_count; ++a)
      if (is_between(s, turn.value_of[n][a])) {
        pb_access* access = &turn.nests[n].access[a];
        access->memref.ptr = NULL;
        access->buffer = buffer[turn.value_of[n][a]];
        memcpy(access->shape, t->buffers[access->buffer].shape, sizeof access->shape);
      }
    pb__tiling_add(t, level, &turn.nests[n]);
  }
  return true;
}

bool pb_tiling_stages(const pb_chip* chip, const pb_stages* s, const pb_plan* plan, pb_arena* arena, pb_tiling* t) {
  pb_tile tile;
  pb_tiling_begin_stages(chip, s, plan, arena, t);
  if (!pb__tiling_open_bands(t, &t->group->main)) return false;
  pb__tile_whole(&t->group->main, &tile);
  return build_level(t, &tile, t->base, s) && !t->failure;
}
