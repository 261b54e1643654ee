// Plans of kernels of several stages on memories of their own. Of the loops that the stages share all but the last go
// one by one; of the last as many iterations are taken together as pay. For each such iteration the stages are planned
// one after the other as kernels of one stage are (plan.c), each by what the kernel takes up to and with it: queues run
// on from stage to stage and from iteration to iteration, and the memories are all stages'.
#include "core/s3/plan/plan_stages.h"

#include "core/s3/plan/plan.h"
#include "core/s3/tree/tiling_groups.h"

#include <string.h>

enum { HOPELESS = 2 }; // times the best: steps shorter than one so slow are not looked at

// What has two copies, so that queues work on one while others take the other: everything, all but what lies between
// stages, the results of products alone, nothing.
typedef enum room { ROOMY, INSIDE, PRODUCTS, TIGHT } room;

// An iteration's stages one after the other, and what several read held; if nothing is, or that does not fit, each with
// loads of its own; sums made ahead.
enum { HELD, PLAIN, AHEAD, WAYS };

typedef struct stage_search {
  room room;
  pb_stage_tiles tiles;
  pb_plan loops, *plans;
  pb_arena* arena;
  const char *failure, *bound; // in the arena; of the chip's
} stage_search;

// What the stages so far take with this plan for the last of them.
static bool cost_with(void* user, pb_plan* plan, const char** why) {
  stage_search* s = user;
  pb_arena scratch = {0};
  pb_tiling* t = PB_NEW(&scratch, pb_tiling);
  pb_plan whole = s->loops;
  s->plans[s->tiles.built - 1] = *plan;
  bool legal = pb_stage_tiles_build(&s->tiles, &scratch, NULL, t) && pb_tree_cost(t, &whole);
  plan->cycles = whole.cycles;
  plan->port = whole.port;
  s->bound = whole.bound;
  if (!legal) *why = s->failure = pb_printf(s->arena, "%s", t->failure ? t->failure : "no tiling fits");
  pb_arena_free(&scratch);
  return legal;
}

static void open_search(const pb_chip* chip, const pb_stages* stages, bool skewed, bool holds, pb_arena* arena,
                        stage_search* s) {
  s->arena = arena;
  s->plans = PB_NEW_ARRAY(arena, pb_plan, (size_t)stages->program->nest_count + 1);
  pb_stage_tiles_begin(chip, stages, &s->loops, arena, &s->tiles);
  s->tiles.tiles = s->plans;
  s->tiles.skewed = skewed;
  s->tiles.holds = holds;
}

// The shared loops alone: what their first iteration is. NULL: the chip cannot run it.
static const pb_iteration_groups* full_iteration(stage_search* s) {
  pb_arena scratch = {0};
  s->tiles.built = 0;
  pb_tiling* t = PB_NEW(&scratch, pb_tiling);
  bool built = pb_stage_tiles_build(&s->tiles, &scratch, NULL, t);
  if (!built) s->failure = pb_printf(s->arena, "%s", t->failure ? t->failure : "");
  pb_arena_free(&scratch);
  return built ? pb_stage_tiles_iteration(&s->tiles) : NULL;
}

// Plans all stages of an iteration of s->loops. false: some stage has no plan.
static bool plan_all(stage_search* s, const pb_iteration_groups* iteration) {
  const pb_judge judge = {cost_with, s};
  char why[PB_PLAN_WHY];
  for (int k = 0; k < iteration->count; ++k) {
    pb_plan best;
    s->tiles.built = k + 1;
    int copies = s->room == TIGHT || (s->room == PRODUCTS && !iteration->groups[k].contraction) ? 1 : 2;
    if (!pb_plan_stage(s->tiles.chip, &iteration->groups[k], s->loops.band_count, copies, &judge, &best, why)) {
      s->failure = pb_printf(s->arena, "%s", why);
      return false;
    }
    s->plans[k] = best;
  }
  const char* unused;
  pb_plan last = s->plans[iteration->count - 1];
  bool legal = cost_with(s, &last, &unused);
  s->loops.cycles = last.cycles;
  s->loops.port = last.port;
  return legal;
}

static void keep(stage_search* s, const pb_iteration_groups* iteration, bool* found, pb_stage_plan* best) {
  if (*found && pb_plan_price(&s->loops) >= pb_plan_price(&best->loops)) return;
  *found = true;
  best->loops = s->loops;
  best->loops.bound = s->bound;
  best->skewed = s->tiles.skewed;
  best->holds = s->tiles.holds;
  for (int k = 0; k < iteration->count; ++k) s->plans[k].bound = s->bound;
  best->count = iteration->count;
  memcpy(best->stages, s->plans, sizeof *s->plans * (size_t)iteration->count);
}

