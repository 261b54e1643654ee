// Loads of some elements of a vector, as one load of each.
#ifndef PB_GRID_UNMASK_H
#define PB_GRID_UNMASK_H

#include <llvm-c/Core.h>

// LLVM's vectoriser of loads makes one of three neighbours that lie where four may be loaded, and NVIDIA's code
// generator then loads four: the last may be a byte that nobody has written, or another's. Here each element that is
// wanted is loaded by itself.
void pb_grid_unmask(LLVMModuleRef module);

#endif
