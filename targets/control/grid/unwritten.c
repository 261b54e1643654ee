#include "targets/control/grid/unwritten.h"

#include "core/base/table.h"

#include <llvm-c/Target.h>

#include <stdbool.h>
#include <string.h>

enum { GLOBAL_SPACE = 1, WORD = 4, MOST_BYTES = 64, MOST_ELEMENTS = 64, MOST_WORDS = 384 };

static LLVMValueRef join(LLVMValueRef a, LLVMValueRef b, bool* known) {
  *known = *known && (!a || !b || a == b);
  return a ? a : b;
}

// The argument that a pointer goes into, by all ways to it; NULL: what has been seen already, or it is not known.
static LLVMValueRef root_of(LLVMValueRef pointer, pb_table* seen, bool* known) {
  while (LLVMIsAGetElementPtrInst(pointer) || LLVMIsAAddrSpaceCastInst(pointer) || LLVMIsABitCastInst(pointer))
    pointer = LLVMGetOperand(pointer, 0);
  if (LLVMIsAArgument(pointer)) return pointer;
  bool phi = LLVMIsAPHINode(pointer) != NULL;
  if (!phi && !LLVMIsASelectInst(pointer)) {
    *known = false;
    return NULL;
  }
  if (pb_table_find_address(seen, pointer) >= 0) return NULL;
  pb_table_add_address(seen, pointer, 0);
  LLVMValueRef root = NULL;
  for (unsigned k = 0; k < (phi ? LLVMCountIncoming(pointer) : 2) && *known; ++k)
    root = join(root, root_of(phi ? LLVMGetIncomingValue(pointer, k) : LLVMGetOperand(pointer, k + 1), seen, known),
                known);
  return root;
}

static LLVMValueRef argument_of(LLVMValueRef pointer) {
  pb_table seen = {0};
  bool known = true;
  LLVMValueRef root = root_of(pointer, &seen, &known);
  pb_table_free(&seen);
  return known ? root : NULL;
}

// Where an instruction may write; NULL: nowhere.
static LLVMValueRef written_by(LLVMValueRef i) {
  switch (LLVMGetInstructionOpcode(i)) {
  case LLVMStore:
    return LLVMGetOperand(i, 1);
  case LLVMAtomicRMW:
  case LLVMAtomicCmpXchg:
    return LLVMGetOperand(i, 0);
  default:
    return NULL;
  }
}

// An instruction may go while it is looked at.
#define FOR_INSTRUCTIONS(i, f)                                                                                         \
  for (LLVMBasicBlockRef b_ = LLVMGetFirstBasicBlock(f); b_; b_ = LLVMGetNextBasicBlock(b_))                           \
    for (LLVMValueRef i = LLVMGetFirstInstruction(b_), next_; i && (next_ = LLVMGetNextInstruction(i), true); i = next_)

// The arguments that the kernel writes; false: it writes where nobody knows.
static bool find_written(LLVMValueRef kernel, pb_table* written) {
  FOR_INSTRUCTIONS(i, kernel) {
    LLVMValueRef pointer = written_by(i);
    unsigned space = pointer ? LLVMGetPointerAddressSpace(LLVMTypeOf(pointer)) : 0;
    if (!pointer || (space && space != GLOBAL_SPACE)) continue; // the block's own, or the thread's
    LLVMValueRef root = argument_of(pointer);
    if (!root) return false;
    if (pb_table_find_address(written, root) < 0) pb_table_add_address(written, root, 0);
  }
  return true;
}

// Scalar loads are of whole words.
static bool has_words(LLVMTargetDataRef layout, LLVMValueRef load) {
  return LLVMABISizeOfType(layout, LLVMTypeOf(load)) % WORD == 0 && LLVMGetAlignment(load) >= WORD;
}

static void set_mark(LLVMValueRef load) {
  static const char name[] = "amdgpu.noclobber";
  LLVMContextRef context = LLVMGetTypeContext(LLVMTypeOf(load));
  LLVMValueRef empty = LLVMMetadataAsValue(context, LLVMMDNodeInContext2(context, NULL, 0));
  LLVMSetMetadata(load, LLVMGetMDKindIDInContext(context, name, sizeof name - 1), empty);
}

// Half of a load's elements, from `first` on.
static LLVMValueRef load_half(LLVMBuilderRef at, LLVMTargetDataRef layout, LLVMValueRef load, unsigned first) {
  LLVMTypeRef type = LLVMTypeOf(load), element = LLVMGetElementType(type);
  LLVMTypeRef half = LLVMVectorType(element, LLVMGetVectorSize(type) / 2);
  LLVMValueRef index = LLVMConstInt(LLVMInt32TypeInContext(LLVMGetTypeContext(type)), first, 0);
  LLVMValueRef pointer = LLVMBuildInBoundsGEP2(at, element, LLVMGetOperand(load, 0), &index, 1, "");
  LLVMValueRef made = LLVMBuildLoad2(at, half, pointer, "");
  unsigned align = LLVMGetAlignment(load), apart = (unsigned)LLVMABISizeOfType(layout, half);
  LLVMSetAlignment(made, align < apart ? align : apart);
  return made;
}

