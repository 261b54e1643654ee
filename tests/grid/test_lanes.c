// What lanes make of vectors, of any width and order of elements: functions drawn at random run as they are on this
// processor, and as PTX of lanes on the machine, on the same numbers. All results are equal in bits.
#define _GNU_SOURCE
#include "targets/control/grid/code.h"
#include "targets/control/grid/lanes/lanes.h"
#include "targets/control/grid/machine/machine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <llvm-c/ExecutionEngine.h>
#include <llvm-c/Target.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FUNCTIONS = 48, STEPS = 10, BYTES = 4096, VALUES = 8, ROW = 1024, RESULT = BYTES + VALUES * ROW };
#ifdef PB_SHORT // most of the time is LLVM's, which has no sanitizers
enum { SEEDS = 1 };
#else
enum { SEEDS = 4 };
#endif

typedef struct drawing {
  LLVMContextRef context;
  LLVMModuleRef module;
  LLVMBuilderRef at;
  LLVMTypeRef element;
  bool is_float;
  int count;
  LLVMValueRef values[VALUES];
  int value_count;
  LLVMValueRef function;
} drawing;

static uint32_t state = 1;
static uint32_t draw(uint32_t below) {
  state = state * 1664525u + 1013904223u;
  return (state >> 8) % below;
}

static LLVMValueRef word(const drawing* d, int64_t number) {
  return LLVMConstInt(LLVMInt32TypeInContext(d->context), (uint64_t)number, 1);
}

static LLVMValueRef some(const drawing* d) { return d->values[draw((uint32_t)d->value_count)]; }

static void keep(drawing* d, LLVMValueRef value) {
  d->values[d->value_count < VALUES ? d->value_count++ : (int)draw(VALUES)] = value;
}

static LLVMValueRef number(const drawing* d) {
  if (d->is_float) return LLVMConstReal(d->element, (double)draw(64) / 8 - 4);
  return LLVMConstInt(d->element, draw(200), 1);
}

static LLVMValueRef shuffled(const drawing* d, LLVMValueRef a, LLVMValueRef b, int count) {
  LLVMValueRef mask[128];
  int both = 2 * d->count, form = (int)draw(4), from = (int)draw((uint32_t)both);
  for (int k = 0; k < count; ++k) {
    int at = form == 0 ? (int)draw((uint32_t)both) : form == 1 ? (from + k) % both : form == 2 ? (k ^ 4) % both : from;
    mask[k] = word(d, at);
  }
  return LLVMBuildShuffleVector(d->at, a, b, LLVMConstVector(mask, (unsigned)count), "");
}

// A row shorter or longer, and back.
static LLVMValueRef through_another_width(const drawing* d) {
  int count = 1 + (int)draw(100);
  LLVMValueRef mask[128], other = shuffled(d, some(d), some(d), count);
  for (int k = 0; k < d->count; ++k) mask[k] = word(d, (int)draw((uint32_t)count));
  return LLVMBuildShuffleVector(d->at, other, LLVMGetPoison(LLVMTypeOf(other)),
                                LLVMConstVector(mask, (unsigned)d->count), "");
}

static LLVMValueRef replaced(const drawing* d) {
  LLVMValueRef from = word(d, draw((uint32_t)d->count)), to = word(d, draw((uint32_t)d->count));
  if (draw(2)) // a number that is known when it runs
    from =
        LLVMBuildTrunc(d->at,
                       LLVMBuildAdd(d->at, LLVMGetParam(d->function, 3),
                                    LLVMConstInt(LLVMInt64TypeInContext(d->context), draw((uint32_t)d->count), 0), ""),
                       LLVMInt32TypeInContext(d->context), "");
  return LLVMBuildInsertElement(d->at, some(d), LLVMBuildExtractElement(d->at, some(d), from, ""), to, "");
}

static LLVMValueRef constants(const drawing* d) {
  LLVMValueRef list[128];
  uint32_t form = draw(3);
  for (int k = 0; k < d->count; ++k) {
    LLVMValueRef n = d->is_float ? LLVMConstReal(d->element, k) : LLVMConstInt(d->element, (uint64_t)k, 0);
    list[k] = form == 0 ? number(d) : form == 1 ? n : k ? list[0] : number(d);
  }
  return LLVMConstVector(list, (unsigned)d->count);
}

