// Lifts what transformers do with codes beside products by weights: softmax, normalisation over the last dim, products
// of two computed operands. All of them work on matrices: the rows of the last dim, whatever stack they stand in.
#include "core/s1/lift/lift.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CODES = 256, MOST_BITS = 24, SUM_BITS = 30 };

static int64_t rows_of(const pb_s1_value* v) {
  int64_t rows = 1;
  for (int r = 0; r + 1 < v->rank; ++r) rows *= v->shape[r];
  return rows;
}

static bool is_matrix(const pb_s1_value* v, int64_t rows, int64_t columns) {
  return v->rank == 2 && v->alias_of < 0 && v->shape[0] == rows && v->shape[1] == columns;
}

// The value whose elements, in their order, this one has.
static int behind_copy(const lifter* l, int value) {
  for (size_t k = l->out->op_count; k-- > 0;)
    if (l->out->ops[k].y == value) {
      if (l->out->ops[k].kind != PB_S1_COPY) return value;
      int x = l->out->ops[k].x, base = l->out->values[x].alias_of;
      return base >= 0 ? base : x;
    }
  return value;
}

int pb__matrix_behind(const lifter* l, int value) {
  const pb_s1_value* v = &l->out->values[value];
  int64_t rows = rows_of(v), columns = v->rank ? v->shape[v->rank - 1] : 1;
  int base = v->alias_of >= 0 ? v->alias_of : value;
  if (is_matrix(&l->out->values[base], rows, columns)) return base;
  int before = behind_copy(l, base);
  return is_matrix(&l->out->values[before], rows, columns) ? before : -1;
}

int pb__matrix_of(lifter* l, const pb_node* n, int value) {
  int there = pb__matrix_behind(l, value);
  if (there >= 0) return there;
  const pb_s1_value v = l->out->values[value];
  int64_t shape[2] = {rows_of(&v), v.rank ? v.shape[v.rank - 1] : 1};
  int matrix = pb__reshaped(l, v.name, value, 2, shape);
  pb__own(l, n, &matrix);
  return matrix;
}

void pb__matrix_result(lifter* l, const pb_node* n, const pb_target* t, int rank, const int64_t* shape, int* y) {
  pb_s1_value v = {.rank = rank};
  if (rank) memcpy(v.shape, shape, sizeof(int64_t) * (size_t)rank);
  int64_t matrix[2] = {rows_of(&v), rank ? shape[rank - 1] : 1};
  if (rank == 2) {
    *y = pb__make_result(l, t, 2, matrix);
    return;
  }
  *y = pb__add_value(l, l->g->tensors[t->tensor].name, PB_I8, 2, matrix);
  pb__alias(l, pb__make_result(l, t, rank, shape), *y);
  (void)n;
}

// Others walk a tensor by sums of its own dims: where the matrix has fewer, they get a copy. It goes again if only
// those who look behind it read it.
void pb__own_result(lifter* l, const pb_node* n, const pb_target* t, int y) {
  int* value = &l->value_of[t->tensor];
  if (*value != y && !pb_s1_merges(&l->out->values[y], &l->out->values[*value])) pb__own(l, n, value);
}

// The axis along which the node takes codes together, -1: it is none alone.
static int axis_of(const lifter* l, const pb_node* n, int rank) {
  int axis;
  bool softmax = pb__is(n, "Softmax"), one = !softmax || pb_node_opset(l->g, n) >= 13;
  if (rank < 1 || !pb__axis(pb_node_int(n, "axis", one ? -1 : 1), rank, &axis)) return -1;
  return axis == rank - 1 || (softmax && one) ? axis : -1;
}

bool pb__over_one_dim(const lifter* l, const pb_node* n) {
  const pb_node* dq = pb__producer(l, n->inputs[0]);
  if (!dq || pb__input(dq, 0) < 0 || l->value_of[dq->inputs[0]] < 0) return false;
  int rank = l->out->values[l->value_of[dq->inputs[0]]].rank;
  // shares of classes that leave the model as floats: of images the processor's own floats are faster
  bool ends = pb__ends_in_codes(l, n) || (pb__is(n, "Softmax") && rank <= 2);
  return ends && axis_of(l, n, rank) >= 0;
}