// No load fills more than sixteen registers.
static void mark_load(LLVMBuilderRef at, LLVMTargetDataRef layout, LLVMValueRef load, bool marked) {
  LLVMTypeRef type = LLVMTypeOf(load);
  unsigned count = LLVMGetTypeKind(type) == LLVMVectorTypeKind ? LLVMGetVectorSize(type) : 0;
  if (LLVMABISizeOfType(layout, type) <= MOST_BYTES || count % 2 || count > MOST_ELEMENTS) {
    if (marked) set_mark(load);
    return;
  }
  LLVMValueRef numbers[MOST_ELEMENTS];
  LLVMTypeRef number = LLVMInt32TypeInContext(LLVMGetTypeContext(type));
  for (unsigned k = 0; k < count; ++k) numbers[k] = LLVMConstInt(number, k, 0);
  LLVMPositionBuilderBefore(at, load);
  LLVMValueRef a = load_half(at, layout, load, 0), b = load_half(at, layout, load, count / 2);
  LLVMReplaceAllUsesWith(load, LLVMBuildShuffleVector(at, a, b, LLVMConstVector(numbers, count), ""));
  LLVMInstructionEraseFromParent(load);
  mark_load(at, layout, a, marked);
  mark_load(at, layout, b, marked);
}

typedef enum lanes { BY_OPERANDS, ONE_FOR_ALL, ITS_OWN } lanes;

// What a call makes for lanes. Of the instruction set's own those alone are one for all that are known to be.
static lanes made_by(LLVMValueRef call) {
  static const char* const one[] = {"llvm.amdgcn.readfirstlane", "llvm.amdgcn.workgroup.id"};
  static const char own[] = "llvm.amdgcn.";
  LLVMValueRef callee = LLVMIsAFunction(LLVMGetCalledValue(call));
  size_t length = 0;
  const char* name = callee ? LLVMGetValueName2(callee, &length) : own;
  for (size_t k = 0; k < sizeof one / sizeof *one; ++k)
    if (!strncmp(name, one[k], strlen(one[k]))) return ONE_FOR_ALL;
  return strncmp(name, own, sizeof own - 1) ? BY_OPERANDS : ITS_OWN;
}

// Whether a value may differ from lane to lane, by all that it is computed from.
static bool differs(LLVMValueRef value, pb_table* seen) {
  if (!LLVMIsAInstruction(value) || pb_table_find_address(seen, value) >= 0) return false;
  pb_table_add_address(seen, value, 0);
  lanes made = LLVMIsACallInst(value) ? made_by(value) : BY_OPERANDS;
  if (made != BY_OPERANDS) return made == ITS_OWN;
  bool any = LLVMIsALoadInst(value) != NULL;
  for (int k = 0; k < LLVMGetNumOperands(value) && !any; ++k) any = differs(LLVMGetOperand(value, (unsigned)k), seen);
  return any;
}

static bool is_one_for_all(LLVMValueRef pointer) {
  pb_table seen = {0};
  bool one = !differs(pointer, &seen);
  pb_table_free(&seen);
  return one;
}

static bool may_mark(LLVMTargetDataRef layout, const pb_table* written, LLVMValueRef i) {
  if (!LLVMIsALoadInst(i) || LLVMGetVolatile(i) || LLVMGetOrdering(i) != LLVMAtomicOrderingNotAtomic) return false;
  LLVMValueRef root = argument_of(LLVMGetOperand(i, 0));
  return root && pb_table_find_address(written, root) < 0 && has_words(layout, i);
}

int pb_grid_number_of(LLVMValueRef kernel, const char* name, int otherwise) {
  LLVMAttributeRef said =
      LLVMGetStringAttributeAtIndex(kernel, LLVMAttributeFunctionIndex, name, (unsigned)strlen(name));
  unsigned length = 0;
  const char* text = said ? LLVMGetStringAttributeValue(said, &length) : "";
  int words = 0;
  for (unsigned k = 0; k < length; ++k) words = words * 10 + (text[k] - '0');
  return said ? words : otherwise;
}

int pb_grid_scalar_words(LLVMValueRef kernel) { return pb_grid_number_of(kernel, PB_GRID_SCALAR_WORDS, MOST_WORDS); }

// More words of a block than there are registers: they are taken some after the others (portions.h). Where it spills
// all the same, the kernel says how many it may have.
static void mark(LLVMModuleRef module, LLVMValueRef kernel, const pb_table* written) {
  LLVMBuilderRef at = LLVMCreateBuilderInContext(LLVMGetModuleContext(module));
  LLVMTargetDataRef layout = LLVMGetModuleDataLayout(module);
  LLVMBasicBlockRef block = NULL;
  int64_t words = 0, most = pb_grid_scalar_words(kernel);
  FOR_INSTRUCTIONS(i, kernel) {
    if (LLVMGetInstructionParent(i) != block) words = 0;
    block = LLVMGetInstructionParent(i);
    if (!may_mark(layout, written, i) || !is_one_for_all(LLVMGetOperand(i, 0))) continue;
    words += (int64_t)LLVMABISizeOfType(layout, LLVMTypeOf(i)) / WORD;
    mark_load(at, layout, i, words <= most);
  }
  LLVMDisposeBuilder(at);
}

void pb_grid_mark_unwritten(LLVMModuleRef module) {
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f)) {
    pb_table written = {0};
    if (!LLVMIsDeclaration(f) && find_written(f, &written)) mark(module, f, &written);
    pb_table_free(&written);
  }
}
