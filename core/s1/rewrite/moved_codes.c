// Codes that are moved between their DequantizeLinear and a product: quantisers that leave what only moves elements
// alone write DequantizeLinear, Reshape, Transpose, MatMul. A QuantizeLinear of the same scale and a DequantizeLinear
// behind each of these nodes change nothing, since a code times its scale is that code again, and the product is one of
// codes, as where a quantiser wrote them itself.
#include "core/s1/lift/lift.h"

#include <stdlib.h>
#include <string.h>

typedef struct mover {
  pb_graph* g;
  const pb_consts* consts;
  int *users, *user; // by tensor: how many nodes read it, and one of them
  bool* paired;      // by node
} mover;

static bool is_own(const pb_node* n, const char* op) { return !*n->domain && pb__is(n, op); }

static const pb_node* producer_of(const mover* m, int tensor) {
  int at = tensor < 0 ? -1 : m->g->tensors[tensor].producer;
  return at < 0 ? NULL : &m->g->nodes[at];
}

// Nodes that move elements of their first operand, and nothing else.
static bool is_move(const pb_node* n) {
  static const char* const names[] = {"Transpose", "Reshape", "Flatten", "Squeeze", "Unsqueeze",
                                      "Identity",  "Expand",  "Slice",   "Split",   "Gather"};
  bool any = false;
  for (size_t k = 0; k < sizeof names / sizeof *names; ++k) any |= is_own(n, names[k]);
  return any && n->input_count >= 1 && n->inputs[0] >= 0;
}

static const pb_const* constant_of(const mover* m, int tensor) {
  return pb__constant_before(m->g, m->consts, m->g->nodes, m->g->node_count, tensor);
}

static bool is_number(const mover* m, int tensor, pb_type type) {
  const pb_const* c = constant_of(m, tensor);
  return c && c->type == type && c->bytes * 8 == (uint64_t)pb_type_bits(type);
}

// The DequantizeLinear that a tensor comes from, through nodes that move alone, one scale and zero point for all of it.
// *moves: how many of them there are. NULL: it is made otherwise.
static const pb_node* codes_of(const mover* m, int tensor, int* moves) {
  *moves = 0;
  const pb_node* n = producer_of(m, tensor);
  for (; n && is_move(n); n = producer_of(m, n->inputs[0])) ++*moves;
  bool codes = n && is_own(n, "DequantizeLinear") && n->input_count == 3 && is_number(m, n->inputs[1], PB_F32) &&
               is_number(m, n->inputs[2], PB_I8);
  return codes ? n : NULL;
}

static bool ends_in_codes(const mover* m, const pb_node* n) {
  while (n->output_count == 1 && n->outputs[0] >= 0 && m->users[n->outputs[0]] == 1 &&
         !m->g->tensors[n->outputs[0]].is_output) {
    n = &m->g->nodes[m->user[n->outputs[0]]];
    if (is_own(n, "QuantizeLinear")) return true;
    if (!is_own(n, "Relu") && !is_own(n, "Clip")) return false;
  }
  return false;
}

// Whether the node multiplies codes, some of which were moved, and makes codes.
static bool multiplies(const mover* m, const pb_node* n) {
  if ((!is_own(n, "MatMul") && !is_own(n, "Gemm") && !is_own(n, "Conv")) || n->input_count < 2) return false;
  bool moved = false;
  for (int k = 0; k < 2; ++k) {
    int moves;
    if (constant_of(m, n->inputs[k])) continue;
    if (!codes_of(m, n->inputs[k], &moves)) return false;
    moved |= moves > 0;
  }
  return moved && ends_in_codes(m, n);
}

static void mark(mover* m, const pb_node* n) {
  for (int k = 0; k < 2; ++k)
    for (int tensor = n->inputs[k]; producer_of(m, tensor) && is_move(producer_of(m, tensor));
         tensor = producer_of(m, tensor)->inputs[0])
      m->paired[producer_of(m, tensor) - m->g->nodes] = true;
}

