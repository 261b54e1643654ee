#include "targets/control/grid/unroll.h"

#include "targets/control/grid/loops.h"
#include "targets/control/grid/order.h"

#include <llvm-c/DebugInfo.h>

#include <stddef.h>
#include <stdint.h>

enum { LEAST_PRODUCTS = 16 };

// The largest number of turns that divides all of them, and has no more products and words than that.
static int64_t turns_at_once(int64_t turns, int64_t products, int64_t words, const pb_unrolling* limits) {
  int64_t at_once = limits->most_products / products;
  if (at_once > turns) at_once = turns;
  if (words && at_once > limits->most_words / words) at_once = limits->most_words / words;
  while (at_once > 1 && turns % at_once) --at_once;
  return at_once;
}

static void mark(LLVMContextRef context, LLVMValueRef end, int64_t at_once) {
  static const char kind[] = "llvm.loop", count[] = "llvm.loop.unroll.count";
  LLVMValueRef number = LLVMConstInt(LLVMInt32TypeInContext(context), (unsigned long long)at_once, false);
  LLVMMetadataRef said[] = {LLVMMDStringInContext2(context, count, sizeof count - 1), LLVMValueAsMetadata(number)};
  LLVMMetadataRef parts[] = {LLVMTemporaryMDNode(context, NULL, 0), LLVMMDNodeInContext2(context, said, 2)};
  LLVMMetadataRef loop = LLVMMDNodeInContext2(context, parts, 2); // a loop's name is itself
  LLVMMetadataReplaceAllUsesWith(parts[0], loop);
  LLVMSetMetadata(end, LLVMGetMDKindIDInContext(context, kind, sizeof kind - 1), LLVMMetadataAsValue(context, loop));
}

// Numbers of 32 bits that the block loads.
static int words_of(LLVMBasicBlockRef block) {
  int words = 0;
  for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i))
    if (LLVMIsALoadInst(i)) words += pb_grid_numbers_of(i);
  return words;
}

// Of factors that are widened more turns at once had no more of them by a load, and sums that waited for each other.
static bool mark_block(LLVMBasicBlockRef block, const pb_unrolling* limits) {
  int64_t turns = pb_grid_turns_of(block), products = turns > 1 ? pb_grid_products_of(block) : 0;
  int64_t words = words_of(block);
  bool few = products < LEAST_PRODUCTS || products * 4 < words * limits->least_of_four;
  int64_t at_once = few || pb_grid_widens(block) ? 1 : turns_at_once(turns, products, words, limits);
  LLVMValueRef end = LLVMGetBasicBlockTerminator(block);
  if (at_once > 1) mark(LLVMGetTypeContext(LLVMTypeOf(end)), end, at_once);
  return at_once > 1;
}

bool pb_grid_mark_unrolled(LLVMModuleRef module, const pb_unrolling* limits) {
  bool any = false;
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b)) any |= mark_block(b, limits);
  return any;
}
