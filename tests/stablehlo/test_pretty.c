// StableHLO's own form: what becomes of it, where it comes from, and what is said of what is wrong in it. That every
// operator's form is the one that StableHLO prints is tests/python/test_own_form.py's, by StableHLO itself.
#include "core/frontend/stablehlo/pretty/pretty.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void keep(void* user, bool error, int code, const char* text) {
  assert_true(error);
  assert_true(code == 2107);
  snprintf(user, 512, "%s", text);
}

static pb_status made_of(const char* text, pb_pretty* pretty, char* why) {
  pb_diag diag = {.sink = keep, .user = why};
  // memory that ends where the text does
  size_t length = strlen(text);
  char* copy = malloc(length + 1);
  memcpy(copy, text, length + 1);
  pb_status status = pb_pretty_read(copy, length, "m.mlir", &diag, pretty);
  free(copy);
  return status;
}

static void what_is_generic_stays(void** state) {
  static const char* const texts[] = {
      "", "\n", "// nothing\n", "\"builtin.module\"() ({\n}) : () -> ()\n",
      "#loc = loc(\"a.py\":1:2)\n#a = 1 : i32\n\"builtin.module\"() ({\n}) : () -> ()\n"};
  (void)state;
  for (size_t k = 0; k < sizeof texts / sizeof *texts; ++k) {
    pb_pretty pretty = {0};
    char why[512] = "";
    if (made_of(texts[k], &pretty, why) != PB_OK) fail_msg("%s", why);
    assert_int_equal(pretty.text.length, 0);
    pb_pretty_free(&pretty);
  }
}

static void becomes(void** state) {
  static const struct {
    const char *own, *generic;
  } texts[] = {// codes, types' aliases, and generic operations among the others
               {"!t = tensor<2x!quant.uniform<i8<-127:127>:f32:0, {0.1,0.2:-3}>>\n%0 = stablehlo.add %a, %b : !t",
                "!t = tensor<2x!quant.uniform<i8<-127:127>:f32:0, {0.1,0.2:-3}>>\n"
                "%0 = \"stablehlo.add\"(%a, %b) : (!t, !t) -> (!t)\n"},
               {"return\nfunc.return %0 : i32", "\"func.return\"() : () -> ()\n\"func.return\"(%0) : (i32) -> ()\n"},
               // locations are left out, wherever they stand
               {"%0 = stablehlo.abs %a : tensor<f32> loc(\"x\"(\"a.py\":1:2))\n#loc = loc(unknown)",
                "%0 = \"stablehlo.abs\"(%a) : (tensor<f32>) -> (tensor<f32>)\n"},
               {"func.func private @f(tensor<f32> {a = \"}\"} loc(unknown)) -> (tensor<f32> {b}) attributes {c}",
                "\"func.func\"() <{arg_attrs = [{a = \"}\"}], res_attrs = [{b}], function_type = (tensor<f32>) -> "
                "(tensor<f32>), "
                "sym_name = \"f\", sym_visibility = \"private\"}> ({}) {c} : () -> ()\n"},
               // an operation that is generic but for its name
               {"%0 = stablehlo.constant() <{value = dense<1.0> : tensor<f32>}> : () -> tensor<*xf32>",
                "%0 = \"stablehlo.constant\"() <{value = dense<1.0> : tensor<f32>}> : () -> tensor<*xf32>\n"},
               // what XLA leaves of its own
               {"%0 = mhlo.erf %a : tensor<f32>", "%0 = \"chlo.erf\"(%a) : (tensor<f32>) -> (tensor<f32>)\n"},
               {"%0:2 = mhlo.topk(%a, k = 8, largest = true) : tensor<9xf32> -> (tensor<8xf32>, tensor<8xi32>)",
                "%0:2 = \"chlo.top_k\"(%a) {k = 8 : i64} : (tensor<9xf32>) -> (tensor<8xf32>, tensor<8xi32>)\n"},
               // windows with numbers for truths, and without edges
               {"%0 = stablehlo.convolution(%a, %b) dim_numbers = [b, f]x[i, o]->[b, f], window = {reverse = [1, 0], "
                "pad = []} : "
                "(a, b) -> c",
                "%0 = \"stablehlo.convolution\"(%a, %b) {dimension_numbers = #stablehlo.conv<[b, f]x[i, o]->[b, f]>, "
                "window_reversal = array<i1: true, false>, padding = dense<> : tensor<0x2xi64>} : (a, b) -> (c)\n"},
               // a bound is none of the elements' type
               {"%0 = stablehlo.reduce(%a init: %b) applies stablehlo.or across dimensions = [] : "
                "(tensor<?x2xi1, #stablehlo.bounds<4, ?>>, tensor<i1>) -> tensor<i1>",
                "%0 = \"stablehlo.reduce\"(%a, %b) ({\n^pb0(%pb.a0: tensor<i1>, %pb.b0: tensor<i1>):\n"
                "%pb.r0 = \"stablehlo.or\"(%pb.a0, %pb.b0) : (tensor<i1>, tensor<i1>) -> tensor<i1>\n"
                "\"stablehlo.return\"(%pb.r0) : (tensor<i1>) -> ()\n}) {dimensions = array<i64>} : "
                "(tensor<?x2xi1, #stablehlo.bounds<4, ?>>, tensor<i1>) -> (tensor<i1>)\n"}};
  (void)state;
  for (size_t k = 0; k < sizeof texts / sizeof *texts; ++k) {
    pb_pretty pretty = {0};
    char why[512] = "";
    if (made_of(texts[k].own, &pretty, why) != PB_OK) fail_msg("%s", why);
    assert_string_equal(pretty.text.data, texts[k].generic);
    pb_pretty_free(&pretty);
  }
}

