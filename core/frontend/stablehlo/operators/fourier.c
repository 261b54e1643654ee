// Fourier transforms. Where the target's code goes through passes of short ones (butterflies.c), lanes lie along what
// is behind the dim: other dims turn round where that is too little. Else they are written out in products: of a length
// n1 n2 those of n1 and of n2 with factors of magnitude 1 between (Cooley and Tukey 1965; by matrices that are kept
// small, as lanes and caches like it), of a short or prime one the product with its matrix. Real numbers of an even
// length are half as many complex ones (Cooley, Lewis and Welch 1970), or two products whose second makes one half.
#include "core/frontend/stablehlo/operators/butterflies.h"
#include "core/frontend/stablehlo/write_out.h"

#include <math.h>
#include <string.h>

enum { MOST_DIRECT = 64, MOST_PRIME = 4096, LEAST_PACKED = 32, MOST_LENGTH = 1 << 20 };

// Element (p, q) is e^(+-2 pi i (p q + shift) / length) * scale.
typedef struct wave {
  int64_t rows, columns, length;
  double shift, scale;
  bool is_inverse, is_half; // half: the rows are those of a real signal, the others are their conjugates
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
      double angle = tau * ((double)(p * q % m.length) + m.shift) / (double)m.length, scale = m.scale;
      if (m.is_half && p && 2 * p != m.length) scale *= 2;
      double re = scale * cos(angle), im = scale * (m.is_inverse ? sin(angle) : -sin(angle));
      if (which != IMAGINARY) wide[k++] = re;
      if (which != REAL) wide[k++] = im;
    }
  for (size_t i = 0; i < count; ++i) narrow[i] = (float)wide[i];
  return pb__write_constant(w, of, type == PB_F64 ? (const void*)wide : narrow);
}

// The dim goes, and what the matrix makes of it comes last.
static int multiplied(pb_writer* w, int x, int axis, int by) {
  pb_flat_type type = pb__write_type(w, x);
  int64_t last = pb__write_type(w, by).shape[1];
  const char* text =
      pb_printf(&w->d->m.program->arena,
                "#stablehlo.dot<lhs_contracting_dimensions = [%d], rhs_contracting_dimensions = [0]>", axis);
  pb_flat_attr dims = pb__write_text("dot_dimension_numbers", text);
  for (int r = axis; r + 1 < type.rank; ++r) type.shape[r] = type.shape[r + 1];
  type.shape[type.rank - 1] = last;
  return pb__write(w, "stablehlo.dot_general", type, 2, (const int[]){x, by}, 1, &dims);
}

static int reshaped(pb_writer* w, int x, pb_flat_type type) {
  return pb__write(w, "stablehlo.reshape", type, 1, &x, 0, NULL);
}

static int part_of(pb_writer* w, const char* name, int x) {
  pb_flat_type type = pb__write_type(w, x);
  type.is_complex = false;
  return pb__write(w, name, type, 1, &x, 0, NULL);
}

static int complex_of(pb_writer* w, int re, int im) {
  pb_flat_type type = pb__write_type(w, re);
  type.is_complex = true;
  return pb__write(w, "stablehlo.complex", type, 2, (const int[]){re, im}, 0, NULL);
}

// The matrix along two dims of what is shaped as x is, all others alike.
static int spread(pb_writer* w, int by, int x, int rows, int columns) {
  int64_t along[] = {rows, columns};
  pb_flat_type type = pb__write_type(w, x);
  pb_flat_attr dims = pb__write_ints(w, "broadcast_dimensions", 2, along);
  return pb__write(w, "stablehlo.broadcast_in_dim", type, 1, &by, 1, &dims);
}

// ---- by passes ----

enum { LEAST_OF_PASSES = 4, LEAST_TURNED = 16 }; // shortest dims: as they lie, and where others turn round

static pb_waves waves_of(const pb_writer* w, int x) {
  pb_door_value v = pb__door_get(w->d, x);
  return (pb_waves){v.value, v.imaginary, false};
}

// The same dim, with all in front of it and all behind it as one each.
static pb_flat_type by_three(pb_flat_type type, int axis) {
  const int64_t shape[] = {pb_flat_elements(&type, 0, axis), type.shape[axis],
                           pb_flat_elements(&type, axis + 1, type.rank)};
  return pb__write_shaped(type, 3, shape);
}

