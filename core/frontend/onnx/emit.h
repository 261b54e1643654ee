// Inside the front end for ONNX: how an operator of StableHLO is made.
#ifndef PB_ONNX_EMIT_H
#define PB_ONNX_EMIT_H

#include "core/frontend/onnx/rows.h"

typedef struct pb__o_form {
  const char* name;
  int operand_count, result_count, attr_count;
  const int *operands, *results;
  const pb_flat_attr* attrs;
  const pb_flat_block* body; // NULL: none
} pb__o_form;

int pb__o_new(pb_onnx* o, pb_type type, int rank, const int64_t* shape); // a value that an operator will make
void pb__o_emit(pb_onnx* o, const pb__o_form* form);

#endif
