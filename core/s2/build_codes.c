// What transformers do with codes, as nests: functions of one code, softmax, normalisations, products of two computed
// operands. Sums are of integers and exact in any order; each f32 operation is rounded once, in the order written here.
#include "core/s2/builder.h"

#include <string.h>

enum { MIDDLE = 128 };

static int node(pb_nest* n, pb_op op, pb_type type, int a, int b) { return pb_nest_node(n, op, type, a, b); }

static int add_load(pb_nest* n, pb_access access) {
  n->access[n->access_count++] = access;
  return pb_nest_load(n, n->access_count - 1);
}

static int wide(pb_nest* n, int code) { return node(n, PB_OP_SEXT, PB_I32, code, -1); }

// The table's element of a code.
static int look_up(builder* b, pb_nest* n, int table, int code) {
  int middle = pb_nest_const(n, PB_I32, MIDDLE), at = node(n, PB_OP_ADD, PB_I32, wide(n, code), middle);
  n->access[n->access_count++] = pb__s2_on_const(b, table);
  return pb_nest_gather(n, n->access_count - 1, 0, node(n, PB_OP_SEXT, PB_INDEX, at, -1));
}

static void store(builder* b, pb_nest* n, pb_access to) {
  n->access[n->access_count++] = to;
  pb__s2_print(b, n);
}

static void table(builder* b, const pb_s1_op* op) {
  pb_nest n = pb__s2_start(op, "point");
  pb_access x = pb__s2_on_value(b, pb__s2_base_of(b, op->x)), y = pb__s2_on_value(b, op->y);
  int dims[PB_NEST_RANK];
  pb__s2_walk(&n, &x, dims);
  int code = add_load(&n, pb__s2_along(x, dims));
  node(&n, PB_OP_TRUNC, PB_I8, look_up(b, &n, op->weights, code), -1);
  store(b, &n, pb__s2_along_flat(y, &x, dims));
}

// Matrices of rows, and one number for each row: [rows, 1].
static void walk_rows(pb_nest* n, const pb_access* matrix, int* dims) {
  dims[0] = pb__s2_add_dim(n, matrix->shape[0]);
  dims[1] = matrix->shape[1] == 1 ? -1 : pb__s2_add_dim(n, matrix->shape[1]);
}

static pb_access by_row(pb_access of, const int* dims) {
  pb__s2_move(&of, 0, dims[0], 1);
  return of;
}

static pb_access numbers(builder* b, pb_type type, const pb_access* x) {
  int64_t shape[2] = {x->shape[0], 1};
  return pb__s2_new_local(b, type, 2, shape);
}

static void start_from(builder* b, const pb_s1_op* op, pb_access to, double value) {
  pb_nest n = pb__s2_start(op, "init");
  int dims[2];
  walk_rows(&n, &to, dims);
  pb_nest_const(&n, to.type, value);
  store(b, &n, by_row(to, dims));
}

// A nest over x's rows that combines what its body makes of each code into one number a row. `start` is its neutral
// value.
static pb_nest row_nest(builder* b, const pb_s1_op* op, pb_reduce how, pb_access x, pb_access to, int* dims,
                        int* code) {
  start_from(b, op, to, how == PB_ACC_MAX ? INT32_MIN : 0);
  pb_nest n = pb__s2_start(op, "reduce");
  walk_rows(&n, &x, dims);
  *code = add_load(&n, pb__s2_along(x, dims));
  n.reduce = how;
  return n;
}

// Codes 127 less than their distance below the row's largest: never below -128, as the difference is 255 at most.
static pb_access below_largest(builder* b, const pb_s1_op* op, pb_access x, pb_access most) {
  pb_access d = pb__s2_new_local(b, PB_I8, 2, x.shape);
  pb_nest n = pb__s2_start(op, "point");
  int dims[2];
  walk_rows(&n, &x, dims);
  int code = wide(&n, add_load(&n, pb__s2_along(x, dims))), largest = add_load(&n, by_row(most, dims));
  int v = node(&n, PB_OP_SUB, PB_I32, code, largest);
  v = node(&n, PB_OP_ADD, PB_I32, v, pb_nest_const(&n, PB_I32, MIDDLE - 1));
  node(&n, PB_OP_TRUNC, PB_I8, v, -1);
  store(b, &n, pb__s2_along(d, dims));
  return d;
}

// e^(scale (x - largest)), of codes that are 127 more than x - largest.
static int exponential(pb_nest* n, const pb_s1_op* op, int code) {
  int v = node(n, PB_OP_SITOFP, PB_F32, code, -1);
  v = node(n, PB_OP_SUB, PB_F32, v, pb_nest_const(n, PB_F32, MIDDLE - 1));
  return node(n, PB_OP_EXP, PB_F32, node(n, PB_OP_MUL, PB_F32, v, pb_nest_const(n, PB_F32, op->mb)), -1);
}

