// Graphs within nodes. A branch that is taken, or a turn of a loop, is written out as nodes of the graph itself, with
// tensors of its own for those that it defines; whatever looks at the graph sees no difference.
#include "core/s1/lift/lift.h"

#include <stdlib.h>
#include <string.h>

// Of what is written out. Nodes and tensors never move: many hold on to them.
enum { MOST_NODES = 1 << 16, MOST_TENSORS = 1 << 18 };

static void* table(size_t count, size_t size) {
  void* made = calloc(count, size);
  if (!made) pb_no_memory(count * size);
  return made;
}

// Of the first ones -1: what comes later is written when it comes.
static int* indices(size_t count, size_t room) {
  int* made = malloc((room + 1) * sizeof *made);
  if (!made) pb_no_memory((room + 1) * sizeof *made);
  memset(made, 0xff, count * sizeof *made);
  return made;
}

// Sequences make nodes too, without a subgraph; those that leave, tensors; ONNX Runtime's operators are said in ONNX's.
static bool may_grow(const pb_graph* g) {
  bool grows = g->subgraph_count > 0;
  for (size_t n = 0; n < g->node_count && !grows; ++n)
    grows = strstr(g->nodes[n].op, "Sequence") || strstr(g->nodes[n].op, "Optional") ||
            !strcmp(g->nodes[n].domain, "com.microsoft");
  for (size_t t = 0; t < g->tensor_count && !grows; ++t) grows = g->tensors[t].is_sequence;
  return grows;
}

void pb__reserve(lifter* l) {
  pb_graph* g = l->g;
  bool grows = may_grow(g);
  l->node_room = g->node_count + (grows ? MOST_NODES : 0);
  l->tensor_room = g->tensor_count + (grows ? MOST_TENSORS : 0);
  if (grows) {
    g->nodes = realloc(g->nodes, l->node_room * sizeof *g->nodes);
    g->tensors = realloc(g->tensors, l->tensor_room * sizeof *g->tensors);
    if (!g->nodes || !g->tensors) pb_no_memory(l->tensor_room * sizeof *g->tensors);
    g->node_capacity = l->node_room;
    g->tensor_capacity = l->tensor_room;
  }
  l->value_of = indices(g->tensor_count, l->tensor_room);
  l->copy_of = indices(g->tensor_count, l->tensor_room);
  l->table_source = indices(g->node_count, l->node_room);
  l->uses = table(l->tensor_room + 1, sizeof *l->uses);
  l->user = table(l->tensor_room + 1, sizeof *l->user);
  l->unsigned_codes = table(l->tensor_room + 1, sizeof *l->unsigned_codes);
  l->done = table(l->node_room + 1, sizeof *l->done);
}

static void use(lifter* l, int tensor, int user) {
  if (tensor < 0) return;
  ++l->uses[tensor];
  l->user[tensor] = user;
}

void pb__count_uses(lifter* l, const pb_node* n, int user) {
  for (int k = 0; k < n->input_count; ++k) use(l, n->inputs[k], user);
  for (int a = 0; a < n->attr_count; ++a) {
    if (n->attrs[a].graph < 0) continue;
    const pb_subgraph* s = &l->g->subgraphs[n->attrs[a].graph];
    for (size_t k = 0; k < s->node_count; ++k) pb__count_uses(l, &s->nodes[k], user);
    for (size_t k = 0; k < s->output_count; ++k) use(l, s->outputs[k], user);
  }
}

// ---- copies ----

int pb__new_tensor(lifter* l, const char* name) {
  pb_tensor made = {.name = name, .type = PB_TYPE_COUNT, .rank = -1, .const_id = -1, .producer = -1};
  l->value_of[l->g->tensor_count] = l->copy_of[l->g->tensor_count] = -1;
  PB_PUSH(l->g->tensors, l->g->tensor_count, l->g->tensor_capacity, made);
  return (int)l->g->tensor_count - 1;
}

static int copied(const lifter* l, int tensor) {
  return tensor >= 0 && l->copy_of[tensor] >= 0 ? l->copy_of[tensor] : tensor;
}

static int* copied_all(lifter* l, const int* tensors, size_t count) {
  int* made = PB_NEW_ARRAY(&l->g->arena, int, count + 1);
  for (size_t k = 0; k < count; ++k) made[k] = copied(l, tensors[k]);
  return made;
}

static pb_node copy_node(lifter* l, const pb_node* n);

// A subgraph within: it means the copies of what is around it, and its own tensors are a pattern still.
static int copy_subgraph(lifter* l, int id) {
  pb_graph* g = l->g;
  pb_subgraph made = {0};
  const pb_subgraph from = g->subgraphs[id];
  for (size_t k = 0; k < from.node_count; ++k)
    PB_PUSH(made.nodes, made.node_count, made.node_capacity, copy_node(l, &from.nodes[k]));
  for (size_t k = 0; k < from.input_count; ++k)
    PB_PUSH(made.inputs, made.input_count, made.input_capacity, from.inputs[k]);
  for (size_t k = 0; k < from.output_count; ++k)
    PB_PUSH(made.outputs, made.output_count, made.output_capacity, copied(l, from.outputs[k]));
  for (size_t k = 0; k < from.owned_count; ++k)
    PB_PUSH(made.owned, made.owned_count, made.owned_capacity, from.owned[k]);
  PB_PUSH(g->subgraphs, g->subgraph_count, g->subgraph_capacity, made);
  return (int)g->subgraph_count - 1;
}

