// Kernels of several stages on memories of their own: in each iteration of the shared loops the stages one after the
// other, each tiled as a kernel of one stage is, on buffers that hold what lies between them. A value between lies
// where its stage's last instruction leaves it, and the stages that take it must read it there.
#include "core/s3/tree/tiling_groups.h"

#include "core/s3/kernel/flat.h"
#include "core/s3/transfer_paths.h"
#include "core/select/cover.h"

#include <string.h>

enum { PIECES = 8 }; // in which what several stages read is brought

static bool is_between(const pb_stages* s, int value) { return s->program->values[value].kind == PB_VALUE_LOCAL; }

// ---- reading an iteration ----

// The nest with what lies between in its memories; access `carried` in `from`.
static void flat_of(const pb_iteration_groups* iteration, const pb_program* view, int n, const int* origin, int carried,
                    int from, pb_flat* flat) {
  pb_flat_begin(&view->nests[n], flat);
  for (int a = 0; a < view->nests[n].access_count; ++a)
    flat->access[a].memory = iteration->memory[origin[view->value_of[n][a]]];
  if (carried >= 0) flat->access[carried].memory = from;
}

// Where an instruction, or the last of several, leaves the value of a nest; -1: none computes it.
static int lands(const pb_stage_tiles* s, const pb_flat* flat, int carried) {
  pb_match match;
  pb_cover cover;
  const char* why;
  if (pb_select_again(s->memo, flat, &match, &why)) return match.insn->operands[match.insn->dest].memory;
  if (flat->reduce != PB_SET || !pb_cover_find(s->chip, flat, carried, true, &cover)) return -1;
  return cover.pieces[cover.count - 1].memory;
}

// The memory in which a stage leaves its result. `origin`: by value of the view, that of the kernel.
static int result_memory(const pb_stage_tiles* s, const pb_iteration_groups* iteration, int k, const int* origin) {
  const pb_group* g = &iteration->groups[k];
  const pb_program* view = &iteration->views[k];
  pb_flat flat;
  int memory;
  flat_of(iteration, view, g->main_index, origin, -1, 0, &flat);
  pb_flat_cut_rows(&flat, g->lanes);
  memory = g->contraction ? g->contraction->operands[g->insn_roles.y].memory : lands(s, &flat, -1);
  for (int t = 0; t < g->around.epilogue_count && memory >= 0; ++t) {
    const pb_epilogue* epilogue = &g->around.epilogues[t];
    flat_of(iteration, view, epilogue->number, origin, epilogue->carried, memory, &flat);
    memory = lands(s, &flat, epilogue->carried);
  }
  return memory;
}

// Whether a stage's matrix instruction reads the rows of the value.
static void note_matrix(pb_iteration_groups* iteration, int k, const int* origin) {
  const pb_group* g = &iteration->groups[k];
  if (g->contraction) iteration->matrix[origin[iteration->views[k].value_of[g->main_index][g->x]]] = true;
}

// Movers bring elements of the type here; -1: nowhere.
static int landing_of(const pb_chip* chip, pb_type type) {
  for (int m = 0; m < chip->memory_count; ++m)
    if (m != chip->system_memory && pb_transfer_via(chip, m, type) == m) return m;
  return -1;
}

// Whether the access touches the same part of its tensor as those before it; *held, where it is the first, is filled.
// What a box tests, or computed indices find, is no part with a place of its own.
static bool is_same_part(const pb_tiling* t, const pb_nest* nest, int a, pb_held* held) {
  pb_access part, origin;
  const pb_access* access = &nest->access[a];
  if (a + 1 == nest->access_count || access->boxed || access->splat || access->gathered || !access->rank) return false;
  pb_tiling plain = {.chip = t->chip, .plan = t->plan, .base = t->base};
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
    bool several = false, same = program->values[v].kind != PB_VALUE_CONST && !is_between(s->stages, v);
    for (int n = 0; n < program->nest_count; ++n)
      for (int a = 0; a < program->nests[n].access_count && same; ++a) {
        if (program->value_of[n][a] != v) continue;
        same = is_same_part(t, &program->nests[n], a, &held);
        several |= stage >= 0 && stage != of[n];
        stage = of[n];
      }
    held.memory = landing_of(s->chip, program->values[v].type);
    if (!same || !several || held.memory < 0 || !ends_rows(s->chip, &held)) continue;
    iteration->held[v] = held;
    iteration->memory[v] = held.memory;
    ++count;
  }
  return count;
}

