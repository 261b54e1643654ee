// Loads, stores and memory of a warp's own, and what keeps them in order between lanes.
#include "targets/control/grid/lanes/warp.h"

#include <llvm-c/Target.h>

#include <string.h>

enum { MOST_BYTES = 64 }; // of a number

// ---- some lanes alone ----

LLVMBasicBlockRef pb__begin_if(pb__warp* w, LLVMValueRef condition) {
  LLVMBasicBlockRef inside = LLVMAppendBasicBlockInContext(w->context, w->to, "");
  LLVMBasicBlockRef behind = LLVMAppendBasicBlockInContext(w->context, w->to, "");
  LLVMBuildCondBr(w->at, condition, inside, behind);
  LLVMPositionBuilderAtEnd(w->at, inside);
  return behind;
}

void pb__end_if(pb__warp* w, LLVMBasicBlockRef behind) {
  LLVMBuildBr(w->at, behind);
  LLVMPositionBuilderAtEnd(w->at, behind);
}

// ---- order between lanes ----

// The argument or allocation that a pointer goes into; NULL: it is not known.
static LLVMValueRef root_of(LLVMValueRef pointer) {
  for (;;) {
    if (LLVMIsAArgument(pointer) || pb__is_allocation(pointer) || LLVMIsAGlobalVariable(pointer)) return pointer;
    if (LLVMIsAGetElementPtrInst(pointer) || LLVMIsABitCastInst(pointer) || LLVMIsAAddrSpaceCastInst(pointer))
      pointer = LLVMGetOperand(pointer, 0);
    else
      return NULL;
  }
}

static LLVMValueRef pointer_of(LLVMValueRef access) { return LLVMGetOperand(access, LLVMIsAStoreInst(access) ? 1 : 0); }

void pb__find_shared(pb__warp* w) {
  pb_table read = {0}, written = {0};
  bool any_read = false, any_written = false;
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(w->from); b; b = LLVMGetNextBasicBlock(b))
    for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
      bool store = LLVMIsAStoreInst(i) != NULL;
      if (!store && !LLVMIsALoadInst(i)) continue;
      LLVMValueRef root = root_of(pointer_of(i));
      *(store ? &any_written : &any_read) |= !root;
      pb_table *mine = store ? &written : &read, *other = store ? &read : &written;
      if (!root || pb_table_find_address(mine, root) >= 0) continue;
      pb_table_add_address(mine, root, 0);
      if (pb_table_find_address(other, root) >= 0) pb_table_add_address(&w->shared, root, (int)w->shared_count++);
    }
  w->unknown = (any_read && (any_written || written.count)) || (any_written && (any_read || read.count));
  pb_table_free(&read);
  pb_table_free(&written);
}

static bool is_shared(const pb__warp* w, LLVMValueRef pointer) {
  if (w->spread) return false;
  LLVMValueRef root = root_of(pointer);
  return w->unknown || (root && pb_table_find_address(&w->shared, root) >= 0);
}

void pb__forget_order(pb__warp* w) {
  w->has_read = w->shared_count > 0 || w->unknown;
  w->store_count = w->has_read ? 1 : 0;
  w->stores[0] = (pb__warp_store){.shared = true};
}

static void wait(pb__warp* w) {
  pb_isa_place place = pb__isa_place(w);
  w->lanes->isa->sync(&place);
  w->has_read = false;
  w->store_count = 0;
}

static int64_t bytes_of(const pb__warp* w, LLVMTypeRef type) {
  return (int64_t)LLVMABISizeOfType(LLVMGetModuleDataLayout(w->module), type);
}

// Bytes from a value on, as far as the indices are numbers.
static pb__warp_store range_of(const pb__warp* w, LLVMValueRef pointer, int64_t bytes) {
  pb__warp_store range = {.base = pointer, .bytes = bytes};
  while (LLVMIsAGetElementPtrInst(range.base) && LLVMGetNumOperands(range.base) == 2 &&
         LLVMIsAConstantInt(LLVMGetOperand(range.base, 1))) {
    range.offset +=
        LLVMConstIntGetSExtValue(LLVMGetOperand(range.base, 1)) * bytes_of(w, LLVMGetGEPSourceElementType(range.base));
    range.base = LLVMGetOperand(range.base, 0);
  }
  return range;
}

