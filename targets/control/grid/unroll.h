// Turns of innermost loops written out one behind the other.
#ifndef PB_GRID_UNROLL_H
#define PB_GRID_UNROLL_H

#include <llvm-c/Core.h>
#include <stdbool.h>

// How much a block may become: products at most, words that its loads bring at most, and products at least for each
// four of these words.
typedef struct pb_unrolling {
  int most_products, most_words, least_of_four;
} pb_unrolling;

// Marks innermost loops whose block has many products and whose turns are a known number: LLVM's pass loop-unroll
// writes out as many turns as keep a block within `limits` and divide that number, and no other loop. Addresses of
// later turns are those of the first and a constant, what ends the loop is asked once for all of them, and loads of one
// place's neighbours become one. Returns whether any is marked.
bool pb_grid_mark_unrolled(LLVMModuleRef module, const pb_unrolling* limits);

#endif
