// The search for plans of kernels of several stages. Of the loops that the stages share, tiles of the innermost ones go
// together, and those further out one by one: more rows give products more to do with each load, fewer leave more of
// the values between in a near memory. For each such iteration the stages are planned one after the other as kernels of
// one stage are. On queues each is judged by what the kernel takes up to and with it, since queues run on from stage to
// stage and from iteration to iteration, and the memories are all stages'. On cores, where one stage ends before the
// next begins, each is planned by itself, and an iteration takes the sum of what they take.
#include "core/s3/kernel/contraction_dims.h"
#include "core/s3/kernel/parts.h"
#include "core/s3/plan/plan_search.h"

#include <string.h>

enum {
  // Steps that leave a rest stand beside another one, so threads share the loops around alone: these must be enough.
  SHARES = 8,
  UNEVEN_STEP = 8,
  MOST_UNEVEN = 128,
  MOST_BESIDE = 3, // steps of a loop beside a step of another one
  HOPELESS = 2     // times the best: on queues steps shorter than one so slow are not looked at
};

// What has two copies, so that queues work on one while others take the other: everything, all but what lies between
// stages, the results of products alone, nothing.
typedef enum room { ROOMY, INSIDE, PRODUCTS, TIGHT } room;

// An iteration's stages one after the other, and what several read held; if nothing is, or that does not fit, each with
// loads of its own; sums made ahead.
enum { HELD, PLAIN, AHEAD, WAYS };

// One choice of the loops and of what has copies.
typedef struct trial {
  room room;
  pb_stage_tiles tiles;
  pb_kernel_plan plan;
  pb_arena* arena;
  const char* bound;
} trial;

// What the stages so far take, by their plans.
static bool cost_of(trial* s, pb_plan* plan, const char** why) {
  pb_arena scratch = {0};
  pb_tiling* t = pb_alloc_raw(&scratch, sizeof(pb_tiling));
  pb_plan whole = s->plan.loops;
  bool legal = pb_stage_tiles_build(&s->tiles, &scratch, NULL, t) && pb__stage_plan_add_up(&s->tiles, t, &whole);
  plan->cycles = whole.cycles;
  plan->port = whole.port;
  s->bound = whole.bound;
  if (!legal) *why = pb_printf(s->arena, "%s", t->failure ? t->failure : "no tiling fits");
  pb_arena_free(&scratch);
  return legal;
}

// The same with this plan for the last of them.
static bool cost_with(void* user, pb_plan* plan, const char** why) {
  trial* s = user;
  s->plan.stages[s->tiles.built - 1] = *plan;
  return cost_of(s, plan, why);
}

static bool cost_whole(void* user, pb_plan* plan, const char** why) { return cost_of(user, plan, why); }

// Plans the last of the stages so far.
static bool plan_stage(trial* s, const pb_group* group, pb_plan* best) {
  const pb_judge judge = {.cost = cost_with, .user = s, .is_last = s->tiles.built == s->plan.count};
  bool alone = s->tiles.stages->in_turn,
       single = alone || s->room == TIGHT || (s->room == PRODUCTS && !group->contraction);
  return pb_plan_stage(s->tiles.chip, group, alone ? 0 : s->plan.loops.axis_count, single ? 1 : 2,
                       alone ? NULL : &judge, best);
}

// Plans all stages of an iteration of the loops. false: some stage has no plan.
static bool plan_all(trial* s, const pb_iteration_groups* iteration) {
  const char* unused;
  s->plan.count = iteration->count;
  for (int k = 0; k < s->plan.count; ++k) {
    pb_plan best;
    s->tiles.built = k + 1;
    if (!plan_stage(s, &iteration->groups[k], &best)) return false;
    s->plan.stages[k] = best;
  }
  pb_plan last = s->plan.stages[s->plan.count - 1];
  bool legal = cost_with(s, &last, &unused);
  s->plan.loops.cycles = last.cycles;
  s->plan.loops.port = last.port;
  s->plan.loops.bound = s->bound;
  for (int k = 0; k < s->plan.count && !s->tiles.stages->in_turn; ++k) s->plan.stages[k].bound = s->bound;
  return legal;
}

