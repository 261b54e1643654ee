// The verifier of value form: a right program passes; each mutant breaks one rule and is refused with that rule's code.
#define _GNU_SOURCE
#include "core/driver/pipeline.h"
#include "core/s2/verify.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

// A padded row, summed with weights in windows of 3, then doubled.
static const char program[] =
    "func.func @main(%x: memref<6xi32> {pb.input = \"x\"}, %w: memref<3xi32> {pb.const = 0 : i64},\n"
    "                %ids: memref<4xi64> {pb.input = \"ids\"}, %y: memref<6xi32> {pb.output = \"y\"}) {\n"
    "  %p = memref.alloc() : memref<8xi32>\n"
    "  %s = memref.alloc() : memref<6xi32>\n"
    "  affine.for %i = 0 to 2 {\n"
    "    %z = arith.constant 0 : i32\n"
    "    affine.store %z, %p[%i * 7] : memref<8xi32>\n"
    "  } {pb.nest = \"borders\", pb.part = \"pad\"}\n"
    "  affine.for %i = 0 to 6 {\n"
    "    %0 = affine.load %x[%i] : memref<6xi32>\n"
    "    affine.store %0, %p[%i + 1] : memref<8xi32>\n"
    "  } {pb.nest = \"inside\", pb.part = \"copy\"}\n"
    "  affine.for %i = 0 to 6 {\n"
    "    %z = arith.constant 0 : i32\n"
    "    affine.store %z, %s[%i] : memref<6xi32>\n"
    "  } {pb.nest = \"sum\", pb.part = \"init\"}\n"
    "  affine.for %i = 0 to 6 {\n"
    "    affine.for %k = 0 to 3 {\n"
    "      %0 = affine.load %p[%i + %k] : memref<8xi32>\n"
    "      %1 = affine.load %w[%k] : memref<3xi32>\n"
    "      %2 = arith.muli %0, %1 : i32\n"
    "      %3 = affine.load %s[%i] : memref<6xi32>\n"
    "      %4 = arith.addi %3, %2 : i32\n"
    "      affine.store %4, %s[%i] : memref<6xi32>\n"
    "    }\n"
    "  } {pb.nest = \"sum\", pb.part = \"reduce\"}\n"
    "  affine.for %i = 0 to 6 {\n"
    "    %0 = affine.load %s[%i] : memref<6xi32>\n"
    "    %1 = arith.addi %0, %0 : i32\n"
    "    affine.store %1, %y[%i] : memref<6xi32>\n"
    "  } {pb.nest = \"twice\", pb.part = \"point\"}\n"
    "  %q = memref.alloc() : memref<6xi32>\n"
    "  %g = memref.alloc() : memref<4xi32>\n"
    "  affine.for %i = 0 to 4 {\n"
    "    %0 = affine.load %ids[%i] : memref<4xi64>\n"
    "    %least = arith.constant 0 : i64\n"
    "    %most = arith.constant 5 : i64\n"
    "    %1 = arith.maxsi %0, %least : i64\n"
    "    %2 = arith.minsi %1, %most : i64\n"
    "    %3 = arith.index_cast %2 : i64 to index\n"
    "    %4 = memref.load %s[%3] : memref<6xi32>\n"
    "    affine.store %4, %g[%i] : memref<4xi32>\n"
    "  } {pb.nest = \"pick\", pb.part = \"gather\"}\n"
    "  %r = memref.alloc() : memref<6xi32>\n"
    "  affine.for %i = 0 to 6 {\n"
    "    %0 = affine.load %x[%i] : memref<6xi32>\n"
    "    %from = arith.constant 0 : i32\n"
    "    %to = arith.constant 2 : i32\n"
    "    %each = arith.constant 2 : i32\n"
    "    %1 = arith.maxsi %0, %from : i32\n"
    "    %2 = arith.minsi %1, %to : i32\n"
    "    %3 = arith.muli %2, %each : i32\n"
    "    %4 = arith.index_cast %3 : i32 to index\n"
    "    %5 = memref.load %s[%4] : memref<6xi32>\n"
    "    affine.store %5, %r[%i] : memref<6xi32>\n"
    "  } {pb.nest = \"rows\", pb.part = \"gather\"}\n"
    "  affine.for %i = 0 to 6 {\n"
    "    %blank = arith.constant 0 : i32\n"
    "    affine.store %blank, %q[%i] : memref<6xi32>\n"
    "  } {pb.nest = \"blank\", pb.part = \"init\"}\n"
    "  affine.for %i = 0 to 4 {\n"
    "    %0 = affine.load %ids[%i] : memref<4xi64>\n"
    "    %turn = arith.index_cast %i : index to i64\n"
    "    %low = arith.constant 0 : i64\n"
    "    %high = arith.constant 4 : i64\n"
    "    %1 = arith.maxsi %0, %low : i64\n"
    "    %2 = arith.minsi %1, %high : i64\n"
    "    %3 = arith.index_cast %2 : i64 to index\n"
    "    %9 = arith.index_cast %0 : i64 to index\n"
    "    %old = memref.load %q[%3] : memref<6xi32>\n"
    "    %t = arith.trunci %turn : i64 to i32\n"
    "    %new = arith.ori %old, %t : i32\n"
    "    memref.store %new, %q[%3] : memref<6xi32>\n"
    "  } {pb.nest = \"change\", pb.part = \"point\", pb.body}\n"
    "  %f = memref.alloc() : memref<6xi32>\n"
    "  affine.for %i = 0 to 1 {\n"
    "    %0 = affine.load %x[%i] : memref<6xi32>\n"
    "    affine.store %0, %f[%i] : memref<6xi32>\n"
    "  } {pb.nest = \"first\", pb.part = \"copy\"}\n"
    "  affine.for %i = 0 to 5 {\n"
    "    %before = affine.load %f[%i] : memref<6xi32>\n"
    "    %0 = affine.load %x[%i + 1] : memref<6xi32>\n"
    "    %so_far = arith.addi %before, %0 : i32\n"
    "    affine.store %so_far, %f[%i + 1] : memref<6xi32>\n"
    "  } {pb.nest = \"turns\", pb.part = \"point\", pb.body}\n"
    "  // here\n"
    "  return\n"
    "}\n"
    "func.func private @other(%a: memref<6xi32>)\n";

