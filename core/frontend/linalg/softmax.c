// linalg.softmax: exp(x - m) / s, where m is the largest number along a dim and s the sum of the exponentials. Narrow
// floats are f32 between the steps.
#include "core/frontend/linalg/rows.h"

#include <math.h>
#include <string.h>

static int number(pb_door* d, pb_type type, double value) {
  void* bytes = pb_alloc(&d->m.consts->arena, sizeof value);
  if (type == PB_F64) {
    memcpy(bytes, &value, sizeof value);
  } else {
    float single = (float)value;
    memcpy(bytes, &single, sizeof single);
  }
  return pb_make_constant(&d->m, type, 0, NULL, bytes);
}

// x's largest numbers, or its sums, along the dim, which keeps an extent of 1.
static int reduced(pb_door* d, int x, int dim, pb_reduce how, pb_type type) {
  const pb_s1_value in = *pb_made(&d->m, x);
  int64_t shape[PB_NEST_RANK];
  int loops[PB_NEST_RANK], from;
  memcpy(shape, in.shape, sizeof shape);
  shape[dim] = 1;
  int y = pb_make_value(&d->m, type, in.rank, shape);
  pb__door_fill(d, y, number(d, type, how == PB_ACC_ADD ? 0 : (double)-INFINITY));
  pb_nest* n = pb_make_start(&d->m, "reduce");
  n->reduce = how;
  for (int r = 0; r < in.rank; ++r)
    if (r != dim) loops[r] = pb_make_loop(&d->m, in.shape[r]);
  loops[dim] = pb_make_loop(&d->m, in.shape[dim]);
  int element = pb__door_load(d, x, &from);
  for (int r = 0; r < in.rank && from >= 0; ++r) pb_make_move(&d->m, from, r, loops[r], 1);
  pb__door_last(d, element, type);
  int to = pb_make_access(&d->m, y);
  for (int r = 0; r < in.rank; ++r)
    if (r != dim) pb_make_move(&d->m, to, r, loops[r], 1);
  pb_make_finish(&d->m);
  return y;
}

// y's elements from those of x and of what has one along the dim, exponentials of them where `exponential`.
static void combined(pb_door* d, int y, int x, int one, int dim, const char* how, bool exponential, pb_type type) {
  int dims[PB_NEST_RANK], from, other;
  pb_nest* n = pb_make_walk(&d->m, "point", y, dims);
  int v[2] = {pb__door_load(d, x, &from), -1};
  if (from >= 0) pb_make_along(&d->m, from, dims);
  v[1] = pb__door_load(d, one, &other);
  for (int r = 0; r < pb_made(&d->m, y)->rank && other >= 0; ++r)
    if (r != dim) pb_make_move(&d->m, other, r, dims[r], 1);
  int node = pb_scalar_find(how)->make(n, type, v);
  if (exponential) node = pb_scalar_find("exponential")->make(n, type, &node);
  pb__door_store(d, node, y, dims);
}

pb_status pb__l_op_softmax(pb_door* d, const pb_flat_op* op) {
  int x;
  PB_TRY(pb__l_in(d, op, 0, &x));
  const pb_s1_value in = *pb_made(&d->m, x);
  int64_t dim = pb__door_int(op, "dimension", -1);
  if (dim < 0 || dim >= in.rank) return pb__door_refuse(d, op, "no such dimension");
  if (!pb_type_is_float(in.type)) return pb__door_refuse(d, op, "of %s", pb_type_name(in.type));
  if (!pb__door_alike(d, op, 0, 0)) return pb__door_refuse(d, op, "a result of another type than its operand");
  pb_type type = in.type == PB_F64 ? PB_F64 : PB_F32;
  int most = reduced(d, x, (int)dim, PB_ACC_MAXIMUM, type);
  int exponentials = pb_make_value(&d->m, type, in.rank, in.shape);
  combined(d, exponentials, x, most, (int)dim, "subtract", true, type);
  int sums = reduced(d, exponentials, (int)dim, PB_ACC_ADD, type);
  combined(d, pb__l_result(d, op, 0), exponentials, sums, (int)dim, "divide", false, type);
  return PB_OK;
}
