// Products and convolutions of codes, in i32, and what is made of their sums.
#include "core/frontend/onnx/rows.h"

#include <string.h>

#define IN(k) pb__o_in(o, k)
#define OUT(v) pb__o_out(o, 0, v)

static bool of_codes(pb_type type) { return type == PB_I8 || type == PB_UI8; }

static int less_zero(pb_onnx* o, int x, int z, int axis) {
  int rank = pb__o_type(o, x)->rank;
  x = pb__o_cast(o, x, PB_I32);
  if (z < 0 || pb__o_bad(o)) return x;
  if (pb__o_elements(o, z) > 1 && pb__o_type(o, z)->rank == 1 && rank > 0)
    z = pb__o_along(o, z, rank, axis < 0 ? axis + rank : axis);
  else if (pb__o_elements(o, z) == 1)
    z = pb__o_reshape(o, z, 0, NULL);
  return pb__o_sub(o, x, pb__o_cast(o, z, PB_I32));
}

int pb__o_from_zero(pb_onnx* o, int k, int zero, int axis) {
  int x = IN(k);
  pb_type type = pb__o_type(o, x)->type;
  if (!of_codes(type)) pb__o_refuse(o, "operand %d of %s", k, pb_type_name(type));
  return less_zero(o, x, pb__o_has(o, zero) ? IN(zero) : -1, axis);
}

// ---- by constant weights: codes with sign are multiplied, zero points are in what is added ----

enum { WITHOUT_SIGN = 128 }; // what a code without sign has more than the one with sign of the other bits

// Constant weights less their zero points: a tensor of codes with sign, less a second one where a code does not hold
// that, and the sums of each column.
typedef struct weights {
  int first, second; // values; second: -1, none
  int64_t columns;
  int32_t* sums;
} weights;

static const pb_const* codes_of(pb_onnx* o, int k) {
  const pb_const* c = pb__o_has(o, k) ? pb__constant(o->l, pb__input(o->n, k)) : NULL;
  return c && c->type == PB_I8 ? c : NULL;
}

// An element of a constant, as a code with sign.
static int64_t code_at(pb_onnx* o, int k, int64_t at) {
  const pb_const* c = codes_of(o, k);
  const int8_t* codes = pb_const_data(o->l->consts, c->id);
  return o->l->g->tensors[pb__input(o->n, k)].is_unsigned ? (int64_t)(uint8_t)codes[at] - WITHOUT_SIGN : codes[at];
}

// `axis`: of the columns. False: they are not constant, or of another form.
static bool read_weights(pb_onnx* o, int k, int k_zero, int axis, weights* w) {
  const pb_const *c = codes_of(o, k), *z = codes_of(o, k_zero);
  if (!c || c->rank < 2 || (pb__o_has(o, k_zero) && !z)) return false;
  axis = axis < 0 ? axis + c->rank : axis;
  if (c->rank > 2 && axis == c->rank - 1) return false; // stacks: each has columns of its own
  bool is_unsigned = o->l->g->tensors[pb__input(o->n, k)].is_unsigned;
  int64_t all = pb__elements(c->rank, c->shape), inner = 1, zeros = z ? pb__elements(z->rank, z->shape) : 1;
  for (int r = axis + 1; r < c->rank; ++r) inner *= c->shape[r];
  if (z && is_unsigned != o->l->g->tensors[pb__input(o->n, k_zero)].is_unsigned) return false;
  if (all < 1 || (zeros != 1 && (z->rank != 1 || zeros != c->shape[axis]))) return false;
  w->columns = c->shape[axis];
  w->sums = PB_NEW_ARRAY(&o->arena, int32_t, (size_t)w->columns);
  int8_t *first = PB_NEW_ARRAY(&o->arena, int8_t, (size_t)all), *second = PB_NEW_ARRAY(&o->arena, int8_t, (size_t)all);
  bool one = true;
  for (int64_t e = 0; e < all; ++e) {
    int64_t column = e / inner % w->columns, code = code_at(o, k, e);
    int64_t zero = z ? code_at(o, k_zero, zeros == 1 ? 0 : column) : is_unsigned ? -WITHOUT_SIGN : 0;
    w->sums[column] = (int32_t)((uint32_t)w->sums[column] + (uint32_t)(code - zero));
    one &= code - zero >= INT8_MIN && code - zero <= INT8_MAX;
    first[e] = (int8_t)code;
    second[e] = (int8_t)zero;
  }
  for (int64_t e = 0; one && e < all; ++e) first[e] = (int8_t)(first[e] - second[e]);
  w->first = pb__o_constant(o, PB_I8, c->rank, c->shape, first);
  w->second = one ? -1 : pb__o_constant(o, PB_I8, c->rank, c->shape, second);
  return true;
}

static int product(pb_onnx* o, int x, int w, int with, bool windows) {
  return windows ? pb__o_convolved(o, x, w, with, PB_I32) : pb__o_matmul(o, x, w, PB_I32);
}

// By weights of which x's zero point takes away sums[column] times itself. It is the number `known`, or a value.
static int by_weights(pb_onnx* o, const pb_onnx_codes* c, const weights* w, bool is_known, int64_t known) {
  int x = c->made ? pb__o_with_sign(o, c->codes) : pb__o_in_with_sign(o, c->x), zero = -1;
  if (is_known && known)
    zero = pb__o_integer(o, PB_I8, known);
  else if (!is_known)
    zero = pb__o_with_sign(o, pb__o_reshape(o, c->made ? c->zero : IN(c->x_zero), 0, NULL));
  int y = product(o, x, w->first, zero, c->windows);
  if (w->second >= 0) y = pb__o_sub(o, y, product(o, x, w->second, zero, c->windows));
  if (zero < 0 || pb__o_bad(o)) return y;
  for (int64_t n = 0; n < w->columns && is_known; ++n) w->sums[n] = (int32_t)((uint32_t)w->sums[n] * (uint32_t)known);
  int rank = pb__o_type(o, y)->rank, more = pb__o_constant(o, PB_I32, 1, &w->columns, w->sums);
  more = pb__o_along(o, more, rank, c->windows ? 1 : rank - 1);
  return pb__o_sub(o, y, is_known ? more : pb__o_mul(o, more, pb__o_cast(o, zero, PB_I32)));
}