typedef struct search {
  const pb_chip* chip;
  const pb_stages* stages;
  pb_kernel_plan* best;
  bool found;
  pb_select_memo memo; // of all choices: they differ in few of their nests
} search;

static void keep(search* f, const pb_kernel_plan* plan) {
  pb_plan* stages = f->best->stages;
  if (f->found && pb_plan_price(&plan->loops) >= pb_plan_price(&f->best->loops)) return;
  f->found = true;
  *f->best = *plan;
  f->best->stages = stages;
  memcpy(stages, plan->stages, sizeof *stages * (size_t)plan->count);
}

// Whether the first stage's sums, made ahead, give its unit work that stages behind would keep it from: one of them
// multiplies nothing. What takes the sums of one product for the next is hidden by copies of these already.
static bool hides(const pb_iteration_groups* iteration) {
  for (int k = 2; k < iteration->count; ++k) // the second takes the first one's
    if (!iteration->groups[k].contraction) return true;
  return false;
}

// Iterations of so many steps along each shared loop. Returns whether more room would change nothing: the stages fit,
// or cannot be tiled so. *cycles: the least so far.
static bool consider(search* f, const int64_t* steps, int way, room room, int64_t* cycles) {
  pb_arena scratch = {0};
  const pb_stages* stages = f->stages;
  const char* unused;
  trial* s = PB_NEW(&scratch, trial);
  s->arena = &scratch;
  s->room = room;
  s->plan = (pb_kernel_plan){.skewed = way == AHEAD, .holds = way == HELD};
  s->plan.loops = (pb_plan){.bound = ""};
  pb_plan_begin(&s->plan.loops);
  bool moved = pb_stages_are_moved(stages); // by movers beside a core, whose code goes on meanwhile
  s->plan.stages = PB_NEW_ARRAY(&scratch, pb_plan, (size_t)stages->program->nest_count + 1);
  for (int k = 0; k < stages->shared; ++k)
    if (steps[k] < stages->extent[k]) s->plan.loops.axes[s->plan.loops.axis_count++] = (pb_axis){k, steps[k], 0};
  bool turns = room == ROOMY && (!moved || s->plan.loops.axis_count); // else no iteration comes before another
  pb_plan_home_of(&s->plan.loops, moved ? PB_OF_X : PB_OF_RESULT)->copies = turns ? 2 : 1;
  pb__stage_plan_begin(f->chip, stages, &s->plan, &scratch, &s->tiles);
  s->tiles.memo = &f->memo;
  const pb_iteration_groups* iteration = pb__stage_plan_iteration(&s->tiles, &unused);
  bool possible = iteration != NULL && pb__stage_values_fit(&s->tiles, iteration) && (way != AHEAD || hides(iteration)),
       planned = possible && plan_all(s, iteration);
  if (planned && s->plan.loops.cycles < *cycles) *cycles = s->plan.loops.cycles;
  if (planned) keep(f, &s->plan);
  pb_arena_free(&scratch);
  return planned || !possible;
}

// All ways and rooms that make a difference: cores wait for no copies but those of movers beside them. Returns the
// least cycles.
static int64_t consider_steps(search* f, const int64_t* steps) {
  int64_t cycles = INT64_MAX;
  bool waits = !f->stages->in_turn, moved = pb_stages_are_moved(f->stages);
  for (int way = waits ? HELD : PLAIN; way < (waits ? WAYS : AHEAD); ++way) {
    if (way == PLAIN && cycles < INT64_MAX) continue;
    for (room room = waits || moved ? ROOMY : TIGHT; room <= TIGHT; ++room)
      if ((waits || room != PRODUCTS) && consider(f, steps, way, room, &cycles)) break;
  }
  return cycles;
}

// Whether few rows of blocks are left over by steps of so many rows.
static bool fits_blocks(const pb_stages* s, int64_t step) {
  const pb_blocks* blocks = s->blocks;
  for (int b = 0; b < blocks->count; ++b)
    if (blocks->items[b].rows < step || (blocks->items[b].rows % step && b + 1 < blocks->count)) return false;
  return step % UNEVEN_STEP == 0 || step == 1 || s->rows_in_lanes;
}

