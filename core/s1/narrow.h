// Between S1 and S2: products by constants in narrower floats, where the user allows it, and of models that have such.
#ifndef PB_S1_NARROW_H
#define PB_S1_NARROW_H

#include "core/base/consts.h"
#include "core/s1/s1.h"

// Products of f32 values and constants take both as `to`, a narrow float, and sum in f32; every other operation
// stays as it is. A value is rounded once for all the products that take it, to the nearest, ties to even; what lies
// past a type's largest number is infinite. Unless `all` are asked for, products that would not gain stay too: those of
// odd numbers of terms, and those that have each channel for itself. Returns how many there were.
int pb_s1_narrow(pb_s1* program, pb_consts* consts, pb_type to, bool all);
// Products by constants of what was widened from `to` alone, values of the model's own type and constants of such
// numbers, take it as it was: the same sums, without a tensor of f32. `all`: as above.
int pb_s1_narrow_again(pb_s1* program, pb_consts* consts, pb_type to, bool all);

#endif
