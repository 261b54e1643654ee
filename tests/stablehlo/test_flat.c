// The flat form of a module: as bytes and back it is the same; bytes that are damaged are refused, or make a program or
// a refusal, and nothing else. The bytes stand in memory of their exact size, for AddressSanitizer.
#define _GNU_SOURCE
#include "core/driver/pipeline.h"
#include "core/frontend/flat.h"
#include "core/frontend/linalg/linalg.h"
#include "core/frontend/stablehlo/stablehlo.h"
#include "core/s1/control.h"
#include "core/s2/s2.h"
#include "core/s2/verify.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static const char text[] =
    "\"builtin.module\"() ({\n"
    "  \"func.func\"() <{function_type = (tensor<3x4xf32>, tensor<2xi64>) -> tensor<3xf32>, sym_name = \"main\"}> ({\n"
    "  ^bb0(%x: tensor<3x4xf32>, %i: tensor<2xi64>):\n"
    "    %c = \"stablehlo.constant\"() <{value = dense<[[1.0, 2.0, 3.0, 4.0]]> : tensor<1x4xf32>}> : () -> "
    "tensor<1x4xf32>\n"
    "    %b = \"stablehlo.broadcast_in_dim\"(%c) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x4xf32>) -> "
    "tensor<3x4xf32>\n"
    "    %s = \"stablehlo.add\"(%x, %b) : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>\n"
    "    %u = \"stablehlo.slice\"(%s) <{limit_indices = array<i64: 2, 4>, start_indices = array<i64: 0, 0>, strides = "
    "array<i64: 1, "
    "1>}> : (tensor<3x4xf32>) -> tensor<2x4xf32>\n"
    "    %j = \"stablehlo.reshape\"(%i) : (tensor<2xi64>) -> tensor<2x1xi64>\n"
    "    %g = \"stablehlo.scatter\"(%s, %j, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = "
    "[1], "
    "inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({\n"
    "    ^bb0(%p: tensor<f32>, %q: tensor<f32>):\n"
    "      %m = \"stablehlo.maximum\"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32>\n"
    "      \"stablehlo.return\"(%m) : (tensor<f32>) -> ()\n"
    "    }) : (tensor<3x4xf32>, tensor<2x1xi64>, tensor<2x4xf32>) -> tensor<3x4xf32>\n"
    "    %z = \"stablehlo.constant\"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>\n"
    "    %r = \"stablehlo.reduce\"(%g, %z) <{dimensions = array<i64: 1>}> ({\n"
    "    ^bb0(%p: tensor<f32>, %q: tensor<f32>):\n"
    "      %m = \"stablehlo.multiply\"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32>\n"
    "      \"stablehlo.return\"(%m) : (tensor<f32>) -> ()\n"
    "    }) : (tensor<3x4xf32>, tensor<f32>) -> tensor<3xf32>\n"
    "    \"func.return\"(%r) : (tensor<3xf32>) -> ()\n"
    "  }) : () -> ()\n"
    "}) : () -> ()\n";

