// What pb-run feeds to an engine and what it does with the results.
#ifndef PB_TOOLS_RUN_VALUES_H
#define PB_TOOLS_RUN_VALUES_H

#include "core/runtime/npy.h"
#include "pb/pb.h"

// One input or output over all samples: samples * tensor->bytes bytes in `all.data`, or once if it is the same for all.
typedef struct run_value {
  const pb_rt_tensor* tensor;
  pb_npy all;
  int64_t samples; // 1: every run gets the same
} run_value;

// Which of `count` tensors "NAME=rest" or "rest" means; *rest is what follows. A name may hold '='; of several that
// fit it is the longest. "rest" alone needs a count of 1.
pb_status run_value_named(const char* option, const char* text, int count,
                          const pb_rt_tensor* (*tensor)(const pb_rt*, int), const pb_rt* rt, const char** rest,
                          int* index) PB_MUST_CHECK;
// FILE.npy, 4x8xf32=1 or random:SEED. A file may hold several samples along the first dimension.
pb_status run_value_read(const pb_rt_tensor* tensor, const char* text, run_value* value) PB_MUST_CHECK;
// Room for an output over all samples.
void run_value_make(const pb_rt_tensor* tensor, int64_t samples, run_value* value);
void* run_value_sample(const run_value* value, int64_t sample);
void run_value_free(run_value* value);
// Compares with a file: |ours - theirs| <= atol + rtol * |theirs|. Prints a line; PB5051 when they differ.
pb_status run_value_expect(const run_value* value, const char* path, double atol, double rtol) PB_MUST_CHECK;
void run_value_print(const run_value* value);

#endif
