#include "targets/control/grid/chains.h"

#include "core/base/arena.h"
#include "core/base/table.h"

#include <llvm-c/DebugInfo.h>

#include <stdlib.h>
#include <string.h>

// From more than so many words on. Of shorter blocks ptxas spilled nothing as they came, and some bytes in front of
// loops where they were turned; of ResNet-50, U-Net and BERT-base this leaves the fewest.
enum { MANY_PRODUCTS = 32, MOST_WORDS = 157 };

bool pb_grid_is_product(LLVMValueRef i) {
  static const char* const names[] = {"llvm.fma", "llvm.nvvm.idp4a.", "llvm.amdgcn.sdot4", "llvm.amdgcn.sudot4"};
  LLVMValueRef callee = LLVMIsACallInst(i) ? LLVMIsAFunction(LLVMGetCalledValue(i)) : NULL;
  size_t length;
  const char* name = callee ? LLVMGetValueName2(callee, &length) : "";
  for (size_t k = 0; k < sizeof names / sizeof *names; ++k)
    if (!strncmp(name, names[k], strlen(names[k]))) return true;
  return false;
}

int pb_grid_products_of(LLVMBasicBlockRef block) {
  int count = 0;
  for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i))
    count += pb_grid_is_product(i);
  return count;
}

typedef struct order {
  LLVMBasicBlockRef block;
  pb_table seen;
  LLVMValueRef* items; // as they will stand
  size_t count, capacity;
} order;

// Whether the instruction may stand anywhere between what it takes and who takes it, where nothing is stored.
static bool may_move(LLVMValueRef i) {
  switch (LLVMGetInstructionOpcode(i)) {
  case LLVMLoad:
    return !LLVMGetVolatile(i) && LLVMGetOrdering(i) == LLVMAtomicOrderingNotAtomic;
  case LLVMCall:
    return pb_grid_is_product(i);
  case LLVMGetElementPtr:
  case LLVMExtractElement:
  case LLVMInsertElement:
  case LLVMShuffleVector:
  case LLVMSelect:
  case LLVMICmp:
  case LLVMFCmp:
    return true;
  default:
    return LLVMIsABinaryOperator(i) || LLVMIsACastInst(i);
  }
}

// 32-bit numbers that the block loads, and sums that go from turn to turn.
static int words_of(LLVMBasicBlockRef block) {
  int words = 0;
  for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i)) {
    LLVMTypeRef type = LLVMTypeOf(i);
    bool vector = LLVMGetTypeKind(type) == LLVMVectorTypeKind;
    if (LLVMIsALoadInst(i) || (LLVMIsAPHINode(i) && LLVMGetTypeKind(type) != LLVMPointerTypeKind))
      words += vector ? (int)LLVMGetVectorSize(type) : 1;
  }
  return words;
}

static bool may_order(LLVMBasicBlockRef block) {
  LLVMValueRef end = LLVMGetBasicBlockTerminator(block);
  for (LLVMValueRef i = LLVMGetFirstInstruction(block); i && i != end; i = LLVMGetNextInstruction(i))
    if (!LLVMIsAPHINode(i) && !may_move(i)) return false;
  return pb_grid_products_of(block) >= MANY_PRODUCTS && words_of(block) > MOST_WORDS;
}

// What others behind the block take, or its next turn does.
static bool leaves(LLVMValueRef i, LLVMBasicBlockRef block) {
  for (LLVMUseRef use = LLVMGetFirstUse(i); use; use = LLVMGetNextUse(use)) {
    LLVMValueRef user = LLVMGetUser(use);
    if (LLVMGetInstructionParent(user) != block || LLVMIsAPHINode(user) || LLVMIsATerminatorInst(user)) return true;
  }
  return !LLVMGetFirstUse(i);
}

// The instruction behind all that it takes; a product's sum comes first, and so whole chains stand together.
static void add(order* o, LLVMValueRef i) {
  if (!LLVMIsAInstruction(i) || LLVMGetInstructionParent(i) != o->block || LLVMIsAPHINode(i)) return;
  if (pb_table_find_address(&o->seen, i) >= 0) return;
  pb_table_add_address(&o->seen, i, 0);
  int count = pb_grid_is_product(i) ? (int)LLVMGetNumArgOperands(i) : LLVMGetNumOperands(i);
  for (int k = count; k-- > 0;) add(o, LLVMGetOperand(i, (unsigned)k));
  PB_PUSH(o->items, o->count, o->capacity, i);
}

static void order_block(LLVMBuilderRef at, LLVMBasicBlockRef block) {
  LLVMValueRef end = LLVMGetBasicBlockTerminator(block);
  order o = {.block = block};
  for (LLVMValueRef i = LLVMGetFirstInstruction(block); i && i != end; i = LLVMGetNextInstruction(i))
    if (leaves(i, block)) add(&o, i);
  LLVMPositionBuilderBefore(at, end);
  LLVMSetCurrentDebugLocation2(at, NULL); // each keeps its own
  for (size_t k = 0; k < o.count; ++k) {
    LLVMInstructionRemoveFromParent(o.items[k]);
    LLVMInsertIntoBuilder(at, o.items[k]);
  }
  free(o.items);
  pb_table_free(&o.seen);
}

void pb_grid_order_chains(LLVMModuleRef module) {
  LLVMBuilderRef at = LLVMCreateBuilderInContext(LLVMGetModuleContext(module));
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
      if (may_order(b)) order_block(at, b);
  LLVMDisposeBuilder(at);
}
