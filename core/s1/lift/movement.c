// Lifts what only moves elements: transposition, slices, splits, padding.
#include "core/s1/lift/lift.h"

#include <stdlib.h>
#include <string.h>

// A result without arithmetic: no clamp goes into it.
static void push(lifter* l, const pb_node* n, pb_s1_op* op, int tensor, int rank, const int64_t* shape) {
  op->y = pb__add_value(l, l->g->tensors[tensor].name, l->out->values[op->x].type, rank, shape);
  l->unsigned_codes[tensor] = l->unsigned_codes[n->inputs[0]];
  l->value_of[tensor] = op->y;
  pb__push_op(l, *op);
}

int pb__transposed(lifter* l, const pb_node* n, int value, const int* order, int made) {
  pb_s1_op op = pb__float_op(n, PB_S1_FTRANSPOSE);
  int64_t shape[PB_GRAPH_RANK];
  pb__own(l, n, &value);
  const pb_s1_value x = l->out->values[value];
  for (int r = 0; r < x.rank; ++r) shape[r] = x.shape[op.order[r] = order[r]];
  op.x = value;
  op.y = made >= 0 ? made : pb__add_value(l, n->name, x.type, x.rank, shape);
  pb__push_op(l, op);
  return op.y;
}

static pb_status transpose(lifter* l, const pb_node* n) {
  pb_s1_op op = pb__float_op(n, PB_S1_FTRANSPOSE);
  int64_t shape[PB_GRAPH_RANK];
  const pb_attr* perm = pb_node_attr(n, "perm");
  bool used[PB_GRAPH_RANK] = {0};
  PB_TRY(pb__own_any(l, n, pb__input(n, 0), &op.x));
  pb_s1_value x = l->out->values[op.x];
  if (perm && perm->count != x.rank) return pb__refuse(l, n, NULL, "a permutation of another length");
  for (int r = 0; r < x.rank; ++r) {
    int64_t from = perm ? perm->ints[r] : x.rank - 1 - r;
    if (from < 0 || from >= x.rank || used[from]) return pb__refuse(l, n, NULL, "an order that is no permutation");
    used[from] = true;
    op.order[r] = (int)from;
    shape[r] = x.shape[from];
  }
  push(l, n, &op, n->outputs[0], x.rank, shape);
  return PB_OK;
}

static const char kept_inside[] = "a slice is kept inside of its tensor";
static const int64_t far = INT32_MAX; // from there on it is a mark for the end

int64_t pb__slice_bound(lifter* l, int64_t at, int64_t extent, bool back, bool ends) {
  int64_t most = back ? extent - 1 : extent, turns = back && ends ? extent + 1 : extent; // that -at goes back at most
  if (at >= far) return most;
  // Going back from a place counted from the end, which is kept inside: of a tensor of no elements none is.
  if (back && !ends && at < 0) pb_consts_guard(l->consts, false, 1, extent, kept_inside);
  if (at <= -far) return extent - turns;
  if (at >= 0) return pb_consts_smaller(l->consts, at, most, kept_inside);
  return extent - pb_consts_smaller(l->consts, -at, turns, kept_inside);
}

// The box of one axis as ONNX counts: ends beyond the tensor are cut, negative ones count from its end.
static int64_t slice_axis(lifter* l, int64_t extent, int64_t start, int64_t end, int64_t step, int64_t* from) {
  end = pb__slice_bound(l, end, extent, false, true);
  start = pb__slice_bound(l, start, extent, false, false);
  *from = pb_consts_smaller(l->consts, start, end, kept_inside);
  return (end - *from + step - 1) / step;
}

void pb__guard_bound(lifter* l, int64_t at, int64_t extent) {
  const char* text = kept_inside;
  if (at >= far || at <= -far) return;
  if (at < 0) at += extent;
  pb_consts_guard(l->consts, false, at < extent ? at + 1 : extent, at < extent ? extent : at, text);
  pb_consts_guard(l->consts, false, at < 0 ? at + 1 : 0, at < 0 ? 0 : at, text);
}

static pb_status slice(lifter* l, const pb_node* n) {
  pb_s1_op op = pb__float_op(n, PB_S1_SLICE);
  int64_t starts[PB_GRAPH_RANK], ends[PB_GRAPH_RANK], axes[PB_GRAPH_RANK], steps[PB_GRAPH_RANK], shape[PB_GRAPH_RANK];
  int count, end_count, axis_count, step_count, at;
  bool sliced[PB_GRAPH_RANK] = {0};
  PB_TRY(pb__own_any(l, n, pb__input(n, 0), &op.x));
  pb_s1_value x = l->out->values[op.x];
  pb__read_integers(l, n, "starts", 1, PB_GRAPH_RANK, starts, &count);
  pb__read_integers(l, n, "ends", 2, PB_GRAPH_RANK, ends, &end_count);
  pb__read_integers(l, n, "axes", 3, PB_GRAPH_RANK, axes, &axis_count);
  pb__read_integers(l, n, NULL, 4, PB_GRAPH_RANK, steps, &step_count);
  if (count < 0 || end_count != count || (axis_count && axis_count != count) || (step_count && step_count != count))
    return pb__refuse(l, n, "constant i64 starts, ends, axes and steps", "a slice whose box is not constant");
  for (int r = 0; r < x.rank; ++r) {
    shape[r] = x.shape[r];
    op.step[r] = 1;
  }
  for (int k = 0; k < count; ++k) {
    const int64_t most = (int64_t)1 << 40;
    int64_t step = step_count ? steps[k] : 1;
    if (!pb__axis(axis_count ? axes[k] : k, x.rank, &at) || sliced[at])
      return pb__refuse(l, n, NULL, "an axis that is not there");
    if (step < 0 && step >= -most) return pb__no_form(l); // from behind
    if (step < 1 || step > most) return pb__refuse(l, n, NULL, "a step that makes no sense");
    sliced[at] = true;
    op.step[at] = step;
    shape[at] = slice_axis(l, x.shape[at], starts[k], ends[k], step, &op.start[at]);
    if (shape[at] < 1) return pb__refuse(l, n, NULL, "a slice without elements");
  }
  push(l, n, &op, n->outputs[0], x.rank, shape);
  return PB_OK;
}

