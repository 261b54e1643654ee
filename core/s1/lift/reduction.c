// Lifts what takes all elements along some axes together: sums and maxima, softmax, normalisation over a layer.
#include "core/s1/lift/lift.h"
#include "core/s1/long_sums.h"

#include <stdlib.h>
#include <string.h>

bool pb__axis(int64_t axis, int rank, int* at) {
  if (axis < -rank || axis >= rank) return false;
  *at = (int)(axis < 0 ? axis + rank : axis);
  return true;
}

void pb__read_integers(const lifter* l, const pb_node* n, const char* name, int input, int most, int64_t* items,
                       int* count) {
  const pb_attr* a = name ? pb_node_attr(n, name) : NULL;
  const pb_const* c = pb__constant(l, pb__input(n, input));
  *count = 0;
  if (!a && pb__input(n, input) < 0) return;
  bool narrow = c && c->type == PB_I32, whole = narrow || (c && c->type == PB_I64);
  int64_t have = a ? a->count : whole ? (int64_t)(c->bytes / (narrow ? 4 : 8)) : -1;
  *count = have < 0 || have > most ? -1 : (int)have;
  if (*count <= 0) return;
  const void* from = a ? a->ints : pb_const_data(l->consts, c->id);
  if (a || !narrow) memcpy(items, from, (size_t)*count * sizeof *items);
  for (int k = 0; k < *count && !a && narrow; ++k) items[k] = ((const int32_t*)from)[k];
}

int64_t* pb__all_integers(const lifter* l, const pb_node* n, int input, pb_arena* arena, int64_t* count) {
  const pb_const* c = pb__constant(l, pb__input(n, input));
  int64_t elements = c ? pb__elements(c->rank, c->shape) : 0;
  int read;
  if (elements < 1 || elements > INT32_MAX) return NULL;
  int64_t* all = PB_NEW_ARRAY(arena, int64_t, (size_t)elements);
  pb__read_integers(l, n, NULL, input, (int)elements, all, &read);
  *count = elements;
  return read == elements ? all : NULL;
}

const char* pb__read_axes(const lifter* l, const pb_node* n, const pb_s1_value* x, bool* axes, int64_t* elements) {
  int64_t said[PB_GRAPH_RANK];
  int count, at;
  pb__read_integers(l, n, "axes", 1, PB_GRAPH_RANK, said, &count);
  if (count < 0) return "axes that are not constant";
  *elements = 1;
  bool none = pb_node_int(n, "noop_with_empty_axes", 0) != 0;
  for (int r = 0; r < x->rank; ++r) axes[r] = count == 0 && !none;
  for (int k = 0; k < count; ++k) {
    if (!pb__axis(said[k], x->rank, &at) || axes[at]) return "an axis that is not there";
    axes[at] = true;
  }
  for (int r = 0; r < x->rank; ++r) *elements *= axes[r] ? x->shape[r] : 1;
  return NULL;
}

// The result without the axes that a reduction leaves 1 long.
static void drop_axes(lifter* l, const pb_node* n, pb_s1_op* op, const bool* axes, const pb_s1_value* x,
                      const int64_t* kept) {
  int64_t shape[PB_GRAPH_RANK];
  int rank = 0;
  for (int r = 0; r < x->rank; ++r)
    if (!axes[r]) shape[rank++] = kept[r];
  op->y = pb__add_value(l, n->name, PB_F32, x->rank, kept);
  pb__push_op(l, *op);
  l->value_of[n->outputs[0]] = pb__reshaped(l, l->g->tensors[n->outputs[0]].name, op->y, rank, shape);
}

// What a long sum is of: of sums over its last dims, which are no axes of it any more.
static int summed_behind(lifter* l, const pb_node* n, pb_s1_op* op) {
  const pb_s1_value x = l->out->values[op->x];
  pb_s1_op first = pb__float_op(n, PB_S1_FREDUCE);
  int64_t shape[PB_GRAPH_RANK];
  if (!pb_s1_sums_behind(x.rank, x.shape, op->axes, first.axes)) return op->x;
  first.x = op->x;
  first.binary = PB_OP_ADD;
  first.ma = 1;
  for (int r = 0; r < x.rank; ++r) {
    shape[r] = first.axes[r] ? 1 : x.shape[r];
    op->axes[r] &= !first.axes[r];
  }
  first.y = pb__add_value(l, n->name, PB_F32, x.rank, shape);
  pb__push_op(l, first);
  return first.y;
}