// The transform of the dim of complex numbers, where it is.
static int by_passes(pb_writer* w, int x, int axis, pb_transform t) {
  pb_flat_type type = pb__write_type(w, x), flat = by_three(type, axis);
  flat.is_complex = true;
  t.before = flat.shape[0], t.length = flat.shape[1], t.behind = flat.shape[2];
  pb_flat_type in = flat;
  in.is_complex = type.is_complex;
  x = reshaped(w, x, in);
  if (w->status != PB_OK) return x;
  pb_waves y = pb__door_new_waves(w->d, type.type, &t, false);
  pb__door_butterflies(w->d, &t, waves_of(w, x), y);
  type.is_complex = true;
  return reshaped(w, pb__write_given(w, flat, (pb_door_value){y.re, y.im}), type);
}

// Dim `from` comes to be dim `to`, the others keep their order.
static int moved(pb_writer* w, int x, int from, int to) {
  int64_t order[PB_FLAT_RANK];
  int rank = pb__write_type(w, x).rank;
  for (int r = 0, k = 0; r < rank; ++r) {
    k += k == from;
    order[r] = r == to ? from : k++;
  }
  return from == to ? x : pb__write_transposed(w, x, order);
}

// ---- lines as lanes ----

// Lines as they lie for passes: so many in a block, all elements of which lie together, the last ones of zeros.
typedef struct lanes {
  int64_t lines, block, blocks;
} lanes;

static int64_t filled(int64_t count) { return (count + PB_WAVES_LANES - 1) / PB_WAVES_LANES * PB_WAVES_LANES; }

static lanes lanes_for(int64_t lines, int64_t n) {
  enum { LARGE = 1 << 16, OF_LARGE = 2 * PB_WAVES_LANES }; // elements that a near cache holds of two passes
  int64_t block = filled(lines);
  if (block * n > LARGE && block > OF_LARGE) block = OF_LARGE;
  return (lanes){lines, block, (lines + block - 1) / block};
}

static int padded(pb_writer* w, int x, int axis, int64_t extent) {
  pb_flat_type type = pb__write_type(w, x);
  int64_t none[PB_FLAT_RANK] = {0}, high[PB_FLAT_RANK] = {0};
  high[axis] = extent - type.shape[axis];
  if (!high[axis]) return x;
  int zero = pb__write_number(w, pb__write_shaped(type, 0, NULL), 0);
  type.shape[axis] = extent;
  const pb_flat_attr attrs[] = {pb__write_ints(w, "edge_padding_low", type.rank, none),
                                pb__write_ints(w, "edge_padding_high", type.rank, high),
                                pb__write_ints(w, "interior_padding", type.rank, none)};
  return pb__write(w, "stablehlo.pad", type, 2, (const int[]){x, zero}, 3, attrs);
}

// The last dim of all lines, [.., n], as [blocks, n, block], and back with the lines' dims as `type` has them.
static int as_lanes(pb_writer* w, int x, lanes l) {
  pb_flat_type type = pb__write_type(w, x);
  int64_t n = type.shape[type.rank - 1];
  x = padded(w, reshaped(w, x, pb__write_shaped(type, 2, (const int64_t[]){l.lines, n})), 0, l.blocks * l.block);
  x = reshaped(w, x, pb__write_shaped(type, 3, (const int64_t[]){l.blocks, l.block, n}));
  return pb__write_transposed(w, x, (const int64_t[]){0, 2, 1});
}

static int as_lines(pb_writer* w, int x, lanes l, pb_flat_type like) {
  pb_flat_type type = pb__write_type(w, x);
  int64_t n = type.shape[1];
  like.is_complex = type.is_complex;
  like.shape[like.rank - 1] = n;
  x = pb__write_transposed(w, x, (const int64_t[]){0, 2, 1});
  x = reshaped(w, x, pb__write_shaped(type, 2, (const int64_t[]){l.blocks * l.block, n}));
  return reshaped(w, pb__write_rows(w, x, 0, 0, l.lines), like);
}

// A dim with enough behind it: where several passes go through it, to whole rows of lanes.
static int in_columns(pb_writer* w, int x, int axis, pb_transform t) {
  pb_flat_type type = pb__write_type(w, x), three = by_three(type, axis);
  int64_t behind = three.shape[2];
  if (type.shape[axis] < LEAST_TURNED || behind == filled(behind)) return by_passes(w, x, axis, t);
  x = by_passes(w, padded(w, reshaped(w, x, three), 2, filled(behind)), 1, t);
  type.is_complex = true;
  return reshaped(w, pb__write_rows(w, x, 2, 0, behind), type);
}

