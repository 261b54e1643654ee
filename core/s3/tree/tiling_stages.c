// From a plan to the tiled kernel of several stages: loops over tiles of what the stages share, and in each iteration
// the stages one after the other, each tiled as a kernel of one stage is, on buffers that hold what lies between them.
#include "core/s3/tree/tiling_stages.h"

#include <string.h>

enum {
  FEW_PARTS = 8, // of work in front of which a thread brings what all of it reads
  PIECES = 8     // in which what several stages read is brought
};

// Iterations that the axes make of the shared loops, or of a block of them.
static int64_t iterations_of(const pb_stages* s, const pb_block* block, const pb_plan* plan) {
  int64_t left[PB_MAX_SHARED], iterations = 1;
  memcpy(left, s->extent, sizeof left);
  if (block) left[s->blocks->row] = block->rows;
  for (int b = 0; b < plan->axis_count; ++b) {
    const pb_axis* axis = &plan->axes[b];
    iterations *= (left[axis->dim] + axis->step - 1) / axis->step;
    left[axis->dim] = axis->step;
  }
  return iterations;
}

// ---- buffers ----

int* pb__stages_no_buffers(const pb_iteration_groups* iteration, pb_arena* arena) {
  size_t bytes = ((size_t)iteration->value_count + 1) * sizeof(int);
  return memset(pb_alloc_raw(arena, bytes), 0xff, bytes);
}

// Values of blocks lie in one place, whichever block it is: as large as that of the most keys, which is the first,
// needs them, outside of its loops.
static void share_between(pb_stage_tiles* s, const pb_iteration_groups* iteration, int first, int end, int* buffer) {
  if (!s->between) s->between = pb__stages_no_buffers(iteration, s->arena);
  for (int v = 0; v < iteration->value_count; ++v)
    if (iteration->of[v].maker >= first && iteration->of[v].maker < end) buffer[v] = s->between[v];
}

bool pb__stages_allocate(pb_tiling* t, pb_stage_tiles* s, const pb_iteration_groups* iteration, int first, int end,
                         int level, int* buffer) {
  if (s->stages->blocks) {
    share_between(s, iteration, first, end, buffer);
    level = t->base;
  }
  for (int v = 0; v < iteration->value_count; ++v) {
    int maker = iteration->of[v].maker, home = iteration->of[v].home;
    if (maker < first || maker >= end || home != v) continue;
    pb_access own = pb_value_shape(&iteration->values[v]);
    if (buffer[v] >= 0 && t->buffers[buffer[v]].shape[0] < pb_access_elements(&own))
      return pb__tiling_fail(t, "the first block is not the one whose values take most");
    if (buffer[v] >= 0) continue;
    if (iteration->groups[maker].registers) // by element number
      own = (pb_access){.type = own.type, .rank = 1, .shape = {pb_access_elements(&own)}};
    else if (iteration->of[v].matrix || iteration->groups[maker].contraction)
      pb__tiling_spread(t->chip, iteration->of[v].memory, &own, own.rank - 2);
    pb__tiling_own(t, &own, level, iteration->of[v].memory,
                   s->plan->skewed && end == 1 ? 1 : pb_plan_copies(&s->plan->loops, PB_OF_RESULT), "between");
    if (t->failure) return false;
    buffer[v] = own.buffer;
    if (s->stages->blocks) s->between[v] = own.buffer;
  }
  for (int v = 0; v < iteration->value_count; ++v)
    if (iteration->of[v].maker >= first && iteration->of[v].maker < end && iteration->of[v].home >= 0)
      buffer[v] = buffer[iteration->of[v].home];
  return true;
}

// The dim of the load that the first stage to take the value walks outermost; -1: it walks none of it so.
static int walked_first(const pb_stage_tiles* s, const pb_iteration_groups* iteration, int value, const pb_nest* load) {
  for (int k = 0; k < iteration->count && k < s->built; ++k) {
    const pb_group* g = &iteration->groups[k];
    int walked = s->plan->stages[k].axis_count ? s->plan->stages[k].axes[0].dim : 0;
    for (int a = 0; a + 1 < g->main.access_count; ++a) {
      if (iteration->origin[k][iteration->views[k].value_of[g->main_index][a]] != value) continue;
      for (int d = 0; d < load->dim_count; ++d)
        if (pb__moves_same(&g->main.access[a], walked, &load->access[1], d)) return d;
      return -1;
    }
  }
  return -1;
}

