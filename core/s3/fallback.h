// Kernels that the chip cannot run, left in value form for another target (--fallback). A pass that refuses a kernel
// so does not end the compilation: the kernel goes back to what it was before it was planned, and passes skip it from
// then on. Each is a warning with the reason.
#ifndef PB_S3_FALLBACK_H
#define PB_S3_FALLBACK_H

#include "core/poly/text.h"
#include "core/s3/s3.h"

typedef struct pb_left_kernel {
  const char* name;
  const char* text;   // its function in value form
  const char* reason; // why the chip does not run it; NULL: it does
} pb_left_kernel;

typedef struct pb_fallback {
  const pb_chip* chip; // that runs what is left
  const char* target;  // as it was found: NAME or NAME:VARIANT
  pb_left_kernel* items;
  size_t count, capacity;
} pb_fallback; // items live as long as the unit's arena; the caller frees the list itself

// Diagnostics of a step that may be refused.
typedef struct pb_attempt {
  pb_diag diag;
  pb_diag* outer;
  pb_text text;
} pb_attempt;

// Around what may refuse a kernel: diagnostics of unit->diag are held back in between. pb_attempt_end passes them on
// unless `status` is PB_ERR_UNSUPPORTED; then it leaves the kernel and returns PB_OK with *left.
void pb_attempt_begin(pb_unit* unit, pb_attempt* attempt, MlirOperation func);
pb_status pb_attempt_end(pb_unit* unit, pb_attempt* attempt, const char* kernel, pb_status status,
                         bool* left) PB_MUST_CHECK;

bool pb_kernel_is_left(MlirOperation func);
const pb_left_kernel* pb_kernel_left(const pb_unit* unit, const char* name); // NULL: the chip runs it
// Whether the unit may leave kernels at all; without, a refusal is an error.
static inline bool pb_may_leave(const pb_unit* unit) { return unit->fallback != NULL; }

#endif
