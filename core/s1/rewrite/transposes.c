// Transposes past operators of elements. Exporters of models whose images have their channels behind put each Conv and
// pool between two Transposes, and what works on elements on the turned images: Conv, Transpose, Relu, Transpose, Conv.
// Here an operator of elements is made of what was turned, and its result is turned instead; two Transposes that undo
// each other then meet, and who reads the second reads what the first one did. Those that nobody reads any more go
// where all that is unread goes.
#include "core/s1/lift/lift.h"

#include <stdlib.h>
#include <string.h>

typedef struct turner {
  pb_graph* g;
  pb_consts* consts;
  int* source;  // by tensor: what it is the turned form of, -1
  int* same_as; // by tensor: what it is, turned twice, -1
  size_t room;  // of those tables
  pb_node* nodes;
  size_t count, capacity;
} turner;

static const int64_t behind[PB_IMAGE_RANK] = {0, 2, 3, 1}, in_front[PB_IMAGE_RANK] = {0, 3, 1, 2};

static bool turns(const pb_node* n, const int64_t* order) {
  const pb_attr* perm = pb_node_attr(n, "perm");
  return !*n->domain && pb__is(n, "Transpose") && n->input_count == 1 && n->output_count == 1 && perm &&
         perm->count == PB_IMAGE_RANK && !memcmp(perm->ints, order, sizeof *order * PB_IMAGE_RANK);
}

static bool is_of_elements(const pb_node* n) {
  static const char* const names[] = {"Add",       "Clip",     "Div",       "Elu",  "HardSigmoid",
                                      "HardSwish", "Identity", "LeakyRelu", "Mul",  "Relu",
                                      "Sigmoid",   "Softplus", "Sub",       "Tanh", NULL};
  for (int k = 0; names[k] && !*n->domain && n->output_count == 1; ++k)
    if (pb__is(n, names[k])) return true;
  return false;
}

static int add_tensor(turner* t, pb_tensor tensor) {
  pb_graph* g = t->g;
  int at = (int)g->tensor_count;
  PB_PUSH(g->tensors, g->tensor_count, g->tensor_capacity, tensor);
  if (g->tensor_count > t->room) {
    size_t room = 2 * g->tensor_count;
    t->source = realloc(t->source, room * sizeof(int));
    t->same_as = realloc(t->same_as, room * sizeof(int));
    if (!t->source || !t->same_as) pb_no_memory(room);
    t->room = room;
  }
  t->source[at] = t->same_as[at] = -1;
  return at;
}

// A constant as an operand of images that are not turned: one number, or one for each channel; -1: another one.
static int constant_in_front(turner* t, int tensor) {
  const pb_tensor c = t->g->tensors[tensor];
  if (c.const_id < 0 || c.is_input) return -1;
  const pb_const* item = t->consts->items[c.const_id];
  int64_t channels = item->rank ? item->shape[item->rank - 1] : 1, elements = 1;
  for (int r = 0; r < item->rank; ++r) elements *= item->shape[r];
  if (item->rank > PB_IMAGE_RANK || elements != channels || !item->data) return -1;
  if (elements == 1) return tensor;
  const int64_t shape[] = {channels, 1, 1};
  pb_tensor made = c;
  made.const_id = pb_consts_add(t->consts, item->name, item->type, 3, shape, item->data);
  t->consts->items[made.const_id]->mapped = item->mapped;
  made.rank = 3;
  memcpy(made.shape, shape, sizeof shape);
  return add_tensor(t, made);
}

static void add_node(turner* t, pb_node node) { pb__append_node(t->g, &t->nodes, &t->count, &t->capacity, node); }

// The operator on what its operands were turned from, and its result turned; false: there is one that is something
// else.
static bool move(turner* t, pb_node n) {
  pb_graph* g = t->g;
  int* inputs = PB_NEW_ARRAY(&g->arena, int, (size_t)n.input_count + 1);
  bool any = false;
  for (int k = 0; k < n.input_count; ++k) {
    int from = n.inputs[k] < 0 ? -1 : t->source[n.inputs[k]];
    any |= from >= 0;
    inputs[k] = from >= 0 || n.inputs[k] < 0 ? from : constant_in_front(t, n.inputs[k]);
    if (n.inputs[k] >= 0 && inputs[k] < 0) return false;
  }
  if (!any) return false;
  int *made = PB_NEW(&g->arena, int), *turned = PB_NEW(&g->arena, int), *again = PB_NEW(&g->arena, int);
  *again = n.outputs[0];
  *turned = *made = add_tensor(t, (pb_tensor){.name = pb_printf(&g->arena, "%s.in_front", g->tensors[*again].name),
                                              .type = PB_TYPE_COUNT,
                                              .rank = -1,
                                              .const_id = -1,
                                              .producer = -1});
  pb_attr* perm = PB_NEW(&g->arena, pb_attr);
  int64_t* order = PB_NEW_ARRAY(&g->arena, int64_t, PB_IMAGE_RANK);
  memcpy(order, behind, sizeof behind);
  *perm =
      (pb_attr){.name = "perm", .kind = PB_ATTR_INTS, .count = PB_IMAGE_RANK, .ints = order, .tensor = -1, .graph = -1};
  n.inputs = inputs;
  n.outputs = made;
  add_node(t, n);
  add_node(t, (pb_node){.op = "Transpose",
                        .name = pb_printf(&g->arena, "%s.behind", n.name ? n.name : ""),
                        .domain = "",
                        .input_count = 1,
                        .output_count = 1,
                        .attr_count = 1,
                        .inputs = turned,
                        .outputs = again,
                        .attrs = perm});
  t->source[*again] = *made;
  return true;
}

static void take(turner* t, pb_node n) {
  for (int k = 0; k < n.input_count; ++k)
    if (n.inputs[k] >= 0 && t->same_as[n.inputs[k]] >= 0) n.inputs[k] = t->same_as[n.inputs[k]];
  if (turns(&n, behind)) t->source[n.outputs[0]] = n.inputs[0];
  if (turns(&n, in_front) && t->source[n.inputs[0]] >= 0) t->same_as[n.outputs[0]] = t->source[n.inputs[0]];
  if (!is_of_elements(&n) || !move(t, n)) add_node(t, n);
}

void pb__move_transposes(pb_graph* g, pb_consts* consts) {
  bool any = false;
  for (size_t k = 0; k < g->node_count; ++k) any |= turns(&g->nodes[k], in_front);
  if (!any) return;
  turner t = {.g = g, .consts = consts, .room = g->tensor_count + 1};
  t.source = malloc(t.room * sizeof(int));
  t.same_as = malloc(t.room * sizeof(int));
  if (!t.source || !t.same_as) pb_no_memory(t.room);
  for (size_t k = 0; k < g->tensor_count; ++k) t.source[k] = t.same_as[k] = -1;
  for (size_t k = 0; k < g->node_count; ++k) take(&t, g->nodes[k]);
  free(g->nodes);
  g->nodes = t.nodes;
  g->node_count = t.count;
  g->node_capacity = t.capacity;
  free(t.source);
  free(t.same_as);
}
