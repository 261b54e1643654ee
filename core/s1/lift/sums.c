// Biases and factors of products of codes: what is added to their sums, in units of these, and by what the sums are
// multiplied. A bias that 32 bits do not hold beside the sums, or that their units do not say, is added behind them, in
// f32.
#include "core/s1/lift/lift.h"

#include <float.h>
#include <math.h>
#include <string.h>

static void add_bias_and_factor(lifter* l, const pb_node* n, int64_t count, const int32_t* bias, const float* m,
                                pb_s1_op* op) {
  op->bias = pb_consts_add(l->consts, pb_printf(&l->consts->arena, "%s.bias", n->name), PB_I32, 1, &count, bias);
  op->m = pb_consts_add(l->consts, pb_printf(&l->consts->arena, "%s.m", n->name), PB_F32, 1, &count, m);
}

float pb__factor(lifter* l, float scale, float by) {
  const float least = 1e-20f;
  float factor = scale / by;
  if (!isfinite(factor) || (fabsf(scale) < FLT_MIN && by < least))
    l->impossible = "scales so far apart that f32 does not hold their products and quotients";
  return factor;
}

// A constant's number for a result, where it has one for each or one for all; false: it has another count.
static bool has_each(const pb_const* c, int64_t outputs) {
  return c && c->type == PB_F32 && (c->bytes == 4 || c->bytes == (uint64_t)outputs * 4);
}

static const void* each_at(const pb_const* c, int64_t o) { return (const char*)c->data + (c->bytes == 4 ? 0 : 4 * o); }

// The biases of a product's results: as numbers, and in units of the sums that they are added to. `apart`: these cannot
// hold them all.
typedef struct biases {
  float* numbers;
  int64_t* units;
  bool apart;
} biases;

// Bias o, of which a number is rounded to the sums' units if that moves the result by at most half a code. `unit`: of
// this result's sums; `scale`: of its code, 0: it has none, and may not move.
static void set_bias(biases* b, int64_t o, double number, double in_units, float unit, float scale) {
  const double most = (double)((int64_t)1 << 40), half = 0.5, rounded = nearbyint(in_units);
  b->numbers[o] = (float)number;
  b->units[o] = fabs(in_units) < most ? (int64_t)rounded : 0;
  b->apart |= !(fabs(in_units) < most) || fabs(in_units - rounded) * (double)unit > half * (double)scale;
}

// Biases that are f32, or codes of 8 bits, as those that several products share.
static bool read_numbers(lifter* l, int tensor, int64_t outputs, const float* units, float scale, biases* b) {
  int rank;
  const float* numbers = pb__numbers(l, tensor, outputs, &rank);
  if (!numbers || rank > 1) return false;
  for (int64_t o = 0; o < outputs; ++o)
    set_bias(b, o, (double)numbers[o], (double)numbers[o] / (double)units[o], units[o], scale);
  return true;
}

static pb_status read_bias(lifter* l, const pb_node* n, int64_t outputs, const float* units, float scale, biases* b) {
  const int tensor = pb__input(n, 2);
  const pb_node* dq = pb__producer(l, tensor);
  bool quantised = dq && pb__is(dq, "DequantizeLinear");
  const pb_const *codes = quantised ? pb__constant(l, pb__input(dq, 0)) : NULL,
                 *s = quantised ? pb__constant(l, pb__input(dq, 1)) : NULL;
  if (!codes || codes->type != PB_I32) {
    if (read_numbers(l, tensor, outputs, units, scale, b)) return PB_OK;
    return pb__refuse(l, n, "constant biases", "a bias that is not constant, one number for each result");
  }
  if (codes->bytes != (uint64_t)outputs * 4 || (codes->rank && codes->shape[codes->rank - 1] != outputs))
    return pb__refuse(l, n, "int32 biases with scale sx * sw", "a bias that has not one number for each result");
  if (!has_each(s, outputs))
    return pb__refuse(l, dq, NULL, "a bias whose scale is not constant, one for each result or for all");
  for (int64_t o = 0; o < outputs; ++o) {
    int32_t code;
    float own;
    memcpy(&code, (const char*)codes->data + 4 * o, 4);
    memcpy(&own, each_at(s, o), 4);
    double bias = code; // less 0, as the front end sees to
    set_bias(b, o, bias * (double)own, own == units[o] ? bias : bias * ((double)own / units[o]), units[o], scale);
  }
  return PB_OK;
}