// The next step below `step` that is worth trying along a shared loop; 0: none is left.
static int64_t next_step(const search* f, int at, int64_t step) {
  const pb_blocks* blocks = f->stages->blocks;
  int64_t extent = f->stages->extent[at], outer = 1;
  bool staged = f->stages->near >= 0;
  if (!f->stages->in_turn) return pb_next_step(extent, step);
  for (int k = 0; k < at; ++k) outer *= f->stages->extent[k];
  while (--step > 0) {
    bool uneven = outer >= SHARES && step % UNEVEN_STEP == 0 && step <= MOST_UNEVEN && !staged;
    uneven |= staged && step % UNEVEN_STEP == 0 && (step & (step - 1)) == 0;
    if (blocks ? fits_blocks(f->stages, step) : extent % step == 0 || uneven) break;
  }
  return step;
}

// Whether iterations of the loop read some of a tensor alike: windows over it overlap along it.
static bool overlaps(const pb_stages* s, int loop) {
  const pb_program* p = s->program;
  for (int n = 0; n < p->nest_count; ++n)
    for (int a = 0; a + 1 < p->nests[n].access_count; ++a) {
      const pb_access* access = &p->nests[n].access[a];
      for (int r = 0; r < access->rank; ++r) {
        if (!access->index[r].coef[s->dim[n][loop]]) continue;
        for (int d = 0; d < p->nests[n].dim_count; ++d)
          if (d != s->dim[n][loop] && access->index[r].coef[d] && p->nests[n].extent[d] > 1) return true;
      }
    }
  return false;
}

// One iteration along a loop. In a core's own memory loops along neighbours of what is stored are shared as well: of
// these a row of lanes, for code has no lanes in shorter ones.
static int64_t one_of(const search* f, int loop) {
  const pb_stages* s = f->stages;
  int64_t lanes = s->near < 0 ? 1 : pb_vector_facts_of(f->chip).lanes;
  bool along = false;
  for (int n = 0; n < s->program->nest_count; ++n)
    along |= pb_access_stride(pb_nest_store(&s->program->nests[n]), s->dim[n][loop]) == 1;
  return !along ? 1 : s->extent[loop] < lanes ? s->extent[loop] : lanes;
}

// Tiles along one loop, of one iteration along those around it, or (alone) of all, and of all along those inside it.
static void search_loop(search* f, int at, bool alone, int64_t first, int64_t least) {
  int64_t steps[PB_MAX_SHARED];
  for (int k = 0; k < f->stages->shared; ++k) steps[k] = k < at && !alone ? one_of(f, k) : f->stages->extent[k];
  for (steps[at] = first; steps[at] >= least && (!f->found || steps[at] >= one_of(f, at));
       steps[at] = next_step(f, at, steps[at])) {
    int64_t cycles = consider_steps(f, steps);
    // shorter iterations only wait more
    if (!f->stages->in_turn && f->found && cycles / HOPELESS > f->best->loops.cycles) break;
  }
}

// Whether pointwise stages repeat what they read of a tensor along the loop, all of it in each iteration.
static bool repeats(const pb_stages* s, int loop) {
  const pb_program* p = s->program;
  for (int n = 0; n < p->nest_count; ++n)
    for (int a = 0; p->nests[n].reduce == PB_SET && a + 1 < p->nests[n].access_count; ++a)
      if (p->values[p->value_of[n][a]].kind == PB_VALUE_INPUT &&
          !pb_access_uses(&p->nests[n].access[a], s->dim[n][loop]))
        return true;
  return false;
}

// Tiles of parts of two loops, and of all of the others: of the one the longest few steps that there are plans for
// beside each step of the other.
static void search_pairs(search* f) {
  const pb_stages* s = f->stages;
  for (int b = 1; b < s->shared; ++b)
    for (int a = 0; a < b; ++a) {
      int64_t steps[PB_MAX_SHARED];
      memcpy(steps, s->extent, sizeof steps);
      while ((steps[b] = next_step(f, b, steps[b])) >= one_of(f, b)) {
        int fit = 0;
        steps[a] = s->extent[a];
        while (fit < MOST_BESIDE && (steps[a] = next_step(f, a, steps[a])) >= one_of(f, a))
          fit += consider_steps(f, steps) < INT64_MAX;
      }
    }
}

