// If, Loop and Scan. What is known when it is compiled is written out: the branch that is taken, a loop's turns. Loops
// that data end are the host's (core/s1/control.h). A branch that is not known is the host's too where it is long; a
// short one is computed beside the other one, and the results chosen among: no operator has effects.
#include "core/s1/control.h"
#include "core/frontend/onnx/emit.h"

#include <string.h>

enum { MOST_TURNS = 4096, MOST_VALUES = 64, SHORT_BRANCH = 24, SHORT_LOOP = 16 };

// The number that a tensor always is.
static bool known(const pb_onnx* o, int tensor, int64_t* number) {
  const pb_const* c = pb__constant(o->l, tensor);
  if (!c || c->bytes == 0 || (c->type != PB_I1 && c->type != PB_I64) ||
      c->bytes > (c->type == PB_I1 ? 1 : sizeof *number))
    return false;
  *number = 0;
  memcpy(number, c->data, c->bytes);
  return true;
}

static const pb_subgraph* body_of(pb_onnx* o, const char* name, int* id) {
  const pb_attr* a = pb_node_attr(o->n, name);
  if (!a || a->graph < 0) pb__o_refuse(o, "attribute '%s' is no graph", name);
  *id = pb__o_bad(o) ? -1 : a->graph;
  return *id < 0 ? NULL : &o->l->g->subgraphs[*id];
}

