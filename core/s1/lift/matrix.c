// Lifts matrix products. Gemm by constant weights is a convolution over one place; other forms become the steps that
// they are written as: transposition, product, factor, sum.
#include "core/s1/lift/lift.h"

#include <stdlib.h>
#include <string.h>

int pb__turned(lifter* l, const pb_const* from) {
  int64_t k = from->shape[0], n = from->shape[1], shape[2] = {n, k};
  pb_pack pack = {.source = from->id, .dim_count = 2, .stride = {1, n}, .extent = {n, k}};
  pack.dims[0].extent = n;
  pack.dims[0].scale = pack.dims[1].scale = 1;
  pack.dims[1].extent = k;
  pack.dims[1].axis = 1;
  for (int a = 2; a < PB_PACK_AXES; ++a) pack.extent[a] = INT64_MAX;
  return pb_consts_add_pack(l->consts, from->name, 2, shape, &pack);
}

// A constant times a number: itself when that is 1.
static int scaled(lifter* l, int id, const pb_attr* factor) {
  if (!factor || factor->f == 1) return id;
  const float* from = pb_const_data(l->consts, id);
  const pb_const* c = l->consts->items[id];
  float* data = pb_alloc(&l->consts->arena, c->bytes);
  for (uint64_t k = 0; k < c->bytes / 4; ++k) data[k] = from[k] * factor->f;
  return pb_consts_add(l->consts, c->name, PB_F32, c->rank, c->shape, data);
}

// A value of the node's own between two of its operators.
static int push_between(lifter* l, const pb_node* n, pb_s1_op* op, int rank, const int64_t* shape) {
  op->y = pb__add_value(l, n->name, PB_F32, rank, shape);
  pb__push_op(l, *op);
  return op->y;
}

static int transposed(lifter* l, const pb_node* n, int value) {
  pb_s1_op op = pb__float_op(n, PB_S1_FTRANSPOSE);
  const int64_t* from = l->out->values[value].shape;
  int64_t shape[2] = {from[1], from[0]};
  op.x = value;
  op.order[0] = 1;
  return push_between(l, n, &op, 2, shape);
}

static int times(lifter* l, const pb_node* n, int value, const pb_attr* factor) {
  if (!factor || factor->f == 1) return value;
  pb_s1_op op = pb__float_op(n, PB_S1_FBINARY);
  const pb_s1_value from = l->out->values[value];
  float* number = PB_NEW(&l->consts->arena, float);
  *number = factor->f;
  op.x = value;
  op.binary = PB_OP_MUL;
  op.weights = pb_consts_add(l->consts, n->name, PB_F32, 0, NULL, number);
  return push_between(l, n, &op, from.rank, from.shape);
}

static bool broadcasts(const int64_t* shape, int rank, const int64_t* onto, int onto_rank) {
  for (int r = 0; r < rank && rank <= onto_rank; ++r)
    if (shape[r] != 1 && shape[r] != onto[onto_rank - rank + r]) return false;
  return rank <= onto_rank;
}

// alpha * a * b + beta * c, c anything that broadcasts.
static pb_status gemm_by_steps(lifter* l, const pb_node* n) {
  const pb_attr *alpha = pb_node_attr(n, "alpha"), *beta = pb_node_attr(n, "beta");
  const pb_const* w = pb__constant(l, pb__input(n, 1));
  pb_s1_op op = pb__float_op(n, PB_S1_FMATMUL);
  const int64_t* b;
  PB_TRY(pb__own_value(l, n, pb__input(n, 0), &op.x));
  if (l->out->values[op.x].rank != 2) return pb__refuse(l, n, NULL, "a factor that is no matrix");
  if (pb_node_int(n, "transA", 0)) op.x = transposed(l, n, op.x);
  if (w) {
    if (w->type != PB_F32 || w->rank != 2) return pb__refuse(l, n, NULL, "weights that are no f32 matrix");
    op.weights = pb_node_int(n, "transB", 0) ? pb__turned(l, w) : w->id;
    b = l->consts->items[op.weights]->shape;
  } else {
    PB_TRY(pb__own_value(l, n, pb__input(n, 1), &op.z));
    if (l->out->values[op.z].rank != 2) return pb__refuse(l, n, NULL, "a factor that is no matrix");
    if (pb_node_int(n, "transB", 0)) op.z = transposed(l, n, op.z);
    b = l->out->values[op.z].shape;
  }
  const int64_t* a = l->out->values[op.x].shape;
  int64_t shape[2] = {a[0], b[1]};
  if (!pb__meet(l, a[1], b[0])) return pb__refuse_shapes(l, n, "shapes", 2, a, 2, b);
  bool factor = alpha && alpha->f != 1;
  if (pb__input(n, 2) < 0 && !factor) return pb__finish(l, n->outputs[0], &op, 2, shape);
  pb_s1_op last = pb__float_op(n, PB_S1_FBINARY);
  last.x = push_between(l, n, &op, 2, shape);
  last.binary = PB_OP_ADD;
  if (pb__input(n, 2) < 0) {
    last.binary = PB_OP_MUL;
    float* number = PB_NEW(&l->consts->arena, float);
    *number = alpha->f;
    last.weights = pb_consts_add(l->consts, n->name, PB_F32, 0, NULL, number);
    return pb__finish(l, n->outputs[0], &last, 2, shape);
  }
  last.x = times(l, n, last.x, alpha);
  int rank;
  const int64_t* added;
  const pb_const* c = pb__constant(l, pb__input(n, 2));
  if (c) {
    if (c->type != PB_F32) return pb__refuse(l, n, NULL, "a bias that is not f32");
    last.weights = scaled(l, c->id, beta);
    rank = l->consts->items[last.weights]->rank;
    added = l->consts->items[last.weights]->shape;
  } else {
    PB_TRY(pb__own_value(l, n, pb__input(n, 2), &last.z));
    last.z = times(l, n, last.z, beta);
    rank = l->out->values[last.z].rank;
    added = l->out->values[last.z].shape;
  }
  if (!broadcasts(added, rank, shape, 2)) return pb__refuse(l, n, NULL, "a bias that does not fit");
  return pb__finish(l, n->outputs[0], &last, 2, shape);
}

