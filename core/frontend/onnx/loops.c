// Loop and Scan. Few turns that are known are written out: what a turn's number decides is decided when it is compiled.
// Many, and those that data end, are the host's (core/s1/control.h): the body is compiled once, and what is gathered
// turn by turn is put where it lies in all of them.
#include "core/frontend/onnx/control.h"
#include "core/frontend/onnx/emit.h"

#include <string.h>

enum { MOST_TURNS = 4096, MOST_VALUES = PB_O_CARRIED, SHORT_LOOP = 16, FEW_OPERATORS = 1000 };

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

// ---- turned by the host ----

// A Loop or a Scan: operands are values from turn to turn, and then those of which each turn reads a part; results are
// the values, and then what is gathered.
typedef struct repeated {
  int graph, carried, read, made;
  bool numbered; // the body takes its turn's number and a condition as well, and makes a condition
  int64_t axis[MOST_VALUES], turned[MOST_VALUES], out_axis[MOST_VALUES], out_turned[MOST_VALUES];
} repeated;

// The turns by the host, from this one on. Turn and condition are variables beside those that the model carries: the
// body begins as long as both say so.
static void run_loop(pb_onnx* o, const repeated* s, int64_t turn, int goes_on, const int* now) {
  int variables[MOST_VALUES + 2], next[MOST_VALUES + 2], made[2 * MOST_VALUES], most = pb__input(o->n, 0);
  next[0] = pb__o_new_number(o, PB_I64, turn);
  next[1] = goes_on < 0 ? pb__o_new_number(o, PB_I1, 1) : goes_on;
  for (int k = 0; k < s->carried; ++k)
    if (o->l->g->tensors[now[k]].is_sequence)
      pb__o_refuse(o, "how often it turns is not constant, and a value is a sequence");
  if (most >= 0 && !pb__o_bad(o) && pb__o_elements(o, pb__o_tensor(o, most)) != 1)
    pb__o_refuse(o, "a number of turns that is no one number");
  pb__o_truth(o, next[1]);
  for (int k = 0; k < s->carried; ++k) next[k + 2] = now[k];
  for (int k = 0; k < s->carried + 2 && !pb__o_bad(o); ++k)
    variables[k] = pb__o_variable(o, pb__o_value_of(o, next[k]));
  pb__o_assign(o, s->carried + 2, variables, next);
  pb__o_mark(o, PB_S1_LOOP, -1);
  int by = variables[1];
  if (most >= 0) {
    int less = pb__o_node(o, "Less", 2, (const int[]){variables[0], most}, NULL, 0, -1);
    by = pb__o_node(o, "And", 2, (const int[]){less, variables[1]}, NULL, 0, -1);
  }
  int holds = pb__o_value_of(o, by);
  pb__o_mark(o, PB_S1_WHILE, holds);
  memset(made, 0xff, sizeof made);
  pb__o_expand_body(o, s->graph, variables, made);
  next[0] = pb__o_node(o, "Add", 2, (const int[]){variables[0], pb__o_new_number(o, PB_I64, 1)}, NULL, 0, -1);
  next[1] = made[0];
  for (int k = 0; k < s->carried; ++k) next[k + 2] = made[k + 1];
  pb__o_assign(o, s->carried + 2, variables, next);
  pb__o_mark(o, PB_S1_AGAIN, -1);
  for (int k = 0; k < s->carried; ++k) pb__o_give(o, k, variables[k + 2]);
}

// Where all that is gathered lies, turn by turn: as many as `part`, one turn's with a dim of 1 at `axis`.
static int place_for(pb_onnx* o, int part, int64_t axis, int64_t turns) {
  const pb_flat_type one = *pb__o_type(o, pb__o_tensor(o, part));
  int64_t shape[PB_FLAT_RANK] = {turns};
  for (int r = 0, to = 1; r < one.rank; ++r)
    if (r != axis) shape[to++] = one.shape[r];
  return pb__o_tensor_of(o, pb__o_expand(o, pb__o_number(o, one.type, 0), one.rank, shape));
}

// The part of an operand that the turn of that number reads, without its dim.
static int part_at(pb_onnx* o, int whole, int64_t axis, int turn) {
  int v = pb__o_tensor(o, whole);
  const pb_flat_type t = *pb__o_type(o, v);
  int64_t shape[PB_FLAT_RANK];
  for (int r = 0, to = 0; r < t.rank; ++r)
    if (r != axis) shape[to++] = t.shape[r];
  return pb__o_tensor_of(o, pb__o_reshape(o, pb__o_part_at(o, v, (int)axis, turn, 1), t.rank - 1, shape));
}

