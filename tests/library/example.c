// A product whose weights the program has, compiled from a text in memory: two threads with weights of their own. Then
// what is wrong, as records. Usage: example [MODEL.onnx TARGET], which is read into memory, compiled and run on zeros.
#include <pb/compiler.h>
#include <pb/pb.h>

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char text[] =
    "\"builtin.module\"() ({\n"
    "  \"func.func\"() <{function_type = (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>, sym_name = \"main\"}> "
    "({\n"
    "  ^bb0(%x: tensor<2x3xf32>, %w: tensor<3x4xf32>):\n"
    "    %y = \"stablehlo.dot_general\"(%x, %w) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = "
    "[1],"
    " rhs_contracting_dimensions = [0]>}> : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>\n"
    "    \"func.return\"(%y) : (tensor<2x4xf32>) -> ()\n"
    "  }) : () -> ()\n"
    "}) : () -> ()\n";

static const int64_t weight_shape[] = {3, 4};

static pb_compiler_result* compile_product(const pb_compiler_tensor* weights, const char* option) {
  pb_compiler_option options[] = {{option, "cpu"}, {"threads", "1"}};
  pb_compiler_model model = {.name = "product.mlir", .bytes = text, .size = sizeof text - 1, .options = options};
  model.option_count = 2;
  model.bound = weights;
  model.bound_count = weights ? 1 : 0;
  return pb_compiler_run(&model);
}

static bool is_right(const float* w, const float* x, const float* y) {
  for (int m = 0; m < 2; ++m)
    for (int n = 0; n < 4; ++n) {
      float sum = 0;
      for (int k = 0; k < 3; ++k) sum += x[3 * m + k] * w[4 * k + n];
      if (!(fabsf(sum - y[4 * m + n]) <= 1e-5f)) return false;
    }
  return true;
}

// A thread's own weights, compiler, engine and run. NULL: it went well.
static void* work(void* which) {
  float first = *(const float*)which, w[12], x[6], y[8] = {0};
  for (int k = 0; k < 12; ++k) w[k] = first + (float)(k % 5);
  for (int k = 0; k < 6; ++k) x[k] = (float)k - 2;
  pb_compiler_tensor weights = {.name = "arg1", .type = "f32", .rank = 2, .shape = weight_shape, .data = w};
  for (int turn = 0; turn < 3; ++turn) {
    pb_compiler_result* result = compile_product(&weights, "target");
    uint64_t bytes;
    const void* engine = pb_compiler_engine(result, &bytes);
    for (int k = 0; k < pb_compiler_record_count(result); ++k) puts(pb_compiler_get_record(result, k)->whole);
    pb_rt* rt = NULL;
    bool failed = !engine || pb_rt_load_bytes(engine, bytes, 0, &rt);
    pb_compiler_free(result); // the runtime has a copy
    const void* inputs[] = {x};
    void* outputs[] = {y};
    failed = failed || pb_rt_input_count(rt) != 1 || pb_rt_run(rt, inputs, outputs) || !is_right(w, x, y);
    if (failed) fprintf(stderr, "weights from %g: wrong, or not run: %s\n", (double)first, pb_rt_error());
    pb_rt_free(rt);
    if (failed) return which;
  }
  return NULL;
}

static int expect(const char* what, pb_compiler_result* result, int code, const char* words, const char* file) {
  bool found = false;
  for (int k = 0; k < pb_compiler_record_count(result); ++k) {
    const pb_compiler_record* r = pb_compiler_get_record(result, k);
    found |=
        r->is_error && r->code == code && !strcmp(r->file, file) && (strstr(r->text, words) || strstr(r->hint, words));
  }
  found &= !pb_compiler_engine(result, NULL);
  for (int k = 0; k < pb_compiler_record_count(result) && !found; ++k)
    fprintf(stderr, "%s: %s\n", what, pb_compiler_get_record(result, k)->whole);
  pb_compiler_free(result);
  if (!found) fprintf(stderr, "%s: no record PB%04d of %s with '%s'\n", what, code, file, words);
  return !found;
}

