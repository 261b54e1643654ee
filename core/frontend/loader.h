// Inside the reader of ONNX models.
#ifndef PB_FRONTEND_LOADER_H
#define PB_FRONTEND_LOADER_H

#include "core/frontend/graph.h"
#include "core/frontend/wire.h"

// What a name stands for within a graph, a subgraph or a call of a function.
typedef struct pb__name {
  const char* name;
  int scope, tensor, next; // tensor: -1, an operand that the call leaves out
} pb__name;
typedef struct pb__scope {
  int parent, subgraph; // subgraph: -1, none
  bool closed;          // a function's body sees nothing around it
} pb__scope;

// A function of the model, as its bytes.
typedef struct pb__function {
  const char *name, *domain, *overload;
  pb_wire bytes;
  int64_t opset;
} pb__function;

typedef struct pb__loader {
  pb_graph* graph;
  pb_consts* consts;
  pb_diag* diag;
  int* buckets;
  size_t bucket_count;
  pb__name* names;
  size_t name_count, name_capacity;
  pb__scope* scopes; // the first one is the model's graph
  size_t scope_count, scope_capacity;
  int scope, depth; // where it reads, and within how many
  pb__function* functions;
  size_t function_count, function_capacity;
  const pb_node* call; // of the function that it reads, NULL
  int64_t opset;       // of that function, 0: the model's
  size_t nodes_read;
  bool cut_name; // a name holds a NUL
  bool in_file;  // the model is graph->file, and may have data beside it
} pb__loader;

pb_status pb__loader_refuse(pb__loader* l, const char* what, const char* text);
const char* pb__loader_text(pb__loader* l, pb_wire bytes);

// names.c. The tensor that is meant by a name here: where it is not known it is one of the outermost graph's. -1: left
// out.
int pb__name_used(pb__loader* l, const char* name);
int pb__name_defined(pb__loader* l, const char* name); // here, and nowhere around
void pb__name_bind(pb__loader* l, const char* name, int tensor);
pb_status pb__scope_open(pb__loader* l, int subgraph, bool closed) PB_MUST_CHECK; // a refusal where it is too deep
void pb__scope_close(pb__loader* l);

// onnx.c. Into the subgraph of the scope, or the graph.
pb_status pb__read_node(pb__loader* l, pb_wire wire) PB_MUST_CHECK;
pb_status pb__read_attr(pb__loader* l, pb_wire wire, pb_attr* attr, bool* there) PB_MUST_CHECK;
pb_status pb__push_node(pb__loader* l, pb_node node) PB_MUST_CHECK;

// order.c. Each node behind those that make what it reads; a graph that has a circle stays as it is.
void pb__sort_nodes(pb_graph* graph);

// inputs.c.
pb_status pb__set_inputs(pb__loader* l, const pb_input_options* inputs) PB_MUST_CHECK;

// function.c. OperatorSetIdProto { domain = 1, version = 2 }: the version of ONNX's own operators, 0: of others.
int64_t pb__opset_read(pb__loader* l, pb_wire wire);
pb_status pb__opset_check(pb__loader* l, const char* whose, int64_t opset) PB_MUST_CHECK;
// FunctionProto, and calls of it in place of the node.
pb_status pb__function_read(pb__loader* l, pb_wire wire) PB_MUST_CHECK;
const pb__function* pb__function_of(const pb__loader* l, const pb_node* node, const char* overload); // NULL: none
pb_status pb__function_expand(pb__loader* l, const pb__function* f, const pb_node* call) PB_MUST_CHECK;

// Where a tensor's data are, as the model says it; NULL: not said.
typedef struct pb__external {
  const char *location, *offset, *length;
} pb__external;

// Maps the data; `raw` gets their bytes. The graph keeps the mapping.
pb_status pb__external_data(pb__loader* l, const char* tensor, const pb__external* from, pb_wire* raw) PB_MUST_CHECK;

#endif
