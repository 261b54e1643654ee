// Plans of kernels of several stages: which loops the stages of a chip share, what a plan takes, its tree, its text.
// The search for one is in plan_stages_search.c.
#include "core/s3/plan/plan_search.h"

#include "core/s3/kernel/contraction_dims.h"
#include "core/s3/kernel/pads.h"
#include "core/s3/kernels.h"
#include "core/s3/stored_form.h"
#include "core/s3/tree/cost.h"
#include "core/s3/tree/cost_cores.h"

#include <string.h>

enum {
  MOST_BYTES = 3 << 18, // of a thread's buffers: they lie on its stack
  MOST_STAGED = 1 << 20 // so do those that stand for a core's own memory
};

// All of the program, to be changed.
static pb_program* own_copy(const pb_program* program, pb_arena* arena) {
  pb_program* copy = PB_NEW(arena, pb_program);
  int* nests = PB_NEW_ARRAY(arena, int, (size_t)program->nest_count + 1);
  for (int n = 0; n < program->nest_count; ++n) nests[n] = n;
  pb_program_view(program, nests, program->nest_count, arena, copy);
  return copy;
}

// The program without borders around what it stores, which are no stage but stages' fills; `resident`: those of what
// lies on the chip alone, as others pass through buffers on their way out.
static pb_program* take_fills(const pb_program* program, bool resident, pb_arena* arena, pb_stages* stages) {
  pb_program* rest = PB_NEW(arena, pb_program);
  int *nests = PB_NEW_ARRAY(arena, int, (size_t)program->nest_count + 1), count = 0;
  for (int n = 0; n < program->nest_count; ++n) {
    const pb_nest* nest = &program->nests[n];
    bool fill = nest->access_count == 1 && nest->reduce == PB_SET && stages->fill_count < PB_MAX_FILLS &&
                !pb_program_is_local(program, pb_program_stored(program, n)) &&
                (!resident || program->values[pb_program_stored(program, n)].space);
    for (int k = n + 1; k < program->nest_count; ++k) // what sums start from
      fill &= program->nests[k].reduce == PB_SET || !pb_program_same_place(program, n, k);
    if (fill && (count || n + 1 < program->nest_count))
      stages->fills[stages->fill_count++] = nest;
    else
      nests[count++] = n;
  }
  pb_program_view(program, nests, count, arena, rest);
  return rest;
}

// Whether a product of the kernel takes rows that lie in lanes: in its own first factor they are neighbours.
static bool takes_rows_in_lanes(const pb_program* p) {
  pb_contraction_dims roles;
  for (int n = 0; n < p->nest_count; ++n) {
    const pb_nest* nest = &p->nests[n];
    if (!pb_nest_contraction_dims(nest, NULL, &roles) || !pb_program_is_local(p, p->value_of[n][roles.x])) continue;
    for (int d = 0; d < nest->dim_count; ++d)
      if (roles.role[d] == PB_ROLE_M && pb_access_stride(&nest->access[roles.x], d) == 1) return true;
  }
  return false;
}

// The stages of the program with rows that some of its nests walk by blocks, and others one by one, as two loops for
// all of them: windows of a pooling that lie side by side; in code, whose lanes stay inside, rows in lanes. Taken where
// more loops are shared so. lanes: of code's registers, 0: commands take rows.
static bool share_blocks(const pb_program* program, int64_t lanes, pb_arena* arena, pb_stages* stages) {
  pb_stages blocks;
  if (lanes && !takes_rows_in_lanes(program)) return false;
  pb_program* cut = own_copy(program, arena);
  pb_stages_cut_rows(cut, lanes);
  if (!pb_stages_read(cut, arena, &blocks)) return false;
  pb_stages_keep_rows(&blocks);
  if (blocks.shared <= stages->shared) return false;
  *stages = blocks;
  stages->rows_in_lanes = lanes > 0;
  return true;
}

// Where memory is explicit, padded tensors are read through boxes, and weights of a stored form as their elements: what
// fills the ones and makes the others is no stage.
static const pb_program* without_moves(const pb_program* program, pb_arena* arena) {
  pb_program* folded = own_copy(program, arena);
  pb_program_fold_pads(folded, arena);
  pb_program_make_inside(folded, arena);
  pb_program_fold_expansions(folded, arena);
  return folded;
}

