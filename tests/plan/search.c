// The planner's search against all plans there are: products of seeded small extents and the step back to codes, every
// sequence of up to three axes in steps of nearly equal tiles, every level, one copy or two. Prints by how much the
// model of cost finds the best of these cheaper than the plan that was chosen (on the machine they take the same within
// some per cent: kernels this small wait more than they work, of which the model knows little); fails past a limit.
//
//   plan_search [KERNELS] [SEED] [PERCENT] [--plans]
#include "core/driver/pipeline.h"
#include "core/poly/text.h"
#include "core/s3/plan/plan_text.h"
#include "products.h"

#include <mlir-c/IR.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_AXES = 3, LANES = 16 };

typedef struct search {
  const pb_chip* chip;
  const pb_group* group;
  pb_plan best;
  bool found;
  long looked_at, legal;
} search;

static void consider(search* s, pb_plan plan) {
  pb_arena scratch = {0};
  const char* why;
  ++s->looked_at;
  if (pb_plan_cost(s->chip, s->group, &plan, &scratch, &why)) {
    ++s->legal;
    if (!s->found || plan.cycles < s->best.cycles) s->best = plan;
    s->found = true;
  }
  pb_arena_free(&scratch);
}

static void all_levels(search* s, pb_plan plan) {
  for (pb_plan_home_of(&plan, PB_OF_RESULT)->around = 0; pb_plan_around(&plan, PB_OF_RESULT) <= plan.axis_count;
       ++pb_plan_home_of(&plan, PB_OF_RESULT)->around)
    for (pb_plan_home_of(&plan, PB_OF_X)->around = 0; pb_plan_around(&plan, PB_OF_X) <= plan.axis_count;
         ++pb_plan_home_of(&plan, PB_OF_X)->around)
      for (pb_plan_home_of(&plan, PB_OF_W)->around = 0; pb_plan_around(&plan, PB_OF_W) <= plan.axis_count;
           ++pb_plan_home_of(&plan, PB_OF_W)->around)
        for (int depths = 0; depths < 8; ++depths) {
          // outside all loops a second copy is of no use
          if ((depths & 1 && !pb_plan_around(&plan, PB_OF_X)) || (depths & 2 && !pb_plan_around(&plan, PB_OF_W)) ||
              (depths & 4 && !pb_plan_around(&plan, PB_OF_RESULT)))
            continue;
          pb_plan_home_of(&plan, PB_OF_X)->copies = 1 + (depths & 1);
          pb_plan_home_of(&plan, PB_OF_W)->copies = 1 + (depths >> 1 & 1);
          pb_plan_home_of(&plan, PB_OF_RESULT)->copies = 1 + (depths >> 2 & 1);
          consider(s, plan);
        }
}

static void all_axes(search* s, pb_plan plan, const int64_t* left) {
  all_levels(s, plan);
  if (plan.axis_count == MOST_AXES) return;
  for (int d = 0; d < s->group->main.dim_count; ++d)
    for (int64_t step = 1; step < left[d]; ++step) {
      int64_t tiles = (left[d] + step - 1) / step;
      if (s->group->main.extent[d] == LANES || step != (left[d] + tiles - 1) / tiles) continue;
      int64_t after[PB_NEST_DIMS];
      pb_plan more = plan;
      memcpy(after, left, sizeof after);
      after[d] = step;
      more.axes[more.axis_count++] = (pb_axis){d, step, 0};
      all_axes(s, more, after);
    }
}

static int one(const pb_chip* chip, MlirContext context, int64_t rows, int64_t terms, int64_t blocks, double percent,
               bool plans) {
  pb_diag diag = {0};
  kernel k;
  int failed = !plan_kernel(context, chip, &diag, kernel_text(FORM_CODES, rows, terms, blocks), &k);
  pb_group group = k.group;
  pb_plan plan = k.plan;
  if (!failed) {
    search s = {.chip = chip, .group = &group};
    pb_plan none = {.axis_count = 0};
    pb_plan_begin(&none);
    all_axes(&s, none, group.main.extent);
    double off = 100.0 * (double)(plan.cycles - s.best.cycles) / (double)s.best.cycles;
    printf("%lld x %lld x %lld: %lld cycles, the best of %ld (%ld legal) %lld: %+.1f%%\n", (long long)rows,
           (long long)terms * LANES, (long long)blocks * LANES, (long long)plan.cycles, s.looked_at, s.legal,
           (long long)s.best.cycles, off);
    if (off > 0 && plans) {
      pb_text t = {0};
      pb_plan_print(&t, chip, &s.best, &group, 0, 2);
      printf("  best\n%s", t.data);
      pb_text_free(&t);
      pb_plan_print(&t, chip, &plan, &group, 0, 2);
      printf("  found\n%s", t.data);
      pb_text_free(&t);
    }
    failed = off > percent;
  }
  free_kernel(&k);
  return failed;
}

int main(int argc, char** argv) {
  int kernels = argc > 1 ? atoi(argv[1]) : 8, failed = 0;
  pb_diag diag = {0};
  pb_chip* chip = NULL;
  seed_draws(argc > 2 ? strtoull(argv[2], NULL, 10) : 1);
  double percent = argc > 3 ? atof(argv[3]) : 0;
  bool plans = argc > 4 && !strcmp(argv[4], "--plans");
  if (pb_chip_find("simnpu", NULL, &diag, &chip) != PB_OK) return 1;
  MlirContext context = pb_context_create();
  for (int k = 0; k < kernels; ++k)
    failed += one(chip, context, draw(1, 4) * draw(1, 4), draw(1, 4), draw(1, 4), percent, plans);
  mlirContextDestroy(context);
  pb_chip_free(chip);
  printf("%d kernels, %d off by more than %g%%\n", kernels, failed, percent);
  return failed > 0;
}
