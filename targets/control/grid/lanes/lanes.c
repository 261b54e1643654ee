#include "targets/control/grid/lanes/warp.h"
#include "targets/emit/llvm/intrinsic.h"

#include <llvm-c/Target.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GLOBAL_SPACE = 1, BLOCK_SPACE = 3, MOST_TYPES = 2, MOST_OPERANDS = 8 };

// ---- operations that do the same in each lane ----

// Intrinsics of elements: which types their names have, behind the result's or alone.
typedef enum named_by { RESULT, RESULT_AND_FIRST, FIRST } named_by;
static const struct {
  const char* name;
  named_by types;
} elementwise[] = {{"llvm.fma", RESULT},
                   {"llvm.fmuladd", RESULT},
                   {"llvm.fabs", RESULT},
                   {"llvm.sqrt", RESULT},
                   {"llvm.roundeven", RESULT},
                   {"llvm.rint", RESULT},
                   {"llvm.nearbyint", RESULT},
                   {"llvm.floor", RESULT},
                   {"llvm.ceil", RESULT},
                   {"llvm.trunc", RESULT},
                   {"llvm.round", RESULT},
                   {"llvm.copysign", RESULT},
                   {"llvm.canonicalize", RESULT},
                   {"llvm.minnum", RESULT},
                   {"llvm.maxnum", RESULT},
                   {"llvm.minimum", RESULT},
                   {"llvm.maximum", RESULT},
                   {"llvm.smin", RESULT},
                   {"llvm.smax", RESULT},
                   {"llvm.umin", RESULT},
                   {"llvm.umax", RESULT},
                   {"llvm.abs", RESULT},
                   {"llvm.ctpop", RESULT},
                   {"llvm.ctlz", RESULT},
                   {"llvm.cttz", RESULT},
                   {"llvm.bswap", RESULT},
                   {"llvm.bitreverse", RESULT},
                   {"llvm.fshl", RESULT},
                   {"llvm.fshr", RESULT},
                   {"llvm.sadd.sat", RESULT},
                   {"llvm.ssub.sat", RESULT},
                   {"llvm.uadd.sat", RESULT},
                   {"llvm.usub.sat", RESULT},
                   {"llvm.ldexp", RESULT_AND_FIRST},
                   {"llvm.lrint", RESULT_AND_FIRST},
                   {"llvm.fptosi.sat", RESULT_AND_FIRST},
                   {"llvm.fptoui.sat", RESULT_AND_FIRST},
                   {"llvm.is.fpclass", FIRST}};
// What says nothing of values.
static const char* const silent[] = {"llvm.prefetch", "llvm.lifetime.start", "llvm.lifetime.end",
                                     "llvm.assume",   "llvm.stackrestore",   "llvm.experimental.noalias.scope.decl"};

static unsigned id_of(const char* name) { return LLVMLookupIntrinsicID(name, strlen(name)); }

static LLVMValueRef call_of_lane(pb__warp* w, LLVMValueRef call, unsigned id, named_by by) {
  LLVMValueRef operands[MOST_OPERANDS];
  LLVMTypeRef types[MOST_TYPES];
  unsigned count = LLVMGetNumArgOperands(call), named = 0;
  for (unsigned k = 0; k < count; ++k) operands[k] = pb__lane(w, LLVMGetOperand(call, k));
  if (by != FIRST) types[named++] = pb__lane_type(w, LLVMTypeOf(call));
  if (by == FIRST || by == RESULT_AND_FIRST) types[named++] = LLVMTypeOf(operands[by == RESULT_AND_FIRST && count > 1]);
  if (by == RESULT_AND_FIRST && count == 1) types[1] = LLVMTypeOf(operands[0]);
  LLVMValueRef f = LLVMGetIntrinsicDeclaration(w->module, id, types, named);
  return LLVMBuildCall2(w->at, LLVMGlobalGetValueType(f), f, operands, count, "");
}

static bool has_vectors(LLVMValueRef instruction) {
  bool has = pb__is_vector(instruction);
  for (int k = 0; k < LLVMGetNumOperands(instruction) && !has; ++k)
    has = pb__is_vector(LLVMGetOperand(instruction, (unsigned)k));
  return has;
}

// ---- instructions that take a lane's registers ----

