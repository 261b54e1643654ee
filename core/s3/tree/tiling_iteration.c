// One iteration of the loops that the stages of a kernel share: its nests, as large as a tile makes them, by stage, and
// where lies what the stages make for each other. On memories of the chip's own a value between lies where its stage's
// last instruction leaves it, and the stages that take it must read it there; code of cores takes it from wherever the
// rest of the kernel's values are.
#include "core/s3/kernel/flat.h"
#include "core/s3/kernel/landing.h"
#include "core/s3/kernel/vector_kernel.h"
#include "core/s3/tree/tiling_stages.h"

#include <string.h>

void pb__stages_tile(const pb_stages* s, int n, const pb_tile* shared, pb_tile* own) {
  pb__tile_whole(&s->program->nests[n], own);
  for (int k = 0; k < s->shared; ++k) {
    own->extent[s->dim[n][k]] = shared->extent[k];
    own->origin[s->dim[n][k]] = shared->origin[k];
  }
  int key = s->blocks ? s->blocks->keys.dim[n] : -1;
  if (key < 0) return;
  own->extent[key] = shared->extent[s->shared] / s->blocks->keys.unit[n];
  own->origin[key].cst = shared->origin[s->shared].cst / s->blocks->keys.unit[n];
}

// The loop that an index of a value between goes over, of those that a tile has a part of; -1: it has all of it.
static int loop_of(const pb_stages* s, int value, int r) {
  return s->blocks && s->blocks->keys.index[value] == r ? s->shared : s->loop[value][r];
}

// How much of that loop.
static int64_t extent_of(const pb_stages* s, const pb_tile* tile, int value, int r) {
  int loop = loop_of(s, value, r);
  return loop == s->shared ? tile->extent[loop] / s->blocks->keys.step[value] : tile->extent[loop];
}

// A value between begins anew in each iteration.
static void stay_inside(const pb_stages* s, const pb_program* iteration, int value, pb_access* access) {
  memcpy(access->shape, iteration->values[value].shape, sizeof access->shape);
  for (int r = 0; r < access->rank; ++r) {
    if (loop_of(s, value, r) < 0) continue;
    memset(&access->index[r].coef[PB_NEST_DIMS], 0, sizeof(int64_t) * PB_NEST_OUTERS);
    access->index[r].cst = 0;
  }
}

// The kernel's nests on one iteration: values between are as large as that makes them.
static void program_of(const pb_tiling* t, const pb_stages* s, const pb_tile* tile, pb_arena* arena,
                       pb_program* iteration) {
  const pb_program* p = s->program;
  *iteration = *p;
  iteration->values = PB_NEW_ARRAY(arena, pb_value, (size_t)p->value_count + 1);
  iteration->nests = pb_alloc_raw(arena, (size_t)p->nest_count * sizeof *iteration->nests);
  memcpy(iteration->values, p->values, sizeof *p->values * (size_t)p->value_count);
  for (int v = 0; v < p->value_count; ++v)
    for (int r = 0; pb_program_is_local(p, v) && r < p->values[v].rank; ++r)
      if (loop_of(s, v, r) >= 0) iteration->values[v].shape[r] = extent_of(s, tile, v, r);
  for (int n = 0; n < p->nest_count; ++n) {
    pb_tile own;
    pb__stages_tile(s, n, tile, &own);
    pb__tiling_expand(t, &p->nests[n], &p->nests[n], &own, &iteration->nests[n]);
    for (int a = 0; a < p->nests[n].access_count; ++a)
      if (pb_program_is_local(p, p->value_of[n][a]))
        stay_inside(s, iteration, p->value_of[n][a], &iteration->nests[n].access[a]);
  }
}

// The nest with what lies between in its memories; access `carried` in `from`.
static void flat_of(const pb_iteration_groups* iteration, const pb_program* view, int n, const int* origin, int carried,
                    int from, pb_flat* flat) {
  pb_flat_begin(&view->nests[n], flat);
  for (int a = 0; a < view->nests[n].access_count; ++a)
    flat->access[a].memory = iteration->of[origin[view->value_of[n][a]]].memory;
  if (carried >= 0) flat->access[carried].memory = from;
}

