// The schedule of a kernel, or of one stage of it: loops over tiles as axes, and where operands and results lie on
// their way as chains of homes. A search makes it (core/s3/plan); a tree is built of it (tiling.h).
#ifndef PB_S3_SCHEDULE_H
#define PB_S3_SCHEDULE_H

#include "core/poly/nest.h"
#include "tdl/chip.h"

enum { PB_MAX_AXES = PB_NEST_DIMS + 2, PB_MAX_HOMES = 4 };

// The level whose members share a kernel: threads, or cores with queues of their own. NULL: the chip has none.
static inline const pb_level* pb_level_shared(const pb_chip* chip) {
  return chip->level_count ? &chip->levels[0] : NULL;
}

// One loop over tiles: dim of the group's main nest, and how far one iteration steps along it. A step need not divide
// what the axes around it leave of the dim: the rest is a tile of its own behind the loop.
typedef struct pb_axis {
  int dim;
  int64_t step;
  // In how many parts its iterations, with those of the axes inside it up to the next one that says so, are shared out
  // among the members of the chip's level that shares kernels: threads, or cores with queues, which take an iteration
  // each. 0 and 1: they are not.
  int64_t members;
} pb_axis;

static inline int64_t pb_axis_parts(const pb_axis* axis) { return axis->members > 1 ? axis->members : 1; }

// Where an operand waits, or a result is collected, on its way: a buffer inside so many axes, and how many copies of it
// take turns, so that one is filled while another is read.
typedef struct pb_plan_home {
  int around; // axes; 0: it is there for the whole kernel. Axes that the stages of a kernel share count as well
  int copies;
  // So many iterations of the innermost axis around it, the first ones, find what they read where all of it stays for
  // the whole kernel; the others bring theirs as all do where this is 0.
  int kept;
} pb_plan_home;

// The homes of one operand from the outside to the instruction; of one that needs none in between, the first alone.
typedef struct pb_chain {
  int count;
  pb_plan_home home[PB_MAX_HOMES];
} pb_chain;

// The chains of a plan: of the instruction's first factor, its weights, its results. Of a nest that is no product what
// it reads has the first one's.
typedef enum pb_plan_operand { PB_OF_X, PB_OF_W, PB_OF_RESULT, PB_PLAN_OPERANDS } pb_plan_operand;

// All choices for one kernel, or one stage. It stands on the kernel as the attribute pb.plan.
typedef struct pb_plan {
  int axis_count;
  pb_axis axes[PB_MAX_AXES]; // outermost first; what is left of each dim is walked inside the tile
  pb_chain chain[PB_PLAN_OPERANDS];
  int64_t cycles;               // predicted, for the kernel
  int64_t port;                 // of these the system memory's port moves something in so many; of cores 0
  const char* bound;            // the queue or memory that takes them
  int64_t busy[PB_CORE_QUEUES]; // cycles in which each queue's unit works, predicted
} pb_plan;

// Of a kernel: of one stage that stage's plan; of several tiles of the loops that these share, and for each stage the
// plan of what it does in one iteration.
typedef struct pb_kernel_plan {
  // Of several stages: axes over the shared loops, copies of what lies between stages (the result's), cycles, bound.
  pb_plan loops;
  // The first stage's sums are made an iteration of the innermost loop ahead, behind the stage that takes those before:
  // then what makes them works while the stages behind go on with the iteration at hand.
  bool skewed;
  bool holds;      // what several stages read is brought once for all of them; not with `skewed`
  int count;       // of stages, 0: it is of one
  pb_plan* stages; // of a full iteration
} pb_kernel_plan;

// Chains of one home each, around everything, of one copy.
static inline void pb_plan_begin(pb_plan* plan) {
  for (int o = 0; o < PB_PLAN_OPERANDS; ++o) plan->chain[o] = (pb_chain){.count = 1, .home = {{.copies = 1}}};
}

// The home that is filled from outside.
static inline pb_plan_home* pb_plan_home_of(pb_plan* plan, pb_plan_operand operand) {
  return &plan->chain[operand].home[0];
}
static inline const pb_plan_home* pb_plan_outer(const pb_plan* plan, pb_plan_operand operand) {
  return &plan->chain[operand].home[0];
}
// Axes around the buffer of the operand that is filled from outside.
static inline int pb_plan_around(const pb_plan* plan, pb_plan_operand operand) {
  return plan->chain[operand].home[0].around;
}
static inline int pb_plan_copies(const pb_plan* plan, pb_plan_operand operand) {
  return plan->chain[operand].home[0].copies;
}

// The one at the instruction.
static inline const pb_plan_home* pb_plan_nearest(const pb_plan* plan, pb_plan_operand operand) {
  const pb_chain* chain = &plan->chain[operand];
  return &chain->home[chain->count > 1 ? chain->count - 1 : 0];
}

// What the first `axes` axes leave of a dim that is so long.
static inline int64_t pb_plan_left(const pb_plan* plan, int axes, int dim, int64_t whole) {
  for (int b = axes - 1; b >= 0; --b)
    if (plan->axes[b].dim == dim) return plan->axes[b].step;
  return whole;
}

// How many of its axes, the outermost ones, cores with queues take an iteration each of.
static inline int pb_plan_shared_axes(const pb_plan* plan) {
  int count = 0;
  while (count < plan->axis_count && plan->axes[count].members > 1) ++count;
  return count;
}

#endif
