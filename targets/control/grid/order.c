#include "targets/control/grid/order.h"

#include "core/base/arena.h"

#include <llvm-c/DebugInfo.h>

#include <stdlib.h>
#include <string.h>

bool pb_grid_is_product(LLVMValueRef i) {
  static const char* const names[] = {"llvm.fma", "llvm.nvvm.idp4a.", "llvm.amdgcn.sdot4", "llvm.amdgcn.sudot4"};
  LLVMValueRef callee = LLVMIsACallInst(i) ? LLVMIsAFunction(LLVMGetCalledValue(i)) : NULL;
  size_t length;
  const char* name = callee ? LLVMGetValueName2(callee, &length) : "";
  for (size_t k = 0; k < sizeof names / sizeof *names; ++k)
    if (!strncmp(name, names[k], strlen(names[k]))) return true;
  return false;
}

int pb_grid_numbers_of(LLVMValueRef i) {
  LLVMTypeRef type = LLVMTypeOf(i);
  return LLVMGetTypeKind(type) == LLVMVectorTypeKind ? (int)LLVMGetVectorSize(type) : 1;
}

int pb_grid_products_of(LLVMBasicBlockRef block) {
  int count = 0;
  for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i))
    count += pb_grid_is_product(i);
  return count;
}

bool pb_grid_widens(LLVMBasicBlockRef block) {
  for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i))
    if (LLVMIsAFPExtInst(i)) return true;
  return false;
}

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

bool pb_grid_may_order(LLVMBasicBlockRef block) {
  LLVMValueRef end = LLVMGetBasicBlockTerminator(block);
  for (LLVMValueRef i = LLVMGetFirstInstruction(block); i && i != end; i = LLVMGetNextInstruction(i))
    if (!LLVMIsAPHINode(i) && !may_move(i)) return false;
  return true;
}

void pb_grid_order_next(pb_block_order* o, LLVMValueRef i) {
  if (!LLVMIsAInstruction(i) || LLVMGetInstructionParent(i) != o->block || LLVMIsAPHINode(i)) return;
  if (pb_table_find_address(&o->seen, i) >= 0) return;
  pb_table_add_address(&o->seen, i, 0);
  int count = pb_grid_is_product(i) ? (int)LLVMGetNumArgOperands(i) : LLVMGetNumOperands(i);
  for (int k = count; k-- > 0;) pb_grid_order_next(o, LLVMGetOperand(i, (unsigned)k));
  PB_PUSH(o->items, o->count, o->capacity, i);
}

void pb_grid_order_new(pb_block_order* o, LLVMValueRef i) {
  pb_table_add_address(&o->seen, i, 0);
  PB_PUSH(o->items, o->count, o->capacity, i);
}

// What others behind the block take, or its next turn does.
static bool leaves(LLVMValueRef i, LLVMBasicBlockRef block) {
  for (LLVMUseRef use = LLVMGetFirstUse(i); use; use = LLVMGetNextUse(use)) {
    LLVMValueRef user = LLVMGetUser(use);
    if (LLVMGetInstructionParent(user) != block || LLVMIsAPHINode(user) || LLVMIsATerminatorInst(user)) return true;
  }
  return !LLVMGetFirstUse(i);
}

void pb_grid_order_end(pb_block_order* o, LLVMBuilderRef at) {
  LLVMValueRef end = LLVMGetBasicBlockTerminator(o->block);
  for (LLVMValueRef i = LLVMGetFirstInstruction(o->block); i && i != end; i = LLVMGetNextInstruction(i))
    if (leaves(i, o->block)) pb_grid_order_next(o, i);
  LLVMPositionBuilderBefore(at, end);
  LLVMSetCurrentDebugLocation2(at, NULL); // each keeps its own
  for (size_t k = 0; k < o->count; ++k) {
    LLVMInstructionRemoveFromParent(o->items[k]);
    LLVMInsertIntoBuilder(at, o->items[k]);
  }
  free(o->items);
  pb_table_free(&o->seen);
}