// The memory in which a stage's main nest leaves its result.
static int main_memory(const pb_stage_tiles* s, const pb_iteration_groups* iteration, int k) {
  const pb_group* g = &iteration->groups[k];
  pb_flat flat;
  if (g->contraction) return g->contraction->operands[g->insn_roles.y].memory;
  flat_of(iteration, &iteration->views[k], g->main_index, iteration->origin[k], -1, 0, &flat);
  pb_flat_cut_rows(&flat, g->lanes);
  return pb_flat_lands(s->memo, &flat, -1);
}

// The memory in which a stage leaves its result.
static int result_memory(const pb_stage_tiles* s, const pb_iteration_groups* iteration, int k) {
  const pb_group* g = &iteration->groups[k];
  const pb_program* view = &iteration->views[k];
  const int* origin = iteration->origin[k];
  pb_flat flat;
  int memory = main_memory(s, iteration, k);
  for (int t = 0; t < g->around.epilogue_count && memory >= 0; ++t) {
    const pb_epilogue* epilogue = &g->around.epilogues[t];
    flat_of(iteration, view, epilogue->number, origin, epilogue->carried, memory, &flat);
    memory = pb_flat_lands(s->memo, &flat, epilogue->carried);
  }
  return memory;
}

// Whether the access touches the same part of its tensor as those before it; *held, where it is the first, is filled.
// What a box tests, or computed indices find, is no part with a place of its own.
static bool is_same_part(const pb_tiling* t, const pb_nest* nest, int a, pb_held* held) {
  pb_access part, origin;
  const pb_access* access = &nest->access[a];
  if (a + 1 == nest->access_count || access->boxed || access->splat || access->gathered || !access->rank) return false;
  pb_tiling plain;
  pb_tiling_begin(t->chip, t->group, t->plan, t->arena, &plain);
  plain.base = t->base;
  pb__tiling_box(&plain, access, nest->extent, pb__tiling_levels(t), &part, &origin);
  if (!held->nest) {
    *held = (pb_held){.nest = nest, .access = a, .part = part, .origin = origin};
    return true;
  }
  return pb__tiling_same_part(&part, &origin, &held->part, &held->origin);
}

// Whether the part ends with a row of the memory: instructions take whole rows of lanes.
static bool ends_rows(const pb_chip* chip, const pb_held* held) {
  int64_t bytes = pb_type_bits(held->part.type) / 8;
  return held->part.shape[held->part.rank - 1] * bytes % chip->memories[held->memory].row_bytes == 0;
}

// The tensors of which several stages read the same part. Returns how many there are.
static int note_held(const pb_stage_tiles* s, const pb_tiling* t, const pb_program* program, const int* of,
                     pb_iteration_groups* iteration) {
  int count = 0;
  for (int v = 0; v < program->value_count; ++v) {
    pb_held held = {.nest = NULL};
    int stage = -1;
    bool several = false, resident = program->values[v].space != NULL; // lies on the chip as it is
    bool same = program->values[v].kind != PB_VALUE_CONST && !pb_program_is_local(program, v) && !resident;
    PB_FOR_ACCESSES (n, a, program, v) {
      same = same && is_same_part(t, &program->nests[n], a, &held);
      several |= stage >= 0 && stage != of[n];
      stage = of[n];
    }
    held.memory = pb__tiling_landing(s->chip, program->values[v].type, false);
    if (!same || !several || held.memory < 0 || !ends_rows(s->chip, &held)) continue;
    iteration->of[v].held = held;
    iteration->of[v].memory = held.memory;
    ++count;
  }
  return count;
}

// The value between stages that a stage makes; -1: what it makes leaves the kernel.
static int result_of(const pb_program* program, const pb_iteration_groups* iteration, int k) {
  const pb_group* g = &iteration->groups[k];
  int made = iteration->origin[k][pb_program_stored(&iteration->views[k], pb_around_last(&g->around))];
  return pb_program_is_local(program, made) ? made : -1;
}

// Whether a stage sums along several rows of what it reads for each result, so that commands go from result to result
// by as many rows.
static bool sums_rows(const pb_group* g) {
  const pb_access* x = &g->main.access[0];
  bool rows = false, lanes = false;
  for (int d = 0; d < g->main.dim_count && !g->contraction && x->rank > 2; ++d) {
    if (!pb_nest_reduces_over(&g->main, d)) continue;
    rows |= x->index[x->rank - 2].coef[d] != 0;
    lanes |= x->index[x->rank - 1].coef[d] != 0;
  }
  return rows && lanes;
}

