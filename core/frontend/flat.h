// MLIR text as a front end sees it: functions of single blocks, operations by name, attributes by kind, types that are
// known or their text. No MLIR here: what reads the text may be another process.
#ifndef PB_FRONTEND_FLAT_H
#define PB_FRONTEND_FLAT_H

#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/base/expr.h"
#include "core/base/table.h"

#include <stdbool.h>
#include <stdint.h>

enum { PB_FLAT_RANK = 8, PB_FLAT_LOOPS = 16 };

// A tensor of numbers, or one number alone; anything else has its text alone, `type`
// PB_TYPE_COUNT.
typedef struct pb_flat_type {
  pb_type type;    // PB_INDEX: of a number alone
  bool is_element; // a number, and no tensor of one
  bool is_complex; // of two of `type`
  bool is_open;    // StableHLO's: an extent is -1, it is not said
  int rank;
  int64_t shape[PB_FLAT_RANK];
  const char* text; // as MLIR prints it
} pb_flat_type;

// Of these dims, from..to - 1.
static inline int64_t pb_flat_elements(const pb_flat_type* type, int from, int to) {
  int64_t count = 1;
  for (int r = from; r < to; ++r) count *= type->shape[r];
  return count;
}

// Whose operators the text has: of those that MLIR comes with, linalg's and what stands around them, it knows pretty
// forms and rules.
typedef enum pb_flat_language { PB_FLAT_STABLEHLO, PB_FLAT_LINALG } pb_flat_language;

typedef enum pb_flat_kind { PB_FLAT_INT, PB_FLAT_INTS, PB_FLAT_TEXT, PB_FLAT_TENSOR } pb_flat_kind;
typedef struct pb_flat_attr {
  const char* name;
  pb_flat_kind kind;
  int64_t i; // booleans too
  // INTS: arrays, and tensors of integers of rank 1 and 2; indexing maps: of each its loops, its indices, and for each
  // index what a step of each loop adds, and where it starts.
  int count;
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

// The language of the file's first operator of either; StableHLO's where it has none.
pb_flat_language pb_flat_sniff(const char* path);

// Reads the module in the file: generic form, any dialect; linalg's dialects in their own form too. `attributes`: the
// names of those that are read, NULL at the end. What MLIR refuses is refused with its place. MLIR's parser runs in the
// program pb-read-mlir under limits of time and memory; what it hands over is checked like any file.
pb_status pb_flat_read(const char* path, pb_flat_language language, const char* const* attributes, pb_diag* diag,
                       pb_flat* flat) PB_MUST_CHECK;
void pb_flat_free(pb_flat* flat);

// That program's part: the module on standard input, `name` in its diagnostics.
pb_status pb_flat_parse(const char* name, pb_flat_language language, const char* const* attributes, pb_diag* diag,
                        pb_flat* flat) PB_MUST_CHECK;
// Behind the module a text may have blobs by name, which attributes like dense_resource<weight> mean. They are decoded
// where they stand, and the section is cut off the text, which ends with a 0; names are in the arena.
typedef struct pb_flat_blob {
  const char *name, *bytes;
  size_t count;
} pb_flat_blob;
typedef struct pb_flat_blobs {
  pb_flat_blob* items;
  size_t count, capacity;
  pb_table numbers; // by name
} pb_flat_blobs;    // starts as {0}
pb_status pb_flat_take_blobs(char* text, size_t* length, const char* name, pb_diag* diag, pb_arena* arena,
                             pb_flat_blobs* blobs) PB_MUST_CHECK;
// Constants of truths that have a byte each in hexadecimal become those of a bit each (truths.c).
void pb_flat_pack_truths(char* text);
const pb_flat_blob* pb_flat_find_blob(const pb_flat_blobs* blobs, const char* name); // NULL: none
void pb_flat_blobs_free(pb_flat_blobs* blobs);
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
