// Lifts functions of one code: all that stands between a DequantizeLinear and a QuantizeLinear, and takes one tensor,
// element by element, with numbers. There are 256 codes, so whatever it is it becomes a table of 256 results, computed
// here in f64 and rounded once.
#include "core/s1/lift/lift.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_NODES = 24, MOST_DEPTH = 16, CODES = 256, CODE_MIDDLE = 128 };

// The nodes of one function, and what it is a function of.
typedef struct function {
  const lifter* l;
  int source; // DequantizeLinear; -1: none yet
  int nodes[MOST_NODES], count;
  bool lasting; // more than clamps, and sums and products with constants: these have operators of their own
} function;

typedef enum arity { NONE, ONE, TWO } arity;

// Operators by elements. `own`: alone they have another operator on codes, which stays.
static const struct {
  const char* op;
  arity takes;
  bool own;
} known[] = {{"Abs", ONE, false},     {"Neg", ONE, false},         {"Sqrt", ONE, false},      {"Exp", ONE, false},
             {"Log", ONE, false},     {"Reciprocal", ONE, false},  {"Erf", ONE, false},       {"Tanh", ONE, false},
             {"Sigmoid", ONE, false}, {"HardSigmoid", ONE, false}, {"HardSwish", ONE, false}, {"LeakyRelu", ONE, false},
             {"Elu", ONE, false},     {"Selu", ONE, false},        {"Softplus", ONE, false},  {"Softsign", ONE, false},
             {"Gelu", ONE, false},    {"FastGelu", ONE, false},    {"Pow", TWO, false},       {"Div", TWO, false},
             {"Add", TWO, true},      {"Sub", TWO, true},          {"Mul", TWO, true},        {"Relu", ONE, true},
             {"Identity", ONE, true}};

static int row_of(const pb_node* n) {
  for (size_t k = 0; k < sizeof known / sizeof *known; ++k)
    if (pb__is(n, known[k].op) && n->input_count >= (int)known[k].takes && n->output_count == 1) return (int)k;
  return -1;
}

static bool is_of_runtime(const pb_node* n) {
  return !n->domain[0] || !strcmp(n->domain, "ai.onnx") ||
         (!strcmp(n->domain, "com.microsoft") && (pb__is(n, "Gelu") || pb__is(n, "FastGelu")));
}

// One number that does not change.
static bool constant_number(const lifter* l, int tensor, double* number) {
  float f;
  if (pb__scalar_f32(l, tensor, &f)) {
    *number = (double)f;
    return true;
  }
  const pb_const* c = pb__constant(l, tensor);
  if (!c || c->type != PB_I64 || c->bytes != 8) return false;
  int64_t whole;
  memcpy(&whole, c->data, 8);
  *number = (double)whole;
  return true;
}

static bool has(const function* f, int node) {
  for (int k = 0; k < f->count; ++k)
    if (f->nodes[k] == node) return true;
  return false;
}

static bool same_source(const lifter* l, int a, int b) { return l->g->nodes[a].inputs[0] == l->g->nodes[b].inputs[0]; }

// Follows a tensor back to the codes. false: it is no function of one tensor.
static bool follow(function* f, int tensor, int depth) {
  const lifter* l = f->l;
  double number;
  if (tensor < 0 || depth > MOST_DEPTH) return false;
  if (constant_number(l, tensor, &number)) return true;
  int producer = l->g->tensors[tensor].producer;
  if (producer < 0 || l->g->tensors[tensor].is_output) return false;
  const pb_node* n = &l->g->nodes[producer];
  if (pb__is(n, "DequantizeLinear")) {
    if (pb__input(n, 0) < 0 || pb__constant(l, n->inputs[0])) return false;
    if (f->source >= 0) return same_source(l, f->source, producer);
    f->source = producer;
    return true;
  }
  int row = row_of(n);
  if (row < 0 || !is_of_runtime(n)) return false;
  if (has(f, producer)) return true;
  if (f->count == MOST_NODES) return false;
  f->nodes[f->count++] = producer;
  f->lasting |= !known[row].own;
  if ((pb__is(n, "Gelu") || pb__is(n, "FastGelu")) && n->input_count != 1) return false;
  for (int k = 0; k < (int)known[row].takes; ++k)
    if (!follow(f, n->inputs[k], depth + 1)) return false;
  return true;
}

// Nobody else sees what is computed between.
static bool is_closed(const function* f) {
  for (int k = 0; k < f->count; ++k) {
    const pb_node* n = &f->l->g->nodes[f->nodes[k]];
    int inside = 0;
    for (int m = 0; m < f->count; ++m)
      for (int i = 0; i < f->l->g->nodes[f->nodes[m]].input_count; ++i)
        inside += f->l->g->nodes[f->nodes[m]].inputs[i] == n->outputs[0];
    int outside = f->l->uses[n->outputs[0]] - inside;
    if (outside != (k == 0 ? 1 : 0)) return false; // the first is the one that is quantised
  }
  return true;
}

void pb__find_tables(lifter* l) {
  for (size_t q = 0; q < l->g->node_count; ++q) {
    l->table_source[q] = -1;
    const pb_node* n = &l->g->nodes[q];
    if (!pb__is(n, "QuantizeLinear") || n->input_count < 2) continue;
    function f = {.l = l, .source = -1};
    if (!follow(&f, n->inputs[0], 0) || f.source < 0 || !f.lasting || !is_closed(&f)) continue;
    float scale;
    if (!pb__scalar_f32(l, pb__input(&l->g->nodes[f.source], 1), &scale)) continue;
    l->table_source[q] = f.source;
    for (int k = 0; k < f.count; ++k) l->done[f.nodes[k]] = true;
  }
}