// What a table has for the codes of each row, added up.
static pb_access sum_of(builder* b, const pb_s1_op* op, pb_access codes, int table) {
  pb_access sum = numbers(b, PB_I32, &codes);
  int dims[2], code;
  pb_nest n = row_nest(b, op, PB_ACC_ADD, codes, sum, dims, &code);
  look_up(b, &n, table, code);
  store(b, &n, by_row(sum, dims));
  return sum;
}

// Of codes; of f32 with what the table's whole numbers lack of the sum as well.
static void softmax(builder* b, const pb_s1_op* op) {
  pb_access x = pb__s2_on_value(b, op->x), y = pb__s2_on_value(b, op->y);
  pb_access most = numbers(b, PB_I32, &x), factor = numbers(b, PB_F32, &x);
  bool floats = y.type == PB_F32;
  int dims[2], code;
  pb_nest n = row_nest(b, op, PB_ACC_MAX, x, most, dims, &code);
  wide(&n, code);
  store(b, &n, by_row(most, dims));
  pb_access d = below_largest(b, op, x, most), sum = sum_of(b, op, d, op->weights), rest = {0};
  if (floats) rest = sum_of(b, op, d, op->bias);
  n = pb__s2_start(op, "point");
  walk_rows(&n, &sum, dims);
  int whole = node(&n, PB_OP_SITOFP, PB_F32, add_load(&n, by_row(sum, dims)), -1);
  if (floats) {
    int lacks = node(&n, PB_OP_SITOFP, PB_F32, add_load(&n, by_row(rest, dims)), -1);
    lacks = node(&n, PB_OP_MUL, PB_F32, lacks, pb_nest_const(&n, PB_F32, 1 / op->ma));
    whole = node(&n, PB_OP_ADD, PB_F32, whole, lacks);
  }
  node(&n, PB_OP_DIV, PB_F32, pb_nest_const(&n, PB_F32, op->ma), whole);
  store(b, &n, by_row(factor, dims));
  n = pb__s2_start(op, "point");
  walk_rows(&n, &d, dims);
  code = add_load(&n, pb__s2_along(d, dims));
  int numerator =
      floats ? exponential(&n, op, code) : node(&n, PB_OP_SITOFP, PB_F32, look_up(b, &n, op->weights, code), -1);
  int share = node(&n, PB_OP_MUL, PB_F32, numerator, add_load(&n, by_row(factor, dims)));
  if (!floats) pb__s2_to_codes(&n, share, op);
  store(b, &n, pb__s2_along(y, dims));
}

// x - zx as i32.
static int centred(pb_nest* n, const pb_s1_op* op, int code) {
  int v = wide(n, code);
  return op->zx == 0 ? v : node(n, PB_OP_SUB, PB_I32, v, pb_nest_const(n, PB_I32, op->zx));
}

// 1 / sqrt(variance + epsilon) of each row. Without `sums` the mean counts as 0.
static void deviation(builder* b, const pb_s1_op* op, const pb_access* sums, pb_access squares, pb_access to) {
  pb_nest n = pb__s2_start(op, "point");
  int dims[2];
  walk_rows(&n, &to, dims);
  int share = pb_nest_const(&n, PB_F32, op->mb);
  int v = node(&n, PB_OP_SITOFP, PB_F32, add_load(&n, by_row(squares, dims)), -1);
  v = node(&n, PB_OP_MUL, PB_F32, v, share);
  if (sums) {
    int mean = node(&n, PB_OP_SITOFP, PB_F32, add_load(&n, by_row(*sums, dims)), -1);
    mean = node(&n, PB_OP_MUL, PB_F32, mean, share);
    v = node(&n, PB_OP_SUB, PB_F32, v, node(&n, PB_OP_MUL, PB_F32, mean, mean));
    v = node(&n, PB_OP_MAX, PB_F32, v, pb_nest_const(&n, PB_F32, 0));
  }
  v = node(&n, PB_OP_ADD, PB_F32, v, pb_nest_const(&n, PB_F32, op->ma));
  v = node(&n, PB_OP_SQRT, PB_F32, v, -1);
  node(&n, PB_OP_DIV, PB_F32, pb_nest_const(&n, PB_F32, 1), v);
  store(b, &n, by_row(to, dims));
}

// The mean of each row's x - zx.
static void mean_of(builder* b, const pb_s1_op* op, pb_access sums, pb_access to) {
  pb_nest n = pb__s2_start(op, "point");
  int dims[2];
  walk_rows(&n, &to, dims);
  int v = node(&n, PB_OP_SITOFP, PB_F32, add_load(&n, by_row(sums, dims)), -1);
  node(&n, PB_OP_MUL, PB_F32, v, pb_nest_const(&n, PB_F32, op->mb));
  store(b, &n, by_row(to, dims));
}

