// From a model's file to an engine: the stages in order.
#ifndef PB_DRIVER_COMPILE_H
#define PB_DRIVER_COMPILE_H

#include "core/artefact/engine.h"
#include "core/driver/pipeline.h"
#include "core/frontend/graph.h"

enum { PB_TIMINGS = 64 }; // more than there are stages and passes
typedef struct pb_timing {
  const char* name;
  double seconds;
} pb_timing;

typedef struct pb_compile_options {
  const char *model, *target, *target_dir;
  const void* bytes; // the model in memory: `model` is its name for diagnostics then, and ends in .mlir for text
  uint64_t size;     // of that; NULL: it is a file
  pb_chip* chip;     // in place of the one that `target` names, and the caller's; NULL
  pb_input_options inputs;
  const char* emit;        // NULL: the engine; else s1, s2, s3, s4, asm, commands, plan, or a pass's name: IR after it
  const char* print_after; // a pass; its IR goes to stderr
  const char* plan_file;   // plans to use instead of the planner's; NULL
  const char* dump_dir;    // a folder for what every stage and pass leaves, in numbered files; made if missing; NULL
  const char* fallback;    // a target controlled by threads for what the first cannot run; NULL: that is an error
  const char* explain;     // text, json or html: `text` is how the model runs, in place of the engine; NULL
  bool explain_refusals;   // what `fallback` takes is shown as refused: it stands there only to go on behind a refusal
  const char* precision;   // what products by constants may take their factors as: f32, bf16, ..., f8e5m2; NULL: f32
  const char* like;        // a chip whose formulas for codes this target follows bit for bit; NULL
  const char* between;     // where tensors between kernels lie: chip (where that pays) or system; NULL: chip
  const char* loops;       // of small kernels: kernels (one each, where that pays) or steps of the host; NULL: kernels
  int threads;             // that compile at once at most, 0: one a processor; the engine is the same
  bool report;             // make `report`
  bool check; // execute the IR after every pass and compare: the first pass that changes a result is an error
  void (*progress)(void* user, const char* what);
  void* user;
} pb_compile_options;

typedef struct pb_compiled {
  pb_engine* engine;             // NULL when text was asked for; its memory is its own arena
  char* text;                    // malloc'ed; what --emit or --explain asked for
  char* report;                  // malloc'ed JSON, when asked for
  int64_t schedules;             // that the planner looked at
  pb_timing timings[PB_TIMINGS]; // one for each name
  int timing_count;
} pb_compiled;

// Compiles. On PB_OK the caller frees engine (pb_compiled_free).
pb_status pb_compile(const pb_compile_options* options, pb_diag* diag, pb_compiled* out) PB_MUST_CHECK;
// Adds one of several programs to the others: its engine behind theirs, its times to theirs.
void pb__compiled_join(pb_compiled* all, const pb_compiled* one);
void pb_compiled_free(pb_compiled* compiled);

#endif
