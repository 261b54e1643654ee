// A model as its file says it: tensors, nodes in order, attributes. Nothing is interpreted here.
#ifndef PB_FRONTEND_GRAPH_H
#define PB_FRONTEND_GRAPH_H

#include "core/base/arena.h"
#include "core/base/consts.h"
#include "core/base/diag.h"
#include "core/base/expr.h"
#include "core/base/symbols.h"

#include <stdbool.h>
#include <stdint.h>

enum { PB_GRAPH_RANK = 8 };

typedef struct pb_tensor {
  const char* name;
  pb_type type;      // PB_TYPE_COUNT until known
  bool is_unsigned;  // u8 as PB_I8
  int64_t type_code; // of an input: ONNX's, 0: not said
  int rank;          // -1 until known
  int64_t shape[PB_GRAPH_RANK];
  const char** dim_names; // of an input, by dim: NULL where it has none; NULL: none has
  int const_id;           // initialiser: its id in the constant table; -1
  bool is_input, is_output;
  bool too_deep;                    // of a type as the file says it: more dims than there is room for
  const struct pb_tensor* declared; // of an output: type and shape as the file says them, whatever the nodes make of it
  int donated_to;                   // of an input: the output that is made in its place, and 1; 0: none
  bool lists,
      may_miss; // of an input or output, what its type says: a sequence, an optional; `type` is of what is in it
  int producer; // node, -1
  // A sequence, or an optional of at most one: the tensors in it, which are known when it is compiled. An optional
  // sequence has a sequence in it.
  bool is_sequence, is_optional;
  int item_count;
  const int* items;
} pb_tensor;

typedef enum pb_attr_kind {
  PB_ATTR_INT,
  PB_ATTR_FLOAT,
  PB_ATTR_STRING,
  PB_ATTR_INTS,
  PB_ATTR_FLOATS,
  PB_ATTR_TENSOR,
  PB_ATTR_STRINGS,
  PB_ATTR_GRAPH
} pb_attr_kind;
typedef struct pb_attr {
  const char* name;
  pb_attr_kind kind;
  int64_t i;
  float f;
  const char* s;
  int count;
  int64_t* ints;
  float* floats;
  const char** strings;
  int tensor;       // const id
  bool is_unsigned; // the tensor: u8 as PB_I8
  int graph;        // of pb_graph's subgraphs, -1
} pb_attr;

typedef struct pb_node {
  const char *op, *name, *domain;
  int64_t opset; // of a function that has its own; 0: the model's
  int input_count, output_count, attr_count;
  int *inputs, *outputs; // tensors; -1: left out
  pb_attr* attrs;
} pb_node;

// A graph that a node has as an attribute. Its tensors are in the graph's table with the others: those that it defines
// are a pattern, of which each turn or branch that is written out has tensors of its own (core/s1/expand.c).
typedef struct pb_subgraph {
  pb_node* nodes;
  size_t node_count, node_capacity;
  int *inputs, *outputs, *owned; // owned: those that it defines, without what its own subgraphs define
  size_t input_count, input_capacity, output_count, output_capacity, owned_count, owned_capacity;
} pb_subgraph;

typedef struct pb_mapping {
  void* data;
  size_t bytes;
  const char* location; // NULL: the model itself
} pb_mapping;

typedef struct pb_graph {
  const char* file;
  int64_t opset;
  pb_tensor* tensors;
  size_t tensor_count, tensor_capacity;
  pb_node* nodes;
  size_t node_count, node_capacity;
  pb_subgraph* subgraphs;
  size_t subgraph_count, subgraph_capacity;
  int *inputs, *outputs; // tensors as the model lists them; an output may stand twice, an input may be an initialiser
  size_t input_count, input_capacity, output_count, output_capacity;
  pb_mapping* mappings; // its file, and those with its data
  size_t mapping_count, mapping_capacity;
  bool keeps_loops, pairs_codes, multiplied[PB_NARROW_TYPES]; // of pb_input_options
  bool paired;                                                // there were such codes
  pb_arena arena;
} pb_graph;

// A dim may list values, 1,8: the k-th ones of all lists are a profile, which is compiled for itself
// (driver/profiles.h).
// "?" in place of values: it stays open, one program takes any extent (core/open).
enum { PB_MOST_PROFILES = 16, PB_OPEN = -1 };
typedef struct pb_extents {
  int count;
  int64_t items[PB_MOST_PROFILES];
} pb_extents;

