// Operators that are written out in others: a builder of operations of the flat form, each of which is made at once.
#ifndef PB_STABLEHLO_WRITE_OUT_H
#define PB_STABLEHLO_WRITE_OUT_H

#include "core/frontend/stablehlo/door.h"

typedef struct pb_writer {
  pb_door* d;
  const pb_flat_op* op; // that is written out
  pb_status status;     // of the first that could not be made: those behind it are not
  int first;            // of the values that it takes
} pb_writer;

pb_writer pb__write_start(pb_door* d, const pb_flat_op* op);
// The written value as the operator's result k.
void pb__write_result(pb_writer* w, int k, int value);
pb_status pb__write_end(pb_writer* w) PB_MUST_CHECK;

// Values are those of the flat form; types say element and shape.
pb_flat_type pb__write_type(const pb_writer* w, int value);
pb_flat_type pb__write_shaped(pb_flat_type type, int rank, const int64_t* shape);
int pb__write(pb_writer* w, const char* name, pb_flat_type type, int operand_count, const int* operands, int attr_count,
              const pb_flat_attr* attrs);
int pb__write_given(pb_writer* w, pb_flat_type type, pb_door_value value); // a value that is there, of that type
// With regions, of the operator that is written out for example.
int pb__write_by(pb_writer* w, const char* name, pb_flat_type type, int operand_count, const int* operands,
                 int attr_count, const pb_flat_attr* attrs, int region_count, const pb_flat_block* regions);
// A body that does one operation to its two arguments.
pb_flat_block pb__write_combiner(pb_writer* w, const char* name, pb_flat_type type);
pb_flat_attr pb__write_ints(pb_writer* w, const char* name, int count, const int64_t* ints);
pb_flat_attr pb__write_text(const char* name, const char* text);

int pb__write_unary(pb_writer* w, const char* name, int x);
int pb__write_binary(pb_writer* w, const char* name, int x, int y);
int pb__write_compared(pb_writer* w, const char* how, int x, int y); // of one shape
int pb__write_chosen(pb_writer* w, int truths, int yes, int no);     // the same
int pb__write_constant(pb_writer* w, pb_flat_type type, const void* bytes);
int pb__write_rows(pb_writer* w, int x, int axis, int64_t from, int64_t to); // [from, to) of one dim
int pb__write_transposed(pb_writer* w, int x, const int64_t* order);
int pb__write_spread(pb_writer* w, int x, int rank, const int64_t* shape); // extents of 1 become those of the shape
int pb__write_number(pb_writer* w, pb_flat_type type, double number);      // everywhere; of f32 or f64, complex too
int pb__write_joined(pb_writer* w, int axis, int count, const int* values);
int pb__write_converted(pb_writer* w, int x, pb_type type);
int pb__write_conjugate(pb_writer* w, int x); // of a real one itself

#endif
