#include "targets/control/grid/loops.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// A load of lanes has 12 bits of a constant and a sign, one for all of them 20 and a sign (CDNA 3 ISA, the formats FLAT
// and SMEM).
enum { NEAR = 4096, NEAR_FOR_ALL = 1 << 20, MOST_OFFSET = 1 << 29, MOST_MADE = 16 };

static bool constant(LLVMValueRef value, int64_t* number) {
  if (!LLVMIsAConstantInt(value) || LLVMGetIntTypeWidth(LLVMTypeOf(value)) > 64) return false;
  *number = LLVMConstIntGetSExtValue(value);
  return true;
}

static LLVMValueRef number_of(LLVMTypeRef type, int64_t number) {
  return LLVMConstInt(type, (unsigned long long)number, true);
}

static bool is(LLVMValueRef value, LLVMOpcode opcode) {
  return LLVMIsAInstruction(value) && LLVMGetInstructionOpcode(value) == opcode;
}

// ---- a loop's number ----

// A block that goes back to itself, and its number: from `begin` on by `step`.
typedef struct counter {
  LLVMBasicBlockRef block, outside; // outside: where it comes from
  LLVMValueRef phi, next;
  LLVMTypeRef word;         // i32
  int64_t begin, step, end; // end: of its own numbers the first that it does not have
} counter;

static bool is_counter(LLVMValueRef phi, LLVMBasicBlockRef block, counter* c) {
  *c = (counter){.block = block, .phi = phi, .word = LLVMInt32TypeInContext(LLVMGetTypeContext(LLVMTypeOf(phi)))};
  LLVMTypeRef wide = LLVMInt64TypeInContext(LLVMGetTypeContext(LLVMTypeOf(phi)));
  if (LLVMTypeOf(phi) != wide || LLVMCountIncoming(phi) != 2) return false;
  unsigned back = LLVMGetIncomingBlock(phi, 1) == block;
  if (LLVMGetIncomingBlock(phi, back) != block) return false;
  c->next = LLVMGetIncomingValue(phi, back);
  c->outside = LLVMGetIncomingBlock(phi, 1 - back);
  return is(c->next, LLVMAdd) && LLVMGetOperand(c->next, 0) == phi && constant(LLVMGetOperand(c->next, 1), &c->step) &&
         constant(LLVMGetIncomingValue(phi, 1 - back), &c->begin) && c->begin >= 0 && c->step > 0;
}

// ---- addresses ----

// base + scale * the loop's number + own + bytes. own: i32, what lanes add; NULL: nothing.
typedef struct address {
  LLVMValueRef base, own;
  int64_t scale, bytes;
} address;

// The bytes by which an offset goes on with each number of the loop; 0: it does not, as a constant says it.
static int64_t scale_of(const counter* c, LLVMValueRef offset) {
  int64_t by = 1;
  if (offset == c->phi) return 1;
  if (!(is(offset, LLVMShl) || is(offset, LLVMMul)) || LLVMGetOperand(offset, 0) != c->phi) return 0;
  if (!constant(LLVMGetOperand(offset, 1), &by)) return 0;
  return !is(offset, LLVMShl) ? by : by < 32 ? (int64_t)1 << by : 0;
}

static bool counts_bytes(LLVMValueRef gep) {
  LLVMTypeRef element = LLVMGetGEPSourceElementType(gep);
  return LLVMGetNumOperands(gep) == 2 && LLVMGetTypeKind(element) == LLVMIntegerTypeKind &&
         LLVMGetIntTypeWidth(element) == 8;
}

static bool is_inside(const counter* c, LLVMValueRef value) {
  return LLVMIsAInstruction(value) && LLVMGetInstructionParent(value) == c->block;
}

static bool add_offset(const counter* c, LLVMValueRef offset, address* a) {
  int64_t number;
  if (constant(offset, &number)) {
    a->bytes += number;
    return true;
  }
  int64_t scale = scale_of(c, offset);
  a->scale += scale;
  if (scale) return true;
  bool own = !a->own && is(offset, LLVMZExt) && LLVMTypeOf(LLVMGetOperand(offset, 0)) == c->word;
  if (own) a->own = LLVMGetOperand(offset, 0);
  return own && !is_inside(c, a->own);
}

static bool take_apart(const counter* c, LLVMValueRef pointer, address* a) {
  *a = (address){.base = pointer};
  while (LLVMIsAGetElementPtrInst(a->base) && counts_bytes(a->base)) {
    address before = *a;
    if (!add_offset(c, LLVMGetOperand(a->base, 1), a)) {
      *a = before;
      break;
    }
    a->base = LLVMGetOperand(a->base, 0);
  }
  return !is_inside(c, a->base) && a->scale > 0 && a->scale <= MOST_OFFSET / (c->end + c->step) && a->bytes >= 0 &&
         a->bytes <= MOST_OFFSET;
}

