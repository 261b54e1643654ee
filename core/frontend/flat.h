// MLIR text as a front end sees it: functions of single blocks, operations by name, attributes by kind, types that are
// known or their text. No MLIR here: what reads the text may be another process.
#ifndef PB_FRONTEND_FLAT_H
#define PB_FRONTEND_FLAT_H

#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/base/expr.h"

#include <stdbool.h>
#include <stdint.h>

enum { PB_FLAT_RANK = 8 };

// A tensor of numbers with all its extents; anything else has its text alone, `type` PB_TYPE_COUNT.
typedef struct pb_flat_type {
  pb_type type;
  bool is_complex; // of two of `type`
  int rank;
  int64_t shape[PB_FLAT_RANK];
  const char* text; // as MLIR prints it
} pb_flat_type;

typedef enum pb_flat_kind { PB_FLAT_INT, PB_FLAT_INTS, PB_FLAT_TEXT, PB_FLAT_TENSOR } pb_flat_kind;
typedef struct pb_flat_attr {
  const char* name;
  pb_flat_kind kind;
  int64_t i; // booleans too
  int count; // INTS: arrays, and tensors of integers of rank 1 and 2
  const int64_t* ints;
  const char* text;  // all but TENSOR: as MLIR prints it; strings and symbols alone
  pb_flat_type type; // TENSOR
  const void* bytes; // its elements, dense, truths a byte each
} pb_flat_attr;

typedef struct pb_flat_op pb_flat_op;
typedef struct pb_flat_block {
  int argument_count, op_count;
  const int* arguments; // values
  const pb_flat_op* ops;
} pb_flat_block;

struct pb_flat_op {
  const char* name;
  int line, column;
  int operand_count, result_count, attr_count, region_count;
  const int *operands, *results; // values
  const pb_flat_attr* attrs;
  const pb_flat_block* regions;
};

typedef struct pb_flat_func {
  const char* name;
  pb_flat_block body;
  int line, column;
} pb_flat_func;

typedef struct pb_flat {
  const char* file;
  int value_count, func_count;
  const pb_flat_type* values;
  const pb_flat_func* funcs;
  pb_arena arena;
  void* data; // that the attributes' bytes lie in, malloc'ed; NULL: the arena
} pb_flat;    // starts as {0}

// Reads the module in the file: generic form, any dialect. `attributes`: the names of those that are read, NULL at the
// end. What MLIR refuses is refused with its place. MLIR's parser runs in the program pb-read-mlir under limits of
// time and memory; what it hands over is checked like any file.
pb_status pb_flat_read(const char* path, const char* const* attributes, pb_diag* diag, pb_flat* flat) PB_MUST_CHECK;
void pb_flat_free(pb_flat* flat);

// That program's part: the module on standard input, `name` in its diagnostics.
pb_status pb_flat_parse(const char* name, const char* const* attributes, pb_diag* diag, pb_flat* flat) PB_MUST_CHECK;
enum { PB_FLAT_MESSAGE = 4096 }; // the longest diagnostic and its end
// What it writes to standard output: diagnostics, each a head and its text, then a head and the flat form, or only how
// it went.
typedef struct pb_flat_head {
  char kind; // 'D', 'F' or 'S'
  char error;
  int32_t code; // D: of the diagnostic; S: the status
  uint64_t bytes;
} pb_flat_head;
// Its bytes, malloc'ed, and back. `data` stays the caller's when it is refused (false), else the flat form's.
void* pb_flat_pack(const pb_flat* flat, size_t* bytes);
bool pb_flat_unpack(void* data, size_t bytes, pb_flat* flat);

const pb_flat_attr* pb_flat_find(const pb_flat_op* op, const char* name); // NULL: none

#endif
