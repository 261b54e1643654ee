// Loops as a unit that all lanes share takes them: numbers of 32 bits that end where they are the last one, and
// addresses that go from turn to turn.
#ifndef PB_GRID_LOOPS_H
#define PB_GRID_LOOPS_H

#include <llvm-c/Core.h>
#include <stdint.h>

// For code with a scalar unit (CDNA 3 ISA, SALU and SMEM). Of innermost loops whose begin, step and end are
// constants. An address that is a multiple of the loop's number becomes one that a sum of 32 bits steps. Where
// only the end asks for the number itself, such a sum is asked, or without one a number of 32 bits. Ends are compared
// for equality, the only question of 64 bits that the unit answers. What a lane adds to an address that is one for all becomes an operand of 32 bits of each load and
// store, beside a constant. Runs last: LLVM's own passes would put addresses together again.
void pb_grid_step_loops(LLVMModuleRef module);

// How often a loop of one block runs whose number begins, steps and ends at constants; 0: the block is none.
int64_t pb_grid_turns_of(LLVMBasicBlockRef block);

#endif