static LLVMValueRef as_type(const pb__warp* w, LLVMValueRef value, LLVMTypeRef type) {
  return LLVMBuildBitCast(w->at, value, type, "");
}

static uint64_t bits_of(const pb__warp* w, LLVMTypeRef type) {
  return LLVMSizeOfTypeInBits(LLVMGetModuleDataLayout(w->module), type);
}

static bool is_constant_parameter(LLVMValueRef f, unsigned k) {
  static const char name[] = "immarg";
  return LLVMGetEnumAttributeAtIndex(f, k + 1, LLVMGetEnumAttributeKindForName(name, sizeof name - 1)) != NULL;
}

// Operands of the intrinsic, whose types they become: those of the call, and between them the options; NULL: they do
// not fit.
static const char* operands_of_lane(pb__warp* w, LLVMValueRef call, LLVMValueRef f, const char* options,
                                    LLVMValueRef* operands) {
  static const char does_not[] = "it takes other operands than a lane has of the instruction's";
  LLVMTypeRef types[MOST_OPERANDS], type = LLVMGlobalGetValueType(f);
  unsigned all = LLVMCountParamTypes(type), given = LLVMGetNumArgOperands(call), next = 0;
  if (all > MOST_OPERANDS) return does_not;
  LLVMGetParamTypes(type, types);
  for (unsigned k = 0; k < all; ++k) {
    if (is_constant_parameter(f, k)) {
      operands[k] = LLVMConstInt(types[k], strtoull(options, (char**)&options, 10), 0);
      continue;
    }
    LLVMValueRef lane = next < given ? pb__lane(w, LLVMGetOperand(call, next++)) : NULL;
    if (!lane || bits_of(w, LLVMTypeOf(lane)) != bits_of(w, types[k])) return does_not;
    operands[k] = as_type(w, lane, types[k]);
  }
  return next == given ? NULL : does_not;
}

// `text`: the intrinsic's name, and its options.
static void call_on_lane(pb__warp* w, LLVMValueRef call, const char* text) {
  LLVMValueRef operands[MOST_OPERANDS];
  LLVMTypeRef result = pb__lane_type(w, LLVMTypeOf(call));
  int length = (int)strcspn(text, " ");
  unsigned id = LLVMLookupIntrinsicID(text, (size_t)length);
  const char* why = !id                             ? "LLVM has no such intrinsic"
                    : LLVMIntrinsicIsOverloaded(id) ? "it is an intrinsic of any type"
                                                    : NULL;
  LLVMValueRef f = why ? NULL : LLVMGetIntrinsicDeclaration(w->module, id, NULL, 0);
  if (!why) why = operands_of_lane(w, call, f, text + length, operands);
  LLVMTypeRef type = f ? LLVMGlobalGetValueType(f) : NULL;
  if (!why && bits_of(w, LLVMGetReturnType(type)) != bits_of(w, result)) why = "its result is no lane's part";
  if (why) {
    pb__warp_refuse(w, "%.*s: %s", length, text, why);
    return;
  }
  LLVMValueRef made = LLVMBuildCall2(w->at, type, f, operands, LLVMCountParamTypes(type), "");
  pb__set_lane(w, call, as_type(w, made, result), false);
}

// With operands of the function that is made. Where it jumps to are blocks of that one.
static LLVMValueRef clone(pb__warp* w, LLVMValueRef instruction) {
  LLVMValueRef copy = LLVMInstructionClone(instruction);
  for (int k = 0; k < LLVMGetNumOperands(instruction); ++k) {
    LLVMValueRef operand = LLVMGetOperand(instruction, (unsigned)k);
    if (LLVMValueIsBasicBlock(operand)) {
      int number = pb_table_find_address(&w->blocks, LLVMValueAsBasicBlock(operand));
      operand = LLVMBasicBlockAsValue(w->made[number].first);
    } else if (!LLVMIsAFunction(operand)) {
      operand = pb__lane(w, operand);
    }
    LLVMSetOperand(copy, (unsigned)k, operand);
  }
  LLVMInsertIntoBuilder(w->at, copy);
  return copy;
}

