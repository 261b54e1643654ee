// What is done to each element: one operation, or a few.
#include "core/frontend/onnx/rows.h"

#include <math.h>
#include <string.h>

#define IN(k) pb__o_in(o, k)
#define OUT(v) pb__o_out(o, 0, v)

// Before opset 7 operands of fewer dims were laid along `axis`, not against the last dims.
static int other(pb_onnx* o, int x) {
  int z = IN(1);
  const pb_attr* axis = pb_node_attr(o->n, "axis");
  if (!axis) return z;
  const pb_flat_type in = *pb__o_type(o, x), of = *pb__o_type(o, z);
  int64_t shape[PB_FLAT_RANK] = {1, 1, 1, 1, 1, 1, 1, 1};
  int at = pb__o_axis(o, axis->i, in.rank);
  if (at + of.rank > in.rank) pb__o_refuse(o, "shapes that do not fit");
  if (pb__o_bad(o)) return z;
  memcpy(shape + at, of.shape, sizeof *shape * (size_t)of.rank);
  return pb__o_reshape(o, z, in.rank, shape);
}

void pb__o_op_unary(pb_onnx* o) { OUT(pb__o_unary(o, o->row->detail, IN(0))); }

void pb__o_op_binary(pb_onnx* o) {
  int x = IN(0);
  OUT(pb__o_binary(o, o->row->detail, x, other(o, x)));
}

void pb__o_op_compare(pb_onnx* o) {
  int x = IN(0);
  OUT(pb__o_compare(o, o->row->detail, x, other(o, x)));
}

void pb__o_op_reciprocal(pb_onnx* o) {
  int x = IN(0);
  OUT(pb__o_div(o, pb__o_like(o, x, 1), x));
}

void pb__o_op_is_nan(pb_onnx* o) {
  int x = IN(0);
  OUT(pb__o_compare(o, "NE", x, x));
}

void pb__o_op_is_inf(pb_onnx* o) {
  int x = IN(0), below = pb__o_compare(o, "EQ", x, pb__o_like(o, x, -INFINITY)),
      above = pb__o_compare(o, "EQ", x, pb__o_like(o, x, INFINITY));
  bool of_below = pb__o_int(o, "detect_negative", 1), of_above = pb__o_int(o, "detect_positive", 1);
  if (of_below && of_above)
    OUT(pb__o_binary(o, "or", below, above));
  else if (of_below || of_above)
    OUT(of_below ? below : above);
  else
    OUT(pb__o_binary(o, "and", below, above)); // never both
}

void pb__o_op_bit_shift(pb_onnx* o) {
  const char* direction = pb__o_text(o, "direction", "");
  bool left = !strcmp(direction, "LEFT");
  if (!left && strcmp(direction, "RIGHT")) pb__o_refuse(o, "a direction '%s'", direction);
  int x = IN(0);
  bool has_sign = !pb_type_is_unsigned(pb__o_type(o, x)->type);
  const char* right = has_sign ? "shift_right_arithmetic" : "shift_right_logical";
  OUT(pb__o_binary(o, left ? "shift_left" : right, x, IN(1)));
}

void pb__o_op_modulo(pb_onnx* o) {
  int x = IN(0), z = IN(1), rest = pb__o_binary(o, "remainder", x, z);
  pb_type type = pb__o_type(o, x)->type;
  bool floats = pb_type_is_float(type), of_c = pb__o_int(o, "fmod", 0);
  if (floats && !of_c && pb__o_opset(o) < 28) pb__o_refuse(o, "of floats without fmod=1");
  if (!of_c && !pb_type_is_unsigned(type)) { // the sign of the divisor
    int zero = pb__o_like(o, x, 0), below = pb__o_compare(o, "LT", rest, zero);
    int turn = pb__o_binary(o, "xor", below, pb__o_compare(o, "LT", z, zero));
    turn = pb__o_binary(o, "and", turn, pb__o_compare(o, "NE", rest, zero));
    rest = pb__o_select(o, turn, pb__o_add(o, rest, z), rest);
  }
  OUT(rest);
}