int64_t pb__part_end(lifter* l, int64_t each, int k, int64_t extent) {
  return pb_consts_smaller(l->consts, each * (k + 1), extent, kept_inside);
}

// Parts as said, or equal ones, of which the last may be smaller.
static pb_status split(lifter* l, const pb_node* n) {
  pb_s1_op op = pb__float_op(n, PB_S1_SLICE);
  int64_t shape[PB_GRAPH_RANK], *parts = PB_NEW_ARRAY(&l->g->arena, int64_t, (size_t)n->output_count);
  int count, axis;
  PB_TRY(pb__own_any(l, n, pb__input(n, 0), &op.x));
  pb_s1_value x = l->out->values[op.x];
  if (!pb__axis(pb_node_int(n, "axis", 0), x.rank, &axis)) return pb__refuse(l, n, NULL, "an axis that is not there");
  pb__read_integers(l, n, "split", 1, n->output_count, parts, &count);
  if (count < 0 || (count && count != n->output_count))
    return pb__refuse(l, n, NULL, "parts that are not constant, or more than results");
  int64_t each = (x.shape[axis] + n->output_count - 1) / n->output_count;
  memcpy(shape, x.shape, sizeof shape);
  for (int r = 0; r < x.rank; ++r) op.step[r] = 1;
  for (int k = 0; k < n->output_count; ++k) {
    int64_t left = x.shape[axis] - op.start[axis];
    shape[axis] = count ? parts[k] : pb__part_end(l, each, k, x.shape[axis]) - op.start[axis];
    if (shape[axis] < 1 || shape[axis] > left) return pb__refuse(l, n, NULL, "parts that do not fit");
    if (n->outputs[k] >= 0) push(l, n, &op, n->outputs[k], x.rank, shape);
    op.start[axis] += shape[axis];
  }
  return op.start[axis] == x.shape[axis] ? PB_OK : pb__refuse(l, n, NULL, "parts that do not fit");
}

bool pb__pads_hang(const lifter* l, const pb_node* n) {
  return l->consts->open && pb__producer(l, pb__input(n, 1)) != NULL;
}

static pb_status pad(lifter* l, const pb_node* n) {
  pb_s1_op op = pb__float_op(n, PB_S1_FPAD);
  const pb_attr* mode = pb_node_attr(n, "mode");
  int64_t pads[2 * PB_GRAPH_RANK], axes[PB_GRAPH_RANK], shape[PB_GRAPH_RANK];
  int count, axis_count, at;
  PB_TRY(pb__own_any(l, n, pb__input(n, 0), &op.x));
  pb_s1_value x = l->out->values[op.x];
  if (mode && mode->s && strcmp(mode->s, "constant")) return pb__no_form(l); // by what is there
  if (pb__pads_hang(l, n)) return pb__no_form(l);
  pb__read_integers(l, n, "pads", 1, 2 * PB_GRAPH_RANK, pads, &count);
  pb__read_integers(l, n, NULL, 3, PB_GRAPH_RANK, axes, &axis_count);
  int padded = axis_count ? axis_count : x.rank;
  if (axis_count < 0 || count != 2 * padded) return pb__refuse(l, n, NULL, "pads that are not constant, or do not fit");
  if (pb__input(n, 2) >= 0 && !pb__scalar_f32(l, pb__input(n, 2), &op.ma))
    return pb__refuse(l, n, NULL, "a value around it that is not one constant number");
  const pb_attr* value = pb_node_attr(n, "value");
  if (value && value->kind == PB_ATTR_FLOAT) op.ma = value->f;
  if (l->unsigned_codes[n->inputs[0]]) op.ma -= 128; // they lie 128 less
  memcpy(shape, x.shape, sizeof shape);
  bool seen[PB_GRAPH_RANK] = {0};
  for (int k = 0; k < padded; ++k) {
    const int64_t most = 1 << 20;
    int64_t front = pads[k], behind = pads[padded + k];
    if (!pb__axis(axis_count ? axes[k] : k, x.rank, &at) || seen[at])
      return pb__refuse(l, n, NULL, "an axis that is not there");
    if (front < 0 || behind < 0) return pb__no_form(l); // it takes something away
    if (front > most || behind > most) return pb__refuse(l, n, NULL, "a pad that makes no sense");
    seen[at] = true;
    op.start[at] = front;
    shape[at] += front + behind;
  }
  push(l, n, &op, n->outputs[0], x.rank, shape);
  return PB_OK;
}

static const struct {
  const char* op;
  pb_status (*lift)(lifter* l, const pb_node* n);
} rows[] = {{"Transpose", transpose}, {"Slice", slice}, {"Split", split}, {"Pad", pad}};

pb_status pb__lift_movement(lifter* l, const pb_node* n, bool* known) {
  for (size_t k = 0; k < sizeof rows / sizeof *rows; ++k) {
    if (!pb__is(n, rows[k].op)) continue;
    *known = true;
    return rows[k].lift(l, n);
  }
  *known = false;
  return PB_OK;
}