// In memory that the function reads again, from another place on.
static LLVMValueRef through_memory(const drawing* d) {
  int width = (int)(LLVMABISizeOfType(LLVMGetModuleDataLayout(d->module), d->element));
  LLVMValueRef row = LLVMGetParam(d->function, 2), at = word(d, draw(64));
  LLVMValueRef from = LLVMBuildGEP2(d->at, d->element, row, &at, 1, "");
  LLVMSetAlignment(LLVMBuildStore(d->at, some(d), from), (unsigned)width);
  at = word(d, draw(64));
  from = LLVMBuildGEP2(d->at, d->element, row, &at, 1, "");
  if (draw(2)) {
    LLVMValueRef one = LLVMBuildLoad2(d->at, d->element, from, "");
    return LLVMBuildInsertElement(d->at, some(d), one, word(d, draw((uint32_t)d->count)), "");
  }
  LLVMValueRef load = LLVMBuildLoad2(d->at, LLVMTypeOf(d->values[0]), from, "");
  LLVMSetAlignment(load, (unsigned)width);
  return load;
}

static LLVMValueRef computed(const drawing* d) {
  LLVMValueRef a = some(d), b = draw(3) ? some(d) : constants(d);
  uint32_t form = draw(4);
  if (form == 3) {
    LLVMValueRef less =
        d->is_float ? LLVMBuildFCmp(d->at, LLVMRealOLT, a, b, "") : LLVMBuildICmp(d->at, LLVMIntSLT, a, b, "");
    return LLVMBuildSelect(d->at, less, a, b, "");
  }
  if (d->is_float) return form == 0 ? LLVMBuildFAdd(d->at, a, b, "") : LLVMBuildFSub(d->at, a, b, "");
  return form == 0   ? LLVMBuildAdd(d->at, a, b, "")
         : form == 1 ? LLVMBuildXor(d->at, a, b, "")
                     : LLVMBuildMul(d->at, a, b, "");
}

static LLVMValueRef converted(const drawing* d) {
  LLVMTypeRef wide = LLVMVectorType(
      d->is_float ? LLVMDoubleTypeInContext(d->context) : LLVMInt64TypeInContext(d->context), (unsigned)d->count);
  LLVMTypeRef own = LLVMTypeOf(d->values[0]);
  if (own == wide) return computed(d);
  LLVMValueRef a = d->is_float ? LLVMBuildFPExt(d->at, some(d), wide, "") : LLVMBuildSExt(d->at, some(d), wide, "");
  a = d->is_float ? LLVMBuildFAdd(d->at, a, a, "") : LLVMBuildAdd(d->at, a, a, "");
  return d->is_float ? LLVMBuildFPTrunc(d->at, a, own, "") : LLVMBuildTrunc(d->at, a, own, "");
}

// The bits as those of elements that are half as wide or twice, a number of them added, and back.
static LLVMValueRef as_other_elements(const drawing* d) {
  unsigned bits = (unsigned)LLVMABISizeOfType(LLVMGetModuleDataLayout(d->module), d->element) * 8,
           count = (unsigned)d->count;
  if (d->is_float) return some(d); // such bits may be a NaN, of which not all bits are said
  bool wider = bits == 8 || (bits < 64 && draw(2));
  if (wider && count % 2) return some(d);
  LLVMTypeRef other = LLVMIntTypeInContext(d->context, wider ? bits * 2 : bits / 2);
  LLVMTypeRef type = LLVMVectorType(other, wider ? count / 2 : count * 2);
  LLVMValueRef a = LLVMBuildBitCast(d->at, some(d), type, ""), b = LLVMBuildBitCast(d->at, some(d), type, "");
  LLVMValueRef made = LLVMBuildXor(d->at, a, LLVMBuildAnd(d->at, b, LLVMBuildNot(d->at, a, ""), ""), "");
  return LLVMBuildBitCast(d->at, made, LLVMTypeOf(d->values[0]), "");
}

// A loop that carries a row.
static LLVMValueRef turned(const drawing* d) {
  LLVMValueRef start = some(d), with = some(d), zero = word(d, 0);
  LLVMBasicBlockRef before = LLVMGetInsertBlock(d->at),
                    body = LLVMAppendBasicBlockInContext(d->context, d->function, ""),
                    behind = LLVMAppendBasicBlockInContext(d->context, d->function, "");
  LLVMBuildBr(d->at, body);
  LLVMPositionBuilderAtEnd(d->at, body);
  LLVMValueRef turn = LLVMBuildPhi(d->at, LLVMTypeOf(zero), ""), row = LLVMBuildPhi(d->at, LLVMTypeOf(start), "");
  LLVMValueRef next = LLVMBuildAdd(d->at, turn, word(d, 1), "");
  LLVMValueRef sum = d->is_float ? LLVMBuildFAdd(d->at, row, with, "") : LLVMBuildAdd(d->at, row, with, "");
  LLVMBuildCondBr(d->at, LLVMBuildICmp(d->at, LLVMIntSLT, next, word(d, 3), ""), body, behind);
  LLVMAddIncoming(turn, &zero, &before, 1);
  LLVMAddIncoming(turn, &next, &body, 1);
  LLVMAddIncoming(row, &start, &before, 1);
  LLVMAddIncoming(row, &sum, &body, 1);
  LLVMPositionBuilderAtEnd(d->at, behind);
  return sum;
}

