#include "targets/control/threads/bases.h"

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stddef.h>

// The base of an address is the sum of what all loops around the innermost one add to a tensor's start. LLVM's loop
// strength reduction looks through it to the last loop and tries every way to part that sum among registers, for each
// of the hundred loads of an unrolled tile: half of the time that code generation took. It cannot look through a
// freeze, which is no instruction of the processor.

// The block in front of a loop of one block; NULL: the block is no such loop.
static LLVMBasicBlockRef preheader(LLVMBasicBlockRef block) {
  LLVMValueRef phi = LLVMGetFirstInstruction(block);
  if (!phi || !LLVMIsAPHINode(phi) || LLVMCountIncoming(phi) != 2) return NULL;
  LLVMBasicBlockRef a = LLVMGetIncomingBlock(phi, 0), b = LLVMGetIncomingBlock(phi, 1);
  return a == block ? b : b == block ? a : NULL;
}

static bool is_inside(LLVMValueRef value, LLVMBasicBlockRef block) {
  return LLVMIsAInstruction(value) && LLVMGetInstructionParent(value) == block;
}

// Pointers that stand frozen in front of the loop.
enum { MAX_BASES = 32 };
typedef struct bases {
  LLVMValueRef from[MAX_BASES], to[MAX_BASES];
  int count;
} bases;

static LLVMValueRef frozen(bases* known, LLVMValueRef base, LLVMBasicBlockRef front, LLVMBuilderRef builder) {
  for (int k = 0; k < known->count; ++k)
    if (known->from[k] == base) return known->to[k];
  if (known->count == MAX_BASES) return base;
  LLVMPositionBuilderBefore(builder, LLVMGetBasicBlockTerminator(front));
  known->from[known->count] = base;
  return known->to[known->count++] = LLVMBuildFreeze(builder, base, "");
}

static void fix_bases(LLVMBasicBlockRef block, LLVMBuilderRef builder) {
  LLVMBasicBlockRef front = preheader(block);
  bases known = {.count = 0};
  for (LLVMValueRef at = front ? LLVMGetFirstInstruction(block) : NULL; at; at = LLVMGetNextInstruction(at)) {
    if (!LLVMIsAGetElementPtrInst(at) || is_inside(LLVMGetOperand(at, 0), block)) continue;
    if (!LLVMIsAInstruction(LLVMGetOperand(at, 0))) continue; // an argument has nothing to take apart
    LLVMSetOperand(at, 0, frozen(&known, LLVMGetOperand(at, 0), front, builder));
  }
}

void pb_threads_fix_bases(LLVMModuleRef module) {
  LLVMBuilderRef builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(module));
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(f); block; block = LLVMGetNextBasicBlock(block))
      fix_bases(block, builder);
  LLVMDisposeBuilder(builder);
}