// --input-shape NAME=1x3x224x224
typedef struct pb_input_shape {
  const char* name;
  int rank;
  int64_t shape[PB_GRAPH_RANK];
  const pb_extents* lists; // by dim
} pb_input_shape;

// --items NAME=3: how many tensors are in an input that is a sequence; PB_NO_ITEMS, an optional with nothing in it.
enum { PB_NO_ITEMS = -1, PB_MOST_ITEMS = 4096 };
typedef struct pb_item_count {
  const char* name;
  int count;
} pb_item_count;

// --dim batch=8
typedef struct pb_dim_value {
  const char* name;
  int64_t extent;
  const pb_extents* list;
} pb_dim_value;

// --bind NAME=FILE.npy, a tensor of --weights=FILE.safetensors: an input that is a constant. PB_U8 is uint8.
typedef struct pb_bound {
  const char* name;
  pb_type type;
  int rank;
  int64_t shape[PB_GRAPH_RANK];
  const void* data; // outlives the compilation
  bool is_any_code; // a byte each, of which the file does not say what code they are: `type` is one of them
} pb_bound;

// An output that takes an input's place: "arg1", "out0"; of ONNX what TensorScatter makes of it.
typedef struct pb_donation {
  const char *input, *output;
} pb_donation;

// What the command line says of a model's inputs; starts as {0}.
typedef struct pb_input_options {
  const pb_input_shape* shapes;
  int shape_count;
  const pb_dim_value* dims;
  int dim_count;
  const pb_item_count* items;
  int item_count;
  const pb_bound* bounds;
  int bound_count;
  const char* const* weights; // files
  int weight_count;
  const pb_donation* donations;
  int donation_count;
  pb_symbols* symbols;              // open dims; NULL: there must be none
  bool keeps_loops;                 // long loops of known turns stay the host's: what ends them can be computed
  bool pairs_codes;                 // products of codes that nodes move, with no QuantizeLinear behind, are of codes
  bool multiplied[PB_NARROW_TYPES]; // by pb_narrow_type: products take such factors of the model as they are
} pb_input_options;

// Elements of a tensor at most, so that sizes in bytes, indices and their sums stay far from the end of 64 bits, and so
// that no stage works for minutes on what no memory holds.
#define PB_MAX_ELEMENTS INT32_MAX
// The same while dims are open: extents are a sample's numbers then, of which five in one tensor, or two beside a
// vocabulary, are more than any memory holds. No tensor of a sample is ever made.
#define PB_MAX_OPEN_ELEMENTS ((int64_t)1 << 50)
static inline int64_t pb_most_elements(const pb_consts* consts) {
  return consts->open ? PB_MAX_OPEN_ELEMENTS : PB_MAX_ELEMENTS;
}

// Maps and reads an ONNX file; constants are added to `consts` and point into the mapping, so the graph must outlive
// them. Every size is checked against the file before it is used. The caller frees the graph.
pb_status pb_onnx_load(const char* path, const pb_input_options* inputs, pb_consts* consts, pb_diag* diag,
                       pb_graph** graph) PB_MUST_CHECK; // inputs: NULL, nothing is said
// The same from bytes in memory, which must outlive the constants; `name` is for diagnostics. There are no files
// beside.
pb_status pb_onnx_parse(const void* bytes, size_t count, const char* name, const pb_input_options* inputs,
                        pb_consts* consts, pb_diag* diag, pb_graph** graph) PB_MUST_CHECK;
void pb_graph_free(pb_graph* graph);

// The type that a code of onnx.TensorProto.DataType stands for: uint8 is PB_I8 and *is_unsigned. PB_TYPE_COUNT: none
// here.
pb_type pb_onnx_type(int64_t code, bool* is_unsigned);
const pb_attr* pb_node_attr(const pb_node* node, const char* name); // NULL: none
int64_t pb_node_int(const pb_node* node, const char* name, int64_t missing);
int64_t pb_node_opset(const pb_graph* graph, const pb_node* node);
// "node 'conv1' (Conv)" in the graph's arena.
const char* pb_node_place(pb_graph* graph, const pb_node* node);

#endif