// Tiles of parts of two loops: where windows overlap along the outer one the longest rows that there are plans for,
// else (`shorter`) also shorter ones, which take more rows together.
static void search_tiles(search* f, int outer, bool shorter) {
  int64_t steps[PB_MAX_SHARED];
  bool any = false;
  for (int k = 0; k < f->stages->shared; ++k) steps[k] = k < outer ? 1 : f->stages->extent[k];
  for (int64_t step = next_step(f, outer + 1, steps[outer + 1]); step >= 1 && (shorter || !any);
       step = next_step(f, outer + 1, step)) {
    steps[outer + 1] = step;
    for (steps[outer] = f->stages->extent[outer]; steps[outer] > 1; steps[outer] = next_step(f, outer, steps[outer]))
      any |= consider_steps(f, steps) < INT64_MAX;
  }
}

// Whether the best plan has all of a loop in each iteration.
static bool takes_whole(const search* f, int loop) {
  for (int b = 0; b < f->best->loops.axis_count; ++b)
    if (f->best->loops.axes[b].dim == loop) return false;
  return f->found;
}

// More copies of what the best plan's stages hold.
static void deepen(search* f) {
  pb_arena scratch = {0};
  const char* unused;
  trial* s = PB_NEW(&scratch, trial);
  s->arena = &scratch;
  s->plan = *f->best;
  pb__stage_plan_begin(f->chip, f->stages, &s->plan, &scratch, &s->tiles);
  const pb_iteration_groups* iteration = pb__stage_plan_iteration(&s->tiles, &unused);
  s->tiles.built = s->plan.count;
  const pb_judge whole = {.cost = cost_whole, .user = s};
  if (iteration) pb_plan_deepen(f->chip, s->plan.stages, s->plan.count, &whole, &f->best->loops);
  pb_arena_free(&scratch);
}

// In caches loops further out are tiled only where each iteration reads weights again, and as long as all of those
// inside are in one already. In a core's own memory what one loop alone moves may be all that has to come in parts.
pb_status pb_stage_plan_make(const pb_chip* chip, const pb_stages* s, pb_arena* arena, pb_diag* diag,
                             pb_kernel_plan* plan) {
  pb_arena scratch = {0};
  search f = {.chip = chip, .stages = s, .best = plan, .memo = {.chip = chip, .arena = &scratch}};
  bool moves = !s->in_turn, cached = s->in_caches;
  int last = s->shared - 1;
  *plan = (pb_kernel_plan){.stages = PB_NEW_ARRAY(arena, pb_plan, (size_t)s->program->nest_count + 1)};
  if (!s->shared) (void)consider_steps(&f, NULL);
  for (int at = last; at >= 0; --at) {
    bool again = !s->blocks && pb_program_products_by_weights(s->program) > 0;
    if (cached && at < last && !(again && takes_whole(&f, at + 1))) break;
    search_loop(&f, at, false, s->blocks ? next_step(&f, at, s->extent[at]) : s->extent[at],
                cached && at < last ? 2 : 1);
  }
  for (int at = last; at > 0 && s->near >= 0; --at) search_loop(&f, at, true, next_step(&f, at, s->extent[at]), 1);
  if (moves && last > 0 && overlaps(s, last - 1))
    search_tiles(&f, last - 1, false);
  else if (moves && last > 0 && repeats(s, last - 1))
    search_tiles(&f, last - 1, true);
  if (s->near >= 0 && f.found && f.best->loops.axis_count > 1) search_pairs(&f);
  if (moves && f.found) deepen(&f);
  pb_arena_free(&scratch);
  if (f.found) return PB_OK;
  return pb_unsupported(diag, (pb_place){.what = s->program->nests[0].name}, 4010, NULL,
                        "%s cannot run this: no tile of the loops that its stages share fits", chip->name);
}