static int refusals(void) {
  static const float w[12];
  static const int64_t turned[] = {4, 3};
  pb_compiler_tensor name = {.name = "weights", .type = "f32", .rank = 2, .shape = weight_shape, .data = w};
  pb_compiler_tensor shape = name, type = name, word = name;
  shape.name = type.name = word.name = "arg1";
  shape.shape = turned;
  type.type = "f64";
  word.type = "float";
  pb_compiler_model no_text = {.name = "damaged.mlir", .bytes = "module {\n  oops\n}\n", .size = 18};
  pb_compiler_option target = {"target", "cpu"};
  no_text.options = &target;
  no_text.option_count = 1;
  pb_compiler_model no_file = no_text, no_onnx = no_text;
  no_file.bytes = NULL;
  no_file.name = "absent.onnx";
  no_onnx.name = "damaged.onnx";
  no_onnx.bytes = "\x08\x09\x3a\xff";
  no_onnx.size = 4;
  int wrong =
      expect("a wrong name", compile_product(&name, "target"), 2014, "no input is named 'weights'", "product.mlir");
  wrong += expect("a wrong shape", compile_product(&shape, "target"), 2019,
                  "is of shape 3x4, and what is bound to it of 4x3", "product.mlir");
  wrong += expect("a wrong type", compile_product(&type, "target"), 2019, "is of f32, and what is bound to it of f64",
                  "product.mlir");
  wrong += expect("no type", compile_product(&word, "target"), 1004, "no type 'float'", "");
  wrong += expect("a wrong option", compile_product(NULL, "targets"), 1002, "perhaps target", "");
  wrong += expect("a damaged text", pb_compiler_run(&no_text), 2107, "operator 'oops' is not read", "damaged.mlir");
  pb_compiler_option dims[] = {{"target", "cpu"}, {"dim", "batch=2"}}, valueless = {"target", NULL};
  pb_compiler_model no_value = no_text;
  no_value.options = &valueless;
  wrong += expect("an option without a value", pb_compiler_run(&no_value), 1002, "'target' has no value", "");
  pb_compiler_option files[] = {{"target", "cpu"}, {"weights", "absent.st"}};
  pb_compiler_model no_dim = {.name = "product.mlir", .bytes = text, .size = sizeof text - 1, .option_count = 2};
  pb_compiler_model no_weights = no_dim;
  no_dim.options = dims;
  no_weights.options = files;
  pb_compiler_tensor code = shape;
  code.type = "f8E5M2";
  wrong += expect("a code for a number", compile_product(&code, "target"), 2019, "what is bound to it of f8E5M2",
                  "product.mlir");
  wrong += expect("a wrong dim", pb_compiler_run(&no_dim), 2026, "no dim is named 'batch'", "product.mlir");
  wrong += expect("absent weights", pb_compiler_run(&no_weights), 1001, "cannot be read", "absent.st");
  wrong += expect("an absent file", pb_compiler_run(&no_file), 1001, "cannot be read", "absent.onnx");
  wrong += expect("a damaged model", pb_compiler_run(&no_onnx), 2010, "no ONNX model", "damaged.onnx");
  return wrong;
}

// A text in place of an engine.
static int explanation(void) {
  pb_compiler_option options[] = {{"target", "cpu"}, {"explain", "text"}};
  pb_compiler_model model = {.name = "product.mlir", .bytes = text, .size = sizeof text - 1, .options = options};
  model.option_count = 2;
  pb_compiler_result* result = pb_compiler_run(&model);
  const char* said = pb_compiler_text(result);
  int wrong = !said || !strstr(said, "dot_general") || pb_compiler_engine(result, NULL) != NULL;
  if (wrong) fprintf(stderr, "an explanation: %s\n", said ? said : "none");
  pb_compiler_free(result);
  options[1].value = "pdf";
  return wrong + expect("an explanation of no kind", pb_compiler_run(&model), 1006, "text, json, html", "");
}

static void* read_file(const char* path, uint64_t* bytes) {
  FILE* file = fopen(path, "rb");
  if (!file || fseek(file, 0, SEEK_END)) return NULL;
  long size = ftell(file);
  rewind(file);
  void* data = malloc((size_t)size + 1);
  *bytes = data ? fread(data, 1, (size_t)size, file) : 0;
  fclose(file);
  return data;
}

static int run_model(const char* path, const char* target) {
  pb_compiler_option option = {"target", target};
  pb_compiler_model model = {.name = path, .options = &option, .option_count = 1};
  void* data = read_file(path, &model.size);
  model.bytes = data;
  pb_compiler_result* result = pb_compiler_run(&model);
  uint64_t bytes;
  const void* engine = pb_compiler_engine(result, &bytes);
  pb_rt* rt = NULL;
  pb_rt_add_machine();
  int failed = !engine || pb_rt_load_bytes(engine, bytes, 0, &rt);
  if (!failed) {
    void *in = calloc(1, pb_rt_input(rt, 0)->bytes), *out = calloc(1, pb_rt_output(rt, 0)->bytes);
    failed = pb_rt_run(rt, (const void* const[]){in}, (void* const[]){out});
    printf("%s on %s: %s[0] is %g\n", path, pb_rt_target(rt), pb_rt_output(rt, 0)->name, (double)*(float*)out);
    free(in);
    free(out);
  }
  for (int k = 0; k < pb_compiler_record_count(result); ++k) puts(pb_compiler_get_record(result, k)->whole);
  if (failed) fprintf(stderr, "%s\n", pb_rt_error());
  pb_rt_free(rt);
  pb_compiler_free(result);
  free(data);
  return failed;
}

int main(int argc, char** argv) {
  if (argc == 3) return run_model(argv[1], argv[2]);
  float first[2] = {1, -3};
  pthread_t threads[2];
  int wrong = 0;
  for (int k = 0; k < 2; ++k) pthread_create(&threads[k], NULL, work, &first[k]);
  for (int k = 0; k < 2; ++k) {
    void* failed;
    pthread_join(threads[k], &failed);
    wrong += failed != NULL;
  }
  wrong += refusals() + explanation();
  printf("two threads, eleven refusals: %d wrong\n", wrong);
  return wrong != 0;
}
