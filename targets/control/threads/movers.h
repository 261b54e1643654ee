// Cores with movers beside them, which no processor at hand has: their code calls a machine in the runtime, that makes
// the moves (core/runtime/core_machine.c), and counts its own cycles for it.
#ifndef PB_THREADS_MOVERS_H
#define PB_THREADS_MOVERS_H

#include "core/poly/text.h"
#include "tdl/chip.h"

#include <llvm-c/Core.h>

// Functions of the LLVM dialect that the kernels call: each calls what the runtime has put into the table of the shared
// object.
void pb_threads_print_movers(pb_text* text);
// Each block of a kernel that starts moves adds to the core's clock what it takes.
void pb_threads_count_cycles(const pb_chip* chip, LLVMModuleRef module);

#endif
