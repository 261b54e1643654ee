// Inside plan: the search over the plans of one kernel, and how each is judged. What there is to choose are facts of
// the planner: plan.c sets them where instructions take tiles of memories, plan_registers.c where they take registers.
#ifndef PB_S3_PLAN_SEARCH_H
#define PB_S3_PLAN_SEARCH_H

#include "core/s3/kernel/contraction_dims.h"
#include "core/s3/kernel/vector_kernel.h"
#include "core/s3/plan/plan.h"
#include "core/s3/tree/tiling_stages.h"

// Inside plan: dims of a kernel's main nest by what tiles of them are: of rows, of columns, of what is summed. What one
// command walks, or one register holds, is no dim of these.

// Each outermost first. Of kernels without an instruction that multiplies all results are rows.
typedef struct pb_plan_dims {
  int rows[PB_NEST_DIMS], row_count, columns[PB_NEST_DIMS], column_count, sums[PB_NEST_DIMS], sum_count;
  int batches;      // of the rows, the first ones: one image after the other
  int outer, inner; // the next one, and the last one if that is another; -1: there is none
  pb_taps taps;     // where each lane is for itself
} pb_plan_dims;

void pb__plan_dims_of(const pb_chip* chip, const pb_group* group, pb_plan_dims* dims);
// What a tile inside all of the plan's axes has of each dim.
void pb_plan_tile(const pb_plan* plan, const pb_nest* main, int64_t* tile);

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

// ---- plan_stages_search.c ----
// Inside the plans of kernels of several stages: what the search (plan_stages_search.c) and the cost of one plan
// (plan_stages.c) share.

// What is built by the plan: s->built stages of it.
void pb__stage_plan_begin(const pb_chip* chip, const pb_stages* stages, const pb_kernel_plan* plan, pb_arena* arena,
                          pb_stage_tiles* s);
// The shared loops alone: what their first iteration is. NULL: the chip cannot run it, *why (in s->arena) says why.
const pb_iteration_groups* pb__stage_plan_iteration(pb_stage_tiles* s, const char** why);
// Whether what lies between the stages of the iteration can have room, before any of them has a plan.
bool pb__stage_values_fit(const pb_stage_tiles* s, const pb_iteration_groups* iteration);
// What the kernel's stages so far take in the tree that was built. false: it does not fit, t->failure says why.
bool pb__stage_plan_add_up(const pb_stage_tiles* s, pb_tiling* t, pb_plan* loops);

#endif