// Buffers of what several stages read, filled.
static bool hold(pb_tiling* t, const pb_stage_tiles* s, const pb_iteration_groups* iteration, int level, int* buffer) {
  for (int v = 0; v < iteration->value_count && !t->failure; ++v) {
    const pb_held* held = &iteration->of[v].held;
    pb_nest load;
    if (!held->nest) continue;
    pb_access access = held->nest->access[held->access];
    pb__tiling_buffer(t, &access, held->nest->extent, level, held->memory,
                      pb_plan_copies(&s->plan->loops, PB_OF_RESULT), "held", &load);
    if (t->failure) return false;
    int walked = walked_first(s, iteration, v, &load);
    if (walked >= 0) pb__tiling_in_runs(t->chip, &load, walked, PIECES);
    pb__tiling_add(t, level, &load);
    buffer[v] = access.buffer;
  }
  return !t->failure;
}

// ---- stages ----

// The stage's values lie in their buffers. The origin of what lies between is all zeros.
static void take_buffers(pb_tiling* t, const pb_iteration_groups* iteration, int k, const int* buffer) {
  const int* origin = iteration->origin[k];
  size_t values = (size_t)iteration->views[k].value_count;
  int* buffer_of = PB_NEW_ARRAY(t->arena, int, values + 1);
  const pb_access** origin_of = PB_NEW_ARRAY(t->arena, const pb_access*, values + 1);
  for (size_t v = 0; v < values; ++v) {
    buffer_of[v] = buffer[origin[v]];
    origin_of[v] = &iteration->of[origin[v]].held.origin;
  }
  pb__tiling_take_buffers(t, buffer_of, origin_of);
}

// How often it is done. An iteration of what is left counts as a full one: its loops are short, and vectors are as
// dear.
static int64_t times_done(const pb_tiling* t, const pb_stage_tiles* s, pb_iteration_kind kind, int level) {
  int64_t iterations = level == t->base ? s->parts : 1; // each part brings what all of them read
  bool counted = kind == PB_ITERATION_COPY || s->stages->blocks;
  if (!counted) return kind == PB_ITERATION_FULL ? iterations_of(s->stages, NULL, &s->plan->loops) : 0;
  for (int l = 1; l <= level; ++l) iterations *= t->body[l]->extent;
  return iterations;
}

// Plans of stages that are planned as they come.
static bool plan_rest(const pb_tiling* t, const pb_stage_tiles* s, const pb_iteration_groups* iteration, int k,
                      pb_plan* plan, const char** why) {
  if (iteration->plans && iteration->plans[k].bound) {
    *plan = iteration->plans[k];
    return true;
  }
  if (!s->rest(t->chip, &iteration->groups[k], plan, why)) return false;
  if (iteration->plans) iteration->plans[k] = *plan;
  return true;
}

// ---- stages as wholes, where movers go on beside them ----

static int find_access(const pb_nest* nest, int buffer) {
  for (int a = 0; a < nest->access_count; ++a)
    if (nest->access[a].buffer == buffer) return a;
  return -1;
}

// Adds the buffers of a memory that nests of the tree take, or (`made`) make, each once.
static void note_taken(const pb_tiling* t, const pb_tree* tree, int memory, bool made, pb_nest* whole) {
  for (const pb_tree* node = tree->first; node; node = node->next) {
    note_taken(t, node, memory, made, whole);
    for (int a = 0; node->kind == PB_TREE_NEST && a < node->nest->access_count; ++a) {
      const pb_access* access = &node->nest->access[a];
      bool near = !access->memref.ptr && access->buffer >= 0 && t->buffers[access->buffer].memory == memory;
      bool stored = a + 1 == node->nest->access_count;
      if (!near || stored != made || find_access(whole, access->buffer) >= 0) continue;
      if (whole->access_count + !made < PB_NEST_ACCESSES) whole->access[whole->access_count++].buffer = access->buffer;
    }
  }
}

// From now on what is added at the level is one stage. NULL: nobody asks for its stages as wholes.
static pb_tree* begin_whole(pb_tiling* t, const pb_stage_tiles* s, int level) {
  if (!pb_stages_are_moved(s->stages)) return NULL;
  pb_tree* node = PB_NEW(t->arena, pb_tree);
  *node = *t->body[level]; // of the loop that it stands in
  node->kind = PB_TREE_STAGE;
  node->level = level;
  node->first = node->last = node->next = NULL;
  pb_tree_put(t->body[level], node);
  return t->body[level] = node;
}

