// Tiles of the loops that several stages share. All loops but the last go one by one; of the last as many iterations
// are taken together as pay: more rows give products more to do with each load, fewer leave more of the values between
// in a near cache. What an iteration takes is the sum of what its stages take (plan_registers.c), whose operands are as
// large as the iteration makes them.
#include "core/s3/plan/plan_stages.h"

#include "core/s3/kernels.h"
#include "core/s3/plan/plan.h"
#include "core/s3/tree/cost.h"

#include <mlir-c/BuiltinAttributes.h>
#include <string.h>

enum {
  // Steps that leave a rest stand beside another one, so threads share the loops around alone: these must be enough.
  SHARES = 8,
  UNEVEN_STEP = 8,
  MOST_UNEVEN = 128,
  MOST_BYTES = 1 << 18, // of a thread's buffers: they lie on its stack
  MOST_STAGED = 1 << 20 // so do those that stand for a core's own memory
};

// Whether the chip's instructions take tiles of its memories; else its cores run whatever code a stage needs.
static bool is_explicit(const pb_chip* chip) { return !pb_chip_runs_code(chip); }

// The program without borders around what it stores, which are no stage. Returns how many fills they are.
static int take_fills(const pb_program* program, pb_arena* arena, pb_program* rest, const pb_nest** fills) {
  int *nests = PB_NEW_ARRAY(arena, int, (size_t)program->nest_count + 1), count = 0, taken = 0;
  for (int n = 0; n < program->nest_count; ++n) {
    const pb_nest* nest = &program->nests[n];
    bool fill = nest->access_count == 1 && nest->reduce == PB_SET && taken < PB_MAX_STAGE_FILLS;
    for (int k = n + 1; k < program->nest_count; ++k) // what sums start from
      fill &= program->nests[k].reduce == PB_SET || !pb_program_same_place(program, n, k);
    if (fill && (count || n + 1 < program->nest_count))
      fills[taken++] = nest;
    else
      nests[count++] = n;
  }
  pb_program_view(program, nests, count, arena, rest);
  return taken;
}

// Of any kernel, if only of one stage: tensors are moved to the core's own memory, by parts that fit.
static bool staged_of(const pb_program* program, pb_arena* arena, pb_stages* stages) {
  pb_program* rest = PB_NEW(arena, pb_program);
  const pb_nest* fills[PB_MAX_STAGE_FILLS];
  int count = take_fills(program, arena, rest, fills);
  pb_stages_cut_rows(rest);
  if (!pb_stages_read(rest, arena, stages)) return false;
  stages->fill_count = count;
  memcpy(stages->fills, fills, sizeof *fills * (size_t)count);
  pb_stages_order_by_reuse(stages);
  return true;
}

bool pb_stages_of(const pb_chip* chip, const pb_program* program, pb_arena* arena, pb_stages* stages) {
  if (pb_chip_staging(chip) >= 0) return staged_of(program, arena, stages);
  if (program->nest_count < 2 || !pb_stages_read(program, arena, stages)) return false;
  if (is_explicit(chip)) {
    pb_stages_keep_rows(stages);
    pb_stages_order_by_reuse(stages);
  }
  return stages->shared > 0;
}

static int64_t most_bytes(const pb_chip* chip) {
  int64_t bytes = pb_vector_facts_of(chip).cache[1] / 2;
  return bytes < MOST_BYTES ? bytes : MOST_BYTES;
}

// An iteration's values lie in a memory of the core's own, or on a thread's stack, of which its caches hold so much.
static bool fits(pb_tiling* t) {
  int staging = pb_chip_staging(t->chip);
  if (staging >= 0)
    return pb_tree_fits(t, staging) && (pb_tree_bytes(t, staging) <= MOST_STAGED ||
                                        pb__tiling_fail(t, "its buffers take more than a thread's stack"));
  return pb_tree_bytes(t, t->chip->system_memory) <= most_bytes(t->chip) ||
         pb__tiling_fail(t, "an iteration's values do not stay in a core's caches");
}

// What is lost on average where so many equal iterations are shared by 2, 4 and 8 threads, as a part of 1024.
static int64_t imbalance(int64_t iterations) {
  int64_t lost = 0;
  for (int64_t threads = 2; threads <= 8; threads *= 2) {
    int64_t most = (iterations + threads - 1) / threads;
    lost += 1024 - 1024 * iterations / (most * threads);
  }
  return lost / 3;
}

