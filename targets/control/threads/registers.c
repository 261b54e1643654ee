// LLVM has a pass that does this for tiles (X86LowerAMXType). That of LLVM 22 walks a list while it appends to it,
// which reads freed memory once more than a few casts are left: so none are left to it.
#include "targets/control/threads/registers.h"

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

typedef struct phi {
  LLVMValueRef vector, kept; // kept: the phi of registers in its place
} phi;

// One function, one kind of register.
typedef struct registers {
  unsigned from_vector, to_vector; // intrinsics
  LLVMTypeRef type;                // of a register
  phi* phis;
  int count, capacity;
} registers;

static unsigned intrinsic_of(LLVMValueRef value) {
  if (!LLVMIsACallInst(value)) return 0;
  LLVMValueRef callee = LLVMIsAFunction(LLVMGetCalledValue(value));
  return callee ? LLVMGetIntrinsicID(callee) : 0;
}

// The value whose bits these are.
static LLVMValueRef bits_of(LLVMValueRef value) {
  while (LLVMIsABitCastInst(value)) value = LLVMGetOperand(value, 0);
  return value;
}

static phi* find(const registers* r, LLVMValueRef vector) {
  for (int k = 0; k < r->count; ++k)
    if (r->phis[k].vector == vector) return &r->phis[k];
  return NULL;
}

// The register that the vector is a copy of; NULL: of none, or of one that is not made yet.
static LLVMValueRef register_of(const registers* r, LLVMValueRef vector) {
  LLVMValueRef value = bits_of(vector);
  if (intrinsic_of(value) == r->to_vector) return LLVMGetOperand(value, 0);
  const phi* p = find(r, value);
  return p ? p->kept : NULL;
}

static bool comes_from_registers(const registers* r, LLVMValueRef vector) {
  LLVMValueRef value = bits_of(vector);
  return intrinsic_of(value) == r->to_vector || find(r, value);
}

static bool goes_to_registers(const registers* r, LLVMValueRef value) {
  for (LLVMUseRef use = LLVMGetFirstUse(value); use; use = LLVMGetNextUse(use)) {
    LLVMValueRef user = LLVMGetUser(use);
    if (LLVMIsABitCastInst(user) ? !goes_to_registers(r, user) : intrinsic_of(user) != r->from_vector && !find(r, user))
      return false;
  }
  return true;
}

static bool holds_registers(const registers* r, LLVMValueRef vector) {
  for (unsigned k = 0; k < LLVMCountIncoming(vector); ++k)
    if (!comes_from_registers(r, LLVMGetIncomingValue(vector, k))) return false;
  return goes_to_registers(r, vector);
}

static void add(registers* r, LLVMValueRef vector) {
  if (r->count == r->capacity) {
    r->capacity = r->capacity ? 2 * r->capacity : 64;
    r->phis = realloc(r->phis, (size_t)r->capacity * sizeof *r->phis);
    if (!r->phis) abort();
  }
  r->phis[r->count++] = (phi){vector, NULL};
}

// All phis of vectors but those that a vector of another origin enters or leaves: each that goes takes those with it
// that it feeds.
static void collect(registers* r, LLVMValueRef function) {
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
    for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
      if (LLVMIsAPHINode(i) && LLVMGetTypeKind(LLVMTypeOf(i)) == LLVMVectorTypeKind) add(r, i);
      if (intrinsic_of(i) == r->to_vector) r->type = LLVMTypeOf(LLVMGetOperand(i, 0));
    }
  if (!r->type) r->count = 0;
  for (bool again = true; again;) {
    again = false;
    for (int k = r->count - 1; k >= 0; --k)
      if (!holds_registers(r, r->phis[k].vector)) {
        r->phis[k] = r->phis[--r->count];
        again = true;
      }
  }
}

static void make_phis(registers* r, LLVMBuilderRef builder) {
  for (int k = 0; k < r->count; ++k) {
    LLVMPositionBuilderBefore(builder, r->phis[k].vector);
    r->phis[k].kept = LLVMBuildPhi(builder, r->type, "");
  }
  for (int k = 0; k < r->count; ++k)
    for (unsigned n = 0; n < LLVMCountIncoming(r->phis[k].vector); ++n) {
      LLVMValueRef value = register_of(r, LLVMGetIncomingValue(r->phis[k].vector, n));
      LLVMBasicBlockRef block = LLVMGetIncomingBlock(r->phis[k].vector, n);
      LLVMAddIncoming(r->phis[k].kept, &value, &block, 1);
    }
}

// Where a vector becomes a register again, the register itself is taken.
static void take_registers(const registers* r, LLVMValueRef function) {
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b)) {
    LLVMValueRef next;
    for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = next) {
      next = LLVMGetNextInstruction(i);
      LLVMValueRef value = intrinsic_of(i) == r->from_vector ? register_of(r, LLVMGetOperand(i, 0)) : NULL;
      if (!value) continue;
      LLVMReplaceAllUsesWith(i, value);
      LLVMInstructionEraseFromParent(i);
    }
  }
}

static void remove_vectors(const registers* r, LLVMValueRef function) {
  for (int k = 0; k < r->count; ++k)
    LLVMReplaceAllUsesWith(r->phis[k].vector, LLVMGetPoison(LLVMTypeOf(r->phis[k].vector)));
  for (int k = 0; k < r->count; ++k) LLVMInstructionEraseFromParent(r->phis[k].vector);
  for (LLVMBasicBlockRef b = LLVMGetLastBasicBlock(function); b; b = LLVMGetPreviousBasicBlock(b)) {
    LLVMValueRef before;
    for (LLVMValueRef i = LLVMGetLastInstruction(b); i; i = before) { // what is used goes behind what uses it
      before = LLVMGetPreviousInstruction(i);
      bool copies = LLVMIsABitCastInst(i) || intrinsic_of(i) == r->to_vector;
      if (copies && !LLVMGetFirstUse(i)) LLVMInstructionEraseFromParent(i);
    }
  }
}

static void keep(const pb_memory* memory, LLVMValueRef function, LLVMBuilderRef builder) {
  registers r = {.from_vector = LLVMLookupIntrinsicID(memory->from_vector, strlen(memory->from_vector)),
                 .to_vector = LLVMLookupIntrinsicID(memory->to_vector, strlen(memory->to_vector))};
  collect(&r, function);
  make_phis(&r, builder);
  take_registers(&r, function);
  remove_vectors(&r, function);
  free(r.phis);
}

void pb_threads_keep_registers(const pb_chip* chip, LLVMModuleRef module) {
  LLVMBuilderRef builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(module));
  for (int m = 0; m < chip->memory_count; ++m)
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f && chip->memories[m].value[0]; f = LLVMGetNextFunction(f))
      keep(&chip->memories[m], f, builder);
  LLVMDisposeBuilder(builder);
}
