// Between S1 and S2: the program by a chip's own formulas for codes.
#ifndef PB_S1_SCALE_H
#define PB_S1_SCALE_H

#include "core/base/consts.h"
#include "core/s1/s1.h"

// Gives operators that make codes of sums, or add codes, the terms of the formulas (by kind, NULL: none of it). A scale
// that a formula cannot come near is PB_ERR_UNSUPPORTED, or with `leave` a warning: the operator stays as the model
// says, for a target that has floats. *off: the largest share by which a scale is off.
pb_status pb_s1_scale(pb_s1* program, pb_consts* consts, const pb_formula* const* formulas, bool leave, pb_diag* diag,
                      double* off) PB_MUST_CHECK;

#endif
