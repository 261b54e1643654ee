// A block's instructions in another order, each behind all that it takes.
#ifndef PB_GRID_ORDER_H
#define PB_GRID_ORDER_H

#include "core/base/table.h"

#include <llvm-c/Core.h>
#include <stdbool.h>

// Products that instruction sets add: llvm.fma, and their own of codes.
bool pb_grid_is_product(LLVMValueRef instruction);
int pb_grid_products_of(LLVMBasicBlockRef block);

// Numbers that the instruction makes: lanes of a vector.
int pb_grid_numbers_of(LLVMValueRef instruction);

// Whether factors are widened in the block, a conversion for each or a product that does it by the way.
bool pb_grid_widens(LLVMBasicBlockRef block);

// Whether each of the block's instructions may stand anywhere between what it takes and who takes it: nothing is
// stored.
bool pb_grid_may_order(LLVMBasicBlockRef block);

typedef struct pb_block_order {
  LLVMBasicBlockRef block;
  pb_table seen;
  LLVMValueRef* items; // as they will stand
  size_t count, capacity;
} pb_block_order; // starts as {.block = ...}

// The instruction comes next, behind all that it takes; a product's sum comes first, and so whole chains stand
// together. Of other blocks, and what has come already: nothing.
void pb_grid_order_next(pb_block_order* order, LLVMValueRef instruction);

// A new instruction of the block, which takes nothing of it.
void pb_grid_order_new(pb_block_order* order, LLVMValueRef instruction);

// Puts the instructions so, and behind them what else leaves the block; frees the order.
void pb_grid_order_end(pb_block_order* order, LLVMBuilderRef at);

#endif