// Movers bring what instructions take of memories: all of a kernel's values between may lie there at once, so its
// stages need to share nothing. A core's own memory takes any kernel, if only of one stage, by parts that fit.
bool pb_stages_of(const pb_chip* chip, const pb_program* program, pb_arena* arena, pb_stages* stages) {
  int near = pb_chip_staging(chip);
  bool instructions = pb_chip_moves(chip), moves = instructions || near >= 0;
  pb_stages filled = {.fill_count = 0};
  if (instructions) program = without_moves(program, arena);
  if (moves) {
    pb_program* rest = take_fills(program, instructions, arena, &filled);
    if (near >= 0) pb_stages_cut_rows(rest, 0);
    program = rest;
  }
  if (program->nest_count < 2 && near < 0) return false;
  bool read = pb_stages_read(program, arena, stages);
  if (moves && (!read || stages->blocks)) return false; // tokens go from iteration to iteration of one loop
  if (instructions) pb_stages_keep_rows(stages);
  int64_t lanes = instructions ? 0 : pb_vector_facts_of(chip).lanes;
  if (near < 0 && !stages->blocks) read |= share_blocks(program, lanes, arena, stages); // blocks may be rows in lanes
  if (moves) pb_stages_order_by_reuse(stages);
  stages->fill_count = filled.fill_count;
  stages->in_turn = !instructions;
  stages->in_caches = !moves;
  stages->near = near;
  stages->brings = pb_core_mover_of(chip, near, false);
  stages->takes = pb_core_mover_of(chip, near, true);
  memcpy(stages->fills, filled.fills, sizeof filled.fills);
  return read && (moves || stages->shared > 0);
}

pb_status pb_kernel_read(const pb_chip* chip, const pb_program* program, bool several, pb_arena* arena, pb_diag* diag,
                         pb_kernel_form* kernel) {
  pb_stages* stages = PB_NEW(arena, pb_stages);
  *kernel = (pb_kernel_form){.stages = several && pb_stages_of(chip, program, arena, stages) ? stages : NULL};
  if (kernel->stages) return PB_OK;
  pb_group* group = pb_alloc_raw(arena, sizeof *group);
  PB_TRY(pb_group_read(program, chip, arena, diag, group));
  bool passes = !several && !group->plain && pb_chip_staging(chip) >= 0;
  if (passes && pb_stages_of(chip, program, arena, stages))
    kernel->stages = stages;
  else
    kernel->group = group;
  return PB_OK;
}

// Of a core's caches three quarters, which is less than tensors of what stages add up would take in memory; of kernels
// that only copy what their product reads, a quarter, beside which the product's own blocks have room.
static int64_t most_bytes(const pb_chip* chip, const pb_program* p) {
  int64_t quarters = 1;
  for (int n = 0; n < p->nest_count; ++n)
    if (p->nests[n].reduce != PB_SET && pb_program_is_local(p, pb_program_stored(p, n))) quarters = 3;
  int64_t bytes = pb_vector_facts_of(chip).cache[1] / 4 * quarters;
  return bytes < MOST_BYTES ? bytes : MOST_BYTES;
}

// An iteration's values lie in a memory of the core's own, or on a thread's stack, of which its caches hold so much.
static bool fits(pb_tiling* t, const pb_stages* s) {
  if (s->near >= 0)
    return pb_tree_fits(t, s->near) && (pb_tree_bytes(t, s->near) <= MOST_STAGED ||
                                        pb__tiling_fail(t, "its buffers take more than a thread's stack"));
  return pb_tree_bytes(t, t->chip->system_memory) <= most_bytes(t->chip, s->program) ||
         pb__tiling_fail(t, "an iteration's values do not stay in a core's caches");
}

// Of a core's caches; where memories are explicit the tree says it.
bool pb__stage_values_fit(const pb_stage_tiles* s, const pb_iteration_groups* iteration) {
  int64_t bytes = 0;
  if (!s->stages->in_caches) return true;
  for (int v = 0; v < iteration->value_count; ++v)
    if (iteration->of[v].maker >= 0 && iteration->of[v].home == v) bytes += pb_value_bytes(&iteration->values[v]);
  return bytes <= most_bytes(s->chip, s->stages->program);
}

// What the kernel's stages so far take in the tree that was built. false: it does not fit, t->failure says why.
bool pb__stage_plan_add_up(const pb_stage_tiles* s, pb_tiling* t, pb_plan* loops) {
  if (!s->stages->in_turn) return pb_tree_cost(t, loops);
  const pb_level* level = pb_level_shared(s->chip);
  const pb_shares iterations = {s->parts, 1, s->parts, 1, level ? level->busy : 0};
  loops->cycles = s->cycles;
  loops->bound = "compute";
  if (pb_stages_are_moved(s->stages)) pb_tree_cost_wholes(t, loops);
  loops->cycles += loops->cycles * pb_share_imbalance(&iterations) / 1024;
  return fits(t, s->stages);
}

