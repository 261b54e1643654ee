// Constant weights of products: codes, scales, zero points. Operators have weights without zero points: those are taken
// off here. A difference of more than 8 bits becomes the sum of two codes: sum x * w = sum x * w0 + sum x * w1. Those
// reach 254, but not 255; a result that has this has no negative weights: it is computed from -w, down to -255.
#include "core/s1/lift/lift.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// The zero point of result o, for signed codes.
static int zero_of(const pb_const* z, bool from_128, int64_t o) {
  if (!z) return from_128 ? -128 : 0;
  uint8_t code = ((const uint8_t*)z->data)[z->bytes == 1 ? 0 : o];
  return (int8_t)(from_128 ? code ^ 0x80 : code);
}

// Of weights [o, ...] (outputs 0) or [k, o] (1): the codes less the zero points, or two for each, side by side along
// the dim that is summed.
static void take_off(lifter* l, const pb_const* z, bool from_128, int outputs, pb__weights* w) {
  enum { MOST = 2 * INT8_MAX };
  const pb_const* from = l->consts->items[w->id];
  int64_t total = (int64_t)from->bytes, each = total / from->shape[0], block = outputs ? total : each;
  int64_t inner = outputs ? each / from->shape[1] : each;
  int8_t* data = pb_alloc(&l->consts->arena, 2 * from->bytes);
  bool* negated = PB_NEW_ARRAY(&l->consts->arena, bool, (size_t)from->shape[outputs]);
  w->twice = false;
  w->negated = negated;
  for (int64_t k = 0; k < total; ++k) {
    int64_t o = k / inner % from->shape[outputs];
    negated[o] |= ((const int8_t*)from->data)[k] - zero_of(z, from_128, o) > MOST;
  }
  for (int64_t k = 0; k < total; ++k) {
    int64_t o = k / inner % from->shape[outputs];
    int code = ((const int8_t*)from->data)[k] - zero_of(z, from_128, o);
    if (negated[o]) code = -code;
    int first = code > 127 ? 127 : code < -128 ? -128 : code;
    int8_t* at = data + k / block * 2 * block + k % block;
    at[0] = (int8_t)first;
    at[block] = (int8_t)(code - first);
    w->twice |= code != first;
  }
  int64_t shape[PB_GRAPH_RANK];
  memcpy(shape, from->shape, sizeof(int64_t) * (size_t)from->rank);
  if (w->twice) shape[1 - outputs] *= 2;
  for (int64_t at = block; !w->twice && at < total; at += block) memmove(data + at, data + 2 * at, (size_t)block);
  w->id = pb_consts_add(l->consts, from->name, PB_I8, from->rank, shape, data);
}

static pb_status read_zeros(lifter* l, const pb_node* dq, int outputs, pb__weights* w) {
  const pb_const *z = pb__byte_codes(l, pb__input(dq, 2)), *codes = l->consts->items[w->id];
  const bool from_128 = l->g->tensors[dq->inputs[0]].is_unsigned;
  bool any = false;
  if (pb__input(dq, 2) >= 0 && !z) return pb__refuse(l, dq, NULL, "zero points that are not constant");
  if (z && (z->type != PB_I8 || l->g->tensors[pb__input(dq, 2)].is_unsigned != from_128))
    return pb__refuse(l, dq, NULL, "zero points of another type than the codes");
  if (z && z->bytes != 1 && (int64_t)z->bytes != codes->shape[outputs])
    return pb__refuse(l, dq, "one zero point, or one for each of its results", "weights with other zero points");
  for (int64_t o = 0; o < (z ? (int64_t)z->bytes : 1); ++o) any |= zero_of(z, from_128, o) != 0;
  if (any) take_off(l, z, from_128, outputs, w);
  return PB_OK;
}

pb_status pb__read_weights(lifter* l, const pb_node* n, int tensor, int outputs, pb__weights* w) {
  const pb_node* dq = pb__producer(l, tensor);
  if (!dq || !pb__is(dq, "DequantizeLinear"))
    return pb__refuse(l, n, "quantise the model (QDQ, int8)", "its weights are not quantised");
  const pb_const *codes = pb__signed_constant(l, pb__input(dq, 0)), *s = pb__constant(l, pb__input(dq, 1));
  if (!codes || codes->type != PB_I8 || codes->rank < 2 || !codes->bytes || !s || s->type != PB_F32)
    return pb__refuse(l, dq, NULL, "weights that are not constant int8");
  *w =
      (pb__weights){.id = codes->id, .scale_count = (int64_t)(s->bytes / 4), .scales = pb_const_data(l->consts, s->id)};
  memcpy(w->shape, codes->shape, sizeof(int64_t) * (size_t)codes->rank);
  w->rank = codes->rank;
  int64_t axis = pb_node_int(dq, "axis", 1);
  if (axis < 0) axis += w->rank;
  if (w->scale_count != 1 && (axis != outputs || w->scale_count != w->shape[outputs])) return pb__no_form(l);
  for (int64_t k = 0; k < w->scale_count; ++k)
    if (!(w->scales[k] > 0) || !isfinite(w->scales[k]))
      return pb__refuse(l, dq, NULL, "a scale that is not a positive number");
  return read_zeros(l, dq, outputs, w);
}

int pb__twice(lifter* l, const pb_node* n, int value, int axis, int64_t groups) {
  pb_s1_value x = l->out->values[value];
  if (groups > 1) { // each group's channels twice: groups are a dim of their own
    memmove(x.shape + axis + 1, x.shape + axis, sizeof(int64_t) * (size_t)(x.rank - axis));
    x.shape[axis] = groups;
    x.shape[++axis] /= groups;
    value = pb__reshaped(l, n->name, value, ++x.rank, x.shape);
  }
  pb_s1_op op = pb__codes_op(n, PB_S1_CONCAT, NULL);
  op.x = value;
  pb__own(l, n, &op.x);
  op.axis = axis;
  x.shape[axis] *= 2;
  op.y = pb__add_value(l, n->name, PB_I8, x.rank, x.shape);
  pb__push_op(l, op);
  op.offset = x.shape[axis] / 2;
  pb__push_op(l, op);
  if (groups == 1) return op.y;
  x.shape[axis - 1] *= x.shape[axis];
  memmove(x.shape + axis, x.shape + axis + 1, sizeof(int64_t) * (size_t)(x.rank - axis - 1));
  return pb__reshaped(l, n->name, op.y, x.rank - 1, x.shape);
}
