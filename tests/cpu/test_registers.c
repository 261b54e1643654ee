// Phis of vectors that only copy registers become phis of registers; others stay.
#include "targets/control/threads/registers.h"

#include <llvm-c/Analysis.h>
#include <llvm-c/Core.h>
#include <llvm-c/IRReader.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define ZERO                                                                                                           \
  "  %z = call x86_amx @llvm.x86.tilezero.internal(i16 8, i16 64)\n"                                                   \
  "  %v = call <256 x i32> @llvm.x86.cast.tile.to.vector.v256i32(x86_amx %z)\n"                                        \
  "  br label %loop\nloop:\n  %k = phi i64 [ 0, %entry ], [ %k1, %next ]\n"
#define STORE                                                                                                          \
  "  %t = call x86_amx @llvm.x86.cast.vector.to.tile.v256i32(<256 x i32> %p)\n"                                        \
  "  call void @llvm.x86.tilestored64.internal(i16 8, i16 64, ptr %m, i64 64, x86_amx %t)\n"
#define TURN "  %k1 = add i64 %k, 1\n  %c = icmp slt i64 %k1, %n\n  br i1 %c, label %next, label %done\nnext:\n"
#define DECLARATIONS                                                                                                   \
  "declare x86_amx @llvm.x86.tilezero.internal(i16, i16)\n"                                                            \
  "declare <256 x i32> @llvm.x86.cast.tile.to.vector.v256i32(x86_amx)\n"                                               \
  "declare x86_amx @llvm.x86.cast.vector.to.tile.v256i32(<256 x i32>)\n"                                               \
  "declare void @llvm.x86.tilestored64.internal(i16, i16, ptr, i64, x86_amx)\n"                                        \
  "declare x86_amx @llvm.x86.tdpbssd.internal(i16, i16, i16, x86_amx, x86_amx, x86_amx)\n"

// A module in which the pass has been; to be freed with LLVMDisposeMessage.
static char* passed(const char* text) {
  static pb_memory tiles = {
      .value = "x86_amx", .from_vector = "llvm.x86.cast.vector.to.tile", .to_vector = "llvm.x86.cast.tile.to.vector"};
  const pb_chip chip = {.memories = &tiles, .memory_count = 1};
  LLVMContextRef context = LLVMContextCreate();
  LLVMModuleRef module;
  char* why = NULL;
  LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(text, strlen(text), "text");
  if (LLVMParseIRInContext2(context, buffer, &module, &why)) fail_msg("%s", why);
  LLVMDisposeMemoryBuffer(buffer);
  pb_threads_keep_registers(&chip, module);
  if (LLVMVerifyModule(module, LLVMReturnStatusAction, &why)) fail_msg("%s", why);
  LLVMDisposeMessage(why);
  char* printed = LLVMPrintModuleToString(module);
  LLVMDisposeModule(module);
  LLVMContextDispose(context);
  return printed;
}

// Two phis that feed each other, one of them through a bitcast.
static void test_loops_within_loops(void** state) {
  (void)state;
  char* text =
      passed("define void @f(ptr %m, i64 %n) {\nentry:\n" ZERO "  %o = phi <256 x i32> [ %v, %entry ], [ %q, %next ]\n"
             "  %b = bitcast <256 x i32> %o to <1024 x i8>\n  br label %inner\ninner:\n"
             "  %p8 = phi <1024 x i8> [ %b, %loop ], [ %s8, %inner ]\n"
             "  %p = bitcast <1024 x i8> %p8 to <256 x i32>\n"
             "  %a = call x86_amx @llvm.x86.cast.vector.to.tile.v256i32(<256 x i32> %p)\n"
             "  %d = call x86_amx @llvm.x86.tdpbssd.internal(i16 8, i16 64, i16 32, x86_amx %a, x86_amx %z, "
             "x86_amx %z)\n"
             "  %s = call <256 x i32> @llvm.x86.cast.tile.to.vector.v256i32(x86_amx %d)\n"
             "  %s8 = bitcast <256 x i32> %s to <1024 x i8>\n  br i1 true, label %inner, label %after\nafter:\n"
             "  %q = bitcast <1024 x i8> %s8 to <256 x i32>\n" TURN "  br label %loop\ndone:\n"
             "  %r = call x86_amx @llvm.x86.cast.vector.to.tile.v256i32(<256 x i32> %q)\n"
             "  call void @llvm.x86.tilestored64.internal(i16 8, i16 64, ptr %m, i64 64, x86_amx %r)\n"
             "  ret void\n}\n" DECLARATIONS);
  assert_null(strstr(text, "call x86_amx @llvm.x86.cast"));
  assert_null(strstr(text, "call <256 x i32>"));
  assert_null(strstr(text, "bitcast"));
  assert_non_null(strstr(strstr(text, "phi x86_amx") + 1, "phi x86_amx"));
  LLVMDisposeMessage(text);
}

// What an operation on vectors makes or takes stays a vector.
static void test_other_uses(void** state) {
  (void)state;
  static const char* const turns[] = {"  %w = add <256 x i32> %p, %p\n", "  store <256 x i32> %p, ptr %m\n"};
  static const char* const values[] = {"%w", "%v"};
  for (int k = 0; k < 2; ++k) {
    char text[4096];
    (void)snprintf(text, sizeof text,
                   "define void @f(ptr %%m, i64 %%n) {\nentry:\n%s  %%p = phi <256 x i32> [ %%v, %%entry ], [ %s, "
                   "%%next ]\n%s%s%s  br label %%loop\ndone:\n  ret void\n}\n%s",
                   ZERO, values[k], turns[k], STORE, TURN, DECLARATIONS);
    char* after = passed(text);
    assert_null(strstr(after, "phi x86_amx"));
    assert_non_null(strstr(after, "phi <256 x i32>"));
    LLVMDisposeMessage(after);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_loops_within_loops), cmocka_unit_test(test_other_uses)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