static void order_load(pb__warp* w, LLVMValueRef pointer) {
  bool pending = false;
  if (!is_shared(w, pointer)) return;
  for (int k = 0; k < w->store_count; ++k) pending |= w->stores[k].shared;
  if (pending) wait(w);
  w->has_read = true;
}

static bool meet(const pb__warp_store* a, const pb__warp_store* b) {
  return a->offset < b->offset + b->bytes && b->offset < a->offset + a->bytes;
}

// Two stores of one stretch that surely do not meet need no wait between them. In memory that is not read those alone
// do that surely meet, as a row that ends a tensor does with the one in front of it.
static void order_store(pb__warp* w, LLVMValueRef pointer, int64_t bytes) {
  enum { MOST = sizeof w->stores / sizeof *w->stores };
  bool shared = is_shared(w, pointer), meets = shared && (w->has_read || w->store_count == MOST);
  pb__warp_store range = range_of(w, pointer, bytes);
  for (int k = 0; k < w->store_count && !meets; ++k) {
    const pb__warp_store* other = &w->stores[k];
    meets = other->base == range.base ? meet(other, &range) : shared && other->shared;
  }
  if (meets) wait(w);
  range.shared = shared;
  if (w->store_count < MOST) w->stores[w->store_count++] = range;
}

// ---- rows ----

// How many lanes have elements of a vector, the last of them maybe not all of its own.
static int64_t lanes_of(const pb__warp* w, LLVMTypeRef vector) {
  int64_t per_lane = pb__per_lane(w, vector);
  return (pb__vector_size(vector) + per_lane - 1) / per_lane;
}

// In bytes of 32 bits: what a lane adds to an address that is one for all is an operand of AMD's loads and stores then
// (CDNA 3 ISA, FLAT: SADDR), and loops step that address alone.
static LLVMValueRef element_pointer(const pb__warp* w, LLVMTypeRef element, LLVMValueRef pointer, LLVMValueRef index) {
  LLVMValueRef offset = LLVMBuildMul(w->at, index, pb__number(w, bytes_of(w, element)), "");
  return LLVMBuildInBoundsGEP2(w->at, LLVMInt8TypeInContext(w->context), pointer, &offset, 1, "");
}

// The number of a lane's first element.
static LLVMValueRef first_element(const pb__warp* w, LLVMValueRef lane, int64_t per_lane) {
  return per_lane == 1 ? lane : LLVMBuildMul(w->at, lane, pb__number(w, per_lane), "");
}

// What lanes that have none load is the last one's: it is there.
static LLVMValueRef kept_below(const pb__warp* w, LLVMValueRef index, int64_t count) {
  LLVMValueRef last = pb__number(w, count - 1);
  return LLVMBuildSelect(w->at, LLVMBuildICmp(w->at, LLVMIntULT, index, last, ""), index, last, "");
}

static unsigned align_of(const pb__warp* w, LLVMTypeRef element, unsigned align) {
  unsigned bytes = (unsigned)bytes_of(w, element);
  return align && align < bytes ? align : bytes;
}

static LLVMValueRef load_at(const pb__warp* w, LLVMTypeRef type, LLVMValueRef pointer, unsigned align) {
  LLVMValueRef made = LLVMBuildLoad2(w->at, type, pointer, "");
  LLVMSetAlignment(made, align);
  return made;
}

static bool is_of_bytes(pb__warp* w, LLVMTypeRef element) {
  bool integer = LLVMGetTypeKind(element) == LLVMIntegerTypeKind;
  bool whole = !integer || (LLVMGetIntTypeWidth(element) % 8 == 0 && LLVMGetIntTypeWidth(element) <= MOST_BYTES);
  if (!whole) pb__warp_refuse(w, "rows of numbers that are no whole bytes");
  return whole;
}