// Of chips whose instructions take tiles of memories, stage by stage: what a later one reads has a memory by then.
static bool place_results(const pb_stage_tiles* s, const pb_program* program, pb_iteration_groups* iteration) {
  for (int k = 0; k < iteration->count; ++k) {
    const pb_group* g = &iteration->groups[k];
    const int* value_of = iteration->views[k].value_of[g->main_index];
    int made = result_of(program, iteration, k);
    if (g->contraction) iteration->of[iteration->origin[k][value_of[g->x]]].matrix = true;
    int summed = sums_rows(g) ? iteration->origin[k][value_of[0]] : -1;
    if (summed >= 0 && main_memory(s, iteration, k) == iteration->of[summed].memory)
      iteration->of[summed].matrix = true;
    if (made < 0) continue;
    iteration->of[made].memory = result_memory(s, iteration, k);
    if (iteration->of[made].memory < 0 || iteration->of[made].memory == s->chip->system_memory) return false;
  }
  return true;
}

// Of cores that run code: beside the tensors, in place of what is read for the last time.
static void place_code(const pb_stage_tiles* s, const pb_program* program, const int* of, pb_arena* arena,
                       pb_iteration_groups* iteration) {
  int* home;
  pb_stages_homes(program, of, pb_vector_facts_of(s->chip).lanes, arena, &home);
  for (int v = 0; v < program->value_count; ++v) {
    iteration->of[v].memory = s->staging.memory;
    iteration->of[v].home = home[v];
  }
}

// The values of a view, as the program that it is of has them.
static int* origins_of(const pb_program* program, const int* nests, int count, pb_arena* arena) {
  int *origin = PB_NEW_ARRAY(arena, int, (size_t)program->value_count + 1), at = 0;
  for (int v = -1; (v = pb_program_next_value(program, nests, count, v)) >= 0;) origin[at++] = v;
  return origin;
}

static bool same_matrices(const pb_vkernel* a, const pb_vkernel* b) {
  return a->matrix.product.insn == b->matrix.product.insn && a->rows == b->rows && a->depth == b->depth;
}

// Notes with each stage that multiplies matrices how many shapes of such the stages have.
static void count_shapes(pb_iteration_groups* iteration) {
  int shapes = 0;
  for (int k = 0; k < iteration->count; ++k) {
    const pb_vkernel* own = iteration->groups[k].registers;
    bool first = own && own->matrix.product.insn;
    for (int j = 0; j < k && first; ++j)
      first = !iteration->groups[j].registers || !same_matrices(own, iteration->groups[j].registers);
    shapes += first;
  }
  for (int k = 0; k < iteration->count; ++k) {
    pb_vkernel* own = iteration->groups[k].registers;
    if (own && own->matrix.product.insn) own->shapes = shapes;
  }
}

// The nests, whose locals are buffers but for those that stay in one stage, as kernels: of[] is each one's stage.
// false: the chip cannot run the last one that is counted; where cores run code, its group says why.
static bool read_groups(const pb_stage_tiles* s, const pb_program* program, const int* of, int stages, pb_arena* arena,
                        pb_iteration_groups* iteration) {
  int* nests = PB_NEW_ARRAY(arena, int, (size_t)program->nest_count + 1);
  pb_diag quiet = {.sink = pb_diag_drop};
  iteration->views = PB_NEW_ARRAY(arena, pb_program, (size_t)stages + 1);
  iteration->groups = pb_alloc_raw(arena, ((size_t)stages + 1) * sizeof *iteration->groups);
  iteration->origin = PB_NEW_ARRAY(arena, int*, (size_t)stages + 1);
  for (int k = 0; k < stages; ++k) {
    pb_group* group = &iteration->groups[iteration->count++];
    int count = 0;
    for (int n = 0; n < program->nest_count; ++n)
      if (of[n] == k) nests[count++] = n;
    pb_program_view(program, nests, count, arena, &iteration->views[k]);
    iteration->origin[k] = origins_of(program, nests, count, arena);
    if (pb_group_read(&iteration->views[k], s->chip, arena, &quiet, group) != PB_OK || group->plain) return false;
    group->memo = s->memo;
    group->alone = true;
  }
  count_shapes(iteration);
  return true;
}

