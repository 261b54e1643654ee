// Borders of zeros around what products by finite weights read: a product by one of these zeros adds nothing to its sum
// and is left out.
#ifndef PB_S3_BORDER_H
#define PB_S3_BORDER_H

#include "core/s3/program.h"

// One index of a tensor that is read by element number.
typedef struct pb_border {
  int64_t stride, extent; // elements between neighbours along the index, and how many neighbours there are
  int64_t begin, end;     // those in front of `begin`, and from `end` on, are zeros
} pb_border;

// The borders of a tensor that a kernel is given. *borders has room for PB_NEST_RANK; returns how many there are.
int pb_borders_of(const pb_value* value, pb_border* borders);
// Whether nest n sums products of the value.
bool pb_program_multiplies(const pb_program* program, int n, int value);

// How far along the border's index so many elements are, of a place inside the tensor or of a step of a loop there.
static inline int64_t pb_border_steps(const pb_border* border, int64_t elements) {
  return elements / border->stride % border->extent;
}
// Whether a tile that reads so many of its steps has code of its own for each step of a window: then it is one of two
// tiles at most, and the border is much of it.
static inline bool pb_border_is_near(const pb_border* border, int64_t steps) { return steps * 2 >= border->extent; }
static inline bool pb_border_has(const pb_border* border, int64_t step) {
  return step < border->begin || step >= border->end;
}

#endif
