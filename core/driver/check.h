// Runs the IR of a stage on seeded inputs, so that a pass that changes a result is found by name.
#ifndef PB_DRIVER_CHECK_H
#define PB_DRIVER_CHECK_H

#include "core/base/expr.h"
#include "core/s3/s3.h"

// How far f32 results may be from each other, of the largest, once a pass takes sums in another order. f64 ones may be
// as many of their own last places apart, and what is stored in 16 bits one more of its.
#define PB_REASSOCIATION 1e-4
// The same where values are rounded to 16 bits in between: the last place of an f32 may turn one of bf16, 2^-8 of it.
#define PB_REASSOCIATION_NARROW 0x1p-7

// The program function's outputs, one after the other.
typedef struct pb_results {
  char* data;
  size_t bytes;
  struct pb_result_part {
    pb_type type; // as the IR has it: floats of 16 bits are integers there
    size_t bytes;
    MlirStringRef name; // in the unit's context
  } * parts;
  size_t part_count, part_capacity;
} pb_results; // starts as {0}

// Executes @main of the unit's module, whatever stage it is at, constants from the unit's table, twice: on inputs drawn
// from `seed` (floats in [-1, 1)), and on the same with NaN, infinities and -0 among the floats. The caller frees the
// results.
pb_status pb_check_run(const pb_unit* unit, uint64_t seed, pb_results* results) PB_MUST_CHECK;
// Whether there is a function @main of static memrefs, and constants for those that are; `what` asks.
pb_status pb_check_main(const pb_unit* unit, const char* what) PB_MUST_CHECK;
void pb_results_free(pb_results* results);
// Stores a number as an element of a type, cut to it.
void pb_number_store(void* data, pb_type type, int64_t index, double number);
// Whether two runs gave the same bytes, any NaN being as good as another; *first is the first that differs.
bool pb_results_equal(const pb_results* a, const pb_results* b, size_t* first);
// The same after a pass that rounds in another order: outputs of floats may differ by `relative`, as f32
// has it, of their largest element.
bool pb_results_close(const pb_results* a, const pb_results* b, double relative, size_t* first);

#endif
