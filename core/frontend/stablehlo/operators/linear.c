// Triangular systems and Cholesky factors: written out in other operators, of a size that is known. A system is a row
// at a time, which is taken off the rows that are left.
#include "core/frontend/stablehlo/write_out.h"

#include <string.h>

enum { MOST_ROWS = 64 };

// ---- systems ----

// The last two dims change places.
static int turned(pb_writer* w, int x) {
  int rank = pb__write_type(w, x).rank;
  int64_t order[PB_FLAT_RANK];
  for (int r = 0; r < rank; ++r) order[r] = r;
  order[rank - 1] = rank - 2;
  order[rank - 2] = rank - 1;
  return pb__write_transposed(w, x, order);
}

// Element (row, column) of the last two dims' matrices, rows up to another one; spread to the shape of `like`.
static int column_of(pb_writer* w, int a, int64_t from, int64_t to, int64_t column, int like) {
  pb_flat_type type = pb__write_type(w, like);
  int part = pb__write_rows(w, a, type.rank - 2, from, to);
  return pb__write_spread(w, pb__write_rows(w, part, type.rank - 1, column, column + 1), type.rank, type.shape);
}

// x of a x = b, a triangular.
static int solved(pb_writer* w, int a, int b, bool lower, bool unit) {
  int rank = pb__write_type(w, a).rank, rows = (int)pb__write_type(w, a).shape[rank - 2], x[MOST_ROWS], rest = b;
  for (int k = 0; k < rows; ++k) {
    int at = lower ? k : rows - 1 - k, left = rows - 1 - k;
    int first = lower ? 0 : left, from = lower ? at + 1 : 0; // the row's place in what is left, and of those behind it
    int row = pb__write_rows(w, rest, rank - 2, first, first + 1);
    x[at] = unit ? row : pb__write_binary(w, "stablehlo.divide", row, column_of(w, a, at, at + 1, at, row));
    if (!left) break;
    rest = pb__write_rows(w, rest, rank - 2, lower ? 1 : 0, lower ? left + 1 : left);
    pb_flat_type type = pb__write_type(w, rest);
    int times = column_of(w, a, from, from + left, at, rest), spread = pb__write_spread(w, x[at], rank, type.shape);
    rest = pb__write_binary(w, "stablehlo.subtract", rest, pb__write_binary(w, "stablehlo.multiply", times, spread));
  }
  return pb__write_joined(w, rank - 2, rows, x);
}

static bool is_matrix_of_floats(const pb_flat_type* a) {
  return a->rank >= 2 && pb_type_is_float(a->type) && a->shape[a->rank - 1] == a->shape[a->rank - 2];
}

// Narrow floats are worked on as f32 and rounded at the end.
static pb_type worked_type(const pb_flat_type* type) { return pb_type_is_narrow(type->type) ? PB_F32 : type->type; }

pb_status pb__door_triangular_solve(pb_door* d, const pb_flat_op* op) {
  const pb_flat_type a_type = *pb__door_type(d, op->operands[0]), b_type = *pb__door_type(d, op->operands[1]);
  bool left = pb__door_int(op, "left_side", 0), lower = pb__door_int(op, "lower", 0);
  bool adjoint = pb__door_says(op, "transpose_a", "ADJOINT");
  bool transposed = !pb__door_says(op, "transpose_a", "NO_TRANSPOSE");
  int rank = a_type.rank;
  if (!is_matrix_of_floats(&a_type) || b_type.rank != rank || b_type.type != a_type.type ||
      b_type.is_complex != a_type.is_complex ||
      memcmp(a_type.shape, b_type.shape, sizeof(int64_t) * (size_t)(rank - 2)) ||
      a_type.shape[rank - 1] != b_type.shape[left ? rank - 2 : rank - 1])
    return pb__door_refuse(d, op, "operands that do not fit");
  if (a_type.shape[rank - 1] > MOST_ROWS) return pb__door_refuse(d, op, "of more than %d rows", MOST_ROWS);
  pb_writer w = pb__write_start(d, op);
  pb_type worked = worked_type(&a_type);
  int a = pb__write_converted(&w, op->operands[0], worked), b = pb__write_converted(&w, op->operands[1], worked);
  if (adjoint) a = pb__write_conjugate(&w, a);
  bool turn = transposed == left; // x a = b is a' x' = b'
  if (turn) a = turned(&w, a);
  if (!left) b = turned(&w, b);
  int x = solved(&w, a, b, lower != turn, pb__door_int(op, "unit_diagonal", 0));
  if (!left) x = turned(&w, x);
  pb__write_result(&w, 0, pb__write_converted(&w, x, a_type.type));
  return pb__write_end(&w);
}

// `count` rows of zeros of the last but one dim on top of x.
static int below_zeros(pb_writer* w, int x, int64_t count) {
  pb_flat_type type = pb__write_type(w, x);
  type.shape[type.rank - 2] = count;
  if (!count) return x;
  int zeros = pb__write_number(w, type, 0);
  return pb__write_joined(w, type.rank - 2, 2, (const int[]){zeros, x});
}

// Column by column: each is taken off what is left of the matrix, times its own conjugate.
pb_status pb__door_cholesky(pb_door* d, const pb_flat_op* op) {
  const pb_flat_type type = *pb__door_type(d, op->operands[0]);
  int rank = type.rank, columns[MOST_ROWS];
  if (!is_matrix_of_floats(&type)) return pb__door_refuse(d, op, "of something else than square matrices of floats");
  int rows = (int)type.shape[rank - 1];
  if (rows > MOST_ROWS) return pb__door_refuse(d, op, "of more than %d rows", MOST_ROWS);
  bool lower = pb__door_int(op, "lower", 0);
  pb_writer w = pb__write_start(d, op);
  int rest = pb__write_converted(&w, op->operands[0], worked_type(&type));
  if (!lower) rest = pb__write_conjugate(&w, turned(&w, rest)); // only its own triangle is read
  for (int k = 0; k < rows; ++k) {
    int column = pb__write_rows(&w, rest, rank - 1, 0, 1);
    int root = pb__write_unary(&w, "stablehlo.sqrt", pb__write_rows(&w, column, rank - 2, 0, 1));
    pb_flat_type shape = pb__write_type(&w, column);
    column = pb__write_binary(&w, "stablehlo.divide", column, pb__write_spread(&w, root, rank, shape.shape));
    columns[k] = below_zeros(&w, column, k);
    if (k + 1 == rows) break;
    int tail = pb__write_rows(&w, column, rank - 2, 1, rows - k);
    rest = pb__write_rows(&w, pb__write_rows(&w, rest, rank - 2, 1, rows - k), rank - 1, 1, rows - k);
    pb_flat_type square = pb__write_type(&w, rest);
    int across = pb__write_spread(&w, pb__write_conjugate(&w, turned(&w, tail)), rank, square.shape);
    int product = pb__write_binary(&w, "stablehlo.multiply", pb__write_spread(&w, tail, rank, square.shape), across);
    rest = pb__write_binary(&w, "stablehlo.subtract", rest, product);
  }
  int factor = pb__write_joined(&w, rank - 1, rows, columns);
  if (!lower) factor = pb__write_conjugate(&w, turned(&w, factor));
  pb__write_result(&w, 0, pb__write_converted(&w, factor, type.type));
  return pb__write_end(&w);
}
