// The front end for ONNX: operators by rows of onnx.def.
#ifndef PB_ONNX_ONNX_H
#define PB_ONNX_ONNX_H

#include "core/s1/s1.h"

// The rows of onnx.def. Attributes are "name:kind" by blanks: int, real, text, ints, reals, tensor; a ! behind those
// that must be there. What a row does not name is refused.
typedef struct pb_onnx_row {
  const char* name; // with its domain in front where that is not ONNX's own
  int since;        // the first opset that has it
  int least, most;  // operands
  int results;      // at most
  const char* attributes;
  const char *detail, *summary;
} pb_onnx_row;
enum { PB_ANY_NUMBER = INT32_MAX };      // of operands or results: no limit
extern const pb_onnx_row pb_onnx_rows[]; // ends with a NULL name

// S1 of a graph: forms that stage S1 knows as kinds of its own are those (core/s1/lift/lift.h), all others what their
// rows say. Operators that are not known are all named before anything else is looked at.
pb_status pb_onnx_build(pb_graph* graph, pb_consts* consts, pb_diag* diag, pb_s1* program) PB_MUST_CHECK;

#endif