static void begin(const pb_program* program, pb_arena* arena, pb_iteration_groups* iteration) {
  iteration->values = program->values;
  iteration->value_count = program->value_count;
  iteration->of = PB_NEW_ARRAY(arena, pb_between, (size_t)program->value_count + 1);
  for (int v = 0; v < program->value_count; ++v) iteration->of[v] = (pb_between){.memory = -1, .maker = -1, .home = v};
}

// The program's nests by stage. false: iteration->why says why the chip cannot run it.
static bool read_stages(const pb_stage_tiles* s, const pb_tiling* t, const pb_program* program, pb_arena* arena,
                        pb_iteration_groups* iteration) {
  int* of;
  int stages = s->plan->skewed ? pb_stages_split_first(program, arena, &of) : pb_stages_split(program, arena, &of);
  iteration->why = "the chip has no instructions for one of its stages, or they leave the chip";
  begin(program, arena, iteration);
  if (!stages || (s->plan->holds && !note_held(s, t, program, of, iteration))) return false;
  if (!read_groups(s, program, of, stages, arena, iteration)) {
    int last = iteration->count - 1;
    const char* plain = iteration->groups[last].plain;
    if (plain) iteration->why = pb_printf(arena, "stage %d is of no form that vectors walk: %s", last, plain);
    return false;
  }
  for (int k = 0; k < stages; ++k)
    if (result_of(program, iteration, k) >= 0) iteration->of[result_of(program, iteration, k)].maker = k;
  if (iteration->groups[0].registers)
    place_code(s, program, of, arena, iteration);
  else if (!place_results(s, program, iteration))
    return false;
  iteration->why = NULL;
  return true;
}

const pb_iteration_groups* pb__stages_next(pb_stage_tiles* s, pb_tiling* t, const pb_tile* tile) {
  pb_iteration_groups* iteration = *s->at;
  if (!iteration) {
    pb_program program;
    iteration = *s->at = PB_NEW(s->arena, pb_iteration_groups);
    program_of(t, s->stages, tile, s->arena, &program);
    pb__staging_use(&s->staging, &program, s->arena);
    (void)read_stages(s, t, &program, s->arena, iteration);
    iteration->plans = PB_NEW_ARRAY(s->arena, pb_plan, (size_t)iteration->count + 1);
  }
  s->at = &iteration->next;
  if (iteration->why) pb__tiling_fail(t, iteration->why);
  return iteration->why ? NULL : iteration;
}

// Of a tensor, number 0, and a buffer.
const pb_iteration_groups* pb__stages_copy(const pb_stage_tiles* s, pb_tiling* t, const pb_nest* copy, int level) {
  const pb_program* all = s->stages->program;
  pb_iteration_groups* iteration = PB_NEW(t->arena, pb_iteration_groups);
  pb_program program = {.func = all->func, .value_count = 2, .value_capacity = 2, .nest_count = 1};
  bool load = copy->access[1].memref.ptr == NULL;
  const pb_access* own = &copy->access[load];
  program.values = PB_NEW_ARRAY(t->arena, pb_value, 3);
  program.nests = pb_nest_kept(t->arena, copy);
  program.value_of = pb_alloc_array(t->arena, 2, sizeof *program.value_of);
  program.values[0] = all->values[pb_program_value(all, copy->access[!load].memref)];
  program.values[1] = (pb_value){.kind = load ? PB_VALUE_OUTPUT : PB_VALUE_INPUT, .argument = -1, .const_id = -1};
  program.values[1].type = own->type;
  program.values[1].rank = own->rank;
  memcpy(program.values[1].shape, own->shape, sizeof own->shape);
  program.value_of[0][load] = 1;
  program.nests[0].part = "copy";
  program.nests[0].outer_count = level;
  if (!program.nests[0].dim_count) program.nests[0].extent[program.nests[0].dim_count++] = 1;
  pb_program_index(&program, t->arena);
  if (!read_stages(s, t, &program, t->arena, iteration)) pb__tiling_fail(t, iteration->why);
  return iteration->why ? NULL : iteration;
}
