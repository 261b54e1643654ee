// The innermost of the loops that stages share, the first stage's sums an iteration ahead.
#include "core/s3/tree/tiling_stages.h"

#include <string.h>

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
  const pb_iteration_groups* iteration = pb__stages_next(k->s, t, first);
  if (!iteration) return false;
  k->sums = pb__stages_no_buffers(iteration, t->arena);
  if (!pb__stages_allocate(t, k->s, iteration, 0, 1, k->level, k->sums)) return false;
  for (int v = 0; v < k->s->stages->program->value_count; ++v)
    if (k->sums[v] >= 0) t->buffers[k->sums[v]].ahead = true;
  k->start = t->buffer_count;
  pb_tree* loop = pb__tiling_open_loop(t, k->level, 1, 0, 0);
  bool built = pb__stages_build(t, k->s, iteration, PB_ITERATION_FULL, 0, 1, k->level + 1, k->sums);
  k->started = t->buffer_count;
  pb__tiling_hang(t, k->level, loop);
  return built;
}

// One iteration whose sums are there already; `ahead`: the tile whose sums are made in between, NULL: none is left.
static bool build_iteration_of(pb_tiling* t, skew* k, const pb_tile* tile, const pb_tile* ahead) {
  pb_stage_tiles* s = k->s;
  const pb_iteration_groups* iteration = pb__stages_next(s, t, tile);
  int level = k->level + 1;
  if (!iteration) return false;
  int* buffer = pb__stages_no_buffers(iteration, t->arena);
  memcpy(buffer, k->sums, sizeof *buffer * (size_t)s->stages->program->value_count);
  if (!pb__stages_allocate(t, s, iteration, 1, s->built, level, buffer) ||
      !pb__stages_build(t, s, iteration, PB_ITERATION_FULL, 1, 2, level, buffer))
    return false;
  if (ahead) {
    const pb_iteration_groups* next = pb__stages_next(s, t, ahead);
    pb_twins around = t->twins;
    begin_twins(t, k->start, k->started, k->level);
    bool built = next && pb__stages_build(t, s, next, PB_ITERATION_FULL, 0, 1, level, buffer);
    t->twins = around;
    if (!built) return false;
  }
  return pb__stages_build(t, s, iteration, PB_ITERATION_FULL, 2, iteration->count, level, buffer);
}

// The same as a loop of `iterations` iterations.
static bool build_iterations(pb_tiling* t, skew* k, const pb_tile* tile, const pb_tile* ahead, int64_t iterations) {
  int first = t->buffer_count;
  if (k->ended) begin_twins(t, k->started, k->ended, k->level);
  pb_tree* loop = pb__tiling_open_loop(t, k->level, iterations, k->before, k->iterations);
  bool built = build_iteration_of(t, k, tile, ahead);
  t->twins = k->around;
  pb__tiling_hang(t, k->level, loop);
  k->before += iterations;
  if (!k->ended) k->started = first, k->ended = t->buffer_count;
  return built && !t->failure;
}

//   sums(0);  for t < T - 1 { take sums(t);  sums(t + 1);  the other stages of t };  all but sums of T - 1
//
// The last iteration may be a smaller one.
bool pb__stages_skew(pb_tiling* t, pb_stage_tiles* s, const pb_tile* tile, int level) {
  skew k = {.s = s, .level = level, .around = t->twins};
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