// The value with its dim `axis` and its last one in each other's place, as `made`, -1: a new one. What is turned so
// twice is as it was.
static int turned(lifter* l, const pb_node* n, int value, int axis, int made) {
  int order[PB_GRAPH_RANK], last = l->out->values[value].rank - 1;
  for (int r = 0; r <= last; ++r) order[r] = r == axis ? last : r == last ? axis : r;
  return pb__transposed(l, n, value, order, made);
}

// The largest power of two, up to 24, times which the sum of a row of numerators up to 1 fits 31 bits.
static int bits_of(int64_t columns) {
  int bits = SUM_BITS;
  while (bits > 0 && columns > (int64_t)1 << (SUM_BITS - bits)) --bits;
  return bits > MOST_BITS ? MOST_BITS : bits;
}

// A table of numerators by x - max + 255: e^(scale (x - max)) times 2^bits. `rest`: what rounding them to whole numbers
// took off, times 2^bits again.
static int numerators(lifter* l, const pb_node* n, float scale, int bits, bool rest) {
  int32_t* table = PB_NEW_ARRAY(&l->consts->arena, int32_t, CODES);
  for (int c = 0; c < CODES; ++c) {
    double numerator = ldexp(exp((double)scale * (c - (CODES - 1))), bits), whole = rint(numerator);
    table[c] = (int32_t)(rest ? rint(ldexp(numerator - whole, bits)) : whole);
  }
  const int64_t shape = CODES;
  const char* name = pb_printf(&l->consts->arena, rest ? "%s.rest" : "%s.table", n->name);
  return pb_consts_add(l->consts, name, PB_I32, 1, &shape, table);
}

// The result as a tensor of the model: codes of the target, or (t NULL) f32.
static int softmax_result(lifter* l, const pb_node* n, const pb_target* t, int rank, const int64_t* shape) {
  if (t) return pb__make_result(l, t, rank, shape);
  int v = pb__add_value(l, l->g->tensors[n->outputs[0]].name, PB_F32, rank, shape);
  l->value_of[n->outputs[0]] = v;
  return v;
}

// Of codes, in codes where QuantizeLinear follows, else in f32.
pb_status pb__lift_softmax_codes(lifter* l, const pb_node* n) {
  pb_codes x;
  pb_target codes = {0}, *t = pb__ends_in_codes(l, n) ? &codes : NULL;
  PB_TRY(pb__read_codes(l, n, pb__input(n, 0), &x));
  if (t) PB_TRY(pb__find_target(l, n, t));
  const pb_s1_value whole = l->out->values[x.value];
  int axis = axis_of(l, n, whole.rank);
  bool turns = axis < whole.rank - 1;
  if (turns) x.value = turned(l, n, x.value, axis, -1);
  const pb_s1_value in = l->out->values[x.value];
  int64_t columns = in.shape[in.rank - 1], matrix[2] = {rows_of(&in), columns};
  if (columns > (int64_t)1 << (SUM_BITS - 8))
    return pb__refuse(l, n, "rows of at most 2^22",
                      "a softmax over rows so long that their sums lose what makes a code");
  pb_s1_op op = pb__codes_op(n, PB_S1_SOFTMAX, t);
  op.x = pb__matrix_of(l, n, x.value);
  op.weights = numerators(l, n, x.scale, bits_of(columns), false);
  if (!t) op.bias = numerators(l, n, x.scale, bits_of(columns), true);
  op.ma = t ? pb__factor(l, 1, t->scale) : ldexpf(1, bits_of(columns));
  op.mb = x.scale;
  if (t && !turns) {
    pb__matrix_result(l, n, t, in.rank, in.shape, &op.y);
    pb__push_op(l, op);
    pb__own_result(l, n, t, op.y);
    return PB_OK;
  }
  op.y = pb__add_value(l, n->name, t ? PB_I8 : PB_F32, 2, matrix);
  pb__push_op(l, op);
  int made = turns ? pb__add_value(l, n->name, t ? PB_I8 : PB_F32, in.rank, in.shape)
                   : softmax_result(l, n, t, whole.rank, whole.shape);
  pb__alias(l, made, op.y);
  if (turns) (void)turned(l, n, made, axis, softmax_result(l, n, t, whole.rank, whole.shape));
  if (!turns && in.rank != 2) pb__own(l, n, &l->value_of[n->outputs[0]]);
  return PB_OK;
}

