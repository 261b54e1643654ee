// If, and what it shares with loops (loops.c). The branch that is known to be taken is written out. One that is not
// known is the host's where it is long (core/s1/control.h); a short one is computed beside the other one, and the
// results chosen among: no operator has effects.
#include "core/frontend/onnx/control.h"

#include "core/frontend/onnx/emit.h"

#include <string.h>

enum { MOST_VALUES = PB_O_CARRIED, SHORT_BRANCH = 24 };

// The number that a tensor always is.
bool pb__o_known(const pb_onnx* o, int tensor, int64_t* number) {
  const pb_const* c = pb__constant(o->l, tensor);
  if (!c || c->bytes == 0 || (c->type != PB_I1 && c->type != PB_I64) ||
      c->bytes > (c->type == PB_I1 ? 1 : sizeof *number))
    return false;
  *number = 0;
  memcpy(number, c->data, c->bytes);
  return true;
}

const pb_subgraph* pb__o_body(pb_onnx* o, const char* name, int* id) {
  const pb_attr* a = pb_node_attr(o->n, name);
  if (!a || a->graph < 0) pb__o_refuse(o, "attribute '%s' is no graph", name);
  *id = pb__o_bad(o) ? -1 : a->graph;
  return *id < 0 ? NULL : &o->l->g->subgraphs[*id];
}

void pb__o_expand_body(pb_onnx* o, int graph, const int* in, int* out) {
  if (!pb__o_bad(o)) o->status = pb__expand(o->l, o->n, graph, in, out);
}

int pb__o_node(pb_onnx* o, const char* op, int count, const int* in, const pb_attr* attrs, int attr_count, int out) {
  if (!pb__o_bad(o)) o->status = pb__expand_node(o->l, o->n, op, count, in, attrs, attr_count, &out);
  return out;
}

pb_attr pb__o_axes(pb_onnx* o, const char* name, int64_t value) {
  int64_t* kept = PB_NEW(&o->l->g->arena, int64_t);
  *kept = value;
  return (pb_attr){.name = name, .kind = PB_ATTR_INTS, .i = value, .count = 1, .ints = kept, .tensor = -1, .graph = -1};
}

void pb__o_give_number(pb_onnx* o, int tensor, pb_type type, int64_t value) {
  int64_t* kept = PB_NEW(&o->l->consts->arena, int64_t);
  pb_tensor* t = &o->l->g->tensors[tensor];
  *kept = value; // little-endian: its low bytes are the number of fewer bits
  t->const_id = pb_consts_add(o->l->consts, t->name, type, 0, NULL, kept);
  t->type = type;
}

int pb__o_new_number(pb_onnx* o, pb_type type, int64_t value) {
  int made = pb__new_tensor(o->l, o->n->name);
  pb__o_give_number(o, made, type, value);
  return made;
}

// ---- If ----

int pb__o_truth(pb_onnx* o, int tensor) {
  int v = pb__o_tensor(o, tensor);
  if (pb__o_type(o, v)->type != PB_I1 || pb__o_elements(o, v) != 1) pb__o_refuse(o, "a condition that is no one truth");
  return pb__o_reshape(o, v, 0, NULL);
}

static int chosen(pb_onnx* o, int by, int yes, int no) {
  int a = pb__o_tensor(o, yes), b = pb__o_tensor(o, no);
  if (pb__o_bad(o)) return a;
  if (pb__o_type(o, a)->type != pb__o_type(o, b)->type || !pb__o_same_shape(o, a, b))
    pb__o_refuse(o, "whose condition is not constant, and whose results are of two types or shapes");
  return pb__o_select(o, by, a, b);
}

// Of two sequences as long as each other each element.
static void choose_items(pb_onnx* o, int k, int yes, int no) {
  const pb_tensor *a = &o->l->g->tensors[yes], *b = &o->l->g->tensors[no];
  if (!a->is_sequence || !b->is_sequence || a->is_optional || b->is_optional || a->item_count != b->item_count)
    pb__o_refuse(o, "whose condition is not constant, and whose results are not sequences of one length");
  if (pb__o_bad(o)) return;
  int condition = pb__input(o->n, 0), *items = PB_NEW_ARRAY(&o->arena, int, (size_t)a->item_count + 1);
  for (int i = 0; i < a->item_count && !pb__o_bad(o); ++i) {
    int v = pb__o_tensor(o, a->items[i]), w = pb__o_tensor(o, b->items[i]);
    if (pb__o_bad(o)) return;
    if (pb__o_type(o, v)->type != pb__o_type(o, w)->type || !pb__o_same_shape(o, v, w) ||
        pb__o_type(o, pb__o_tensor(o, condition))->rank > pb__o_type(o, v)->rank)
      pb__o_refuse(o, "whose condition is not constant, and whose results are of two types or shapes");
    items[i] = pb__o_node(o, "Where", 3, (const int[]){condition, a->items[i], b->items[i]}, NULL, 0, -1);
  }
  pb__o_give_items(o, k, a->item_count, items);
}

// Whether the branch is worth a jump of the host's; a loop that data end must not turn where it is not reached.
static int weight_of(const pb_onnx* o, const pb_subgraph* s) {
  static const char* const heavy[] = {"Loop",   "Conv", "ConvTranspose", "MatMul", "Gemm",
                                      "Einsum", "LSTM", "GRU",           "RNN"};
  int weight = (int)s->node_count;
  for (size_t k = 0; k < s->node_count; ++k) {
    const pb_node* n = &s->nodes[k];
    for (size_t h = 0; h < sizeof heavy / sizeof *heavy; ++h)
      if (!strcmp(n->op, heavy[h])) weight += SHORT_BRANCH;
    for (int a = 0; a < n->attr_count; ++a)
      if (n->attrs[a].graph >= 0) weight += weight_of(o, &o->l->g->subgraphs[n->attrs[a].graph]);
  }
  return weight;
}