enum { RUN = 64 }; // of a length that is known, so that compilers take vectors

// What a result's weights above zero come to, and those below.
typedef struct weight_sums {
  int64_t above, below;
} weight_sums;

static weight_sums sum_row(const int8_t* weights, int64_t count) {
  weight_sums sums = {0};
  int64_t k = 0;
  for (; k + RUN <= count; k += RUN) {
    int32_t positive = 0, all = 0;
    for (int j = 0; j < RUN; ++j) {
      all += weights[k + j];
      positive += weights[k + j] > 0 ? weights[k + j] : 0;
    }
    sums.above += positive;
    sums.below += all - positive;
  }
  for (; k < count; ++k) *(weights[k] > 0 ? &sums.above : &sums.below) += weights[k];
  return sums;
}

static inline void add_codes(const int8_t* codes, int64_t count, int16_t* all, int16_t* positive) {
  for (int64_t k = 0; k < count; ++k) {
    all[k] = (int16_t)(all[k] + codes[k]);
    positive[k] = (int16_t)(positive[k] + (codes[k] > 0 ? codes[k] : 0));
  }
}

// The same of each column, `width` of them, row by row as they lie.
static void sum_columns(const int8_t* weights, int64_t rows, int64_t width, weight_sums* sums) {
  enum { FEW = 64 }; // rows whose sums 16 bits hold, and that stay in a core's cache until all columns have theirs
  for (int64_t first = 0; first < rows; first += FEW)
    for (int64_t column = 0; column < width; column += RUN) {
      int16_t positive[RUN] = {0}, all[RUN] = {0};
      int64_t end = first + FEW < rows ? first + FEW : rows, n = width - column < RUN ? width - column : RUN;
      for (int64_t r = first; r < end; ++r) {
        const int8_t* codes = weights + r * width + column;
        if (n == RUN)
          add_codes(codes, RUN, all, positive);
        else
          add_codes(codes, n, all, positive);
      }
      for (int64_t j = 0; j < n; ++j) {
        sums[column + j].above += positive[j];
        sums[column + j].below += all[j] - positive[j];
      }
    }
}

// Of each result of weights [outputs, ...], or of [k, outputs] that are turned to that when they are read.
static weight_sums* sum_weights(lifter* l, int id) {
  const pb_const* codes = l->consts->items[id];
  int64_t outputs = codes->shape[0], each = (int64_t)codes->bytes / outputs;
  weight_sums* sums = PB_NEW_ARRAY(&l->consts->arena, weight_sums, (size_t)outputs);
  for (int64_t o = 0; codes->data && o < outputs; ++o) sums[o] = sum_row((const int8_t*)codes->data + o * each, each);
  if (!codes->data) sum_columns(l->consts->items[codes->pack->source]->data, each, outputs, sums);
  return sums;
}

// bias' = bias - zx * sum(w), if neither it, nor any sum of products, nor any of both together leaves 32 bits.
static bool fold_bias(weight_sums sums, int zero, int64_t bias, int32_t* folded) {
  int64_t most = sums.above * INT8_MAX + sums.below * INT8_MIN, least = sums.above * INT8_MIN + sums.below * INT8_MAX;
  bias -= zero * (sums.above + sums.below);
  *folded = (int32_t)bias;
  return bias >= INT32_MIN && bias <= INT32_MAX && least >= INT32_MIN && most <= INT32_MAX &&
         least + bias >= INT32_MIN && most + bias <= INT32_MAX;
}

static bool is_negated(const pb__weights* w, int64_t o) { return w->negated && w->negated[o]; }

// Folds zero points, and of biases that are not apart these too. false: a result's sums may leave 32 bits.
static bool fold_all(const pb__weights* w, const weight_sums* sums, int zero, int64_t outputs, const biases* b,
                     int32_t* folded) {
  for (int64_t o = 0; o < outputs; ++o) {
    int64_t bias = b->apart ? 0 : is_negated(w, o) ? -b->units[o] : b->units[o];
    if (!fold_bias(sums[o], zero, bias, &folded[o])) return false;
  }
  return true;
}