// A 32-bit number of the loop's block that begins so and goes on by `step`.
static LLVMValueRef build_counter(LLVMBuilderRef at, const counter* c, LLVMValueRef begin, int64_t step,
                                  LLVMValueRef* next) {
  LLVMPositionBuilderBefore(at, LLVMGetFirstInstruction(c->block));
  LLVMValueRef phi = LLVMBuildPhi(at, c->word, "");
  LLVMPositionBuilderBefore(at, LLVMGetBasicBlockTerminator(c->block));
  *next = LLVMBuildNSWAdd(at, phi, number_of(c->word, step), "");
  LLVMAddIncoming(phi, (LLVMValueRef[]){begin, *next}, (LLVMBasicBlockRef[]){c->outside, c->block}, 2);
  return phi;
}

// What has been made of the loop's numbers for addresses.
typedef struct offsets {
  LLVMValueRef own[MOST_MADE], phi[MOST_MADE];
  int64_t scale[MOST_MADE], bytes[MOST_MADE];
  int count;
} offsets;

// own + bytes + scale * the loop's number. Constants are in it and not in the base, where LLVM would find them and put
// them behind the sum again.
static LLVMValueRef offset_for(LLVMBuilderRef at, const counter* c, const address* a, int64_t bytes, offsets* made) {
  int k = 0;
  while (k < made->count && (made->own[k] != a->own || made->scale[k] != a->scale || made->bytes[k] != bytes)) ++k;
  if (k < made->count || k == MOST_MADE) return k < made->count ? made->phi[k] : NULL;
  LLVMPositionBuilderBefore(at, LLVMGetBasicBlockTerminator(c->outside));
  LLVMValueRef begin = number_of(c->word, c->begin * a->scale + bytes), next;
  if (a->own) begin = LLVMBuildNSWAdd(at, a->own, begin, "");
  made->own[k] = a->own;
  made->scale[k] = a->scale;
  made->bytes[k] = bytes;
  made->count = k + 1;
  return made->phi[k] = build_counter(at, c, begin, c->step * a->scale, &next);
}

// What of an address's constant the instruction does not say.
static int64_t far_of(const address* a) {
  if (!a->own) return a->bytes - a->bytes % NEAR_FOR_ALL;
  return a->bytes - (a->bytes % (2 * NEAR)) + NEAR;
}

static void step_address(LLVMBuilderRef at, const counter* c, LLVMValueRef access, offsets* made) {
  unsigned operand = is(access, LLVMStore);
  LLVMTypeRef wide = LLVMTypeOf(c->phi), byte = LLVMInt8TypeInContext(LLVMGetTypeContext(wide));
  address a;
  if (!take_apart(c, LLVMGetOperand(access, operand), &a)) return;
  int64_t far = far_of(&a);
  LLVMValueRef offset = offset_for(at, c, &a, far, made), near = number_of(wide, a.bytes - far);
  if (!offset) return;
  LLVMPositionBuilderBefore(at, access);
  offset = LLVMBuildZExt(at, offset, wide, "");
  LLVMValueRef pointer = LLVMBuildGEP2(at, byte, a.base, &offset, 1, "");
  LLVMSetOperand(access, operand, a.bytes == far ? pointer : LLVMBuildGEP2(at, byte, pointer, &near, 1, ""));
}

// What addresses were made of before goes.
static void sweep(LLVMBasicBlockRef block) {
  for (LLVMValueRef before, i = LLVMGetLastInstruction(block); i; i = before) {
    before = LLVMGetPreviousInstruction(i);
    bool pure = LLVMIsAGetElementPtrInst(i) || is(i, LLVMShl) || is(i, LLVMMul);
    if (pure && !LLVMGetFirstUse(i)) LLVMInstructionEraseFromParent(i);
  }
}

// ---- ends ----

// What ends the loop: a comparison of its number or the next one, and the first number that ends it.
static bool find_end(counter* c, LLVMValueRef compare, int64_t* last) {
  LLVMIntPredicate how = LLVMGetICmpPredicate(compare);
  bool less = how == LLVMIntSLT || how == LLVMIntULT, is_next = LLVMGetOperand(compare, 0) == c->next;
  int64_t end, first = is_next ? c->begin + c->step : c->begin;
  if (!is_next && LLVMGetOperand(compare, 0) != c->phi) return false;
  if (!constant(LLVMGetOperand(compare, 1), &end) || end < first || end > INT32_MAX - c->step) return false;
  *last = first + (end - first + c->step - 1) / c->step * c->step;
  c->end = is_next ? *last : *last + c->step;
  return less || ((how == LLVMIntNE || how == LLVMIntEQ) && *last == end);
}

