#include "targets/control/threads/movers.h"

#include "core/base/arena.h"
#include "core/base/table.h"
#include "core/runtime/core_machine.h"

#include <string.h>

// ---- calls ----

static void print_call(pb_text* text, const char* name, pb_core_call call, int arguments, bool result) {
  const char* type = result ? " -> i64" : "";
  pb_text_add(text, "llvm.func linkonce_odr @%s(", name);
  for (int a = 0; a < arguments; ++a) pb_text_add(text, "%s%%a%d: i64", a ? ", " : "", a);
  pb_text_add(text, ")%s {\n  %%table = llvm.mlir.addressof @" PB_CORE_MACHINE " : !llvm.ptr\n", type);
  pb_text_add(text, "  %%at = llvm.getelementptr %%table[%d] : (!llvm.ptr) -> !llvm.ptr, i64\n", call);
  pb_text_add(text, "  %%call = llvm.load %%at : !llvm.ptr -> !llvm.ptr\n");
  if (result) pb_text_add(text, "  %%of = llvm.load %%table : !llvm.ptr -> i64\n  %%r = llvm.call %%call(%%of");
  if (!result) pb_text_add(text, "  llvm.call %%call(");
  for (int a = 0; a < arguments; ++a) pb_text_add(text, "%s%%a%d", a ? ", " : "", a);
  pb_text_add(text, ") : !llvm.ptr, (%s", result ? "i64" : "");
  for (int a = 0; a < arguments; ++a) pb_text_add(text, "%si64", a ? ", " : "");
  pb_text_add(text, ") -> %s\n  llvm.return%s\n}\n", result ? "i64" : "()", result ? " %r : i64" : "");
}

void pb_threads_print_movers(pb_text* text) {
  pb_text_add(text,
              "llvm.mlir.global linkonce_odr @" PB_CORE_MACHINE "(dense<0> : tensor<%dxi64>) : !llvm.array<%d x i64>\n",
              PB_CORE_CALLS, PB_CORE_CALLS);
  print_call(text, "pb_core_begin", PB_CORE_BEGIN, 0, true);
  print_call(text, "pb_core_move", PB_CORE_MOVE, 15, false);
  print_call(text, "pb_core_wait", PB_CORE_WAIT, 2, false);
  print_call(text, "pb_core_end", PB_CORE_END, 1, false);
}

// ---- cycles ----

// What the machine counts of a block: a core begins an operation on registers on each of its units in a cycle, beside a
// load or store of as many bytes as its memory hands over. Numbers of loops and addresses are made beside both. Where a
// block is a loop's only one, its iterations follow each other no sooner than what they carry over is made.
typedef struct rates {
  int64_t units, latency, register_bytes, memory_bytes;
} rates;

static rates rates_of(const pb_chip* chip) {
  rates r = {.units = 1, .latency = 1, .register_bytes = 1};
  for (int i = 0; i < chip->insn_count; ++i) {
    const pb_insn* insn = &chip->insns[i];
    const pb_memory* memory = &chip->memories[insn->operands[insn->dest].memory];
    if (!insn->emit || memory->kind != PB_MEM_REGISTERS) continue;
    r = (rates){insn->units, insn->latency, memory->row_bytes, 0};
    break;
  }
  r.memory_bytes = chip->memories[chip->core_movers[0].near].bytes_per_cycle;
  return r;
}

static int64_t bytes_of(LLVMTypeRef type) {
  int64_t count = 1;
  if (LLVMGetTypeKind(type) == LLVMVectorTypeKind) {
    count = LLVMGetVectorSize(type);
    type = LLVMGetElementType(type);
  }
  switch (LLVMGetTypeKind(type)) {
  case LLVMIntegerTypeKind:
    return (count * LLVMGetIntTypeWidth(type) + 7) / 8;
  case LLVMHalfTypeKind:
  case LLVMBFloatTypeKind:
    return 2 * count;
  case LLVMFloatTypeKind:
    return 4 * count;
  default:
    return 8 * count;
  }
}

static bool is_data(LLVMTypeRef type) {
  LLVMTypeKind kind = LLVMGetTypeKind(type);
  return kind == LLVMVectorTypeKind || kind == LLVMFloatTypeKind || kind == LLVMDoubleTypeKind;
}

