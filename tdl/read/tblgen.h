// Inside tdl: running llvm-tblgen and reading its JSON.
#ifndef PB_TDL_TBLGEN_H
#define PB_TDL_TBLGEN_H

#include "core/base/diag.h"

// Runs llvm-tblgen --dump-json on a description; what it complains of becomes diagnostics. *json is malloc'ed text.
pb_status pb__tblgen_run(const char* path, const char* variant, pb_diag* diag, char** json) PB_MUST_CHECK;

#endif