static LLVMValueRef load_row(pb__warp* w, LLVMTypeRef type, LLVMValueRef pointer, unsigned align) {
  LLVMTypeRef element = LLVMGetElementType(type);
  int64_t count = pb__vector_size(type), per_lane = pb__per_lane(w, type), lanes = lanes_of(w, type);
  align = align_of(w, element, align);
  if (count % per_lane == 0) {
    LLVMValueRef lane = lanes < w->width ? kept_below(w, w->lane, lanes) : w->lane;
    LLVMValueRef at = element_pointer(w, element, pointer, first_element(w, lane, per_lane));
    return load_at(w, pb__lane_type(w, type), at, align);
  }
  LLVMValueRef made = LLVMGetPoison(pb__lane_type(w, type));
  for (int64_t s = 0; s < per_lane; ++s) {
    LLVMValueRef index = LLVMBuildAdd(w->at, first_element(w, w->lane, per_lane), pb__number(w, s), "");
    LLVMValueRef at = element_pointer(w, element, pointer, kept_below(w, index, count));
    made = pb__with_slot(w, type, made, s, load_at(w, element, at, align));
  }
  return made;
}

// A scalar's load: the same address in all lanes.
static LLVMValueRef clone(pb__warp* w, LLVMValueRef instruction) {
  LLVMValueRef copy = LLVMInstructionClone(instruction);
  for (int k = 0; k < LLVMGetNumOperands(instruction); ++k)
    LLVMSetOperand(copy, (unsigned)k, pb__lane(w, LLVMGetOperand(instruction, (unsigned)k)));
  LLVMInsertIntoBuilder(w->at, copy);
  return copy;
}

void pb__load(pb__warp* w, LLVMValueRef load) {
  LLVMValueRef pointer = LLVMGetOperand(load, 0);
  LLVMTypeRef type = LLVMTypeOf(load);
  order_load(w, pointer);
  if (!pb__is_vector(load)) {
    pb__set_lane(w, load, clone(w, load), false);
    return;
  }
  if (!is_of_bytes(w, LLVMGetElementType(type))) return;
  pb__set_lane(w, load, load_row(w, type, pb__lane(w, pointer), LLVMGetAlignment(load)), false);
}

void pb__gather(pb__warp* w, LLVMValueRef call) {
  LLVMValueRef pointers = LLVMGetOperand(call, 0);
  LLVMTypeRef type = LLVMTypeOf(call);
  LLVMValueRef mask = NULL;
  for (unsigned k = 1; k < LLVMGetNumArgOperands(call) && !mask; ++k) {
    LLVMTypeRef of = LLVMTypeOf(LLVMGetOperand(call, k));
    bool bits = LLVMGetTypeKind(of) == LLVMVectorTypeKind && LLVMGetElementType(of) == w->bit;
    if (bits) mask = LLVMGetOperand(call, k);
  }
  bool all = mask && LLVMIsConstant(mask) && pb__is_same(w, mask) && !LLVMIsNull(mask);
  if (!all || pb__per_lane(w, type) != 1) {
    pb__warp_refuse(w, "a load of some elements, or of more than lanes, each by a pointer of its own");
    return;
  }
  if (!is_of_bytes(w, LLVMGetElementType(type))) return;
  order_load(w, pointers);
  pb__set_lane(w, call,
               load_at(w, pb__lane_type(w, type), pb__lane(w, pointers), align_of(w, LLVMGetElementType(type), 0)),
               false);
}

// Tiles that end a dim may begin inside the ones in front of them, which may be another warp's: what both write there
// is the same, and a store without order, but whole, is no race. It costs nothing.
static void store_at(const pb__warp* w, LLVMValueRef value, LLVMValueRef pointer, unsigned align) {
  LLVMTypeKind kind = LLVMGetTypeKind(LLVMTypeOf(value));
  if (kind == LLVMHalfTypeKind || kind == LLVMBFloatTypeKind)
    value = LLVMBuildBitCast(w->at, value, LLVMInt16TypeInContext(w->context), "");
  LLVMValueRef store = LLVMBuildStore(w->at, value, pointer);
  LLVMSetAlignment(store, align);
  if (!w->meets || align < bytes_of(w, LLVMTypeOf(value))) return;
  LLVMSetOrdering(store, LLVMAtomicOrderingUnordered);
  LLVMSetAtomicSyncScopeID(store, LLVMGetSyncScopeID(w->context, w->lanes->isa->scope, strlen(w->lanes->isa->scope)));
}

