// Constants as numbers: f32 as it stands, and what DequantizeLinear makes of constant codes, as quantisers leave
// parameters, pads and single numbers (ONNX Runtime's puts one before nearly every operand).
#include "core/s1/rewrite/fold.h"

#include <string.h>

// How the elements of the codes find their scale and zero point: element k's is number k / inner % count.
typedef struct scales {
  const pb_const *scale, *zero;
  int64_t inner, count;
} scales;

static bool read_scales(const lifter* l, const pb_node* dq, const pb_const* codes, scales* s) {
  *s = (scales){pb__constant(l, pb__input(dq, 1)), pb__constant(l, pb__input(dq, 2)), 1, 1};
  if (!s->scale || s->scale->type != PB_F32 || s->scale->rank > 1 || pb_node_int(dq, "block_size", 0)) return false;
  if (pb__input(dq, 2) >= 0 && !s->zero) return false;
  s->count = (int64_t)(s->scale->bytes / 4);
  if (s->zero &&
      (s->zero->type != codes->type || s->zero->bytes * 8 != (uint64_t)(s->count * pb_type_bits(codes->type))))
    return false;
  if (s->count == 1) return true;
  int axis;
  if (!pb__axis(pb_node_int(dq, "axis", 1), codes->rank, &axis) || codes->shape[axis] != s->count) return false;
  for (int r = axis + 1; r < codes->rank; ++r) s->inner *= codes->shape[r];
  return true;
}

static int32_t code_at(const pb_const* c, int64_t k, bool without_sign) {
  int32_t code;
  if (c->type == PB_I8) return without_sign ? ((const uint8_t*)c->data)[k] : ((const int8_t*)c->data)[k];
  memcpy(&code, (const char*)c->data + 4 * k, 4);
  return code;
}

const float* pb__numbers(const lifter* l, int tensor, int64_t count, int* rank) {
  const pb_const* c = pb__constant(l, tensor);
  const pb_node* dq = pb__producer(l, tensor);
  scales s;
  if (!c && (!dq || !pb__is(dq, "DequantizeLinear"))) return NULL;
  const pb_const* codes = c ? c : pb__constant(l, pb__input(dq, 0));
  if (!codes || (c && c->type != PB_F32)) return NULL;
  *rank = codes->rank;
  if ((int64_t)(codes->bytes * 8) / pb_type_bits(codes->type) != count) return NULL;
  if (c) return c->data;
  if ((codes->type != PB_I8 && codes->type != PB_I32) || !read_scales(l, dq, codes, &s)) return NULL;
  bool without_sign = codes->type == PB_I8 && l->g->tensors[dq->inputs[0]].is_unsigned;
  float* numbers = pb_alloc_array(&l->consts->arena, (size_t)count + 1, sizeof *numbers);
  for (int64_t k = 0; k < count; ++k) {
    int64_t at = k / s.inner % s.count;
    float scale, middle = s.zero ? (float)code_at(s.zero, at, without_sign) : 0;
    memcpy(&scale, (const char*)s.scale->data + 4 * at, 4);
    numbers[k] = ((float)code_at(codes, k, without_sign) - middle) * scale;
  }
  return numbers;
}
