#include "targets/control/grid/chains.h"

#include "targets/control/grid/order.h"

// From more than so many words on. Of shorter blocks ptxas spilled nothing as they came, and some bytes in front of
// loops where they were turned; of ResNet-50, U-Net and BERT-base this leaves the fewest.
enum { MANY_PRODUCTS = 32, MOST_WORDS = 157 };

// 32-bit numbers that the block loads, and sums that go from turn to turn.
static int words_of(LLVMBasicBlockRef block) {
  int words = 0;
  for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i)) {
    bool sum = LLVMIsAPHINode(i) && LLVMGetTypeKind(LLVMTypeOf(i)) != LLVMPointerTypeKind;
    if (LLVMIsALoadInst(i) || sum) words += pb_grid_numbers_of(i);
  }
  return words;
}

static bool may_order(LLVMBasicBlockRef block) {
  return pb_grid_may_order(block) && pb_grid_products_of(block) >= MANY_PRODUCTS && words_of(block) > MOST_WORDS;
}

void pb_grid_order_chains(LLVMModuleRef module) {
  LLVMBuilderRef at = LLVMCreateBuilderInContext(LLVMGetModuleContext(module));
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b)) {
      pb_block_order order = {.block = b};
      if (may_order(b)) pb_grid_order_end(&order, at);
    }
  LLVMDisposeBuilder(at);
}