// A mark or a move, made for the node itself.
static void stand_at(pb_onnx* o) { o->door.m.type = o->n->op; }

void pb__o_mark(pb_onnx* o, pb_s1_kind kind, int x) {
  stand_at(o);
  if (!pb__o_bad(o)) pb_control_mark(&o->door.m, kind, x);
}

// S1's value of a tensor: one of its own, as the model's stored codes have it.
int pb__o_value_of(pb_onnx* o, int tensor) {
  int v = pb__o_tensor(o, tensor);
  return pb__o_bad(o) ? -1 : o->door.value[v];
}

int pb__o_tensor_of(pb_onnx* o, int v) {
  int made = pb__new_tensor(o->l, o->n->name);
  if (pb__o_bad(o)) return made;
  o->l->value_of[made] = o->door.value[v];
  o->l->g->tensors[made].type = pb_made(&o->door.m, o->door.value[v])->type;
  return made;
}

// A variable like the value, as a tensor that nodes read. Codes without a sign are those of rows here, as they are.
int pb__o_variable(pb_onnx* o, int like) {
  int made = pb__new_tensor(o->l, o->n->name);
  if (pb__o_bad(o)) return made;
  if (pb_made(&o->door.m, like)->type == PB_UI8) pb__o_refuse(o, "codes without a sign from turn to turn");
  o->l->value_of[made] = pb_control_variable(&o->door.m, like);
  o->l->g->tensors[made].type = pb_made(&o->door.m, like)->type;
  return made;
}

void pb__o_assign(pb_onnx* o, int count, const int* variables, const int* tensors) {
  int to[2 * MOST_VALUES + 2], from[2 * MOST_VALUES + 2];
  for (int k = 0; k < count && !pb__o_bad(o); ++k) {
    to[k] = o->l->value_of[variables[k]];
    from[k] = pb__o_value_of(o, tensors[k]);
    if (pb__o_bad(o)) return;
    const pb_s1_value *a = pb_made(&o->door.m, to[k]), *b = pb_made(&o->door.m, from[k]);
    if (a->type != b->type || a->rank != b->rank || memcmp(a->shape, b->shape, sizeof(int64_t) * (size_t)a->rank) != 0)
      pb__o_refuse(o, "how it goes on is not constant, and a value changes its type or shape");
  }
  stand_at(o);
  if (!pb__o_bad(o)) pb_control_assign(&o->door.m, count, to, from);
}

void pb__o_give(pb_onnx* o, int k, int tensor) {
  if (pb__o_wants(o, k)) pb__o_node(o, "Identity", 1, &tensor, NULL, 0, o->n->outputs[k]);
}

// One branch or the other, by the host.
static void run_if(pb_onnx* o, const int* graph, int count) {
  int made[MOST_VALUES], result[MOST_VALUES];
  pb__o_truth(o, pb__input(o->n, 0));
  int by = pb__o_value_of(o, pb__input(o->n, 0));
  pb__o_mark(o, PB_S1_IF, by);
  for (int branch = 1; branch >= 0; --branch) {
    memset(made, 0xff, sizeof made);
    pb__o_expand_body(o, graph[branch], NULL, made);
    for (int k = 0; branch && k < count && !pb__o_bad(o); ++k)
      result[k] = pb__o_variable(o, pb__o_value_of(o, made[k]));
    pb__o_assign(o, count, result, made);
    pb__o_mark(o, branch ? PB_S1_ELSE : PB_S1_END, -1);
  }
  for (int k = 0; k < count; ++k) pb__o_give(o, k, result[k]);
}

void pb__o_op_if(pb_onnx* o) {
  int graph[2], made[2][MOST_VALUES], count = o->n->output_count;
  int64_t taken;
  const pb_subgraph* branch[2] = {pb__o_body(o, "else_branch", &graph[0]), pb__o_body(o, "then_branch", &graph[1])};
  for (int k = 0; k < 2 && !pb__o_bad(o); ++k)
    if (branch[k]->input_count || (int)branch[k]->output_count < count)
      pb__o_refuse(o, "a branch of %zu operands and %zu results for %d", branch[k]->input_count,
                   branch[k]->output_count, count);
  if (pb__o_bad(o)) return;
  if (branch[0]->output_count > MOST_VALUES || branch[1]->output_count > MOST_VALUES) {
    pb__o_refuse(o, "more than %d results", MOST_VALUES);
    return;
  }
  for (int k = 0; k < 2; ++k) memset(made[k], 0xff, sizeof made[k]);
  if (pb__o_known(o, pb__input(o->n, 0), &taken)) {
    memcpy(made[0], o->n->outputs, sizeof(int) * (size_t)count);
    pb__o_expand_body(o, graph[taken != 0], NULL, made[0]);
    return;
  }
  if (weight_of(o, branch[0]) > SHORT_BRANCH || weight_of(o, branch[1]) > SHORT_BRANCH) {
    run_if(o, graph, count);
    return;
  }
  int by = pb__o_truth(o, pb__input(o->n, 0));
  for (int k = 0; k < 2; ++k) pb__o_expand_body(o, graph[k], NULL, made[k]);
  for (int k = 0; k < count && !pb__o_bad(o); ++k) {
    if (!pb__o_wants(o, k)) continue;
    if (o->l->g->tensors[made[0][k]].is_sequence || o->l->g->tensors[made[1][k]].is_sequence)
      choose_items(o, k, made[1][k], made[0][k]);
    else
      pb__o_out(o, k, chosen(o, by, made[1][k], made[0][k]));
  }
}