// Factors (1 where there are none) or shifts (0) in codes of the result.
static pb_status parameters(lifter* l, const pb_node* n, int input, int64_t count, float missing, float scale,
                            int* id) {
  float* numbers = PB_NEW_ARRAY(&l->consts->arena, float, (size_t)count);
  for (int64_t k = 0; k < count; ++k) numbers[k] = missing;
  const float* said = pb__vector(l, pb__input(n, input), count);
  if (pb__input(n, input) >= 0 && !said)
    return pb__refuse(l, n, NULL, "a scale or bias that is not constant over the normalised dim");
  if (said) memcpy(numbers, said, (size_t)count * sizeof *numbers);
  for (int64_t k = 0; k < count; ++k) {
    numbers[k] = numbers[k] / scale;
    if (!isfinite(numbers[k])) l->impossible = "scales so far apart that f32 does not hold their quotients";
  }
  const char* name = pb_printf(&l->consts->arena, "%s.%d", n->name, input);
  *id = pb_consts_add(l->consts, name, PB_F32, 1, &count, numbers);
  return PB_OK;
}

pb_status pb__lift_norm_codes(lifter* l, const pb_node* n) {
  pb_codes x;
  pb_target t;
  const float epsilon = 1e-5f;
  const pb_attr* said = pb_node_attr(n, "epsilon");
  PB_TRY(pb__read_codes(l, n, pb__input(n, 0), &x));
  PB_TRY(pb__find_target(l, n, &t));
  for (int k = 1; k < n->output_count; ++k)
    if (n->outputs[k] >= 0) return pb__refuse(l, n, NULL, "mean and deviation as results");
  pb_s1_value in = l->out->values[x.value];
  int64_t columns = in.shape[in.rank - 1];
  if (columns > INT32_MAX / (UINT8_MAX * UINT8_MAX))
    return pb__refuse(l, n, "rows of at most 33025", "a normalisation whose sum of squares may not fit 32 bits");
  pb_s1_op op = pb__codes_op(n, PB_S1_NORM, &t);
  op.by_root = !pb__is(n, "LayerNormalization");
  if (op.by_root && n->input_count > 2) return pb__refuse(l, n, NULL, "another number of operands than two");
  op.zx = x.zero;
  op.ma = (float)((double)(said ? said->f : epsilon) / ((double)x.scale * (double)x.scale));
  op.mb = 1.0f / (float)columns;
  if (!isfinite(op.ma)) return pb__no_form(l); // so small a scale: epsilon is none in its units
  PB_TRY(parameters(l, n, 1, columns, 1, t.scale, &op.weights));
  PB_TRY(parameters(l, n, 2, columns, 0, t.scale, &op.bias));
  op.x = pb__matrix_of(l, n, x.value);
  pb__matrix_result(l, n, &t, in.rank, in.shape, &op.y);
  pb__push_op(l, op);
  pb__own_result(l, n, &t, op.y);
  return PB_OK;
}

// The steps of an operand of some rank: its stack's dims against the last of the walk's, then its own two.
static void operand_steps(pb_s1_walk* w, int side, const pb_s1_value* v, int row, int column) {
  int batch = w->dims - 3, skip = batch - (v->rank - 2);
  int64_t stride = v->rank > 1 ? v->shape[v->rank - 1] * v->shape[v->rank - 2] : v->shape[0];
  w->step[side][column] = 1;
  w->step[side][row] = v->shape[v->rank - 1];
  for (int r = v->rank - 3; r >= 0; --r) {
    if (v->shape[r] != 1) w->step[side][skip + r] = stride;
    stride *= v->shape[r];
  }
}

