// Places along one axis that the model itself says, as few runs of even steps: what a resize, a reflection or a shuffle
// reads.
#ifndef PB_STABLEHLO_RUNS_H
#define PB_STABLEHLO_RUNS_H

#include <stdbool.h>
#include <stdint.h>

enum { PB_DOOR_MOST_RUNS = 16 };

// Results first, first + period, ... take elements from, from + step, ...
typedef struct pb_door_run {
  int64_t first, count, from, step;
} pb_door_run;

typedef struct pb_door_runs {
  int64_t period;
  int count;
  pb_door_run run[PB_DOOR_MOST_RUNS];
} pb_door_runs;

// The fewest runs with a short period that make result k of place[k]. false: they would be too many to be worth it.
bool pb__door_find_runs(const int64_t* place, int64_t count, pb_door_runs* runs);

#endif