// Of few long signals: the dim as two, of which the first has the second's elements behind it, and then the other way
// round. 0: there are no two such.
static int64_t first_of_two(const pb_door* d, int64_t n) {
  int64_t best = 0;
  for (int64_t k = PB_WAVES_LANES; k * k <= n; ++k)
    if (n % k == 0 && pb__door_has_butterflies(d, k) && pb__door_has_butterflies(d, n / k)) best = k;
  return best;
}

static int in_two_steps(pb_writer* w, int x, int64_t first, pb_transform t) {
  pb_flat_type type = pb__write_type(w, x);
  int64_t n = type.shape[type.rank - 1], lines = pb_flat_elements(&type, 0, type.rank - 1);
  x = reshaped(w, x, pb__write_shaped(type, 3, (const int64_t[]){lines, first, n / first}));
  pb_transform one = t;
  one.scale = 1;
  one.turned = n;
  x = pb__write_transposed(w, by_passes(w, x, 1, one), (const int64_t[]){0, 2, 1});
  x = by_passes(w, x, 1, t);
  type.is_complex = true;
  return reshaped(w, x, type);
}

// Whether the dim goes by passes, and does; the values may be real ones.
static bool has_passes(pb_writer* w, int x, int axis) {
  pb_flat_type type = pb__write_type(w, x);
  int64_t n = type.shape[axis], behind = pb_flat_elements(&type, axis + 1, type.rank);
  if (!pb__door_has_butterflies(w->d, n)) return false;
  if (behind >= PB_WAVES_LANES) return n >= LEAST_OF_PASSES;
  if (pb_flat_elements(&type, 0, axis) * behind >= PB_WAVES_LANES) return n >= LEAST_TURNED;
  return first_of_two(w->d, n) > 0;
}

static int taken_by_passes(pb_writer* w, int x, int axis, bool inverse, double scale) {
  pb_flat_type type = pb__write_type(w, x);
  pb_transform t = {.inverse = inverse, .scale = scale};
  int64_t behind = pb_flat_elements(&type, axis + 1, type.rank);
  if (behind >= PB_WAVES_LANES) return in_columns(w, x, axis, t);
  int last = type.rank - 1;
  if (pb_flat_elements(&type, 0, axis) * behind >= PB_WAVES_LANES) {
    pb_flat_type like = pb__write_type(w, x = moved(w, x, axis, last));
    lanes l = lanes_for(pb_flat_elements(&like, 0, last), type.shape[axis]);
    return moved(w, as_lines(w, by_passes(w, as_lanes(w, x, l), 1, t), l, like), last, axis);
  }
  return moved(w, in_two_steps(w, moved(w, x, axis, last), first_of_two(w->d, type.shape[axis]), t), last, axis);
}

// ---- by products ----

// The largest factor up to the root; 1 of a prime.
static int64_t lesser_factor(int64_t n) {
  int64_t best = 1;
  for (int64_t k = 2; k * k <= n; ++k)
    if (n % k == 0) best = k;
  return best;
}

static int64_t largest_prime(int64_t n) {
  int64_t largest = 1;
  for (int64_t k = 2; k * k <= n; ++k)
    for (; n % k == 0; n /= k) largest = k;
  return n > 1 ? n : largest;
}

// Of complex numbers, times the scale. The dim goes, and its transform comes last.
static int transformed(pb_writer* w, int x, int axis, bool inverse, double scale) {
  pb_flat_type type = pb__write_type(w, x), split = type;
  int64_t n = type.shape[axis], first = lesser_factor(n), second = n / first, order[PB_FLAT_RANK];
  int rank = type.rank;
  if (n <= MOST_DIRECT || first == 1 || rank == PB_FLAT_RANK)
    return multiplied(w, x, axis, matrix(w, (wave){n, n, n, 0, scale, inverse, false}, type.type, WHOLE));
  memmove(split.shape + axis + 1, split.shape + axis, sizeof *split.shape * (size_t)(rank - axis));
  split.rank = rank + 1;
  split.shape[axis] = first;
  split.shape[axis + 1] = second;
  x = transformed(w, reshaped(w, x, split), axis, inverse, 1);
  int turn = matrix(w, (wave){second, first, n, 0, scale, inverse, false}, type.type, WHOLE);
  x = pb__write_binary(w, "stablehlo.multiply", x, spread(w, turn, x, axis, rank));
  x = transformed(w, x, axis, inverse, 1);
  for (int r = 0; r <= rank; ++r) order[r] = r < rank - 1 ? r : r == rank ? rank - 1 : rank;
  x = pb__write_transposed(w, x, order);
  for (int r = axis; r + 1 < rank; ++r) type.shape[r] = type.shape[r + 1];
  type.shape[rank - 1] = n;
  return reshaped(w, x, type);
}