// Puts one turn's result where it lies among all turns'.
static void put(pb_onnx* o, int place, int made, int turn) {
  int y = pb__o_tensor(o, made);
  const pb_flat_type t = *pb__o_type(o, y), all = *pb__o_type(o, pb__o_tensor(o, place));
  int64_t shape[PB_FLAT_RANK] = {1};
  bool same = !pb__o_bad(o) && t.type == all.type && t.rank == all.rank - 1;
  for (int r = 0; same && r < t.rank; ++r) same = (shape[r + 1] = t.shape[r]) == all.shape[r + 1];
  if (!same) pb__o_refuse(o, "results of its turns are of several types or shapes");
  y = pb__o_bad(o) ? y : pb__o_reshape(o, y, all.rank, shape);
  int to = pb__o_value_of(o, place);
  o->door.m.type = o->n->op;
  if (!pb__o_bad(o)) pb_control_place(&o->door.m, to, o->door.value[y], 0, o->door.value[turn]);
}

// What was gathered, its turns along the axis.
static int along(pb_onnx* o, int place, int64_t axis) {
  int rank = pb__o_type(o, pb__o_tensor(o, place))->rank;
  int64_t* order = PB_NEW_ARRAY(&o->l->g->arena, int64_t, (size_t)rank + 1);
  for (int r = 0; r < rank; ++r) order[r] = r < axis ? r + 1 : r == axis ? 0 : r;
  pb_attr perm = {.name = "perm", .kind = PB_ATTR_INTS, .count = rank, .ints = order, .tensor = -1, .graph = -1};
  return axis ? pb__o_node(o, "Transpose", 1, &place, &perm, 1, -1) : place;
}

// So many turns by the host. parts: one turn's result, by what is gathered. in, out: of the whole.
static void run_turns(pb_onnx* o, const repeated* s, int64_t turns, const int* in, const int* parts, int* out) {
  int first[2 * MOST_VALUES + 1], variables[2 * MOST_VALUES + 1], take[MOST_VALUES + 2], made[2 * MOST_VALUES + 1];
  int count = 1 + s->carried + s->made, *places = variables + 1 + s->carried;
  first[0] = pb__o_new_number(o, PB_I64, 0);
  for (int k = 0; k < s->carried; ++k) {
    first[1 + k] = in[k];
    if (o->l->g->tensors[in[k]].is_sequence) pb__o_refuse(o, "many turns, and a value is a sequence");
  }
  for (int k = 0; k < s->made && !pb__o_bad(o); ++k)
    first[1 + s->carried + k] = place_for(o, parts[k], s->out_axis[k], turns);
  for (int k = 0; k < count && !pb__o_bad(o); ++k) variables[k] = pb__o_variable(o, pb__o_value_of(o, first[k]));
  pb__o_assign(o, count, variables, first);
  pb__o_mark(o, PB_S1_LOOP, -1);
  if (pb__o_bad(o)) return;
  int turn = pb__o_tensor(o, variables[0]);
  int less = pb__o_compare(o, "LT", turn, pb__o_integer(o, PB_I64, turns));
  pb__o_mark(o, PB_S1_WHILE, pb__o_bad(o) ? -1 : o->door.value[less]);
  int at = 0, from_end = pb__o_sub(o, pb__o_integer(o, PB_I64, turns - 1), turn);
  if (s->numbered) take[at++] = variables[0], take[at++] = pb__o_new_number(o, PB_I1, 1);
  for (int k = 0; k < s->carried; ++k) take[at++] = variables[1 + k];
  for (int k = 0; k < s->read && !pb__o_bad(o); ++k)
    take[at++] = part_at(o, in[s->carried + k], s->axis[k], s->turned[k] ? from_end : turn);
  memset(made, 0xff, sizeof made);
  pb__o_expand_body(o, s->graph, take, made);
  int64_t goes_on = 1;
  if (s->numbered && !pb__o_bad(o) && !(pb__o_known(o, made[0], &goes_on) && goes_on))
    pb__o_refuse(o, "how often it turns is not constant, and so its results' shapes");
  const int* results = made + s->numbered;
  for (int k = 0; k < s->made && !pb__o_bad(o); ++k)
    put(o, places[k], results[s->carried + k], s->out_turned[k] ? from_end : turn);
  first[0] = pb__o_node(o, "Add", 2, (const int[]){variables[0], pb__o_new_number(o, PB_I64, 1)}, NULL, 0, -1);
  memcpy(first + 1, results, sizeof *first * (size_t)s->carried);
  pb__o_assign(o, 1 + s->carried, variables, first);
  pb__o_mark(o, PB_S1_AGAIN, -1);
  memcpy(out, variables + 1, sizeof *out * (size_t)s->carried);
  for (int k = 0; k < s->made; ++k) out[s->carried + k] = along(o, places[k], s->out_axis[k]);
}