static bool build(const pb_chip* chip, const pb_stages* s, pb_stage_plan* plan, const pb_stage_planner* planner,
                  pb_arena* arena, struct pb_proofs* proofs, pb_tiling* t) {
  if (!pb_tiling_stages(chip, s, &plan->loops, planner, arena, proofs, t) || !fits(t)) return false;
  plan->loops.cycles = t->cycles + t->cycles * imbalance(t->stage_parts) / 1024;
  plan->loops.bound = "compute";
  return true;
}

// ---- who plans the stages ----

typedef struct planned {
  const pb_chip* chip;
  pb_stage_plan* plan;
} planned;

// What full iterations leave over is planned as it comes, and so are copies; nobody prints that.
static bool plan_rest(const pb_chip* chip, const pb_group* group, pb_arena* arena, pb_plan* plan, const char** why) {
  pb_diag quiet = {.sink = pb_diag_drop};
  *why = "a stage of what full iterations leave over has no plan";
  return pb_plan_make(chip, group, arena, &quiet, plan) == PB_OK;
}

// Notes the plans of a full iteration.
static bool plan_new(void* user, int k, const pb_group* group, bool full, pb_arena* arena, pb_plan* plan,
                     const char** why) {
  planned* p = user;
  if (!plan_rest(p->chip, group, arena, plan, why)) return false;
  if (!full) return true;
  p->plan->stages[k] = *plan;
  if (k >= p->plan->count) p->plan->count = k + 1;
  return true;
}

static bool plan_again(void* user, int k, const pb_group* group, bool full, pb_arena* arena, pb_plan* plan,
                       const char** why) {
  const planned* p = user;
  if (!full) return plan_rest(p->chip, group, arena, plan, why);
  *why = "it has another number of stages";
  if (k >= p->plan->count) return false;
  *plan = p->plan->stages[k];
  return pb_plan_cost(p->chip, group, plan, arena, why);
}

bool pb_stage_plan_cost(const pb_chip* chip, const pb_stages* s, pb_arena* arena, pb_stage_plan* plan,
                        const char** why) {
  if (is_explicit(chip)) return pb_stage_tiles_cost(chip, s, arena, plan, why);
  planned again = {chip, plan};
  pb_stage_planner planner = {plan_again, &again};
  pb_tiling* t = PB_NEW(arena, pb_tiling);
  *why = "its buffers have one copy, no sums are made ahead, and what stages read is not held";
  if (plan->loops.result_depth != 1 || plan->skewed || plan->holds) return false;
  bool built = build(chip, s, plan, &planner, arena, NULL, t);
  *why = t->failure;
  if (built && t->stages != plan->count) *why = "it has another number of stages";
  return built && t->stages == plan->count;
}

bool pb_stage_plan_build(const pb_chip* chip, const pb_stages* s, const pb_stage_plan* plan, pb_arena* arena,
                         struct pb_proofs* proofs, pb_tiling* tiling) {
  if (is_explicit(chip)) return pb_stage_tiles_prove(chip, s, plan, arena, proofs, tiling);
  pb_stage_plan own = *plan;
  planned again = {chip, &own};
  pb_stage_planner planner = {plan_again, &again};
  return build(chip, s, &own, &planner, arena, proofs, tiling);
}

// ---- the search ----

typedef struct search {
  const pb_chip* chip;
  const pb_stages* stages;
  pb_stage_plan* best;
  bool found;
} search;

// Iterations of `step` along shared loop `at`, of one along those around it and of all along those inside it.
static void consider(search* f, int at, int64_t step) {
  pb_arena scratch = {0};
  const pb_stages* s = f->stages;
  pb_stage_plan plan = {.loops.result_depth = 1};
  planned new = {f->chip, &plan};
  pb_stage_planner planner = {plan_new, &new};
  plan.stages = PB_NEW_ARRAY(&scratch, pb_plan, (size_t)s->program->nest_count + 1);
  for (int k = 0; k <= at && k < s->shared; ++k) {
    int64_t by = k < at ? 1 : step;
    if (by < s->extent[k]) plan.loops.bands[plan.loops.band_count++] = (pb_band){k, by};
  }
  if (build(f->chip, s, &plan, &planner, &scratch, NULL, PB_NEW(&scratch, pb_tiling)) &&
      (!f->found || plan.loops.cycles < f->best->loops.cycles)) {
    f->best->loops = plan.loops;
    f->best->count = plan.count;
    memcpy(f->best->stages, plan.stages, sizeof *plan.stages * (size_t)plan.count);
    f->found = true;
  }
  pb_arena_free(&scratch);
}

