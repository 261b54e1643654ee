#include "targets/control/grid/unmask.h"

#include <llvm-c/Target.h>

#include <stdbool.h>
#include <string.h>

static bool is_masked(LLVMValueRef i) {
  static const char name[] = "llvm.masked.load";
  LLVMValueRef callee = LLVMIsACallInst(i) ? LLVMIsAFunction(LLVMGetCalledValue(i)) : NULL;
  return callee && LLVMGetIntrinsicID(callee) == LLVMLookupIntrinsicID(name, sizeof name - 1);
}

static bool is_set(LLVMValueRef mask, unsigned k) {
  LLVMValueRef bit = LLVMGetAggregateElement(mask, k);
  return !bit || !LLVMIsAConstantInt(bit) || LLVMConstIntGetZExtValue(bit);
}

static LLVMValueRef load_each(LLVMBuilderRef at, LLVMTargetDataRef layout, LLVMValueRef call) {
  LLVMValueRef pointer = LLVMGetOperand(call, 0), mask = LLVMGetOperand(call, 1), made = LLVMGetOperand(call, 2);
  LLVMTypeRef element = LLVMGetElementType(LLVMTypeOf(call));
  LLVMTypeRef number = LLVMInt32TypeInContext(LLVMGetTypeContext(element));
  for (unsigned k = 0; k < LLVMGetVectorSize(LLVMTypeOf(call)); ++k) {
    LLVMValueRef index = LLVMConstInt(number, k, 0);
    if (!is_set(mask, k)) continue;
    LLVMValueRef load = LLVMBuildLoad2(at, element, LLVMBuildInBoundsGEP2(at, element, pointer, &index, 1, ""), "");
    LLVMSetAlignment(load, (unsigned)LLVMABISizeOfType(layout, element));
    made = LLVMBuildInsertElement(at, made, load, index, "");
  }
  return made;
}

// Of three neighbours as many are loaded as are aligned: AMD's loads three where they are no more than each is.
static void keep_three(LLVMTargetDataRef layout, LLVMValueRef i) {
  LLVMTypeRef type = LLVMTypeOf(i);
  if (LLVMGetInstructionOpcode(i) != LLVMLoad || LLVMGetTypeKind(type) != LLVMVectorTypeKind) return;
  unsigned count = LLVMGetVectorSize(type);
  if (count & (count - 1)) LLVMSetAlignment(i, (unsigned)LLVMABISizeOfType(layout, LLVMGetElementType(type)));
}

void pb_grid_unmask(LLVMModuleRef module) {
  LLVMBuilderRef at = LLVMCreateBuilderInContext(LLVMGetModuleContext(module));
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
      for (LLVMValueRef i = LLVMGetFirstInstruction(b), next; i; i = next) {
        next = LLVMGetNextInstruction(i);
        keep_three(LLVMGetModuleDataLayout(module), i);
        if (!is_masked(i)) continue;
        LLVMPositionBuilderBefore(at, i);
        LLVMReplaceAllUsesWith(i, load_each(at, LLVMGetModuleDataLayout(module), i));
        LLVMInstructionEraseFromParent(i);
      }
  LLVMDisposeBuilder(at);
}
