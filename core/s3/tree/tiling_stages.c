// From a plan to the tiled kernel of several stages: loops over tiles of what the stages share, and in each iteration
// the stages one after the other on buffers.
#include "core/s3/kernel/iteration.h"
#include "core/s3/kernel/vector.h"
#include "core/s3/tree/tiling_staging.h"

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

void pb__stages_tile(const pb_stages* s, int n, const pb_tile* shared, pb_tile* own) {
  pb__tile_whole(&s->program->nests[n], own);
  for (int k = 0; k < s->shared; ++k) {
    own->extent[s->dim[n][k]] = shared->extent[k];
    own->origin[s->dim[n][k]] = shared->origin[k];
  }
}

// A value between begins anew in each iteration.
static void stay_inside(const pb_stages* s, const pb_program* iteration, int value, pb_access* access) {
  memcpy(access->shape, iteration->values[value].shape, sizeof access->shape);
  for (int r = 0; r < access->rank; ++r) {
    if (s->loop[value][r] < 0) continue;
    memset(&access->index[r].coef[PB_NEST_DIMS], 0, sizeof(int64_t) * PB_NEST_OUTERS);
    access->index[r].cst = 0;
  }
}

void pb_tiling_iteration(const pb_tiling* t, const pb_stages* s, const pb_tile* tile, pb_arena* arena,
                         pb_program* iteration) {
  const pb_program* p = s->program;
  *iteration = *p;
  iteration->values = PB_NEW_ARRAY(arena, pb_value, (size_t)p->value_count + 1);
  iteration->nests = pb_alloc_raw(arena, (size_t)p->nest_count * sizeof *iteration->nests);
  memcpy(iteration->values, p->values, sizeof *p->values * (size_t)p->value_count);
  for (int v = 0; v < p->value_count; ++v)
    for (int r = 0; is_between(s, v) && r < p->values[v].rank; ++r)
      if (s->loop[v][r] >= 0) iteration->values[v].shape[r] = tile->extent[s->loop[v][r]];
  for (int n = 0; n < p->nest_count; ++n) {
    pb_tile own;
    pb__stages_tile(s, n, tile, &own);
    pb__tiling_expand(t, &p->nests[n], &own, &iteration->nests[n]);
    for (int a = 0; a < p->nests[n].access_count; ++a)
      if (is_between(s, p->value_of[n][a]))
        stay_inside(s, iteration, p->value_of[n][a], &iteration->nests[n].access[a]);
  }
}

int64_t pb_tiling_stage_iterations(const pb_stages* s, const pb_plan* plan) {
  int64_t left[PB_MAX_SHARED], iterations = 1;
  memcpy(left, s->extent, sizeof left);
  for (int b = 0; b < plan->band_count; ++b) {
    const pb_band* band = &plan->bands[b];
    iterations *= (left[band->dim] + band->step - 1) / band->step;
    left[band->dim] = band->step;
  }
  return iterations;
}

enum {
  STAGE_CYCLES = 40, // to begin one
  FEW_PARTS = 8      // of work in front of which a thread brings what all of it reads
};

// What is built of the kernel: a full iteration of the shared loops, what full ones leave, or a copy of what they take.
typedef enum turn_kind { FULL_TURN, REST_TURN, COPY_TURN } turn_kind;

typedef struct staged {
  const pb_stages* stages;
  const pb_stage_planner* planner;
  int64_t parts;      // in which threads share the iterations of the first bands
  pb_staging staging; // so far, from the outermost loop inwards
} staged;

