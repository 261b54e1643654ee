// The innermost of the loops that stages share, the first stage's sums an iteration ahead.
#include "core/s3/tree/tiling_stages.h"

#include <string.h>

// A turn on its way into the loop.
typedef struct skew {
  pb_stage_tiles* s;
  const pb_tile* around; // of all iterations
  int level;             // of the loop
  int* sums;             // buffers of the first stage's
  int start, started;    // buffers with which the first stage was built in front of the loop
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

// The sums of the iteration behind the one on `tile`, the last of which may be a smaller one: in buffers that lie where
// those in front of the loop do. `behind`: so many iterations are.
static bool build_ahead(pb_tiling* t, const skew* k, const pb_tile* tile, int64_t behind) {
  const pb_axis* axis = &k->s->plan->loops.axes[k->level - t->base];
  int64_t rest = k->around->extent[axis->dim] % axis->step;
  pb_tile ahead = *tile;
  pb_twins around = t->twins;
  ahead.origin[axis->dim].cst += axis->step;
  if (behind == 1 && rest) ahead.extent[axis->dim] = rest;
  const pb_iteration_groups* next = pb__stages_next(k->s, t, &ahead);
  t->twins = (pb_twins){.first = k->start, .end = k->started, .level = k->level, .serial = ++t->remainders};
  bool built = next && pb__stages_build(t, k->s, next, PB_ITERATION_FULL, 0, 1, k->level + 1, k->sums);
  t->twins = around;
  return built;
}

// Iterations whose sums are there already.
static bool build_iterations(pb_tiling* t, const pb_tile* tile, int level, const void* turn) {
  const skew* k = turn;
  const pb_tree* loop = t->body[level];
  pb_stage_tiles* s = k->s;
  const pb_iteration_groups* iteration = pb__stages_next(s, t, tile);
  int64_t behind = loop->iterations - loop->iterations_before - loop->extent;
  if (!iteration) return false;
  int* buffer = pb__stages_no_buffers(iteration, t->arena);
  memcpy(buffer, k->sums, sizeof *buffer * (size_t)s->stages->program->value_count);
  return pb__stages_allocate(t, s, iteration, 1, s->built, level, buffer) &&
         pb__stages_build(t, s, iteration, PB_ITERATION_FULL, 1, 2, level, buffer) &&
         (!behind || build_ahead(t, k, tile, behind)) &&
         pb__stages_build(t, s, iteration, PB_ITERATION_FULL, 2, iteration->count, level, buffer);
}

//   sums(0);  for t < T - 1 { take sums(t);  sums(t + 1);  the other stages of t };  all but sums of T - 1
bool pb__stages_skew(pb_tiling* t, pb_stage_tiles* s, const pb_tile* tile, int level) {
  skew k = {.s = s, .around = tile, .level = level};
  const pb_axis* axis = &s->plan->loops.axes[level - t->base];
  pb_tile first = *tile;
  if (tile->extent[axis->dim] <= axis->step)
    return pb__tiling_fail(t, "sums cannot be made ahead in a loop of one iteration");
  first.extent[axis->dim] = axis->step;
  t->last_apart = level + 1;
  return build_start(t, &k, &first) && pb__tiling_axis(t, tile, level, build_iterations, &k);
}