static bool taken_by(LLVMValueRef value, LLVMValueRef one, LLVMValueRef other) {
  for (LLVMUseRef use = LLVMGetFirstUse(value); use; use = LLVMGetNextUse(use))
    if (LLVMGetUser(use) != one && LLVMGetUser(use) != other) return false;
  return true;
}

static LLVMValueRef comparison_of(LLVMBasicBlockRef block) {
  LLVMValueRef branch = LLVMGetBasicBlockTerminator(block);
  LLVMValueRef compare = LLVMIsABranchInst(branch) && LLVMIsConditional(branch) ? LLVMGetCondition(branch) : NULL;
  return compare && LLVMIsAICmpInst(compare) && taken_by(compare, branch, branch) ? compare : NULL;
}

// The loop's number goes: its end is asked of what steps with it.
static void drop_number(const counter* c) {
  LLVMReplaceAllUsesWith(c->phi, LLVMGetUndef(LLVMTypeOf(c->phi))); // each is taken by the other alone
  LLVMInstructionEraseFromParent(c->next);
  LLVMInstructionEraseFromParent(c->phi);
}

// What addresses have of the number that is one for all lanes, and where it ends; else a number of 32 bits.
static LLVMValueRef stepped(LLVMBuilderRef at, const counter* c, const offsets* made, int64_t* end) {
  LLVMValueRef next;
  for (int k = 0; k < made->count; ++k) {
    if (made->own[k]) continue;
    *end = c->end * made->scale[k] + made->bytes[k];
    return LLVMGetIncomingValue(made->phi[k], 1);
  }
  *end = c->end;
  (void)build_counter(at, c, number_of(c->word, c->begin), c->step, &next);
  return next;
}

// The number that is compared is one of 32 bits, where nothing else asks for it.
static void end_by_equality(LLVMBuilderRef at, const counter* c, LLVMValueRef compare, int64_t last,
                            const offsets* made) {
  bool goes_on = LLVMGetICmpPredicate(compare) != LLVMIntEQ;
  bool only = taken_by(c->phi, c->next, compare) && taken_by(c->next, c->phi, compare);
  LLVMValueRef number = only ? stepped(at, c, made, &last) : LLVMGetOperand(compare, 0);
  LLVMValueRef branch = LLVMGetBasicBlockTerminator(c->block);
  LLVMPositionBuilderBefore(at, branch);
  LLVMIntPredicate how = goes_on ? LLVMIntNE : LLVMIntEQ;
  LLVMSetCondition(branch, LLVMBuildICmp(at, how, number, number_of(LLVMTypeOf(number), last), ""));
  LLVMInstructionEraseFromParent(compare);
  if (only) drop_number(c);
}

// The comparison that ends a loop of one block whose turns are known, and its number; NULL: there is none.
static LLVMValueRef find_counter(LLVMBasicBlockRef block, counter* c, int64_t* last) {
  LLVMValueRef compare = comparison_of(block), i = LLVMGetFirstInstruction(block);
  while (i && LLVMIsAPHINode(i) && !is_counter(i, block, c)) i = LLVMGetNextInstruction(i);
  return compare && i && LLVMIsAPHINode(i) && find_end(c, compare, last) ? compare : NULL;
}

int64_t pb_grid_turns_of(LLVMBasicBlockRef block) {
  counter c;
  int64_t last;
  LLVMValueRef compare = find_counter(block, &c, &last);
  if (!compare) return 0;
  bool is_next = LLVMGetOperand(compare, 0) == c.next;
  return (last - c.begin) / c.step + !is_next;
}

static void step_block(LLVMBuilderRef at, LLVMBasicBlockRef block) {
  counter c;
  offsets made = {.count = 0};
  int64_t last;
  LLVMValueRef compare = find_counter(block, &c, &last);
  if (!compare) return;
  for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i))
    if (is(i, LLVMLoad) || is(i, LLVMStore)) step_address(at, &c, i, &made);
  sweep(block);
  end_by_equality(at, &c, compare, last, &made);
}

void pb_grid_step_loops(LLVMModuleRef module) {
  LLVMBuilderRef at = LLVMCreateBuilderInContext(LLVMGetModuleContext(module));
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b)) step_block(at, b);
  LLVMDisposeBuilder(at);
}