static int add_tensor(mover* m, int like, const char* what) {
  pb_graph* g = m->g;
  pb_tensor made = {.type = PB_TYPE_COUNT, .rank = -1, .const_id = -1, .producer = -1};
  made.name = pb_printf(&g->arena, "%s.%s", g->tensors[like].name, what);
  PB_PUSH(g->tensors, g->tensor_count, g->tensor_capacity, made);
  return (int)g->tensor_count - 1;
}

static pb_node between(mover* m, const pb_node* n, const char* op, int from, const pb_node* by, int to) {
  pb_node made = {.op = op, .name = n->name, .domain = "", .opset = by->opset, .input_count = 3, .output_count = 1};
  made.inputs = PB_NEW_ARRAY(&m->g->arena, int, 3);
  made.outputs = PB_NEW(&m->g->arena, int);
  made.attrs = PB_NEW(&m->g->arena, pb_attr);
  made.inputs[0] = from;
  made.inputs[1] = by->inputs[1];
  made.inputs[2] = by->inputs[2];
  made.outputs[0] = to;
  return made;
}

// The node with a pair behind each result, which keeps its name.
static void put_pair(mover* m, pb_node n, const pb_node* by, pb_node** nodes, size_t* count, size_t* capacity) {
  pb_graph* g = m->g;
  const int* outs = n.outputs;
  n.outputs = PB_NEW_ARRAY(&g->arena, int, (size_t)n.output_count + 1);
  for (int k = 0; k < n.output_count; ++k) n.outputs[k] = outs[k] < 0 ? -1 : add_tensor(m, outs[k], "moved");
  pb__append_node(g, nodes, count, capacity, n);
  for (int k = 0; k < n.output_count; ++k) {
    if (outs[k] < 0) continue;
    int codes = add_tensor(m, outs[k], "codes");
    pb__append_node(g, nodes, count, capacity, between(m, &n, "QuantizeLinear", n.outputs[k], by, codes));
    pb__append_node(g, nodes, count, capacity, between(m, &n, "DequantizeLinear", codes, by, outs[k]));
  }
}

// The nodes anew, with pairs behind those that are marked.
static void put_pairs(mover* m) {
  pb_graph* g = m->g;
  pb_node* nodes = NULL;
  size_t count = 0, capacity = 0, all = g->node_count;
  const pb_node** by = PB_NEW_ARRAY(&g->arena, const pb_node*, all + 1);
  for (size_t k = 0; k < all; ++k) {
    int moves;
    if (m->paired[k]) by[k] = codes_of(m, g->nodes[k].inputs[0], &moves);
  }
  for (size_t k = 0; k < all; ++k) {
    if (by[k])
      put_pair(m, g->nodes[k], by[k], &nodes, &count, &capacity);
    else
      pb__append_node(g, &nodes, &count, &capacity, g->nodes[k]);
  }
  free(g->nodes);
  g->nodes = nodes;
  g->node_count = count;
  g->node_capacity = capacity;
}

void pb__pair_moved_codes(pb_graph* g, const pb_consts* consts) {
  if (!g->pairs_codes) return;
  mover m = {.g = g, .consts = consts};
  bool any = false;
  m.users = calloc(g->tensor_count + 1, sizeof *m.users);
  m.user = calloc(g->tensor_count + 1, sizeof *m.user);
  m.paired = calloc(g->node_count + 1, sizeof *m.paired);
  if (!m.users || !m.user || !m.paired) pb_no_memory(g->tensor_count * sizeof *m.users);
  for (size_t k = 0; k < g->node_count; ++k)
    for (int i = 0; i < g->nodes[k].input_count; ++i) {
      int tensor = g->nodes[k].inputs[i];
      if (tensor < 0) continue;
      ++m.users[tensor];
      m.user[tensor] = (int)k;
    }
  for (size_t k = 0; k < g->node_count; ++k)
    if (multiplies(&m, &g->nodes[k])) {
      mark(&m, &g->nodes[k]);
      any = true;
    }
  if (any) put_pairs(&m);
  g->paired = any;
  free(m.users);
  free(m.user);
  free(m.paired);
}
