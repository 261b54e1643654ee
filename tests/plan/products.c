#include "products.h"

#include "core/poly/text.h"

#include <mlir-c/IR.h>
#include <stdlib.h>

static uint64_t state = 1;

void seed_draws(uint64_t seed) { state = seed; }

int64_t draw(int64_t least, int64_t most) { // splitmix64
  uint64_t z = state += 0x9E3779B97F4A7C15ull;
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ z >> 27) * 0x94D049BB133111EBull;
  return least + (int64_t)((z ^ z >> 31) % (uint64_t)(most - least + 1));
}

// rows x terms, in blocks of 16, times terms x columns, then codes again: as layout leaves them.
static const char codes[] =
    "module {\n"
    "func.func @k0(%x: memref<KxRx16xi8> {pb.input = \"\"}, %w: memref<NxKx16x16xi8> {pb.const = -1 : i64}, %b: "
    "memref<Nx16xi32> "
    "{pb.const = -1 : i64}, %m: memref<Nx16xf32> {pb.const = -1 : i64}, %y: memref<NxRx16xi8> {pb.output = \"\"}) "
    "attributes {pb.kernel} {\n"
    "  %s = memref.alloc() : memref<NxRx16xi32>\n"
    "  affine.for %n = 0 to N { affine.for %r = 0 to R { affine.for %l = 0 to 16 {\n"
    "    %z = arith.constant 0 : i32\n"
    "    affine.store %z, %s[%n, %r, %l] : memref<NxRx16xi32> } } } {pb.nest = \"p\", pb.part = \"init\"}\n"
    "  affine.for %n = 0 to N { affine.for %r = 0 to R { affine.for %l = 0 to 16 {\n"
    "  affine.for %k = 0 to K { affine.for %t = 0 to 16 {\n"
    "    %0 = affine.load %x[%k, %r, %t] : memref<KxRx16xi8>\n"
    "    %1 = affine.load %w[%n, %k, %t, %l] : memref<NxKx16x16xi8>\n"
    "    %2 = affine.load %s[%n, %r, %l] : memref<NxRx16xi32>\n"
    "    %3 = arith.extsi %0 : i8 to i32\n"
    "    %4 = arith.extsi %1 : i8 to i32\n"
    "    %5 = arith.muli %3, %4 : i32\n"
    "    %6 = arith.addi %2, %5 : i32\n"
    "    affine.store %6, %s[%n, %r, %l] : memref<NxRx16xi32> } } } } } {pb.nest = \"p\", pb.part = \"reduce\"}\n"
    "  affine.for %n = 0 to N { affine.for %r = 0 to R { affine.for %l = 0 to 16 {\n"
    "    %zero = arith.constant 3.0 : f32\n"
    "    %least = arith.constant -128.0 : f32\n"
    "    %most = arith.constant 127.0 : f32\n"
    "    %0 = affine.load %s[%n, %r, %l] : memref<NxRx16xi32>\n"
    "    %1 = affine.load %b[%n, %l] : memref<Nx16xi32>\n"
    "    %2 = affine.load %m[%n, %l] : memref<Nx16xf32>\n"
    "    %3 = arith.addi %0, %1 : i32\n"
    "    %4 = arith.sitofp %3 : i32 to f32\n"
    "    %5 = arith.mulf %4, %2 : f32\n"
    "    %6 = math.roundeven %5 : f32\n"
    "    %7 = arith.addf %6, %zero : f32\n"
    "    %8 = arith.maxnumf %7, %least : f32\n"
    "    %9 = arith.minnumf %8, %most : f32\n"
    "    %10 = arith.fptosi %9 : f32 to i8\n"
    "    affine.store %10, %y[%n, %r, %l] : memref<NxRx16xi8> } } } {pb.nest = \"p\", pb.part = \"point\"}\n"
    "  memref.dealloc %s : memref<NxRx16xi32>\n"
    "  return\n}\n}\n";

// rows x terms times terms x columns in blocks of 8.
static const char floats[] =
    "module {\n"
    "func.func @k0(%y: memref<NxRx8xf32> {pb.output = \"\"}, %x: memref<RxKxf32> {pb.input = \"\"}, %w: "
    "memref<NxKx8xf32> {pb.const = -1 : i64}) attributes {pb.kernel} {\n"
    "  affine.for %n = 0 to N { affine.for %r = 0 to R { affine.for %l = 0 to 8 {\n"
    "    %z = arith.constant 0.0 : f32\n"
    "    affine.store %z, %y[%n, %r, %l] : memref<NxRx8xf32> } } } {pb.nest = \"p\", pb.part = \"init\"}\n"
    "  affine.for %n = 0 to N { affine.for %r = 0 to R { affine.for %l = 0 to 8 { affine.for %k = 0 to K {\n"
    "    %0 = affine.load %x[%r, %k] : memref<RxKxf32>\n"
    "    %1 = affine.load %w[%n, %k, %l] : memref<NxKx8xf32>\n"
    "    %2 = arith.mulf %0, %1 : f32\n"
    "    %3 = affine.load %y[%n, %r, %l] : memref<NxRx8xf32>\n"
    "    %4 = arith.addf %3, %2 : f32\n"
    "    affine.store %4, %y[%n, %r, %l] : memref<NxRx8xf32> } } } } {pb.nest = \"p\", pb.part = \"reduce\"}\n"
    "  return\n}\n}\n";

