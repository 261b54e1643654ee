// Compiling models to engines from a program: libpb.so has this and pb/pb.h.
//
//     pb_compiler_option options[] = {{"target", "cpu"}, {"input-shape", "x=1x3x224x224"}};
//     pb_compiler_model model = {.name = "model.onnx", .options = options, .option_count = 2};
//     pb_compiler_result* result = pb_compiler_run(&model);
//     if (pb_compiler_engine(result, &bytes)) ...   // or pb_compiler_get_record(result, k), why not
//     pb_compiler_free(result);
//
// Any number of threads may compile at once.
#ifndef PB_COMPILER_H
#define PB_COMPILER_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// As pbc's --NAME=VALUE, dims that list values among them (pb_rt_choose chooses by them): target (NAME[:VARIANT] or
// FILE.td; there must be one), target-dir, input-shape, dim, weights and donate (any number of them), fallback,
// threads, plan, dump-intermediates; and explain (text, json or html), for which a text is made in place of an engine.
typedef struct pb_compiler_option {
  const char *name, *value;
} pb_compiler_option;

// An input that is a constant: what is made of it is made now. `data`: row-major, dense, little-endian, i1 a byte each.
typedef struct pb_compiler_tensor {
  const char* name;
  const char* type; // "f32", "i8", "u8", "i64", ... as pb_rt_tensor has them
  int rank;
  const int64_t* shape;
  const void* data;
} pb_compiler_tensor;

typedef struct pb_compiler_model {
  const char* name;  // its file; of a model in memory what diagnostics call it. .mlir at its end: text, else ONNX
  const void* bytes; // NULL: read the file
  uint64_t size;
  const pb_compiler_option* options;
  int option_count;
  const pb_compiler_tensor* bound;
  int bound_count;
} pb_compiler_model;

// An error or a warning. Texts are never NULL.
typedef struct pb_compiler_record {
  bool is_error;
  int code;          // 2019 for PB2019
  const char* file;  // "": none
  int line, column;  // 0: none
  const char* text;  // what is wrong
  const char* hint;  // what would be right, where that is known
  const char* whole; // as pbc prints it
} pb_compiler_record;

typedef struct pb_compiler_result pb_compiler_result;

// Compiles; nothing of the model is kept. Never NULL; the caller frees it.
pb_compiler_result* pb_compiler_run(const pb_compiler_model* model);
void pb_compiler_free(pb_compiler_result* result);

// The engine as a .pbe file has it, for pb_rt_load_bytes or to be written; NULL: there is none, and an error says why.
const void* pb_compiler_engine(const pb_compiler_result* result, uint64_t* bytes);
// What the option explain asked for, 0 at its end; NULL: there is none.
const char* pb_compiler_text(const pb_compiler_result* result);
int pb_compiler_record_count(const pb_compiler_result* result);
const pb_compiler_record* pb_compiler_get_record(const pb_compiler_result* result, int index);

#ifdef __cplusplus
}
#endif
#endif