// ---- written out, or not ----

// What stood in a program before something was tried that may have to go again.
typedef struct state {
  size_t ops, values, guards, tensors;
  int* value_of;
  int symbols, sources;
  bool open;
  const char* impossible;
} state;

static state keep_state(pb_onnx* o) {
  const pb_symbols* symbols = o->l->consts->symbols;
  state s = {.ops = o->door.m.program->op_count,
             .values = o->door.m.program->value_count,
             .guards = o->l->consts->guard_count,
             .tensors = o->l->g->tensor_count,
             .symbols = symbols ? symbols->count : 0,
             .sources = symbols ? symbols->source_count : 0,
             .open = o->l->consts->open,
             .impossible = o->l->impossible};
  s.value_of = PB_NEW_ARRAY(&o->arena, int, s.tensors + 1);
  memcpy(s.value_of, o->l->value_of, sizeof *s.value_of * s.tensors);
  return s;
}

static void take_back(pb_onnx* o, const state* s) {
  pb_s1* program = o->door.m.program;
  pb_symbols* symbols = o->l->consts->symbols;
  program->op_count = s->ops;
  for (size_t v = s->values; v < program->value_count; ++v) // extents that data would say
    program->values[v].is_output = program->values[v].is_extents = false;
  o->l->consts->guard_count = s->guards;
  o->l->consts->open = s->open;
  if (symbols) symbols->count = s->symbols, symbols->source_count = s->sources;
  memcpy(o->l->value_of, s->value_of, sizeof *s->value_of * s->tensors);
  o->l->impossible = s->impossible;
  o->status = PB_OK;
}

// A loop that is being written out. What came since its beginning goes, once the host turns it.
typedef struct written {
  state before;
  bool tried;
} written;

// Values that tensors from outside became where a turn first read them: they are not there, or not for what follows.
static void forget_values(pb_onnx* o, const written* w) {
  memcpy(o->l->value_of, w->before.value_of, sizeof *w->before.value_of * w->before.tensors);
}

// Whether the host is to turn what is written out up to here, which is asked once. An extent that is open may say how
// often a loop turns: then it is as often in no other sample.
static bool is_long(const pb_onnx* o, written* w, int64_t turn) {
  bool open = o->l->consts->open;
  bool many = open ? turn == SHORT_LOOP : o->door.m.program->op_count > w->before.ops + FEW_OPERATORS;
  if (w->tried || !many || !o->l->g->keeps_loops) return false;
  return w->tried = true;
}

// So many turns by the host in place of those that were written out. false: it cannot turn them, as where shapes hang
// on a turn's number, and they are written out to the end. Of extents that are open they must not be.
static bool turned_by_host(pb_onnx* o, const repeated* s, const written* w, int64_t turns, const int* in,
                           const int* parts, int* out) {
  pb_s1* program = o->door.m.program;
  pb_consts* consts = o->l->consts;
  pb_diag *said = o->l->diag, silent = {.sink = pb_diag_drop};
  int made[2 * MOST_VALUES];
  const state before = keep_state(o);
  forget_values(o, w);
  if (!before.open) o->l->diag = &silent;
  run_turns(o, s, turns, in, parts, made);
  o->l->diag = said;
  bool good = !pb__o_bad(o) && consts->open == before.open; // else shapes hang on the turn's number
  if (!good && before.open) return true;                    // it was told why
  if (!good) {
    take_back(o, &before);
    return false;
  }
  const size_t ops = before.ops, guards = before.guards;
  memmove(program->ops + w->before.ops, program->ops + ops, sizeof *program->ops * (program->op_count - ops));
  program->op_count -= ops - w->before.ops;
  forget_values(o, w);
  if (consts->guard_count > guards)
    memmove(consts->guards + w->before.guards, consts->guards + guards,
            sizeof *consts->guards * (consts->guard_count - guards));
  consts->guard_count -= guards - w->before.guards;
  for (int k = 0; k < s->carried + s->made; ++k)
    out[k] = out[k] < 0 ? made[k] : pb__o_node(o, "Identity", 1, &made[k], NULL, 0, out[k]);
  return true;
}