pb_status pb__gemm(lifter* l, const pb_node* n) {
  pb_s1_op op = pb__float_op(n, PB_S1_FCONV);
  PB_TRY(pb__float_value(l, n, pb__input(n, 0), &op.x));
  const pb_const* w = pb__constant(l, pb__input(n, 1));
  const pb_attr *alpha = pb_node_attr(n, "alpha"), *beta = pb_node_attr(n, "beta");
  bool by_weights = w && w->type == PB_F32 && w->rank == 2;
  int64_t outputs = !by_weights ? 0 : w->shape[pb_node_int(n, "transB", 0) ? 0 : 1];
  bool by_vector = pb__input(n, 2) < 0 || pb__vector(l, pb__input(n, 2), outputs);
  if (!by_weights || !by_vector || pb_node_int(n, "transA", 0)) return gemm_by_steps(l, n);
  op.weights = pb_node_int(n, "transB", 0) ? w->id : pb__turned(l, w);
  op.weights = scaled(l, op.weights, alpha);
  pb_s1_value in = l->out->values[op.x];
  if (in.alias_of >= 0) { // a reshape is read in place when it keeps the rows apart
    const pb_s1_value* base = &l->out->values[in.alias_of];
    if (base->rank < 2 || in.rank != 2 || base->shape[0] != in.shape[0])
      PB_TRY(pb__own_value(l, n, pb__input(n, 0), &op.x));
  }
  const int64_t* ws = l->consts->items[op.weights]->shape;
  if (in.rank != 2 || !pb__meet(l, in.shape[1], ws[1]))
    return pb__refuse_shapes(l, n, "shapes", in.rank, in.shape, 2, ws);
  int64_t shape[2] = {in.shape[0], ws[0]};
  if (pb__input(n, 2) >= 0) {
    op.bias = scaled(l, l->g->tensors[pb__input(n, 2)].const_id, beta);
  }
  return pb__finish(l, n->outputs[0], &op, 2, shape);
}

// The product's shape: batch dims are broadcast, like those of any operator of two. false: the factors do not fit.
static bool product_shape(lifter* l, const int64_t* a, int a_rank, const int64_t* b, int b_rank, int64_t* shape,
                          int* rank) {
  if (a_rank < 2 || b_rank < 2 || !pb__meet(l, a[a_rank - 1], b[b_rank - 2])) return false;
  *rank = a_rank - 2;
  memcpy(shape, a, sizeof *shape * (size_t)*rank);
  if (!pb__broadcast_open(l, shape, rank, b, b_rank - 2)) return false;
  shape[(*rank)++] = a[a_rank - 2];
  shape[(*rank)++] = b[b_rank - 1];
  return true;
}

// One factor may be a constant; on the left it is `swapped`.
pb_status pb__matmul(lifter* l, const pb_node* n) {
  pb_s1_op op = pb__float_op(n, PB_S1_FMATMUL);
  const pb_const* left = pb__constant(l, n->inputs[0]);
  op.swapped = left && !pb__constant(l, pb__input(n, 1));
  PB_TRY(pb__own_value(l, n, pb__input(n, op.swapped ? 1 : 0), &op.x));
  const pb_const* w = pb__constant(l, pb__input(n, op.swapped ? 0 : 1));
  int64_t other[PB_GRAPH_RANK] = {0}, shape[PB_GRAPH_RANK];
  int other_rank, rank;
  if (w) {
    if (w->type != PB_F32) return pb__refuse(l, n, NULL, "weights that are not f32");
    op.weights = w->id;
    other_rank = w->rank;
    memcpy(other, w->shape, sizeof other);
  } else {
    PB_TRY(pb__own_value(l, n, pb__input(n, 1), &op.z));
    other_rank = l->out->values[op.z].rank;
    memcpy(other, l->out->values[op.z].shape, sizeof other);
  }
  const pb_s1_value x = l->out->values[op.x];
  bool fits = op.swapped ? product_shape(l, other, other_rank, x.shape, x.rank, shape, &rank)
                         : product_shape(l, x.shape, x.rank, other, other_rank, shape, &rank);
  if (!fits) return pb__refuse(l, n, "matrices, or stacks of them", "factors whose shapes do not fit");
  return pb__finish(l, n->outputs[0], &op, rank, shape);
}