// Buffers of what the stages of an iteration make for each other, by element number; of[]: by the numbers that they go
// by, those of `staged` values at hand.
static bool own_buffers(pb_tiling* t, const pb_program* program, const pb_iteration* iteration, int level, int memory,
                        const int* staged, int** of) {
  int *stage, *home, numbers = 0;
  (void)pb_stages_split(program, t->arena, &stage);
  pb_stages_homes(program, stage, pb_vector_facts_of(t->chip).lanes, t->arena, &home);
  for (int v = 0; v < program->value_count; ++v)
    if (iteration->values[v].argument >= numbers) numbers = iteration->values[v].argument + 1;
  *of = PB_NEW_ARRAY(t->arena, int, (size_t)numbers + 1);
  for (int n = 0; n < numbers; ++n) (*of)[n] = -1;
  for (int v = 0; v < program->value_count; ++v) {
    if (staged[v] >= 0) (*of)[iteration->values[v].argument] = staged[v];
    if (program->values[v].kind != PB_VALUE_LOCAL || home[v] != v) continue;
    pb_access shape = pb_value_shape(&iteration->values[v]);
    pb_access own = {.type = shape.type, .rank = 1, .shape = {pb_access_elements(&shape)}};
    pb__tiling_own(t, &own, level, memory >= 0 ? memory : t->chip->system_memory, 1, "between");
    if (t->failure) return false;
    (*of)[iteration->values[v].argument] = own.buffer;
  }
  for (int v = 0; v < program->value_count; ++v)
    if (program->values[v].kind == PB_VALUE_LOCAL && home[v] >= 0)
      (*of)[iteration->values[v].argument] = (*of)[iteration->values[home[v]].argument];
  return true;
}

// How often it is done. An iteration of what is left counts as a full one: its loops are short, and vectors are as
// dear.
static int64_t turns_of(const pb_tiling* t, const staged* s, turn_kind kind, int level) {
  int64_t iterations = level == t->base ? s->parts : 1; // each part brings what all of them read
  if (kind != COPY_TURN) return kind == FULL_TURN ? pb_tiling_stage_iterations(s->stages, t->plan) : 0;
  for (int l = 1; l <= level; ++l) iterations *= t->body[l]->extent;
  return iterations;
}

// `alone` is the stage without the loops around the iteration: its plan numbers loops from its own on.
static bool build_stage(pb_tiling* t, const staged* s, turn_kind kind, int k, const pb_group* group,
                        const pb_group* alone, int level) {
  pb_tiling around = *t;
  pb_plan plan;
  const char* why;
  if (!s->planner->plan(s->planner->user, k, alone, kind == FULL_TURN, t->arena, &plan, &why))
    return pb__tiling_fail(t, why);
  t->cycles += turns_of(t, s, kind, level) * (plan.cycles + STAGE_CYCLES);
  t->group = group;
  t->plan = &plan;
  t->base = level;
  bool built = pb__tiling_build_group(t);
  t->group = around.group;
  t->plan = around.plan;
  t->base = around.base;
  memcpy(t->body, around.body, sizeof t->body);
  return built;
}

// The nests of an iteration as its first one walks them.
static pb_program without_loops(const pb_tiling* t, const pb_program* program) {
  pb_program first = *program;
  first.nests = pb_alloc_raw(t->arena, (size_t)program->nest_count * sizeof *first.nests);
  for (int n = 0; n < program->nest_count; ++n) {
    pb_nest* nest = &first.nests[n];
    pb_nest_copy(nest, &program->nests[n]);
    nest->outer_count = 0;
    for (int a = 0; a < nest->access_count; ++a)
      for (int r = 0; r < nest->access[a].rank; ++r)
        memset(&nest->access[a].index[r].coef[PB_NEST_DIMS], 0, sizeof(int64_t) * PB_NEST_OUTERS);
  }
  return first;
}

static bool build_iteration(pb_tiling* t, const staged* s, turn_kind kind, const pb_program* program,
                            const int* staged_of, int level) {
  pb_program first = without_loops(t, program);
  pb_iteration iteration, alone;
  int* of;
  bool built = true;
  if (!pb_iteration_read(t->chip, program, t->arena, &iteration) ||
      !pb_iteration_read(t->chip, &first, t->arena, &alone))
    return pb__tiling_fail(t, pb_printf(t->arena, "stage %d is of no form that vectors walk: %s", iteration.count - 1,
                                        iteration.groups[iteration.count - 1].plain));
  if (!own_buffers(t, program, &iteration, level, s->staging.memory, staged_of, &of)) return false;
  t->buffer_of_argument = of;
  if (kind == FULL_TURN) t->stages = iteration.count;
  for (int k = 0; k < iteration.count && built; ++k)
    built = build_stage(t, s, kind, k, &iteration.groups[k], &alone.groups[k], level);
  t->buffer_of_argument = NULL;
  return built && !t->failure;
}

