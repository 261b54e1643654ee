// Padded tensors: a copy of a tensor that only shifts, and one number around it. Who reads the padded one may read the
// tensor itself through a box.
#ifndef PB_S3_PADS_H
#define PB_S3_PADS_H

#include "core/s3/program.h"

// Whether the nest is a fill or a copy, as those are that make padded tensors.
bool pb_pad_part(const pb_nest* nest);
// An access of the padded tensor that these nests make reads the tensor instead, through a box. false: they make
// something else.
bool pb_pad_fold(const pb_program* program, const int* nests, int count, pb_access* access);
// These nests as one copy that reads through a box. false: they make something else.
bool pb_pad_as_copy(const pb_program* program, const int* nests, int count, pb_nest* main);
// All reads of padded tensors that the function makes of its arguments read these instead; the nests that made them go.
void pb_program_fold_pads(pb_program* program, pb_arena* arena);

#endif