// The stages of an iteration, in order: what a later one reads has a memory by then.
static bool read_turn(pb_stage_tiles* s, const pb_tiling* t, const pb_tile* tile, pb_iteration_groups* iteration) {
  pb_program program;
  int *of, values = s->stages->program->value_count;
  pb_diag quiet = {.sink = pb_diag_drop};
  pb_tiling_iteration(t, s->stages, tile, s->arena, &program);
  int* nests = PB_NEW_ARRAY(s->arena, int, (size_t)program.nest_count + 1);
  iteration->values = program.values;
  iteration->count =
      s->skewed ? pb_stages_split_first(&program, s->arena, &of) : pb_stages_split(&program, s->arena, &of);
  if (!iteration->count) return false;
  iteration->views = PB_NEW_ARRAY(s->arena, pb_program, (size_t)iteration->count + 1);
  iteration->groups = PB_NEW_ARRAY(s->arena, pb_group, (size_t)iteration->count + 1);
  iteration->origin = PB_NEW_ARRAY(s->arena, int*, (size_t)iteration->count + 1);
  iteration->memory = PB_NEW_ARRAY(s->arena, int, (size_t)values + 1);
  iteration->matrix = PB_NEW_ARRAY(s->arena, bool, (size_t)values + 1);
  iteration->maker = PB_NEW_ARRAY(s->arena, int, (size_t)values + 1);
  iteration->held = PB_NEW_ARRAY(s->arena, pb_held, (size_t)values + 1);
  for (int v = 0; v < values; ++v) iteration->memory[v] = iteration->maker[v] = -1;
  if (s->holds && !note_held(s, t, &program, of, iteration)) return false;
  for (int k = 0; k < iteration->count; ++k) {
    int count = 0, v = -1;
    for (int n = 0; n < program.nest_count; ++n)
      if (of[n] == k) nests[count++] = n;
    pb_program_view(&program, nests, count, s->arena, &iteration->views[k]);
    int* origin = iteration->origin[k] = PB_NEW_ARRAY(s->arena, int, (size_t)iteration->views[k].value_count + 1);
    for (int at = 0; (v = pb_program_next_value(&program, nests, count, v)) >= 0; ++at) origin[at] = v;
    pb_group* g = &iteration->groups[k];
    if (pb_group_read(&iteration->views[k], s->chip, s->arena, &quiet, g) != PB_OK) return false;
    g->memo = s->memo;
    note_matrix(iteration, k, origin);
    int result = origin[pb_program_stored(&iteration->views[k], pb_around_last(&g->around))];
    if (!is_between(s->stages, result)) continue;
    iteration->memory[result] = result_memory(s, iteration, k, origin);
    iteration->maker[result] = k;
    if (iteration->memory[result] < 0 || iteration->memory[result] == s->chip->system_memory) return false;
  }
  return true;
}

// The turn that is built as the next one; the same loops are built many times.
static const pb_iteration_groups* next_iteration(pb_stage_tiles* s, pb_tiling* t, const pb_tile* tile) {
  int at = s->at++;
  if (at == PB_MAX_ITERATIONS) {
    pb__tiling_fail(t, "remainders in too many loops");
    return NULL;
  }
  if (at == s->iteration_count) {
    pb_iteration_groups* iteration = &s->iterations[s->iteration_count++];
    iteration->fits = read_turn(s, t, tile, iteration);
  }
  if (s->iterations[at].fits) return &s->iterations[at];
  pb__tiling_fail(t, "the chip has no instructions for one of its stages, or they leave the chip");
  return NULL;
}

// ---- building it ----

// Buffers of what the stages from `first` to `end` make for each other.
static bool allocate(pb_tiling* t, const pb_stage_tiles* s, const pb_iteration_groups* iteration, int first, int end,
                     int level, int* buffer) {
  for (int v = 0; v < s->stages->program->value_count; ++v) {
    if (iteration->maker[v] < first || iteration->maker[v] >= end) continue;
    pb_access own = pb_value_shape(&iteration->values[v]);
    if (iteration->matrix[v] || iteration->groups[iteration->maker[v]].contraction)
      pb__tiling_spread(t->chip, iteration->memory[v], &own, own.rank - 2);
    pb__tiling_own(t, &own, level, iteration->memory[v], s->skewed && end == 1 ? 1 : s->loops->result_depth, "between");
    if (t->failure) return false;
    buffer[v] = own.buffer;
  }
  return true;
}