// The transform where the dim was.
static int along(pb_writer* w, int x, int axis, bool inverse, double scale) {
  if (has_passes(w, x, axis)) return taken_by_passes(w, x, axis, inverse, scale);
  int rank = pb__write_type(w, x).rank;
  int64_t order[PB_FLAT_RANK];
  x = transformed(w, x, axis, inverse, scale);
  for (int r = 0; r < rank; ++r) order[r] = r < axis ? r : r == axis ? rank - 1 : r - 1;
  return axis == rank - 1 ? x : pb__write_transposed(w, x, order);
}

// ---- real signals ----

static int last_of(pb_writer* w, int x) { return pb__write_type(w, x).rank - 1; }

// Element k of the last dim is the conjugate of the one as far from the end.
static int mirrored(pb_writer* w, int x) {
  int64_t last = last_of(w, x);
  pb_flat_attr dims = pb__write_ints(w, "dimensions", 1, &last);
  return pb__write_conjugate(w, pb__write(w, "stablehlo.reverse", pb__write_type(w, x), 1, &x, 1, &dims));
}

// (x + y) + factor (x - y), the factor of element k of the last dim e^(+-2 pi i (k + shift) / length).
static int brought_together(pb_writer* w, int x, int y, int64_t length, double shift, bool inverse) {
  pb_flat_type type = pb__write_type(w, x);
  int last = type.rank - 1;
  int64_t count = type.shape[last], at = last;
  // row 1 of a matrix: one row of it would be all of e^0
  int turns =
      pb__write_rows(w, matrix(w, (wave){2, count, length, shift, 1, inverse, false}, type.type, WHOLE), 0, 1, 2);
  pb_flat_type row = pb__write_type(w, turns);
  row.rank = 1;
  row.shape[0] = count;
  turns = reshaped(w, turns, row);
  pb_flat_attr dims = pb__write_ints(w, "broadcast_dimensions", 1, &at);
  turns = pb__write(w, "stablehlo.broadcast_in_dim", type, 1, &turns, 1, &dims);
  int apart = pb__write_binary(w, "stablehlo.subtract", x, y), both = pb__write_binary(w, "stablehlo.add", x, y);
  return pb__write_binary(w, "stablehlo.add", both, pb__write_binary(w, "stablehlo.multiply", apart, turns));
}

// Real numbers go by two passes where both factors of their length are short: the first has real numbers to multiply,
// the second makes the half that is wanted, and nothing is brought together behind it. Of many signals, which leave a
// near cache between the passes, half as many complex numbers are less.
static bool by_two(pb_flat_type type, int64_t n, int64_t* first, int64_t* second) {
  enum { LEAST = 4, MOST_ELEMENTS = 1 << 17 };
  int64_t elements = n;
  for (int r = 0; r + 1 < type.rank; ++r) elements *= type.shape[r];
  *first = lesser_factor(n);
  *second = n / *first;
  if (*second % 2) *first = *second, *second = n / *first;
  return n > MOST_DIRECT && n % 2 == 0 && type.rank < PB_FLAT_RANK && elements <= MOST_ELEMENTS && *first >= LEAST &&
         *second >= LEAST && *first <= MOST_DIRECT && *second <= MOST_DIRECT;
}

// The last dim as two.
static pb_flat_type split_last(pb_flat_type type, int64_t rows, int64_t columns) {
  type.shape[type.rank - 1] = rows;
  type.shape[type.rank++] = columns;
  return type;
}