pb_status pb__fold_constants(lifter* l, const pb_node* n, const pb__weights* w, const pb_codes* x, const pb_target* t,
                             pb_s1_op* op, const float** apart) {
  int64_t outputs = l->consts->items[op->weights]->shape[0];
  const weight_sums* sums = sum_weights(l, op->weights);
  biases b = {.numbers = PB_NEW_ARRAY(&l->consts->arena, float, (size_t)outputs),
              .units = PB_NEW_ARRAY(&l->consts->arena, int64_t, (size_t)outputs)};
  int32_t* folded = PB_NEW_ARRAY(&l->consts->arena, int32_t, (size_t)outputs);
  float* m = PB_NEW_ARRAY(&l->consts->arena, float, (size_t)outputs);
  for (int64_t o = 0; o < outputs; ++o) m[o] = x->scale * w->scales[w->scale_count == 1 ? 0 : o];
  if (pb__input(n, 2) >= 0) PB_TRY(read_bias(l, n, outputs, m, t->floats ? 0 : t->scale, &b));
  for (int64_t o = 0; o < outputs; ++o)
    if (!isfinite(b.numbers[o])) return pb__refuse(l, n, NULL, "a bias that is no number");
  b.apart = b.apart || !fold_all(w, sums, (int)x->zero, outputs, &b, folded);
  if (b.apart && !fold_all(w, sums, (int)x->zero, outputs, &b, folded))
    return pb__refuse(l, n, NULL, "sums that may not fit 32 bits, its zero point counted");
  for (int64_t o = 0; o < outputs; ++o) m[o] = pb__factor(l, is_negated(w, o) ? -m[o] : m[o], b.apart ? 1 : t->scale);
  *apart = b.apart ? b.numbers : NULL;
  add_bias_and_factor(l, n, outputs, folded, m, op);
  return PB_OK;
}

// The numbers, one for each channel, against the dims of a result of that rank.
static int by_channels(lifter* l, const pb_node* n, const float* numbers, const pb_s1_value* result) {
  int64_t shape[PB_GRAPH_RANK] = {result->shape[1]};
  for (int r = 1; r < result->rank - 1; ++r) shape[r] = 1;
  return pb_consts_add(l->consts, pb_printf(&l->consts->arena, "%s.apart", n->name), PB_F32, result->rank - 1, shape,
                       numbers);
}

void pb__push_product(lifter* l, const pb_node* n, const pb_target* t, pb_s1_op op, const float* apart) {
  const pb_s1_value result = l->out->values[op.y];
  if (!apart) {
    op.zy = t->zero;
    op.lo = t->lo;
    op.hi = t->hi;
    pb__push_op(l, op);
    return;
  }
  pb_s1_op sum = pb__float_op(n, PB_S1_FBINARY), codes = pb__codes_op(n, PB_S1_QUANTISE, t);
  sum.binary = PB_OP_ADD;
  sum.weights = by_channels(l, n, apart, &result);
  codes.ma = pb__factor(l, 1, t->scale);
  codes.y = op.y;
  sum.x = op.y = pb__add_value(l, n->name, PB_F32, result.rank, result.shape);
  codes.x = sum.y = t->floats ? codes.y : pb__add_value(l, n->name, PB_F32, result.rank, result.shape);
  pb__push_op(l, op);
  pb__push_op(l, sum);
  if (!t->floats) pb__push_op(l, codes);
}

void pb__fold_sum(lifter* l, const pb_node* n, int64_t channels, int64_t area, const pb_codes* x, float scale,
                  const pb_target* t, pb_s1_op* op) {
  int32_t* bias = pb_alloc(&l->consts->arena, (size_t)channels * 4);
  float* m = pb_alloc(&l->consts->arena, (size_t)channels * 4);
  const float factor = pb__factor(l, scale, t->scale);
  if (area > INT32_MAX / UINT8_MAX) {
    l->impossible = "so many codes that their sum may not fit 32 bits";
    area = 1;
  }
  for (int64_t c = 0; c < channels; ++c) {
    bias[c] = (int32_t)(-x->zero * (double)area);
    m[c] = factor;
  }
  add_bias_and_factor(l, n, channels, bias, m, op);
}
