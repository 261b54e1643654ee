#include "tdl/function.h"

#include <assert.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

// x = 2^q * m with m in [1, 2) for recip and rsqrt; x = q + f with f in [0, 1) for exp2.
enum { MANTISSA_BITS = 23, EXP2_FRACTION_BITS = 26 };
enum { ENTRY_LIMIT = 2 << PB_FUNCTION_MAX_TABLE_BITS };

typedef enum kind { EXP2, RECIP, RSQRT, UNKNOWN } kind;

typedef struct coefficients {
  float c[PB_FUNCTION_MAX_DEGREE + 1];
} coefficients;

static kind kind_of(const char* name) {
  static const char* const names[] = {[EXP2] = "exp2", [RECIP] = "recip", [RSQRT] = "rsqrt"};
  for (int k = 0; k < UNKNOWN; ++k)
    if (strcmp(name, names[k]) == 0) return (kind)k;
  return UNKNOWN;
}

static int fraction_bits(kind k) { return k == EXP2 ? EXP2_FRACTION_BITS : MANTISSA_BITS; }
static uint32_t entries(kind k, int table_bits) { return (k == RSQRT ? 2u : 1u) << table_bits; }

// Only +, -, *, / and sqrt, which IEEE 754 fixes: the tables must not depend on a libm.
static double exact_exp2(double f) {
  double z = f * 0.69314718055994530942, term = 1, sum = 1;
  for (int n = 1; n < 30; ++n) {
    term = term * z / n;
    sum += term;
  }
  return sum;
}

static double exact(kind k, bool odd, double u) {
  switch (k) {
  case EXP2:
    return exact_exp2(u);
  case RECIP:
    return 1 / (1 + u);
  default:
    return 1 / sqrt(odd ? 2 * (1 + u) : 1 + u);
  }
}

// Interpolation at Chebyshev nodes is within a small factor of the minimax polynomial. Newton's divided differences,
// expanded to powers of the segment's integer argument.
static coefficients fit(kind k, int table_bits, int degree, uint32_t index) {
  static const double nodes[PB_FUNCTION_MAX_DEGREE][PB_FUNCTION_MAX_DEGREE + 1] = {
      {-0.70710678118654752, 0.70710678118654752},
      {-0.86602540378443865, 0, 0.86602540378443865},
      {-0.92387953251128674, -0.38268343236508977, 0.38268343236508977, 0.92387953251128674}};
  uint32_t segments = 1u << table_bits;
  bool odd = index >= segments;
  double start = (double)(index % segments) / segments, width = 1.0 / segments;
  double x[PB_FUNCTION_MAX_DEGREE + 1], d[PB_FUNCTION_MAX_DEGREE + 1], p[PB_FUNCTION_MAX_DEGREE + 1] = {0};
  for (int n = 0; n <= degree; ++n) {
    x[n] = width * 0.5 * (1 + nodes[degree - 1][n]);
    d[n] = exact(k, odd, start + x[n]);
  }
  for (int level = 1; level <= degree; ++level)
    for (int n = degree; n >= level; --n) d[n] = (d[n] - d[n - 1]) / (x[n] - x[n - level]);
  for (int n = degree; n >= 0; --n) { // p = p * (u - x[n]) + d[n]
    for (int m = degree; m > 0; --m) p[m] = p[m - 1] - p[m] * x[n];
    p[0] = d[n] - p[0] * x[n];
  }
  coefficients result;
  double step = 1.0 / (double)(1u << fraction_bits(k)), scale = 1;
  for (int n = 0; n <= degree; ++n, scale *= step) result.c[n] = (float)(p[n] * scale);
  return result;
}

