// Addresses in loops, by bases that are not taken apart again.
#ifndef PB_THREADS_BASES_H
#define PB_THREADS_BASES_H

#include <llvm-c/Types.h>

// In LLVM's IR, after the optimiser and before code generation: a pointer that a loop of one block takes from outside
// and steps on from is frozen in front of the loop.
void pb_threads_fix_bases(LLVMModuleRef module);

#endif