// What a kernel is told that is spread over threads.
static bool among_threads(pb__warp* w, LLVMValueRef call, const char* name) {
  pb_isa_place place = pb__isa_place(w);
  bool waits = !strcmp(name, "pb_grid_wait");
  if (!waits && strcmp(name, "pb_grid_thread") != 0) return false;
  if (waits)
    w->lanes->isa->wait(&place);
  else
    pb__set_lane(w, call, w->number, false);
  return true;
}

static void call(pb__warp* w, LLVMValueRef call) {
  static const char of_lane_name[] = PB_LLVM_OF_LANE;
  LLVMValueRef callee = LLVMIsAFunction(LLVMGetCalledValue(call));
  unsigned id = callee ? LLVMGetIntrinsicID(callee) : 0;
  size_t length = 0;
  const char* name = callee ? LLVMGetValueName2(callee, &length) : "a pointer";
  for (size_t k = 0; id && k < sizeof silent / sizeof *silent; ++k)
    if (id == id_of(silent[k])) return;
  for (size_t k = 0; id && k < sizeof elementwise / sizeof *elementwise; ++k)
    if (id == id_of(elementwise[k].name)) {
      pb__set_lane(w, call, has_vectors(call) ? call_of_lane(w, call, id, elementwise[k].types) : clone(w, call),
                   false);
      return;
    }
  LLVMAttributeRef of_lane =
      callee ? LLVMGetStringAttributeAtIndex(callee, LLVMAttributeFunctionIndex, of_lane_name, sizeof of_lane_name - 1)
             : NULL;
  if (of_lane) {
    unsigned bytes = 0;
    const char* text = LLVMGetStringAttributeValue(of_lane, &bytes);
    call_on_lane(w, call, pb_printf(&w->arena, "%.*s", (int)bytes, text));
    return;
  }
  if (callee && !id && !strcmp(name, "free")) return; // the launch's end is
  if (callee && w->spread && among_threads(w, call, name)) return;
  if (callee && !w->spread && !strcmp(name, "pb_grid_warp")) {
    pb__set_lane(w, call, w->warp, false);
    return;
  }
  if (pb__is_allocation(call))
    pb__allocate(w, call);
  else if (id && id == id_of("llvm.masked.gather"))
    pb__gather(w, call);
  else if (id && id == id_of("llvm.stacksave"))
    pb__set_lane(w, call, LLVMGetPoison(LLVMTypeOf(call)), false);
  else
    pb__warp_refuse(w, "a call of %.*s", callee ? (int)length : 9, name);
}

// Flags that promise something go: the vector's need not hold for lanes that have no element.
static void same_in_lanes(pb__warp* w, LLVMValueRef i) {
  LLVMOpcode opcode = LLVMGetInstructionOpcode(i);
  LLVMTypeRef type = pb__lane_type(w, LLVMTypeOf(i));
  LLVMValueRef made = NULL, a = pb__lane(w, LLVMGetOperand(i, 0));
  LLVMValueRef b = LLVMGetNumOperands(i) > 1 ? pb__lane(w, LLVMGetOperand(i, 1)) : NULL;
  if (LLVMIsABinaryOperator(i))
    made = LLVMBuildBinOp(w->at, opcode, a, b, "");
  else if (opcode == LLVMFNeg)
    made = LLVMBuildFNeg(w->at, a, "");
  else if (opcode == LLVMICmp)
    made = LLVMBuildICmp(w->at, LLVMGetICmpPredicate(i), a, b, "");
  else if (opcode == LLVMFCmp)
    made = LLVMBuildFCmp(w->at, LLVMGetFCmpPredicate(i), a, b, "");
  else if (opcode == LLVMSelect)
    made = LLVMBuildSelect(w->at, a, b, pb__lane(w, LLVMGetOperand(i, 2)), "");
  else if (opcode == LLVMFreeze)
    made = LLVMBuildFreeze(w->at, a, "");
  else
    made = LLVMBuildCast(w->at, opcode, a, type, "");
  pb__set_lane(w, i, made, false);
}

static void refuse(pb__warp* w, LLVMValueRef i) {
  char* text = LLVMPrintValueToString(i);
  pb__warp_refuse(w, "%s", text + strspn(text, " "));
  LLVMDisposeMessage(text);
}