typedef struct mutant {
  const char *find, *replace; // every place of `find` is replaced
  int code;
  const char* word; // in the message
} mutant;

static const mutant mutants[] = {
    {"constant 5 : i64", "constant 6 : i64", 4078, "'pick' reads outside"},
    {"arith.maxsi %0, %least", "arith.addi %0, %least", 4079, "'pick' reads a tensor at a number that is not clamped"},
    {"%to = arith.constant 2", "%to = arith.constant 3", 4078, "'rows' reads outside"},
    {"%each = arith.constant 2", "%each = arith.constant 2000000000", 4079, "'rows'"}, // the product wraps
    {"pb.nest = \"change\", pb.part = \"point\", pb.body", "pb.nest = \"change\", pb.part = \"point\"", 4076,
     "'change' writes a tensor that has been read"},
    {"pb.nest = \"turns\", pb.part = \"point\", pb.body", "pb.nest = \"turns\", pb.part = \"point\"", 4075, "'turns'"},
    {"%before = affine.load %f[%i]", "%before = affine.load %f[5 - %i]", 4075,
     "'turns' reads element 5 of a tensor before its turn has written it"},
    {"affine.store %0, %f[%i]", "affine.store %0, %f[%i + 1]", 4075, "'turns' reads element 0"},
    {"affine.store %so_far, %f[%i + 1]", "affine.store %so_far, %f[0]", 4074, "'turns' writes element 0"},
    {"constant 4 : i64", "constant 6 : i64", 4078, "'change' reads outside"},
    {"memref.store %new, %q[%3]", "memref.store %new, %q[%9]", 4079, "'change'"},
    {"affine.store %blank, %q[%i]", "affine.store %blank, %q[0]", 4074, "'blank'"},
    {"affine.for %i = 0 to 6 {\n    %blank", "affine.for %i = 0 to 5 {\n    %blank", 4075, "'change'"},
    {"  // here",
     "  affine.for %i = 0 to 1 {\n %z = arith.constant 1 : i32\n affine.store %z, %q[%i] : memref<6xi32>\n }"
     "{pb.nest = \"late\", pb.part = \"point\"}",
     4074, "'late' writes element 0"},
    {"memref.load %s[%3]", "memref.load %q[%3]", 4075, "'pick' reads anywhere"},
    {"    %4 = memref.load %s[%3]", "    %5 = arith.addi %3, %3 : index\n    %4 = memref.load %s[%5]", 4070,
     "adds two numbers"},
    {"  // here", "  call @other(%y) : (memref<6xi32>) -> ()", 4070, "func.call"},
    {"@main", "@start", 4070, "main"},
    {"  // here", "  %v = memref.subview %s[0] [3] [1] : memref<6xi32> to memref<3xi32, strided<[1]>>", 4071,
     "subview"},
    {"  // here", "  %v = memref.cast %s : memref<6xi32> to memref<?xi32>", 4071, "cast"},
    {"  // here", "  memref.copy %s, %y : memref<6xi32> to memref<6xi32>", 4072, "memref.copy"},
    {"affine.store %1, %y[%i]", "affine.store %1, %x[%i]", 4073, "'twice'"},
    {"%p[%i * 7]", "%p[%i * 6]", 4074, "'inside' writes element 6"},
    {"    affine.store %z, %p[%i * 7]", "    affine.store %z, %p[0]", 4074, "'borders'"},
    {"  // here",
     "  affine.for %i = 0 to 1 {\n %z = arith.constant 1 : i32\n affine.store %z, %y[%i + 2] : memref<6xi32>\n }"
     "{pb.nest = \"again\", pb.part = \"point\"}",
     4074, "'again' writes element 2"},
    {"affine.for %i = 0 to 2 {", "affine.for %i = 0 to 1 {", 4075, "'sum' reads element 7"},
    {"affine.store %z, %s[%i]", "affine.store %z, %y[%i]", 4075, "'sum' adds to element 0"},
    {"%0 = affine.load %x[%i] : memref<6xi32>", "%0 = affine.load %s[%i] : memref<6xi32>", 4075, "'inside'"},
    {"%0 = affine.load %x[%i] : memref<6xi32>", "%0 = affine.load %y[%i] : memref<6xi32>", 4075, "'inside'"},
    {"  affine.for %i = 0 to 6 {\n    affine.for %k",
     "  %e = memref.alloc() : memref<6xi32>\n  affine.for %i = 0 to 6 {\n %0 = affine.load %s[%i] : memref<6xi32>\n"
     " affine.store %0, %e[%i] : memref<6xi32>\n } {pb.nest = \"early\", pb.part = \"point\"}\n"
     "  affine.for %i = 0 to 6 {\n    affine.for %k",
     4076, "'sum'"},
    {"affine.for %i = 0 to 6 {\n    %0 = affine.load %s", "affine.for %i = 0 to 5 {\n    %0 = affine.load %s", 4077,
     "6 elements of which 5"},
    {"affine.load %p[%i + %k]", "affine.load %p[%i + %k + 1]", 4078, "'sum' reads outside"},
    {"affine.store %0, %p[%i + 1]", "affine.store %0, %p[%i + 3]", 4078, "'inside' writes outside"},
};

