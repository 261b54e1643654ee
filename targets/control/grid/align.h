// Alignment of loads and stores, as far as what addresses are made of says it.
#ifndef PB_GRID_ALIGN_H
#define PB_GRID_ALIGN_H

#include <llvm-c/Core.h>

// LLVM looks only a few steps back from an address, and a plan's are sums of one product for each loop around them: its
// own way of finding that four neighbours can be loaded at once sees none. Here every integer and pointer of a function
// has as many bits that are surely 0 at its end as what it is made of gives, until nothing changes any more. Tensors,
// an entry's pointers to device memory, begin at multiples of PB_ENGINE_ALIGN; of accesses of less than four bytes
// nothing is said.
void pb_grid_align(LLVMModuleRef module);

#endif