static pb_node copy_node(lifter* l, const pb_node* n) {
  pb_node made = *n;
  made.inputs = copied_all(l, n->inputs, (size_t)n->input_count);
  made.outputs = copied_all(l, n->outputs, (size_t)n->output_count);
  made.attrs = PB_NEW_ARRAY(&l->g->arena, pb_attr, (size_t)n->attr_count + 1);
  for (int a = 0; a < n->attr_count; ++a) {
    made.attrs[a] = n->attrs[a];
    if (n->attrs[a].graph >= 0) made.attrs[a].graph = copy_subgraph(l, n->attrs[a].graph);
  }
  return made;
}

static void push_node(lifter* l, pb_node node) {
  int at = (int)l->g->node_count;
  for (int k = 0; k < node.output_count; ++k)
    if (node.outputs[k] >= 0) l->g->tensors[node.outputs[k]].producer = at;
  l->table_source[at] = -1;
  PB_PUSH(l->g->nodes, l->g->node_count, l->g->node_capacity, node);
  pb__count_uses(l, &l->g->nodes[at], at);
}

static pb_status check_room(lifter* l, const pb_node* n, size_t nodes, size_t tensors) {
  if (l->g->node_count + nodes <= l->node_room && l->g->tensor_count + tensors <= l->tensor_room) return PB_OK;
  return pb__refuse(l, n, NULL, pb_printf(&l->g->arena, "more than %d operators written out", MOST_NODES));
}

static pb_status lift_from(lifter* l, size_t first) {
  PB_TRY(l->rows->survey(l, first));
  PB_TRY(pb__lift_constants(l, first));
  for (size_t k = first, end = l->g->node_count; k < end; ++k)
    if (!l->done[k]) PB_TRY(pb__lift_node(l, &l->g->nodes[k]));
  return PB_OK;
}

static pb_node identity(lifter* l, int from, int to) {
  pb_node made = {.op = "Identity", .name = l->g->tensors[to].name, .domain = "", .input_count = 1, .output_count = 1};
  made.inputs = PB_NEW(&l->g->arena, int);
  made.outputs = PB_NEW(&l->g->arena, int);
  made.attrs = PB_NEW(&l->g->arena, pb_attr);
  made.inputs[0] = from;
  made.outputs[0] = to;
  return made;
}

// Whether a node of the subgraph makes the tensor, and no other result of it is the same.
static bool is_made_once(const pb_subgraph* s, size_t output) {
  int times = 0, makers = 0;
  for (size_t k = 0; k < s->output_count; ++k) times += s->outputs[k] == s->outputs[output];
  for (size_t k = 0; k < s->node_count; ++k)
    for (int o = 0; o < s->nodes[k].output_count; ++o) makers += s->nodes[k].outputs[o] == s->outputs[output];
  return times == 1 && makers == 1;
}

pb_status pb__expand(lifter* l, const pb_node* n, int subgraph, const int* in, int* out) {
  const pb_subgraph s = l->g->subgraphs[subgraph];
  PB_TRY(check_room(l, n, s.node_count + s.output_count, s.owned_count));
  size_t first = l->g->node_count;
  int user = (int)(n - l->g->nodes);
  for (size_t k = 0; k < s.owned_count; ++k) l->copy_of[s.owned[k]] = -1;
  for (size_t k = 0; k < s.input_count; ++k) l->copy_of[s.inputs[k]] = in[k];
  for (size_t k = 0; k < s.output_count; ++k)
    if (out[k] >= 0 && is_made_once(&s, k)) l->copy_of[s.outputs[k]] = out[k];
  for (size_t k = 0; k < s.owned_count; ++k) {
    int from = s.owned[k];
    if (l->copy_of[from] >= 0) continue;
    l->copy_of[from] = pb__new_tensor(l, l->g->tensors[from].name);
    l->g->tensors[l->copy_of[from]] = l->g->tensors[from];
    l->g->tensors[l->copy_of[from]].producer = -1;
  }
  for (size_t k = 0; k < s.node_count; ++k) push_node(l, copy_node(l, &s.nodes[k]));
  for (size_t k = 0; k < s.output_count; ++k) {
    int made = copied(l, s.outputs[k]);
    if (out[k] < 0) {
      out[k] = made;
      use(l, made, user); // who reads it is not written out yet
    } else if (out[k] != made) {
      push_node(l, identity(l, made, out[k]));
    }
  }
  for (size_t k = 0; k < s.owned_count; ++k) l->copy_of[s.owned[k]] = -1;
  return lift_from(l, first);
}

pb_status pb__expand_node(lifter* l, const pb_node* n, const char* op, int count, const int* in, const pb_attr* attrs,
                          int attr_count, int* out) {
  PB_TRY(check_room(l, n, 1, 1));
  size_t first = l->g->node_count;
  pb_node made = {.op = op, .name = n->name, .domain = "", .opset = n->opset, .input_count = count, .output_count = 1};
  made.attr_count = attr_count;
  made.inputs = copied_all(l, in, (size_t)count);
  made.outputs = PB_NEW(&l->g->arena, int);
  made.attrs = PB_NEW_ARRAY(&l->g->arena, pb_attr, (size_t)attr_count + 1);
  if (attr_count) memcpy(made.attrs, attrs, (size_t)attr_count * sizeof *attrs);
  if (*out < 0) {
    *out = pb__new_tensor(l, n->name);
    use(l, *out, (int)(n - l->g->nodes));
  }
  made.outputs[0] = *out;
  push_node(l, made);
  return lift_from(l, first);
}