static void pointers(pb__warp* w, LLVMValueRef gep) {
  LLVMValueRef indices[MOST_OPERANDS];
  unsigned count = LLVMGetNumIndices(gep);
  if (count > MOST_OPERANDS) {
    refuse(w, gep);
    return;
  }
  for (unsigned k = 0; k < count; ++k) indices[k] = pb__lane(w, LLVMGetOperand(gep, k + 1));
  LLVMValueRef base = pb__lane(w, LLVMGetOperand(gep, 0));
  pb__set_lane(w, gep, LLVMBuildGEP2(w->at, LLVMGetGEPSourceElementType(gep), base, indices, count, ""), false);
}

// ---- the function ----

static void begin_phi(pb__warp* w, LLVMValueRef phi) {
  pb__set_lane(w, phi, LLVMBuildPhi(w->at, pb__lane_type(w, LLVMTypeOf(phi)), ""), false);
}

static void end_phi(pb__warp* w, LLVMValueRef phi) {
  LLVMValueRef made = pb__lane(w, phi);
  for (unsigned k = 0; k < LLVMCountIncoming(phi); ++k) {
    int number = pb_table_find_address(&w->blocks, LLVMGetIncomingBlock(phi, k));
    if (number < 0) continue; // nobody comes there
    LLVMBasicBlockRef last = w->made[number].last;
    LLVMPositionBuilderBefore(w->at, LLVMGetBasicBlockTerminator(last)); // constants may be computed there
    LLVMValueRef value = pb__lane(w, LLVMGetIncomingValue(phi, k));
    LLVMAddIncoming(made, &value, &last, 1);
  }
}

// Those that have a meaning among lanes.
static bool among_lanes(pb__warp* w, LLVMValueRef i) {
  switch (LLVMGetInstructionOpcode(i)) {
  case LLVMPHI:
    begin_phi(w, i);
    return true;
  case LLVMLoad:
    pb__load(w, i);
    return true;
  case LLVMStore:
    pb__store(w, i);
    return true;
  case LLVMAlloca:
    pb__allocate(w, i);
    return true;
  case LLVMCall:
    call(w, i);
    return true;
  case LLVMExtractElement:
    pb__extract(w, i);
    return true;
  case LLVMInsertElement:
    pb__insert(w, i);
    return true;
  case LLVMShuffleVector:
    pb__shuffle(w, i);
    return true;
  default:
    return false;
  }
}

static void instruction(pb__warp* w, LLVMValueRef i) {
  LLVMOpcode opcode = LLVMGetInstructionOpcode(i);
  if (among_lanes(w, i)) return;
  if (!has_vectors(i))
    pb__set_lane(w, i, clone(w, i), false);
  else if (opcode == LLVMBitCast)
    pb__bitcast(w, i);
  else if (opcode == LLVMGetElementPtr)
    pointers(w, i);
  else if (LLVMIsABinaryOperator(i) || LLVMIsACastInst(i) || opcode == LLVMFNeg || opcode == LLVMICmp ||
           opcode == LLVMFCmp || opcode == LLVMSelect || opcode == LLVMFreeze)
    same_in_lanes(w, i);
  else
    refuse(w, i);
}

// Blocks in an order in which what makes a value comes before who takes it: the reverse of leaving them.
static void order_blocks(LLVMBasicBlockRef block, pb_table* seen, LLVMBasicBlockRef* list, int* at) {
  if (pb_table_find_address(seen, block) >= 0) return;
  pb_table_add_address(seen, block, 0);
  LLVMValueRef end = LLVMGetBasicBlockTerminator(block);
  for (unsigned k = LLVMGetNumSuccessors(end); k-- > 0;) order_blocks(LLVMGetSuccessor(end, k), seen, list, at);
  list[--*at] = block;
}

