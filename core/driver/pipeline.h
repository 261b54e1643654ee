// The passes as a table, and running them.
#ifndef PB_DRIVER_PIPELINE_H
#define PB_DRIVER_PIPELINE_H

#include "core/ir/module.h"
#include "core/s3/s3.h"

typedef enum pb_pass_kind { PB_PASS_EXACT, PB_PASS_REASSOCIATES } pb_pass_kind;
typedef struct pb_pass {
  const char* name;
  pb_module_pass run;
  pb_program_pass change;             // in its place, of a pass on the program function
  bool (*where)(const pb_chip* chip); // the chips for which it does anything; NULL: any
  pb_pass_kind kind;
  const char* summary;
} pb_pass;

extern const pb_pass pb_passes[]; // in order; ends with a null name
// Runs the pass and gives back what it took.
pb_status pb_pass_run(const pb_pass* pass, pb_unit* unit) PB_MUST_CHECK;
const pb_pass* pb_pass_named(const char* name); // NULL: none

#endif
