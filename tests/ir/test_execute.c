#include "core/driver/pipeline.h"
#include "core/ir/execute.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void keep(void* user, bool error, int code, const char* text) {
  (void)error;
  print_message("%s\n", text);
  *(int*)user = code;
}

static pb_status execute(const char* text, const char* function, void** buffers, int count, int* code) {
  pb_diag diag = {.sink = keep, .user = code};
  MlirContext context = pb_context_create();
  MlirModule module = mlirModuleCreateParse(context, mlirStringRefCreateFromCString(text));
  assert_false(mlirModuleIsNull(module));
  pb_status status = pb_ir_execute(module, function, buffers, count, &diag);
  mlirModuleDestroy(module);
  mlirContextDestroy(context);
  return status;
}

// A transpose through a buffer: strides and offsets of both arguments count.
static const char transpose[] = "func.func @main(%x: memref<2x3xi32>, %y: memref<3x2xi32>) {\n"
                                "  %t = memref.alloc() : memref<3x2xi32>\n"
                                "  affine.for %i = 0 to 3 { affine.for %j = 0 to 2 {\n"
                                "    %v = affine.load %x[%j, %i] : memref<2x3xi32>\n"
                                "    affine.store %v, %t[%i, %j] : memref<3x2xi32> } }\n"
                                "  affine.for %i = 0 to 3 { affine.for %j = 0 to 2 {\n"
                                "    %v = affine.load %t[%i, %j] : memref<3x2xi32>\n"
                                "    %w = arith.addi %v, %v : i32\n"
                                "    affine.store %w, %y[%i, %j] : memref<3x2xi32> } }\n"
                                "  return\n}\n";

static void test_transpose(void** state) {
  (void)state;
  int32_t x[2][3] = {{1, 2, 3}, {4, 5, 6}}, y[3][2] = {{0}};
  static const int32_t expected[3][2] = {{2, 8}, {4, 10}, {6, 12}};
  int code = 0;
  assert_int_equal(execute(transpose, "main", (void*[]){x, y}, 2, &code), PB_OK);
  assert_memory_equal(y, expected, sizeof y);
}

// Ties go to even; the product is rounded before the sum.
static void test_rounding(void** state) {
  (void)state;
  static const char text[] = "func.func @main(%x: memref<4xf32>, %y: memref<4xi8>) {\n"
                             "  affine.for %i = 0 to 4 {\n"
                             "    %v = affine.load %x[%i] : memref<4xf32>\n"
                             "    %r = math.roundeven %v : f32\n"
                             "    %hi = arith.constant 127.0 : f32\n"
                             "    %c = arith.minnumf %r, %hi : f32\n"
                             "    %b = arith.fptosi %c : f32 to i8\n"
                             "    affine.store %b, %y[%i] : memref<4xi8> }\n"
                             "  return\n}\n";
  float x[4] = {0.5f, 1.5f, -2.5f, 300.0f};
  int8_t y[4];
  static const int8_t expected[4] = {0, 2, -2, 127};
  int code = 0;
  assert_int_equal(execute(text, "main", (void*[]){x, y}, 2, &code), PB_OK);
  assert_memory_equal(y, expected, sizeof y);
}

static void test_refusals(void** state) {
  (void)state;
  static const char dynamic[] = "func.func @main(%x: memref<?xi8>) { return }";
  void* none[2] = {0};
  int code = 0;
  assert_int_equal(execute(transpose, "other", none, 2, &code), PB_ERR_INPUT);
  assert_int_equal(code, 2002);
  code = 0;
  assert_int_equal(execute(transpose, "main", none, 1, &code), PB_ERR_INPUT);
  assert_int_equal(code, 2002);
  code = 0;
  assert_int_equal(execute(dynamic, "main", none, 1, &code), PB_ERR_INPUT);
  assert_int_equal(code, 2002);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_transpose), cmocka_unit_test(test_rounding),
                                     cmocka_unit_test(test_refusals)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
