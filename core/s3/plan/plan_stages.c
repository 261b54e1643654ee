// Tiles of the loops that several stages share. All loops but the last go one by one; of the last as many turns are
// taken together as pay: more rows give products more to do with each load, fewer leave more of the values between in a
// near cache. What a turn takes is the sum of what its stages take (vector_plan.c), whose operands are as large as the
// turn makes them.
#include "core/s3/plan/plan_stages.h"

#include "core/s3/kernels.h"
#include "core/s3/plan/plan.h"

#include <mlir-c/BuiltinAttributes.h>
#include <string.h>

enum {
  STAGE_CYCLES = 40, // to begin one
  // Steps that leave a rest stand beside another one, so threads share the loops around alone: these must be enough.
  SHARES = 8,
  UNEVEN_STEP = 8,
  MOST_UNEVEN = 128,
  MOST_BYTES = 1 << 18, // of a thread's buffers: they lie on its stack
};

// Whether a turn's values are moved to memories of the chip's; else they lie in a thread's own part of its memory.
static bool is_explicit(const pb_chip* chip) { return !pb_chip_has_caches(chip); }

bool pb_stages_of(const pb_chip* chip, const pb_program* program, pb_arena* arena, pb_stages* stages) {
  if (!pb_stages_read(program, arena, stages)) return false;
  if (!is_explicit(chip)) return true;
  pb_stages_keep_rows(stages);
  pb_stages_order_by_reuse(stages);
  return stages->shared > 0;
}

static int64_t turn_bytes(const pb_chip* chip, const pb_program* turn, pb_arena* arena) {
  int64_t bytes = 0;
  int *of, *home;
  (void)pb_stages_split(turn, arena, &of);
  pb_stages_homes(turn, of, pb_vector_facts_of(chip).lanes, arena, &home);
  for (int v = 0; v < turn->value_count; ++v) {
    if (turn->values[v].kind == PB_VALUE_LOCAL && home[v] == v) bytes += pb_value_bytes(&turn->values[v]);
  }
  return bytes;
}

static int64_t most_bytes(const pb_chip* chip) {
  int64_t bytes = pb_vector_facts_of(chip).cache[1] / 2;
  return bytes < MOST_BYTES ? bytes : MOST_BYTES;
}

// One turn of all bands, of the last one a full turn or (`rest`) what they leave. false: there is none.
static bool tile_of(const pb_tiling* t, bool rest, pb_tile* tile) {
  pb__tile_whole(&t->group->main, tile);
  for (int b = 0; b < t->plan->band_count; ++b)
    if (!pb__tile_step(t, tile, b, rest && b + 1 == t->plan->band_count)) return false;
  return !rest || t->plan->band_count;
}

// Reads a full turn, and sees that vectors walk what is left over, too.
static bool make_turn(const pb_chip* chip, const pb_stages* s, pb_arena* arena, const pb_stage_plan* plan,
                      pb_turn* turn, const char** why) {
  pb_tiling* t = PB_NEW(arena, pb_tiling);
  pb_program *program = PB_NEW(arena, pb_program), *left = PB_NEW(arena, pb_program);
  pb_tile tile;
  pb_turn rest;
  pb_tiling_begin_stages(chip, s, &plan->loops, arena, t);
  if (!pb__tiling_open_bands(t, &t->group->main)) {
    *why = t->failure;
    return false;
  }
  (void)tile_of(t, false, &tile);
  pb_tiling_turn(t, s, &tile, arena, program);
  *why = "a turn's values do not stay in a core's caches";
  if (turn_bytes(chip, program, arena) > most_bytes(chip)) return false;
  *why = "a stage is of no form that vectors walk";
  if (!pb_turn_read(chip, program, arena, turn)) return false;
  if (!tile_of(t, true, &tile)) return true;
  pb_tiling_turn(t, s, &tile, arena, left);
  return pb_turn_read(chip, left, arena, &rest);
}

// What is lost on average where so many equal turns are shared by 2, 4 and 8 threads, as a part of 1024.
static int64_t imbalance(int64_t turns) {
  int64_t lost = 0;
  for (int64_t threads = 2; threads <= 8; threads *= 2) {
    int64_t most = (turns + threads - 1) / threads;
    lost += 1024 - 1024 * turns / (most * threads);
  }
  return lost / 3;
}

