#include "targets/control/threads/rounding.h"

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <string.h>

static unsigned intrinsic(const char* name) { return LLVMLookupIntrinsicID(name, strlen(name)); }

static LLVMTypeRef element(LLVMTypeRef type) {
  return LLVMGetTypeKind(type) == LLVMVectorTypeKind ? LLVMGetElementType(type) : type;
}

static bool is_i32(LLVMTypeRef type) {
  return LLVMGetTypeKind(type) == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(type) == 32;
}

// The number that the instruction converts once it is rounded to even; NULL: it does something else.
static LLVMValueRef rounded(LLVMValueRef convert, unsigned roundeven) {
  if (LLVMGetInstructionOpcode(convert) != LLVMFPToSI || !is_i32(element(LLVMTypeOf(convert)))) return NULL;
  LLVMValueRef call = LLVMGetOperand(convert, 0), callee;
  if (!LLVMIsACallInst(call) || !(callee = LLVMIsAFunction(LLVMGetCalledValue(call)))) return NULL;
  if (LLVMGetIntrinsicID(callee) != roundeven) return NULL;
  return LLVMGetTypeKind(element(LLVMTypeOf(call))) == LLVMFloatTypeKind ? LLVMGetOperand(call, 0) : NULL;
}

// lrint rounds as the processor is told to, which is to even unless the program that calls an engine says otherwise.
static void round_function(LLVMModuleRef module, LLVMValueRef function, LLVMBuilderRef builder) {
  unsigned roundeven = intrinsic("llvm.roundeven"), lrint = intrinsic("llvm.lrint");
  for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block; block = LLVMGetNextBasicBlock(block)) {
    LLVMValueRef next;
    for (LLVMValueRef at = LLVMGetFirstInstruction(block); at; at = next) {
      LLVMValueRef number = rounded(at, roundeven);
      next = LLVMGetNextInstruction(at);
      if (!number) continue;
      LLVMTypeRef types[] = {LLVMTypeOf(at), LLVMTypeOf(number)};
      LLVMValueRef round = LLVMGetIntrinsicDeclaration(module, lrint, types, 2);
      LLVMPositionBuilderBefore(builder, at);
      LLVMReplaceAllUsesWith(at, LLVMBuildCall2(builder, LLVMGlobalGetValueType(round), round, &number, 1, ""));
      LLVMInstructionEraseFromParent(at);
    }
  }
}

void pb_threads_round(LLVMModuleRef module) {
  LLVMBuilderRef builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(module));
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f)) round_function(module, f, builder);
  LLVMDisposeBuilder(builder);
}
