// RNN, GRU and LSTM, turn by turn: the inputs' products all at once, the state's one after the other.
#include "core/frontend/onnx/emit.h"

#include <math.h>
#include <string.h>

#define IN(k) pb__o_in(o, k)

enum { MOST_TURNS = 2048, MOST_WRITTEN = 12, FEW_TURNS = 16 }; // an open length is more than these in every sample

typedef struct cell {
  int gates, states; // a state's parts: h, and c
  bool lstm, gru;
  int64_t hidden, batch, turns;
  const char* activation[3];
  double alpha[3], beta[3], clip;
  int r, rb, p; // of a direction: R [gates h, h], its biases [gates h] and the peepholes [3 h], -1
  bool linear_before_reset, input_forget;
  bool by_host; // its turns are too many to be written out
} cell;

static int activated(pb_onnx* o, const cell* c, int which, int x) {
  const char* name = c->activation[which];
  if (c->clip > 0) {
    int most = pb__o_like(o, x, c->clip);
    x = pb__o_least(o, pb__o_most(o, x, pb__o_like(o, x, -c->clip)), most);
  }
#define NUMBER(v) pb__o_like(o, x, v)
  int a = NUMBER(c->alpha[which]), b = NUMBER(c->beta[which]), zero = NUMBER(0), y;
  if (!strcmp(name, "Sigmoid")) return pb__o_unary(o, "logistic", x);
  if (!strcmp(name, "Tanh")) return pb__o_unary(o, "tanh", x);
  if (!strcmp(name, "Relu")) return pb__o_most(o, x, zero);
  if (!strcmp(name, "Affine")) return pb__o_add(o, pb__o_mul(o, a, x), b);
  if (!strcmp(name, "LeakyRelu")) {
    y = pb__o_mul(o, a, x);
    return pb__o_select(o, pb__o_compare(o, "LT", x, zero), y, x);
  }
  if (!strcmp(name, "ThresholdedRelu")) return pb__o_select(o, pb__o_compare(o, "GT", x, a), x, zero);
  if (!strcmp(name, "ScaledTanh")) return pb__o_mul(o, a, pb__o_unary(o, "tanh", pb__o_mul(o, b, x)));
  if (!strcmp(name, "HardSigmoid")) {
    y = NUMBER(1);
    return pb__o_least(o, pb__o_most(o, pb__o_add(o, pb__o_mul(o, a, x), b), zero), y);
  }
  if (!strcmp(name, "Elu")) {
    y = pb__o_mul(o, a, pb__o_unary(o, "exponential_minus_one", x));
    return pb__o_select(o, pb__o_compare(o, "LT", x, zero), y, x);
  }
  if (!strcmp(name, "Softsign")) {
    y = NUMBER(1);
    return pb__o_div(o, x, pb__o_add(o, pb__o_unary(o, "abs", x), y));
  }
  if (!strcmp(name, "Softplus")) return pb__o_unary(o, "log_plus_one", pb__o_unary(o, "exponential", x));
#undef NUMBER
  pb__o_refuse(o, "an activation '%s'", name);
  return x;
}

// Functions that take numbers, and those by ONNX's own operators where none are said.
static const struct {
  const char* name;
  int numbers; // 1: alpha, 2: beta too
  double alpha, beta;
} with_numbers[] = {{"Affine", 2, 1, 0},     {"LeakyRelu", 1, 0.01, 0},    {"ThresholdedRelu", 1, 1, 0},
                    {"ScaledTanh", 2, 1, 1}, {"HardSigmoid", 2, 0.2, 0.5}, {"Elu", 1, 1, 0}};

// The next number of a list, where it has one more.
static double next_of(const pb_attr* list, int* at, double missing) {
  return list && *at < list->count ? (double)list->floats[(*at)++] : missing;
}