static const char linalg_text[] =
    "#same = affine_map<(i, j) -> (i, j)>\n"
    "func.func @main(%x: tensor<3x4xf32>, %i: tensor<3xi64>) -> (tensor<3xf32>, tensor<3x5xf32>) {\n"
    "  %w = arith.constant dense_resource<weight> : tensor<4x2xf32>\n"
    "  %zero = arith.constant 0.0 : f32\n"
    "  %e = tensor.empty() : tensor<3x2xf32>\n"
    "  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<3x2xf32>) -> tensor<3x2xf32>\n"
    "  %y = linalg.matmul ins(%x, %w : tensor<3x4xf32>, tensor<4x2xf32>) outs(%f : tensor<3x2xf32>) -> "
    "tensor<3x2xf32>\n"
    "  %g = tensor.empty() : tensor<3x4xf32>\n"
    "  %s = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, #same], iterator_types = [\"parallel\", "
    "\"parallel\"]} ins(%i : tensor<3xi64>) outs(%g : tensor<3x4xf32>) {\n"
    "  ^bb0(%a: i64, %o: f32):\n"
    "    %p = arith.index_cast %a : i64 to index\n"
    "    %q = linalg.index 1 : index\n"
    "    %t = tensor.extract %x[%p, %q] : tensor<3x4xf32>\n"
    "    %u = arith.cmpf ugt, %t, %zero : f32\n"
    "    %v = arith.select %u, %t, %zero : f32\n"
    "    linalg.yield %v : f32\n"
    "  } -> tensor<3x4xf32>\n"
    "  %d = tensor.pad %s low[0, 1] high[0, 0] {\n"
    "  ^bb0(%k: index, %l: index):\n"
    "    tensor.yield %zero : f32\n"
    "  } : tensor<3x4xf32> to tensor<3x5xf32>\n"
    "  %c = tensor.extract_slice %y[0, 1] [3, 1] [1, 1] : tensor<3x2xf32> to tensor<3xf32>\n"
    "  %n = tensor.insert_slice %c into %d[0, 2] [3, 1] [1, 1] : tensor<3xf32> into tensor<3x5xf32>\n"
    "  %h = math.exp %c : tensor<3xf32>\n"
    "  %z0 = arith.constant 0 : index\n"
    "  %z1 = arith.constant 1 : index\n"
    "  %lim = tensor.extract %i[%z0] : tensor<3xi64>\n"
    "  %top = arith.index_cast %lim : i64 to index\n"
    "  %m = scf.for %k = %z0 to %top step %z1 iter_args(%old = %n) -> (tensor<3x5xf32>) {\n"
    "    %row = tensor.extract_slice %x[%k, 0] [1, 4] [1, 1] : tensor<3x4xf32> to tensor<4xf32>\n"
    "    %new = tensor.insert_slice %row into %old[%k, 1] [1, 4] [1, 1] : tensor<4xf32> into tensor<3x5xf32>\n"
    "    %one = tensor.insert %zero into %new[%k, %z1] : tensor<3x5xf32>\n"
    "    scf.yield %one : tensor<3x5xf32>\n"
    "  }\n"
    "  %yes = arith.cmpi slt, %top, %z1 : index\n"
    "  %res = scf.if %yes -> (tensor<3x5xf32>) {\n"
    "    scf.yield %n : tensor<3x5xf32>\n"
    "  } else {\n"
    "    scf.yield %m : tensor<3x5xf32>\n"
    "  }\n"
    "  return %h, %res : tensor<3xf32>, tensor<3x5xf32>\n"
    "}\n"
    "{-#\n  dialect_resources: { builtin: { weight: "
    "\"0x040000000000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F\" } }\n#-}\n";

// Of each language its text, and what makes a program of it.
typedef pb_status maker(const pb_flat* flat, const pb_input_options* inputs, pb_consts* consts, pb_diag* diag,
                        pb_s1* program);
typedef struct language {
  pb_flat_language is;
  const char* text;
  maker* make;
  const char* const* (*attributes)(pb_arena* arena);
} language;
static const language stablehlo = {PB_FLAT_STABLEHLO, text, pb_stablehlo_make, pb_stablehlo_attributes};
static const language linalg = {PB_FLAT_LINALG, linalg_text, pb_linalg_make, pb_linalg_attributes};

static void silent(void* user, bool error, int code, const char* message) {
  (void)error;
  (void)code;
  snprintf(user, 256, "%s", message);
}

static void parse(const language* l, pb_flat* flat) {
  char path[] = "flat-XXXXXX.mlir", why[256] = "";
  int file = mkstemps(path, 5);
  pb_arena names = {0};
  pb_diag diag = {.sink = silent, .user = why};
  assert_true(file >= 0 && write(file, l->text, strlen(l->text)) == (ssize_t)strlen(l->text));
  close(file);
  assert_int_equal(pb_flat_sniff(path), l->is);
  pb_status status = pb_flat_read(path, l->is, l->attributes(&names), &diag, flat);
  unlink(path);
  if (status != PB_OK) fail_msg("%s", why);
  flat->file = "model.mlir";
  // the names' arena stays: attributes point there no more, the bytes hold them
  pb_arena_free(&names);
}

