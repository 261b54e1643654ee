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
  struct pb_plan_memo* plans;           // made so far, of plan_memo.h, which frees it
  struct pb_fallback* fallback;         // --fallback, of fallback.h; NULL: what the chip cannot run is an error
  bool in_turns; // what it makes may lie where it was before, as of a loop's turns: kernels say over what (pb.over)
  bool between_outside;                 // tensors between kernels lie in the system's memory, all of them
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

pb_status pb_s3_decided(pb_unit* unit) PB_MUST_CHECK;
pb_status pb_s3_unsigned(pb_unit* unit) PB_MUST_CHECK;
pb_status pb_s3_lines(pb_unit* unit) PB_MUST_CHECK;
pb_status pb_s3_parts(pb_unit* unit) PB_MUST_CHECK;
pb_status pb_s3_scaled_codes(pb_unit* unit) PB_MUST_CHECK;
pb_status pb_s3_views(pb_unit* unit) PB_MUST_CHECK;
pb_status pb_s3_inline(pb_unit* unit) PB_MUST_CHECK;
pb_status pb_s3_seams(pb_unit* unit) PB_MUST_CHECK;
pb_status pb_s3_quantisers(pb_unit* unit) PB_MUST_CHECK;
pb_status pb_s3_turn(pb_unit* unit) PB_MUST_CHECK;
pb_status pb_s3_fold_padding(pb_unit* unit) PB_MUST_CHECK;
pb_status pb_s3_winograd(pb_unit* unit) PB_MUST_CHECK;
pb_status pb_s3_widen(pb_unit* unit) PB_MUST_CHECK;
pb_status pb_s3_row_numbers(pb_unit* unit) PB_MUST_CHECK;
pb_status pb_s3_reductions(pb_unit* unit) PB_MUST_CHECK;
pb_status pb_s3_align(pb_unit* unit) PB_MUST_CHECK;
pb_status pb_s3_pieces(pb_unit* unit) PB_MUST_CHECK;
pb_status pb_s3_pixels(pb_unit* unit) PB_MUST_CHECK;
pb_status pb_s3_layout(pb_unit* unit) PB_MUST_CHECK;
pb_status pb_s3_math(pb_unit* unit) PB_MUST_CHECK;
pb_status pb_s3_transposes(pb_unit* unit) PB_MUST_CHECK;
pb_status pb_s3_lanes(pb_unit* unit) PB_MUST_CHECK;
pb_status pb_s3_delinearize(pb_unit* unit) PB_MUST_CHECK;
pb_status pb_s3_numbers(pb_unit* unit) PB_MUST_CHECK;
pb_status pb_s3_outline(pb_unit* unit) PB_MUST_CHECK;
// Tensors that stay on the chip at a time, at most.
enum { PB_MAX_RESIDENTS = 16 };
pb_status pb_s3_reside(pb_unit* unit) PB_MUST_CHECK;
pb_status pb_s3_plan(pb_unit* unit) PB_MUST_CHECK;
pb_status pb_s3_tile(pb_unit* unit) PB_MUST_CHECK;
pb_status pb_s3_map(pb_unit* unit) PB_MUST_CHECK;
pb_status pb_s3_place(pb_unit* unit) PB_MUST_CHECK;
pb_status pb_s3_registers(pb_unit* unit) PB_MUST_CHECK;

#endif
