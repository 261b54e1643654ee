// What room a plan leaves goes to its x: where sums are made in parts, all of x comes once for each group of blocks
// whose sums lie side by side, and what stays of it does not.
#include "core/s3/plan/plan_kept.h"

enum { MOST_KEPT = 64 }; // iterations, as plans are read

// Iterations of the innermost band around x; 0: there is none.
static int64_t iterations_around_x(const pb_group* group, const pb_plan* plan) {
  if (!plan->x_level || plan->x_level > plan->band_count) return 0;
  const pb_band* band = &plan->bands[plan->x_level - 1];
  return pb_plan_left(plan, plan->x_level - 1, band->dim, group->main.extent[band->dim]) / band->step;
}

void pb__plan_keep_x(const pb_chip* chip, const pb_group* group, pb_plan* plan) {
  int64_t around = iterations_around_x(group, plan) - 1, depth = plan->x_depth;
  int64_t fits = 0, most = (around < MOST_KEPT ? around : MOST_KEPT) / depth;
  pb_plan best = *plan;
  while (fits < most) { // what has room leaves room for less
    int64_t middle = (fits + most + 1) / 2;
    pb_plan with = *plan;
    with.x_kept = (int)(middle * depth);
    if (pb_plan_fits(chip, group, &with))
      fits = middle, best = with;
    else
      most = middle - 1;
  }
  if (pb_plan_price(&best) < pb_plan_price(plan)) *plan = best;
}

void pb__plan_keep_none(const pb_chip* chip, const pb_group* group, pb_plan* plan) {
  if (!plan->x_kept) return;
  plan->x_kept = 0;
  (void)pb_plan_fits(chip, group, plan); // what was looked for without it
}
