// What a description says of a core, asked of the code generator.
#ifndef PB_THREADS_CHECK_H
#define PB_THREADS_CHECK_H

#include "core/base/diag.h"
#include "tdl/chip.h"

// Reports every feature and intrinsic that there is none of, every instruction whose operands are not its intrinsic's,
// that the features do not allow, or that comes to something else than Semantics says.
pb_status pb_threads_check(const pb_chip* chip, pb_diag* diag) PB_MUST_CHECK;

// Of one instruction on vectors, by making it into code, which may end the process. It is what pb-check-core ends with.
typedef enum pb_core_verdict { PB_CORE_RIGHT, PB_CORE_NO_CODE, PB_CORE_WRONG } pb_core_verdict;
pb_core_verdict pb_threads_try(const pb_chip* chip, const char* insn);

#endif