// x to an integer's power by its bits; below 0 what is left of 1 / x^-z.
static int whole_power(pb_onnx* o, int x, int z) {
  int one = pb__o_like(o, x, 1), zero = pb__o_like(o, x, 0), result = one, square = x;
  bool has_sign = !pb_type_is_unsigned(pb__o_type(o, x)->type);
  int bits = pb_type_bits(pb__o_type(o, x)->type);
  for (int k = 0; k < bits - has_sign; ++k) {
    int bit = pb__o_binary(o, "and", z, pb__o_integer(o, pb__o_type(o, z)->type, (int64_t)((uint64_t)1 << k)));
    int is = pb__o_compare(o, "NE", bit, pb__o_like(o, z, 0));
    result = pb__o_select(o, is, pb__o_mul(o, result, square), result);
    square = pb__o_mul(o, square, square);
  }
  if (!has_sign) return result;
  int minus = pb__o_like(o, x, -1), odd = pb__o_binary(o, "and", z, one);
  int of_minus = pb__o_select(o, pb__o_compare(o, "NE", odd, zero), minus, one);
  int below = pb__o_select(o, pb__o_compare(o, "EQ", x, minus), of_minus, zero);
  below = pb__o_select(o, pb__o_compare(o, "EQ", x, one), one, below);
  return pb__o_select(o, pb__o_compare(o, "LT", z, zero), below, result);
}

void pb__o_op_power(pb_onnx* o) {
  int x = IN(0), z = other(o, x);
  pb_type type = pb__o_type(o, x)->type, by = pb__o_type(o, z)->type;
  if (type == PB_I1 || by == PB_I1) pb__o_refuse(o, "of truths");
  if (pb_type_is_float(type))
    OUT(pb__o_binary(o, "power", x, pb__o_cast(o, z, type)));
  else if (pb_type_is_float(by)) {
    z = pb__o_cast(o, z, PB_F32);
    OUT(pb__o_cast(o, pb__o_binary(o, "power", pb__o_cast(o, x, PB_F32), z), type));
  } else
    OUT(whole_power(o, x, pb__o_cast(o, z, type)));
}

void pb__o_op_several(pb_onnx* o) {
  bool mean = !strcmp(o->row->detail, "mean");
  if (mean || !strcmp(o->row->detail, "add")) pb__o_works_in_f32(o);
  int y = IN(0);
  for (int k = 1; k < o->n->input_count; ++k) y = pb__o_binary(o, mean ? "add" : o->row->detail, y, IN(k));
  if (mean) y = pb__o_div(o, y, pb__o_like(o, y, o->n->input_count));
  OUT(y);
}

void pb__o_op_where(pb_onnx* o) {
  int truth = IN(0), yes = IN(1);
  OUT(pb__o_select(o, truth, yes, IN(2)));
}

static void cast_to(pb_onnx* o, pb_type to, long long code) {
  if (to == PB_TYPE_COUNT) pb__o_refuse(o, "to ONNX type %lld", code);
  if (pb__o_bad(o)) return;
  int x = pb__o_in_moved(o, 0);
  if (pb__o_type(o, x)->type == to) {
    OUT(x);
    return;
  }
  if (pb_type_is_code(pb__o_type(o, x)->type)) x = pb__o_decode(o, x);
  bool saturate = pb__o_int(o, "saturate", 1);
  OUT(pb_type_is_code(to) ? pb__o_encode(o, x, to, saturate, pb__o_text(o, "round_mode", "up")) : pb__o_cast(o, x, to));
}

void pb__o_op_cast(pb_onnx* o) {
  bool is_unsigned;
  int64_t code = pb__o_int(o, "to", 0);
  pb_type to = pb_onnx_type(code, &is_unsigned);
  cast_to(o, is_unsigned ? PB_UI8 : to, (long long)code);
}

void pb__o_op_cast_like(pb_onnx* o) { cast_to(o, pb__o_type(o, pb__o_in_moved(o, 1))->type, 0); }

