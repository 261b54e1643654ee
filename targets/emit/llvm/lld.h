// LLD as a program of its own.
#ifndef PB_LLVM_LLD_H
#define PB_LLVM_LLD_H

#include "core/base/diag.h"

// How ld.lld ended with these arguments, as waitpid says.
pb_status pb__lld_run(char* const* arguments, pb_diag* diag, int* code);

#endif