// One part of each gathered result.
static void first_parts(const gathered* all, int count, int* parts) {
  for (int k = 0; k < count; ++k) parts[k] = all[k].count ? all[k].parts[0] : -1;
}

// Written out as long as it is known whether it goes on; what is left of a long one where that is not is the host's,
// unless results are gathered, whose shapes hang on it.
static void loop(pb_onnx* o, const repeated* s, int64_t turns) {
  int now[MOST_VALUES + 2], made[2 * MOST_VALUES], parts[MOST_VALUES], goes_on = pb__input(o->n, 1);
  gathered* all = PB_NEW_ARRAY(&o->arena, gathered, (size_t)s->made + 1);
  int64_t truth = 1;
  written w = {.before = keep_state(o)};
  for (int k = 0; k < s->carried; ++k) now[k + 2] = o->n->inputs[k + 2];
  for (int64_t turn = 0; !pb__o_bad(o); ++turn) {
    bool sure = goes_on < 0 || pb__o_known(o, goes_on, &truth);
    if (turn >= turns || (sure && !truth)) break;
    if (!s->made && !sure && turns - turn > SHORT_LOOP) {
      bool open = o->l->consts->open; // an extent may say how often: what was written out is not for all of them
      if (open) take_back(o, &w.before);
      run_loop(o, s, open ? 0 : turn, open ? pb__input(o->n, 1) : goes_on, open ? o->n->inputs + 2 : now + 2);
      return;
    }
    if (!sure && s->made) pb__o_refuse(o, "how often it turns is not constant, and so its results' shapes");
    first_parts(all, s->made, parts);
    if (sure && turns < INT64_MAX && is_long(o, &w, turn)) {
      int* out = PB_NEW_ARRAY(&o->arena, int, (size_t)(s->carried + s->made) + 1);
      memset(out, 0xff, sizeof *out * (size_t)(s->carried + s->made));
      if (turned_by_host(o, s, &w, turns, o->n->inputs + 2, parts, out)) {
        for (int k = 0; k < s->carried + s->made; ++k) pb__o_give(o, k, out[k]);
        return;
      }
    }
    if (turn == MOST_TURNS && !s->made) {
      run_loop(o, s, turn, goes_on, now + 2);
      return;
    }
    if (turn == MOST_TURNS) pb__o_refuse(o, "more than %d turns", MOST_TURNS);
    now[0] = pb__o_new_number(o, PB_I64, turn);
    now[1] = sure ? pb__o_new_number(o, PB_I1, 1) : goes_on;
    memset(made, 0xff, sizeof made);
    pb__o_expand_body(o, s->graph, now, made);
    if (!sure) keep_unless(o, goes_on, s->carried, now + 2, made + 1);
    for (int k = 0; k < s->carried; ++k) now[k + 2] = made[k + 1];
    for (int k = 0; k < s->made; ++k) gather(o, &all[k], made[k + 1 + s->carried], 0);
    goes_on = sure || pb__o_bad(o) ? made[0] : pb__o_node(o, "And", 2, (const int[]){goes_on, made[0]}, NULL, 0, -1);
  }
  for (int k = 0; k < s->carried; ++k) pb__o_give(o, k, now[k + 2]);
  for (int k = 0; k < s->made; ++k) join(o, &all[k], k + s->carried, 0, false, o->n->outputs[k + s->carried]);
}

void pb__o_op_loop(pb_onnx* o) {
  int carried = o->n->input_count - 2;
  int64_t turns = INT64_MAX;
  repeated s = {.carried = carried, .numbered = true};
  const pb_subgraph* body = pb__o_body(o, "body", &s.graph);
  if (pb__o_bad(o)) return;
  int scanned = s.made = (int)body->output_count - 1 - carried;
  if ((int)body->input_count != carried + 2 || scanned < 0 || o->n->output_count > carried + scanned)
    pb__o_refuse(o, "a body of %zu operands and %zu results", body->input_count, body->output_count);
  if (carried > MOST_VALUES || scanned >= MOST_VALUES) pb__o_refuse(o, "more than %d values", MOST_VALUES);
  if (pb__o_bad(o)) return;
  bool counted = !pb__o_has(o, 0) || pb__o_known(o, pb__input(o->n, 0), &turns);
  bool is_long = pb__o_has(o, 0) && turns > MOST_TURNS;
  if (!counted && scanned) pb__o_refuse(o, "how often it turns is not constant, and so its results' shapes");
  if (pb__o_bad(o)) return;
  if ((!counted || is_long) && !scanned)
    run_loop(o, &s, 0, pb__input(o->n, 1), o->n->inputs + 2);
  else
    loop(o, &s, turns);
}

