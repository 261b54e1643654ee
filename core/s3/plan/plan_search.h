// Inside plan: the search over the plans of one kernel, and how each is judged. What there is to choose are facts of
// the planner: plan.c sets them where instructions take tiles of memories, plan_registers.c where they take registers.
#ifndef PB_S3_PLAN_SEARCH_H
#define PB_S3_PLAN_SEARCH_H

#include "core/s3/kernel/vector_kernel.h"
#include "core/s3/plan/plan.h"
#include "core/s3/plan/plan_dims.h"

// The best plan found so far.
typedef struct pb_found {
  pb_plan plan;
  bool found;
  int64_t chunk;         // its part of the first sum
  int legal;             // plans that fit
  char why[PB_PLAN_WHY]; // with what selection says of the nearest instruction
} pb_found;

// What plans a kernel of one stage, or one stage of several.
typedef struct pb_planner {
  const pb_chip* chip;
  const pb_group* group;
  int base;     // loops around, which the stages share
  pb_plan plan; // that is considered
  pb_found* result;
  const pb_judge* judge; // of a stage among others; NULL: the kernel's cycles
  // The best if no product were left out: what another tile leaves out it may lose to caches, and where threads share
  // it. NULL: nobody asks.
  pb_found* plain;
  int copies;        // of results at most, 0: as `results` says
  pb_plan start;     // where every plan begins: the axes that cores share, in how many parts
  pb_plan_dims dims; // of the main nest, and how much one core has of them
  int64_t extent[PB_NEST_DIMS];

  // The tile: what it has of each dim, in whole numbers of `unit`, and the part of the first sum that is made at once.
  int64_t step[PB_NEST_DIMS], unit[PB_NEST_DIMS], chunk;
  // What there is to choose. orders: of its loops, as lay_loops (plan.c) has them.
  int orders;
  bool parts_outside; // parts of the first sum are around all else: what is made of one lies where the result will be
  bool side_by_side;  // sums of several blocks of columns lie side by side, and each part of x is taken for all of them
  bool x_in_sums;     // operands come inside all loops
  // Steps: each that makes parts of nearly one size, from the shortest on, and parts of the sum of one size, a whole
  // number of steps each, for what is in between lies in memory. false: as pb_next_step says.
  bool fine;
  int64_t room;                   // units that a tile has at most
  const pb_vkernel* unrolls;      // of this one steps of sums, by what is left of the room; NULL: of none
  bool cuts_sums;                 // the first sum may be made in parts
  int x_copies, x_least, results; // copies: of x, at most and at least, and of results
  bool moves_w;                   // weights have a buffer: its level and its copies
  // The homes that x, and the result, have on their way; of a nest that reduces nothing, where there are several, the
  // part of each dim that is near its instructions at once.
  int x_homes, result_homes;
  int64_t near[PB_NEST_DIMS];
  bool columns;    // units take rows of lanes that several of the array's columns make: all of them are in a tile
  bool windows;    // a chunk's weights are too many: they go by parts of a window too, as a flattened image's do
  bool shares;     // threads share the tiles of a tree in each number of parts
  bool takes_last; // of plans that are equally good
  int64_t gain;    // one part of so many is what a plan must be cheaper by than the best so far; 0: by anything
} pb_planner;

// Judges the plan, p->plan from then on, and keeps it if it is the best.
void pb__plan_judge(pb_planner* p, const pb_plan* plan);

// A tile of everything, in units of 1.
void pb__plan_whole(pb_planner* p);
// The searches: p's result has the best, if there is any. All plans of the tile.
void pb__plan_tile(pb_planner* p);
// The same of all tiles with other steps of these dims, of the last one in the outermost loop; points: units that one
// has of other dims.
void pb__plan_steps(pb_planner* p, const int* dims, int count, int64_t points);
void pb__plan_registers(pb_planner* p);
// Sets the steps of sums by what the rest of the tile leaves.
void pb__registers_unroll(pb_planner* p, const pb_vkernel* kernel);
// Why the tile of a plan whose axes are legal does not fit the registers; NULL: it does.
const char* pb__registers_unfit(const pb_chip* chip, const pb_vkernel* kernel, const pb_plan* plan);
// Registers that there are for a tile's sums or values.
int64_t pb__register_count(const pb_chip* chip, const pb_vkernel* kernel);

#endif