// A window of 3 x 3 over an image that lies inside its padding, P pixels a side; T terms are channels times the window.
static const char window[] =
    "module {\n"
    "func.func @k0(%y: memref<NxRxRx8xf32> {pb.output = \"\"}, %x: memref<KxPxPx8xf32> {pb.input = \"\"}, %w: "
    "memref<NxTx8xf32> {pb.const = -1 : i64}) attributes {pb.kernel} {\n"
    "  affine.for %n = 0 to N { affine.for %r = 0 to R { affine.for %c = 0 to R { affine.for %l = 0 to 8 {\n"
    "    %z = arith.constant 0.0 : f32\n"
    "    affine.store %z, %y[%n, %r, %c, %l] : memref<NxRxRx8xf32> } } } } {pb.nest = \"p\", pb.part = \"init\"}\n"
    "  affine.for %n = 0 to N { affine.for %r = 0 to R { affine.for %c = 0 to R { affine.for %l = 0 to 8 {\n"
    "  affine.for %k = 0 to K { affine.for %i = 0 to 3 { affine.for %j = 0 to 3 { affine.for %t = 0 to 8 {\n"
    "    %0 = affine.load %x[%k, %r + %i, %c + %j, %t] : memref<KxPxPx8xf32>\n"
    "    %1 = affine.load %w[%n, %k * 72 + %i * 24 + %j * 8 + %t, %l] : memref<NxTx8xf32>\n"
    "    %2 = arith.mulf %0, %1 : f32\n"
    "    %3 = affine.load %y[%n, %r, %c, %l] : memref<NxRxRx8xf32>\n"
    "    %4 = arith.addf %3, %2 : f32\n"
    "    affine.store %4, %y[%n, %r, %c, %l] : memref<NxRxRx8xf32>\n"
    "  } } } } } } } } {pb.nest = \"p\", pb.part = \"reduce\"}\n"
    "  return\n}\n}\n";

static const char points[] =
    "module {\n"
    "func.func @k0(%y: memref<NxRx8xf32> {pb.output = \"\"}, %x: memref<NxRx8xf32> {pb.input = \"\"}, %v: "
    "memref<RxNx8xf32> {pb.input = \"\"}) attributes {pb.kernel} {\n"
    "  affine.for %n = 0 to N { affine.for %r = 0 to R { affine.for %l = 0 to 8 {\n"
    "    %0 = affine.load %x[%n, %r, %l] : memref<NxRx8xf32>\n"
    "    %1 = affine.load %v[%r, %n, %l] : memref<RxNx8xf32>\n"
    "    %2 = arith.addf %0, %1 : f32\n"
    "    affine.store %2, %y[%n, %r, %l] : memref<NxRx8xf32> } } } {pb.nest = \"p\", pb.part = \"point\"}\n"
    "  return\n}\n}\n";

char* kernel_text(int form, int64_t rows, int64_t terms, int64_t blocks) {
  static const char* const forms[] = {
      [FORM_CODES] = codes, [FORM_FLOATS] = floats, [FORM_WINDOW] = window, [FORM_POINTS] = points};
  pb_text text = {0};
  for (const char* at = forms[form]; *at; ++at) {
    int64_t number = *at == 'R'   ? rows
                     : *at == 'K' ? terms
                     : *at == 'N' ? blocks
                     : *at == 'P' ? rows + 2
                     : *at == 'T' ? terms * 72
                                  : 0;
    if (number)
      pb_text_add(&text, "%lld", (long long)number);
    else
      pb_text_add(&text, "%c", *at);
  }
  return text.data;
}

bool plan_kernel(MlirContext context, const pb_chip* chip, pb_diag* diag, char* text, kernel* k) {
  *k = (kernel){.unit = {.context = context, .chip = chip, .diag = diag}};
  k->unit.module = mlirModuleCreateParse(context, mlirStringRefCreateFromCString(text));
  free(text);
  if (mlirModuleIsNull(k->unit.module)) return false;
  return pb_program_read(pb_module_func(k->unit.module, "k0"), &k->unit.arena, diag, &k->program) == PB_OK &&
         pb_group_read(&k->program, chip, &k->unit.arena, diag, &k->group) == PB_OK &&
         pb_plan_make(chip, &k->group, &k->unit.arena, diag, &k->plan) == PB_OK;
}

void free_kernel(kernel* k) {
  if (!mlirModuleIsNull(k->unit.module)) mlirModuleDestroy(k->unit.module);
  pb_arena_free(&k->unit.arena);
  pb_arena_free(&k->unit.pass);
}
