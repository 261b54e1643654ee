// What room a plan leaves goes to its x: where sums are made in parts, all of x comes once for each group of blocks
// whose sums lie side by side, and what stays of it does not.
#include "core/s3/plan/plan_kept.h"

enum { MOST_KEPT = 64 }; // iterations, as plans are read

// Iterations of the innermost band around x; 0: there is none.
static int64_t iterations_around_x(const pb_group* group, const pb_plan* plan) {
  if (!plan->x_level || plan->x_level > plan->band_count) return 0;
  const pb_band* band = &plan->bands[plan->x_level - 1];
  int64_t left = group->main.extent[band->dim];
  for (int b = 0; b + 1 < plan->x_level; ++b)
    if (plan->bands[b].dim == band->dim) left = plan->bands[b].step;
  return left / band->step;
}

// The plan with so much of x staying, if there is room for it.
static bool with_kept(const pb_chip* chip, const pb_group* group, const pb_plan* plan, int64_t kept, pb_plan* with) {
  pb_arena scratch = {0};
  const char* why;
  *with = *plan;
  with->x_kept = (int)kept;
  bool fits = pb_plan_cost(chip, group, with, &scratch, &why);
  pb_arena_free(&scratch);
  return fits;
}

void pb__plan_keep_x(const pb_chip* chip, const pb_group* group, pb_plan* plan) {
  int64_t around = iterations_around_x(group, plan) - 1, depth = plan->x_depth;
  int64_t fits = 0, most = (around < MOST_KEPT ? around : MOST_KEPT) / depth;
  pb_plan best = *plan;
  while (fits < most) { // what has room leaves room for less
    int64_t middle = (fits + most + 1) / 2;
    pb_plan with;
    if (with_kept(chip, group, plan, middle * depth, &with))
      fits = middle, best = with;
    else
      most = middle - 1;
  }
  if (pb_plan_price(&best) < pb_plan_price(plan)) *plan = best;
}

void pb__plan_keep_none(const pb_chip* chip, const pb_group* group, pb_plan* plan) {
  pb_arena scratch = {0};
  const char* why;
  if (!plan->x_kept) return;
  plan->x_kept = 0;
  (void)pb_plan_cost(chip, group, plan, &scratch, &why); // what was looked for without it
  pb_arena_free(&scratch);
}