// The last two dims change places and are one, which type is the last of.
static int merged(pb_writer* w, int x, pb_flat_type type) {
  int64_t order[PB_FLAT_RANK];
  int rank = pb__write_type(w, x).rank;
  for (int r = 0; r < rank; ++r) order[r] = r < rank - 2 ? r : r == rank - 2 ? rank - 1 : rank - 2;
  return reshaped(w, pb__write_transposed(w, x, order), type);
}

// Number a * second + b of the signal, and p + first * q of the spectrum.
static int half_by_two(pb_writer* w, int x, int64_t n, int64_t first, int64_t second) {
  pb_flat_type type = pb__write_type(w, x);
  int last = type.rank - 1, parts[2];
  int64_t half = second / 2 + 1;
  x = reshaped(w, x, split_last(type, first, second));
  for (int k = 0; k < 2; ++k)
    parts[k] = multiplied(w, x, last,
                          matrix(w, (wave){first, first, first, 0, 1, false, false}, type.type, k ? IMAGINARY : REAL));
  x = complex_of(w, parts[0], parts[1]);
  int turn = matrix(w, (wave){second, first, n, 0, 1, false, false}, type.type, WHOLE);
  x = pb__write_binary(w, "stablehlo.multiply", x, spread(w, turn, x, last, last + 1));
  x = multiplied(w, x, last, matrix(w, (wave){second, half, second, 0, 1, false, false}, type.type, WHOLE));
  type.is_complex = true;
  type.shape[last] = half * first;
  return pb__write_rows(w, merged(w, x, type), last, 0, n / 2 + 1);
}

// One number, so often along the last dim of what is shaped as the type is otherwise.
static int numbers(pb_writer* w, pb_flat_type type, int64_t count, double number) {
  type.shape[type.rank - 1] = count;
  return pb__write_number(w, type, number);
}

// Each number but the ends stands for its conjugate, too; of the ends the imaginary parts count for nothing. Behind
// them zeros, up to `count`.
static int doubled(pb_writer* w, int x, int64_t n, int64_t count) {
  int last = last_of(w, x), parts[2];
  for (int k = 0; k < 2; ++k) {
    int part = part_of(w, k ? "stablehlo.imag" : "stablehlo.real", x);
    pb_flat_type type = pb__write_type(w, part);
    int inner = pb__write_rows(w, part, last, 1, n / 2), twice = numbers(w, type, n / 2 - 1, 2 / (double)n);
    inner = pb__write_binary(w, "stablehlo.multiply", inner, twice);
    int end[2] = {pb__write_rows(w, part, last, 0, 1), pb__write_rows(w, part, last, n / 2, n / 2 + 1)};
    for (int e = 0; e < 2; ++e)
      end[e] = k ? numbers(w, type, 1, 0)
                 : pb__write_binary(w, "stablehlo.multiply", end[e], numbers(w, type, 1, 1 / (double)n));
    int behind = numbers(w, type, count - n / 2 - 1, 0);
    parts[k] = pb__write_joined(w, last, 4, (const int[]){end[0], inner, end[1], behind});
  }
  return complex_of(w, parts[0], parts[1]);
}

static int of_half_by_two(pb_writer* w, int x, int64_t n, int64_t first, int64_t second) {
  int last = last_of(w, x), parts[2];
  int64_t half = second / 2 + 1;
  x = doubled(w, x, n, half * first);
  pb_flat_type type = pb__write_type(w, x);
  x = reshaped(w, x, split_last(type, half, first));
  x = multiplied(w, x, last, matrix(w, (wave){half, second, second, 0, 1, true, false}, type.type, WHOLE));
  int turn = matrix(w, (wave){first, second, n, 0, 1, true, false}, type.type, WHOLE);
  x = pb__write_binary(w, "stablehlo.multiply", x, spread(w, turn, x, last, last + 1));
  for (int k = 0; k < 2; ++k) {
    int part = part_of(w, k ? "stablehlo.imag" : "stablehlo.real", x);
    wave m = {first, first, first, 0, 1, true, false};
    parts[k] = multiplied(w, part, last, matrix(w, m, type.type, k ? IMAGINARY : REAL));
  }
  type.is_complex = false;
  type.shape[last] = n;
  return merged(w, pb__write_binary(w, "stablehlo.subtract", parts[0], parts[1]), type);
}

