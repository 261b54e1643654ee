// StableHLO's own form, as JAX and TensorFlow print it, as the generic form, which MLIR reads without the dialect:
//
//     %1 = stablehlo.slice %0 [0:3] : (tensor<4xf32>) -> tensor<3xf32>
//     %1 = "stablehlo.slice"(%0) {start_indices = array<i64: 0>, limit_indices = array<i64: 3>,
//                                 strides = array<i64: 1>} : (tensor<4xf32>) -> tensor<3xf32>
//
// Every operator's form is a row of forms.def. What is in the generic form already is taken as it is; locations that
// the text says are left out, so that places are those of the text itself.
#ifndef PB_STABLEHLO_PRETTY_H
#define PB_STABLEHLO_PRETTY_H

#include "core/base/diag.h"
#include "core/poly/text.h"

// From here on the generic text comes from there in the other one: byte for byte, or all of it from one place.
typedef struct pb_pretty_mark {
  size_t generic, own;
  bool is_copy;
} pb_pretty_mark;

typedef struct pb_pretty {
  pb_text text; // in generic form; empty: the text was generic
  pb_pretty_mark* marks;
  size_t mark_count, mark_capacity;
  size_t *lines, *own_lines; // where the lines of either text begin
  size_t line_count, line_capacity, own_line_count, own_line_capacity;
} pb_pretty; // starts as {0}

// `name` is the file's in diagnostics. The text is a module, without a section of blobs behind it, and ends with a 0.
pb_status pb_pretty_read(const char* text, size_t length, const char* name, pb_diag* diag,
                         pb_pretty* pretty) PB_MUST_CHECK;
// The place in the text that one in the generic form comes from.
void pb_pretty_place(const pb_pretty* pretty, int* line, int* column);
void pb_pretty_free(pb_pretty* pretty);

#endif