// The dim of the load that the first stage to take the value walks outermost; -1: it walks none of it so.
static int walked_first(const pb_stage_tiles* s, const pb_iteration_groups* iteration, int value, const pb_nest* load) {
  for (int k = 0; k < iteration->count && k < s->built; ++k) {
    const pb_group* g = &iteration->groups[k];
    int walked = s->tiles[k].band_count ? s->tiles[k].bands[0].dim : 0;
    for (int a = 0; a + 1 < g->main.access_count; ++a) {
      if (iteration->origin[k][iteration->views[k].value_of[g->main_index][a]] != value) continue;
      for (int r = 0; r < g->main.access[a].rank; ++r)
        for (int d = 0; d < load->dim_count; ++d)
          if (g->main.access[a].index[r].coef[walked] && load->access[1].index[r].coef[d]) return d;
      return -1;
    }
  }
  return -1;
}

// The load goes piece by piece along a dim: what begins with the first piece does not wait for the last one.
static void bring_in_pieces(const pb_chip* chip, int dim, pb_nest* load) {
  const pb_memory* system = &chip->memories[chip->system_memory];
  int64_t run = pb_type_bits(load->access[1].type) / 8, extent = load->extent[dim], some = 1;
  for (int d = dim + 1; d < load->dim_count; ++d) run *= load->extent[d];
  while (some < extent &&
         (extent % some || some * PIECES < extent || some * run < system->bytes_per_cycle * PB_RUN_BEATS))
    ++some;
  if (load->dim_count < PB_NEST_DIMS && some < extent) pb__tiling_in_pieces(load, dim, some);
}

// Buffers of what several stages read, filled.
static bool hold(pb_tiling* t, const pb_stage_tiles* s, const pb_iteration_groups* iteration, int level, int* buffer) {
  for (int v = 0; v < s->stages->program->value_count && !t->failure; ++v) {
    const pb_held* held = &iteration->held[v];
    pb_nest load;
    if (!held->nest) continue;
    pb_access access = held->nest->access[held->access];
    pb__tiling_buffer(t, &access, held->nest->extent, level, held->memory, s->loops->result_depth, "held", &load);
    if (t->failure) return false;
    int walked = walked_first(s, iteration, v, &load);
    if (walked >= 0) bring_in_pieces(t->chip, walked, &load);
    pb__tiling_add(t, level, &load);
    buffer[v] = access.buffer;
  }
  return !t->failure;
}

static void use_buffers(const pb_tiling* t, const pb_iteration_groups* iteration, const pb_program* view, int n,
                        const int* origin, const int* buffer, pb_nest* nest) {
  for (int a = 0; a < nest->access_count; ++a) {
    int v = origin[view->value_of[n][a]], b = buffer[v];
    if (b < 0) continue;
    // the origin of what lies between is all zeros
    pb__tiling_in_buffer(&nest->access[a], b, t->buffers[b].shape, &iteration->held[v].origin);
  }
}

static bool build_stage(pb_tiling* t, const pb_stage_tiles* s, const pb_iteration_groups* iteration, int k, int level,
                        const int* buffer) {
  pb_program view = iteration->views[k];
  pb_group group = iteration->groups[k];
  pb_tiling around = *t;
  pb_into into = {.buffer = -1};
  view.nests = pb_alloc_raw(t->arena, (size_t)view.nest_count * sizeof *view.nests);
  for (int n = 0; n < view.nest_count; ++n) {
    pb_nest_copy(&view.nests[n], &iteration->views[k].nests[n]);
    use_buffers(t, iteration, &view, n, iteration->origin[k], buffer, &view.nests[n]);
    const pb_access* store = pb_nest_store(&view.nests[n]);
    if (!store->memref.ptr) into.buffer = store->buffer;
  }
  use_buffers(t, iteration, &view, group.main_index, iteration->origin[k], buffer, &group.main);
  for (int n = 0; n < group.around.epilogue_count; ++n) {
    pb_epilogue* epilogue = &group.around.epilogues[n];
    pb_nest* nest = pb_nest_kept(t->arena, epilogue->nest);
    use_buffers(t, iteration, &view, epilogue->number, iteration->origin[k], buffer, nest);
    epilogue->nest = nest;
  }
  if (into.buffer >= 0) into.origin = (pb_access){.rank = t->buffers[into.buffer].rank};
  group.program = &view;
  t->group = &group;
  t->base = level;
  t->plan = &s->tiles[k];
  t->into = into.buffer >= 0 ? &into : NULL;
  bool built = pb__tiling_build_group(t);
  t->group = around.group;
  t->plan = around.plan;
  t->base = around.base;
  t->into = around.into;
  memcpy(t->body, around.body, sizeof t->body);
  return built;
}