// Registers on which it works, 0: it is no operation on data. A number that is loaded into all lanes is a load.
static int64_t operations(const rates* r, LLVMValueRef i) {
  LLVMOpcode op = LLVMGetInstructionOpcode(i);
  if (op == LLVMShuffleVector && LLVMIsAInsertElementInst(LLVMGetOperand(i, 0))) return 0;
  switch (op) {
  case LLVMInsertElement:
  case LLVMLoad:
  case LLVMStore:
  case LLVMPHI:
  case LLVMBitCast:
    return 0;
  default:
    return is_data(LLVMTypeOf(i)) ? (bytes_of(LLVMTypeOf(i)) + r->register_bytes - 1) / r->register_bytes : 0;
  }
}

static int64_t handed_over(const rates* r, LLVMValueRef i) {
  LLVMOpcode op = LLVMGetInstructionOpcode(i);
  if (op != LLVMLoad && op != LLVMStore) return 0;
  LLVMTypeRef type = LLVMTypeOf(op == LLVMLoad ? i : LLVMGetOperand(i, 0));
  int64_t bytes = bytes_of(type);
  return bytes < r->memory_bytes / 2 ? r->memory_bytes / 2 : bytes; // two accesses a cycle at most
}

// Values of a block, and their numbers.
typedef struct block {
  LLVMValueRef* values; // in order
  int64_t* behind;      // how long behind the phi that is looked at each is made; -1: it does not depend on it
  int count;
  pb_table numbers;
} block;

static int number_of(const block* b, LLVMValueRef value) { return pb_table_find_address(&b->numbers, value); }

// The caller frees the table.
static void read_block(LLVMBasicBlockRef from, pb_arena* arena, block* b) {
  *b = (block){.count = 0};
  for (LLVMValueRef i = LLVMGetFirstInstruction(from); i; i = LLVMGetNextInstruction(i)) ++b->count;
  b->values = PB_NEW_ARRAY(arena, LLVMValueRef, (size_t)b->count + 1);
  b->behind = PB_NEW_ARRAY(arena, int64_t, (size_t)b->count + 1);
  int n = 0;
  for (LLVMValueRef i = LLVMGetFirstInstruction(from); i; i = LLVMGetNextInstruction(i)) {
    b->values[n] = i;
    pb_table_add_address(&b->numbers, i, n++);
  }
}

// How long behind the phi of that number what it becomes is made.
static int64_t carried(const rates* r, const block* b, int phi, LLVMValueRef becomes) {
  for (int n = 0; n < b->count; ++n) {
    b->behind[n] = n == phi ? 0 : -1;
    if (LLVMIsAPHINode(b->values[n])) continue;
    for (int k = 0; k < LLVMGetNumOperands(b->values[n]); ++k) {
      int of = number_of(b, LLVMGetOperand(b->values[n], (unsigned)k));
      if (of >= 0 && of < n && b->behind[of] > b->behind[n]) b->behind[n] = b->behind[of];
    }
    if (b->behind[n] >= 0 && operations(r, b->values[n])) b->behind[n] += r->latency;
  }
  int last = number_of(b, becomes);
  return last < 0 ? 0 : b->behind[last];
}

// Cycles from one iteration to the next of a loop that is this block alone, for what it carries over.
static int64_t recurrence(const rates* r, LLVMBasicBlockRef of, const block* b) {
  int64_t most = 0;
  for (int n = 0; n < b->count && LLVMIsAPHINode(b->values[n]); ++n)
    for (unsigned k = 0; is_data(LLVMTypeOf(b->values[n])) && k < LLVMCountIncoming(b->values[n]); ++k) {
      if (LLVMGetIncomingBlock(b->values[n], k) != of) continue;
      int64_t own = carried(r, b, n, LLVMGetIncomingValue(b->values[n], k));
      if (own > most) most = own;
    }
  return most;
}

static int64_t cycles_of(const rates* r, LLVMBasicBlockRef of) {
  pb_arena scratch = {0};
  block b;
  int64_t work = 0, bytes = 0;
  read_block(of, &scratch, &b);
  int64_t again = recurrence(r, of, &b);
  for (int n = 0; n < b.count; ++n) {
    work += operations(r, b.values[n]);
    bytes += handed_over(r, b.values[n]);
  }
  pb_table_free(&b.numbers);
  pb_arena_free(&scratch);
  int64_t cycles = (work + r->units - 1) / r->units, loads = (bytes + r->memory_bytes - 1) / r->memory_bytes;
  if (loads > cycles) cycles = loads;
  if (again > cycles) cycles = again;
  return cycles > 1 ? cycles : 1;
}