bool pb__is_table(const lifter* l, const pb_node* quantise) { return l->table_source[quantise - l->g->nodes] >= 0; }

pb_status pb__drop_table(lifter* l, size_t quantise) {
  function f = {.l = l, .source = -1};
  (void)follow(&f, l->g->nodes[quantise].inputs[0], 0);
  l->table_source[quantise] = -1;
  for (int made = 0, last = -1, next; made < f.count; ++made, last = next) { // in the order of the graph
    next = INT_MAX;
    for (int k = 0; k < f.count; ++k)
      if (f.nodes[k] > last && f.nodes[k] < next) next = f.nodes[k];
    PB_TRY(pb__lift_node(l, &l->g->nodes[next]));
  }
  return PB_OK;
}

static double attribute(const pb_node* n, const char* name, double missing) {
  const pb_attr* a = pb_node_attr(n, name);
  return a ? (double)a->f : missing;
}

static double erf_gelu(double x) { return x / 2 * (1 + erf(x / sqrt(2))); }

static double tanh_gelu(double x) {
  const double cubic = 0.044715, pi = 3.14159265358979323846;
  return x / 2 * (1 + tanh(sqrt(2 / pi) * (x + cubic * x * x * x)));
}

static double sigmoid(double x) { return 1 / (1 + exp(-x)); }

static double unary(const pb_node* n, double x) {
  const double hard_alpha = 0.2, leaky = 0.01, selu_alpha = 1.67326319217681884765625,
               selu_gamma = 1.05070102214813232421875, half = 0.5;
  if (pb__is(n, "Abs")) return fabs(x);
  if (pb__is(n, "Neg")) return -x;
  if (pb__is(n, "Sqrt")) return sqrt(x);
  if (pb__is(n, "Exp")) return exp(x);
  if (pb__is(n, "Log")) return log(x);
  if (pb__is(n, "Reciprocal")) return 1 / x;
  if (pb__is(n, "Erf")) return erf(x);
  if (pb__is(n, "Tanh")) return tanh(x);
  if (pb__is(n, "Sigmoid")) return sigmoid(x);
  if (pb__is(n, "HardSigmoid"))
    return fmin(1, fmax(0, attribute(n, "alpha", hard_alpha) * x + attribute(n, "beta", half)));
  if (pb__is(n, "HardSwish")) return x * fmin(1, fmax(0, x / 6 + half));
  if (pb__is(n, "LeakyRelu")) return x < 0 ? attribute(n, "alpha", leaky) * x : x;
  if (pb__is(n, "Elu")) return x < 0 ? attribute(n, "alpha", 1) * expm1(x) : x;
  if (pb__is(n, "Selu"))
    return attribute(n, "gamma", selu_gamma) * (x < 0 ? attribute(n, "alpha", selu_alpha) * expm1(x) : x);
  if (pb__is(n, "Softplus")) return x > 0 ? x + log1p(exp(-x)) : log1p(exp(x));
  if (pb__is(n, "Softsign")) return x / (1 + fabs(x));
  if (pb__is(n, "Relu")) return fmax(x, 0);
  if (pb__is(n, "FastGelu")) return tanh_gelu(x);
  if (pb__is(n, "Gelu")) {
    const pb_attr* a = pb_node_attr(n, "approximate");
    return a && a->s && !strcmp(a->s, "tanh") ? tanh_gelu(x) : erf_gelu(x);
  }
  return x; // Identity
}

static double value_at(const lifter* l, int tensor, double x) {
  double number;
  if (constant_number(l, tensor, &number)) return number;
  const pb_node* n = pb__producer(l, tensor);
  if (pb__is(n, "DequantizeLinear")) return x;
  double a = value_at(l, n->inputs[0], x);
  if (known[row_of(n)].takes == ONE) return unary(n, a);
  double b = value_at(l, n->inputs[1], x);
  if (pb__is(n, "Add")) return a + b;
  if (pb__is(n, "Sub")) return a - b;
  if (pb__is(n, "Mul")) return a * b;
  return pb__is(n, "Div") ? a / b : pow(a, b);
}

void pb__push_table(lifter* l, const pb_node* n, const pb_target* t, int value, const int32_t* table) {
  const int64_t shape = CODES;
  pb_s1_op op = pb__codes_op(n, PB_S1_TABLE, t);
  op.weights = pb_consts_add(l->consts, pb_printf(&l->consts->arena, "%s.table", n->name), PB_I32, 1, &shape, table);
  pb_s1_value in = l->out->values[value];
  bool image = in.rank == 4 && pb__matrix_behind(l, value) < 0; // channels are not its last dim
  bool rows = in.rank > 1 && !image;
  op.x = rows ? pb__matrix_of(l, n, value) : value;
  if (rows)
    pb__matrix_result(l, n, t, in.rank, in.shape, &op.y);
  else
    op.y = pb__make_result(l, t, in.rank, in.shape);
  pb__push_op(l, op);
}

pb_status pb__lift_table(lifter* l, const pb_node* quantise, const pb_target* t) {
  const pb_node* dq = &l->g->nodes[l->table_source[quantise - l->g->nodes]];
  pb_codes x;
  PB_TRY(pb__read_codes(l, quantise, dq->outputs[0], &x));
  int32_t* table = PB_NEW_ARRAY(&l->consts->arena, int32_t, CODES);
  for (int c = 0; c < CODES; ++c) {
    float number = (float)(c - CODE_MIDDLE - x.zero) * x.scale;
    double code = rint(value_at(l, quantise->inputs[0], (double)number) / (double)t->scale) + t->zero;
    table[c] = (int32_t)(code >= t->lo ? fmin(code, t->hi) : t->lo); // NaN is the least code
  }
  pb__push_table(l, pb__producer(l, quantise->inputs[0]), t, x.value, table);
  return PB_OK;
}
