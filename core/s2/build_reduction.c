// Reductions over axes, and what is made of them. Tensors of sums and maxima keep the axes, 1 long.
#include "core/s2/builder.h"

#include <math.h>

static int two(pb_nest* n, pb_op op, int a, int b) { return pb_nest_node(n, op, PB_F32, a, b); }

// One dim for each index that is more than 1 long: an axis that was reduced has none, like the loop that reduced it.
static void walk(pb_nest* n, const pb_access* shape, int* dims) {
  for (int r = 0; r < shape->rank; ++r) dims[r] = pb__s2_add_dim(n, shape->shape[r]);
}

static int add_load(pb_nest* n, pb_access access) {
  n->access[n->access_count++] = access;
  return pb_nest_load(n, n->access_count - 1);
}

static void store(builder* b, pb_nest* n, pb_access to) {
  n->access[n->access_count++] = to;
  pb__s2_print(b, n);
}

static pb_access kept(builder* b, const pb_s1_op* op, const pb_access* x) {
  int64_t shape[PB_NEST_RANK];
  for (int r = 0; r < x->rank; ++r) shape[r] = op->axes[r] ? 1 : x->shape[r];
  return pb__s2_new_local(b, PB_F32, x->rank, shape);
}

static void start_from(builder* b, const pb_s1_op* op, pb_access to, double value) {
  pb_nest n = pb__s2_start(op, "init");
  int dims[PB_NEST_RANK];
  walk(&n, &to, dims);
  pb_nest_const(&n, PB_F32, value);
  store(b, &n, pb__s2_along(to, dims));
}

// to = sum (or maximum) over the axes of the values that `body` makes of x's elements, and of those of `other`.
typedef int (*body)(pb_nest* n, int x, int other);

static void reduce(builder* b, const pb_s1_op* op, pb_reduce how, pb_access x, const pb_access* other, body value,
                   pb_access to) {
  pb_nest n = pb__s2_start(op, "reduce");
  int dims[PB_NEST_RANK];
  start_from(b, op, to, how == PB_ACC_MAXIMUM ? -INFINITY : 0);
  walk(&n, &x, dims);
  int v = add_load(&n, pb__s2_along(x, dims));
  if (value) (void)value(&n, v, other ? add_load(&n, pb__s2_repeat(*other, &x, dims)) : -1);
  n.reduce = how;
  store(b, &n, pb__s2_repeat(to, &x, dims));
}

static int exp_of_difference(pb_nest* n, int x, int other) {
  return pb_nest_node(n, PB_OP_EXP, PB_F32, two(n, PB_OP_SUB, x, other), -1);
}

static int square(pb_nest* n, int x, int other) {
  (void)other;
  return two(n, PB_OP_MUL, x, x);
}

// One nest over all elements of y: y = `value` of x and of `other` broadcast.
static void each(builder* b, const pb_s1_op* op, pb_access x, pb_access other, body value, bool last, pb_access y) {
  pb_nest n = pb__s2_start(op, "point");
  int dims[PB_NEST_RANK];
  walk(&n, &y, dims);
  int a = add_load(&n, pb__s2_repeat(x, &y, dims)), c = add_load(&n, pb__s2_repeat(other, &y, dims));
  int v = value(&n, a, c);
  if (last) pb__s2_clamped(&n, op, v);
  store(b, &n, pb__s2_along(y, dims));
}

static int difference(pb_nest* n, int x, int other) { return two(n, PB_OP_SUB, x, other); }
static int product(pb_nest* n, int x, int other) { return two(n, PB_OP_MUL, x, other); }

static void reduction(builder* b, const pb_s1_op* op) {
  pb_access x = pb__s2_on_value(b, op->x), y = pb__s2_on_value(b, op->y);
  bool follows = op->ma != 1 || pb__s2_clamps(op);
  pb_access sum = follows ? kept(b, op, &x) : y;
  reduce(b, op, op->binary == PB_OP_MAXIMUM ? PB_ACC_MAXIMUM : PB_ACC_ADD, x, NULL, NULL, sum);
  if (!follows) return;
  pb_nest n = pb__s2_start(op, "point");
  int dims[PB_NEST_RANK];
  walk(&n, &y, dims);
  int v = add_load(&n, pb__s2_along(sum, dims));
  if (op->ma != 1) v = two(&n, PB_OP_MUL, v, pb_nest_const(&n, PB_F32, op->ma));
  pb__s2_clamped(&n, op, v);
  store(b, &n, pb__s2_along(y, dims));
}

