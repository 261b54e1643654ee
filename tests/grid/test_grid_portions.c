// In which order pb-grid-code has the products of a block and the numbers that all lanes take; which loops it writes
// out.
#include "targets/control/grid/portions.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "targets/control/grid/unroll.h"
#include "targets/control/grid/unwritten.h"
#include "tests/grid/parse.h"

#include <llvm-c/Analysis.h>
#include <llvm-c/Target.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT = 1 << 20, MOST_ROWS = 32 };

static void add(char* text, const char* format, ...) {
  va_list list;
  size_t length = strlen(text);
  va_start(list, format);
  vsnprintf(text + length, TEXT - length, format, list);
  va_end(list);
}

// A loop of sums, one for each row: all take a step's number of the lane's own, `w`, and one of their row, of which
// `words` come by one load. The loop runs eight times.
static char* loop_of(int rows, int words) {
  char* text = calloc(1, TEXT);
  assert_non_null(text);
  add(text, "target triple = \"amdgcn-amd-amdhsa\"\ndeclare float @llvm.fma.f32(float, float, float)\n"
            "define void @k(ptr addrspace(1) %%x, ptr addrspace(1) %%y, float %%w) {\n  br label %%l\nl:\n"
            "  %%i = phi i64 [ 0, %%0 ], [ %%next, %%l ]\n");
  for (int r = 0; r < rows; ++r) add(text, "  %%s%d = phi float [ 0.0, %%0 ], [ %%s%d.%d, %%l ]\n", r, r, words - 1);
  for (int r = 0; r < rows; ++r) {
    add(text, "  %%p%d = getelementptr float, ptr addrspace(1) %%x, i64 %d\n", r, r * words);
    add(text, "  %%x%d = load <%d x float>, ptr addrspace(1) %%p%d, align 4\n", r, words, r);
  }
  for (int w = 0; w < words; ++w)
    for (int r = 0; r < rows; ++r) {
      add(text, "  %%e%d.%d = extractelement <%d x float> %%x%d, i64 %d\n", r, w, words, r, w);
      add(text, "  %%s%d.%d = call float @llvm.fma.f32(float %%e%d.%d, float %%w, float %%s%d", r, w, r, w, r);
      add(text, w ? ".%d)\n" : ")\n", w - 1);
    }
  add(text, "  %%next = add i64 %%i, 1\n  %%go = icmp slt i64 %%next, 8\n  br i1 %%go, label %%l, label %%e\ne:\n");
  for (int r = 0; r < rows; ++r) add(text, "  store float %%s%d.%d, ptr addrspace(1) %%y, align 4\n", r, words - 1);
  add(text, "  ret void\n}\n");
  return text;
}

static LLVMBasicBlockRef loop_in(LLVMModuleRef module) {
  return LLVMGetNextBasicBlock(LLVMGetFirstBasicBlock(LLVMGetNamedFunction(module, "k")));
}

static bool calls(LLVMValueRef i, const char* name) {
  size_t length;
  return LLVMIsACallInst(i) && !strcmp(LLVMGetValueName2(LLVMGetCalledValue(i), &length), name);
}

// A product's row, by its sum's phi, and its step: how many products it is away from that.
static int row_of(LLVMValueRef product, int* step) {
  size_t length;
  for (*step = 0; !LLVMIsAPHINode(product = LLVMGetOperand(product, 2)); ++*step) continue;
  return atoi(LLVMGetValueName2(product, &length) + 1);
}

// The most words that are in registers at once: loaded, and not all of their row's products made.
static int most_words(LLVMBasicBlockRef block, int words) {
  int step, now = 0, most = 0;
  for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i)) {
    if (LLVMIsALoadInst(i)) now += words;
    if (now > most) most = now;
    if (!calls(i, "llvm.fma.f32")) continue;
    (void)row_of(i, &step);
    if (step + 1 == words) now -= words;
  }
  return most;
}

static int count_of(LLVMBasicBlockRef block, const char* name) {
  int count = 0;
  for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i)) count += calls(i, name);
  return count;
}