static void says_what_is_wrong(void** state) {
  static const struct {
    const char *text, *why;
  } texts[] = {
      {"module {", "m.mlir:1:9: error: expected '}', and here is the end of the text [PB2107]"},
      {"module {\n  %0 = stablehlo.abs\n}", "m.mlir:3:1: error: expected a value, as %0, not '}' [PB2107]"},
      {"%0 = stablehlo.abs %a, %b : tensor<f32>", "m.mlir:1:22: error: expected ':', not ',' [PB2107]"},
      {"%0 = stablehlo.abs %a : tensor<f32", "m.mlir:1:31: error: a bracket that is not closed [PB2107]"},
      {"%0 = stablehlo.abs %a : tensor<f32)>", "m.mlir:1:35: error: ')' where '>' is expected [PB2107]"},
      {"%0 = stablehlo.abs %a : 3", "m.mlir:1:25: error: expected a type, not '3' [PB2107]"},
      {"\n%0 = stablehlo.absolute %a : tensor<f32>", "m.mlir:2:6: error: operator 'stablehlo.absolute' is not read in "
                                                     "its own form, only in the generic one [PB2107]"},
      {"%0 = stablehlo.slice %a [0:1:] : (a) -> b", "m.mlir:1:30: error: expected an integer, not ']' [PB2107]"},
      {"%0 = stablehlo.reshape %a : a", "m.mlir:1:29: error: expected '(', not 'a' [PB2107]"},
      {"%0 = stablehlo.iota dimension = 0 : a", "m.mlir:1:21: error: expected 'dim', not 'dimension' [PB2107]"},
      {"%0 = stablehlo.constant dense<1.0>", "m.mlir:1:35: error: expected ':' and the type of the value [PB2107]"},
      {"%0 = stablehlo.compare LT, %a, %b SIGNED : (a, a) -> b",
       "m.mlir:1:35: error: expected ':', not 'SIGNED' [PB2107]"},
      {"%0 = stablehlo.complex %a, %b : tensor<f32>",
       "m.mlir:1:33: error: expected a tensor of complex numbers [PB2107]"},
      {"%0 = stablehlo.reduce_precision %a, format = e5 : a",
       "m.mlir:1:46: error: expected bits of exponent and mantissa, as e5m10 [PB2107]"},
      {"%0 = stablehlo.cholesky %a, lower = yes : a", "m.mlir:1:37: error: expected true or false [PB2107]"},
      {"%0 = stablehlo.convolution(%a, %b) dim_numbers = [b]x[i]->[b], window = {strides = [1]} : (a, b) -> c",
       "m.mlir:1:74: error: expected stride, pad, lhs_dilate, rhs_dilate or reverse, not 'strides' [PB2107]"},
      {"%0 = stablehlo.dot_general %a, %b, contracting_dims = [1] by [0] : (a, b) -> c",
       "m.mlir:1:59: error: expected 'x', not 'by' [PB2107]"},
      {"%0 = stablehlo.while(%a = %b) : t, t cond {} do {}", "m.mlir:1:31: error: 2 types for 1 values [PB2107]"},
      {"%0 = stablehlo.reduce(%a init %b) across dimensions = [0] : (a) -> b",
       "m.mlir:1:31: error: expected ':', not '%' [PB2107]"},
      {"%0 = stablehlo.custom_call @\"f(%a) : (a) -> b", "m.mlir:1:29: error: a text that does not end [PB2107]"},
      {"%0 = mhlo.topk(%a, k = 8, largest = false) : a -> b",
       "m.mlir:1:37: error: expected 'true', not 'false' [PB2107]"},
      {"func.func @f(a, b) { return }", "m.mlir:1:20: error: arguments without names in front of a body [PB2107]"},
      {"%0 = sdy.propagation_barrier %a allowed_direction=UP : a",
       "m.mlir:1:51: error: expected NONE, FORWARD, BACKWARD or BOTH [PB2107]"}};
  (void)state;
  for (size_t k = 0; k < sizeof texts / sizeof *texts; ++k) {
    pb_pretty pretty = {0};
    char why[512] = "";
    assert_int_equal(made_of(texts[k].text, &pretty, why), PB_ERR_INPUT);
    assert_string_equal(why, texts[k].why);
    pb_pretty_free(&pretty);
  }
}

