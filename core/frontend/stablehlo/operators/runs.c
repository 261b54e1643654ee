#include "core/frontend/stablehlo/operators/runs.h"

// Results of a run, on average: shorter ones are looked up, unless the runs are few.
enum { MOST_PERIOD = 8, LEAST_RUN = 4, FEW_RUNS = 6 };

static bool add(pb_door_runs* runs, const pb_door_run* run) {
  if (runs->count == PB_DOOR_MOST_RUNS) return false;
  runs->run[runs->count++] = *run;
  return true;
}

// Greedily: each run goes on as long as its first step does.
static bool cut(const int64_t* place, int64_t count, int64_t period, pb_door_runs* runs) {
  *runs = (pb_door_runs){.period = period};
  for (int64_t begin = 0; begin < period; ++begin) {
    pb_door_run run = {.first = begin, .count = 1, .from = place[begin]};
    for (int64_t k = begin + period; k < count; k += period) {
      int64_t step = place[k] - place[k - period];
      if (run.count == 1) run.step = step;
      if (step == run.step) {
        ++run.count;
        continue;
      }
      if (!add(runs, &run)) return false;
      run = (pb_door_run){.first = k, .count = 1, .from = place[k]};
    }
    if (!add(runs, &run)) return false;
  }
  return true;
}

bool pb__door_find_runs(const int64_t* place, int64_t count, pb_door_runs* runs) {
  pb_door_runs tried;
  runs->count = 0;
  for (int64_t period = 1; period <= MOST_PERIOD && period <= count; ++period)
    if (cut(place, count, period, &tried) && (!runs->count || tried.count < runs->count)) *runs = tried;
  return runs->count && (runs->count <= FEW_RUNS || runs->count * LEAST_RUN <= count);
}
