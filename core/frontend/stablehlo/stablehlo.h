// The front end for StableHLO and CHLO, as generic MLIR text.
#ifndef PB_STABLEHLO_STABLEHLO_H
#define PB_STABLEHLO_STABLEHLO_H

#include "core/s1/s1.h"

// Makes the module's @main: arguments become inputs arg0, arg1, ..., results outputs out0, out1, ... All operators that
// are not known are named before anything else is looked at.
struct pb_flat;
pb_status pb_stablehlo_make(const struct pb_flat* flat, const pb_input_options* inputs, pb_consts* consts,
                            pb_diag* diag, pb_s1* program) PB_MUST_CHECK;
// The names of all attributes that are looked at, NULL at the end; in the arena.
const char* const* pb_stablehlo_attributes(pb_arena* arena);

#endif
