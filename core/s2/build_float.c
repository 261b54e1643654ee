// Operators on f32 to nests.
#include "core/s1/scalar/scalar.h"
#include "core/s2/builder.h"

#include <math.h>
#include <string.h>

int pb__s2_clamped(pb_nest* n, const pb_s1_op* op, int v) {
  if (op->lo > -INFINITY) v = pb__s2_bounded(n, op, v, op->lo, true);
  if (op->hi < INFINITY) v = pb__s2_bounded(n, op, v, op->hi, false);
  return v;
}

int pb__s2_bounded(pb_nest* n, const pb_s1_op* op, int v, double bound, bool from_below) {
  int c = pb_nest_const(n, PB_F32, bound);
  if (op->bounded) return pb_nest_node(n, from_below ? PB_OP_MAX : PB_OP_MIN, PB_F32, v, c);
  // a comparison that NaN fails: one instruction where a maximum that keeps NaN takes several
  int beyond = from_below ? pb_nest_node(n, PB_OP_LESS, PB_I1, v, c) : pb_nest_node(n, PB_OP_LESS, PB_I1, c, v);
  int id = pb_nest_node(n, PB_OP_SELECT, PB_F32, beyond, c);
  n->expr[id].args[2] = v;
  return id;
}

bool pb__s2_clamps(const pb_s1_op* op) { return op->lo > -INFINITY || op->hi < INFINITY; }

// The operator as nests have it: what is bounded has no NaN to keep.
static pb_op binary_of(const pb_s1_op* op) {
  if (!op->bounded) return op->binary;
  return op->binary == PB_OP_MAXIMUM ? PB_OP_MAX : op->binary == PB_OP_MINIMUM ? PB_OP_MIN : op->binary;
}

// y = clamp(acc * m + bias), by channels (index 1, or the last one of a matrix).
static void finish(builder* b, const pb_s1_op* op, pb_access acc, pb_access y) {
  pb_nest n = pb__s2_start(op, "point");
  int dims[PB_NEST_RANK];
  pb__s2_walk(&n, &y, dims);
  n.access[n.access_count++] = pb__s2_along(acc, dims);
  int v = pb_nest_load(&n, 0);
  if (op->kind == PB_S1_FAVERAGE && op->m < 0)
    v = pb_nest_node(&n, PB_OP_MUL, PB_F32, v, pb_nest_const(&n, PB_F32, op->ma));
  if (op->m >= 0) {
    pb_access m = pb__s2_on_const(b, op->m);
    if (op->kind == PB_S1_FAVERAGE) { // [h, w]
      pb__s2_move(&m, 0, dims[2], 1);
      pb__s2_move(&m, 1, dims[3], 1);
    } else {
      pb__s2_move(&m, 0, dims[1], 1);
    }
    n.access[n.access_count++] = m;
    v = pb_nest_node(&n, PB_OP_MUL, PB_F32, v, pb_nest_load(&n, n.access_count - 1));
  }
  if (op->bias >= 0) {
    pb_access bias = pb__s2_on_const(b, op->bias);
    pb__s2_move(&bias, 0, dims[1], 1);
    n.access[n.access_count++] = bias;
    v = pb_nest_node(&n, PB_OP_ADD, PB_F32, v, pb_nest_load(&n, n.access_count - 1));
  }
  pb__s2_clamped(&n, op, v);
  n.access[n.access_count++] = pb__s2_along(y, dims);
  pb__s2_print(b, &n);
}

// `factors`: their element type, which is not the stored one for narrow floats.
static void multiply(builder* b, pb_nest* n, pb_type factors, pb_access x, pb_access w, pb_access y) {
  n->access[0] = x;
  n->access[1] = w;
  n->access[2] = y;
  n->access_count = 3;
  n->reduce = PB_ACC_ADD;
  int a = pb_scalar_load(n, 0, factors);
  pb_nest_node(n, PB_OP_MUL, PB_F32, a, pb_scalar_load(n, 1, factors));
  pb__s2_print(b, n);
}

// Sums go to a tensor of their own when something follows, else straight to y.
static pb_access sums(builder* b, const pb_s1_op* op, const pb_access* y, bool follows) {
  pb_access acc = follows ? pb__s2_new_local(b, PB_F32, y->rank, y->shape) : *y;
  pb__s2_init(b, op, &acc, 0);
  return acc;
}