// What is made of a flat form that is taken is a program in value form, whatever the damage.
static void judge(MlirContext context, const pb_s1* program, const pb_consts* consts) {
  char *ir = pb_s2_build(program, consts), why[256] = "";
  pb_diag diag = {.sink = silent, .user = why};
  MlirModule module = mlirModuleCreateParse(context, mlirStringRefCreateFromCString(ir));
  if (mlirModuleIsNull(module)) fail_msg("this is no IR:\n%s", ir);
  if (pb_s2_verify(module, "stablehlo", &diag) != PB_OK) fail_msg("%s\n%s", why, ir);
  mlirModuleDestroy(module);
  free(ir);
}

static pb_status make(const language* l, const pb_flat* flat, char* why, MlirContext context) {
  pb_consts consts = {0};
  pb_s1 program = {0};
  pb_diag diag = {.sink = silent, .user = why};
  pb_status status = l->make(flat, NULL, &consts, &diag, &program);
  bool whole = !pb_s1_has_control(&program);
  if (status == PB_OK && context.ptr && whole) judge(context, &program, &consts);
  if (status == PB_OK && !whole) { // its marks nest, and what is read is made before
    pb_segments parts = {0};
    pb_status parted = pb_s1_segments(&program, &diag, &parts);
    assert_true(parted == PB_OK || *why);
    pb_segments_free(&parts);
  }
  pb_s1_free(&program);
  pb_consts_free(&consts);
  return status;
}

static void comes_back_the_same(void** state) {
  const language* l = *state;
  pb_flat flat = {0}, again = {0};
  char why[256] = "";
  size_t bytes, second;
  parse(l, &flat);
  void* data = pb_flat_pack(&flat, &bytes);
  assert_true(pb_flat_unpack(data, bytes, &again));
  again.file = "model.mlir";
  void* more = pb_flat_pack(&again, &second);
  assert_int_equal(bytes, second);
  assert_memory_equal(data, more, bytes);
  MlirContext context = pb_context_create();
  if (make(l, &again, why, context) != PB_OK) fail_msg("%s", why);
  mlirContextDestroy(context);
  free(more);
  pb_flat_free(&again);
  pb_flat_free(&flat);
}

static uint64_t drawn(uint64_t* state) { // splitmix64
  uint64_t z = *state += 0x9E3779B97F4A7C15ull;
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ z >> 27) * 0x94D049BB133111EBull;
  return z ^ z >> 31;
}

static void damaged_bytes(void** state) {
  const language* l = *state;
  enum { MUTANTS = 12000 };
  pb_flat flat = {0};
  size_t bytes;
  uint64_t seed = 7;
  int taken = 0, refused = 0, made = 0;
  MlirContext context = pb_context_create();
  parse(l, &flat);
  char* data = pb_flat_pack(&flat, &bytes);
  for (int k = 0; k < MUTANTS; ++k) {
    size_t length = drawn(&seed) % 16 ? bytes : (size_t)(drawn(&seed) % bytes);
    char *copy = malloc(length + !length), why[256] = "";
    memcpy(copy, data, length);
    for (uint64_t n = 1 + drawn(&seed) % 3; n && length; --n) {
      size_t at = (size_t)(drawn(&seed) % length);
      uint64_t how = drawn(&seed);
      copy[at] = how % 3 == 0   ? (char)(copy[at] ^ 1 << how / 3 % 8)
                 : how % 3 == 1 ? (char)(how >> 8)
                                : (char)(copy[at] + 1);
    }
    pb_flat damaged = {0};
    if (pb_flat_unpack(copy, length, &damaged)) {
      ++taken;
      damaged.file = "model.mlir";
      made += make(l, &damaged, why, k % 4 ? (MlirContext){NULL} : context) == PB_OK;
    } else {
      ++refused;
      free(copy);
    }
    pb_flat_free(&damaged);
  }
  assert_true(refused > MUTANTS / 10 && taken > MUTANTS / 10 && made > 0 && made < taken);
  mlirContextDestroy(context);
  free(data);
  pb_flat_free(&flat);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test_prestate(comes_back_the_same, (void*)(uintptr_t)&stablehlo),
                                     cmocka_unit_test_prestate(damaged_bytes, (void*)(uintptr_t)&stablehlo),
                                     cmocka_unit_test_prestate(comes_back_the_same, (void*)(uintptr_t)&linalg),
                                     cmocka_unit_test_prestate(damaged_bytes, (void*)(uintptr_t)&linalg)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