static void write_body(pb__warp* w) {
  int all = (int)LLVMCountBasicBlocks(w->from), at = all;
  LLVMBasicBlockRef* order = PB_NEW_ARRAY(&w->arena, LLVMBasicBlockRef, (size_t)all);
  pb_table seen = {0};
  order_blocks(LLVMGetEntryBasicBlock(w->from), &seen, order, &at);
  pb_table_free(&seen);
  w->made = PB_NEW_ARRAY(&w->arena, pb__warp_block, (size_t)all);
  for (int k = at; k < all; ++k) {
    w->made[k].first = LLVMAppendBasicBlockInContext(w->context, w->to, "");
    pb_table_add_address(&w->blocks, order[k], k);
  }
  LLVMBuildBr(w->at, w->made[at].first);
  for (int k = at; k < all && !w->lanes->why; ++k) {
    LLVMPositionBuilderAtEnd(w->at, w->made[k].first);
    pb__forget_order(w);
    for (LLVMValueRef i = LLVMGetFirstInstruction(order[k]); i && !w->lanes->why; i = LLVMGetNextInstruction(i))
      instruction(w, i);
    w->made[k].last = LLVMGetInsertBlock(w->at);
  }
  for (int k = at; k < all && !w->lanes->why; ++k)
    for (LLVMValueRef i = LLVMGetFirstInstruction(order[k]); i && LLVMIsAPHINode(i); i = LLVMGetNextInstruction(i))
      end_phi(w, i);
}

// ---- the entry ----

static int64_t memory_of(const pb__warp* w) {
  int64_t bytes = 0;
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(w->from); b; b = LLVMGetNextBasicBlock(b))
    for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
      if (pb__is_allocation(i)) bytes += pb__allocated(w, i);
  return bytes;
}

// In the block's memory as long as it has room for a warp's.
static void place_memory(const pb__warp* w, pb_launch* launch) {
  launch->memory = memory_of(w);
  launch->outside = launch->memory > w->lanes->inside;
  if (launch->spread) return; // there is one block
  while (!launch->outside && launch->warps > 1 && launch->memory * launch->warps > w->lanes->inside) {
    launch->warps = (launch->warps + 1) / 2;
    launch->blocks *= 2;
  }
}

static LLVMValueRef add_entry(const pb__warp* w, const char* symbol, const pb_launch* launch, int tensors) {
  LLVMTypeRef types[72], pointer = LLVMPointerTypeInContext(w->context, GLOBAL_SPACE);
  int count = tensors + (launch->memory && launch->outside);
  for (int k = 0; k < count; ++k) types[k] = pointer;
  LLVMTypeRef none = LLVMVoidTypeInContext(w->context);
  LLVMValueRef entry = LLVMAddFunction(w->module, symbol, LLVMFunctionType(none, types, (unsigned)count, 0));
  LLVMSetFunctionCallConv(entry, w->lanes->isa->convention);
  w->lanes->isa->mark(entry, launch->warps * w->width);
  return entry;
}

static LLVMValueRef everywhere(const pb__warp* w, LLVMValueRef pointer) { // from the space that it is known to be in
  return LLVMBuildAddrSpaceCast(w->at, pointer, LLVMPointerTypeInContext(w->context, 0), "");
}

// The first byte of the memory of one's own, by the number of the warp in its block and in the grid. Of a kernel that
// is spread these are the block's, which is 0: that LLVM does not know, or it would read for all threads what one is to
// write.
static LLVMValueRef find_memory(const pb__warp* w, const pb_launch* launch, LLVMValueRef in_block,
                                LLVMValueRef in_grid) {
  LLVMTypeRef byte = LLVMInt8TypeInContext(w->context);
  LLVMValueRef bytes = LLVMConstInt(w->wide, (unsigned long long)launch->memory, 0), base;
  LLVMValueRef number = launch->outside ? in_grid : LLVMBuildZExt(w->at, in_block, w->wide, "");
  if (launch->outside) {
    base = LLVMGetLastParam(w->to);
  } else {
    LLVMTypeRef type = LLVMArrayType2(byte, (uint64_t)(launch->memory * (launch->spread ? 1 : launch->warps)));
    base = LLVMAddGlobalInAddressSpace(w->module, type, "pb_memory", BLOCK_SPACE);
    LLVMSetInitializer(base, LLVMGetPoison(type));
    LLVMSetLinkage(base, LLVMInternalLinkage);
    LLVMSetAlignment(base, PB__MEMORY_ALIGN);
  }
  LLVMValueRef offset = LLVMBuildMul(w->at, number, bytes, "");
  return everywhere(w, LLVMBuildInBoundsGEP2(w->at, byte, base, &offset, 1, ""));
}