static void expand(pb_onnx* o, int graph, const int* in, int* out) {
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

static int constant(pb_onnx* o, pb_type type, int64_t value) {
  int made = pb__new_tensor(o->l, o->n->name);
  pb__o_give_number(o, made, type, value);
  return made;
}

// ---- If ----

static int truth(pb_onnx* o, int tensor) {
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

static void mark(pb_onnx* o, pb_s1_kind kind, int x) {
  stand_at(o);
  if (!pb__o_bad(o)) pb_control_mark(&o->door.m, kind, x);
}

// S1's value of a tensor: one of its own, as the model's stored codes have it.
static int value_of(pb_onnx* o, int tensor) {
  int v = pb__o_tensor(o, tensor);
  return pb__o_bad(o) ? -1 : o->door.value[v];
}

// A variable like the value, as a tensor that nodes read. Codes without a sign are those of rows here, as they are.
static int variable(pb_onnx* o, int like) {
  int made = pb__new_tensor(o->l, o->n->name);
  if (pb__o_bad(o)) return made;
  if (pb_made(&o->door.m, like)->type == PB_UI8) pb__o_refuse(o, "codes without a sign from turn to turn");
  o->l->value_of[made] = pb_control_variable(&o->door.m, like);
  o->l->g->tensors[made].type = pb_made(&o->door.m, like)->type;
  return made;
}

static void assign(pb_onnx* o, int count, const int* variables, const int* tensors) {
  int to[2 * MOST_VALUES], from[2 * MOST_VALUES];
  for (int k = 0; k < count && !pb__o_bad(o); ++k) {
    to[k] = o->l->value_of[variables[k]];
    from[k] = value_of(o, tensors[k]);
    if (pb__o_bad(o)) return;
    const pb_s1_value *a = pb_made(&o->door.m, to[k]), *b = pb_made(&o->door.m, from[k]);
    if (a->type != b->type || a->rank != b->rank || memcmp(a->shape, b->shape, sizeof(int64_t) * (size_t)a->rank) != 0)
      pb__o_refuse(o, "how it goes on is not constant, and a value changes its type or shape");
  }
  stand_at(o);
  if (!pb__o_bad(o)) pb_control_assign(&o->door.m, count, to, from);
}

static void give(pb_onnx* o, int k, int tensor) {
  if (pb__o_wants(o, k)) pb__o_node(o, "Identity", 1, &tensor, NULL, 0, o->n->outputs[k]);
}

static void refuse_open(pb_onnx* o) {
  if (o->l->consts->open) pb__o_refuse(o, "how it goes on is not constant, and dims are open");
}

// One branch or the other, by the host.
static void run_if(pb_onnx* o, const int* graph, int count) {
  int made[MOST_VALUES], result[MOST_VALUES];
  truth(o, pb__input(o->n, 0));
  int by = value_of(o, pb__input(o->n, 0));
  mark(o, PB_S1_IF, by);
  for (int branch = 1; branch >= 0; --branch) {
    memset(made, 0xff, sizeof made);
    expand(o, graph[branch], NULL, made);
    for (int k = 0; branch && k < count && !pb__o_bad(o); ++k) result[k] = variable(o, value_of(o, made[k]));
    assign(o, count, result, made);
    mark(o, branch ? PB_S1_ELSE : PB_S1_END, -1);
  }
  for (int k = 0; k < count; ++k) give(o, k, result[k]);
}

void pb__o_op_if(pb_onnx* o) {
  int graph[2], made[2][MOST_VALUES], count = o->n->output_count;
  int64_t taken;
  const pb_subgraph* branch[2] = {body_of(o, "else_branch", &graph[0]), body_of(o, "then_branch", &graph[1])};
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
  if (known(o, pb__input(o->n, 0), &taken)) {
    memcpy(made[0], o->n->outputs, sizeof(int) * (size_t)count);
    expand(o, graph[taken != 0], NULL, made[0]);
    return;
  }
  if ((weight_of(o, branch[0]) > SHORT_BRANCH || weight_of(o, branch[1]) > SHORT_BRANCH) && !o->l->consts->open) {
    run_if(o, graph, count);
    return;
  }
  int by = truth(o, pb__input(o->n, 0));
  for (int k = 0; k < 2; ++k) expand(o, graph[k], NULL, made[k]);
  for (int k = 0; k < count && !pb__o_bad(o); ++k) {
    if (!pb__o_wants(o, k)) continue;
    if (o->l->g->tensors[made[0][k]].is_sequence || o->l->g->tensors[made[1][k]].is_sequence)
      choose_items(o, k, made[1][k], made[0][k]);
    else
      pb__o_out(o, k, chosen(o, by, made[1][k], made[0][k]));
  }
}

// ---- loops ----

// What is gathered turn by turn.
typedef struct gathered {
  int *parts, count, capacity;
} gathered;

static void gather(pb_onnx* o, gathered* g, int tensor, int64_t axis) {
  pb_attr at = pb__o_axes(o, "axes", axis);
  int part = pb__o_node(o, "Unsqueeze", 1, &tensor, &at, 1, -1);
  if (g->count == g->capacity) {
    int* more = PB_NEW_ARRAY(&o->arena, int, 2 * (size_t)g->capacity + 16);
    if (g->count) memcpy(more, g->parts, sizeof *more * (size_t)g->count);
    g->parts = more;
    g->capacity = 2 * g->capacity + 16;
  }
  g->parts[g->count++] = part;
}

// To a tensor that they become; -1: one of their own, which is returned.
static int join(pb_onnx* o, gathered* g, int k, int64_t axis, bool turned, int out) {
  pb_attr at = {.name = "axis", .kind = PB_ATTR_INT, .i = axis, .tensor = -1, .graph = -1};
  if (!pb__o_wants(o, k) || pb__o_bad(o)) return out;
  if (!g->count) pb__o_refuse(o, "no turn at all, so that its result %d has no elements", k);
  for (int a = 0, b = g->count - 1; turned && a < b; ++a, --b) {
    int first = g->parts[a];
    g->parts[a] = g->parts[b];
    g->parts[b] = first;
  }
  return pb__o_node(o, "Concat", g->count, g->parts, &at, 1, out);
}

// Carried values of a turn that may not be: what was there before stays.
static void keep_unless(pb_onnx* o, int goes_on, int count, const int* before, int* now) {
  for (int k = 0; k < count && !pb__o_bad(o); ++k) {
    int a = pb__o_tensor(o, now[k]), b = pb__o_tensor(o, before[k]);
    if (!pb__o_bad(o) && !pb__o_same_shape(o, a, b))
      pb__o_refuse(o, "how often it turns is not constant, and a value changes its shape");
    now[k] = pb__o_node(o, "Where", 3, (const int[]){goes_on, now[k], before[k]}, NULL, 0, -1);
  }
}

// The rest of the turns by the host, from this one on. Turn and condition are variables beside those that the model
// carries: the body begins as long as both say so.
static void run_loop(pb_onnx* o, int graph, int carried, int64_t turn, int goes_on, const int* now) {
  int variables[MOST_VALUES + 2], next[MOST_VALUES + 2], made[2 * MOST_VALUES], most = pb__input(o->n, 0);
  next[0] = constant(o, PB_I64, turn);
  next[1] = goes_on < 0 ? constant(o, PB_I1, 1) : goes_on;
  for (int k = 0; k < carried; ++k)
    if (o->l->g->tensors[now[k]].is_sequence)
      pb__o_refuse(o, "how often it turns is not constant, and a value is a sequence");
  refuse_open(o);
  if (most >= 0 && !pb__o_bad(o) && pb__o_elements(o, pb__o_tensor(o, most)) != 1)
    pb__o_refuse(o, "a number of turns that is no one number");
  truth(o, next[1]);
  for (int k = 0; k < carried; ++k) next[k + 2] = now[k];
  for (int k = 0; k < carried + 2 && !pb__o_bad(o); ++k) variables[k] = variable(o, value_of(o, next[k]));
  assign(o, carried + 2, variables, next);
  mark(o, PB_S1_LOOP, -1);
  int by = variables[1];
  if (most >= 0) {
    int less = pb__o_node(o, "Less", 2, (const int[]){variables[0], most}, NULL, 0, -1);
    by = pb__o_node(o, "And", 2, (const int[]){less, variables[1]}, NULL, 0, -1);
  }
  int holds = value_of(o, by);
  mark(o, PB_S1_WHILE, holds);
  memset(made, 0xff, sizeof made);
  expand(o, graph, variables, made);
  next[0] = pb__o_node(o, "Add", 2, (const int[]){variables[0], constant(o, PB_I64, 1)}, NULL, 0, -1);
  next[1] = made[0];
  for (int k = 0; k < carried; ++k) next[k + 2] = made[k + 1];
  assign(o, carried + 2, variables, next);
  mark(o, PB_S1_AGAIN, -1);
  for (int k = 0; k < carried; ++k) give(o, k, variables[k + 2]);
}

// Written out as long as it is known whether it goes on; what is left of a long one where that is not is the host's,
// unless results are gathered, whose shapes hang on it.
static void loop(pb_onnx* o, int graph, int carried, int scanned, int64_t turns) {
  int now[MOST_VALUES + 2], made[2 * MOST_VALUES], goes_on = pb__input(o->n, 1);
  gathered* all = PB_NEW_ARRAY(&o->arena, gathered, (size_t)scanned + 1);
  int64_t truth = 1;
  for (int k = 0; k < carried; ++k) now[k + 2] = o->n->inputs[k + 2];
  for (int64_t turn = 0; !pb__o_bad(o); ++turn) {
    bool sure = goes_on < 0 || known(o, goes_on, &truth);
    if (turn >= turns || (sure && !truth)) break;
    if (!scanned && !o->l->consts->open && (sure ? turn == MOST_TURNS : turns - turn > SHORT_LOOP)) {
      run_loop(o, graph, carried, turn, goes_on, now + 2);
      return;
    }
    if (!sure && scanned) pb__o_refuse(o, "how often it turns is not constant, and so its results' shapes");
    if (turn == MOST_TURNS) pb__o_refuse(o, "more than %d turns", MOST_TURNS);
    now[0] = constant(o, PB_I64, turn);
    now[1] = sure ? constant(o, PB_I1, 1) : goes_on;
    memset(made, 0xff, sizeof made);
    expand(o, graph, now, made);
    if (!sure) keep_unless(o, goes_on, carried, now + 2, made + 1);
    for (int k = 0; k < carried; ++k) now[k + 2] = made[k + 1];
    for (int k = 0; k < scanned; ++k) gather(o, &all[k], made[k + 1 + carried], 0);
    goes_on = sure || pb__o_bad(o) ? made[0] : pb__o_node(o, "And", 2, (const int[]){goes_on, made[0]}, NULL, 0, -1);
  }
  for (int k = 0; k < carried; ++k) give(o, k, now[k + 2]);
  for (int k = 0; k < scanned; ++k) join(o, &all[k], k + carried, 0, false, o->n->outputs[k + carried]);
}

void pb__o_op_loop(pb_onnx* o) {
  int graph, carried = o->n->input_count - 2;
  int64_t turns = INT64_MAX;
  const pb_subgraph* body = body_of(o, "body", &graph);
  if (pb__o_bad(o)) return;
  int scanned = (int)body->output_count - 1 - carried;
  if ((int)body->input_count != carried + 2 || scanned < 0 || o->n->output_count > carried + scanned)
    pb__o_refuse(o, "a body of %zu operands and %zu results", body->input_count, body->output_count);
  if (carried > MOST_VALUES || scanned >= MOST_VALUES) pb__o_refuse(o, "more than %d values", MOST_VALUES);
  if (pb__o_bad(o)) return;
  bool counted = !pb__o_has(o, 0) || known(o, pb__input(o->n, 0), &turns);
  bool is_long = pb__o_has(o, 0) && turns > MOST_TURNS;
  if (!counted && scanned) pb__o_refuse(o, "how often it turns is not constant, and so its results' shapes");
  if (pb__o_bad(o)) return;
  if ((!counted || is_long) && !scanned)
    run_loop(o, graph, carried, 0, pb__input(o->n, 1), o->n->inputs + 2);
  else
    loop(o, graph, carried, scanned, turns);
}

// An attribute's numbers, as many as there are of what it is about; 0 where it is left out.
static void numbers(pb_onnx* o, const char* name, int count, int64_t* items) { pb__o_ints(o, name, count, 0, items); }

typedef struct scan {
  int graph, carried, read, made;
  int64_t axis[MOST_VALUES], turned[MOST_VALUES], out_axis[MOST_VALUES], out_turned[MOST_VALUES];
} scan;

// The place of a tensor along an axis, without that dim.
static int part_of(pb_onnx* o, int whole, int64_t axis, int64_t at) {
  pb_attr attrs[3] = {pb__o_axes(o, "starts", at), pb__o_axes(o, "ends", at + 1), pb__o_axes(o, "axes", axis)};
  int part = pb__o_node(o, "Slice", 1, &whole, attrs, 3, -1);
  return pb__o_node(o, "Squeeze", 1, &part, &attrs[2], 1, -1);
}

static int64_t turns_of(pb_onnx* o, scan* s, const int* in) {
  int64_t turns = -1;
  for (int k = 0; k < s->read && !pb__o_bad(o); ++k) {
    int v = pb__o_tensor(o, in[s->carried + k]);
    s->axis[k] = pb__o_axis(o, s->axis[k], pb__o_type(o, v)->rank);
    if (pb__o_bad(o)) break;
    int64_t extent = pb__o_type(o, v)->shape[s->axis[k]];
    if (turns >= 0 && extent != turns) pb__o_refuse(o, "operands of different lengths");
    turns = extent;
  }
  if (turns > MOST_TURNS) pb__o_refuse(o, "more than %d turns", MOST_TURNS);
  return turns;
}

// out: what the gathered results are to be, -1: tensors of their own. The carried ones are those of the last turn.
static void turn_scan(pb_onnx* o, scan* s, const int* in, int* out) {
  int now[MOST_VALUES + 1], made[MOST_VALUES + 1];
  int64_t turns = turns_of(o, s, in);
  gathered* all = PB_NEW_ARRAY(&o->arena, gathered, (size_t)s->made + 1);
  for (int k = 0; k < s->carried; ++k) now[k] = in[k];
  for (int64_t turn = 0; turn < turns && !pb__o_bad(o); ++turn) {
    for (int k = 0; k < s->read; ++k)
      now[s->carried + k] = part_of(o, in[s->carried + k], s->axis[k], s->turned[k] ? turns - 1 - turn : turn);
    memset(made, 0xff, sizeof made);
    expand(o, s->graph, now, made);
    for (int k = 0; k < s->carried; ++k) now[k] = made[k];
    for (int k = 0; k < s->made; ++k) gather(o, &all[k], made[s->carried + k], s->out_axis[k]);
  }
  for (int k = 0; k < s->carried; ++k) out[k] = now[k];
  for (int k = s->carried; k < s->carried + s->made; ++k)
    out[k] = join(o, &all[k - s->carried], k, s->out_axis[k - s->carried], s->out_turned[k - s->carried] != 0, out[k]);
}

// As opset 8 has it: dim 0 is one of examples, each of which is scanned for itself.
static void scan_examples(pb_onnx* o, scan* s, const int* in) {
  int inputs = s->carried + s->read, outputs = s->carried + s->made, part[MOST_VALUES], out[MOST_VALUES];
  gathered* all = PB_NEW_ARRAY(&o->arena, gathered, (size_t)outputs + 1);
  int64_t examples = -1;
  for (int k = 0; k < inputs && !pb__o_bad(o); ++k) {
    const pb_flat_type* t = pb__o_type(o, pb__o_tensor(o, in[k]));
    if (!pb__o_bad(o) && (t->rank < 1 || (examples >= 0 && t->shape[0] != examples)))
      pb__o_refuse(o, "operands of different numbers of examples");
    if (!pb__o_bad(o)) examples = t->shape[0];
  }
  if (examples > MOST_TURNS) pb__o_refuse(o, "more than %d examples", MOST_TURNS);
  for (int64_t at = 0; at < examples && !pb__o_bad(o); ++at) {
    for (int k = 0; k < inputs; ++k) part[k] = part_of(o, in[k], 0, at);
    memset(out, 0xff, sizeof out);
    turn_scan(o, s, part, out);
    for (int k = 0; k < outputs && !pb__o_bad(o); ++k)
      if (pb__o_wants(o, k)) gather(o, &all[k], out[k], 0);
  }
  for (int k = 0; k < outputs; ++k) join(o, &all[k], k, 0, false, pb__o_wants(o, k) ? o->n->outputs[k] : -1);
}

void pb__o_op_scan(pb_onnx* o) {
  scan s = {0};
  bool examples = pb__o_opset(o) == 8;
  const pb_subgraph* body = body_of(o, "body", &s.graph);
  int64_t reads = pb__o_int(o, "num_scan_inputs", 0);
  int inputs = o->n->input_count - examples, out[MOST_VALUES]; // the first one was the examples' lengths
  if (pb__o_bad(o)) return;
  if (reads < 1 || reads > inputs || inputs > MOST_VALUES || body->output_count > MOST_VALUES)
    pb__o_refuse(o, "num_scan_inputs %lld of %d", (long long)reads, inputs);
  if (examples && pb__o_has(o, 0)) pb__o_refuse(o, "examples of several lengths");
  if (!examples && pb_node_attr(o->n, "directions")) pb__o_refuse(o, "an attribute 'directions', which is opset 8's");
  if (pb__o_bad(o)) return;
  s.read = (int)reads;
  s.carried = inputs - s.read;
  s.made = (int)body->output_count - s.carried;
  if ((int)body->input_count != inputs || s.made < 0 || o->n->output_count > s.carried + s.made)
    pb__o_refuse(o, "a body of %zu operands and %zu results", body->input_count, body->output_count);
  if (pb__o_bad(o)) return;
  numbers(o, "scan_input_axes", s.read, s.axis);
  numbers(o, examples ? "directions" : "scan_input_directions", s.read, s.turned);
  numbers(o, "scan_output_axes", s.made, s.out_axis);
  numbers(o, "scan_output_directions", s.made, s.out_turned);
  if (pb__o_bad(o)) return;
  if (examples) {
    scan_examples(o, &s, o->n->inputs + 1);
    return;
  }
  for (int k = 0; k < s.carried + s.made; ++k) out[k] = pb__o_wants(o, k) ? o->n->outputs[k] : -1;
  turn_scan(o, &s, o->n->inputs, out);
  for (int k = 0; k < s.carried; ++k) give(o, k, out[k]);
}
