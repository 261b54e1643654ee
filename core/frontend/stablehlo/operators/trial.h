// What a body of several operations does, tried on some numbers, for no rule tells it of any body.
#ifndef PB_STABLEHLO_TRIAL_H
#define PB_STABLEHLO_TRIAL_H

#include "core/frontend/stablehlo/door.h"

enum { PB_TRIAL_ARGUMENTS = 8 };

// What the body makes of as many numbers as it has arguments, PB_TRIAL_ARGUMENTS at most; truths are 0 and 1. false: it
// has an operation that is not known here, or makes another number of results.
bool pb__door_try(const pb_flat_block* body, const double* numbers, int made, double* is);
// Whether a stands in front of b in the order of codes: -0 in front of 0, NaN outside of the infinities.
bool pb__door_code_less(double a, double b);

#endif