// Whether real numbers of this length beside so many others go by passes over pairs of them.
static bool has_pairs(const pb_writer* w, const pb_flat_type* type, int64_t n) {
  bool fits = n % 2 == 0 && n >= LEAST_TURNED && pb__door_has_butterflies(w->d, n / 2);
  return fits && pb_flat_elements(type, 0, type->rank - 1) >= PB_WAVES_LANES;
}

static int half_of_pairs(pb_writer* w, int x, int64_t n) {
  pb_flat_type type = pb__write_type(w, x), made = type;
  lanes l = lanes_for(pb_flat_elements(&type, 0, type.rank - 1), n);
  pb_transform t = {l.blocks, n / 2, l.block, false, 1, 0}, more = t;
  ++more.length;
  x = as_lanes(w, x, l);
  x = reshaped(w, x, pb__write_shaped(type, 4, (const int64_t[]){t.before, t.length, 2, t.behind}));
  if (w->status != PB_OK) return x;
  pb_waves z = pb__door_new_waves(w->d, type.type, &t, false), y = pb__door_new_waves(w->d, type.type, &more, false);
  pb__door_butterflies(w->d, &t, (pb_waves){waves_of(w, x).re, -1, true}, z);
  pb__door_halves_of_pairs(w->d, &t, z, y);
  made.is_complex = true;
  made = pb__write_shaped(made, 3, (const int64_t[]){more.before, more.length, more.behind});
  return as_lines(w, pb__write_given(w, made, (pb_door_value){y.re, y.im}), l, type);
}

static int of_halves_of_pairs(pb_writer* w, int x, int64_t n) {
  pb_flat_type type = pb__write_type(w, x), made = type;
  lanes l = lanes_for(pb_flat_elements(&type, 0, type.rank - 1), n);
  pb_transform t = {l.blocks, n / 2, l.block, true, 1, 0};
  x = as_lanes(w, x, l);
  if (w->status != PB_OK) return x;
  pb_waves z = pb__door_new_waves(w->d, type.type, &t, false), y = pb__door_new_waves(w->d, type.type, &t, true);
  pb__door_pairs_of_halves(w->d, &t, waves_of(w, x), z);
  pb__door_butterflies(w->d, &t, z, y);
  made.is_complex = false;
  made = pb__write_shaped(made, 4, (const int64_t[]){t.before, t.length, 2, t.behind});
  int lines = pb__write_given(w, made, (pb_door_value){y.re, -1});
  return as_lines(w, reshaped(w, lines, pb__write_shaped(made, 3, (const int64_t[]){t.before, n, t.behind})), l, type);
}

// The first half of the spectrum of real numbers: pairs of neighbours are complex numbers, whose spectrum is that of
// the even ones and i times that of the odd ones.
static int half_spectrum(pb_writer* w, int x, int64_t n) {
  pb_flat_type type = pb__write_type(w, x), pairs = type, line = type;
  int last = type.rank - 1, parts[2];
  int64_t first, second;
  if (has_pairs(w, &type, n)) return half_of_pairs(w, x, n);
  if (n % 2 && n > LEAST_TURNED && has_passes(w, x, last))
    return pb__write_rows(w, taken_by_passes(w, x, last, false, 1), last, 0, n / 2 + 1);
  if (by_two(type, n, &first, &second)) return half_by_two(w, x, n, first, second);
  if (n % 2 || n < LEAST_PACKED || type.rank == PB_FLAT_RANK) {
    wave m = {n, n / 2 + 1, n, 0, 1, false, false};
    for (int k = 0; k < 2; ++k) parts[k] = multiplied(w, x, last, matrix(w, m, type.type, k ? IMAGINARY : REAL));
    return complex_of(w, parts[0], parts[1]);
  }
  pairs.rank = last + 2;
  pairs.shape[last] = line.shape[last] = n / 2;
  pairs.shape[last + 1] = 2;
  x = reshaped(w, x, pairs);
  for (int k = 0; k < 2; ++k) parts[k] = reshaped(w, pb__write_rows(w, x, last + 1, k, k + 1), line);
  x = along(w, complex_of(w, parts[0], parts[1]), last, false, 0.5);
  x = pb__write_joined(w, last, 2, (const int[]){x, pb__write_rows(w, x, last, 0, 1)});
  return brought_together(w, x, mirrored(w, x), n, (double)n / 4, false); // -i: a quarter of a turn
}

