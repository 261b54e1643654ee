// Codes without a sign, kept as codes with one, 128 less: of a tensor that only this program has.
#ifndef PB_S3_LEGALISE_CENTRED_CODES_H
#define PB_S3_LEGALISE_CENTRED_CODES_H

#include "core/s3/program.h"

enum { PB_CENTRE = 128 };

// Whether numbers without a sign alone are made of what is stored in the local tensor, and conversions alone store.
bool pb_can_centre(const pb_program* program, int value);
// What stores in it turns the sign bit over, and what loads adds 128.
void pb_centre(pb_program* program, pb_arena* arena, int value);

#endif