static uint32_t bits_of(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

static float float_of(uint32_t bits) {
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

static const uint32_t quiet_nan = 0x7fc00000, infinity = 0x7f800000;

// An argument after range reduction: the value is +-2^q * segment(index, t), or `bits` when special.
typedef struct reduced {
  bool special;
  uint32_t bits, index, t, sign;
  int q;
} reduced;

static reduced special(uint32_t bits) { return (reduced){.special = true, .bits = bits}; }

// The argument in fixed point, truncated towards zero.
static reduced reduce_exp2(int table_bits, uint32_t x) {
  bool negative = x >> 31;
  int exponent = (int)(x >> 23 & 255) - 127, shift = exponent + EXP2_FRACTION_BITS - MANTISSA_BITS;
  if (exponent >= 8) return special(negative ? 0 : infinity);
  int32_t mantissa = (int32_t)((x & 0x7fffff) | 0x800000);
  int64_t magnitude = shift >= 0 ? (int64_t)mantissa << shift : shift > -24 ? mantissa >> -shift : 0;
  int64_t steps = negative ? -magnitude : magnitude;
  uint32_t fraction = (uint32_t)steps & ((1u << EXP2_FRACTION_BITS) - 1);
  int low = EXP2_FRACTION_BITS - table_bits, q = (int)((steps - fraction) / (1 << EXP2_FRACTION_BITS));
  if (q >= 128) return special(infinity);
  if (q < -150) return special(0); // below half the least subnormal
  return (reduced){.index = fraction >> low, .t = fraction & ((1u << low) - 1), .q = q};
}

// recip and rsqrt: the mantissa, normalised, and the exponent.
static reduced reduce_power(kind k, int table_bits, uint32_t x) {
  uint32_t sign = x & 0x80000000u, mantissa = x & 0x7fffff;
  int exponent = (int)(x >> 23 & 255);
  if ((x & 0x7fffffff) == 0) return special(sign | infinity);
  if (k == RSQRT && sign) return special(quiet_nan);
  if (exponent == 255) return special(sign);
  if (exponent == 0) {
    for (exponent = 1; !(mantissa & 0x800000); --exponent) mantissa <<= 1;
    mantissa &= 0x7fffff;
  }
  exponent -= 127;
  int low = MANTISSA_BITS - table_bits;
  reduced r = {.sign = sign, .index = mantissa >> low, .t = mantissa & ((1u << low) - 1), .q = -exponent};
  if (k == RSQRT) {
    if (exponent & 1) r.index += 1u << table_bits;
    r.q = -((exponent - (exponent & 1)) / 2);
  }
  return r;
}

// p * 2^q, rounded once: far exponents go half way by the exponent field and the rest by a multiplication.
static float scale(float p, int q) {
  int by = q > 60 ? q - 64 : q < -60 ? q + 64 : q;
  float rest = q > 60 ? 0x1p64f : q < -60 ? 0x1p-64f : 1.0f;
  return float_of(bits_of(p) + ((uint32_t)by << 23)) * rest;
}

bool pb_function_known(const char* name, int table_bits, int degree) {
  return kind_of(name) != UNKNOWN && table_bits >= PB_FUNCTION_MIN_TABLE_BITS &&
         table_bits <= PB_FUNCTION_MAX_TABLE_BITS && degree >= 1 && degree <= PB_FUNCTION_MAX_DEGREE;
}

uint32_t pb_function_entries(const char* name, int table_bits) { return entries(kind_of(name), table_bits); }

uint32_t pb_function_table(const char* name, int table_bits, int degree, uint32_t index, int power) {
  // tdl/read/chip_read.c refuses other functions, tables and degrees
  assert(pb_function_known(name, table_bits, degree) && index < pb_function_entries(name, table_bits));
  return power > degree ? 0 : bits_of(fit(kind_of(name), table_bits, degree, index).c[power]);
}

// A segment is fitted when it is first needed: machines evaluate millions of points. Several machines may run at once;
// who finds a segment ready finds all of it.
static const float* segment(kind k, int table_bits, int degree, uint32_t index) {
  static coefficients cache[UNKNOWN][PB_FUNCTION_MAX_TABLE_BITS + 1][PB_FUNCTION_MAX_DEGREE + 1][ENTRY_LIMIT];
  static atomic_bool ready[UNKNOWN][PB_FUNCTION_MAX_TABLE_BITS + 1][PB_FUNCTION_MAX_DEGREE + 1][ENTRY_LIMIT];
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  coefficients* entry = &cache[k][table_bits][degree][index];
  atomic_bool* done = &ready[k][table_bits][degree][index];
  if (!atomic_load_explicit(done, memory_order_acquire)) {
    pthread_mutex_lock(&lock);
    if (!atomic_load_explicit(done, memory_order_relaxed)) *entry = fit(k, table_bits, degree, index);
    atomic_store_explicit(done, true, memory_order_release);
    pthread_mutex_unlock(&lock);
  }
  return entry->c;
}

float pb_function_eval(const char* name, int table_bits, int degree, float x) {
  // as above
  assert(pb_function_known(name, table_bits, degree));
  kind k = kind_of(name);
  uint32_t bits = bits_of(x);
  if ((bits & 0x7fffffff) > infinity) return float_of(quiet_nan);
  reduced r = k == EXP2 ? reduce_exp2(table_bits, bits) : reduce_power(k, table_bits, bits);
  if (r.special) return float_of(r.bits);
  const float* c = segment(k, table_bits, degree, r.index);
  float t = (float)r.t, p = c[degree];
  for (int n = degree - 1; n >= 0; --n) {
    float product = p * t;
    p = c[n] + product;
  }
  return float_of(bits_of(scale(p, r.q)) | r.sign);
}