// The stages from `first` to `end`, as far as there are any.
static bool build_stages(pb_tiling* t, const pb_stage_tiles* s, const pb_iteration_groups* iteration, int first,
                         int end, int level, const int* buffer) {
  for (int k = first; k < end && k < iteration->count && k < s->built; ++k)
    if (!build_stage(t, s, iteration, k, level, buffer)) return false;
  return !t->failure;
}

static int* no_buffers(const pb_stage_tiles* s, pb_arena* arena) {
  size_t values = (size_t)s->stages->program->value_count + 1;
  int* buffer = PB_NEW_ARRAY(arena, int, values);
  memset(buffer, 0xff, values * sizeof *buffer);
  return buffer;
}

// A loop of `iterations` iterations of the row of `all` that the innermost band is.
static void open_loop(pb_tiling* t, int level, int64_t before, int64_t iterations, int64_t all) {
  pb_tree* loop = t->body[level + 1] = PB_NEW(t->arena, pb_tree);
  *loop = (pb_tree){.kind = PB_TREE_LOOP, .extent = iterations, .iterations_before = before, .iterations = all};
}

static void close_loop(pb_tiling* t, int level, pb_tree* loop) {
  t->body[level + 1] = loop;
  pb__tiling_hang(t, level);
}

// Builds with new buffers lying where those from `first` to `end` lie, inside `level` loops.
static void begin_twins(pb_tiling* t, int first, int end, int level) {
  t->twins = (pb_twins){.first = first, .end = end, .level = level, .serial = ++t->remainders};
}

// A turn on its way into the loop.
typedef struct skew {
  pb_stage_tiles* s;
  int level; // of the loop
  int* sums; // buffers of the first stage's
  pb_twins around;
  int64_t before, iterations; // of the loop's iterations: built already, and all
  int start, started;         // buffers with which the first stage was built in front of the loop
  int ended; // behind those of the loop's first iteration, which begin at `started`; 0: it is not built yet
} skew;

// The first stage in front of the loop, in a loop of its own.
static bool build_start(pb_tiling* t, skew* k, const pb_tile* first) {
  const pb_iteration_groups* iteration = next_iteration(k->s, t, first);
  if (!iteration || !allocate(t, k->s, iteration, 0, 1, k->level, k->sums)) return false;
  for (int v = 0; v < k->s->stages->program->value_count; ++v)
    if (k->sums[v] >= 0) t->buffers[k->sums[v]].ahead = true;
  k->start = t->buffer_count;
  open_loop(t, k->level, 0, 1, 0);
  pb_tree* loop = t->body[k->level + 1];
  bool built = build_stages(t, k->s, iteration, 0, 1, k->level + 1, k->sums);
  k->started = t->buffer_count;
  close_loop(t, k->level, loop);
  return built;
}

// One iteration whose sums are there already; `ahead`: the tile whose sums are made in between, NULL: none is left.
static bool build_iteration_of(pb_tiling* t, skew* k, const pb_tile* tile, const pb_tile* ahead) {
  pb_stage_tiles* s = k->s;
  const pb_iteration_groups* iteration = next_iteration(s, t, tile);
  int *buffer = no_buffers(s, t->arena), level = k->level + 1;
  if (!iteration) return false;
  memcpy(buffer, k->sums, sizeof *buffer * (size_t)s->stages->program->value_count);
  if (!allocate(t, s, iteration, 1, s->built, level, buffer) || !build_stages(t, s, iteration, 1, 2, level, buffer))
    return false;
  if (ahead) {
    const pb_iteration_groups* next = next_iteration(s, t, ahead);
    pb_twins around = t->twins;
    begin_twins(t, k->start, k->started, k->level);
    bool built = next && build_stages(t, s, next, 0, 1, level, buffer);
    t->twins = around;
    if (!built) return false;
  }
  return build_stages(t, s, iteration, 2, iteration->count, level, buffer);
}

