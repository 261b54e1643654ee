// What pb-grid-code finds of alignment, through chains of sums and products and around loops.
#include "targets/control/grid/align.h"
#include "targets/control/grid/words.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/grid/parse.h"

#include <string.h>

static LLVMValueRef named(LLVMModuleRef module, const char* name) {
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(LLVMGetNamedFunction(module, "k")); b; b = LLVMGetNextBasicBlock(b))
    for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
      size_t length;
      if (!strcmp(LLVMGetValueName2(i, &length), name)) return i;
    }
  fail_msg("no %s", name);
  return NULL;
}

// Nine steps from the argument to the loads, through a loop of steps of four elements; %odd goes by three of them, and
// %unknown by a number that nobody knows.
static const char chain[] =
    "define void @k(ptr addrspace(1) %p, i64 %n, ptr %plain) {\n"
    "entry:\n  br label %loop\n"
    "loop:\n"
    "  %i = phi i64 [ 0, %entry ], [ %next, %loop ]\n  %j = phi i64 [ 0, %entry ], [ %step, %loop ]\n"
    "  %a0 = mul i64 %n, 4096\n  %a = getelementptr i8, ptr addrspace(1) %p, i64 %a0\n"
    "  %b0 = shl i64 %n, 6\n  %b = getelementptr i8, ptr addrspace(1) %a, i64 %b0\n"
    "  %c0 = urem i64 %n, 7\n  %c1 = mul i64 %c0, 16\n  %c = getelementptr float, ptr addrspace(1) %b, i64 %c1\n"
    "  %d = getelementptr i8, ptr addrspace(1) %c, i64 128\n  %e = getelementptr i8, ptr addrspace(1) %d, i64 256\n"
    "  %f = getelementptr i8, ptr addrspace(1) %e, i64 512\n  %g = getelementptr i8, ptr addrspace(1) %f, i64 -64\n"
    "  %h = getelementptr float, ptr addrspace(1) %g, i64 %i\n  %wide = load float, ptr addrspace(1) %h, align 4\n"
    "  %h1 = getelementptr i8, ptr addrspace(1) %h, i64 8\n  %eight = load float, ptr addrspace(1) %h1, align 4\n"
    "  %o = getelementptr float, ptr addrspace(1) %g, i64 %j\n  %odd = load float, ptr addrspace(1) %o, align 4\n"
    "  %u = getelementptr float, ptr addrspace(1) %g, i64 %n\n  %unknown = load float, ptr addrspace(1) %u, align 1\n"
    "  %q = getelementptr i8, ptr %plain, i64 64\n  %bare = load float, ptr %q, align 4\n"
    "  %short = load i16, ptr addrspace(1) %g, align 2\n"
    "  %next = add i64 %i, 4\n  %step = add i64 %j, 3\n  %more = icmp slt i64 %next, 64\n"
    "  br i1 %more, label %loop, label %end\n"
    "end:\n  ret void\n}\n";

static void alignment_comes_from_far(void** state) {
  (void)state;
  static const struct {
    const char* name;
    unsigned align;
  } wanted[] = {{"wide", 16}, {"eight", 8}, {"odd", 4}, {"unknown", 4}, {"bare", 4}, {"short", 2}};
  LLVMContextRef context = LLVMContextCreate();
  LLVMModuleRef module = parse(context, chain);
  pb_grid_align(module);
  for (size_t k = 0; k < sizeof wanted / sizeof *wanted; ++k)
    assert_int_equal(LLVMGetAlignment(named(module, wanted[k].name)), wanted[k].align);
  LLVMDisposeModule(module);
  LLVMContextDispose(context);
}

// Loads by their names: what each becomes; NULL: it stays.
static const char shorts[] =
    "define void @k(ptr addrspace(1) %p) {\n"
    "  %pair = load <2 x half>, ptr addrspace(1) %p, align 4\n  %four = load <4 x half>, ptr addrspace(1) %p, align 8\n"
    "  %codes = load <2 x i16>, ptr addrspace(1) %p, align 4\n  %brains = load <2 x bfloat>, ptr addrspace(1) %p, "
    "align 4\n"
    "  %apart = load <2 x half>, ptr addrspace(1) %p, align 2\n  %three = load <3 x half>, ptr addrspace(1) %p, align "
    "4\n"
    "  %one = load half, ptr addrspace(1) %p, align 4\n  %volatile = load volatile <2 x half>, ptr addrspace(1) %p, "
    "align 4\n"
    "  %wide = load <2 x float>, ptr addrspace(1) %p, align 8\n"
    "  store <2 x half> %pair, ptr addrspace(1) %p, align 4\n  store <4 x half> %four, ptr addrspace(1) %p, align 8\n"
    "  store <2 x i16> %codes, ptr addrspace(1) %p, align 4\n  store <2 x bfloat> %brains, ptr addrspace(1) %p, align "
    "4\n"
    "  ret void\n}\n";

static void numbers_of_16_bits_come_as_words(void** state) {
  (void)state;
  static const char *const gone[] = {"%pair = load", "%four = load", "%codes = load", "%brains = load"},
                           *const kept[] = {"%apart = load",
                                            "%three = load",
                                            "%one = load",
                                            "%volatile = load",
                                            "%wide = load",
                                            "load <2 x i32>, ptr addrspace(1) %p, align 8",
                                            "load i32, ptr addrspace(1) %p, align 4",
                                            "to <2 x bfloat>",
                                            "to <4 x half>"};
  LLVMContextRef context = LLVMContextCreate();
  LLVMModuleRef module = parse(context, shorts);
  pb_grid_load_words(module);
  char* made = LLVMPrintModuleToString(module);
  for (size_t k = 0; k < sizeof gone / sizeof *gone; ++k)
    if (strstr(made, gone[k])) fail_msg("%s is left in %s", gone[k], made);
  for (size_t k = 0; k < sizeof kept / sizeof *kept; ++k)
    if (!strstr(made, kept[k])) fail_msg("%s is not in %s", kept[k], made);
  LLVMDisposeMessage(made);
  LLVMDisposeModule(module);
  LLVMContextDispose(context);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(alignment_comes_from_far),
                                     cmocka_unit_test(numbers_of_16_bits_come_as_words)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
