// Inside plan: a search over the plans of one kernel. Which plans it looks at, and in which order, is the business of
// plan.c where instructions take tiles of memories, of plan_registers.c where they take tiles in registers; how each is
// judged, and what is kept, is the same.
#ifndef PB_S3_PLAN_SEARCH_H
#define PB_S3_PLAN_SEARCH_H

#include "core/s3/plan/plan.h"
#include "core/s3/plan/plan_dims.h"

// The best plan found so far.
typedef struct pb_found {
  pb_plan plan;
  bool found;
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
  int copies;            // of results at most, 0: 2
  pb_plan start;         // where every plan begins: the bands that cores share, in how many parts
  pb_plan_dims dims;     // of the main nest, and how much one core has of them
  int64_t extent[PB_NEST_DIMS];
  bool columns; // units take rows of lanes that several of the array's columns make: all of them are in a tile
  bool windows; // a chunk's weights are too many: they go by parts of a window too, as a flattened image's do
  // In how many parts threads may share a plan's tiles: each number of parts of rows with each of columns is judged on
  // the same tree. 0: only as the plan says.
  const int64_t* parts;
  size_t part_count;
  bool takes_last; // of plans that are equally good
} pb_planner;

// Judges p->plan, and keeps it if it is the best.
void pb__plan_judge(pb_planner* p);

// The searches: p's result has the best, if there is any.
void pb__plan_registers(pb_planner* p);

#endif