// acc[n, o, h, w] += x[n, c, h * s + r * d, w * s + q * d] * weights[o, c, r, q]; groups: c and o within one group.
static void conv(builder* b, const pb_s1_op* op) {
  pb_access y = pb__s2_on_value(b, op->y), x = pb__s2_padded(b, op, 0), w = pb__s2_on_const(b, op->weights);
  bool follows = op->bias >= 0 || pb__s2_clamps(op);
  pb_access acc = sums(b, op, &y, follows);
  pb_nest n = pb__s2_start(op, "reduce");
  pb_access to = acc;
  pb__s2_convolve(&n, op, &x, &w, &to);
  multiply(b, &n, b->program->values[op->x].type, x, w, to);
  if (follows) finish(b, op, acc, y);
}

// acc[m, o] += x[m, k] * weights[o, k]; x may be a tensor of more dims: behind the first, k walks them in order.
static void gemm(builder* b, const pb_s1_op* op) {
  pb_access y = pb__s2_on_value(b, op->y), x = pb__s2_on_value(b, pb__s2_base_of(b, op->x)),
            w = pb__s2_on_const(b, op->weights);
  if (x.rank < 2 || x.shape[0] != y.shape[0]) x = pb__s2_on_value(b, op->x);
  bool follows = op->bias >= 0 || pb__s2_clamps(op);
  pb_access acc = sums(b, op, &y, follows);
  pb_nest n = pb__s2_start(op, "reduce");
  int m = pb__s2_add_dim(&n, y.shape[0]), o = pb__s2_add_channels(&n, y.shape[1]), dims[PB_NEST_RANK] = {0};
  for (int r = 1; r < x.rank; ++r)
    dims[r] = r == 1 ? pb__s2_add_channels(&n, x.shape[r]) : pb__s2_add_dim(&n, x.shape[r]);
  int64_t stride = 1;
  pb__s2_move(&x, 0, m, 1);
  pb__s2_move(&w, 0, o, 1);
  for (int r = x.rank - 1; r >= 1; --r) {
    pb__s2_move(&x, r, dims[r], 1);
    pb__s2_move(&w, 1, dims[r], stride);
    stride *= x.shape[r];
  }
  pb_access to = acc;
  pb__s2_move(&to, 0, m, 1);
  pb__s2_move(&to, 1, o, 1);
  multiply(b, &n, b->program->values[op->x].type, x, w, to);
  if (follows) finish(b, op, acc, y);
}

static void matmul(builder* b, const pb_s1_op* op) {
  pb_access y = pb__s2_on_value(b, op->y), x = pb__s2_on_value(b, op->x),
            w = op->weights >= 0 ? pb__s2_on_const(b, op->weights) : pb__s2_on_value(b, op->z);
  pb_access acc = sums(b, op, &y, pb__s2_clamps(op)), to = acc;
  if (op->swapped) { // x is the left factor
    pb_access left = w;
    w = x;
    x = left;
  }
  pb_nest n = pb__s2_start(op, "reduce");
  for (int r = 0; r + 1 < y.rank; ++r) { // batch dims that one factor lacks, or has once, are broadcast
    int d = pb__s2_add_dim(&n, y.shape[r]), mine = r - (y.rank - x.rank), its = r - (y.rank - w.rank);
    if (mine >= 0 && x.shape[mine] == y.shape[r]) pb__s2_move(&x, mine, d, 1);
    pb__s2_move(&to, r, d, 1);
    if (its >= 0 && r + 2 < y.rank && w.shape[its] == y.shape[r]) pb__s2_move(&w, its, d, 1);
  }
  int o = pb__s2_add_channels(&n, y.shape[y.rank - 1]), k = pb__s2_add_channels(&n, x.shape[x.rank - 1]);
  pb__s2_move(&to, y.rank - 1, o, 1);
  pb__s2_move(&w, w.rank - 1, o, 1);
  pb__s2_move(&w, w.rank - 2, k, 1);
  pb__s2_move(&x, x.rank - 1, k, 1);
  multiply(b, &n, b->program->values[op->x].type, x, w, to);
  if (pb__s2_clamps(op)) finish(b, op, acc, y);
}

static void pool(builder* b, const pb_s1_op* op) {
  bool max = op->kind == PB_S1_FMAXPOOL, follows = !max || pb__s2_clamps(op);
  pb_access y = pb__s2_on_value(b, op->y), x = pb__s2_padded(b, op, max ? -INFINITY : 0);
  pb_access acc = follows ? pb__s2_new_local(b, PB_F32, 4, y.shape) : y, to = acc;
  pb__s2_init(b, op, &acc, max ? -INFINITY : 0);
  pb_nest n = pb__s2_start(op, "reduce");
  pb__s2_slide(&n, op, &x, &to);
  n.access[0] = x;
  n.access[1] = to;
  n.access_count = 2;
  n.reduce = max ? PB_ACC_MAXIMUM : PB_ACC_ADD;
  pb_nest_load(&n, 0);
  pb__s2_print(b, &n);
  if (follows) finish(b, op, acc, y);
}

