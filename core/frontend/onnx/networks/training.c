// One step of an optimiser, tensor by tensor: operands are the rate, the turn, then all weights, all gradients, all
// states.
#include "core/frontend/onnx/rows.h"

#include <string.h>

static const double usual_epsilon = 1e-6;

static int number(pb_onnx* o, int like, const char* name, double missing) {
  return pb__o_like(o, like, pb__o_real(o, name, missing));
}

static int tensors(pb_onnx* o, int each) {
  int count = (o->n->input_count - 2) / each;
  if ((o->n->input_count - 2) % each) pb__o_refuse(o, "operands that are not as many of each kind");
  return pb__o_bad(o) ? 0 : count;
}

static int regular(pb_onnx* o, int x, int gradient) {
  double norm = pb__o_real(o, "norm_coefficient", 0);
  return norm == 0 ? gradient : pb__o_add(o, gradient, pb__o_mul(o, x, pb__o_like(o, x, norm)));
}

void pb__o_op_adagrad(pb_onnx* o) {
  int count = tensors(o, 3);
  for (int k = 0; k < count && !pb__o_bad(o); ++k) {
    int x = pb__o_in(o, 2 + k), sums = pb__o_in(o, 2 + 2 * count + k), turn = pb__o_cast(o, pb__o_in(o, 1), PB_F32);
    int one = pb__o_like(o, turn, 1);
    int slower = pb__o_add(o, pb__o_mul(o, turn, number(o, turn, "decay_factor", 0)), one);
    int rate = pb__o_div(o, pb__o_in(o, 0), slower), gradient = regular(o, x, pb__o_in(o, 2 + count + k));
    sums = pb__o_add(o, sums, pb__o_mul(o, gradient, gradient));
    int root = number(o, x, "epsilon", usual_epsilon);
    root = pb__o_add(o, pb__o_unary(o, "sqrt", sums), root);
    pb__o_out(o, k, pb__o_sub(o, x, pb__o_div(o, pb__o_mul(o, rate, gradient), root)));
    pb__o_out(o, count + k, sums);
  }
}

// What was, times a, and what is, times 1 - a.
static int kept(pb_onnx* o, int before, int now, double a) {
  int fresh = pb__o_mul(o, now, pb__o_like(o, now, 1 - a));
  return pb__o_add(o, pb__o_mul(o, before, pb__o_like(o, before, a)), fresh);
}

void pb__o_op_adam(pb_onnx* o) {
  int count = tensors(o, 4);
  double alpha = pb__o_real(o, "alpha", 0.9), beta = pb__o_real(o, "beta", 0.999);
  for (int k = 0; k < count && !pb__o_bad(o); ++k) {
    int x = pb__o_in(o, 2 + k), v = pb__o_in(o, 2 + 2 * count + k), h = pb__o_in(o, 2 + 3 * count + k);
    int gradient = regular(o, x, pb__o_in(o, 2 + count + k)), turn = pb__o_cast(o, pb__o_in(o, 1), PB_F32);
    v = kept(o, v, gradient, alpha);
    h = kept(o, h, pb__o_mul(o, gradient, gradient), beta);
    int root = number(o, x, "epsilon", usual_epsilon);
    root = pb__o_add(o, pb__o_unary(o, "sqrt", h), root);
    int one = pb__o_like(o, turn, 1);
    int far = pb__o_unary(o, "sqrt", pb__o_sub(o, one, pb__o_binary(o, "power", pb__o_like(o, turn, beta), turn)));
    int near = pb__o_sub(o, one, pb__o_binary(o, "power", pb__o_like(o, turn, alpha), turn));
    int later = pb__o_compare(o, "GT", turn, pb__o_like(o, turn, 0)), rate = pb__o_in(o, 0);
    rate = pb__o_select(o, later, pb__o_div(o, pb__o_mul(o, rate, far), near), rate);
    int fresh = pb__o_sub(o, x, pb__o_div(o, pb__o_mul(o, rate, v), root));
    double post = pb__o_real(o, "norm_coefficient_post", 0);
    if (post != 0) fresh = pb__o_mul(o, fresh, pb__o_like(o, fresh, 1 - post));
    pb__o_out(o, k, fresh);
    pb__o_out(o, count + k, v);
    pb__o_out(o, 2 * count + k, h);
  }
}

void pb__o_op_momentum(pb_onnx* o) {
  int count = tensors(o, 3);
  const char* mode = pb__o_text(o, "mode", "");
  bool nesterov = !strcmp(mode, "nesterov");
  if (!nesterov && strcmp(mode, "standard")) pb__o_refuse(o, "a mode '%s'", mode);
  for (int k = 0; k < count && !pb__o_bad(o); ++k) {
    int x = pb__o_in(o, 2 + k), v = pb__o_in(o, 2 + 2 * count + k), turn = pb__o_in(o, 1), rate = pb__o_in(o, 0);
    int gradient = regular(o, x, pb__o_in(o, 2 + count + k)), alpha = number(o, x, "alpha", 0);
    int later = pb__o_compare(o, "GT", turn, pb__o_like(o, turn, 0));
    int beta = pb__o_like(o, x, 1); // at first all of the gradient
    beta = pb__o_select(o, later, number(o, x, "beta", 0), beta);
    int added = pb__o_mul(o, beta, gradient);
    v = pb__o_add(o, pb__o_mul(o, alpha, v), added);
    int by = nesterov ? pb__o_add(o, gradient, pb__o_mul(o, alpha, v)) : v;
    pb__o_out(o, k, pb__o_sub(o, x, pb__o_mul(o, rate, by)));
    pb__o_out(o, count + k, v);
  }
}
