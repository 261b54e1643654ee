// Sums one after the other, each with what it takes.
#ifndef PB_GRID_CHAINS_H
#define PB_GRID_CHAINS_H

#include <llvm-c/Core.h>

// A plan's tile comes term by term: all points of the tile take the first term, then all the next. Neighbouring terms
// of a point come by one load, so that those of all points are in registers at once, beside the sums. Here each point's
// products stand together, behind their loads:
//
//   before   x0 = load, x1 = load, ...; a0 += x0.0 w0, a1 += x1.0 w0, ...; a0 += x0.1 w1, a1 += x1.1 w1, ...
//   after    x0 = load; a0 += x0.0 w0, a0 += x0.1 w1, ...; x1 = load; a1 += x1.0 w0, ...
//
// The order in each sum stays. Done in blocks of many products that only load and compute, of more words than
// assemblers keep well by themselves.
void pb_grid_order_chains(LLVMModuleRef module);

#endif