// The imaginary parts of the first and the last number count for nothing.
static int real_at_ends(pb_writer* w, int x) {
  int re = part_of(w, "stablehlo.real", x), im = part_of(w, "stablehlo.imag", x), last = last_of(w, x);
  pb_flat_type type = pb__write_type(w, im);
  int64_t count = type.shape[last];
  int none = numbers(w, type, 1, 0);
  im = pb__write_joined(w, last, 3, (const int[]){none, pb__write_rows(w, im, last, 1, count - 1), none});
  return complex_of(w, re, im);
}

// Real numbers of the first half of their spectrum: the same way back.
static int of_half_spectrum(pb_writer* w, int x, int64_t n) {
  pb_flat_type type = pb__write_type(w, x);
  int last = type.rank - 1, parts[2];
  int64_t first, second;
  if (has_pairs(w, &type, n)) return of_halves_of_pairs(w, x, n);
  if (by_two(type, n, &first, &second)) return of_half_by_two(w, x, n, first, second);
  if (n % 2 || n < LEAST_PACKED || type.rank == PB_FLAT_RANK) {
    wave m = {n / 2 + 1, n, n, 0, 1 / (double)n, true, true};
    for (int k = 0; k < 2; ++k) {
      int part = part_of(w, k ? "stablehlo.imag" : "stablehlo.real", x);
      parts[k] = multiplied(w, part, last, matrix(w, m, type.type, k ? IMAGINARY : REAL));
    }
    return pb__write_binary(w, "stablehlo.subtract", parts[0], parts[1]);
  }
  x = real_at_ends(w, x);
  int other = pb__write_rows(w, mirrored(w, x), last, 0, n / 2);
  x = brought_together(w, pb__write_rows(w, x, last, 0, n / 2), other, n, (double)n / 4, true); // i
  x = along(w, x, last, true, 1 / (double)n);
  pb_flat_type column = pb__write_type(w, x), whole;
  column.is_complex = false;
  whole = column;
  column.rank = last + 2;
  column.shape[last + 1] = 1;
  for (int k = 0; k < 2; ++k) parts[k] = reshaped(w, part_of(w, k ? "stablehlo.imag" : "stablehlo.real", x), column);
  whole.shape[last] = n;
  return reshaped(w, pb__write_joined(w, last + 1, 2, parts), whole);
}

// ---- the operator ----

pb_status pb__door_fft(pb_door* d, const pb_flat_op* op) {
  const pb_flat_type in = *pb__door_type(d, op->operands[0]);
  bool to_half = pb__door_says(op, "fft_type", "RFFT"), from_half = pb__door_says(op, "fft_type", "IRFFT");
  bool inverse = from_half || pb__door_says(op, "fft_type", "IFFT");
  const pb_flat_attr* length = pb_flat_find(op, "fft_length");
  int axes = length->ints ? length->count : 0;
  bool fits =
      axes >= 1 && axes <= 3 && axes <= in.rank && in.is_complex != to_half && (in.type == PB_F32 || in.type == PB_F64);
  for (int k = 0; fits && k < axes; ++k) {
    int64_t n = length->ints[k], extent = in.shape[in.rank - axes + k];
    bool is_half = from_half && k == axes - 1;
    fits = n >= 1 && n <= MOST_LENGTH && largest_prime(n) <= MOST_PRIME && extent == (is_half ? n / 2 + 1 : n);
    if (fits && n % 2 && (is_half || (to_half && k == axes - 1))) fits = n <= MOST_PRIME; // a matrix of them all
  }
  if (!fits)
    return pb__door_refuse(d, op, "lengths that do not fit, of a prime past %d, or of more than %d", MOST_PRIME,
                           MOST_LENGTH);
  const char* name = d->name;
  if (!name) d->name = pb_printf(&d->m.program->arena, "fft:%d", op->line); // whatever it is written out in
  pb_writer w = pb__write_start(d, op);
  int64_t n = length->ints[axes - 1];
  int x = op->operands[0];
  if (to_half) x = half_spectrum(&w, x, n);
  for (int k = 0; k < axes; ++k) {
    if ((to_half || from_half) && k == axes - 1) continue;
    x = along(&w, x, in.rank - axes + k, inverse, inverse ? 1 / (double)length->ints[k] : 1);
  }
  if (from_half) x = of_half_spectrum(&w, x, n);
  d->name = name;
  pb__write_result(&w, 0, x);
  return pb__write_end(&w);
}