static void norm(builder* b, const pb_s1_op* op) {
  pb_access x = pb__s2_on_value(b, op->x), y = pb__s2_on_value(b, op->y), gain = pb__s2_on_const(b, op->weights),
            shift = pb__s2_on_const(b, op->bias);
  pb_access sums = {0}, squares = numbers(b, PB_I32, &x), mean = {0}, factor = numbers(b, PB_F32, &x);
  int dims[2], code;
  pb_nest n;
  if (!op->by_root) {
    sums = numbers(b, PB_I32, &x);
    mean = numbers(b, PB_F32, &x);
    n = row_nest(b, op, PB_ACC_ADD, x, sums, dims, &code);
    centred(&n, op, code);
    store(b, &n, by_row(sums, dims));
    mean_of(b, op, sums, mean);
  }
  n = row_nest(b, op, PB_ACC_ADD, x, squares, dims, &code);
  int v = centred(&n, op, code);
  node(&n, PB_OP_MUL, PB_I32, v, v);
  store(b, &n, by_row(squares, dims));
  deviation(b, op, op->by_root ? NULL : &sums, squares, factor);

  n = pb__s2_start(op, "point");
  walk_rows(&n, &x, dims);
  v = node(&n, PB_OP_SITOFP, PB_F32, add_load(&n, pb__s2_along(x, dims)), -1);
  if (op->zx != 0 || op->by_root) v = node(&n, PB_OP_SUB, PB_F32, v, pb_nest_const(&n, PB_F32, op->zx));
  int middle = op->by_root ? pb_nest_const(&n, PB_F32, 0) : add_load(&n, by_row(mean, dims)); // one form for both
  v = node(&n, PB_OP_SUB, PB_F32, v, middle);
  v = node(&n, PB_OP_MUL, PB_F32, v, add_load(&n, by_row(factor, dims)));
  pb__s2_move(&gain, 0, dims[1], 1);
  pb__s2_move(&shift, 0, dims[1], 1);
  v = node(&n, PB_OP_MUL, PB_F32, v, add_load(&n, gain));
  pb__s2_to_codes(&n, node(&n, PB_OP_ADD, PB_F32, v, add_load(&n, shift)), op);
  store(b, &n, pb__s2_along(y, dims));
}

// The access that the product's walk makes of a tensor.
static pb_access walked(const builder* b, const pb_s1_op* op, int side, int v, pb_access access, const int* dims) {
  int64_t index[PB_GRAPH_RANK * PB_S1_WALK_DIMS], first[PB_GRAPH_RANK];
  (void)pb_s1_walk_index(op->walk, side, &b->program->values[v], index, first); // stage S1 has asked
  for (int r = 0; r < access.rank; ++r) {
    access.index[r].cst = first[r];
    for (int d = 0; d < op->walk->dims; ++d) {
      int64_t step = index[r * PB_S1_WALK_DIMS + d];
      if (step) pb__s2_move(&access, r, dims[d], step);
    }
  }
  return access;
}

static int less_zero(pb_nest* n, int code, double zero) {
  int v = wide(n, code);
  return zero == 0 ? v : node(n, PB_OP_SUB, PB_I32, v, pb_nest_const(n, PB_I32, zero));
}

static void matmul(builder* b, const pb_s1_op* op) {
  pb_access y = pb__s2_on_value(b, op->y), acc = pb__s2_new_local(b, PB_I32, y.rank, y.shape);
  int dims[PB_S1_WALK_DIMS];
  pb__s2_init(b, op, &acc, 0);
  pb_nest n = pb__s2_start(op, "reduce");
  for (int d = 0; d < op->walk->dims; ++d)
    dims[d] =
        d + 2 < op->walk->dims ? pb__s2_add_dim(&n, op->walk->extent[d]) : pb__s2_add_channels(&n, op->walk->extent[d]);
  int x = add_load(&n, walked(b, op, 0, op->x, pb__s2_on_value(b, op->x), dims));
  int z = add_load(&n, walked(b, op, 1, op->z, pb__s2_on_value(b, op->z), dims));
  x = less_zero(&n, x, op->zx);
  z = less_zero(&n, z, op->zz);
  node(&n, PB_OP_MUL, PB_I32, x, z);
  n.reduce = PB_ACC_ADD;
  store(b, &n, walked(b, op, 2, op->y, acc, dims));
  pb__s2_requantise(b, op, acc, y);
}

void pb__s2_codes(builder* b, const pb_s1_op* op) {
  if (op->kind == PB_S1_TABLE)
    table(b, op);
  else if (op->kind == PB_S1_SOFTMAX)
    softmax(b, op);
  else if (op->kind == PB_S1_NORM)
    norm(b, op);
  else
    matmul(b, op);
}
