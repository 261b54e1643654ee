// Inside the front end for ONNX: how an operator of StableHLO is made.
#ifndef PB_ONNX_EMIT_H
#define PB_ONNX_EMIT_H

#include "core/frontend/onnx/rows.h"
#include "core/s1/control.h"

typedef struct pb__o_form {
  const char* name;
  int operand_count, result_count, attr_count;
  const int *operands, *results;
  const pb_flat_attr* attrs;
  const pb_flat_block* body; // NULL: none
} pb__o_form;

int pb__o_new(pb_onnx* o, pb_type type, int rank, const int64_t* shape); // a value that an operator will make
void pb__o_emit(pb_onnx* o, const pb__o_form* form);

// Loops of the host's (core/s1/control.h) over values that are made here; control.h has those of the graph's tensors.
enum { PB_O_STATES = 4 };                    // at most
int pb__o_state_like(pb_onnx* o, int value); // a variable; pb__o_set_states says how it begins
void pb__o_set_states(pb_onnx* o, int count, const int* states, const int* values); // all at once
void pb__o_mark_loop(pb_onnx* o, pb_s1_kind kind, int by);                          // by: a truth, -1: none

#endif
