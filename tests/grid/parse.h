// LLVM's IR out of a test's text. The test includes cmocka.h in front.
#ifndef PB_TESTS_GRID_PARSE_H
#define PB_TESTS_GRID_PARSE_H

#include <llvm-c/IRReader.h>
#include <string.h>

// The module is the caller's; a text that LLVM does not read fails the test.
static inline LLVMModuleRef parse(LLVMContextRef context, const char* text) {
  LLVMModuleRef module;
  char* why = NULL;
  LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(text, strlen(text), "test");
  if (LLVMParseIRInContext(context, buffer, &module, &why)) fail_msg("%s", why);
  return module;
}

#endif
