// Fourier transforms, by passes where the target's code goes through them and else as products by matrices of cosines
// and sines, and what belongs to them.
#include "core/frontend/onnx/rows.h"
#include "core/frontend/stablehlo/operators/butterflies.h"

#include <math.h>
#include <string.h>

#define IN(k) pb__o_in(o, k)

enum { MOST_OF_MATRIX = 1 << 24 };

static const double tau = 6.283185307179586476925286766559;

// [rows, columns] of f(tau * row * column / length) by `weight` of a row; quarter: a sine.
static int waves(pb_onnx* o, pb_type type, int64_t rows, int64_t columns, int64_t length, bool sine,
                 const double* weight) {
  double* values = PB_NEW_ARRAY(&o->arena, double, (size_t)(rows * columns));
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < columns; ++c) {
      double turn = tau * (double)(r * c % length) / (double)length;
      values[r * columns + c] = (sine ? sin(turn) : cos(turn)) * (weight ? weight[r] : 1);
    }
  return pb__o_array(o, type, 2, (const int64_t[]){rows, columns}, values);
}

// So many along the axis: the first ones, zeros behind them.
static int of_length(pb_onnx* o, int x, int axis, int64_t length) {
  const pb_flat_type in = *pb__o_type(o, x);
  int64_t none[PB_FLAT_RANK] = {0}, high[PB_FLAT_RANK] = {0};
  high[axis] = length - in.shape[axis];
  if (high[axis] < 0) return pb__o_part(o, x, axis, 0, length);
  return pb__o_pad(o, x, pb__o_like(o, x, 0), none, high, NULL);
}

static int product(pb_onnx* o, int x, int matrix) { return pb__o_matmul(o, x, matrix, pb__o_type(o, matrix)->type); }

// Both parts of the result, -1: it is real.
typedef struct parts {
  int re, im;
} parts;

static bool has_passes(const pb_onnx* o, int x, int64_t length) {
  pb_type type = pb__o_type(o, x)->type;
  return (type == PB_F32 || type == PB_F64) && pb__door_has_butterflies(&o->door, length);
}

static parts by_passes(pb_onnx* o, int x, int imaginary, int64_t length, bool inverse, bool onesided) {
  const pb_flat_type in = *pb__o_type(o, x);
  parts made = {.im = imaginary};
  bool to_half = !inverse && onesided && imaginary < 0;
  if (imaginary < 0 && !to_half) made.im = pb__o_expand(o, pb__o_like(o, x, 0), in.rank, in.shape);
  const char* how = to_half ? "RFFT" : !inverse ? "FFT" : onesided ? "IRFFT" : "IFFT";
  pb__o_fourier(o, how, length, x, &made.re, &made.im);
  if (to_half || inverse || !onesided) return made;
  made.re = pb__o_part(o, made.re, in.rank - 1, 0, length / 2 + 1);
  made.im = pb__o_part(o, made.im, in.rank - 1, 0, length / 2 + 1);
  return made;
}

static parts by_products(pb_onnx* o, int x, int imaginary, int64_t rows, int64_t columns, int64_t length, bool inverse,
                         bool onesided) {
  const pb_type type = pb__o_type(o, x)->type;
  double* weight = PB_NEW_ARRAY(&o->arena, double, (size_t)rows);
  for (int64_t r = 0; r < rows; ++r) { // a one-sided spectrum has each but the ends for two
    bool end = !r || 2 * r == length;
    weight[r] = !inverse ? 1 : (onesided && !end ? 2.0 : 1.0) / (double)length;
  }
  int c = waves(o, type, rows, columns, length, false, weight), s = waves(o, type, rows, columns, length, true, weight);
  int real = product(o, x, c), im = product(o, x, s);
  if (!inverse) im = pb__o_unary(o, "negate", im);
  if (imaginary >= 0) {
    int sines = product(o, imaginary, s);
    real = inverse ? pb__o_sub(o, real, sines) : pb__o_add(o, real, sines);
    im = pb__o_add(o, im, product(o, imaginary, c));
  }
  return (parts){real, im};
}

