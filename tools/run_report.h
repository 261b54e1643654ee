// pb-run's reports: the table of steps, the same as JSON, and a timeline for trace viewers.
#ifndef PB_TOOLS_RUN_REPORT_H
#define PB_TOOLS_RUN_REPORT_H

#include "core/base/diag.h"
#include "pb/pb.h"

#include <stdio.h>

typedef struct run_times {
  double* seconds; // of each timed run
  int count;
  double percentile;
} run_times;

void run_report_info(pb_rt* rt); // of all profiles; the last one is chosen then
void run_report_times(run_times* times);
void run_report_table(const pb_rt* rt);
pb_status run_report_json(const pb_rt* rt, const run_times* times, const char* path) PB_MUST_CHECK;

// The timeline in Chrome's trace event format (microseconds of the chip's clock); Perfetto reads it too.
typedef struct run_timeline {
  FILE* file;
  const char* path;
  const pb_rt* rt;
  int events;
} run_timeline;
pb_status run_timeline_open(run_timeline* line, const pb_rt* rt, const char* path) PB_MUST_CHECK;
void run_timeline_event(void* user, int step, int queue, uint32_t index, uint64_t start, uint64_t end); // a pb_rt_trace
pb_status run_timeline_close(run_timeline* line) PB_MUST_CHECK;

// What the device counts, a line each.
void run_report_counters(const pb_rt* rt);

#endif