// to = operator of `of`, a tensor of sums: 1 / s, log(s), or with a factor and a shift 1 / sqrt(s factor + shift).
static void finish(builder* b, const pb_s1_op* op, pb_op how, double factor, double shift, pb_access of, pb_access to) {
  pb_nest n = pb__s2_start(op, "point");
  int dims[PB_NEST_RANK];
  walk(&n, &to, dims);
  int v = add_load(&n, pb__s2_along(of, dims));
  if (factor != 1) v = two(&n, PB_OP_MUL, v, pb_nest_const(&n, PB_F32, factor));
  if (shift != 0) v = two(&n, PB_OP_ADD, v, pb_nest_const(&n, PB_F32, shift));
  if (how == PB_OP_RECIP)
    two(&n, PB_OP_DIV, pb_nest_const(&n, PB_F32, 1), v);
  else if (how != PB_OP_MUL)
    pb_nest_node(&n, how, PB_F32, v, -1);
  store(b, &n, pb__s2_along(to, dims));
}

// e^(x - max) / sum; the logarithm is (x - max) - log(sum).
static void softmax(builder* b, const pb_s1_op* op) {
  pb_access x = pb__s2_on_value(b, op->x), y = pb__s2_on_value(b, op->y);
  pb_access most = kept(b, op, &x), sum = kept(b, op, &x), factor = kept(b, op, &x);
  pb_access e = pb__s2_new_local(b, PB_F32, x.rank, x.shape);
  reduce(b, op, PB_ACC_MAXIMUM, x, NULL, NULL, most);
  each(b, op, x, most, op->logarithm ? difference : exp_of_difference, false, e);
  if (op->logarithm)
    reduce(b, op, PB_ACC_ADD, x, &most, exp_of_difference, sum);
  else
    reduce(b, op, PB_ACC_ADD, e, NULL, NULL, sum);
  finish(b, op, op->logarithm ? PB_OP_LOG : PB_OP_RECIP, 1, 0, sum, factor);
  each(b, op, e, factor, op->logarithm ? difference : product, true, y);
}

static void norm(builder* b, const pb_s1_op* op) {
  pb_access x = pb__s2_on_value(b, op->x), y = pb__s2_on_value(b, op->y);
  pb_access squares = kept(b, op, &x), factor = kept(b, op, &x), d = x;
  double count = 1;
  for (int r = 0; r < x.rank; ++r) count *= op->axes[r] ? (double)x.shape[r] : 1;
  if (!op->by_root) {
    pb_access sum = kept(b, op, &x), mean = kept(b, op, &x);
    d = pb__s2_new_local(b, PB_F32, x.rank, x.shape);
    reduce(b, op, PB_ACC_ADD, x, NULL, NULL, sum);
    finish(b, op, PB_OP_MUL, 1 / count, 0, sum, mean);
    each(b, op, x, mean, difference, false, d);
  }
  reduce(b, op, PB_ACC_ADD, d, NULL, square, squares);
  finish(b, op, PB_OP_RSQRT, 1 / count, op->ma, squares, factor);
  pb_nest n = pb__s2_start(op, "point");
  int dims[PB_NEST_RANK];
  walk(&n, &y, dims);
  int v = add_load(&n, pb__s2_along(d, dims));
  v = two(&n, PB_OP_MUL, v, add_load(&n, pb__s2_repeat(factor, &y, dims)));
  if (op->weights >= 0)
    v = two(&n, PB_OP_MUL, v, add_load(&n, pb__s2_repeat(pb__s2_on_const(b, op->weights), &y, dims)));
  if (op->bias >= 0) v = two(&n, PB_OP_ADD, v, add_load(&n, pb__s2_repeat(pb__s2_on_const(b, op->bias), &y, dims)));
  pb__s2_clamped(&n, op, v);
  store(b, &n, pb__s2_along(y, dims));
}

void pb__s2_reduction(builder* b, const pb_s1_op* op) {
  if (op->kind == PB_S1_FREDUCE)
    reduction(b, op);
  else if (op->kind == PB_S1_FSOFTMAX)
    softmax(b, op);
  else
    norm(b, op);
}