bool pb_stage_plan_make(const pb_chip* chip, const pb_stages* s, pb_arena* arena, pb_stage_plan* plan) {
  if (is_explicit(chip)) return pb_stage_tiles_make(chip, s, arena, plan);
  search f = {.chip = chip, .stages = s, .best = plan};
  bool staged = pb_chip_staging(chip) >= 0;
  int64_t outer = 1;
  *plan = (pb_stage_plan){.stages = PB_NEW_ARRAY(arena, pb_plan, (size_t)s->program->nest_count + 1)};
  if (!s->shared) consider(&f, 0, 1);
  for (int k = 0; k + 1 < s->shared; ++k) outer *= s->extent[k];
  for (int at = s->shared - 1; at >= 0 && (staged || at + 1 == s->shared); --at)
    for (int64_t step = s->extent[at]; step >= 1; --step) {
      bool uneven = outer >= SHARES && step % UNEVEN_STEP == 0 && step <= MOST_UNEVEN && !staged;
      uneven |= staged && step % UNEVEN_STEP == 0 && (step & (step - 1)) == 0;
      if (s->extent[at] % step == 0 || uneven) consider(&f, at, step);
    }
  return f.found;
}

// ---- as text ----

typedef struct printer {
  planned planned;
  pb_text* text;
} printer;

static bool print_stage(void* user, int k, const pb_group* group, bool full, pb_arena* arena, pb_plan* plan,
                        const char** why) {
  printer* p = user;
  if (!plan_again(&p->planned, k, group, full, arena, plan, why)) return false;
  if (!full) return true;
  if (k) pb_text_add(p->text, ", ");
  pb_plan_print(p->text, plan, group);
  return true;
}

static void print_stages(pb_text* text, const pb_chip* chip, const pb_stages* s, const pb_stage_plan* plan) {
  pb_arena scratch = {0};
  pb_stage_plan own = *plan;
  printer p = {{chip, &own}, text};
  pb_stage_planner planner = {print_stage, &p};
  (void)pb_tiling_stages(chip, s, &own.loops, &planner, &scratch, NULL, PB_NEW(&scratch, pb_tiling));
  pb_arena_free(&scratch);
}

void pb_stage_plan_print(pb_text* text, const pb_chip* chip, const pb_stages* s, const pb_stage_plan* plan) {
  pb_text_add(text, "{extents = array<i64");
  for (int k = 0; k < s->shared; ++k) pb_text_add(text, "%s%lld", k ? ", " : ": ", (long long)s->extent[k]);
  pb_text_add(text, ">, bands = array<i64");
  for (int b = 0; b < plan->loops.band_count; ++b)
    pb_text_add(text, "%s%d, %lld", b ? ", " : ": ", plan->loops.bands[b].dim, (long long)plan->loops.bands[b].step);
  pb_text_add(text, ">, ");
  pb_text_add(text, "copies = %d : i64, ahead = %s, %sstages = [", plan->loops.result_depth,
              plan->skewed ? "true" : "false", plan->holds ? "held = true, " : "");
  if (is_explicit(chip))
    pb_stage_tiles_print(text, chip, s, plan);
  else
    print_stages(text, chip, s, plan);
  pb_text_add(text, "], cycles = %lld : i64, bound = \"%s\"}", (long long)plan->loops.cycles, plan->loops.bound);
}

bool pb_stage_plan_is(MlirAttribute a) {
  return !mlirAttributeIsNull(a) && mlirAttributeIsADictionary(a) && !mlirAttributeIsNull(pb_member(a, "stages"));
}

pb_status pb_stage_plan_from(MlirAttribute a, const pb_stages* s, pb_place place, int code, pb_arena* arena,
                             pb_diag* diag, pb_stage_plan* plan) {
  const char* hint = "edit only the numbers of a printed plan";
  MlirAttribute bands = pb_member(a, "bands"), stages = pb_member(a, "stages"), copies = pb_member(a, "copies"),
                ahead = pb_member(a, "ahead"), held = pb_member(a, "held");
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
  if (!mlirAttributeIsNull(held) && !mlirAttributeIsABool(held))
    return pb_error(diag, place, code, hint, "field 'held' is not true or false");
  plan->holds = !mlirAttributeIsNull(held) && mlirBoolAttrGetValue(held);
  if (plan->holds && plan->skewed) return pb_error(diag, place, code, hint, "fields 'ahead' and 'held' are both true");
  if (!mlirAttributeIsAArray(stages)) return pb_error(diag, place, code, hint, "field 'stages' is no list");
  plan->count = (int)mlirArrayAttrGetNumElements(stages);
  plan->stages = PB_NEW_ARRAY(arena, pb_plan, (size_t)plan->count + 1);
  for (int k = 0; k < plan->count; ++k)
    PB_TRY(pb_plan_from(mlirArrayAttrGetElement(stages, k), place, code, arena, diag, &plan->stages[k]));
  return PB_OK;
}