static void store_row(pb__warp* w, LLVMTypeRef type, LLVMValueRef value, LLVMValueRef pointer, unsigned align) {
  LLVMTypeRef element = LLVMGetElementType(type);
  int64_t count = pb__vector_size(type), per_lane = pb__per_lane(w, type), lanes = lanes_of(w, type);
  align = align_of(w, element, align);
  if (count % per_lane == 0 && (per_lane == 1 || !w->meets)) {
    LLVMBasicBlockRef behind = NULL;
    if (lanes < w->width) behind = pb__begin_if(w, LLVMBuildICmp(w->at, LLVMIntULT, w->lane, pb__number(w, lanes), ""));
    store_at(w, value, element_pointer(w, element, pointer, first_element(w, w->lane, per_lane)), align);
    if (behind) pb__end_if(w, behind);
    return;
  }
  for (int64_t s = 0; s < per_lane; ++s) {
    LLVMValueRef index = LLVMBuildAdd(w->at, first_element(w, w->lane, per_lane), pb__number(w, s), "");
    LLVMBasicBlockRef behind = pb__begin_if(w, LLVMBuildICmp(w->at, LLVMIntULT, index, pb__number(w, count), ""));
    store_at(w, pb__slot(w, type, value, s), element_pointer(w, element, pointer, index), align);
    pb__end_if(w, behind);
  }
}

void pb__store(pb__warp* w, LLVMValueRef store) {
  LLVMValueRef value = LLVMGetOperand(store, 0), pointer = LLVMGetOperand(store, 1);
  LLVMTypeRef type = LLVMTypeOf(value);
  bool row = pb__is_vector(value);
  if (row && w->spread) pb__warp_refuse(w, "a vector in a kernel that is spread over threads");
  if (row && !is_of_bytes(w, LLVMGetElementType(type))) return;
  order_store(w, pointer, row ? pb__vector_size(type) * bytes_of(w, LLVMGetElementType(type)) : bytes_of(w, type));
  LLVMValueRef lane = pb__lane(w, value), to = pb__lane(w, pointer), root = root_of(pointer);
  w->meets = !w->spread && w->warps > 1 && !(root && pb__is_allocation(root));
  if (row) {
    store_row(w, type, lane, to, LLVMGetAlignment(store));
    return;
  }
  LLVMBasicBlockRef behind = w->spread ? NULL : pb__begin_if(w, w->first);
  store_at(w, lane, to, LLVMGetAlignment(store));
  if (behind) pb__end_if(w, behind);
}

// ---- memory of its own ----

bool pb__is_allocation(LLVMValueRef i) {
  size_t length;
  LLVMValueRef callee = LLVMIsACallInst(i) ? LLVMIsAFunction(LLVMGetCalledValue(i)) : NULL;
  return LLVMIsAAllocaInst(i) || (callee && !strcmp(LLVMGetValueName2(callee, &length), "malloc"));
}

int64_t pb__allocated(const pb__warp* w, LLVMValueRef i) {
  LLVMValueRef count = LLVMGetOperand(i, 0);
  int64_t each = LLVMIsAAllocaInst(i) ? bytes_of(w, LLVMGetAllocatedType(i)) : 1;
  if (!LLVMIsAConstantInt(count)) return 0;
  return (LLVMConstIntGetSExtValue(count) * each + PB__MEMORY_ALIGN - 1) / PB__MEMORY_ALIGN * PB__MEMORY_ALIGN;
}

void pb__allocate(pb__warp* w, LLVMValueRef i) {
  int64_t bytes = pb__allocated(w, i);
  if (!LLVMIsAConstantInt(LLVMGetOperand(i, 0))) {
    pb__warp_refuse(w, "memory of its own whose size is not known");
    return;
  }
  LLVMValueRef offset = LLVMConstInt(w->wide, (unsigned long long)w->memory_used, 0);
  LLVMTypeRef byte = LLVMInt8TypeInContext(w->context);
  pb__set_lane(w, i, LLVMBuildInBoundsGEP2(w->at, byte, w->memory, &offset, 1, ""), false);
  w->memory_used += bytes;
}
