// If, Loop and Scan. What is known when it is compiled is written out: the branch that is taken, a loop's turns. A
// branch that is not known is computed beside the other one, and the results chosen among: no operator has effects.
#include "core/frontend/onnx/emit.h"

#include <string.h>

enum { MOST_TURNS = 4096, MOST_VALUES = 64 };

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
  int by = truth(o, pb__input(o->n, 0));
  for (int k = 0; k < 2; ++k) expand(o, graph[k], NULL, made[k]);
  for (int k = 0; k < count && !pb__o_bad(o); ++k)
    if (pb__o_wants(o, k)) pb__o_out(o, k, chosen(o, by, made[1][k], made[0][k]));
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

static void join(pb_onnx* o, gathered* g, int k, int64_t axis, bool turned) {
  pb_attr at = {.name = "axis", .kind = PB_ATTR_INT, .i = axis, .tensor = -1, .graph = -1};
  if (!pb__o_wants(o, k) || pb__o_bad(o)) return;
  if (!g->count) pb__o_refuse(o, "no turn at all, so that its result %d has no elements", k);
  for (int a = 0, b = g->count - 1; turned && a < b; ++a, --b) {
    int first = g->parts[a];
    g->parts[a] = g->parts[b];
    g->parts[b] = first;
  }
  pb__o_node(o, "Concat", g->count, g->parts, &at, 1, o->n->outputs[k]);
}

static void give(pb_onnx* o, int k, int tensor) {
  if (pb__o_wants(o, k)) pb__o_node(o, "Identity", 1, &tensor, NULL, 0, o->n->outputs[k]);
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

static void loop(pb_onnx* o, int graph, int carried, int scanned, int64_t turns) {
  int now[MOST_VALUES + 2], made[2 * MOST_VALUES], goes_on = pb__input(o->n, 1);
  gathered* all = PB_NEW_ARRAY(&o->arena, gathered, (size_t)scanned + 1);
  int64_t truth = 1;
  for (int k = 0; k < carried; ++k) now[k + 2] = o->n->inputs[k + 2];
  for (int64_t turn = 0; !pb__o_bad(o); ++turn) {
    bool sure = goes_on < 0 || known(o, goes_on, &truth);
    if (turn >= turns || (sure && !truth)) break;
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
  for (int k = 0; k < scanned; ++k) join(o, &all[k], k + carried, 0, false);
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
  if (pb__o_has(o, 0) && !known(o, pb__input(o->n, 0), &turns)) pb__o_refuse(o, "how often it turns is not constant");
  if (!pb__o_bad(o)) loop(o, graph, carried, scanned, turns);
}

// An attribute's numbers, as many as there are of what it is about; 0 where it is left out.
static void numbers(pb_onnx* o, const char* name, int count, int64_t* items) { pb__o_ints(o, name, count, 0, items); }

typedef struct scan {
  int graph, carried, read, made;
  int64_t axis[MOST_VALUES], turned[MOST_VALUES], out_axis[MOST_VALUES], out_turned[MOST_VALUES];
} scan;

// The place of an operand along its axis in a turn, without that dim.
static int part_of(pb_onnx* o, const scan* s, int k, int64_t at) {
  int whole = o->n->inputs[s->carried + k];
  pb_attr attrs[3] = {pb__o_axes(o, "starts", at), pb__o_axes(o, "ends", at + 1), pb__o_axes(o, "axes", s->axis[k])};
  int part = pb__o_node(o, "Slice", 1, &whole, attrs, 3, -1);
  return pb__o_node(o, "Squeeze", 1, &part, &attrs[2], 1, -1);
}

static int64_t turns_of(pb_onnx* o, scan* s) {
  int64_t turns = -1;
  for (int k = 0; k < s->read && !pb__o_bad(o); ++k) {
    int v = pb__o_tensor(o, o->n->inputs[s->carried + k]);
    s->axis[k] = pb__o_axis(o, s->axis[k], pb__o_type(o, v)->rank);
    if (pb__o_bad(o)) break;
    int64_t extent = pb__o_type(o, v)->shape[s->axis[k]];
    if (turns >= 0 && extent != turns) pb__o_refuse(o, "operands of different lengths");
    turns = extent;
  }
  if (turns > MOST_TURNS) pb__o_refuse(o, "more than %d turns", MOST_TURNS);
  return turns;
}

static void turn_scan(pb_onnx* o, const scan* s, int64_t turns) {
  int now[MOST_VALUES + 1], made[MOST_VALUES + 1];
  gathered* all = PB_NEW_ARRAY(&o->arena, gathered, (size_t)s->made + 1);
  for (int k = 0; k < s->carried; ++k) now[k] = o->n->inputs[k];
  for (int64_t turn = 0; turn < turns && !pb__o_bad(o); ++turn) {
    for (int k = 0; k < s->read; ++k) now[s->carried + k] = part_of(o, s, k, s->turned[k] ? turns - 1 - turn : turn);
    memset(made, 0xff, sizeof made);
    expand(o, s->graph, now, made);
    for (int k = 0; k < s->carried; ++k) now[k] = made[k];
    for (int k = 0; k < s->made; ++k) gather(o, &all[k], made[s->carried + k], s->out_axis[k]);
  }
  for (int k = 0; k < s->carried; ++k) give(o, k, now[k]);
  for (int k = 0; k < s->made; ++k) join(o, &all[k], s->carried + k, s->out_axis[k], s->out_turned[k] != 0);
}

void pb__o_op_scan(pb_onnx* o) {
  scan s = {0};
  const pb_subgraph* body = body_of(o, "body", &s.graph);
  int64_t reads = pb__o_int(o, "num_scan_inputs", 0);
  if (pb__o_bad(o)) return;
  if (reads < 1 || reads > o->n->input_count || o->n->input_count > MOST_VALUES || body->output_count > MOST_VALUES)
    pb__o_refuse(o, "num_scan_inputs %lld of %d", (long long)reads, o->n->input_count);
  if (pb__o_bad(o)) return;
  s.read = (int)reads;
  s.carried = o->n->input_count - s.read;
  s.made = (int)body->output_count - s.carried;
  if ((int)body->input_count != o->n->input_count || s.made < 0 || o->n->output_count > s.carried + s.made)
    pb__o_refuse(o, "a body of %zu operands and %zu results", body->input_count, body->output_count);
  if (pb__o_bad(o)) return;
  numbers(o, "scan_input_axes", s.read, s.axis);
  numbers(o, "scan_input_directions", s.read, s.turned);
  numbers(o, "scan_output_axes", s.made, s.out_axis);
  numbers(o, "scan_output_directions", s.made, s.out_turned);
  for (int k = 0; k < s.made; ++k)
    if (s.out_axis[k] < 0) pb__o_refuse(o, "results along an axis from the end");
  int64_t turns = turns_of(o, &s);
  if (!pb__o_bad(o)) turn_scan(o, &s, turns);
}