// Where the kernel's clock stands; NULL: it starts no moves.
static LLVMValueRef clock_of(LLVMValueRef function) {
  if (LLVMIsDeclaration(function)) return NULL;
  LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(function);
  for (LLVMValueRef i = LLVMGetFirstInstruction(entry); i; i = LLVMGetNextInstruction(i)) {
    if (LLVMGetInstructionOpcode(i) != LLVMCall) continue;
    size_t length;
    const char* name = LLVMGetValueName2(LLVMGetCalledValue(i), &length);
    if (length == strlen("pb_core_begin") && !strncmp(name, "pb_core_begin", length)) return i;
  }
  return NULL;
}

// ---- what code touches ----

// The machine hears of each load and store: whether it is of bytes that are on their way.
typedef struct hearing {
  LLVMBuilderRef builder;
  LLVMTypeRef wide, pointer, call;
  LLVMValueRef table, core;
} hearing;

static bool begin_hearing(LLVMModuleRef module, hearing* h) {
  LLVMContextRef context = LLVMGetModuleContext(module);
  h->wide = LLVMInt64TypeInContext(context);
  h->pointer = LLVMPointerTypeInContext(context, 0);
  LLVMTypeRef arguments[] = {h->wide, h->wide, h->wide, h->wide};
  h->call = LLVMFunctionType(LLVMVoidTypeInContext(context), arguments, 4, false);
  h->table = LLVMGetNamedGlobal(module, PB_CORE_MACHINE);
  return h->table != NULL;
}

static void hear(const hearing* h, LLVMValueRef i) {
  bool stores = LLVMGetInstructionOpcode(i) == LLVMStore;
  LLVMTypeRef type = LLVMTypeOf(stores ? LLVMGetOperand(i, 0) : i);
  LLVMPositionBuilderBefore(h->builder, i);
  LLVMValueRef number = LLVMConstInt(h->wide, PB_CORE_TOUCH, false);
  LLVMValueRef at = LLVMBuildGEP2(h->builder, h->wide, h->table, &number, 1, "");
  LLVMValueRef arguments[] = {h->core, LLVMBuildPtrToInt(h->builder, LLVMGetOperand(i, stores), h->wide, ""),
                              LLVMConstInt(h->wide, (unsigned long long)bytes_of(type), false),
                              LLVMConstInt(h->wide, stores, false)};
  (void)LLVMBuildCall2(h->builder, h->call, LLVMBuildLoad2(h->builder, h->pointer, at, ""), arguments, 4, "");
}

// Of both copies of a buffer LLVM may load and select the one: of what is but selected from nobody knows whether it is
// taken.
static bool is_selected_from(LLVMValueRef load) {
  for (LLVMUseRef use = LLVMGetFirstUse(load); use; use = LLVMGetNextUse(use))
    if (!LLVMIsASelectInst(LLVMGetUser(use))) return false;
  return true;
}

// From the instruction on to the end of its block.
static void hear_from(const hearing* h, LLVMValueRef i) {
  for (LLVMValueRef next; i; i = next) {
    next = LLVMGetNextInstruction(i);
    LLVMOpcode op = LLVMGetInstructionOpcode(i);
    if (op == LLVMStore || (op == LLVMLoad && !is_selected_from(i))) hear(h, i);
  }
}

void pb_threads_count_cycles(const pb_chip* chip, LLVMModuleRef module) {
  rates r = rates_of(chip);
  LLVMContextRef context = LLVMGetModuleContext(module);
  LLVMTypeRef wide = LLVMInt64TypeInContext(context);
  LLVMBuilderRef builder = LLVMCreateBuilderInContext(context);
  hearing h = {.builder = builder};
  bool hears = begin_hearing(module, &h);
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f)) {
    LLVMValueRef clock = clock_of(f);
    for (LLVMBasicBlockRef b = clock ? LLVMGetFirstBasicBlock(f) : NULL; b; b = LLVMGetNextBasicBlock(b)) {
      LLVMValueRef last = LLVMGetBasicBlockTerminator(b);
      int64_t cycles = cycles_of(&r, b);
      LLVMValueRef at = b == LLVMGetEntryBasicBlock(f) ? LLVMGetNextInstruction(clock) : LLVMGetFirstInstruction(b);
      while (at != last && LLVMIsAPHINode(at)) at = LLVMGetNextInstruction(at);
      h.core = clock;
      if (hears) hear_from(&h, at);
      LLVMPositionBuilderBefore(builder, at);
      LLVMValueRef place = LLVMBuildIntToPtr(builder, clock, LLVMPointerTypeInContext(context, 0), "");
      LLVMValueRef sum = LLVMBuildAdd(builder, LLVMBuildLoad2(builder, wide, place, ""),
                                      LLVMConstInt(wide, (unsigned long long)cycles, 0), "");
      LLVMBuildStore(builder, sum, place);
    }
  }
  LLVMDisposeBuilder(builder);
}
