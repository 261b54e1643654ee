// --report=FILE.json: what was compiled to what, by kernel and by step.
#ifndef PB_REPORT_REPORT_H
#define PB_REPORT_REPORT_H

#include "core/artefact/engine.h"
#include "core/s3/s3.h"

// The report as JSON text, malloc'ed: target and hash of its description, totals, each kernel with the model's nodes
// that it computes, its plan, prediction, memory use (bytes by memory) and commands (by queue), and each step with what
// runs it. `unit` is as the last pass left it, `engine` is whole. Cycles are null where nothing predicts them.
char* pb_report_make(const pb_unit* unit, const pb_engine* engine);

// Adds up the bytes that a kernel's buffers take of each memory, in whole rows.
void pb_report_memory(const pb_chip* chip, MlirOperation func, int64_t* bytes);

#endif