// The product's result; of one `column`, whose elements were made as a row.
static void give_product(lifter* l, const pb_node* n, const pb_target* t, bool column, int rank, const int64_t* shape,
                         pb_s1_op* op) {
  pb_s1_value y = {.rank = rank};
  memcpy(y.shape, shape, sizeof y.shape);
  if (column) {
    y.shape[rank - 1] = shape[rank - 2];
    y.shape[rank - 2] = 1;
  }
  operand_steps(op->walk, 2, &y, rank - 2, rank - 1);
  if (!column) {
    pb__matrix_result(l, n, t, rank, shape, &op->y);
  } else {
    int64_t matrix[2] = {rows_of(&y), y.shape[rank - 1]};
    op->y = pb__add_value(l, n->name, PB_I8, 2, matrix);
    pb__alias(l, pb__make_result(l, t, rank, shape), op->y);
  }
  pb__push_op(l, *op);
  pb__own_result(l, n, t, op->y);
}

// The product by a matrix of one column: that column, as a row, by the rows of the other factor, which chips take
// several at once of. Its results lie in a row.
static void by_column(lifter* l, const pb_node* n, int column, int rows, pb_s1_walk* w, pb_s1_op* op) {
  pb_s1_value a = l->out->values[rows], b = l->out->values[column];
  int batch = w->dims - 3;
  b.shape[b.rank - 1] = b.shape[b.rank - 2];
  b.shape[b.rank - 2] = 1;
  w->extent[batch + 1] = w->extent[batch];
  w->extent[batch] = 1;
  operand_steps(w, 0, &b, batch, batch + 2);
  operand_steps(w, 1, &a, batch + 1, batch + 2);
  op->x = pb__matrix_of(l, n, pb__reshaped(l, n->name, column, b.rank, b.shape));
  op->z = pb__matrix_of(l, n, rows);
}

pb_status pb__lift_matmul_codes(lifter* l, const pb_node* n) {
  pb_codes x, z;
  pb_target t;
  PB_TRY(pb__read_codes(l, n, pb__input(n, 0), &x));
  PB_TRY(pb__read_codes(l, n, pb__input(n, 1), &z));
  PB_TRY(pb__find_target(l, n, &t));
  pb_s1_value a = l->out->values[x.value], b = l->out->values[z.value];
  if (a.rank < 2 || b.rank < 2 || !pb__meet(l, a.shape[a.rank - 1], b.shape[b.rank - 2]))
    return pb__refuse_shapes(l, n, "factors", a.rank, a.shape, b.rank, b.shape);
  int64_t shape[PB_GRAPH_RANK], k = a.shape[a.rank - 1];
  int batch = a.rank - 2;
  memcpy(shape, a.shape, sizeof shape);
  if (!pb__broadcast_open(l, shape, &batch, b.shape, b.rank - 2))
    return pb__refuse_shapes(l, n, "factors", a.rank, a.shape, b.rank, b.shape);
  if (k > INT32_MAX / (UINT8_MAX * UINT8_MAX)) return pb__refuse(l, n, NULL, "sums that may not fit 32 bits");
  pb_s1_walk* w = PB_NEW(&l->consts->arena, pb_s1_walk);
  w->dims = batch + 3;
  memcpy(w->extent, shape, sizeof(int64_t) * (size_t)batch);
  shape[batch] = w->extent[batch] = a.shape[a.rank - 2];
  shape[batch + 1] = w->extent[batch + 1] = b.shape[b.rank - 1];
  w->extent[batch + 2] = k;
  bool column =
      shape[batch + 1] == 1 && shape[batch] > 1 && pb__elements(b.rank, b.shape) == pb__elements(batch, shape) * k;
  pb_s1_op op = pb__codes_op(n, PB_S1_MATMUL, &t);
  op.zx = column ? z.zero : x.zero;
  op.zz = column ? x.zero : z.zero;
  op.walk = w;
  op.ma = pb__factor(l, x.scale * z.scale, t.scale);
  if (column) {
    by_column(l, n, z.value, x.value, w, &op);
  } else {
    operand_steps(w, 0, &a, batch, batch + 2);
    operand_steps(w, 1, &b, batch + 2, batch + 1);
    op.x = pb__matrix_of(l, n, x.value);
    op.z = pb__matrix_of(l, n, z.value);
  }
  give_product(l, n, &t, column, batch + 2, shape, &op);
  return PB_OK;
}
