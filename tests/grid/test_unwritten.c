// Which loads pb-grid-code marks as being of tensors that nobody writes.
#include "targets/control/grid/unwritten.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/grid/parse.h"

#include <stdio.h>
#include <string.h>

#define P "ptr addrspace(1) "
#define WIDE(name) "  %" name " = load <64 x float>, " P "%p, align 4\n"

// How many loads of the kernel have the mark; and whether the one of that name has.
static int marked(LLVMModuleRef module, const char* name, bool* found) {
  static const char kind[] = "amdgpu.noclobber";
  unsigned number = LLVMGetMDKindIDInContext(LLVMGetModuleContext(module), kind, sizeof kind - 1);
  int count = 0;
  *found = false;
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(LLVMGetNamedFunction(module, "k")); b; b = LLVMGetNextBasicBlock(b))
    for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
      size_t length;
      if (!LLVMIsALoadInst(i) || !LLVMGetMetadata(i, number)) continue;
      ++count;
      *found |= !strcmp(LLVMGetValueName2(i, &length), name);
    }
  return count;
}

static const struct {
  const char* body;
  const char* load; // NULL: `count` alone
  bool is_marked;
  int count;
} cases[] = {
    {"  %x = load float, " P "%p, align 4\n  store float %x, " P "%q, align 4\n  ret void\n", "x", true, 1},
    {"  %x = load float, " P "%q, align 4\n  store float %x, " P "%q, align 4\n  ret void\n", "x", false, 0},
    // written by way of a pointer that steps; read so, too
    {"  br label %l\nl:\n  %a = phi " P "[ %q, %0 ], [ %b, %l ]\n  %r = phi " P "[ %p, %0 ], [ %s, %l ]\n"
     "  %x = load float, " P "%r, align 4\n  %y = load float, " P "%q, align 4\n  store float %x, " P "%a, align 4\n"
     "  %b = getelementptr float, " P "%a, i64 1\n  %s = getelementptr float, " P "%r, i64 2\n"
     "  %c = icmp eq i64 %n, 0\n  br i1 %c, label %l, label %e\ne:\n  ret void\n",
     "x", true, 1},
    // it may be the one or the other
    {"  %c = icmp eq i64 %n, 0\n  %w = select i1 %c, " P "%p, " P "%q\n  %x = load float, " P "%p, align 4\n"
     "  store float %x, " P "%w, align 4\n  ret void\n",
     "x", false, 0},
    {"  %c = icmp eq i64 %n, 0\n  %w = select i1 %c, " P "%p, " P "%q\n  %x = load float, " P
     "%w, align 4\n  ret void\n",
     "x", false, 0},
    // a place that comes from memory: anything may be written
    {"  %w = load " P ", " P "%p, align 8\n  store float 0.0, " P "%w, align 4\n  %x = load float, " P
     "%p, align 4\n  ret void\n",
     "x", false, 0},
    {"  %o = atomicrmw add " P "%p, i32 1 monotonic\n  %x = load i32, " P "%p, align 4\n  ret void\n", "x", false, 0},
    {"  %x = load atomic i32, " P "%p unordered, align 4\n  ret void\n", "x", false, 0},
    {"  %x = load volatile i32, " P "%p, align 4\n  ret void\n", "x", false, 0},
    {"  %x = load i16, " P "%p, align 2\n  ret void\n", "x", false, 0},
    {"  %x = load i32, " P "%p, align 2\n  ret void\n", "x", false, 0},
    // a block's own memory is another one
    {"  %x = load float, " P "%p, align 4\n  store float %x, ptr addrspace(3) %own, align 4\n  ret void\n", "x", true,
     1},
    // more than sixteen words in a row become sixteen and sixteen; of more than there are registers for, those in front
    {"  %x = load <32 x float>, " P "%p, align 4\n  store <32 x float> %x, " P "%q, align 4\n  ret void\n", NULL, false,
     2},
    {WIDE("a") WIDE("b") WIDE("c") WIDE("d") WIDE("e") WIDE("f") "  %z = load i32, " P "%p, align 4\n  ret void\n", "z",
     false, 24},
    {WIDE("a") WIDE("b") WIDE("c") WIDE("d") WIDE("e") "  %z = load i32, " P "%p, align 4\n  ret void\n", "z", true,
     21},
    // what each lane has of its own takes no room of these
    {"  %t = call i32 @llvm.amdgcn.workitem.id.x()\n  %a = getelementptr float, " P "%p, i32 %t\n"
     "  %y = load <32 x float>, " P "%a, align 4\n  %z = load <32 x float>, " P "%a, align 4\n  %x = load i32, " P
     "%p, align 4\n  ret void\n",
     "x", true, 1},
    {"  %t = call i32 @llvm.amdgcn.workitem.id.x()\n  %f = call i32 @llvm.amdgcn.readfirstlane.i32(i32 %t)\n"
     "  %a = getelementptr float, " P "%p, i32 %f\n  %x = load i32, " P "%a, align 4\n  ret void\n",
     "x", true, 1},
};

static void words_that_nobody_writes(void** state) {
  (void)state;
  for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
    char text[2048];
    bool found;
    snprintf(text, sizeof text,
             "declare i32 @llvm.amdgcn.workitem.id.x()\ndeclare i32 @llvm.amdgcn.readfirstlane.i32(i32)\n"
             "define void @k(" P "%%p, " P "%%q, ptr addrspace(3) %%own, i64 %%n) {\n%s}\n",
             cases[k].body);
    LLVMContextRef context = LLVMContextCreate();
    LLVMModuleRef module = parse(context, text);
    pb_grid_mark_unwritten(module);
    int count = marked(module, cases[k].load ? cases[k].load : "none", &found);
    if (count != cases[k].count || found != cases[k].is_marked)
      fail_msg("%s%d marked, wanted %d", cases[k].body, count, cases[k].count);
    LLVMDisposeModule(module);
    LLVMContextDispose(context);
  }
}

// Of a kernel that says how many it may have.
static void as_many_as_it_says(void** state) {
  (void)state;
  bool found;
  LLVMContextRef context = LLVMContextCreate();
  LLVMModuleRef module =
      parse(context, "define void @k(" P "%p) \"" PB_GRID_SCALAR_WORDS "\"=\"23\" {\n  %x = load <8 x float>, " P
                     "%p, align 4\n  %y = load <8 x float>, " P "%p, align 4\n  %z = load <8 x float>, " P
                     "%p, align 4\n  ret void\n}\n");
  assert_int_equal(pb_grid_scalar_words(LLVMGetNamedFunction(module, "k")), 23);
  pb_grid_mark_unwritten(module);
  assert_int_equal(marked(module, "z", &found), 2);
  assert_false(found);
  LLVMDisposeModule(module);
  LLVMContextDispose(context);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(words_that_nobody_writes), cmocka_unit_test(as_many_as_it_says)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
