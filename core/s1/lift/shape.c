// Shapes that attributes and constants say: windows, reshapes, axes.
#include "core/s1/lift/lift.h"

#include <stdlib.h>
#include <string.h>

void pb__read_pair(const pb_node* n, const char* name, int64_t* pair) {
  const pb_attr* a = pb_node_attr(n, name);
  for (int k = 0; a && k < a->count && k < 2; ++k) pair[a->count == 1 ? 1 : k] = a->ints[k];
}

// Windows of Conv and MaxPool: attributes to numbers, and the result's extents.
int64_t pb__window_places(int64_t extent, int64_t low, int64_t high, int64_t reach, int64_t stride, bool hangs,
                          int64_t* over) {
  int64_t room = extent + low + high - reach, fit = room < 0 ? 0 : room / stride + 1, more = fit * stride - room;
  bool another = hangs && more < stride && fit * stride < extent + low; // which begins inside
  *over = another ? more : 0;
  return fit + another;
}

pb_status pb__read_window(lifter* l, const pb_node* n, const pb_s1_value* x, pb_s1_op* op, int64_t* out) {
  pb__read_pair(n, "strides", op->stride);
  pb__read_pair(n, "dilations", op->dilation);
  const pb_attr *pads = pb_node_attr(n, "pads"), *mode = pb_node_attr(n, "auto_pad");
  bool line = pads && pads->count == 2;                      // over one dim: the second
  bool valid = mode && mode->s && !strcmp(mode->s, "VALID"); // its pads do not count
  if (mode && mode->s && !valid && strcmp(mode->s, "NOTSET") && strcmp(mode->s, "SAME_UPPER") &&
      strcmp(mode->s, "SAME_LOWER"))
    return pb__refuse(l, n, "NOTSET, VALID, SAME_UPPER or SAME_LOWER", "an auto_pad that is not known");
  if (pads && pads->count != 2 && pads->count != 4) return pb__refuse(l, n, NULL, "pads for another number of dims");
  if (valid) pads = NULL;
  for (int k = 0; pads && k < pads->count && k < 4; ++k) op->pad[line ? 2 * k + 1 : k] = pads->ints[k];
  bool same = mode && mode->s && !strncmp(mode->s, "SAME", 4), lower = same && !strcmp(mode->s, "SAME_LOWER");
  bool hangs = pb_node_int(n, "ceil_mode", 0);
  op->borders = same || hangs;
  for (int k = 0; k < 2; ++k) {
    const int64_t most = 1 << 20;
    if (op->stride[k] < 1 || op->dilation[k] < 1 || op->window[k] < 1 || op->pad[k] < 0 || op->pad[k + 2] < 0 ||
        op->stride[k] > most || op->dilation[k] > most || op->window[k] > most || op->pad[k] > most ||
        op->pad[k + 2] > most)
      return pb__refuse(l, n, NULL, "a stride, dilation, window or pad that makes no sense");
    int64_t extent = x->shape[2 + k], reach = (op->window[k] - 1) * op->dilation[k] + 1;
    if (same) {
      out[k] = (extent + op->stride[k] - 1) / op->stride[k];
      int64_t need = (out[k] - 1) * op->stride[k] + reach - extent;
      bool leaves_out = l->consts->open ? op->stride[k] > reach : need < 0; // at any extent
      if (leaves_out && !pb__is(n, "Conv"))
        return pb__refuse(l, n, "explicit pads", "windows that leave out some of the input, by auto_pad");
      // less than no pad takes elements away, in front as many as ONNX Runtime does
      if (need < 0) op->start[2 + k] = lower ? -need / 2 - (need < -1) : (-need - 1) / 2;
      if (need < 0) need = 0;
      op->pad[k] = lower ? need - need / 2 : need / 2;
      op->pad[k + 2] = need - op->pad[k];
      extent -= op->start[2 + k];
    }
    out[k] = pb__window_places(extent, op->pad[k], op->pad[k + 2], reach, op->stride[k], hangs, &op->over[k]);
    if (!out[k]) return pb__refuse(l, n, NULL, "a window larger than the padded input");
    op->pad[k + 2] += op->over[k];
  }
  if (out[0] > pb_most_elements(l->consts) / out[1])
    return pb__refuse(l, n, NULL, "a result of more than 2^31 - 1 elements");
  return PB_OK;
}

