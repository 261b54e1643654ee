// From a plan to the tiled kernel of several stages: loops over tiles of what the stages share, and in each turn the
// stages one after the other on buffers.
#include "core/s3/kernel/turn.h"
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

int64_t pb_tiling_stage_turns(const pb_stages* s, const pb_plan* plan) {
  int64_t left[PB_MAX_SHARED], turns = 1;
  memcpy(left, s->extent, sizeof left);
  for (int b = 0; b < plan->band_count; ++b) {
    const pb_band* band = &plan->bands[b];
    turns *= (left[band->dim] + band->step - 1) / band->step;
    left[band->dim] = band->step;
  }
  return turns;
}

typedef struct staged {
  const pb_stages* stages;
  const pb_stage_planner* planner;
  int64_t turns; // of the shared loops
} staged;

// Buffers of what the stages of a turn make for each other, by element number; *of: by the numbers that they go by.
static bool own_buffers(pb_tiling* t, const pb_stages* s, const pb_program* program, const pb_turn* turn, int level,
                        int** of) {
  int *stage, *home, numbers = 0;
  (void)pb_stages_split(program, t->arena, &stage);
  pb_stages_homes(program, stage, pb_vector_facts_of(t->chip).lanes, t->arena, &home);
  for (int v = 0; v < program->value_count; ++v)
    if (turn->values[v].argument >= numbers) numbers = turn->values[v].argument + 1;
  *of = PB_NEW_ARRAY(t->arena, int, (size_t)numbers + 1);
  for (int n = 0; n < numbers; ++n) (*of)[n] = -1;
  for (int v = 0; v < program->value_count; ++v) {
    if (!is_between(s, v) || home[v] != v) continue;
    pb_access shape = pb_value_shape(&turn->values[v]);
    pb_access own = {.type = shape.type, .rank = 1, .shape = {pb_access_elements(&shape)}};
    pb__tiling_own(t, &own, level, t->chip->system_memory, 1, "between");
    if (t->failure) return false;
    (*of)[turn->values[v].argument] = own.buffer;
  }
  for (int v = 0; v < program->value_count; ++v)
    if (is_between(s, v) && home[v] >= 0) (*of)[turn->values[v].argument] = (*of)[turn->values[home[v]].argument];
  return true;
}

static bool build_stage(pb_tiling* t, const pb_group* group, const pb_plan* plan, int level) {
  pb_tiling around = *t;
  t->group = group;
  t->plan = plan;
  t->base = level;
  bool built = pb__tiling_registers(t);
  t->group = around.group;
  t->plan = around.plan;
  t->base = around.base;
  memcpy(t->body, around.body, sizeof t->body);
  return built;
}

// Everything inside `level` loops.
static bool build_level(pb_tiling* t, const pb_tile* tile, int level, const void* around) {
  const staged* s = around;
  if (level == 1) { // threads share all turns
    t->body[level]->parts = s->turns;
    t->body[level]->parts_step = 1;
  }
  if (level < pb__tiling_levels(t)) return pb__tiling_band(t, tile, level, build_level, s);
  pb_program program;
  pb_turn turn;
  int* of;
  pb_tiling_turn(t, s->stages, tile, t->arena, &program);
  if (!pb_turn_read(t->chip, &program, t->arena, &turn))
    return pb__tiling_fail(t, pb_printf(t->arena, "stage %d is of no form that vectors walk: %s", turn.count - 1,
                                        turn.groups[turn.count - 1].plain));
  if (!own_buffers(t, s->stages, &program, &turn, level, &of)) return false;
  t->buffer_of_argument = of;
  bool built = true, full = true;
  for (int b = 0; b < t->plan->band_count; ++b) full &= tile->extent[t->plan->bands[b].dim] == t->plan->bands[b].step;
  for (int k = 0; k < turn.count && built; ++k) {
    pb_plan plan;
    const char* why;
    built = s->planner->plan(s->planner->user, k, &turn.groups[k], full, t->arena, &plan, &why);
    if (!built) return pb__tiling_fail(t, why);
    built = build_stage(t, &turn.groups[k], &plan, level);
  }
  t->buffer_of_argument = NULL;
  return built && !t->failure;
}

bool pb_tiling_stages(const pb_chip* chip, const pb_stages* stages, const pb_plan* plan,
                      const pb_stage_planner* planner, pb_arena* arena, pb_tiling* t) {
  pb_tile tile;
  staged s = {stages, planner, pb_tiling_stage_turns(stages, plan)};
  pb_tiling_begin_stages(chip, stages, plan, arena, t);
  if (!pb__tiling_open_bands(t, &t->group->main)) return false;
  pb__tile_whole(&t->group->main, &tile);
  return build_level(t, &tile, t->base, &s) && !t->failure;
}
