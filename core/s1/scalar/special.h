// Inside stage S1: functions of an element that are made of others, in f64 whatever the type: rows of scalar.def.
#ifndef PB_S1_SPECIAL_H
#define PB_S1_SPECIAL_H

#include "core/s1/scalar/scalar.h"

#define SPECIAL(name) int pb__special_##name(pb_nest* n, pb_type type, const int* v)
SPECIAL(asin);
SPECIAL(acos);
SPECIAL(sinh);
SPECIAL(cosh);
SPECIAL(asinh);
SPECIAL(acosh);
SPECIAL(atanh);
SPECIAL(erfc);
SPECIAL(erf_inv);
SPECIAL(lgamma);
SPECIAL(digamma);
SPECIAL(bessel_i1e);
SPECIAL(remainder); // of f64

#endif