// x: real numbers [..., n], or with `imaginary` >= 0 complex ones; the result has 2 in a last dim more, or 1 where it
// is real.
static int transformed(pb_onnx* o, int x, int imaginary, int64_t length, bool inverse, bool onesided) {
  const int rank = pb__o_type(o, x)->rank;
  int64_t half = length / 2 + 1, columns = onesided && !inverse ? half : length, shape[PB_FLAT_RANK + 1];
  int64_t rows = onesided && inverse ? half : length;
  bool passes = has_passes(o, x, length);
  if (!passes && columns * rows > MOST_OF_MATRIX) pb__o_refuse(o, "a transform of %lld numbers", (long long)length);
  if (pb__o_bad(o)) return x;
  x = of_length(o, x, rank - 1, rows);
  if (imaginary >= 0) imaginary = of_length(o, imaginary, rank - 1, rows);
  parts y = passes ? by_passes(o, x, imaginary, length, inverse, onesided)
                   : by_products(o, x, imaginary, rows, columns, length, inverse, onesided);
  memcpy(shape, pb__o_type(o, y.re)->shape, sizeof(int64_t) * PB_FLAT_RANK);
  shape[rank] = 1;
  y.re = pb__o_reshape(o, y.re, rank + 1, shape);
  if (inverse && onesided) return y.re;
  return pb__o_join(o, 2, (const int[]){y.re, pb__o_reshape(o, y.im, rank + 1, shape)}, rank);
}

// A constant number; `missing` where the operand is left out.
static int64_t number_at(pb_onnx* o, int k, int64_t missing) {
  int64_t value = missing;
  if (pb__o_has(o, k) && pb__o_list(o, NULL, k, 1, &value) != 1) pb__o_refuse(o, "operand %d that is no number", k);
  return value;
}

// The axis came as an attribute before opset 20.
void pb__o_op_dft(pb_onnx* o) {
  int x = IN(0);
  const pb_flat_type in = *pb__o_type(o, x);
  bool inverse = pb__o_int(o, "inverse", 0), onesided = pb__o_int(o, "onesided", 0), later = pb__o_opset(o) >= 20;
  int axis = pb__o_axis(o, later ? number_at(o, 2, -2) : pb__o_int(o, "axis", 1), in.rank);
  if (in.rank < 2 || axis == in.rank - 1 || in.shape[in.rank - 1] > 2 || !pb_type_is_float(in.type))
    pb__o_refuse(o, "other than real or complex numbers in the last dim");
  if (pb__o_bad(o)) return;
  int64_t whole = inverse && onesided ? 2 * (in.shape[axis] - 1) : in.shape[axis], length = number_at(o, 1, whole);
  if (length < 1 || length > MOST_OF_MATRIX) pb__o_refuse(o, "a length of %lld", (long long)length);
  if (pb__o_bad(o)) return;
  int parts[2] = {-1, -1}, last = in.rank - 1;
  for (int64_t k = 0; k < in.shape[last]; ++k) {
    int64_t shape[PB_FLAT_RANK];
    memcpy(shape, in.shape, sizeof shape);
    parts[k] = pb__o_reshape(o, pb__o_part(o, x, last, k, k + 1), last, shape);
    parts[k] = pb__o_moved(o, parts[k], axis, last - 1);
  }
  int y = transformed(o, parts[0], parts[1], length, inverse, onesided);
  if (!pb__o_bad(o)) pb__o_out(o, 0, pb__o_moved(o, y, last - 1, axis));
}