// What full iterations leave over is planned as it comes, and so are copies; nobody prints that.
static bool plan_alone(const pb_chip* chip, const pb_group* group, pb_plan* plan, const char** why) {
  *why = "a stage of what full iterations leave over has no plan";
  return pb_plan_stage(chip, group, 0, 0, NULL, plan);
}

void pb__stage_plan_begin(const pb_chip* chip, const pb_stages* stages, const pb_kernel_plan* plan, pb_arena* arena,
                          pb_stage_tiles* s) {
  pb_stage_tiles_begin(chip, stages, plan, arena, s);
  if (stages->in_turn) s->rest = plan_alone;
}

// The shared loops alone: what their first iteration is. NULL: the chip cannot run it, or tensors' homes in a core's
// own memory have no room, *why (in s->arena) says why.
const pb_iteration_groups* pb__stage_plan_iteration(pb_stage_tiles* s, const char** why) {
  pb_arena scratch = {0};
  s->built = 0;
  pb_tiling* t = pb_alloc_raw(&scratch, sizeof(pb_tiling));
  bool built = pb_stage_tiles_build(s, &scratch, NULL, t) && (s->stages->near < 0 || fits(t, s->stages));
  if (!built) *why = pb_printf(s->arena, "%s", t->failure ? t->failure : "");
  pb_arena_free(&scratch);
  return built ? s->iterations : NULL;
}

bool pb_kernel_plan_cost(const pb_chip* chip, const pb_kernel_form* kernel, pb_arena* arena, pb_kernel_plan* plan,
                         const char** why) {
  const pb_stages* stages = kernel->stages;
  if (!stages) return pb_plan_cost(chip, kernel->group, &plan->loops, arena, why);
  pb_stage_tiles* s = PB_NEW(arena, pb_stage_tiles);
  pb__stage_plan_begin(chip, stages, plan, arena, s);
  *why = "its buffers have one copy, no sums are made ahead, and what stages read is not held";
  if (stages->in_turn && (pb_plan_copies(&plan->loops, PB_OF_RESULT) != 1 || plan->skewed || plan->holds)) return false;
  *why = "movers beside a core take turns with two copies of what they move, at most, and without such there is one";
  if (stages->in_turn && pb_plan_copies(&plan->loops, PB_OF_X) > (pb_stages_are_moved(stages) ? 2 : 1)) return false;
  const pb_iteration_groups* iteration = pb__stage_plan_iteration(s, why);
  if (!iteration) return false;
  *why = "it has another number of stages";
  if (iteration->count != plan->count) return false;
  for (int k = 0; k < plan->count && stages->in_turn; ++k)
    if (!pb_plan_cost(chip, &iteration->groups[k], &plan->stages[k], arena, why)) return false;
  s->built = plan->count;
  pb_tiling* t = pb_alloc_raw(arena, sizeof(pb_tiling));
  if (pb_stage_tiles_build(s, arena, NULL, t) && pb__stage_plan_add_up(s, t, &plan->loops)) return true;
  *why = t->failure;
  return false;
}

bool pb_kernel_plan_build(const pb_chip* chip, const pb_kernel_form* kernel, const pb_kernel_plan* plan,
                          pb_arena* arena, struct pb_proofs* proofs, pb_tiling* tiling) {
  if (!kernel->stages) return pb_tiling_prove(chip, kernel->group, &plan->loops, arena, proofs, tiling);
  pb_stage_tiles* s = PB_NEW(arena, pb_stage_tiles);
  pb__stage_plan_begin(chip, kernel->stages, plan, arena, s);
  s->built = plan->count;
  return pb_stage_tiles_build(s, arena, proofs, tiling);
}

// ---- as text ----

// Loops around a stage that its plan counts: one that is planned by itself counts its own alone.
static int loops_around(const pb_stages* stages, const pb_kernel_plan* plan) {
  return stages->in_turn ? 0 : plan->loops.axis_count;
}