static void end_whole(const pb_tiling* t, const pb_stage_tiles* s, const pb_plan* plan, pb_tree* node) {
  pb_nest* nest = node->nest = PB_NEW(t->arena, pb_nest);
  pb_nest_begin(nest, t->group->main.name, "whole", 0);
  nest->outer_count = node->level;
  note_taken(t, node, s->stages->near, false, nest);
  int taken = nest->access_count;
  note_taken(t, node, s->stages->near, true, nest);
  if (nest->access_count == taken) nest->access[nest->access_count++].buffer = -1; // it makes a tensor, where that is
  nest->access_count = taken + 1;
  node->cycles = plan->cycles + s->chip->stage_cycles;
}

static bool build_stage(pb_tiling* t, pb_stage_tiles* s, const pb_iteration_groups* iteration, pb_iteration_kind kind,
                        int k, int level, const int* buffer) {
  const pb_group* group = &iteration->groups[k];
  pb_plan plan;
  const char* why;
  if ((kind == PB_ITERATION_FULL && !s->block) || !s->rest)
    plan = s->plan->stages[k];
  else if (!plan_rest(t, s, iteration, k, &plan, &why))
    return pb__tiling_fail(t, why);
  if (s->parts) s->cycles += times_done(t, s, kind, level) * (plan.cycles + s->chip->stage_cycles);
  const pb_group* around = t->group;
  const pb_plan* loops = t->plan;
  const struct pb_into* into = t->into;
  int base = t->base;
  pb_tree* body[PB_NEST_OUTERS + 1];
  memcpy(body, t->body, sizeof body);
  t->group = group;
  t->base = level;
  t->plan = &plan;
  t->into = NULL;
  take_buffers(t, iteration, k, buffer);
  pb_tree* whole = begin_whole(t, s, level);
  bool built = pb__tiling_build_group(t);
  if (whole) end_whole(t, s, &plan, whole);
  t->group = around;
  t->plan = loops;
  t->base = base;
  t->into = into;
  memcpy(t->body, body, sizeof body);
  return built;
}

bool pb__stages_build(pb_tiling* t, pb_stage_tiles* s, const pb_iteration_groups* iteration, pb_iteration_kind kind,
                      int first, int end, int level, const int* buffer) {
  for (int k = first; k < end && k < iteration->count && k < s->built; ++k)
    if (!build_stage(t, s, iteration, kind, k, level, buffer)) return false;
  return !t->failure;
}

// ---- loops ----

static bool build_iteration(pb_tiling* t, pb_stage_tiles* s, const pb_iteration_groups* iteration,
                            pb_iteration_kind kind, int level) {
  if (!iteration) return false;
  int* buffer = pb__stages_no_buffers(iteration, t->arena);
  return hold(t, s, iteration, level, buffer) && pb__stages_allocate(t, s, iteration, 0, s->built, level, buffer) &&
         pb__stages_build(t, s, iteration, kind, 0, iteration->count, level, buffer);
}

static bool build_copy(pb_tiling* t, void* user, const pb_nest* copy, int level) {
  pb_stage_tiles* s = user;
  return !s->built || build_iteration(t, s, pb__stages_copy(s, t, copy, level), PB_ITERATION_COPY, level);
}

static bool build_level(pb_tiling* t, const pb_tile* tile, int level, const void* stages);

// What is inside `level` loops, tensors' homes there being brought.
static bool build_inside(pb_tiling* t, pb_stage_tiles* s, const pb_tile* tile, int level) {
  int levels = pb__tiling_levels(t);
  if (s->plan->skewed && level + 1 == levels) return pb__stages_skew(t, s, tile, level);
  if (level < levels) return pb__tiling_axis(t, tile, level, build_level, &s);
  if (s->plan->skewed) return pb__tiling_fail(t, "sums cannot be made ahead without a loop");
  bool full = true;
  for (int b = 0; b < t->plan->axis_count; ++b) full &= tile->extent[t->plan->axes[b].dim] == t->plan->axes[b].step;
  return build_iteration(t, s, pb__stages_next(s, t, tile), full ? PB_ITERATION_FULL : PB_ITERATION_REST, level) &&
         pb__staging_return(t, &s->staging, level, build_copy, s);
}