// The functions of a direction. Those of all directions that take a number take them one after the other.
static void read_activations(pb_onnx* o, cell* c, int direction) {
  static const char* const usual[] = {"Sigmoid", "Tanh", "Tanh"};
  const pb_attr *names = pb_node_attr(o->n, "activations"), *alphas = pb_node_attr(o->n, "activation_alpha"),
                *betas = pb_node_attr(o->n, "activation_beta");
  int each = c->lstm ? 3 : c->gru ? 2 : 1, alpha = 0, beta = 0;
  for (int at = 0; at < (direction + 1) * each; ++at) {
    int k = at % each;
    const char* name = names && at < names->count ? names->strings[at] : usual[each == 1 ? 1 : k];
    c->activation[k] = name;
    c->alpha[k] = c->beta[k] = 0;
    for (size_t f = 0; f < sizeof with_numbers / sizeof *with_numbers; ++f) {
      if (strcmp(name, with_numbers[f].name) != 0) continue;
      c->alpha[k] = next_of(alphas, &alpha, with_numbers[f].alpha);
      if (with_numbers[f].numbers == 2) c->beta[k] = next_of(betas, &beta, with_numbers[f].beta);
    }
  }
}

static int gate(pb_onnx* o, const cell* c, int gates, int k) {
  return pb__o_part(o, gates, 1, k * c->hidden, (k + 1) * c->hidden);
}

static int by_matrix(pb_onnx* o, int x, int w) { // x [.., k] by w [n, k]; of narrow floats an f32
  int last = pb__o_type(o, x)->rank - 1;
  pb_onnx_pairs p = {.sums = 1, .sum = {{last}, {1}}};
  pb_type type = pb__o_type(o, x)->type;
  return pb__o_dot(o, x, w, &p, pb__o_between(type, true));
}

// Whether a state adds nothing to gates: it is 0 from the start on, and no weight is infinite or NaN.
static bool is_nothing(pb_onnx* o, const cell* c, int state) {
  const pb_s1_value *h = pb_made(&o->door.m, o->door.value[state]), *r = pb_made(&o->door.m, o->door.value[c->r]);
  const float* zero = pb__o_bad(o) ? NULL : pb_made_splat(&o->door.m, o->door.value[state]);
  if (!zero || h->type != PB_F32 || *zero != 0 || r->type != PB_F32 || r->const_id < 0) return false;
  const float* w = pb_const_data(o->l->consts, r->const_id);
  int64_t count = pb__o_elements(o, c->r);
  for (int64_t k = 0; k < count; ++k)
    if (!isfinite(w[k])) return false;
  return true;
}

static int peephole(pb_onnx* o, const cell* c, int x, int which, int state) {
  if (c->p < 0) return x;
  return pb__o_add(o, x, pb__o_mul(o, pb__o_part(o, c->p, 0, which * c->hidden, (which + 1) * c->hidden), state));
}

static void lstm_turn(pb_onnx* o, const cell* c, int x, int* state) {
  int all = is_nothing(o, c, state[0]) ? x : pb__o_add(o, x, by_matrix(o, state[0], c->r));
  int i = activated(o, c, 0, peephole(o, c, gate(o, c, all, 0), 0, state[1]));
  int f = c->input_forget ? pb__o_sub(o, pb__o_like(o, i, 1), i)
                          : activated(o, c, 0, peephole(o, c, gate(o, c, all, 2), 2, state[1]));
  int fresh = activated(o, c, 1, gate(o, c, all, 3));
  fresh = pb__o_mul(o, i, fresh);
  state[1] = pb__o_add(o, pb__o_mul(o, f, state[1]), fresh);
  int out = activated(o, c, 0, peephole(o, c, gate(o, c, all, 1), 1, state[1]));
  cell plain = *c;
  plain.clip = 0; // what is clipped goes into gates
  state[0] = pb__o_mul(o, out, activated(o, &plain, 2, state[1]));
}

static int rows_of(pb_onnx* o, const cell* c, int w, int from, int to) {
  return w < 0 ? -1 : pb__o_part(o, w, 0, from * c->hidden, to * c->hidden);
}

static int plus(pb_onnx* o, int x, int bias) { return bias < 0 ? x : pb__o_add(o, x, bias); }

static void gru_turn(pb_onnx* o, const cell* c, int x, int* state) {
  int h = state[0], two = rows_of(o, c, c->rb, 0, 2);
  two = plus(o, by_matrix(o, h, rows_of(o, c, c->r, 0, 2)), two);
  two = pb__o_add(o, pb__o_part(o, x, 1, 0, 2 * c->hidden), two);
  int z = activated(o, c, 0, gate(o, c, two, 0)), r = activated(o, c, 0, gate(o, c, two, 1));
  int w = rows_of(o, c, c->r, 2, 3), bias = rows_of(o, c, c->rb, 2, 3), inner;
  if (c->linear_before_reset)
    inner = pb__o_mul(o, r, plus(o, by_matrix(o, h, w), bias));
  else
    inner = plus(o, by_matrix(o, pb__o_mul(o, r, h), w), bias);
  int fresh = activated(o, c, 1, pb__o_add(o, gate(o, c, x, 2), inner));
  int kept = pb__o_mul(o, z, h);
  state[0] = pb__o_add(o, pb__o_mul(o, pb__o_sub(o, pb__o_like(o, z, 1), z), fresh), kept);
}

