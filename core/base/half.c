#include "core/base/half.h"

#include <math.h>
#include <string.h>

// Bits behind the point, and the exponent of the least normal number; the sign's bit; what is past the largest begins
// there, or behind it, and is the code of an infinity, or NaN.
typedef struct format {
  int fraction, least;
  uint16_t sign, past, nan;
  double end;
  bool ends_behind;
} format;

static const format halves = {10, -14, 0x8000, 0x7c00, 0x7e00, 65520, false};
static const format e5m2 = {2, -14, 0x80, 0x7c, 0x7e, 61440, false};
static const format e4m3 = {3, -6, 0x80, 0x7f, 0x7f, 464, true};

static uint16_t code_of(const format* f, double number) {
  uint64_t all;
  memcpy(&all, &number, 8);
  uint16_t sign = all >> 63 ? f->sign : 0;
  double magnitude = fabs(number);
  if (number != number) return f->nan;
  if (magnitude > f->end || (magnitude == f->end && !f->ends_behind)) return sign | f->past;
  int exponent = (int)(all >> 52 & 0x7ff) - 1023;
  if (exponent < f->least) exponent = f->least;
  double places = ldexp(magnitude, f->fraction - exponent); // exact
  uint32_t whole = (uint32_t)places;
  double rest = places - whole;
  whole += rest > 0.5 || (rest == 0.5 && whole & 1);
  return (uint16_t)(sign |
                    (whole + ((uint32_t)(exponent - f->least) << f->fraction))); // a carry goes into the exponent
}

uint16_t pb_half_of(double number) { return code_of(&halves, number); }

uint16_t pb_bfloat_of(double number) {
  float f = (float)number;
  uint32_t all;
  memcpy(&all, &f, 4);
  if (f != f) return 0x7fc0;
  return (uint16_t)((all + 0x7fff + (all >> 16 & 1)) >> 16);
}

static float number_of(const format* f, uint16_t bits) {
  int exponent = (bits & (f->sign - 1)) >> f->fraction, fraction = bits & ((1 << f->fraction) - 1);
  float magnitude = exponent ? ldexpf((float)(fraction | 1 << f->fraction), exponent - 1 + f->least - f->fraction)
                             : ldexpf((float)fraction, f->least - f->fraction);
  if ((bits & (f->sign - 1)) >= f->past) magnitude = f->past == f->nan || fraction ? NAN : INFINITY;
  return bits & f->sign ? -magnitude : magnitude;
}

float pb_half_number(uint16_t bits) { return number_of(&halves, bits); }

float pb_bfloat_number(uint16_t bits) {
  uint32_t all = (uint32_t)bits << 16;
  float f;
  memcpy(&f, &all, 4);
  return f;
}

uint16_t pb_narrow_of(pb_type type, double number) {
  if (type == PB_E4M3 || type == PB_E5M2) return code_of(type == PB_E4M3 ? &e4m3 : &e5m2, number);
  return type == PB_F16 ? pb_half_of(number) : pb_bfloat_of(number);
}

float pb_narrow_number(pb_type type, uint16_t bits) {
  if (type == PB_E4M3 || type == PB_E5M2) return number_of(type == PB_E4M3 ? &e4m3 : &e5m2, bits);
  return type == PB_F16 ? pb_half_number(bits) : pb_bfloat_number(bits);
}
