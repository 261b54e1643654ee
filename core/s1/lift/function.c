// Lifts functions of each element. A product of x and a sigmoid of x that nothing else sees is one function.
#include "core/s1/lift/lift.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static float number(const pb_node* n, const char* name, float missing) {
  const pb_attr* a = pb_node_attr(n, name);
  return a ? a->f : missing;
}

// The product behind the tensor that function(x) makes, if it is by x and nothing else reads the tensor; -1.
static int product_with(const lifter* l, int x, int tensor) {
  int next = pb__only_user(l, tensor);
  if (next < 0 || l->done[next]) return -1;
  const pb_node* f = &l->g->nodes[next];
  if (!pb__is(f, "Mul") || f->input_count != 2) return -1;
  return f->inputs[0] == x || f->inputs[1] == x ? next : -1;
}

static pb_status function(lifter* l, const pb_node* n, pb_s1_function which, float ma, float mb) {
  pb_s1_op op = pb__float_op(n, PB_S1_FUNARY);
  PB_TRY(pb__float_value(l, n, pb__input(n, 0), &op.x));
  pb__own_apart(l, n, &op.x, op.x, true);
  int tensor = n->outputs[0], product = -1;
  if (which == PB_S1_SIGMOID || which == PB_S1_HARD_SIGMOID) product = product_with(l, n->inputs[0], tensor);
  if (product >= 0) {
    which = which == PB_S1_SIGMOID ? PB_S1_SILU : PB_S1_HARD_SWISH;
    pb__mark_done(l, product);
    tensor = l->g->nodes[product].outputs[0];
  }
  op.function = which;
  op.ma = ma;
  op.mb = mb;
  pb_s1_value in = l->out->values[op.x];
  return pb__finish(l, tensor, &op, in.rank, in.shape);
}

static pb_status gelu(lifter* l, const pb_node* n) {
  const pb_attr* a = pb_node_attr(n, "approximate");
  bool by_tanh = pb__is(n, "FastGelu") || (a && a->s && !strcmp(a->s, "tanh"));
  if (n->input_count != 1) return pb__refuse(l, n, "Add in front", "a bias of its own");
  return function(l, n, by_tanh ? PB_S1_GELU_TANH : PB_S1_GELU, 0, 0);
}

static bool scalar(const lifter* l, int tensor, float* value) {
  if (pb__scalar_f32(l, tensor, value)) return true;
  const pb_const* c = pb__constant(l, tensor);
  if (!c || c->type != PB_I64 || c->bytes != 8) return false;
  int64_t integer;
  memcpy(&integer, c->data, 8);
  *value = (float)integer;
  return true;
}

static pb_status power(lifter* l, const pb_node* n) {
  const float most = 16;
  float exponent;
  if (!scalar(l, pb__input(n, 1), &exponent))
    return pb__refuse(l, n, NULL, "an exponent that is not one constant number");
  if (exponent == 0 || !(fabsf(exponent) <= most) || 2 * exponent != rintf(2 * exponent))
    return pb__refuse(l, n, "a multiple of 1/2 from -16 to 16 other than 0", "an exponent that is not read");
  return function(l, n, PB_S1_POWER, exponent, 0);
}

static const struct {
  const char* op;
  pb_s1_function function;
  const char* alpha; // the attributes that are ma and mb, and what they are when missing
  float ma;
  const char* beta;
  float mb;
} rows[] = {{"Abs", PB_S1_ABS, NULL, 0, NULL, 0},
            {"Neg", PB_S1_NEG, NULL, 0, NULL, 0},
            {"Sqrt", PB_S1_SQRT, NULL, 0, NULL, 0},
            {"Exp", PB_S1_EXP, NULL, 0, NULL, 0},
            {"Log", PB_S1_LOG, NULL, 0, NULL, 0},
            {"Reciprocal", PB_S1_RECIPROCAL, NULL, 0, NULL, 0},
            {"Erf", PB_S1_ERF, NULL, 0, NULL, 0},
            {"Tanh", PB_S1_TANH, NULL, 0, NULL, 0},
            {"Sigmoid", PB_S1_SIGMOID, NULL, 0, NULL, 0},
            {"HardSigmoid", PB_S1_HARD_SIGMOID, "alpha", 0.2f, "beta", 0.5f},
            {"HardSwish", PB_S1_HARD_SWISH, NULL, 1.0f / 6, NULL, 0.5f},
            {"LeakyRelu", PB_S1_LEAKY_RELU, "alpha", 0.01f, NULL, 0},
            {"Elu", PB_S1_ELU, "alpha", 1, NULL, 0},
            {"Selu", PB_S1_SELU, "alpha", 1.67326319217681884765625f, "gamma", 1.05070102214813232421875f},
            {"Softplus", PB_S1_SOFTPLUS, NULL, 0, NULL, 0},
            {"Softsign", PB_S1_SOFTSIGN, NULL, 0, NULL, 0}};

pb_status pb__lift_function(lifter* l, const pb_node* n, bool* known) {
  *known = true;
  if (pb__is(n, "Gelu") || pb__is(n, "FastGelu")) return gelu(l, n);
  if (pb__is(n, "Pow")) return power(l, n);
  if (pb__is(n, "Selu") && pb_node_opset(l->g, n) < 6) // with fewer digits at first
    return function(l, n, PB_S1_SELU, number(n, "alpha", 1.6732f), number(n, "gamma", 1.0507f));
  for (size_t k = 0; k < sizeof rows / sizeof *rows; ++k)
    if (pb__is(n, rows[k].op))
      return function(l, n, rows[k].function, rows[k].alpha ? number(n, rows[k].alpha, rows[k].ma) : rows[k].ma,
                      rows[k].beta ? number(n, rows[k].beta, rows[k].mb) : rows[k].mb);
  *known = false;
  return PB_OK;
}