static void turn(pb_onnx* o, const cell* c, int x, int* state) {
  if (c->lstm)
    lstm_turn(o, c, x, state);
  else if (c->gru)
    gru_turn(o, c, x, state);
  else
    state[0] = activated(o, c, 0, pb__o_add(o, x, by_matrix(o, state[0], c->r)));
}

// Part d of the first dim, without it. Of a constant it is one: products know their weights then.
static int of_direction(pb_onnx* o, int k, int d) {
  const pb_const* c = pb__constant(o->l, pb__input(o->n, k));
  if (c && c->rank >= 2 && d < c->shape[0] && pb__elements(c->rank, c->shape) > 0) {
    const char* data = pb_const_data(o->l->consts, o->l->g->tensors[pb__input(o->n, k)].const_id);
    return pb__o_constant(o, c->type, c->rank - 1, c->shape + 1,
                          data + (uint64_t)d * (c->bytes / (uint64_t)c->shape[0]));
  }
  int v = IN(k);
  const pb_flat_type t = *pb__o_type(o, v);
  if (t.rank < 2 || d >= t.shape[0]) pb__o_refuse(o, "operand %d does not fit", k);
  return pb__o_bad(o) ? v : pb__o_reshape(o, pb__o_part(o, v, 0, d, d + 1), t.rank - 1, t.shape + 1);
}

static int initial(pb_onnx* o, const cell* c, int k, int d, bool batch_first, pb_type type) {
  const int64_t shape[2] = {c->batch, c->hidden};
  if (!pb__o_has(o, k)) {
    if (o->l->consts->open) return pb__o_expand(o, pb__o_number(o, type, 0), 2, shape); // of whatever extents
    uint64_t bytes = (uint64_t)(c->batch * c->hidden) * (uint64_t)pb_type_bits(type) / 8;
    return pb__o_constant(o, type, 2, shape, pb_alloc(&o->l->consts->arena, bytes + 1)); // zeros
  }
  if (!batch_first) return pb__o_worked(o, of_direction(o, k, d));
  return pb__o_worked(o, pb__o_reshape(o, pb__o_part(o, IN(k), 1, d, d + 1), 2, shape));
}

// Behind a sequence's end nothing changes, and its results are 0. Returns the turn's result.
static int kept_behind(pb_onnx* o, const cell* c, int lengths, int t, const int* state, int* now) {
  int y = now[0];
  if (lengths < 0) return y;
  int is = pb__o_compare(o, "GT", lengths, t);
  for (int s = 0; s < c->states; ++s) now[s] = pb__o_select(o, is, now[s], state[s]);
  return pb__o_select(o, is, y, pb__o_like(o, y, 0));
}

