// Inside the front end for ONNX: what operators with bodies are made of, loops and branches of the host's among it
// (core/s1/control.h). Tensors are the graph's.
#ifndef PB_ONNX_CONTROL_H
#define PB_ONNX_CONTROL_H

#include "core/frontend/onnx/rows.h"
#include "core/s1/control.h"

enum { PB_O_CARRIED = 64 }; // values that a body takes or makes, at most

// The number that a tensor always is.
bool pb__o_known(const pb_onnx* o, int tensor, int64_t* number);
// The graph of that attribute, and its number; a refusal where there is none.
const pb_subgraph* pb__o_body(pb_onnx* o, const char* name, int* id);
// The graph's nodes, once more: of these tensors it makes those. out: -1 before, where they are to be its own.
void pb__o_expand_body(pb_onnx* o, int graph, const int* in, int* out);
int pb__o_new_number(pb_onnx* o, pb_type type, int64_t value); // a tensor of no dims
int pb__o_truth(pb_onnx* o, int tensor);                       // as a value of no dims; a refusal if it is no truth
void pb__o_give(pb_onnx* o, int k, int tensor);                // result k is what the tensor is

// S1's value of a tensor: one of its own, as the model's stored codes have it.
int pb__o_value_of(pb_onnx* o, int tensor);
// The tensor that a value of the node's becomes.
int pb__o_tensor_of(pb_onnx* o, int v);
// A variable like S1's value, as a tensor that nodes read. Codes without a sign are those of rows here, as they are.
int pb__o_variable(pb_onnx* o, int like);
void pb__o_assign(pb_onnx* o, int count, const int* variables, const int* tensors);
void pb__o_mark(pb_onnx* o, pb_s1_kind kind, int x); // S1's value, -1

#endif
