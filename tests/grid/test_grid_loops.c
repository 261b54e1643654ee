// Numbers and addresses of innermost loops, as pb-grid-code makes them for a unit that all lanes share.
#include "targets/control/grid/loops.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/grid/parse.h"

#include <llvm-c/Analysis.h>
#include <stdio.h>
#include <string.h>

// A loop of %i from `begin` by `step`, which goes on as `end` says, over loads at addresses that `body` makes.
#define LOOP(begin, step, end, body)                                                                                   \
  "  br label %l\nl:\n  %i = phi i64 [ " begin ", %0 ], [ %next, %l ]\n" body "  %next = add i64 %i, " step "\n"       \
  "  %go = icmp " end "\n  br i1 %go, label %l, label %e\ne:\n  ret void\n"
#define AT(name, from, offset) "  %" name " = getelementptr i8, ptr addrspace(1) %" from ", i64 " offset "\n"
#define LOAD(from) "  %x" from " = load float, ptr addrspace(1) %" from ", align 4\n"
#define STEPS "  %o = shl i64 %i, 4\n" AT("a", "p", "%o")

static const struct {
  const char *body, *has, *has_too, *lacks;
} cases[] = {
    // one number of 32 bits for the address, which says the end too
    {LOOP("0", "2", "slt i64 %next, 16", STEPS LOAD("a")), "icmp ne i32 %", ", 256\n", "i64 %i"},
    {LOOP("0", "2", "slt i64 %next, 16", STEPS LOAD("a")), "phi i32 [ 0, %0 ]", ", 32\n", "shl"},
    // it comes to 15 by way of 16, to 17 by way of 18; the number itself asked for, not the next one
    {LOOP("0", "4", "ult i64 %next, 15", STEPS LOAD("a")), "icmp ne i32 %", ", 256\n", "i64 %i"},
    {LOOP("0", "2", "slt i64 %i, 17", STEPS LOAD("a")), "icmp ne i32 %", ", 320\n", "i64 %i"},
    // no address that is one for all: a number of its own, the next one of which is compared
    {LOOP("0", "2", "slt i64 %i, 17", ""), "icmp ne i32 %", ", 20\n", "i64 %i"},
    {LOOP("0", "1", "slt i64 %next, 8", STEPS AT("c", "a", "%w") LOAD("c")), "add nsw i32 %own", ", 8\n", "shl"},
    {LOOP("3", "1", "ne i64 %next, 7", STEPS LOAD("a")), "phi i32 [ 48, %0 ]", "icmp ne i32 %", "shl"},
    // what lanes add is where the loop's number begins, with a part of the constant; the load says the rest
    {LOOP("0", "1", "slt i64 %next, 8", STEPS AT("b", "a", "9000") AT("c", "b", "%w") LOAD("c")),
     "add nsw i32 %own, 12288", "i64 -3288", "9000"},
    // neighbours are told apart by constants alone
    {LOOP("0", "1", "slt i64 %next, 8", STEPS AT("b", "a", "64") LOAD("a") LOAD("b")), "phi i32 [ 0, %0 ]", "i64 64",
     "shl"},
    // somebody else takes the number: it stays
    {LOOP("0", "1", "slt i64 %next, 8", "  store i64 %i, ptr addrspace(1) %q, align 8\n"), "icmp ne i64 %next, 8",
     "phi i64", "i32 ["},
    // an end that nobody knows, one in front of the beginning, a number that goes back, an offset that 32 bits do not
    // hold, one in front of the base
    {LOOP("0", "1", "slt i64 %next, %n", STEPS LOAD("a")), "icmp slt i64", "shl i64", "i32 ["},
    {LOOP("9", "1", "slt i64 %next, 8", STEPS LOAD("a")), "icmp slt i64", "shl i64", "i32 ["},
    {LOOP("9", "-1", "sgt i64 %next, 0", STEPS LOAD("a")), "icmp sgt i64", "shl i64", "i32 ["},
    {LOOP("0", "1", "slt i64 %next, 40000000", STEPS LOAD("a")), "icmp ne i64", "shl i64", "i32 ["},
    {LOOP("0", "1", "slt i64 %next, 8", STEPS AT("b", "a", "-8") LOAD("b")), "icmp ne i64", "shl i64", "i32 ["}};

static void numbers_and_addresses(void** state) {
  (void)state;
  for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
    char text[2048], *why = NULL;
    snprintf(text, sizeof text,
             "define void @k(ptr addrspace(1) %%p, ptr addrspace(1) %%q, i64 %%n, i32 %%own) {\n"
             "  %%w = zext i32 %%own to i64\n%s}\n",
             cases[k].body);
    LLVMContextRef context = LLVMContextCreate();
    LLVMModuleRef module = parse(context, text);
    pb_grid_step_loops(module);
    if (LLVMVerifyModule(module, LLVMReturnStatusAction, &why)) fail_msg("%s%s", cases[k].body, why);
    LLVMDisposeMessage(why);
    char* made = LLVMPrintModuleToString(module);
    if (!strstr(made, cases[k].has) || !strstr(made, cases[k].has_too) || strstr(made, cases[k].lacks))
      fail_msg("case %zu wants '%s' and '%s' and not '%s':\n%s", k, cases[k].has, cases[k].has_too, cases[k].lacks,
               made);
    LLVMDisposeMessage(made);
    LLVMDisposeModule(module);
    LLVMContextDispose(context);
  }
}

static const struct {
  const char* loop;
  int64_t turns;
} counted[] = {{LOOP("0", "2", "slt i64 %next, 16", ""), 8}, {LOOP("0", "4", "ult i64 %next, 15", ""), 4},
               {LOOP("0", "2", "slt i64 %i, 17", ""), 10},   {LOOP("3", "1", "ne i64 %next, 7", ""), 4},
               {LOOP("0", "1", "slt i64 %next, %n", ""), 0}, {LOOP("9", "-1", "sgt i64 %next, 0", ""), 0}};

static void turns(void** state) {
  (void)state;
  for (size_t k = 0; k < sizeof counted / sizeof *counted; ++k) {
    char text[2048];
    snprintf(text, sizeof text, "define void @k(i64 %%n) {\n%s}\n", counted[k].loop);
    LLVMContextRef context = LLVMContextCreate();
    LLVMModuleRef module = parse(context, text);
    LLVMBasicBlockRef first = LLVMGetFirstBasicBlock(LLVMGetNamedFunction(module, "k"));
    assert_int_equal(pb_grid_turns_of(LLVMGetNextBasicBlock(first)), counted[k].turns);
    assert_int_equal(pb_grid_turns_of(first), 0);
    LLVMDisposeModule(module);
    LLVMContextDispose(context);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(numbers_and_addresses), cmocka_unit_test(turns)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