// Many turns, by the host: the body is compiled once, and each turn's result is put where it lies in all of them.
// *ys: [turns, batch, hidden].
static void run_turns(pb_onnx* o, const cell* c, int all, bool backwards, int lengths, int* ys, int* state) {
  const int64_t matrix[2] = {c->batch, c->gates * c->hidden}, whole[3] = {c->turns, c->batch, c->hidden},
                row[3] = {1, c->batch, c->hidden};
  pb_type type = pb__o_type(o, all)->type;
  int first[4] = {pb__o_integer(o, PB_I64, 0), pb__o_expand(o, pb__o_number(o, type, 0), 3, whole), state[0], state[1]};
  int variables[4], next[4], count = 2 + c->states;
  for (int k = 0; k < count && !pb__o_bad(o); ++k) variables[k] = pb__o_state_like(o, first[k]);
  if (pb__o_bad(o)) return;
  pb__o_set_states(o, count, variables, first);
  pb__o_mark_loop(o, PB_S1_LOOP, -1);
  pb__o_mark_loop(o, PB_S1_WHILE, pb__o_compare(o, "LT", variables[0], pb__o_integer(o, PB_I64, c->turns)));
  int t = variables[0], now[2] = {variables[2], c->states > 1 ? variables[3] : -1};
  if (backwards) t = pb__o_sub(o, pb__o_integer(o, PB_I64, c->turns - 1), t);
  turn(o, c, pb__o_reshape(o, pb__o_part_at(o, all, 0, t, 1), 2, matrix), now);
  int until = lengths < 0 ? -1 : pb__o_cast(o, t, pb__o_type(o, lengths)->type);
  int y = pb__o_reshape(o, kept_behind(o, c, lengths, until, variables + 2, now), 3, row);
  if (!pb__o_bad(o)) pb_control_place(&o->door.m, o->door.value[variables[1]], o->door.value[y], 0, o->door.value[t]);
  next[0] = pb__o_add(o, variables[0], pb__o_integer(o, PB_I64, 1));
  next[1] = variables[1];
  memcpy(next + 2, now, sizeof now);
  pb__o_set_states(o, count, variables, next);
  pb__o_mark_loop(o, PB_S1_AGAIN, -1);
  *ys = variables[1];
  memcpy(state, variables + 2, sizeof *state * (size_t)c->states);
}

// One direction over x [turns, batch, input]: ys by turn, what the state is in the end. Of narrow floats all of it is
// f32, as it is within any other operator.
static void run_direction(pb_onnx* o, cell* c, int x, int d, bool backwards, bool batch_first, int* ys, int* state) {
  int w = of_direction(o, 1, d), bias = pb__o_has(o, 3) ? pb__o_worked(o, of_direction(o, 3, d)) : -1;
  int64_t width = c->gates * c->hidden;
  c->r = pb__o_worked(o, of_direction(o, 2, d));
  if (!pb__o_bad(o) && (pb__o_type(o, w)->shape[0] != width || pb__o_type(o, c->r)->shape[0] != width ||
                        pb__o_type(o, c->r)->shape[1] != c->hidden ||
                        !pb__o_meet(o, pb__o_type(o, w)->shape[1], pb__o_type(o, x)->shape[2]) ||
                        (bias >= 0 && pb__o_type(o, bias)->shape[0] != 2 * width)))
    pb__o_refuse(o, "weights that do not fit");
  if (pb__o_bad(o)) return;
  c->p = c->lstm && pb__o_has(o, 7) ? pb__o_worked(o, of_direction(o, 7, d)) : -1;
  int all = by_matrix(o, x, w);
  pb_type type = pb__o_type(o, all)->type;
  c->rb = -1;
  if (bias >= 0) {
    int of_x = pb__o_part(o, bias, 0, 0, width), of_r = pb__o_part(o, bias, 0, width, 2 * width);
    all = pb__o_add(o, all, c->gru ? of_x : pb__o_add(o, of_x, of_r));
    c->rb = of_r;
  }
  read_activations(o, c, d);
  state[0] = initial(o, c, 5, d, batch_first, type);
  if (c->lstm) state[1] = initial(o, c, 6, d, batch_first, type);
  const int64_t matrix[2] = {c->batch, width};
  int lengths = pb__o_has(o, 4) ? pb__o_reshape(o, IN(4), 2, (const int64_t[]){c->batch, 1}) : -1;
  if (c->by_host) {
    run_turns(o, c, all, backwards, lengths, ys, state);
    return;
  }
  for (int64_t k = 0; k < c->turns && !pb__o_bad(o); ++k) {
    int64_t t = backwards ? c->turns - 1 - k : k;
    int now[2] = {state[0], state[1]};
    turn(o, c, pb__o_reshape(o, pb__o_part(o, all, 0, t, t + 1), 2, matrix), now);
    int until = lengths < 0 ? -1 : pb__o_integer(o, pb__o_type(o, lengths)->type, t);
    ys[t] = kept_behind(o, c, lengths, until, state, now);
    memcpy(state, now, sizeof now);
  }
}

static int stacked(pb_onnx* o, const cell* c, int count, const int* parts, int64_t outer, int64_t inner,
                   bool batch_first) {
  int* whole = PB_NEW_ARRAY(&o->arena, int, (size_t)count + 1);
  const int64_t one[4] = {1, 1, c->batch, c->hidden}, shape[4] = {outer, inner, c->batch, c->hidden};
  static const int64_t batch_in_front[4] = {2, 0, 1, 3};
  for (int k = 0; k < count; ++k) whole[k] = pb__o_reshape(o, parts[k], 4, one);
  int y = pb__o_reshape(o, pb__o_join(o, count, whole, 0), 4, shape);
  return batch_first ? pb__o_transpose(o, y, batch_in_front) : y;
}

