#include "targets/control/grid/align.h"

#include "core/artefact/engine.h"
#include "core/base/arena.h"
#include "core/base/table.h"

#include <llvm-c/Target.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { ALL = 63, MOST_ALIGN = 4, GLOBAL_SPACE = 1, LEAST_BYTES = 4 }; // bits; the widest access has 16 bytes

// By instruction: how many of its lowest bits are 0. Begins with all, and only ever falls.
typedef struct zeros {
  pb_table numbers;
  LLVMValueRef* items;
  int* bits;
  size_t count, capacity;
  LLVMTargetDataRef layout;
} zeros;

static int least(int a, int b) { return a < b ? a : b; }

static int of_number(unsigned long long number) { return number ? least(ALL, __builtin_ctzll(number)) : ALL; }

// Tensors begin where the engine puts them, and the runtime refuses others.
static int of_parameter(LLVMValueRef value) {
  LLVMTypeRef type = LLVMTypeOf(value);
  bool tensor = LLVMGetTypeKind(type) == LLVMPointerTypeKind && LLVMGetPointerAddressSpace(type) == GLOBAL_SPACE;
  return tensor ? of_number(PB_ENGINE_ALIGN) : 0;
}

static int bits_of(const zeros* z, LLVMValueRef value) {
  if (LLVMIsAConstantInt(value))
    return LLVMGetIntTypeWidth(LLVMTypeOf(value)) > 64 ? 0 : of_number(LLVMConstIntGetZExtValue(value));
  if (LLVMIsAArgument(value)) return of_parameter(value);
  if (LLVMIsAGlobalVariable(value)) return of_number(LLVMGetAlignment(value));
  if (LLVMIsAUndefValue(value)) return ALL; // poison too: nobody may use it
  if (!LLVMIsAInstruction(value)) return 0;
  int number = pb_table_find_address(&z->numbers, value);
  return number < 0 ? 0 : z->bits[number];
}

static int of_operand(const zeros* z, LLVMValueRef i, unsigned k) { return bits_of(z, LLVMGetOperand(i, k)); }

static int of_phi(const zeros* z, LLVMValueRef phi) {
  int bits = ALL;
  for (unsigned k = 0; k < LLVMCountIncoming(phi); ++k) bits = least(bits, bits_of(z, LLVMGetIncomingValue(phi, k)));
  return bits;
}

static int of_address(const zeros* z, LLVMValueRef gep) {
  LLVMTypeRef element = LLVMGetGEPSourceElementType(gep);
  if (LLVMGetNumIndices(gep) != 1 || !LLVMTypeIsSized(element)) return 0;
  int step = of_number(LLVMABISizeOfType(z->layout, element));
  return least(of_operand(z, gep, 0), least(ALL, step + of_operand(z, gep, 1)));
}

static int of_shift(const zeros* z, LLVMValueRef i) {
  LLVMValueRef by = LLVMGetOperand(i, 1);
  if (!LLVMIsAConstantInt(by) || LLVMGetIntTypeWidth(LLVMTypeOf(by)) > 64) return 0;
  unsigned long long places = LLVMConstIntGetZExtValue(by);
  return places > ALL ? 0 : least(ALL, of_operand(z, i, 0) + (int)places);
}

static int of_instruction(const zeros* z, LLVMValueRef i) {
  switch (LLVMGetInstructionOpcode(i)) {
  case LLVMPHI:
    return of_phi(z, i);
  case LLVMGetElementPtr:
    return of_address(z, i);
  case LLVMShl:
    return of_shift(z, i);
  case LLVMMul:
    return least(ALL, of_operand(z, i, 0) + of_operand(z, i, 1));
  case LLVMAdd:
  case LLVMSub:
  case LLVMOr:
  case LLVMXor:
    return least(of_operand(z, i, 0), of_operand(z, i, 1));
  case LLVMAnd:
    return of_operand(z, i, 0) > of_operand(z, i, 1) ? of_operand(z, i, 0) : of_operand(z, i, 1);
  case LLVMSelect:
    return least(of_operand(z, i, 1), of_operand(z, i, 2));
  case LLVMZExt:
  case LLVMSExt:
  case LLVMTrunc:
  case LLVMAddrSpaceCast:
    return of_operand(z, i, 0);
  default:
    return 0;
  }
}

static bool is_scalar(LLVMValueRef i) {
  LLVMTypeKind kind = LLVMGetTypeKind(LLVMTypeOf(i));
  return kind == LLVMPointerTypeKind || (kind == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(LLVMTypeOf(i)) <= 64);
}

static void add_function(zeros* z, LLVMValueRef function) {
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
    for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
      if (!is_scalar(i)) continue;
      pb_table_add_address(&z->numbers, i, (int)z->count);
      PB_PUSH(z->items, z->count, z->capacity, i);
    }
}

static void settle(zeros* z) {
  bool changes = true;
  z->bits = malloc((z->count + 1) * sizeof *z->bits);
  if (!z->bits) pb_no_memory((z->count + 1) * sizeof *z->bits);
  for (size_t k = 0; k < z->count; ++k) z->bits[k] = ALL;
  while (changes) {
    changes = false;
    for (size_t k = 0; k < z->count; ++k) {
      int bits = of_instruction(z, z->items[k]);
      if (bits >= z->bits[k]) continue;
      z->bits[k] = bits;
      changes = true;
    }
  }
}

static void align_access(const zeros* z, LLVMValueRef i) {
  bool store = LLVMGetInstructionOpcode(i) == LLVMStore;
  if (!store && LLVMGetInstructionOpcode(i) != LLVMLoad) return;
  LLVMTypeRef type = LLVMTypeOf(store ? LLVMGetOperand(i, 0) : i);
  if (LLVMABISizeOfType(z->layout, type) < LEAST_BYTES) return; // code generators would load a whole word
  unsigned align = 1u << least(MOST_ALIGN, of_operand(z, i, store));
  if (align > LLVMGetAlignment(i)) LLVMSetAlignment(i, align);
}

void pb_grid_align(LLVMModuleRef module) {
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f)) {
    zeros z = {.layout = LLVMGetModuleDataLayout(module)};
    add_function(&z, f);
    settle(&z);
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
      for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) align_access(&z, i);
    pb_table_free(&z.numbers);
    free(z.items);
    free(z.bits);
  }
}
