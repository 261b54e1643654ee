// An operation in its own form, read by its operator's row, and written in the generic one.
#ifndef PB_STABLEHLO_PRETTY_FORMS_H
#define PB_STABLEHLO_PRETTY_FORMS_H

#include "core/frontend/stablehlo/pretty/scan.h"

enum { PB_PRETTY_ATTRIBUTES = 12 };
typedef struct pb_pretty_attr {
  const char* name;
  pb_slice before, value, behind;
  const char* place;
} pb_pretty_attr;

typedef struct pb_pretty_op {
  const char* name;                    // in the generic form
  pb_slices operands, inputs, results; // values, and types; the same type stands once for each
  pb_pretty_attr attrs[PB_PRETTY_ATTRIBUTES];
  int attr_count;
  pb_slice more; // attributes that the text has in braces, without these
  const char* place;
} pb_pretty_op; // starts as {0}

void pb__pretty_add(pb_pretty_op* op, const char* name, const char* before, pb_slice value, const char* behind);
bool pb__pretty_more(pb_scan* s, pb_pretty_op* op);      // the attributes in braces, where there are any
bool pb__pretty_signature(pb_scan* s, pb_pretty_op* op); // (types) -> types
// The generic form: up to the regions, which are put behind, and what follows them.
void pb__pretty_begin(pb_scan* s, const pb_pretty_op* op);
void pb__pretty_end(pb_scan* s, const pb_pretty_op* op);
void pb__pretty_op_free(pb_pretty_op* op);

// The row's operation, behind its name; *known: there is a row of the name.
bool pb__pretty_form(pb_scan* s, pb_slice name, bool* known);
// Attributes whose spelling is of their own.
bool pb__pretty_slice_ranges(pb_scan* s, pb_pretty_op* op);
bool pb__pretty_window(pb_scan* s, pb_pretty_op* op);
bool pb__pretty_convolution_dims(pb_scan* s, pb_pretty_op* op);
bool pb__pretty_dot_dims(pb_scan* s, pb_pretty_op* op);
bool pb__pretty_precision(pb_scan* s, pb_pretty_op* op);
bool pb__pretty_exponent(pb_scan* s, pb_pretty_op* op);

// Operations with regions, and a region: with a first block of these arguments, or as it is written.
bool pb__pretty_region(pb_scan* s, const pb_slices* arguments, const pb_slices* types);
bool pb__pretty_function(pb_scan* s);
bool pb__pretty_while(pb_scan* s);
bool pb__pretty_reduce(pb_scan* s);
bool pb__pretty_scan(pb_scan* s);
// What stands behind the operator's name in the generic form.
bool pb__pretty_generic(pb_scan* s);
// One operation, in either form, as a line of the generic one.
bool pb__pretty_operation(pb_scan* s);

#endif
