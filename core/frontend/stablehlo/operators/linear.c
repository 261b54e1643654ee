// Triangular systems, Cholesky factors and Fourier transforms: written out in other operators, of a size that is known.
// A system is a row at a time, which is taken off the rows that are left; a transform is a product with its matrix,
// time with the square of the length.
#include "core/frontend/stablehlo/write_out.h"

#include <math.h>
#include <string.h>

enum { MOST_ROWS = 64, MOST_LENGTH = 4096 };

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
  pb_flat_type type = pb__write_type(w, x), one = type;
  static const double zero[2] = {0};
  one.rank = 0;
  type.shape[type.rank - 2] = count;
  if (!count) return x;
  int zeros = pb__write_constant(w, one, zero);
  pb_flat_attr along = pb__write_ints(w, "broadcast_dimensions", 0, type.shape);
  zeros = pb__write(w, "stablehlo.broadcast_in_dim", type, 1, &zeros, 1, &along);
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

// ---- transforms ----

typedef struct wave {
  int64_t rows, columns, length; // element (p, q) is e^(+-2 pi i p q / length) * scale
  bool is_inverse, is_half;      // half: the rows are those of a real signal, the others are their conjugates
} wave;

// The matrix as complex numbers, its real or its imaginary parts.
typedef enum part { WHOLE, REAL, IMAGINARY } part;
static int matrix(pb_writer* w, wave m, pb_type type, part which) {
  const double tau = 6.283185307179586476925286766559;
  pb_flat_type of = {
      .type = type, .is_complex = which == WHOLE, .rank = 2, .shape = {m.rows, m.columns}, .text = "a matrix"};
  size_t count = (size_t)(m.rows * m.columns) * (which == WHOLE ? 2 : 1), k = 0;
  double* wide = PB_NEW_ARRAY(&w->d->m.program->arena, double, count + 1);
  float* narrow = PB_NEW_ARRAY(&w->d->m.program->arena, float, count + 1);
  for (int64_t p = 0; p < m.rows; ++p)
    for (int64_t q = 0; q < m.columns; ++q) {
      double angle = tau * (double)(p * q % m.length) / (double)m.length, scale = 1;
      if (m.is_inverse) scale = (m.is_half && p && 2 * p != m.length ? 2.0 : 1.0) / (double)m.length;
      double re = scale * cos(angle), im = scale * (m.is_inverse ? sin(angle) : -sin(angle));
      if (which != IMAGINARY) wide[k++] = re;
      if (which != REAL) wide[k++] = im;
    }
  for (size_t i = 0; i < count; ++i) narrow[i] = (float)wide[i];
  return pb__write_constant(w, of, type == PB_F64 ? (const void*)wide : narrow);
}

// x times the matrix along a dim.
static int along(pb_writer* w, int x, int axis, int by) {
  pb_flat_type type = pb__write_type(w, x);
  int64_t order[PB_FLAT_RANK], last = pb__write_type(w, by).shape[1];
  const char* text =
      pb_printf(&w->d->m.program->arena,
                "#stablehlo.dot<lhs_contracting_dimensions = [%d], rhs_contracting_dimensions = [0]>", axis);
  pb_flat_attr dims = pb__write_text("dot_dimension_numbers", text);
  for (int r = axis; r + 1 < type.rank; ++r) type.shape[r] = type.shape[r + 1];
  type.shape[type.rank - 1] = last;
  int y = pb__write(w, "stablehlo.dot_general", type, 2, (const int[]){x, by}, 1, &dims);
  for (int r = 0; r < type.rank; ++r) order[r] = r < axis ? r : r == axis ? type.rank - 1 : r - 1;
  return axis == type.rank - 1 ? y : pb__write_transposed(w, y, order);
}

static int part_of(pb_writer* w, const char* name, int x) {
  pb_flat_type type = pb__write_type(w, x);
  type.is_complex = false;
  return pb__write(w, name, type, 1, &x, 0, NULL);
}

pb_status pb__door_fft(pb_door* d, const pb_flat_op* op) {
  const pb_flat_type in = *pb__door_type(d, op->operands[0]), out = *pb__door_type(d, op->results[0]);
  bool to_half = pb__door_says(op, "fft_type", "RFFT"), from_half = pb__door_says(op, "fft_type", "IRFFT");
  bool inverse = from_half || pb__door_says(op, "fft_type", "IFFT");
  const pb_flat_attr* length = pb_flat_find(op, "fft_length");
  int axes = length->ints ? length->count : 0, last = in.rank - 1;
  bool fits =
      axes >= 1 && axes <= 3 && axes <= in.rank && in.is_complex != to_half && (in.type == PB_F32 || in.type == PB_F64);
  for (int k = 0; fits && k < axes; ++k) {
    int64_t n = length->ints[k], extent = in.shape[in.rank - axes + k];
    fits = n >= 1 && n <= MOST_LENGTH && extent == (from_half && k == axes - 1 ? n / 2 + 1 : n);
  }
  if (!fits) return pb__door_refuse(d, op, "lengths that do not fit, or of more than %d", MOST_LENGTH);
  pb_writer w = pb__write_start(d, op);
  int64_t n = length->ints[axes - 1], half = n / 2 + 1;
  int x = op->operands[0];
  if (to_half) {
    wave m = {n, half, n, false, true};
    int by[] = {matrix(&w, m, in.type, REAL), -1};
    by[1] = matrix(&w, m, in.type, IMAGINARY);
    int re = along(&w, x, last, by[0]), im = along(&w, x, last, by[1]);
    x = pb__write(&w, "stablehlo.complex", out, 2, (const int[]){re, im}, 0, NULL);
  }
  for (int k = 0; k < axes; ++k) {
    if ((to_half || from_half) && k == axes - 1) continue;
    int64_t rows = length->ints[k];
    int by = matrix(&w, (wave){rows, rows, rows, inverse, false}, in.type, WHOLE);
    x = along(&w, x, in.rank - axes + k, by);
  }
  if (from_half) { // the real part of the product
    wave m = {half, n, n, true, true};
    int re = part_of(&w, "stablehlo.real", x), im = part_of(&w, "stablehlo.imag", x);
    int by_re = matrix(&w, m, in.type, REAL), by_im = matrix(&w, m, in.type, IMAGINARY);
    re = along(&w, re, last, by_re);
    im = along(&w, im, last, by_im);
    x = pb__write_binary(&w, "stablehlo.subtract", re, im);
  }
  pb__write_result(&w, 0, x);
  return pb__write_end(&w);
}