void pb__o_op_bit_cast(pb_onnx* o) {
  bool is_unsigned;
  int64_t code = pb__o_int(o, "to", 0);
  int x = pb__o_in_moved(o, 0);
  pb_type to = pb_onnx_type(code, &is_unsigned), from = pb__o_type(o, x)->type;
  if (is_unsigned) to = PB_UI8;
  if (to == PB_TYPE_COUNT) pb__o_refuse(o, "to ONNX type %lld", (long long)code);
  bool of_truth = from == PB_I1 && (to == PB_I8 || to == PB_UI8); // a byte of 0 or 1; others are no truth
  if (!pb__o_bad(o) && !of_truth && pb_type_bits(to) != pb_type_bits(from))
    pb__o_refuse(o, "%s as %s", pb_type_name(from), pb_type_name(to));
  bool codes = pb_type_is_code(to) || pb_type_is_code(from);
  if (codes && (pb_type_is_code(to) ? to : from) < PB_I4 && pb_type_bits(to) == 8 && !pb__o_bad(o)) {
    OUT(pb__o_same_bytes(o, x, to));
    return;
  }
  if (codes) pb__o_refuse(o, "%s as %s", pb_type_name(from), pb_type_name(to));
  if (!pb__o_bad(o)) OUT(of_truth ? pb__o_cast(o, x, to) : pb__o_bits(o, x, to));
}

// y held by operand k. A bound that is no number holds nothing, as in the function that the standard makes of Clip.
static int held_by(pb_onnx* o, int y, int k) {
  if (!pb__o_has(o, k)) return y;
  float number;
  int bound = IN(k), held = k == 1 ? pb__o_most(o, y, bound) : pb__o_least(o, y, bound);
  bool is_number = !pb_type_is_float(pb__o_type(o, bound)->type) ||
                   (pb__scalar_f32(o->l, pb__input(o->n, k), &number) && !isnan(number));
  return is_number ? held : pb__o_select(o, pb__o_compare(o, "NE", bound, bound), y, held);
}

void pb__o_op_clip(pb_onnx* o) {
  const pb_attr *least = pb_node_attr(o->n, "min"), *most = pb_node_attr(o->n, "max");
  int y = held_by(o, held_by(o, IN(0), 1), 2);
  if (least && !isnan(least->f)) y = pb__o_most(o, y, pb__o_like(o, y, (double)least->f));
  if (most && !isnan(most->f)) y = pb__o_least(o, y, pb__o_like(o, y, (double)most->f));
  OUT(y);
}

void pb__o_op_binarizer(pb_onnx* o) {
  int x = IN(0), more = pb__o_compare(o, "GT", x, pb__o_like(o, x, pb__o_real(o, "threshold", 0)));
  OUT(pb__o_cast(o, more, pb__o_type(o, x)->type));
}

// In training it draws numbers; a ratio of 0 draws none.
static bool may_draw(const lifter* l, const pb_node* n, bool* always) {
  const pb_const *training = pb__constant(l, pb__input(n, 2)), *ratio = pb__constant(l, pb__input(n, 1));
  if (pb__input(n, 2) < 0) return false;
  float number;
  bool none = ratio && pb__scalar_f32(l, pb__input(n, 1), &number) && number == 0;
  *always = training && training->bytes == 1;
  return !none && !(*always && !*(const char*)training->data);
}

void pb__warn_of_training(lifter* l, const pb_node* n) {
  bool always;
  if (!pb__is(n, "Dropout") || !may_draw(l, n, &always)) return;
  pb_warning(l->diag, (pb_place){.file = l->g->file, .what = pb_node_place(l->g, n)}, 2038,
             "is computed as in inference, where nothing is dropped, and its training_mode %s",
             always ? "is true" : "may be true");
}

void pb__o_op_dropout(pb_onnx* o) {
  bool always;
  int x = IN(0);
  OUT(x);
  if (!pb__o_wants(o, 1)) return;
  if (may_draw(o->l, o->n, &always)) pb__o_refuse(o, "with the mask of a training, which draws numbers");
  const pb_flat_type in = *pb__o_type(o, x);
  bool truths = pb__o_opset(o) >= 10;
  int one = truths ? pb__o_integer(o, PB_I1, 1) : pb__o_like(o, x, 1);
  pb__o_out(o, 1, pb__o_expand(o, one, in.rank, in.shape));
}

