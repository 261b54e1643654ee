// The front end for linalg on tensors, as torch-mlir writes it: linalg, tensor, arith, math.
#ifndef PB_LINALG_LINALG_H
#define PB_LINALG_LINALG_H

#include "core/s1/s1.h"

// MLIR text in the language that its operators are of, this one or StableHLO (pb_flat_sniff): read once, its @main made as
// often as wanted. On PB_OK the caller closes it.
typedef struct pb_mlir_text pb_mlir_text;
pb_status pb_mlir_text_read(const char* path, pb_diag* diag, pb_mlir_text** text) PB_MUST_CHECK;
pb_status pb_mlir_text_make(const pb_mlir_text* text, const pb_input_options* inputs, pb_consts* consts, pb_diag* diag,
                            pb_s1* program) PB_MUST_CHECK;
void pb_mlir_text_close(pb_mlir_text* text); // NULL: nothing

struct pb_flat;

// Makes the module's @main: arguments become inputs arg0, arg1, ..., results outputs out0, out1, ... All operators that
// are not known are named before anything else is looked at.
pb_status pb_linalg_make(const struct pb_flat* flat, const pb_input_options* inputs, pb_consts* consts, pb_diag* diag,
                         pb_s1* program) PB_MUST_CHECK;
// The names of all attributes that are looked at, NULL at the end; in the arena.
const char* const* pb_linalg_attributes(pb_arena* arena);

#endif