static void add_up(const pb_stages* s, pb_stage_plan* plan) {
  int64_t turn = 0, turns = pb_tiling_stage_turns(s, &plan->loops);
  for (int k = 0; k < plan->count; ++k) turn += plan->stages[k].cycles + STAGE_CYCLES;
  plan->loops.cycles = turn * turns + turn * turns * imbalance(turns) / 1024;
  plan->loops.bound = "compute";
}

bool pb_stage_plan_cost(const pb_chip* chip, const pb_stages* s, pb_arena* arena, pb_stage_plan* plan,
                        const char** why) {
  pb_turn turn;
  if (is_explicit(chip)) return pb_stage_tiles_cost(chip, s, arena, plan, why);
  if (!make_turn(chip, s, arena, plan, &turn, why)) return false;
  *why = "it has another number of stages";
  if (turn.count != plan->count) return false;
  *why = "its buffers have one copy, and no sums are made ahead";
  if (plan->loops.result_depth != 1 || plan->skewed) return false;
  for (int k = 0; k < plan->count; ++k)
    if (!pb_plan_cost(chip, &turn.groups[k], &plan->stages[k], arena, why)) return false;
  add_up(s, plan);
  return true;
}

static void consider(const pb_chip* chip, const pb_stages* s, int64_t step, pb_stage_plan* best, bool* found) {
  pb_arena scratch = {0};
  pb_stage_plan plan = {.loops.result_depth = 1};
  pb_diag quiet = {.sink = pb_diag_drop};
  pb_turn turn;
  const char* why;
  for (int k = 0; k < s->shared; ++k) {
    int64_t by = k + 1 < s->shared ? 1 : step;
    if (by < s->extent[k]) plan.loops.bands[plan.loops.band_count++] = (pb_band){k, by};
  }
  if (make_turn(chip, s, &scratch, &plan, &turn, &why)) {
    plan.count = turn.count;
    bool planned = true;
    plan.stages = PB_NEW_ARRAY(&scratch, pb_plan, (size_t)turn.count);
    for (int k = 0; k < turn.count && planned; ++k)
      planned = pb_plan_make(chip, &turn.groups[k], &scratch, &quiet, &plan.stages[k]) == PB_OK;
    if (planned) add_up(s, &plan);
    if (planned && (!*found || plan.loops.cycles < best->loops.cycles)) {
      best->loops = plan.loops;
      best->count = plan.count;
      memcpy(best->stages, plan.stages, sizeof *plan.stages * (size_t)plan.count);
    }
    *found |= planned;
  }
  pb_arena_free(&scratch);
}

bool pb_stage_plan_make(const pb_chip* chip, const pb_stages* s, pb_arena* arena, pb_stage_plan* plan) {
  bool found = false;
  int64_t last = s->extent[s->shared - 1], outer = 1;
  if (is_explicit(chip)) return pb_stage_tiles_make(chip, s, arena, plan);
  *plan = (pb_stage_plan){.stages = PB_NEW_ARRAY(arena, pb_plan, (size_t)s->program->nest_count + 1)};
  for (int k = 0; k + 1 < s->shared; ++k) outer *= s->extent[k];
  for (int64_t step = last; step >= 1; --step) {
    bool uneven = outer >= SHARES && step % UNEVEN_STEP == 0 && step <= MOST_UNEVEN;
    if (last % step == 0 || uneven) consider(chip, s, step, plan, &found);
  }
  return found;
}

// What full turns leave over is planned here; nobody prints that.
typedef struct stage_plans {
  const pb_chip* chip;
  const pb_stage_plan* plan;
} stage_plans;

static bool plan_of_stage(void* user, int k, const pb_group* group, bool full, pb_arena* arena, pb_plan* plan,
                          const char** why) {
  const stage_plans* plans = user;
  pb_diag quiet = {.sink = pb_diag_drop};
  *why = "a stage of what full turns leave over has no plan";
  if (!full) return pb_plan_make(plans->chip, group, arena, &quiet, plan) == PB_OK;
  *why = "it has another number of stages";
  if (k >= plans->plan->count) return false;
  *plan = plans->plan->stages[k];
  return pb_plan_cost(plans->chip, group, plan, arena, why);
}

bool pb_stage_plan_build(const pb_chip* chip, const pb_stages* s, const pb_stage_plan* plan, pb_arena* arena,
                         struct pb_proofs* proofs, pb_tiling* tiling) {
  if (is_explicit(chip)) return pb_stage_tiles_prove(chip, s, plan, arena, proofs, tiling);
  stage_plans plans = {chip, plan};
  pb_stage_planner planner = {plan_of_stage, &plans};
  return pb_tiling_stages(chip, s, &plan->loops, &planner, arena, tiling);
}