// ---- activations ----

static int below_zero(pb_onnx* o, int x) { return pb__o_compare(o, "LT", x, pb__o_like(o, x, 0)); }

// a (e^x - 1)
static int bent(pb_onnx* o, int x, double a) {
  int y = pb__o_unary(o, "exponential_minus_one", x);
  return pb__o_mul(o, pb__o_like(o, x, a), y);
}

void pb__o_op_relu(pb_onnx* o) {
  int x = IN(0);
  OUT(pb__o_most(o, x, pb__o_like(o, x, 0)));
}

void pb__o_op_leaky_relu(pb_onnx* o) {
  const double slope = 0.01;
  int x = IN(0);
  int below = pb__o_mul(o, x, pb__o_like(o, x, pb__o_real(o, "alpha", slope)));
  OUT(pb__o_select(o, below_zero(o, x), below, x));
}

void pb__o_op_prelu(pb_onnx* o) {
  int x = IN(0), slope = IN(1);
  const pb_flat_type in = *pb__o_type(o, x), of = *pb__o_type(o, slope);
  if (pb__o_opset(o) < 7 && of.rank == 1 && in.rank > 2) slope = pb__o_along(o, slope, in.rank, 1); // by channels
  int below = pb__o_mul(o, x, slope);
  OUT(pb__o_select(o, below_zero(o, x), below, x));
}

void pb__o_op_thresholded_relu(pb_onnx* o) {
  int x = IN(0), most = pb__o_like(o, x, pb__o_real(o, "alpha", 1));
  int zero = pb__o_like(o, x, 0);
  OUT(pb__o_select(o, pb__o_compare(o, "GT", x, most), x, zero));
}

void pb__o_op_elu(pb_onnx* o) {
  pb__o_works_in_f32(o);
  int x = IN(0), below = bent(o, x, pb__o_real(o, "alpha", 1));
  OUT(pb__o_select(o, below_zero(o, x), below, x));
}

void pb__o_op_selu(pb_onnx* o) {
  pb__o_works_in_f32(o);
  bool old = pb__o_opset(o) < 6; // with fewer digits at first
  const double alpha = old ? (double)1.6732f : 1.67326319217681884765625,
               gamma = old ? (double)1.0507f : 1.05070102214813232421875;
  int x = IN(0), below = bent(o, x, pb__o_real(o, "alpha", alpha)), y = pb__o_select(o, below_zero(o, x), below, x);
  OUT(pb__o_mul(o, pb__o_like(o, x, pb__o_real(o, "gamma", gamma)), y));
}

void pb__o_op_celu(pb_onnx* o) {
  pb__o_works_in_f32(o);
  int x = IN(0);
  double alpha = pb__o_real(o, "alpha", 1);
  int part = bent(o, pb__o_div(o, x, pb__o_like(o, x, alpha)), alpha), zero = pb__o_like(o, x, 0);
  int below = pb__o_least(o, part, zero);
  OUT(pb__o_add(o, pb__o_most(o, x, zero), below));
}

static int softplus(pb_onnx* o, int x) {
  int far = pb__o_unary(o, "exponential", pb__o_unary(o, "negate", pb__o_unary(o, "abs", x)));
  int rest = pb__o_unary(o, "log_plus_one", far);
  return pb__o_add(o, pb__o_most(o, x, pb__o_like(o, x, 0)), rest);
}

void pb__o_op_softplus(pb_onnx* o) {
  pb__o_works_in_f32(o);
  OUT(softplus(o, IN(0)));
}

void pb__o_op_mish(pb_onnx* o) {
  pb__o_works_in_f32(o);
  int x = IN(0);
  OUT(pb__o_mul(o, x, pb__o_unary(o, "tanh", softplus(o, x))));
}

void pb__o_op_softsign(pb_onnx* o) {
  pb__o_works_in_f32(o);
  int x = IN(0);
  int magnitude = pb__o_unary(o, "abs", x);
  OUT(pb__o_div(o, x, pb__o_add(o, pb__o_like(o, x, 1), magnitude)));
}

