// --explain: what of a model runs as what, how long it is predicted to take and what binds it; and what the chip lacks
// for the rest. Collected once, then printed as text, as JSON or as one HTML page that needs nothing else.
#ifndef PB_REPORT_EXPLAIN_H
#define PB_REPORT_EXPLAIN_H

#include "core/report/scopes.h"
#include "core/s3/s3.h"

enum { PB_EXPLAIN_INSNS = 32 };

// An instruction among a step's commands and the model's nodes that it works for.
typedef struct pb_explained_insn {
  const pb_insn* insn;
  const char* nodes; // "a, b"
} pb_explained_insn;

typedef struct pb_explained_step {
  const pb_kernel* kernel; // of a step of the host's, a move or a jump, one that takes no time
  const char* nodes;       // "conv1 + relu1"
  const char* result;      // "1x64x56x56 i8"
  int* from;               // steps whose results it reads; -1: the model's inputs
  size_t from_count, from_capacity;
  pb_explained_insn insns[PB_EXPLAIN_INSNS];
  int insn_count;
  const char* how;     // of code without commands: the plan's instruction, or why it is plain loops; what the host does
  const char* missing; // why the chip does not run it; NULL: it does
  uint64_t macs, commands;
  uint64_t* busy;  // cycles of each queue by the description's Cycles
  int64_t* memory; // bytes of each memory
} pb_explained_step;

typedef struct pb_explanation {
  const pb_chip* chip;
  const char *model, *target, *fallback; // fallback: what runs the steps that miss something; NULL: nothing does
  int step_count, missing_count;
  pb_explained_step* steps;
  pb_scopes scopes; // of programs that data steer: cycles are those of one iteration of each loop and of every branch
  const char* codes_like;                 // the chip by whose formula codes are made, NULL: the SDK's
  uint64_t constants, apart;              // bytes of them in the system's memory, and in their own
  uint64_t apart_in[PB_ENGINE_MAX_APART]; // of those by memory
  bool* runs;                             // by instruction, whether a step runs as it
  double scales_off;                      // by which share a scale is off there, at most
  uint64_t cycles, macs, peak; // peak: multiply-accumulates a cycle; 0: of several kinds, there is no one number
  pb_arena arena;
} pb_explanation;

// `unit` is as the last pass left it, `engine` is whole; `mains` are the host functions of its segments, whose calls
// are its launches in their order. The caller frees it with pb_explanation_free.
void pb_explain(const pb_unit* unit, const pb_engine* engine, const MlirOperation* mains, size_t main_count,
                const char* model, bool refused, pb_explanation* out);
void pb_explanation_free(pb_explanation* e);
// "text", "json" or "html"; malloc'ed. NULL: no such form.
char* pb_explanation_print(const pb_explanation* e, const char* form);

// Inside: whether the instruction computes or moves, and no step runs as it; of chips that run commands.
bool pb__explain_idle(const pb_explanation* e, const pb_insn* insn);
// How many queues are told of: of many cores one core's, each with what the busiest core's has. In per cent of the
// step's cycles.
int pb__explain_queues(const pb_explanation* e);
double pb__explain_busy(const pb_explanation* e, const pb_explained_step* step, int queue, const char** name);
// The share of the array's peak that a step reaches, 0 to 1, by its prediction.
double pb__explain_of_peak(const pb_explanation* e, const pb_explained_step* s);
char* pb__explain_html(const pb_explanation* e);

#endif