pb_access pb__s2_repeat(pb_access operand, const pb_access* y, const int* dims) {
  for (int r = 0; r < operand.rank; ++r)
    if (operand.shape[r] == y->shape[r + y->rank - operand.rank])
      pb__s2_move(&operand, r, dims[r + y->rank - operand.rank], 1);
  return operand;
}

static void pointwise(builder* b, const pb_s1_op* op) {
  pb_access y = pb__s2_on_value(b, op->y);
  pb_nest n = pb__s2_start(op, op->kind == PB_S1_COPY ? "copy" : "point");
  int dims[PB_NEST_RANK], base = pb__s2_base_of(b, op->x);
  pb_access x = pb__s2_on_value(b, base);
  bool alias = base != op->x, two = op->kind == PB_S1_FBINARY || op->kind == PB_S1_FPRELU,
       by_x = alias && !two && !pb_s1_merges(&b->program->values[op->y], &b->program->values[base]);
  pb__s2_walk(&n, by_x ? &x : &y, dims);
  n.access[n.access_count++] = by_x    ? pb__s2_along(x, dims)
                               : alias ? pb__s2_along_flat(x, &y, dims)
                                       : pb__s2_repeat(x, &y, dims);
  int v = pb_nest_load(&n, 0);
  if (op->kind == PB_S1_FUNARY) v = pb__s2_function(&n, op, v);
  if (two) {
    pb_access z = op->weights >= 0 ? pb__s2_on_const(b, op->weights) : pb__s2_on_value(b, op->z);
    if (op->weights < 0 && pb__s2_base_of(b, op->z) != op->z)
      n.access[n.access_count++] = pb__s2_along_flat(pb__s2_on_value(b, pb__s2_base_of(b, op->z)), &y, dims);
    else
      n.access[n.access_count++] = pb__s2_repeat(z, &y, dims);
    int w = pb_nest_load(&n, 1);
    if (op->kind == PB_S1_FPRELU)
      v = pb__s2_prelu(&n, v, w);
    else
      v = op->swapped ? pb_nest_node(&n, binary_of(op), PB_F32, w, v) : pb_nest_node(&n, binary_of(op), PB_F32, v, w);
  }
  pb__s2_clamped(&n, op, v);
  n.access[n.access_count++] = by_x ? pb__s2_along_flat(y, &x, dims) : pb__s2_along(y, dims);
  pb__s2_print(b, &n);
}

static void concat(builder* b, const pb_s1_op* op) {
  pb_access x = pb__s2_on_value(b, op->x), y = pb__s2_on_value(b, op->y);
  pb_nest n = pb__s2_start(op, "copy");
  int dims[PB_NEST_RANK];
  pb__s2_walk(&n, &x, dims);
  n.access[0] = pb__s2_along(x, dims);
  n.access[1] = pb__s2_along(y, dims);
  pb_index* at = &n.access[1].index[op->axis];
  at->cst = op->offset;
  for (int d = 0; d < n.dim_count && op->apart > 1; ++d) at->coef[d] *= op->apart;
  n.access_count = 2;
  pb_nest_load(&n, 0);
  pb__s2_print(b, &n);
}

static void scale(builder* b, const pb_s1_op* op) {
  pb_access y = pb__s2_on_value(b, op->y), x = pb__s2_on_value(b, op->x);
  finish(b, op, x, y);
}

void pb__s2_float(builder* b, const pb_s1_op* op) {
  switch (op->kind) {
  case PB_S1_FCONV:
    if (b->program->values[op->y].rank == 2)
      gemm(b, op);
    else
      conv(b, op);
    break;
  case PB_S1_FMATMUL:
    matmul(b, op);
    break;
  case PB_S1_FMAXPOOL:
  case PB_S1_FAVERAGE:
    pool(b, op);
    break;
  case PB_S1_FSCALE:
    scale(b, op);
    break;
  case PB_S1_FREDUCE:
  case PB_S1_FSOFTMAX:
  case PB_S1_FNORM:
    pb__s2_reduction(b, op);
    break;
  case PB_S1_FTRANSPOSE:
  case PB_S1_SLICE:
  case PB_S1_FPAD:
    pb__s2_movement(b, op);
    break;
  case PB_S1_EACH:
    pb__s2_each(b, op);
    break;
  case PB_S1_GATHER:
    pb__s2_gather(b, op);
    break;
  case PB_S1_CONCAT:
    concat(b, op);
    break;
  case PB_S1_COPY:
    if (pb__s2_merge(b, op)) break;
    pointwise(b, op);
    break;
  default:
    pointwise(b, op);
  }
}