// Everything inside `level` loops.
static bool build_level(pb_tiling* t, const pb_tile* tile, int level, const void* stages) {
  pb_stage_tiles* s = *(pb_stage_tiles* const*)stages;
  pb_staging outside = s->staging;
  if (s->parts && level == t->base + 1) {
    t->body[level]->parts = s->parts;
    t->body[level]->parts_step = 1;
  }
  bool built = pb__staging_bring(t, &s->staging, tile, level, build_copy, s) && build_inside(t, s, tile, level);
  s->staging = outside;
  return built;
}

// Threads share all iterations of the axes that stand around nothing but each other.
static int64_t parts_of(const pb_tiling* t, const pb_stage_tiles* s) {
  pb_plan outer = *t->plan;
  bool brings;
  outer.axis_count = pb__staging_outer_axes(t, &s->staging, &brings);
  int64_t iterations = iterations_of(s->stages, NULL, &outer);
  const pb_blocks* blocks = s->stages->blocks;
  for (int b = 0; blocks && b < blocks->count; ++b) { // a part has as much of each block
    int64_t some = iterations_of(s->stages, &blocks->items[b], &outer);
    if (!b || some > iterations) iterations = some;
  }
  bool anew = brings && !pb_stages_are_moved(s->stages); // movers bring it once for all parts of a thread
  return anew && iterations > FEW_PARTS ? FEW_PARTS : iterations;
}

void pb_stage_tiles_begin(const pb_chip* chip, const pb_stages* stages, const pb_kernel_plan* plan, pb_arena* arena,
                          pb_stage_tiles* s) {
  *s = (pb_stage_tiles){.chip = chip, .stages = stages, .plan = plan, .arena = arena};
  s->memo = PB_NEW(arena, pb_select_memo);
  *s->memo = (pb_select_memo){.chip = chip, .arena = arena};
}

// An empty tree over the shared loops, which are the dims of its group's main nest.
static void begin_tree(pb_stage_tiles* s, pb_arena* arena, pb_tiling* t) {
  const pb_program* program = s->stages->program;
  pb_group* group = PB_NEW(arena, pb_group);
  group->program = program;
  group->around.program = program;
  group->around.fill_count = s->stages->fill_count;
  memcpy(group->around.fills, s->stages->fills, sizeof s->stages->fills);
  group->memo = s->memo;
  group->main.name = program->nests[program->nest_count - 1].name;
  group->main.dim_count = s->stages->shared;
  memcpy(group->main.extent, s->stages->extent, sizeof s->stages->extent);
  if (s->stages->blocks) group->main.extent[group->main.dim_count++] = s->stages->blocks->keys.keys;
  s->between = NULL;
  pb_tiling_begin(s->chip, group, &s->plan->loops, arena, t);
  s->cycles = 0;
  s->staging = pb__staging_begin(s->chip, s->stages, arena);
  if (s->staging.homes) s->iterations = NULL; // what was read names the buffers of another tree
  s->at = &s->iterations;
}

// Borders of what is stored, which may lie on the chip.
static void add_fills(pb_tiling* t) {
  if (!t->group->around.fill_count) return;
  pb__tiling_take_residents(t);
  pb__tiling_add_fills(t);
  t->into = NULL;
}

static void enter_block(const pb_stages* stages, const pb_block* block, pb_tile* tile) {
  tile->extent[stages->blocks->row] = block->rows;
  tile->origin[stages->blocks->row].cst = block->row;
  tile->extent[stages->shared] = block->keys;
  tile->origin[stages->shared].cst = block->key;
}

bool pb_stage_tiles_build(pb_stage_tiles* s, pb_arena* arena, struct pb_proofs* proofs, pb_tiling* t) {
  begin_tree(s, arena, t);
  t->proofs = proofs;
  if (!pb__tiling_open_axes(t, &t->group->main)) return false;
  s->parts = s->stages->in_turn ? parts_of(t, s) : 0;
  add_fills(t);
  const pb_blocks* blocks = s->stages->blocks;
  for (s->block = 0; s->block < (blocks ? blocks->count : 1); ++s->block) {
    pb_tile tile;
    pb__tile_whole(&t->group->main, &tile);
    if (blocks) enter_block(s->stages, &blocks->items[s->block], &tile);
    if (!build_level(t, &tile, t->base, &s) || t->failure) return false;
  }
  return true;
}
