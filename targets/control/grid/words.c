#include "targets/control/grid/words.h"

#include <llvm-c/Target.h>

#include <stdbool.h>

enum { WORD = 4 };

static bool is_short(LLVMTypeRef type) {
  LLVMTypeRef element = LLVMGetTypeKind(type) == LLVMVectorTypeKind ? LLVMGetElementType(type) : type;
  LLVMTypeKind kind = LLVMGetTypeKind(element);
  return kind == LLVMHalfTypeKind || kind == LLVMBFloatTypeKind ||
         (kind == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(element) == 16);
}

static bool may_load_words(LLVMTargetDataRef layout, LLVMValueRef i) {
  if (!LLVMIsALoadInst(i) || LLVMGetVolatile(i) || LLVMGetOrdering(i) != LLVMAtomicOrderingNotAtomic) return false;
  LLVMTypeRef type = LLVMTypeOf(i);
  return is_short(type) && LLVMSizeOfTypeInBits(layout, type) % (8 * WORD) == 0 && LLVMGetAlignment(i) >= WORD;
}

static LLVMValueRef load_words(LLVMBuilderRef at, LLVMTargetDataRef layout, LLVMValueRef load) {
  LLVMTypeRef type = LLVMTypeOf(load), words = LLVMInt32TypeInContext(LLVMGetTypeContext(type));
  unsigned count = (unsigned)(LLVMSizeOfTypeInBits(layout, type) / (8 * WORD));
  LLVMPositionBuilderBefore(at, load);
  LLVMValueRef made = LLVMBuildLoad2(at, count > 1 ? LLVMVectorType(words, count) : words, LLVMGetOperand(load, 0), "");
  LLVMSetAlignment(made, LLVMGetAlignment(load));
  return LLVMBuildBitCast(at, made, type, "");
}

void pb_grid_load_words(LLVMModuleRef module) {
  LLVMBuilderRef at = LLVMCreateBuilderInContext(LLVMGetModuleContext(module));
  LLVMTargetDataRef layout = LLVMGetModuleDataLayout(module);
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
      for (LLVMValueRef next, i = LLVMGetFirstInstruction(b); i; i = next) {
        next = LLVMGetNextInstruction(i);
        if (!may_load_words(layout, i)) continue;
        LLVMReplaceAllUsesWith(i, load_words(at, layout, i));
        LLVMInstructionEraseFromParent(i);
      }
  LLVMDisposeBuilder(at);
}
