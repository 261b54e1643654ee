// Products in portions whose numbers of all lanes find room in scalar registers.
#ifndef PB_GRID_PORTIONS_H
#define PB_GRID_PORTIONS_H

#include <llvm-c/Core.h>

// For code with a scalar unit, behind pb_grid_mark_unwritten. Of a block that has more scalar words than registers the
// code generator would bring as many as there are, wait, and look again. Scalar loads come back in any order, so that
// there is one wait for all that are on their way (CDNA 3 ISA, 4.4: LGKM_CNT). Here sums that take the same words stand
// together, as many as find room beside the next ones, and the next portion's words are asked for behind a
// portion's first product, which has waited for its own:
//
//   loads of 1 | a product of 1 | loads of 2, products of 1 | a product of 2 | loads of 3, products of 2 | ...
//
// The code generator moves nothing past a bar. The order in each sum stays.
void pb_grid_order_portions(LLVMModuleRef module);

// The attribute of a kernel that says how many words a portion and the next one may have; and how many those are.
#define PB_GRID_PAIR_WORDS "pb-pair-words"
int pb_grid_pair_words(LLVMValueRef kernel);

#endif