// ---- as text ----

void pb_stage_plan_print(pb_text* text, const pb_chip* chip, const pb_stages* s, const pb_stage_plan* plan) {
  pb_arena scratch = {0};
  pb_turn turn;
  const char* why;
  pb_text_add(text, "{extents = array<i64");
  for (int k = 0; k < s->shared; ++k) pb_text_add(text, "%s%lld", k ? ", " : ": ", (long long)s->extent[k]);
  pb_text_add(text, ">, bands = array<i64");
  for (int b = 0; b < plan->loops.band_count; ++b)
    pb_text_add(text, "%s%d, %lld", b ? ", " : ": ", plan->loops.bands[b].dim, (long long)plan->loops.bands[b].step);
  pb_text_add(text, ">, ");
  pb_text_add(text, "copies = %d : i64, ahead = %s, stages = [", plan->loops.result_depth,
              plan->skewed ? "true" : "false");
  if (is_explicit(chip))
    pb_stage_tiles_print(text, chip, s, plan);
  else if (make_turn(chip, s, &scratch, plan, &turn, &why))
    for (int k = 0; k < plan->count; ++k) {
      if (k) pb_text_add(text, ", ");
      pb_plan_print(text, &plan->stages[k], &turn.groups[k]);
    }
  pb_text_add(text, "], cycles = %lld : i64, bound = \"%s\"}", (long long)plan->loops.cycles, plan->loops.bound);
  pb_arena_free(&scratch);
}

bool pb_stage_plan_is(MlirAttribute a) {
  return !mlirAttributeIsNull(a) && mlirAttributeIsADictionary(a) && !mlirAttributeIsNull(pb_member(a, "stages"));
}

pb_status pb_stage_plan_from(MlirAttribute a, const pb_stages* s, pb_place place, int code, pb_arena* arena,
                             pb_diag* diag, pb_stage_plan* plan) {
  const char* hint = "edit only the numbers of a printed plan";
  MlirAttribute bands = pb_member(a, "bands"), stages = pb_member(a, "stages"), copies = pb_member(a, "copies"),
                ahead = pb_member(a, "ahead");
  *plan = (pb_stage_plan){.loops = {.x_depth = 1, .w_depth = 1}};
  if (mlirAttributeIsNull(bands) || !mlirAttributeIsADenseI64Array(bands) || mlirDenseArrayGetNumElements(bands) % 2 ||
      mlirDenseArrayGetNumElements(bands) > 2 * PB_MAX_BANDS)
    return pb_error(diag, place, code, hint, "field 'bands' is missing or no pairs of a loop and a step");
  for (intptr_t k = 0; k < mlirDenseArrayGetNumElements(bands); k += 2) {
    int64_t dim = mlirDenseI64ArrayGetElement(bands, k);
    if (dim < 0 || dim >= s->shared) return pb_error(diag, place, code, hint, "field 'bands' names no shared loop");
    plan->loops.bands[plan->loops.band_count++] = (pb_band){(int)dim, mlirDenseI64ArrayGetElement(bands, k + 1)};
  }
  if (mlirAttributeIsNull(copies) || !mlirAttributeIsAInteger(copies) || mlirIntegerAttrGetValueInt(copies) < 1 ||
      mlirIntegerAttrGetValueInt(copies) > 64)
    return pb_error(diag, place, code, hint, "field 'copies' is missing or not between 1 and 64");
  plan->loops.result_depth = (int)mlirIntegerAttrGetValueInt(copies);
  if (mlirAttributeIsNull(ahead) || !mlirAttributeIsABool(ahead))
    return pb_error(diag, place, code, hint, "field 'ahead' is missing or not true or false");
  plan->skewed = mlirBoolAttrGetValue(ahead);
  if (!mlirAttributeIsAArray(stages)) return pb_error(diag, place, code, hint, "field 'stages' is no list");
  plan->count = (int)mlirArrayAttrGetNumElements(stages);
  plan->stages = PB_NEW_ARRAY(arena, pb_plan, (size_t)plan->count + 1);
  for (int k = 0; k < plan->count; ++k)
    PB_TRY(pb_plan_from(mlirArrayAttrGetElement(stages, k), place, code, arena, diag, &plan->stages[k]));
  return PB_OK;
}