static void regions_have_an_end(void** state) {
  enum { DEEP = 5000 };
  static const char open[] = "module {\n";
  (void)state;
  pb_text text = {0};
  pb_pretty pretty = {0};
  char why[512] = "";
  for (int k = 0; k < DEEP; ++k) pb_text_add(&text, "%s", open);
  assert_int_equal(made_of(text.data, &pretty, why), PB_ERR_INPUT);
  assert_non_null(strstr(why, "regions inside each other deeper than 80"));
  pb_pretty_free(&pretty);
  pb_text_free(&text);
}

// Every byte of a value or a type stands where its place says.
static void places_are_the_texts(void** state) {
  static const char own[] = "module @m {\n  func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {\n"
                            "    %y = stablehlo.add %x, %x : tensor<2xf32>\n    return %y : tensor<2xf32>\n  }\n}\n";
  pb_pretty pretty = {0};
  char why[512] = "";
  int line = 1, column = 1, seen = 0;
  (void)state;
  if (made_of(own, &pretty, why) != PB_OK) fail_msg("%s", why);
  for (const char* c = pretty.text.data; *c; ++c) {
    int own_line = line, own_column = column;
    pb_pretty_place(&pretty, &own_line, &own_column);
    const char* there = own;
    for (int k = 1; k < own_line; ++k) there = strchr(there, '\n') + 1;
    there += own_column - 1;
    if (*c == '%' || !strncmp(c, "tensor<", 7)) {
      assert_memory_equal(c, there, 2);
      ++seen;
    }
    if (!strncmp(c, "\"stablehlo.add\"", 15)) {
      assert_int_equal(own_line, 3);
      assert_int_equal(own_column, 10);
      ++seen;
    }
    column = *c == '\n' ? 1 : column + 1;
    line += *c == '\n';
  }
  assert_int_equal(seen, 13);
  pb_pretty_free(&pretty);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_generic_stays), cmocka_unit_test(becomes),
                                     cmocka_unit_test(says_what_is_wrong), cmocka_unit_test(regions_have_an_end),
                                     cmocka_unit_test(places_are_the_texts)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