// Each row's products are there, in the order of their steps.
static void check_sums(LLVMBasicBlockRef block, int rows, int words) {
  int made[MOST_ROWS] = {0}, step;
  for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i)) {
    if (!calls(i, "llvm.fma.f32")) continue;
    int row = row_of(i, &step);
    assert_int_equal(step, made[row]++);
  }
  for (int r = 0; r < rows; ++r) assert_int_equal(made[r], words);
}

static const struct {
  int rows, words;
  const char* pair; // what the kernel says; NULL: nothing
  int most, bars;
} cases[] = {{14, 16, NULL, 80, 12}, {14, 8, NULL, 80, 6}, {14, 16, "48", 48, 18},
             {14, 16, "28", 32, 28}, {8, 8, NULL, 64, 0}, // they find room as they come
             {3, 64, NULL, 192, 6}};

static void portions(void** state) {
  (void)state;
  for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
    char *text = loop_of(cases[k].rows, cases[k].words), *why = NULL;
    LLVMContextRef context = LLVMContextCreate();
    LLVMModuleRef module = parse(context, text);
    LLVMValueRef kernel = LLVMGetNamedFunction(module, "k");
    if (cases[k].pair)
      LLVMAddAttributeAtIndex(kernel, LLVMAttributeFunctionIndex,
                              LLVMCreateStringAttribute(context, PB_GRID_PAIR_WORDS, sizeof PB_GRID_PAIR_WORDS - 1,
                                                        cases[k].pair, (unsigned)strlen(cases[k].pair)));
    pb_grid_mark_unwritten(module);
    pb_grid_order_portions(module);
    if (LLVMVerifyModule(module, LLVMReturnStatusAction, &why)) fail_msg("case %zu: %s", k, why);
    LLVMDisposeMessage(why);
    check_sums(loop_in(module), cases[k].rows, cases[k].words);
    int most = most_words(loop_in(module), cases[k].words),
        bars = count_of(loop_in(module), "llvm.amdgcn.sched.barrier");
    if (cases[k].words <= 16 && most > cases[k].most) fail_msg("case %zu: %d words", k, most);
    if (bars != cases[k].bars) fail_msg("case %zu: %d bars", k, bars);
    LLVMDisposeModule(module);
    LLVMContextDispose(context);
    free(text);
  }
}

// {rows, words, most products, most words, least products for four words, how many turns at once}: as many as divide
// the eight turns that there are
static const int unrolled[][6] = {{14, 8, 320, 999, 4, 2}, {14, 8, 320, 999, 5, 0}, {8, 8, 320, 999, 0, 4},
                                  {8, 8, 255, 999, 0, 2},  {3, 4, 320, 999, 0, 0},  {14, 16, 320, 999, 0, 0},
                                  {4, 4, 320, 999, 0, 8},  {14, 8, 999, 224, 0, 2}, // 112 words in each turn
                                  {14, 8, 999, 223, 0, 0}, {4, 4, 320, 64, 0, 4}};

static void turns_written_out(void** state) {
  (void)state;
  for (size_t k = 0; k < sizeof unrolled / sizeof *unrolled; ++k) {
    const int* one = unrolled[k];
    char *text = loop_of(one[0], one[1]), wanted[32];
    LLVMContextRef context = LLVMContextCreate();
    LLVMModuleRef module = parse(context, text);
    const pb_unrolling limits = {one[2], one[3], one[4]};
    assert_int_equal(pb_grid_mark_unrolled(module, &limits), one[5] > 0);
    char* made = LLVMPrintModuleToString(module);
    snprintf(wanted, sizeof wanted, "unroll.count\", i32 %d}", one[5]);
    if (!strstr(made, one[5] ? wanted : "icmp") || (!one[5] && strstr(made, "unroll")))
      fail_msg("case %zu: %s", k, made);
    LLVMDisposeMessage(made);
    LLVMDisposeModule(module);
    LLVMContextDispose(context);
    free(text);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(portions), cmocka_unit_test(turns_written_out)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