// Which warp it is, and its memory. `shared`: the function wants to know, behind its tensors.
static void begin(pb__warp* w, const pb_launch* launch, int tensors, bool shared) {
  const pb_isa* isa = w->lanes->isa;
  int shift = 0;
  while (1 << shift < w->width) ++shift;
  LLVMValueRef thread = w->thread = pb_isa_call(w->module, w->at, isa->thread, NULL, 0);
  pb_isa_place place = pb__isa_place(w);
  w->lane = LLVMBuildAnd(w->at, thread, pb__number(w, w->width - 1), "lane");
  w->first = LLVMBuildICmp(w->at, LLVMIntEQ, w->lane, pb__number(w, 0), "");
  LLVMValueRef in_block = isa->uniform(&place, LLVMBuildLShr(w->at, thread, pb__number(w, shift), ""));
  LLVMValueRef block = pb_isa_call(w->module, w->at, isa->block, NULL, 0), grid;
  grid = LLVMBuildAdd(w->at, LLVMBuildMul(w->at, block, pb__number(w, launch->warps), ""), in_block, "warp");
  grid = w->warp = LLVMBuildZExt(w->at, grid, w->wide, "");
  w->number = LLVMBuildMul(w->at, block, pb__number(w, launch->warps * w->width), "");
  w->number = LLVMBuildZExt(w->at, LLVMBuildAdd(w->at, w->number, thread, ""), w->wide, "");
  for (int k = 0; k < tensors; ++k)
    pb__set_lane(w, LLVMGetParam(w->from, (unsigned)k), everywhere(w, LLVMGetParam(w->to, (unsigned)k)), false);
  LLVMValueRef here = launch->spread ? block : in_block;
  LLVMValueRef there = launch->spread ? LLVMBuildZExt(w->at, block, w->wide, "") : grid;
  LLVMTypeRef pointer = LLVMPointerTypeInContext(w->context, 0);
  w->memory = launch->memory ? find_memory(w, launch, here, there) : LLVMGetPoison(pointer);
  if (!shared) return;
  unsigned long long warps = (unsigned long long)launch->warps * (unsigned long long)launch->blocks;
  if (launch->spread) warps *= (unsigned long long)w->width; // threads, each for itself
  pb__set_lane(w, LLVMGetParam(w->from, (unsigned)tensors), launch->spread ? w->number : grid, false);
  pb__set_lane(w, LLVMGetParam(w->from, (unsigned)tensors + 1), LLVMConstInt(w->wide, warps, 0), false);
}

static void start(pb__warp* w, pb_lanes* lanes, LLVMModuleRef module, LLVMValueRef function) {
  LLVMContextRef context = LLVMGetModuleContext(module);
  *w = (pb__warp){.lanes = lanes, .width = lanes->width, .context = context, .module = module, .from = function};
  w->at = LLVMCreateBuilderInContext(context);
  w->bit = LLVMInt1TypeInContext(context);
  w->word = LLVMInt32TypeInContext(context);
  w->wide = LLVMInt64TypeInContext(context);
}

static void end(pb__warp* w) {
  LLVMDisposeBuilder(w->at);
  pb_table_free(&w->numbers);
  pb_table_free(&w->blocks);
  pb_table_free(&w->shared);
  free(w->values);
  pb_arena_free(&w->arena);
}

bool pb_lanes_make(pb_lanes* lanes, LLVMModuleRef module, const char* name, const char* symbol, pb_launch* launch) {
  pb__warp w;
  LLVMValueRef function = LLVMGetNamedFunction(module, name);
  start(&w, lanes, module, function);
  int params = (int)LLVMCountParams(function), tensors = 0;
  while (tensors < params &&
         LLVMGetTypeKind(LLVMTypeOf(LLVMGetParam(function, (unsigned)tensors))) == LLVMPointerTypeKind)
    ++tensors;
  place_memory(&w, launch);
  w.warps = launch->warps * launch->blocks;
  w.to = add_entry(&w, symbol, launch, tensors);
  LLVMPositionBuilderAtEnd(w.at, LLVMAppendBasicBlockInContext(w.context, w.to, ""));
  begin(&w, launch, tensors, params == tensors + 2);
  w.spread = launch->spread;
  if (!w.spread) pb__find_shared(&w);
  write_body(&w);
  if (!lanes->why) LLVMDeleteFunction(function);
  end(&w);
  return !lanes->why;
}