static void print_stages(pb_text* text, const pb_chip* chip, const pb_stages* stages, const pb_kernel_plan* plan,
                         int depth) {
  pb_arena scratch = {0};
  const char* unused;
  pb_stage_tiles* s = PB_NEW(&scratch, pb_stage_tiles);
  pb__stage_plan_begin(chip, stages, plan, &scratch, s);
  const pb_iteration_groups* iteration = pb__stage_plan_iteration(s, &unused);
  for (int k = 0; iteration && k < plan->count; ++k) {
    pb_text_line(text, depth, "stage { // ");
    pb_text_add_shown(text, iteration->groups[k].main.name);
    pb_text_add(text, "\n");
    pb_plan_print(text, chip, &plan->stages[k], &iteration->groups[k], loops_around(stages, plan), depth + 1);
    pb_text_line(text, depth, "}\n");
  }
  pb_arena_free(&scratch);
}

// Homes of what movers beside a core move, and how it goes.
static void print_moved(pb_text* text, const pb_chip* chip, const pb_stages* s, int copies, int depth) {
  const char *outside = chip->memories[chip->system_memory].name, *near = chip->memories[s->near].name;
  pb_text_line(text, depth, "home moved, %d %s //", copies, copies == 1 ? "copy" : "copies");
  if (s->brings >= 0) pb_text_add(text, " %s -> %s by %s", outside, near, chip->core_movers[s->brings].name);
  if (s->takes >= 0)
    pb_text_add(text, "%s %s -> %s by %s", s->brings >= 0 ? "," : "", near, outside, chip->core_movers[s->takes].name);
  pb_text_add(text, "\n");
}

void pb_kernel_plan_print(pb_text* text, const pb_chip* chip, const pb_kernel_form* kernel,
                          const pb_kernel_plan* plan) {
  const pb_stages* s = kernel->stages;
  const pb_plan* loops = &plan->loops;
  int depth = 1, copies = pb_plan_copies(loops, PB_OF_RESULT);
  pb_plan_print_cycles(text, loops, depth);
  if (!s) {
    pb_plan_print(text, chip, loops, kernel->group, 0, depth);
    return;
  }
  for (int b = 0; b < loops->axis_count; ++b) {
    const pb_axis* axis = &loops->axes[b];
    pb_plan_print_axis(text, chip, axis, pb_plan_left(loops, b, axis->dim, s->extent[axis->dim]), "", depth++);
  }
  if (pb_stages_are_moved(s)) print_moved(text, chip, s, pb_plan_copies(loops, PB_OF_X), depth);
  pb_text_line(text, depth, "home between, %d %s\n", copies, copies == 1 ? "copy" : "copies");
  if (plan->skewed) pb_text_line(text, depth, "ahead // the first stage's sums are made an iteration ahead\n");
  if (plan->holds) pb_text_line(text, depth, "held // what several stages read comes once for all of them\n");
  print_stages(text, chip, s, plan, depth);
}

pb_status pb_kernel_plan_read(pb_plan_reader* r, const pb_kernel_form* kernel, pb_arena* arena, pb_kernel_plan* plan) {
  const pb_stages* s = kernel->stages;
  *plan = (pb_kernel_plan){.count = 0};
  if (!s) return pb_plan_read(r, &plan->loops);
  pb_plan_begin(&plan->loops);
  plan->loops.bound = "";
  plan->stages = PB_NEW_ARRAY(arena, pb_plan, (size_t)s->program->nest_count + 1);
  while (pb_plan_takes(r, "loop")) PB_TRY(pb_plan_read_axis(r, s->shared, &plan->loops));
  PB_TRY(pb_plan_expects(r, "home"));
  if (pb_plan_takes(r, "moved")) {
    PB_TRY(pb_plan_read_copies(r, &pb_plan_home_of(&plan->loops, PB_OF_X)->copies));
    PB_TRY(pb_plan_expects(r, "home"));
  }
  PB_TRY(pb_plan_expects(r, "between"));
  PB_TRY(pb_plan_read_copies(r, &pb_plan_home_of(&plan->loops, PB_OF_RESULT)->copies));
  plan->skewed = pb_plan_takes(r, "ahead");
  plan->holds = !plan->skewed && pb_plan_takes(r, "held");
  while (pb_plan_more(r)) {
    PB_TRY(pb_plan_expects(r, "stage"));
    PB_TRY(pb_plan_expects(r, "{"));
    if (plan->count == s->program->nest_count) return pb_plan_refuse(r, "more stages than the kernel has nests");
    PB_TRY(pb_plan_read_stage(r, loops_around(s, plan), &plan->stages[plan->count++]));
    PB_TRY(pb_plan_expects(r, "}"));
  }
  return PB_OK;
}
