// Formats of numbers as their bits, lane by lane and without branches, so that compilers make vectors of them.
#ifndef PB_GRID_MACHINE_NUMBER_H
#define PB_GRID_MACHINE_NUMBER_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline float grid__float_of_bits(uint32_t u) {
  float f;
  memcpy(&f, &u, 4);
  return f;
}
static inline uint32_t grid__bits_of_float(float f) {
  uint32_t u;
  memcpy(&u, &f, 4);
  return u;
}
static inline double grid__double_of_bits(uint64_t u) {
  double f;
  memcpy(&f, &u, 8);
  return f;
}
static inline uint64_t grid__bits_of_double(double f) {
  uint64_t u;
  memcpy(&u, &f, 8);
  return u;
}

// The one NaN that single-precision instructions give (0x7fffffff).
static inline float grid__canonical(float f) { return f != f ? grid__float_of_bits(0x7fffffff) : f; }
static inline float grid__flush(float f) { return fabsf(f) < 0x1p-126f ? copysignf(0.0f, f) : f; }

// f16: exact to f32. A subnormal's value is its bits times 2^-24, a normal's bits moved by 13 want 2^112.
static inline float grid__half(uint16_t h) {
  uint32_t magnitude = (uint32_t)(h & 0x7fff) << 13;
  uint32_t special = grid__bits_of_float(grid__float_of_bits(magnitude) * 0x1p112f);
  uint32_t bits = magnitude >= 0x0f800000 ? magnitude | 0x7f800000 : special;
  return grid__float_of_bits(bits | (uint32_t)(h & 0x8000) << 16);
}
// To nearest, ties to even; NaN is 0x7fff.
static inline uint16_t grid__half_of(float f) {
  uint32_t u = grid__bits_of_float(f), sign = u >> 16 & 0x8000, m = u & 0x7fffffff;
  // below 2^-14: adding 2^-1 leaves the subnormal's bits, rounded, at the low end
  uint32_t small = grid__bits_of_float(grid__float_of_bits(m) + 0.5f) - 0x3f000000;
  uint32_t normal = (m + 0xc8000fff + (m >> 13 & 1)) >> 13;
  uint32_t bits = m < 0x38800000 ? small : normal;
  bits = m >= 0x477ff000 ? 0x7c00 : bits;
  return m > 0x7f800000 ? 0x7fff : (uint16_t)(bits | sign);
}
static inline float grid__bfloat(uint16_t h) { return grid__float_of_bits((uint32_t)h << 16); }
static inline uint16_t grid__bfloat_of(float f) {
  uint32_t u = grid__bits_of_float(f);
  uint32_t bits = (u + 0x7fff + (u >> 16 & 1)) >> 16;
  return (u & 0x7fffffff) > 0x7f800000 ? 0x7fff : (uint16_t)bits;
}

// x * y + z with the rounding to odd of its exact value at 53 bits, which a second rounding to fewer does not notice.
// x * y is exact in f64 for all factors of at most 26 bits.
static inline double grid__odd_fma(double x, double y, double z) {
  double p = x * y, s = p + z;
  double back = s - p, error = (p - (s - back)) + (z - back);
  uint64_t bits = grid__bits_of_double(s);
  bool exact = error == 0 || s - s != 0;                           // infinities and NaN stay
  uint64_t toward = (error < 0) != !!signbit(s) ? bits - 1 : bits; // truncated
  return grid__double_of_bits(exact ? bits : toward | 1);
}

// The same of an f64 at the 24 bits of f32.
static inline float grid__odd_float(double s) {
  float f = (float)s;
  double error = s - (double)f;
  uint32_t bits = grid__bits_of_float(f);
  bool exact = error == 0 || f - f != 0;
  uint32_t toward = (error < 0) != !!signbit(f) ? bits - 1 : bits;
  return grid__float_of_bits(exact ? bits : toward | 1);
}

typedef enum grid_format {
  GRID_U8,
  GRID_S8,
  GRID_U16,
  GRID_S16,
  GRID_U32,
  GRID_S32,
  GRID_U64,
  GRID_S64,
  GRID_F16,
  GRID_BF16,
  GRID_TF32,
  GRID_F32,
  GRID_F64,
  GRID_E4M3,
  GRID_E5M2
} grid_format;

enum { GRID_SATURATE = 1, GRID_FLUSH = 2, GRID_RELU = 4, GRID_INTEGRAL = 8 };

// The bits of `value`, a number of format `from`, in format `to`: rounded once by `round` (grid_round). GRID_INTEGRAL
// rounds to a whole number of the same format. number.c
uint64_t grid__convert(uint64_t value, grid_format from, grid_format to, int round, int flags);
// A number in a float of fewer bits; long double holds those of 64 bits, too.
uint64_t grid__narrow(long double value, grid_format to, int round, bool saturate);
int grid__format_bytes(grid_format format);

#endif
