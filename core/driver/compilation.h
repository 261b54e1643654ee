// Inside the driver: one program on its way.
#ifndef PB_DRIVER_COMPILATION_H
#define PB_DRIVER_COMPILATION_H

#include "core/base/held.h"
#include "core/driver/check.h"
#include "core/driver/compile.h"
#include "core/driver/control.h"
#include "core/driver/dump.h"
#include "core/frontend/linalg/linalg.h"
#include "core/frontend/safetensors.h"
#include "core/open/open.h"
#include "core/s1/control.h"
#include "core/s3/fallback.h"
#include "core/s3/plan/plan_given.h"

typedef struct compilation {
  const pb_compile_options* options;
  pb_compiled* out;
  pb_unit unit;
  pb_chip* chip;
  const pb_control_ops* control;
  pb_consts consts;
  pb_graph* graph;
  pb_input_options inputs; // the options', with the weights' tensors among what is bound
  pb_safetensors* weights; // by file
  pb_s1 s1;
  bool has_module;
  bool narrowed;       // --precision found something to round
  pb_results expected; // --check: what stage S2 gives
  bool checks, rounds; // that is there; a pass so far rounds otherwise, and so does what follows it
  pb_given_plans given;
  pb_chip* other; // --fallback
  pb_chip* like;  // --like
  pb_fallback fallback;
  pb_dump dump;
  double since;
  pb_symbols* symbols;  // open dims
  pb_mlir_text** text;  // NULL there: not read yet, or the model is none; one for all samples
  pb_held* held;        // diagnostics, as long as it may be done again; NULL: of a part
  bool pairs_codes;     // of pb_input_options
  bool shares_context;  // of another sample, or segment
  bool is_segment;      // of a program with control
  pb_segments segments; // where the program has control: what is compiled each for itself
  struct compilation* parts;
  size_t part_count;
  MlirOperation* mains;
} compilation;

// From the model to its program, from that to value form; or to the text that was asked for.
pb_status pb__compile_program(compilation* c) PB_MUST_CHECK;
pb_status pb__compile_module(compilation* c) PB_MUST_CHECK;
// The passes on it.
pb_status pb__compile_passes(compilation* c) PB_MUST_CHECK;
// Decides which constants lie in which memory, where not all of them have room in each; `first` is the pass behind
// which kernels are.
pb_status pb__settle_constants(compilation* c, const struct pb_pass* first) PB_MUST_CHECK;
// Both of a program with control: of each of its segments. Their kernels become those of the unit's module.
pb_status pb__compile_segments(compilation* c) PB_MUST_CHECK;
// Segment `number` of a program with control as a compilation of its own, which takes its program.
void pb__start_segment(compilation* c, int number, compilation* part, pb_compiled* out);
// The program's value that an argument of a segment's function is, by its name; -1: it has none, as a constant.
int pb__value_of_argument(MlirValue argument);
// Whether the operator stands in a loop, as one that is a kernel by now does not.
bool pb__is_in_loop(const pb_s1* program, size_t op);
// What turns of its loops make of what they carry is made where that lies, where nobody can tell (in_place.c).
void pb__make_in_place(compilation* c);
// Loops of such a program that are a kernel each from now on (turns.c).
pb_status pb__join_loops(compilation* c) PB_MUST_CHECK;
// Whether kernels may be put into others: the target's code calls some, and the user has not asked for steps.
bool pb__joins_kernels(const compilation* c);
int64_t pb__tensor_elements(MlirType type);
int64_t pb__tensor_bytes(MlirType type);
// Small kernels that loops' turns launch one behind the other, from the number on that the next kernel gets (runs.c).
pb_status pb__join_runs(compilation* c, int* number, bool* any) PB_MUST_CHECK;
// Large kernels that a function calls one behind the other, which go through caches share by share (chunks.c).
pb_status pb__join_chunks(compilation* c, MlirOperation main, int* number, bool* any) PB_MUST_CHECK;
// The same for a program without control.
pb_status pb__join_kernels(compilation* c) PB_MUST_CHECK;
// An option that was given and speaks of one function with known extents; NULL: there is none.
const char* pb__option_of_one(const pb_compile_options* options);
// A pass, checked where that is asked for.
pb_status pb__run_pass(compilation* c, const pb_pass* pass) PB_MUST_CHECK;
// What a compilation holds but its result.
void pb__compilation_free(compilation* c);
// The rest of the way of a program with open dims, of which this is the first sample.
pb_status pb__compile_open(compilation* c) PB_MUST_CHECK;
// An engine without kernels for the chip.
pb_engine* pb__engine_start(compilation* c);
pb_status pb__engine_mark_unsigned(const pb_unit* unit, const pb_s1* program, pb_diag* diag,
                                   pb_engine* e) PB_MUST_CHECK;
pb_status pb__emit_kernels(compilation* c, pb_engine* e) PB_MUST_CHECK;
void pb__stage_done(compilation* c, const char* name);

#endif