// An attribute's numbers, as many as there are of what it is about; 0 where it is left out.
static void numbers(pb_onnx* o, const char* name, int count, int64_t* items) { pb__o_ints(o, name, count, 0, items); }

// The place of a tensor along an axis, without that dim.
static int part_of(pb_onnx* o, int whole, int64_t axis, int64_t at) {
  pb_attr attrs[3] = {pb__o_axes(o, "starts", at), pb__o_axes(o, "ends", at + 1), pb__o_axes(o, "axes", axis)};
  int part = pb__o_node(o, "Slice", 1, &whole, attrs, 3, -1);
  return pb__o_node(o, "Squeeze", 1, &part, &attrs[2], 1, -1);
}

static int64_t turns_of(pb_onnx* o, repeated* s, const int* in) {
  int64_t turns = -1;
  for (int k = 0; k < s->read && !pb__o_bad(o); ++k) {
    int v = pb__o_tensor(o, in[s->carried + k]);
    s->axis[k] = pb__o_axis(o, s->axis[k], pb__o_type(o, v)->rank);
    if (pb__o_bad(o)) break;
    int64_t extent = pb__o_type(o, v)->shape[s->axis[k]];
    if (turns >= 0 && extent != turns) pb__o_refuse(o, "operands of different lengths");
    turns = extent;
  }
  return turns;
}

// out: what the gathered results are to be, -1: tensors of their own. The carried ones are those of the last turn.
static void turn_scan(pb_onnx* o, repeated* s, const int* in, int* out) {
  int now[MOST_VALUES + 1], made[MOST_VALUES + 1], parts[MOST_VALUES];
  int64_t turns = turns_of(o, s, in);
  gathered* all = PB_NEW_ARRAY(&o->arena, gathered, (size_t)s->made + 1);
  written w = {.before = keep_state(o)};
  for (int k = 0; k < s->carried; ++k) now[k] = in[k], out[k] = -1;
  for (int64_t turn = 0; turn < turns && !pb__o_bad(o); ++turn) {
    first_parts(all, s->made, parts);
    for (int k = 0; turn && k < s->made && !pb__o_bad(o); ++k)
      s->out_axis[k] = pb__o_axis(o, s->out_axis[k], pb__o_type(o, pb__o_tensor(o, parts[k]))->rank);
    if (is_long(o, &w, turn) && turned_by_host(o, s, &w, turns, in, parts, out)) return;
    if (turn == MOST_TURNS) pb__o_refuse(o, "more than %d turns", MOST_TURNS);
    for (int k = 0; k < s->read; ++k)
      now[s->carried + k] = part_of(o, in[s->carried + k], s->axis[k], s->turned[k] ? turns - 1 - turn : turn);
    memset(made, 0xff, sizeof made);
    pb__o_expand_body(o, s->graph, now, made);
    for (int k = 0; k < s->carried; ++k) now[k] = made[k];
    for (int k = 0; k < s->made; ++k) gather(o, &all[k], made[s->carried + k], s->out_axis[k]);
  }
  for (int k = 0; k < s->carried; ++k) out[k] = now[k];
  for (int k = s->carried; k < s->carried + s->made; ++k)
    out[k] = join(o, &all[k - s->carried], k, s->out_axis[k - s->carried], s->out_turned[k - s->carried] != 0, out[k]);
}

// As opset 8 has it: dim 0 is one of examples, each of which is scanned for itself.
static void scan_examples(pb_onnx* o, repeated* s, const int* in) {
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
  repeated s = {0};
  bool examples = pb__o_opset(o) == 8;
  const pb_subgraph* body = pb__o_body(o, "body", &s.graph);
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
  for (int k = 0; k < s.carried; ++k) pb__o_give(o, k, out[k]);
}
