// Floats of 16 and 8 bits as their bits, for what is computed of constants.
#ifndef PB_BASE_HALF_H
#define PB_BASE_HALF_H

#include "core/base/expr.h"

// The nearest one, ties to even; NaN is the quiet one.
uint16_t pb_half_of(double number);
uint16_t pb_bfloat_of(double number); // rounded to f32 first
float pb_half_number(uint16_t bits);  // exact, as every half is an f32
float pb_bfloat_number(uint16_t bits);
// The same of any narrow float; of PB_E4M3, which has no infinity, NaN past the largest.
uint16_t pb_narrow_of(pb_type type, double number);
float pb_narrow_number(pb_type type, uint16_t bits);

#endif