static void step(drawing* d) {
  switch (draw(9)) {
  case 0:
    keep(d, shuffled(d, some(d), some(d), d->count));
    break;
  case 1:
    keep(d, through_another_width(d));
    break;
  case 2:
    keep(d, replaced(d));
    break;
  case 3:
    keep(d, through_memory(d));
    break;
  case 4:
    keep(d, converted(d));
    break;
  case 5:
    keep(d, turned(d));
    break;
  case 6:
    keep(d, as_other_elements(d));
    break;
  default:
    keep(d, computed(d));
    break;
  }
}

// void fN(ptr a, ptr b, ptr result, i64 thread, i64 threads)
static void draw_function(drawing* d, int number_of_it) {
  static const int counts[] = {2, 3, 8, 20, 31, 32, 33, 40, 64, 96, 100};
  LLVMTypeRef types[] = {LLVMInt8TypeInContext(d->context),  LLVMInt16TypeInContext(d->context),
                         LLVMInt32TypeInContext(d->context), LLVMInt64TypeInContext(d->context),
                         LLVMFloatTypeInContext(d->context), LLVMDoubleTypeInContext(d->context)};
  LLVMTypeRef pointer = LLVMPointerTypeInContext(d->context, 0), wide = types[3];
  LLVMTypeRef params[] = {pointer, pointer, pointer, wide, wide};
  uint32_t type = draw(6);
  char name[16];
  snprintf(name, sizeof name, "f%d", number_of_it);
  d->element = types[type];
  d->is_float = type > 3;
  d->count = counts[draw(sizeof counts / sizeof *counts)];
  d->value_count = 0;
  d->function = LLVMAddFunction(d->module, name, LLVMFunctionType(LLVMVoidTypeInContext(d->context), params, 5, 0));
  LLVMPositionBuilderAtEnd(d->at, LLVMAppendBasicBlockInContext(d->context, d->function, ""));
  for (unsigned k = 0; k < 2; ++k) {
    LLVMValueRef load =
        LLVMBuildLoad2(d->at, LLVMVectorType(d->element, (unsigned)d->count), LLVMGetParam(d->function, k), "");
    LLVMSetAlignment(load, (unsigned)LLVMABISizeOfType(LLVMGetModuleDataLayout(d->module), d->element));
    keep(d, load);
  }
  for (int k = 0; k < STEPS; ++k) step(d);
  for (int k = 0; k < d->value_count; ++k) {
    LLVMValueRef at = LLVMConstInt(wide, (unsigned long long)(BYTES + k * ROW), 0);
    LLVMValueRef to = LLVMBuildGEP2(d->at, LLVMInt8TypeInContext(d->context), LLVMGetParam(d->function, 2), &at, 1, "");
    LLVMSetAlignment(LLVMBuildStore(d->at, d->values[k], to),
                     (unsigned)LLVMABISizeOfType(LLVMGetModuleDataLayout(d->module), d->element));
  }
  LLVMBuildRetVoid(d->at);
}

static void fill(uint8_t* a, const drawing* d) { // small numbers, of which no sum is rounded
  for (int k = 0; k < BYTES / 8; ++k) {
    float single = (float)((int)draw(64) - 32);
    double two = single;
    int64_t wide = (int64_t)single;
    LLVMTypeKind kind = LLVMGetTypeKind(d->element);
    size_t width = kind == LLVMFloatTypeKind ? 4 : kind == LLVMDoubleTypeKind ? 8 : LLVMGetIntTypeWidth(d->element) / 8;
    memcpy(a + (size_t)k * width,
           kind == LLVMFloatTypeKind    ? (void*)&single
           : kind == LLVMDoubleTypeKind ? (void*)&two
                                        : (void*)&wide,
           width);
  }
}

typedef struct grid {
  pb_chip* chip;
  const pb_device_ops* ops;
  pb_device* device;
  uint64_t module, a, b, result;
} grid;

static void start(grid* g, pb_grid_module* m) {
  assert_int_equal(pb_chip_find("nvgpu", NULL, NULL, &g->chip), PB_OK);
  g->ops = pb_grid_machine_ops(g->chip);
  assert_non_null(g->ops);
  assert_int_equal(g->ops->open(NULL, &g->device), 0);
  assert_int_equal(g->ops->alloc(g->device, BYTES, 128, &g->a), 0);
  assert_int_equal(g->ops->alloc(g->device, BYTES, 128, &g->b), 0);
  assert_int_equal(g->ops->alloc(g->device, RESULT, 128, &g->result), 0);
  m->chip = g->chip;
}

