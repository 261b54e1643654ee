// What a kind of control adds behind stage S3: synchronisation and machine code (stages S4 and S5). Each registers
// itself as a row of targets/targets.def, from which the table is made; the core asks the table and includes nothing of
// targets/.
#ifndef PB_DRIVER_CONTROL_H
#define PB_DRIVER_CONTROL_H

#include "core/artefact/engine.h"
#include "core/s3/s3.h"

typedef struct pb_control_ops {
  pb_control control;
  const char* name; // in a description: "queues"
  bool native;      // code of the host's processor: can run what another control leaves (--fallback)
  bool loops;       // kernels may be plain loops, over elements of any type and for extents that come when they run
  // Adds every kernel of the unit's module (a function with pb.kernel) to the engine, whose list has room for all, but
  // those that are left to another target; kernels that it cannot carry out may be left too (core/s3/fallback.h).
  pb_status (*emit)(pb_unit* unit, pb_engine* engine) PB_MUST_CHECK;
  // The same as text, malloc'ed. `form`: "s4", "commands", "asm"; one that it does not have is PB_ERR_UNSUPPORTED.
  pb_status (*print)(pb_unit* unit, const char* form, char** text) PB_MUST_CHECK;
  // Reports what a description says that cannot be made into code; NULL: its own check says all.
  pb_status (*check)(const pb_chip* chip, pb_diag* diag) PB_MUST_CHECK;
  // Cycles that a second thread would save a kernel, less what it costs that threads meet; 0 and less: none is woken for
  // it. NULL: kernels with loops of the host's program inside (turns.c) cannot be made.
  int64_t (*saved)(const pb_chip* chip, MlirOperation kernel);
  const char* dump; // the form that --dump-intermediates keeps; NULL: none
} pb_control_ops;

extern const pb_control_ops* const pb_controls[]; // ends with NULL; in targets/controls.c

const pb_control_ops* pb_control_of(const pb_chip* chip); // NULL: none is registered for it
pb_status pb_control_check(const pb_chip* chip, pb_diag* diag) PB_MUST_CHECK;

#endif