static pb_status reduce(lifter* l, const pb_node* n) {
  pb_s1_op op = pb__float_op(n, PB_S1_FREDUCE);
  int64_t elements, shape[PB_GRAPH_RANK];
  bool axes[PB_GRAPH_RANK];
  PB_TRY(pb__own_value(l, n, pb__input(n, 0), &op.x));
  pb_s1_value x = l->out->values[op.x];
  const char* wrong = pb__read_axes(l, n, &x, op.axes, &elements);
  if (wrong) return pb__refuse(l, n, NULL, wrong);
  op.binary = pb__is(n, "ReduceMax") ? PB_OP_MAXIMUM : PB_OP_ADD;
  op.ma = pb__is(n, "ReduceMean") ? 1.0f / (float)elements : 1;
  for (int r = 0; r < x.rank; ++r) shape[r] = op.axes[r] ? 1 : x.shape[r];
  memcpy(axes, op.axes, sizeof axes);
  if (op.binary == PB_OP_ADD && x.type == PB_F32 && l->consts->symbols && !l->consts->open)
    op.x = summed_behind(l, n, &op);
  if (pb_node_int(n, "keepdims", 1)) return pb__finish(l, n->outputs[0], &op, x.rank, shape);
  drop_axes(l, n, &op, axes, &x, shape);
  return PB_OK;
}

// Up to opset 12 softmax takes together all dims from the axis on.
static pb_status softmax(lifter* l, const pb_node* n) {
  pb_s1_op op = pb__float_op(n, PB_S1_FSOFTMAX);
  bool one = pb_node_opset(l->g, n) >= 13;
  int axis;
  PB_TRY(pb__own_value(l, n, pb__input(n, 0), &op.x));
  pb_s1_value x = l->out->values[op.x];
  if (!pb__axis(pb_node_int(n, "axis", one ? -1 : 1), x.rank, &axis))
    return pb__refuse(l, n, NULL, "an axis that is not there");
  for (int r = axis; r < (one ? axis + 1 : x.rank); ++r) op.axes[r] = true;
  op.logarithm = pb__is(n, "LogSoftmax");
  return pb__finish(l, n->outputs[0], &op, x.rank, x.shape);
}

// A constant that is broadcast onto the dims from the axis on; -1: none is given, -2: it is no such constant.
static int factors(const lifter* l, const pb_node* n, int input, const pb_s1_value* x, int axis) {
  const pb_const* c = pb__constant(l, pb__input(n, input));
  if (pb__input(n, input) < 0) return -1;
  if (!c || c->type != PB_F32 || c->rank > x->rank - axis) return -2;
  for (int r = 0; r < c->rank; ++r)
    if (c->shape[r] != 1 && c->shape[r] != x->shape[x->rank - c->rank + r]) return -2;
  return c->id;
}

static pb_status layer_norm(lifter* l, const pb_node* n) {
  pb_s1_op op = pb__float_op(n, PB_S1_FNORM);
  const pb_attr* epsilon = pb_node_attr(n, "epsilon");
  int axis;
  op.by_root = !pb__is(n, "LayerNormalization");
  PB_TRY(pb__own_value(l, n, pb__input(n, 0), &op.x));
  pb_s1_value x = l->out->values[op.x];
  if (!pb__axis(pb_node_int(n, "axis", -1), x.rank, &axis)) return pb__refuse(l, n, NULL, "an axis that is not there");
  if (op.by_root && n->input_count > 2) return pb__refuse(l, n, NULL, "another number of operands than two");
  for (int k = 1; k < n->output_count; ++k)
    if (n->outputs[k] >= 0) return pb__refuse(l, n, NULL, "mean and deviation as results");
  for (int r = axis; r < x.rank; ++r) op.axes[r] = true;
  op.ma = epsilon ? epsilon->f : 1e-5f;
  op.weights = factors(l, n, 1, &x, axis);
  op.bias = factors(l, n, 2, &x, axis);
  if (op.weights == -2 || op.bias == -2)
    return pb__refuse(l, n, NULL, "a scale or bias that is not constant f32 over the normalised dims");
  return pb__finish(l, n->outputs[0], &op, x.rank, x.shape);
}

static const struct {
  const char* op;
  pb_status (*lift)(lifter* l, const pb_node* n);
} rows[] = {{"ReduceSum", reduce},
            {"ReduceMean", reduce},
            {"ReduceMax", reduce},
            {"Softmax", softmax},
            {"LogSoftmax", softmax},
            {"LayerNormalization", layer_norm},
            {"RMSNormalization", layer_norm},
            {"SimplifiedLayerNormalization", layer_norm}};

pb_status pb__lift_reduction(lifter* l, const pb_node* n, bool* known) {
  for (size_t k = 0; k < sizeof rows / sizeof *rows; ++k) {
    if (!pb__is(n, rows[k].op)) continue;
    *known = true;
    return rows[k].lift(l, n);
  }
  *known = false;
  return PB_OK;
}