// The same as a loop of `iterations` iterations.
static bool build_iterations(pb_tiling* t, skew* k, const pb_tile* tile, const pb_tile* ahead, int64_t iterations) {
  int first = t->buffer_count;
  if (k->ended) begin_twins(t, k->started, k->ended, k->level);
  open_loop(t, k->level, k->before, iterations, k->iterations);
  pb_tree* loop = t->body[k->level + 1];
  bool built = build_iteration_of(t, k, tile, ahead);
  t->twins = k->around;
  close_loop(t, k->level, loop);
  k->before += iterations;
  if (!k->ended) k->started = first, k->ended = t->buffer_count;
  return built && !t->failure;
}

//   sums(0);  for t < T - 1 { take sums(t);  sums(t + 1);  the other stages of t };  all but sums of T - 1
//
// The last iteration may be a smaller one.
static bool build_skewed(pb_tiling* t, pb_stage_tiles* s, const pb_tile* tile, int level) {
  skew k = {.s = s, .level = level, .sums = no_buffers(s, t->arena), .around = t->twins};
  pb_tile first = *tile, each = *tile, rest = *tile, ahead, last;
  const pb_band* band = &s->loops->bands[level - t->base];
  int64_t iterations = pb__tile_step(t, &each, level, false);
  bool smaller = pb__tile_step(t, &rest, level, true) > 0;
  if (iterations + smaller < 2) return pb__tiling_fail(t, "sums cannot be made ahead in a loop of one iteration");
  k.iterations = iterations + smaller;
  first.extent[band->dim] = band->step;
  ahead = each;
  ahead.origin[band->dim].cst += band->step;
  last = first;
  last.origin[band->dim].cst += (iterations - 1) * band->step;
  if (!build_start(t, &k, &first)) return false;
  if (iterations > 1 && !build_iterations(t, &k, &each, &ahead, iterations - 1)) return false;
  if (!smaller) return build_iterations(t, &k, &last, NULL, 1);
  return build_iterations(t, &k, &last, &rest, 1) && build_iterations(t, &k, &rest, NULL, 1);
}

// Everything inside `level` loops.
static bool build_level(pb_tiling* t, const pb_tile* tile, int level, const void* stages) {
  pb_stage_tiles* s = *(pb_stage_tiles* const*)stages;
  int levels = pb__tiling_levels(t);
  if (s->skewed && level + 1 == levels) return build_skewed(t, s, tile, level);
  if (level < levels) return pb__tiling_band(t, tile, level, build_level, stages);
  if (s->skewed) return pb__tiling_fail(t, "sums cannot be made ahead without a loop");
  const pb_iteration_groups* iteration = next_iteration(s, t, tile);
  int* buffer = no_buffers(s, t->arena);
  return iteration && hold(t, s, iteration, level, buffer) && allocate(t, s, iteration, 0, s->built, level, buffer) &&
         build_stages(t, s, iteration, 0, iteration->count, level, buffer);
}

void pb_stage_tiles_begin(const pb_chip* chip, const pb_stages* stages, const pb_plan* loops, pb_arena* arena,
                          pb_stage_tiles* s) {
  *s = (pb_stage_tiles){.chip = chip, .stages = stages, .loops = loops, .arena = arena};
  s->memo = PB_NEW(arena, pb_select_memo);
  *s->memo = (pb_select_memo){.chip = chip, .arena = arena};
}

bool pb_stage_tiles_build(pb_stage_tiles* s, pb_arena* arena, struct pb_proofs* proofs, pb_tiling* t) {
  pb_tile tile;
  pb_tiling_begin_stages(s->chip, s->stages, s->loops, arena, t);
  pb_group* root = PB_NEW(arena, pb_group);
  *root = *t->group;
  root->memo = s->memo;
  t->group = root;
  t->proofs = proofs;
  s->at = 0;
  if (!pb__tiling_open_bands(t, &t->group->main)) return false;
  pb__tile_whole(&t->group->main, &tile);
  return build_level(t, &tile, t->base, &s) && !t->failure;
}

const pb_iteration_groups* pb_stage_tiles_iteration(pb_stage_tiles* s) {
  return s->iteration_count ? &s->iterations[0] : NULL;
}