typedef struct heard {
  int code;
  char text[512];
} heard;

static void listen(void* user, bool error, int code, const char* text) {
  heard* h = user;
  if (error && !h->code) {
    h->code = code;
    snprintf(h->text, sizeof h->text, "%s", text);
  }
}

static char* replaced(const char* text, const char* find, const char* replace) {
  size_t n = strlen(text), places = 0;
  for (const char* at = text; (at = strstr(at, find)); at += strlen(find)) ++places;
  if (!places) fail_msg("'%s' is not in the program", find);
  char *out = malloc(n + places * strlen(replace) + 1), *to = out;
  assert_non_null(out);
  while (*text) {
    if (strncmp(text, find, strlen(find))) {
      *to++ = *text++;
    } else {
      to = stpcpy(to, replace);
      text += strlen(find);
    }
  }
  *to = 0;
  return out;
}

static void judge(MlirContext context, const mutant* m) {
  heard h = {0};
  pb_diag diag = {.sink = listen, .user = &h};
  char* text = replaced(program, m->find, m->replace);
  MlirModule module = mlirModuleCreateParse(context, mlirStringRefCreateFromCString(text));
  if (mlirModuleIsNull(module)) fail_msg("this is no IR:\n%s", text);
  pb_status status = pb_s2_verify(module, "test", &diag);
  if (h.code != m->code || !strstr(h.text, m->word) || (status == PB_OK) != (m->code == 0))
    fail_msg("'%s': wanted PB%d with '%s', got: %s", m->replace, m->code, m->word, h.text);
  mlirModuleDestroy(module);
  free(text);
}

static MlirContext context_of(void** state) { return (MlirContext){*state}; }

static void right_program_passes(void** state) { judge(context_of(state), &(mutant){"@main", "@main", 0, ""}); }

static void mutants_are_caught(void** state) {
  for (size_t k = 0; k < sizeof mutants / sizeof *mutants; ++k) judge(context_of(state), &mutants[k]);
}

static int open_context(void** state) {
  *state = pb_context_create().ptr;
  return 0;
}

static int close_context(void** state) {
  mlirContextDestroy(context_of(state));
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(right_program_passes), cmocka_unit_test(mutants_are_caught)};
  return cmocka_run_group_tests(tests, open_context, close_context);
}
