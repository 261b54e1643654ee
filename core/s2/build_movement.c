// What only moves elements, as copies.
#include "core/s2/builder.h"

static void transpose(builder* b, const pb_s1_op* op) {
  pb_access x = pb__s2_on_value(b, op->x), y = pb__s2_on_value(b, op->y);
  pb_nest n = pb__s2_start(op, "copy");
  int dims[PB_NEST_RANK];
  pb__s2_walk(&n, &y, dims);
  for (int r = 0; r < y.rank; ++r) pb__s2_move(&x, op->order[r], dims[r], 1);
  pb__s2_copy(b, &n, x, pb__s2_along(y, dims));
}

static void slice(builder* b, const pb_s1_op* op) {
  pb_access x = pb__s2_on_value(b, op->x), y = pb__s2_on_value(b, op->y);
  pb_nest n = pb__s2_start(op, "copy");
  int dims[PB_NEST_RANK];
  pb__s2_walk(&n, &y, dims);
  for (int r = 0; r < y.rank; ++r) {
    pb__s2_move(&x, r, dims[r], op->step[r]);
    x.index[r].cst = op->start[r];
  }
  pb__s2_copy(b, &n, x, pb__s2_along(y, dims));
}

// The border as boxes, axis by axis: before and behind x along it, within x along the axes in front.
static void pad(builder* b, const pb_s1_op* op) {
  pb_access x = pb__s2_on_value(b, op->x), y = pb__s2_on_value(b, op->y);
  int64_t lo[PB_NEST_RANK], hi[PB_NEST_RANK];
  for (int axis = 0; axis < y.rank; ++axis)
    for (int behind = 0; behind < 2; ++behind) {
      for (int r = 0; r < y.rank; ++r) {
        lo[r] = r < axis ? op->start[r] : 0;
        hi[r] = r < axis ? op->start[r] + x.shape[r] : y.shape[r];
      }
      lo[axis] = behind ? op->start[axis] + x.shape[axis] : 0;
      hi[axis] = behind ? y.shape[axis] : op->start[axis];
      pb__s2_fill(b, op, y, lo, hi, op->ma, "pad");
    }
  pb_nest n = pb__s2_start(op, "copy");
  int dims[PB_NEST_RANK];
  pb__s2_walk(&n, &x, dims);
  y = pb__s2_along(y, dims);
  for (int r = 0; r < y.rank; ++r) y.index[r].cst = op->start[r];
  pb__s2_copy(b, &n, pb__s2_along(x, dims), y);
}

bool pb__s2_merge(builder* b, const pb_s1_op* op) {
  pb_access x = pb__s2_on_value(b, pb__s2_base_of(b, op->x)), y = pb__s2_on_value(b, op->y);
  const pb_s1_value *from = &b->program->values[pb__s2_base_of(b, op->x)], *to = &b->program->values[op->y];
  if (!pb_s1_merges(from, to) || pb_s1_merges(to, from) || pb__s2_clamps(op)) return false;
  pb_nest n = pb__s2_start(op, "copy");
  int dims[PB_NEST_RANK];
  pb__s2_walk(&n, &x, dims);
  pb__s2_copy(b, &n, pb__s2_along(x, dims), pb__s2_along_flat(y, &x, dims));
  return true;
}

void pb__s2_movement(builder* b, const pb_s1_op* op) {
  if (op->kind == PB_S1_FTRANSPOSE)
    transpose(b, op);
  else if (op->kind == PB_S1_SLICE)
    slice(b, op);
  else
    pad(b, op);
}
