// Registers whose values have a type of their own.
#ifndef PB_THREADS_REGISTERS_H
#define PB_THREADS_REGISTERS_H

#include "tdl/chip.h"

#include <llvm-c/Types.h>

// In LLVM's IR: what a memory's registers hold (Memory.Value) keeps that type from instruction to instruction and from
// turn to turn of a loop, where vectors stood in between and nothing else was done with them.
void pb_threads_keep_registers(const pb_chip* chip, LLVMModuleRef module);

#endif
