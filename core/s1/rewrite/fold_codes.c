// QuantizeLinear of constants: networks that were trained with codes leave their weights in floats, with a
// QuantizeLinear and a DequantizeLinear behind them. What codes they are is known here, and weights that are constant
// codes are what products of codes read.
#include "core/s1/rewrite/fold.h"

#include <math.h>
#include <string.h>

// By how much element k of x is divided, and what stands for 0: one for all, or one for each place along an axis.
typedef struct steps {
  const float* scale;
  const uint8_t* zero; // NULL: 0
  bool is_unsigned;
  int64_t count, inner; // inner: so many neighbours share one
} steps;

static bool read_steps(lifter* l, const pb_node* n, const pb__folded* x, steps* s) {
  pb__folded scale, zero;
  const pb_attr *block = pb_node_attr(n, "block_size"), *type = pb_node_attr(n, "output_dtype");
  int zeros = pb__input(n, 2), axis;
  if ((block && block->i) || (type && zeros < 0)) return false;
  if (!pb__fold_take(l, pb__input(n, 1), &scale) || scale.type != PB_F32 || scale.count < 1) return false;
  *s = (steps){.scale = (const float*)(const void*)scale.data, .is_unsigned = true, .count = scale.count, .inner = 1};
  if (zeros >= 0) {
    if (!pb__fold_take(l, zeros, &zero) || zero.type != PB_I8 || zero.count != scale.count) return false;
    s->zero = (const uint8_t*)zero.data;
    s->is_unsigned = l->g->tensors[zeros].is_unsigned;
  }
  for (int64_t k = 0; k < s->count; ++k)
    if (!(s->scale[k] > 0) || isinf(s->scale[k])) return false; // the row says what is the matter
  if (s->count == 1) return true;
  if (!pb__axis(pb_node_int(n, "axis", 1), x->rank, &axis) || x->shape[axis] != s->count) return false;
  for (int r = axis + 1; r < x->rank; ++r) s->inner *= x->shape[r];
  return true;
}

bool pb__fold_codes(lifter* l, const pb_node* n) {
  pb__folded x, y;
  steps s;
  if (!pb__is(n, "QuantizeLinear") || !pb__fold_take(l, pb__input(n, 0), &x) || x.type != PB_F32) return false;
  if (!read_steps(l, n, &x, &s)) return false;
  const float* from = (const float*)(const void*)x.data;
  for (int64_t k = 0; k < x.count; ++k)
    if (isnan(from[k])) return false;
  if (!pb__fold_start(l, PB_I8, x.rank, x.shape, &y)) return false;
  double least = s.is_unsigned ? 0 : -128, most = s.is_unsigned ? 255 : 127;
  for (int64_t k = 0; k < x.count; ++k) {
    int64_t at = s.count == 1 ? 0 : k / s.inner % s.count;
    double zero = !s.zero ? 0 : s.is_unsigned ? s.zero[at] : (int8_t)s.zero[at];
    double code = (double)rintf(from[k] / s.scale[at]) + zero;
    y.data[k] = (char)(int)fmin(fmax(code, least), most);
  }
  pb__fold_give(l, n->outputs[0], &y);
  if (n->outputs[0] >= 0) l->g->tensors[n->outputs[0]].is_unsigned = s.is_unsigned;
  return true;
}