// One choice of the loops, tried with less and less room until the stages fit.
typedef struct trial {
  const pb_chip* chip;
  const pb_stages* stages;
  int64_t step; // of the last shared loop
  bool skewed, holds;
  room room;
} trial;

// Whether more room would change nothing: the stages fit, or cannot be tiled so. *cycles: the least so far.
static bool consider(const trial* tried, bool* found, int64_t* cycles, pb_stage_plan* best) {
  pb_arena scratch = {0};
  stage_search* s = PB_NEW(&scratch, stage_search);
  const pb_stages* stages = tried->stages;
  s->room = tried->room;
  s->loops = (pb_plan){.result_depth = tried->room == ROOMY ? 2 : 1, .x_depth = 1, .w_depth = 1, .bound = ""};
  for (int k = 0; k < stages->shared; ++k) {
    int64_t by = k + 1 < stages->shared ? 1 : tried->step;
    if (by < stages->extent[k]) s->loops.bands[s->loops.band_count++] = (pb_band){k, by};
  }
  open_search(tried->chip, stages, tried->skewed, tried->holds, &scratch, s);
  const pb_iteration_groups* iteration = full_iteration(s);
  bool possible = iteration != NULL, planned = possible && plan_all(s, iteration);
  if (planned && s->loops.cycles < *cycles) *cycles = s->loops.cycles;
  if (planned) keep(s, iteration, found, best);
  pb_arena_free(&scratch);
  return planned || !possible;
}

bool pb_stage_tiles_make(const pb_chip* chip, const pb_stages* stages, pb_arena* arena, pb_stage_plan* plan) {
  bool found = false;
  int64_t last = stages->extent[stages->shared - 1];
  *plan = (pb_stage_plan){.stages = PB_NEW_ARRAY(arena, pb_plan, (size_t)stages->program->nest_count + 1)};
  for (int64_t step = last; step >= 1; step = pb_plan_next_step(last, step, false)) {
    int64_t cycles = INT64_MAX;
    for (int way = 0; way < WAYS; ++way) {
      if (way == PLAIN && cycles < INT64_MAX) continue;
      for (room room = ROOMY; room <= TIGHT; ++room)
        if (consider(&(trial){chip, stages, step, way == AHEAD, way == HELD, room}, &found, &cycles, plan)) break;
    }
    if (found && cycles / HOPELESS > plan->loops.cycles) break; // shorter iterations only wait more
  }
  return found;
}

bool pb_stage_tiles_cost(const pb_chip* chip, const pb_stages* stages, pb_arena* arena, pb_stage_plan* plan,
                         const char** why) {
  stage_search* s = PB_NEW(arena, stage_search);
  s->loops = plan->loops;
  open_search(chip, stages, plan->skewed, plan->holds, arena, s);
  const pb_iteration_groups* iteration = full_iteration(s);
  *why = s->failure;
  if (!iteration) return false;
  *why = "it has another number of stages";
  if (iteration->count != plan->count) return false;
  memcpy(s->plans, plan->stages, sizeof *s->plans * (size_t)plan->count);
  s->tiles.built = plan->count;
  pb_tiling* t = PB_NEW(arena, pb_tiling);
  if (pb_stage_tiles_build(&s->tiles, arena, NULL, t) && pb_tree_cost(t, &plan->loops)) return true;
  *why = t->failure;
  return false;
}

bool pb_stage_tiles_prove(const pb_chip* chip, const pb_stages* stages, const pb_stage_plan* plan, pb_arena* arena,
                          struct pb_proofs* proofs, pb_tiling* tiling) {
  pb_stage_tiles* tiles = PB_NEW(arena, pb_stage_tiles);
  pb_stage_tiles_begin(chip, stages, &plan->loops, arena, tiles);
  tiles->skewed = plan->skewed;
  tiles->holds = plan->holds;
  tiles->tiles = plan->stages;
  tiles->built = plan->count;
  return pb_stage_tiles_build(tiles, arena, proofs, tiling);
}

void pb_stage_tiles_print(pb_text* text, const pb_chip* chip, const pb_stages* stages, const pb_stage_plan* plan) {
  pb_arena scratch = {0};
  stage_search* s = PB_NEW(&scratch, stage_search);
  s->loops = plan->loops;
  open_search(chip, stages, plan->skewed, plan->holds, &scratch, s);
  const pb_iteration_groups* iteration = full_iteration(s);
  for (int k = 0; iteration && k < plan->count; ++k) {
    if (k) pb_text_add(text, ", ");
    pb_plan_print(text, &plan->stages[k], &iteration->groups[k]);
  }
  pb_arena_free(&scratch);
}