static void on_machine(const grid* g, int width, const char* name, const uint8_t* a, const uint8_t* b,
                       uint8_t* result) {
  pb_device_launch launch = {.module = g->module,
                             .kernel = name,
                             .blocks = {1, 1, 1},
                             .threads = {(uint32_t)width, 1, 1},
                             .arg_count = 3,
                             .args = {g->a, g->b, g->result}};
  assert_int_equal(g->ops->copy_in(g->device, g->a, a, BYTES), 0);
  assert_int_equal(g->ops->copy_in(g->device, g->b, b, BYTES), 0);
  assert_int_equal(g->ops->copy_in(g->device, g->result, result, RESULT), 0);
  if (g->ops->launch(g->device, &launch) || g->ops->wait(g->device))
    fail_msg("%s: %s", name, g->ops->last_fault(g->device));
  assert_int_equal(g->ops->copy_out(g->device, g->result, result, RESULT), 0);
}

// With as many lanes.
static void draw_all(uint32_t seed, int width) {
  pb_grid_module m = {.folder = PB_BINARY_DIR};
  pb_lanes lanes = {.isa = pb_isa_of("nvptx64-nvidia-cuda"), .width = width, .inside = 1 << 14};
  LLVMExecutionEngineRef engine;
  char *why = NULL, name[16], symbol[16];
  grid g;
  drawing d = {.context = LLVMContextCreate()}, kinds[FUNCTIONS];
  state = seed;
  start(&g, &m);
  d.module = m.module = LLVMModuleCreateWithNameInContext("drawn", d.context);
  d.at = LLVMCreateBuilderInContext(d.context);
  assert_true(pb_grid_target(g.chip, m.module));
  for (int k = 0; k < FUNCTIONS; ++k) {
    draw_function(&d, k);
    kinds[k] = d;
  }
  LLVMModuleRef here = LLVMCloneModule(m.module);
  char* triple = LLVMGetDefaultTargetTriple();
  LLVMSetTarget(here, triple);
  LLVMDisposeMessage(triple);
  LLVMSetDataLayout(here, "");
  if (LLVMCreateExecutionEngineForModule(&engine, here, &why)) fail_msg("%s", why);
  for (int k = 0; k < FUNCTIONS; ++k) {
    pb_launch launch = {.warps = 1, .blocks = 1};
    snprintf(name, sizeof name, "f%d", k);
    snprintf(symbol, sizeof symbol, "pb_f%d", k);
    if (!pb_lanes_make(&lanes, m.module, name, symbol, &launch)) fail_msg("%s: %s", name, lanes.why);
  }
  setenv("PB_PTXAS", "", 1);
  if (!pb_grid_codes(&m)) fail_msg("%s", m.why);
  if (g.ops->load(g.device, PB_DEVICE_PTX, m.codes[0].data, m.codes[0].bytes, &g.module))
    fail_msg("%s", g.ops->last_fault(g.device));
  for (int k = 0; k < FUNCTIONS; ++k) {
    static _Alignas(128) uint8_t a[BYTES], b[BYTES], expected[RESULT], result[RESULT];
    void (*call)(void*, void*, void*, int64_t, int64_t);
    fill(a, &kinds[k]);
    fill(b, &kinds[k]);
    fill(expected, &kinds[k]);
    memcpy(result, expected, RESULT);
    snprintf(name, sizeof name, "f%d", k);
    snprintf(symbol, sizeof symbol, "pb_f%d", k);
    uint64_t address = LLVMGetFunctionAddress(engine, name);
    memcpy(&call, &address, sizeof call);
    call(a, b, expected, 0, 1);
    on_machine(&g, width, symbol, a, b, result);
    for (int n = 0; n < RESULT; ++n)
      if (result[n] != expected[n])
        fail_msg("seed %u, %s: byte %d is %d, not %d", seed, name, n, result[n], expected[n]);
  }
  LLVMDisposeExecutionEngine(engine);
  LLVMDisposeBuilder(d.at);
  LLVMDisposeModule(m.module);
  LLVMContextDispose(d.context);
  pb_grid_module_free(&m);
  g.ops->close(g.device);
  pb_chip_free(g.chip);
}

static void agrees(void** unused) {
  (void)unused;
  for (uint32_t seed = 1; seed <= SEEDS; ++seed) draw_all(seed, 32);
  draw_all(5, 16); // two warps are what the processor has as one
  draw_all(6, 8);
}

int main(void) {
  LLVMInitializeNativeTarget();
  LLVMInitializeNativeAsmPrinter();
  LLVMLinkInMCJIT();
  const struct CMUnitTest tests[] = {cmocka_unit_test(agrees)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
