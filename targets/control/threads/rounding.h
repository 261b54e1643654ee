// Rounding and converting at once.
#ifndef PB_THREADS_ROUNDING_H
#define PB_THREADS_ROUNDING_H

#include <llvm-c/Types.h>

// In LLVM's IR: conversions of what is rounded to even just before, to i32, become conversions that round so.
void pb_threads_round(LLVMModuleRef module);

#endif
