// Numbers to codes and back, where no operator between works on the codes.
#include "core/frontend/onnx/rows.h"

#include <math.h>

#define IN(k) pb__o_in(o, k)
#define OUT(v) pb__o_out(o, 0, v)

// Of blocks along the axis: each number as often as its block is long.
static int by_blocks(pb_onnx* o, int v, int64_t block, const pb_flat_type* x) {
  const pb_flat_type in = *pb__o_type(o, v);
  int axis = pb__o_axis(o, pb__o_int(o, "axis", 1), x->rank);
  bool fits = in.rank == x->rank && x->rank > 0 && block > 0;
  for (int r = 0; fits && r < x->rank; ++r)
    fits = in.shape[r] == (r == axis ? (x->shape[r] + block - 1) / block : x->shape[r]);
  if (!fits) pb__o_refuse(o, "scales by blocks that do not fit");
  if (pb__o_bad(o)) return v;
  int64_t* places = PB_NEW_ARRAY(&o->arena, int64_t, (size_t)x->shape[axis]);
  for (int64_t k = 0; k < x->shape[axis]; ++k) places[k] = k / block;
  return pb__o_take(o, v, axis, x->shape[axis], places);
}

// A scale, or a zero point that is a number by now: one for all, for each place along the axis, or for each block.
static int by_axis(pb_onnx* o, int v, int x) {
  const pb_flat_type of = *pb__o_type(o, x);
  int64_t block = pb__o_int(o, "block_size", 0);
  if (block) return by_blocks(o, v, block, &of);
  if (pb__o_elements(o, v) == 1) return pb__o_reshape(o, v, 0, NULL);
  if (pb__o_type(o, v)->rank != 1) pb__o_refuse(o, "scales of more than one axis");
  int axis = pb__o_axis(o, pb__o_int(o, "axis", 1), of.rank);
  return pb__o_bad(o) ? v : pb__o_along(o, v, of.rank, axis);
}

static bool holds_codes(pb_type type) { return type == PB_I8 || type == PB_UI8 || type == PB_I16 || type == PB_UI16; }

static int worked(pb_onnx* o, int x, pb_type as) {
  return pb_type_is_code(pb__o_type(o, x)->type) ? pb__o_cast(o, pb__o_decode(o, x), as) : pb__o_cast(o, x, as);
}

void pb__o_op_quantise(pb_onnx* o) {
  bool is_unsigned = false;
  int x = IN(0), zero = pb__o_has(o, 2) ? pb__o_in_moved(o, 2) : -1;
  int64_t code = pb__o_int(o, "output_dtype", 0);
  pb_type said = code ? pb_onnx_type(code, &is_unsigned) : PB_UI8;
  pb_type type = zero >= 0 ? pb__o_type(o, zero)->type : is_unsigned ? PB_UI8 : said;
  if (!holds_codes(type) && !pb_type_is_code(type))
    pb__o_refuse(o, "to codes of ONNX type %lld, or of the zero point's type", (long long)code);
  if (pb__o_int(o, "precision", 0) > 1) pb__o_refuse(o, "in another precision than f32");
  pb_type from = pb__o_type(o, x)->type;
  if (from != PB_F32 && from != PB_F16 && from != PB_BF16 && from != PB_I32)
    pb__o_refuse(o, "of %s: floats of 32 or 16 bits and i32 are quantised", pb_type_name(from));
  int scale = by_axis(o, pb__o_in_moved(o, 1), x);
  scale = pb__o_cast(o, scale, PB_F32);
  int y = pb__o_div(o, pb__o_cast(o, x, PB_F32), scale);
  bool whole = type < PB_F8E4M3FN || type >= PB_I4;
  if (whole) y = pb__o_unary(o, "round_nearest_even", y);
  if (zero >= 0) y = pb__o_add(o, y, by_axis(o, worked(o, zero, PB_F32), x));
  if (pb_type_is_code(type) && whole) { // kept in range
    int bits = pb_type_bits(type), below = type == PB_I4 || type == PB_I2 ? 1 << (bits - 1) : 0;
    int most = pb__o_number(o, PB_F32, (1 << bits) - 1 - below);
    y = pb__o_least(o, pb__o_most(o, y, pb__o_number(o, PB_F32, -below)), most);
  }
  OUT(pb_type_is_code(type) ? pb__o_encode(o, y, type, pb__o_int(o, "saturate", 1), "up") : pb__o_cast(o, y, type));
}

void pb__o_op_dequantise(pb_onnx* o) {
  int x = pb__o_in_moved(o, 0);
  pb_type type = pb__o_type(o, x)->type, as = pb_type_is_code(type) && type < PB_I4 ? PB_F32 : PB_I32;
  if (!holds_codes(type) && type != PB_I32 && !pb_type_is_code(type)) pb__o_refuse(o, "of %s", pb_type_name(type));
  int scale = by_axis(o, pb__o_in_moved(o, 1), x), y = worked(o, x, as);
  if (pb__o_has(o, 2)) y = pb__o_sub(o, y, by_axis(o, worked(o, pb__o_in_moved(o, 2), as), x));
  int factor = pb__o_cast(o, scale, PB_F32);
  y = pb__o_mul(o, pb__o_cast(o, y, PB_F32), factor);
  OUT(pb__o_cast(o, y, pb__o_type(o, scale)->type));
}

// By the range that there is, 0 in it: scale = (max - min) / 255, zero point = round(-min / scale).
void pb__o_by_range(pb_onnx* o, int x, int* codes, int* scale, int* zero) {
  const double steps = 255;
  int nothing = pb__o_like(o, x, 0), last = pb__o_like(o, x, steps);
  bool all[PB_FLAT_RANK];
  for (int r = 0; r < PB_FLAT_RANK; ++r) all[r] = true;
  int most = pb__o_most(o, pb__o_reduce(o, x, "maximum", all), nothing);
  int least = pb__o_least(o, pb__o_reduce(o, x, "minimum", all), nothing);
  *scale = pb__o_div(o, pb__o_sub(o, most, least), last);
  int at = pb__o_unary(o, "round_nearest_even", pb__o_div(o, pb__o_sub(o, nothing, least), *scale));
  at = pb__o_least(o, pb__o_most(o, at, nothing), last);
  int y = pb__o_unary(o, "round_nearest_even", pb__o_div(o, x, *scale));
  *codes = pb__o_cast(o, pb__o_add(o, y, at), PB_UI8);
  *zero = pb__o_cast(o, at, PB_UI8);
}

void pb__o_op_dynamic_quantise(pb_onnx* o) {
  int codes, scale, zero;
  pb__o_by_range(o, IN(0), &codes, &scale, &zero);
  OUT(codes);
  pb__o_out(o, 1, scale);
  pb__o_out(o, 2, zero);
}
