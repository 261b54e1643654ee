// Runs the IR of a stage on seeded inputs, so that a pass that changes a result is found by name.
#ifndef PB_DRIVER_CHECK_H
#define PB_DRIVER_CHECK_H

#include "core/s3/s3.h"

// The program function's outputs, one after the other.
typedef struct pb_results {
  char* data;
  size_t bytes;
} pb_results;

// Executes @main of the unit's module, whatever stage it is at: inputs are drawn from `seed` (f32 in [-1, 1)),
// constants come from the unit's table. The caller frees results->data.
pb_status pb_check_run(const pb_unit* unit, uint64_t seed, pb_results* results) PB_MUST_CHECK;
// Whether two runs gave the same bytes; *first is the first that differs.
bool pb_results_equal(const pb_results* a, const pb_results* b, size_t* first);

#endif
