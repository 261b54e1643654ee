// Numbers to codes and back, where no operator between works on the codes.
#include "core/frontend/onnx/rows.h"

#include <math.h>

#define IN(k) pb__o_in(o, k)
#define OUT(v) pb__o_out(o, 0, v)

// A scale or zero point: one for all, or one for each place along the axis.
static int by_axis(pb_onnx* o, int k, int rank) {
  int v = IN(k);
  if (pb__o_int(o, "block_size", 0)) pb__o_refuse(o, "scales by blocks");
  if (pb__o_elements(o, v) == 1) return pb__o_reshape(o, v, 0, NULL);
  if (pb__o_type(o, v)->rank != 1) pb__o_refuse(o, "scales of more than one axis");
  int axis = pb__o_axis(o, pb__o_int(o, "axis", 1), rank);
  return pb__o_bad(o) ? v : pb__o_along(o, v, rank, axis);
}

static bool holds_codes(pb_type type) { return type == PB_I8 || type == PB_UI8 || type == PB_I16 || type == PB_UI16; }

void pb__o_op_quantise(pb_onnx* o) {
  bool is_unsigned = false;
  int x = IN(0), rank = pb__o_type(o, x)->rank, zero = pb__o_has(o, 2) ? by_axis(o, 2, rank) : -1;
  int64_t code = pb__o_int(o, "output_dtype", 0);
  pb_type said = code ? pb_onnx_type(code, &is_unsigned) : PB_UI8;
  pb_type type = zero >= 0 ? pb__o_type(o, zero)->type : is_unsigned ? PB_UI8 : said;
  if (!holds_codes(type)) pb__o_refuse(o, "to codes of ONNX type %lld, or of the zero point's type", (long long)code);
  if (pb__o_int(o, "precision", 0) > 1) pb__o_refuse(o, "in another precision than f32");
  int scale = by_axis(o, 1, rank);
  int y = pb__o_div(o, pb__o_cast(o, x, PB_F32), pb__o_cast(o, scale, PB_F32));
  y = pb__o_unary(o, "round_nearest_even", y);
  if (zero >= 0) y = pb__o_add(o, y, pb__o_cast(o, zero, PB_F32));
  OUT(pb__o_cast(o, y, type)); // kept in range
}

void pb__o_op_dequantise(pb_onnx* o) {
  int x = IN(0), rank = pb__o_type(o, x)->rank;
  pb_type type = pb__o_type(o, x)->type;
  if (!holds_codes(type) && type != PB_I32) pb__o_refuse(o, "of %s", pb_type_name(type));
  int scale = by_axis(o, 1, rank), y = pb__o_cast(o, x, PB_I32);
  if (pb__o_has(o, 2)) y = pb__o_sub(o, y, pb__o_cast(o, by_axis(o, 2, rank), PB_I32));
  y = pb__o_mul(o, pb__o_cast(o, y, PB_F32), pb__o_cast(o, scale, PB_F32));
  OUT(pb__o_cast(o, y, pb__o_type(o, scale)->type));
}

// By the range that there is, 0 in it: scale = (max - min) / 255, zero point = round(-min / scale).
void pb__o_op_dynamic_quantise(pb_onnx* o) {
  const double steps = 255;
  int x = IN(0), nothing = pb__o_like(o, x, 0), last = pb__o_like(o, x, steps);
  bool all[PB_FLAT_RANK];
  for (int r = 0; r < PB_FLAT_RANK; ++r) all[r] = true;
  int most = pb__o_most(o, pb__o_reduce(o, x, "maximum", all), nothing);
  int least = pb__o_least(o, pb__o_reduce(o, x, "minimum", all), nothing);
  int scale = pb__o_div(o, pb__o_sub(o, most, least), last);
  int zero = pb__o_unary(o, "round_nearest_even", pb__o_div(o, pb__o_sub(o, nothing, least), scale));
  zero = pb__o_least(o, pb__o_most(o, zero, nothing), last);
  int y = pb__o_unary(o, "round_nearest_even", pb__o_div(o, x, scale));
  OUT(pb__o_cast(o, pb__o_add(o, y, zero), PB_UI8));
  pb__o_out(o, 1, scale);
  pb__o_out(o, 2, pb__o_cast(o, zero, PB_UI8));
}
