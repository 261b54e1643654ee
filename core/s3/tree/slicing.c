#include "core/s3/tree/slicing.h"

enum { MOST_WORK_PERCENT = 150 }; // of what the tensor takes when it is computed once; the cost model sees the rest

// The loops of consumers further out walk results already, or terms. A loop over terms makes the part of x that its
// iteration adds up.
static bool keeps_parallelism(const pb_tiling* t) {
  const pb_nest* main = &t->group->main;
  const pb_access *x = &main->access[t->group->x], *y = &main->access[main->access_count - 1];
  for (int b = 0; t->base + b < t->plan->x_level; ++b) {
    int dim = t->plan->bands[b].dim;
    if (!pb_access_uses(y, dim) && !pb_access_uses(x, dim)) return false;
  }
  return true;
}

static bool keeps_rows(const pb_access* local, const pb_access* tensor) {
  return local->rank == 0 || local->shape[local->rank - 1] == tensor->shape[tensor->rank - 1];
}

static bool bounded(const pb_tiling* t, const pb_access* local, const pb_access* tensor) {
  int64_t made = pb_access_elements(local);
  for (int k = 0; k < t->plan->x_level; ++k) made *= t->body[k + 1]->extent;
  return made * 100 <= pb_access_elements(tensor) * MOST_WORK_PERCENT;
}

bool pb_slicing_allowed(pb_tiling* t, const pb_access* local) {
  const pb_access* tensor = &t->group->main.access[t->group->x];
  if (!keeps_parallelism(t)) return pb__tiling_fail(t, "a producer would be computed anew in each iteration of a sum");
  if (!keeps_rows(local, tensor)) return pb__tiling_fail(t, "a producer's rows of lanes would be cut");
  if (!bounded(t, local, tensor)) return pb__tiling_fail(t, "tiles would compute too much of a producer twice");
  return true;
}