// A copy is an iteration of its own: of a tensor, number 0, and a buffer.
static bool build_copy(pb_tiling* t, void* user, const pb_nest* copy, int level) {
  const staged* s = user;
  const pb_program* all = s->stages->program;
  pb_program program = {.func = all->func, .value_count = 2, .value_capacity = 2, .nest_count = 1};
  bool load = copy->access[1].memref.ptr == NULL;
  const pb_access* own = &copy->access[load];
  int staged_of[2] = {-1, own->buffer};
  program.values = PB_NEW_ARRAY(t->arena, pb_value, 3);
  program.nests = pb_nest_kept(t->arena, copy);
  program.value_of = pb_alloc_array(t->arena, 2, sizeof *program.value_of);
  for (int v = 0; v < all->value_count; ++v)
    if (pb_value_same(all->values[v].ir, copy->access[!load].memref)) program.values[0] = all->values[v];
  program.values[1] = (pb_value){.kind = load ? PB_VALUE_OUTPUT : PB_VALUE_INPUT, .argument = -1, .const_id = -1};
  program.values[1].type = own->type;
  program.values[1].rank = own->rank;
  memcpy(program.values[1].shape, own->shape, sizeof own->shape);
  program.value_of[0][load] = 1;
  program.nests[0].part = "copy";
  program.nests[0].outer_count = level;
  if (!program.nests[0].dim_count) program.nests[0].extent[program.nests[0].dim_count++] = 1;
  pb_program_index(&program, t->arena);
  return build_iteration(t, s, COPY_TURN, &program, staged_of, level);
}

// Everything inside `level` loops.
static bool build_level(pb_tiling* t, const pb_tile* tile, int level, const void* around) {
  staged s = *(const staged*)around;
  if (level == t->base + 1) {
    t->body[level]->parts = s.parts;
    t->body[level]->parts_step = 1;
  }
  if (!pb__staging_bring(t, &s.staging, tile, level, build_copy, &s)) return false;
  if (level < pb__tiling_levels(t)) return pb__tiling_band(t, tile, level, build_level, &s);
  pb_program program;
  int* staged_of;
  bool full = true;
  for (int b = 0; b < t->plan->band_count; ++b) full &= tile->extent[t->plan->bands[b].dim] == t->plan->bands[b].step;
  pb_tiling_iteration(t, s.stages, tile, t->arena, &program);
  pb__staging_use(t, &s.staging, &program, &staged_of);
  return build_iteration(t, &s, full ? FULL_TURN : REST_TURN, &program, staged_of, level) &&
         pb__staging_return(t, &s.staging, level, build_copy, &s);
}

// Threads share all iterations of the bands that stand around nothing but each other.
static int64_t parts_of(const pb_tiling* t, const staged* s, const pb_stages* stages) {
  pb_plan outer = *t->plan;
  outer.band_count = pb__staging_outer_bands(t, &s->staging);
  int64_t iterations = pb_tiling_stage_iterations(stages, &outer);
  bool brings = pb__staging_brings_first(t, &s->staging);
  return brings && iterations > FEW_PARTS ? FEW_PARTS : iterations;
}

bool pb_tiling_stages(const pb_chip* chip, const pb_stages* stages, const pb_plan* plan,
                      const pb_stage_planner* planner, pb_arena* arena, struct pb_proofs* proofs, pb_tiling* t) {
  pb_tile tile;
  pb_tiling_begin_stages(chip, stages, plan, arena, t);
  t->proofs = proofs;
  staged s = {.stages = stages, .planner = planner, .staging = pb__staging_begin(chip, stages, arena)};
  if (!pb__tiling_open_bands(t, &t->group->main)) return false;
  s.parts = t->stage_parts = parts_of(t, &s, stages);
  for (int f = 0; f < stages->fill_count; ++f) {
    pb_nest fill;
    pb_nest_copy(&fill, stages->fills[f]);
    fill.part = "fill";
    pb__tiling_add(t, t->base, &fill);
  }
  pb__tile_whole(&t->group->main, &tile);
  return build_level(t, &tile, t->base, &s) && !t->failure;
}
