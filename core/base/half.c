#include "core/base/half.h"

#include <math.h>
#include <string.h>

enum { FRACTION = 10, LEAST = -14 }; // bits behind the point, and the exponent of the least normal half

uint16_t pb_half_of(double number) {
  uint64_t all;
  memcpy(&all, &number, 8);
  uint16_t sign = (uint16_t)(all >> 48 & 0x8000);
  double magnitude = fabs(number);
  if (number != number) return 0x7e00;
  if (magnitude >= 65520) return sign | 0x7c00;
  int exponent = (int)(all >> 52 & 0x7ff) - 1023;
  if (exponent < LEAST) exponent = LEAST;
  double places = ldexp(magnitude, FRACTION - exponent); // exact
  uint32_t whole = (uint32_t)places;
  double rest = places - whole;
  whole += rest > 0.5 || (rest == 0.5 && whole & 1);
  return (uint16_t)(sign | (whole + ((uint32_t)(exponent - LEAST) << FRACTION))); // a carry goes into the exponent
}

uint16_t pb_bfloat_of(double number) {
  float f = (float)number;
  uint32_t all;
  memcpy(&all, &f, 4);
  if (f != f) return 0x7fc0;
  return (uint16_t)((all + 0x7fff + (all >> 16 & 1)) >> 16);
}

float pb_half_number(uint16_t bits) {
  int exponent = bits >> FRACTION & 31, fraction = bits & ((1 << FRACTION) - 1);
  float magnitude = exponent == 31 ? (fraction ? NAN : INFINITY)
                    : exponent     ? ldexpf((float)(fraction | 1 << FRACTION), exponent - 1 + LEAST - FRACTION)
                                   : ldexpf((float)fraction, LEAST - FRACTION);
  return bits & 0x8000 ? -magnitude : magnitude;
}

float pb_bfloat_number(uint16_t bits) {
  uint32_t all = (uint32_t)bits << 16;
  float f;
  memcpy(&f, &all, 4);
  return f;
}

uint16_t pb_narrow_of(pb_type type, double number) {
  return type == PB_F16 ? pb_half_of(number) : pb_bfloat_of(number);
}

float pb_narrow_number(pb_type type, uint16_t bits) {
  return type == PB_F16 ? pb_half_number(bits) : pb_bfloat_number(bits);
}