// Squeeze and Unsqueeze: the axes stand in an attribute or in a constant.
static pb_status squeeze(lifter* l, const pb_node* n, const pb_s1_value* in, int64_t* shape, int* rank_out) {
  const pb_attr* attr = pb_node_attr(n, "axes");
  const pb_const* c = pb__constant(l, pb__input(n, 1));
  bool adds = pb__is(n, "Unsqueeze"), marked[PB_GRAPH_RANK] = {0};
  int64_t count = attr ? attr->count : c && c->type == PB_I64 ? (int64_t)(c->bytes / 8) : 0;
  if ((pb__input(n, 1) >= 0 && !c) || (adds && !count)) return pb__refuse(l, n, NULL, "axes that are not constant");
  int64_t rank = adds ? in->rank + count : in->rank;
  if (rank > PB_GRAPH_RANK) return pb__refuse(l, n, NULL, "more than 8 dims");
  for (int64_t k = 0; k < count; ++k) {
    int64_t axis;
    memcpy(&axis, attr ? (const char*)&attr->ints[k] : (const char*)c->data + 8 * k, 8);
    if (axis < 0) axis += rank;
    if (axis < 0 || axis >= rank || marked[axis] || (!adds && in->shape[axis] != 1))
      return pb__refuse(l, n, NULL, "an axis that is not there, or not 1 long");
    if (!adds) pb_consts_guard(l->consts, true, in->shape[axis], 1, "an axis that is 1 long");
    marked[axis] = true;
  }
  int from = 0, to = 0;
  for (int r = 0; r < rank; ++r) {
    if (!adds && !count && in->shape[r] > 1) // an open extent of 1 would go as well
      pb_consts_guard(l->consts, false, 2, in->shape[r], "which dims Squeeze takes out");
    if (adds)
      shape[to++] = marked[r] ? 1 : in->shape[from++];
    else if (count ? !marked[r] : in->shape[r] != 1)
      shape[to++] = in->shape[r];
  }
  *rank_out = to;
  return PB_OK;
}

pb_status pb__read_reshape(lifter* l, const pb_node* n, const pb_s1_value* in, int64_t* shape, int* rank_out) {
  int64_t total = 1;
  int rank = 0;
  for (int r = 0; r < in->rank; ++r) total *= in->shape[r];
  if (pb__is(n, "Flatten")) {
    int64_t axis = pb_node_int(n, "axis", 1);
    if (axis < 0) axis += in->rank;
    shape[0] = 1;
    for (int r = 0; r < in->rank && r < axis; ++r) shape[0] *= in->shape[r];
    shape[1] = 1;
    for (int r = in->rank; r-- > 0 && r >= axis;) shape[1] *= in->shape[r];
    rank = 2;
  } else if (pb__is(n, "Reshape")) {
    const pb_const* c = pb__constant(l, pb__input(n, 1));
    if (!c || c->type != PB_I64 || c->bytes / 8 > PB_GRAPH_RANK)
      return pb__refuse(l, n, NULL, "a shape that is not constant");
    int64_t known = 1, free_dim = -1;
    bool copies = !pb_node_int(n, "allowzero", 0); // else a 0 is no extent of the input's
    pb__divide_reshaped(l, in, (int)(c->bytes / 8), c->data);
    for (rank = 0; rank < (int)(c->bytes / 8); ++rank) {
      memcpy(&shape[rank], (const char*)c->data + 8 * rank, 8);
      if (shape[rank] == 0 && copies && rank < in->rank) shape[rank] = in->shape[rank];
      if (shape[rank] == -1 && free_dim < 0)
        free_dim = rank;
      else if (!total && shape[rank] >= 0 && shape[rank] <= PB_MAX_ELEMENTS / (known ? known : 1))
        known *= shape[rank];
      else if (shape[rank] > 0 && shape[rank] <= total / known)
        known *= shape[rank];
      else
        return pb__refuse(l, n, NULL, "a shape that does not fit");
    }
    if (free_dim >= 0) shape[free_dim] = known ? total / known : 0;
    if (free_dim < 0 ? known != total : shape[free_dim] * known != total)
      return pb__refuse(l, n, NULL, "a shape that does not fit");
  } else if (pb__is(n, "Squeeze") || pb__is(n, "Unsqueeze")) {
    PB_TRY(squeeze(l, n, in, shape, &rank));
  } else {
    rank = in->rank;
    memcpy(shape, in->shape, sizeof in->shape);
  }
  *rank_out = rank;
  return PB_OK;
}
