// Padded tensors: a copy of a tensor that only shifts, and one number around it. Who reads the padded one may read the
// tensor itself through a box.
#ifndef PB_S3_PADS_H
#define PB_S3_PADS_H

#include "core/s3/program.h"

// A padded tensor: a shifted copy inside, one constant around it.
typedef struct pb_pad {
  int copy; // the nest
  double fill;
  int64_t shift[PB_NEST_RANK]; // where element 0 of what is copied lies in the padded tensor
  bool part;                   // of the tensor a part is copied, which nothing is around where it is less than all
} pb_pad;

// Whether the nest is a fill or a copy, as those are that make padded tensors.
bool pb_pad_part(const pb_nest* nest);
// Whether the local is a padded copy of all of another tensor, made by nests that are not gone.
bool pb_pad_of(const pb_program* program, int value, pb_pad* pad);
// Whether nest `copy` takes a local of the program to its place inside a padded one.
bool pb_pad_takes_local(const pb_program* program, int copy, pb_pad* pad);
// Every use of the one local becomes a use of the other, `shift` further in, but for those of nests that are gone.
void pb_pad_redirect(pb_program* program, pb_arena* arena, int from, int to, const int64_t* shift);
// The access of the padded tensor reads what is copied into it, through a box.
void pb_pad_open(const pb_program* program, const pb_pad* pad, pb_access* access);
// An access of the padded tensor that these nests make reads the tensor instead, through a box. false: they make
// something else.
bool pb_pad_fold(const pb_program* program, const int* nests, int count, pb_access* access);
// These nests as one copy that reads through a box. false: they make something else.
bool pb_pad_as_copy(const pb_program* program, const int* nests, int count, pb_nest* main);
// All reads of padded tensors that the function makes of its arguments read these instead; the nests that made them go.
void pb_program_fold_pads(pb_program* program, pb_arena* arena);
// What the function copies from one of its locals into a padded one is made there; the copies go.
void pb_program_make_inside(pb_program* program, pb_arena* arena);

#endif
