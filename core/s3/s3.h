// Stage S3: from the tensor program's nests to planned, tiled, fused, mapped and placed kernels, by the chip's facts.
#ifndef PB_S3_S3_H
#define PB_S3_S3_H

#include "core/base/consts.h"
#include "core/base/diag.h"
#include "tdl/chip.h"

#include <mlir-c/IR.h>

// What the passes work on. The module is owned by whoever made it; passes replace its functions in place.
typedef struct pb_unit {
  MlirContext context;
  MlirModule module;
  const pb_chip* chip;
  pb_consts* consts;
  pb_diag* diag;
  pb_arena arena; // lives as long as the unit
  pb_arena pass;  // what a pass makes: gone behind it, and behind each kernel where it goes kernel by kernel
  struct pb_given_plans* given;         // --plan=FILE, of plan_given.h; NULL: every plan is the planner's
  size_t changes;                       // made to the module so far: a pass without any need not be checked
  int workers;                          // threads that may compile kernels at once, 0: one a processor
  struct pb_replacements* replacements; // of the kernels that are being visited, of kernels.c
  struct pb_plan_memo* plans;           // made so far, of plan.h, which frees it
  struct pb_fallback* fallback;         // --fallback, of fallback.h; NULL: what the chip cannot run is an error
  bool in_turns; // what it makes may lie where it was before, as of a loop's turns: kernels say over what (pb.over)
  bool between_outside;   // tensors between kernels lie in the system's memory, all of them
  const char* codes_like; // the chip whose own formulas the codes are made by, NULL: the SDK's; for reports
  double scales_off;      // the largest share by which a scale is off there
  // The model's inputs and outputs whose codes are u8, by name: outside of kernels that have codes with a sign, 128
  // more.
  const char** unsigned_names;
  int unsigned_count;
  // From pass `unsigned` on: codes lie without sign, these inputs and outputs as the model has them.
  bool codes_unsigned;
} pb_unit;

// Whether that is the name of one of unit->unsigned_names.
bool pb_unit_names_unsigned(const pb_unit* unit, const char* name, size_t length);

// Passes, a row each in pipeline.def: on the module; or on the program function as it was read, which they say whether
// they have changed.
struct pb_program;
typedef pb_status (*pb_module_pass)(pb_unit* unit);
typedef bool (*pb_program_pass)(pb_unit* unit, struct pb_program* program);
#define MODULE_PASS(name, function, kind, summary) pb_status function(pb_unit* unit) PB_MUST_CHECK;
#define PROGRAM_PASS(name, function, where, kind, summary) bool function(pb_unit* unit, struct pb_program* program);
#include "core/s3/pipeline.def"
#undef MODULE_PASS
#undef PROGRAM_PASS
// Tensors that stay on the chip at a time, at most.
enum { PB_MAX_RESIDENTS = 16 };

#endif