// Whether x has one zero point of its own type, or none; *number: which one, as a code with sign, where it is constant.
static bool read_zero(pb_onnx* o, const pb_onnx_codes* c, bool* is_known, int64_t* number) {
  *is_known = false;
  if (c->made) return pb__o_elements(o, c->zero) == 1;
  bool is_unsigned = pb__o_type(o, IN(c->x))->type == PB_UI8;
  *number = is_unsigned ? -WITHOUT_SIGN : 0;
  if (!pb__o_has(o, c->x_zero)) return *is_known = true;
  int zero = IN(c->x_zero);
  if (pb__o_bad(o) || pb__o_elements(o, zero) != 1 || (pb__o_type(o, zero)->type == PB_UI8) != is_unsigned)
    return false;
  *is_known = codes_of(o, c->x_zero) != NULL;
  if (*is_known) *number = code_at(o, c->x_zero, 0);
  return true;
}

int pb__o_sums_of_codes(pb_onnx* o, const pb_onnx_codes* c) {
  int x = c->made ? c->codes : IN(c->x), rank = pb__o_type(o, x)->rank;
  weights w;
  bool is_known;
  int64_t number = 0;
  if (!of_codes(pb__o_type(o, x)->type)) pb__o_refuse(o, "codes of %s", pb_type_name(pb__o_type(o, x)->type));
  if (pb__o_bad(o)) return x;
  if (rank > 1 && read_zero(o, c, &is_known, &number) && read_weights(o, c->w, c->w_zero, c->windows ? 0 : -1, &w))
    return by_weights(o, c, &w, is_known, number);
  if (!c->made && !pb__o_has(o, c->x_zero) && !pb__o_has(o, c->w_zero) && pb__o_type(o, x)->type == PB_I8 &&
      pb__o_type(o, IN(c->w))->type == PB_I8)
    return product(o, x, IN(c->w), -1, c->windows); // as they are
  int axis = c->windows ? 1 : rank > 1 ? -2 : 0;
  int left = c->made ? less_zero(o, x, c->zero, axis) : pb__o_from_zero(o, c->x, c->x_zero, axis);
  return product(o, left, pb__o_from_zero(o, c->w, c->w_zero, c->windows ? 0 : -1), -1, c->windows);
}

void pb__o_op_matmul_integer(pb_onnx* o) {
  OUT(pb__o_sums_of_codes(o, &(pb_onnx_codes){.x = 0, .x_zero = 2, .w = 1, .w_zero = 3}));
}

void pb__o_op_conv_integer(pb_onnx* o) {
  OUT(pb__o_sums_of_codes(o, &(pb_onnx_codes){.x = 0, .x_zero = 2, .w = 1, .w_zero = 3, .windows = true}));
}

// round(sums * (sx sw / sy)) + zy: each f32 operation rounded once.
static int requantised(pb_onnx* o, int sums, int factor, int zero) {
  pb_type type = pb__o_type(o, zero)->type;
  int y = pb__o_mul(o, pb__o_cast(o, sums, PB_F32), factor);
  zero = pb__o_cast(o, pb__o_reshape(o, zero, 0, NULL), PB_F32);
  y = pb__o_add(o, pb__o_unary(o, "round_nearest_even", y), zero);
  return pb__o_cast(o, y, type);
}

static int scale_of(pb_onnx* o, int k, int rank, int axis) {
  int s = IN(k);
  s = pb__o_cast(o, s, PB_F32);
  return pb__o_elements(o, s) == 1 ? pb__o_reshape(o, s, 0, NULL)
                                   : pb__o_along(o, s, rank, axis < 0 ? axis + rank : axis);
}

void pb__o_op_qlinear_matmul(pb_onnx* o) {
  int of_x = pb__o_type(o, IN(0))->rank,
      y = pb__o_sums_of_codes(o, &(pb_onnx_codes){.x = 0, .x_zero = 2, .w = 3, .w_zero = 5}),
      rank = pb__o_type(o, y)->rank;
  if (pb__o_bad(o) || !rank) return;
  int factor = scale_of(o, 4, rank, -1);
  factor = pb__o_mul(o, scale_of(o, 1, rank, of_x > 1 ? -2 : 0), factor);
  factor = pb__o_div(o, factor, scale_of(o, 6, rank, -1));
  OUT(requantised(o, y, factor, IN(7)));
}

void pb__o_op_qlinear_conv(pb_onnx* o) {
  int rank = pb__o_type(o, IN(0))->rank;
  const pb_onnx_codes codes = {.x = 0, .x_zero = 2, .w = 3, .w_zero = 5, .windows = true};
  int y = pb__o_with_bias(o, pb__o_sums_of_codes(o, &codes), 8, PB_I32);
  if (pb__o_bad(o)) return;
  int factor = scale_of(o, 4, rank, 1);
  factor = pb__o_mul(o, scale_of(o, 1, rank, 1), factor);
  factor = pb__o_div(o, factor, scale_of(o, 6, rank, 1));
  OUT(requantised(o, y, factor, IN(7)));
}