// The same of whole directions, [turns, batch, hidden], of which ys has one for each number of turns.
static int side_by_side(pb_onnx* o, const cell* c, int directions, const int* ys, bool batch_first) {
  const int64_t shape[4] = {c->turns, 1, c->batch, c->hidden};
  static const int64_t batch_in_front[4] = {2, 0, 1, 3};
  int parts[2];
  for (int d = 0; d < directions; ++d) parts[d] = pb__o_reshape(o, ys[d * c->turns], 4, shape);
  int y = pb__o_join(o, directions, parts, 1);
  return batch_first ? pb__o_transpose(o, y, batch_in_front) : y;
}

void pb__o_op_rnn(pb_onnx* o) {
  const char *how = o->row->detail, *direction = pb__o_text(o, "direction", "forward");
  bool batch_first = pb__o_int(o, "layout", 0), both = !strcmp(direction, "bidirectional"),
       reverse = !strcmp(direction, "reverse");
  int x = IN(0), r = IN(2);
  if (pb__o_type(o, x)->rank != 3 || pb__o_type(o, r)->rank != 3)
    pb__o_refuse(o, "an input or weights that do not fit");
  if (!both && !reverse && strcmp(direction, "forward")) pb__o_refuse(o, "a direction '%s'", direction);
  if (pb__o_bad(o)) return;
  if (batch_first) x = pb__o_transpose(o, x, (const int64_t[]){1, 0, 2});
  const pb_flat_type in = *pb__o_type(o, x);
  cell c = {.lstm = !strcmp(how, "lstm"),
            .gru = !strcmp(how, "gru"),
            .hidden = pb__o_type(o, r)->shape[2],
            .batch = in.shape[1],
            .turns = in.shape[0],
            .clip = pb__o_real(o, "clip", 0),
            .linear_before_reset = pb__o_int(o, "linear_before_reset", 0),
            .input_forget = pb__o_int(o, "input_forget", 0)};
  c.gates = c.lstm ? 4 : c.gru ? 3 : 1;
  c.states = c.lstm ? 2 : 1;
  int directions = both ? 2 : 1, states[2][2] = {{-1, -1}, {-1, -1}};
  c.by_host = c.turns > (o->l->consts->open ? FEW_TURNS : MOST_WRITTEN) && o->l->g->keeps_loops;
  if (c.turns > MOST_TURNS && !c.by_host) pb__o_refuse(o, "more than %d turns", MOST_TURNS);
  int *ys = PB_NEW_ARRAY(&o->arena, int, (size_t)(2 * c.turns) + 1),
      *mixed = PB_NEW_ARRAY(&o->arena, int, (size_t)(2 * c.turns) + 1);
  for (int d = 0; d < directions && !pb__o_bad(o); ++d)
    run_direction(o, &c, x, d, reverse || d == 1, batch_first, ys + d * c.turns, states[d]);
  if (pb__o_bad(o)) return;
  for (int64_t t = 0; t < c.turns; ++t)
    for (int d = 0; d < directions; ++d) mixed[t * directions + d] = ys[d * c.turns + t];
  if (pb__o_wants(o, 0) && c.by_host)
    pb__o_out(o, 0, pb__o_cast(o, side_by_side(o, &c, directions, ys, batch_first), in.type));
  else if (pb__o_wants(o, 0))
    pb__o_out(
        o, 0,
        pb__o_cast(o, stacked(o, &c, (int)c.turns * directions, mixed, c.turns, directions, batch_first), in.type));
  for (int s = 0; s < c.states; ++s) {
    if (!pb__o_wants(o, 1 + s)) continue;
    const int last[2] = {states[0][s], states[1][s]};
    int64_t shape[3] = {batch_first ? c.batch : directions, batch_first ? directions : c.batch, c.hidden};
    int end = pb__o_reshape(o, stacked(o, &c, directions, last, directions, 1, batch_first), 3, shape);
    pb__o_out(o, 1 + s, pb__o_cast(o, end, in.type));
  }
}