static int hard_sigmoid(pb_onnx* o, int x, double alpha, double beta) {
  int offset = pb__o_like(o, x, beta), y = pb__o_add(o, pb__o_mul(o, x, pb__o_like(o, x, alpha)), offset);
  int one = pb__o_like(o, x, 1);
  return pb__o_least(o, pb__o_most(o, y, pb__o_like(o, x, 0)), one);
}

void pb__o_op_hard_sigmoid(pb_onnx* o) {
  pb__o_works_in_f32(o);
  const double alpha = 0.2, beta = 0.5;
  OUT(hard_sigmoid(o, IN(0), pb__o_real(o, "alpha", alpha), pb__o_real(o, "beta", beta)));
}

void pb__o_op_hard_swish(pb_onnx* o) {
  pb__o_works_in_f32(o);
  int x = IN(0);
  OUT(pb__o_mul(o, x, hard_sigmoid(o, x, 1.0 / 6, 0.5)));
}

static int swish(pb_onnx* o, int x, double alpha) {
  int scaled = alpha == 1 ? x : pb__o_mul(o, x, pb__o_like(o, x, alpha));
  return pb__o_mul(o, x, pb__o_unary(o, "logistic", scaled));
}

void pb__o_op_swish(pb_onnx* o) {
  pb__o_works_in_f32(o);
  OUT(swish(o, IN(0), pb__o_real(o, "alpha", 1)));
}
void pb__o_op_quick_gelu(pb_onnx* o) {
  pb__o_works_in_f32(o);
  OUT(swish(o, IN(0), pb__o_real(o, "alpha", 1.702)));
}

static int gelu(pb_onnx* o, int x, bool by_tanh) {
  const double cubic = 0.044715, pi = 3.14159265358979323846;
  int inner, half = pb__o_mul(o, x, pb__o_like(o, x, 0.5));
  if (by_tanh) {
    inner = pb__o_mul(o, x, pb__o_like(o, x, cubic));
    inner = pb__o_mul(o, pb__o_mul(o, x, x), inner);
    int scale = pb__o_like(o, x, sqrt(2 / pi));
    inner = pb__o_mul(o, pb__o_add(o, x, inner), scale);
    inner = pb__o_unary(o, "tanh", inner);
  } else {
    inner = pb__o_unary(o, "erf", pb__o_mul(o, x, pb__o_like(o, x, sqrt(0.5))));
  }
  return pb__o_mul(o, half, pb__o_add(o, inner, pb__o_like(o, x, 1)));
}

void pb__o_op_gelu(pb_onnx* o) {
  pb__o_works_in_f32(o);
  const char* how = pb__o_text(o, "approximate", "none");
  if (strcmp(how, "none") && strcmp(how, "tanh")) pb__o_refuse(o, "an approximation '%s'", how);
  OUT(gelu(o, IN(0), !strcmp(how, "tanh")));
}

void pb__o_op_fast_gelu(pb_onnx* o) {
  pb__o_works_in_f32(o);
  int x = IN(0);
  OUT(gelu(o, pb__o_has(o, 1) ? pb__o_add(o, x, IN(1)) : x, true));
}

void pb__o_op_bias_gelu(pb_onnx* o) {
  pb__o_works_in_f32(o);
  int x = IN(0);
  OUT(gelu(o, pb__o_add(o, x, IN(1)), false));
}

void pb__o_op_shrink(pb_onnx* o) {
  int x = IN(0);
  double lambda = pb__o_real(o, "lambd", 0.5), bias = pb__o_real(o, "bias", 0);
  int low = pb__o_compare(o, "LT", x, pb__o_like(o, x, -lambda)),
      high = pb__o_compare(o, "GT", x, pb__o_like(o, x, lambda)), by = pb__o_like(o, x, bias);
  int zero = pb__o_like(o, x, 0), y = pb__o_select(o, high, pb__o_sub(o, x, by), zero);
  OUT(pb__o_select(o, low, pb__o_add(o, x, by), y));
}
