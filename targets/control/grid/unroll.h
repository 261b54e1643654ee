// Turns of innermost loops written out one behind the other.
#ifndef PB_GRID_UNROLL_H
#define PB_GRID_UNROLL_H

#include <llvm-c/Core.h>
#include <stdbool.h>

// Marks innermost loops whose block has many products and whose turns are a known number: LLVM's pass loop-unroll
// writes out as many turns as keep a block small and divide that number, and no other loop. Addresses of later turns
// are those of the first and a constant, what ends the loop is asked once for all of them, and loads of one place's
// neighbours become one. Not of blocks with fewer products than `least_of_four` for each four words that are loaded.
// Returns whether any is marked.
bool pb_grid_mark_unrolled(LLVMModuleRef module, int most_products, int least_of_four);

#endif
