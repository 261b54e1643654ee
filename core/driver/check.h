// Runs the IR of a stage on seeded inputs, so that a pass that changes a result is found by name.
#ifndef PB_DRIVER_CHECK_H
#define PB_DRIVER_CHECK_H

#include "core/base/expr.h"
#include "core/s3/s3.h"

enum { PB_RESULT_PARTS = 64 };

// How far f32 results may be from each other, of the largest, once a pass takes sums in another order.
#define PB_REASSOCIATION 1e-4

// The program function's outputs, one after the other.
typedef struct pb_results {
  char* data;
  size_t bytes;
  struct {
    pb_type type;
    size_t bytes;
  } parts[PB_RESULT_PARTS]; // the first outputs; further ones must be equal whatever their type
  int part_count;
} pb_results;

// Executes @main of the unit's module, whatever stage it is at: inputs are drawn from `seed` (f32 in [-1, 1)),
// constants come from the unit's table. The caller frees results->data.
pb_status pb_check_run(const pb_unit* unit, uint64_t seed, pb_results* results) PB_MUST_CHECK;
// Whether two runs gave the same bytes; *first is the first that differs.
bool pb_results_equal(const pb_results* a, const pb_results* b, size_t* first);
// The same after a pass that rounds in another order: f32 outputs may differ by `relative` of their largest element.
bool pb_results_close(const pb_results* a, const pb_results* b, double relative, size_t* first);

#endif
