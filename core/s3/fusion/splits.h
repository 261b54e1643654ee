// Constants that kernels take in another form than their elements: which are split, and the nest in front that puts
// them together.
#ifndef PB_S3_SPLITS_H
#define PB_S3_SPLITS_H

#include "core/poly/text.h"
#include "core/s3/program.h"
#include "core/s3/stored_form.h"

// A constant of the program, and those that it is split into: their values.
typedef struct pb_split {
  pb_stored_form form;
  int whole, parts[PB_STORED_PARTS];
} pb_split;

typedef struct pb_splits {
  pb_unit* unit;
  pb_program* program;
  bool wanted;     // the chip has forms
  int known;       // values when it began
  pb_split** of;   // by such a value; NULL: it is not split, or nobody has asked
  bool* looked_at; // by such a value
} pb_splits;

void pb_splits_begin(pb_unit* unit, pb_program* program, pb_splits* splits);
// How access a of the nest, one of a kernel's, is split: where it is a product's weights, and the chip has a form for
// these. NULL: it is not.
const pb_split* pb_split_weights(pb_splits* splits, int nest, int a);
// Prints, for each of so many splits, %s<k> and the nest that makes it of its parts, in a kernel whose argument
// %a<k> is values[k].
void pb_splits_print(const pb_splits* s, const pb_split* const* splits, int count, const int* values, const char* name,
                     int* serial, pb_text* text);

#endif