// Frames of the signal, each by the window, transformed.
void pb__o_op_stft(pb_onnx* o) {
  int x = IN(0);
  const pb_flat_type in = *pb__o_type(o, x);
  int64_t step = number_at(o, 1, 0), length = pb__o_has(o, 2) ? pb__o_elements(o, IN(2)) : -1;
  length = number_at(o, 3, length);
  if ((in.rank != 2 && in.rank != 3) || (in.rank == 3 && in.shape[2] > 2) || !pb_type_is_float(in.type))
    pb__o_refuse(o, "other than a batch of real or complex signals");
  if (step < 1 || length < 1 || length > in.shape[1]) pb__o_refuse(o, "frames that do not fit");
  if (pb__o_has(o, 2) && pb__o_elements(o, IN(2)) != length) pb__o_refuse(o, "a window of another length than frames");
  if (pb__o_bad(o)) return;
  int64_t frames = 1 + (in.shape[1] - length) / step, kinds = in.rank == 3 ? in.shape[2] : 1;
  if (frames * length > MOST_OF_MATRIX) pb__o_refuse(o, "%lld frames", (long long)frames);
  if (pb__o_bad(o)) return;
  int64_t* places = PB_NEW_ARRAY(&o->arena, int64_t, (size_t)(frames * length));
  for (int64_t k = 0; k < frames * length; ++k) places[k] = k / length * step + k % length;
  int parts[2] = {-1, -1};
  for (int64_t k = 0; k < kinds; ++k) {
    int part = in.rank == 3 ? pb__o_part(o, x, 2, k, k + 1) : x;
    part = pb__o_take(o, pb__o_reshape(o, part, 2, in.shape), 1, frames * length, places);
    part = pb__o_reshape(o, part, 3, (const int64_t[]){in.shape[0], frames, length});
    parts[k] = pb__o_has(o, 2) ? pb__o_mul(o, part, IN(2)) : part;
  }
  pb__o_out(o, 0, transformed(o, parts[0], parts[1], length, false, pb__o_int(o, "onesided", 1) && kinds == 1));
}

static double mel_of(double hertz) { return 2595 * log10(1 + hertz / 700); }

// Triangles over the spectrum's lines, whose corners are equally far from each other in mel.
void pb__o_op_mel_weights(pb_onnx* o) {
  int64_t mels = number_at(o, 0, 0), length = number_at(o, 1, 0), rate = number_at(o, 2, 0);
  float edges[2] = {0, 0};
  bool is_unsigned;
  pb_type type = pb_onnx_type(pb__o_int(o, "output_datatype", 1), &is_unsigned);
  for (int k = 0, count = 0; k < 2; ++k)
    if (!pb__o_reals(o, 3 + k, 1, &edges[k], &count) || count != 1)
      pb__o_refuse(o, "operand %d that is no constant f32", 3 + k);
  if (mels < 1 || length < 1 || rate < 1 || mels > MOST_OF_MATRIX || length > MOST_OF_MATRIX ||
      mels * (length / 2 + 1) > MOST_OF_MATRIX || !pb_type_is_float(type))
    pb__o_refuse(o, "sizes that make no sense");
  if (pb__o_bad(o)) return;
  int64_t lines = length / 2 + 1, *corner = PB_NEW_ARRAY(&o->arena, int64_t, (size_t)mels + 2);
  double low = mel_of(edges[0]), step = (mel_of(edges[1]) - low) / (double)(mels + 2);
  for (int64_t k = 0; k < mels + 2; ++k) {
    double hertz = 700 * (pow(10, ((double)k * step + low) / 2595) - 1);
    double at = floor((double)(length + 1) * hertz / (double)rate);
    if (!(at >= 0 && at < (double)lines)) pb__o_refuse(o, "edges outside the spectrum");
    corner[k] = pb__o_bad(o) ? 0 : (int64_t)at;
  }
  double* weights = PB_NEW_ARRAY(&o->arena, double, (size_t)(lines * mels));
  for (int64_t m = 0; m < mels && !pb__o_bad(o); ++m) {
    int64_t left = corner[m], centre = corner[m + 1], right = corner[m + 2];
    if (left == centre) weights[centre * mels + m] = 1;
    for (int64_t j = left; j <= centre && left < centre; ++j)
      weights[j * mels + m] = (double)(j - left) / (double)(centre - left);
    for (int64_t j = centre; j < right; ++j) weights[j * mels + m] = (double)(right - j) / (double)(right - centre);
  }
  if (!pb__o_bad(o)) pb__o_out(o, 0, pb__o_array(o, type, 2, (const int64_t[]){lines, mels}, weights));
}
