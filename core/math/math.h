// Functions as plain operations: one table for all targets, so that no libm, libdevice or ocml is ever called and a
// model's result is the same everywhere. A row is an expansion of one operator of core/base/expr.h into additions,
// multiplications, shifts and the like, each rounded once. A chip that multiplies and adds in one does so here as well:
// the errors stated hold for both.
#ifndef PB_MATH_MATH_H
#define PB_MATH_MATH_H

#include "core/poly/nest.h"

typedef struct pb_math_row {
  pb_op op;
  const char* name;
  // Appends nodes, of f32 and of f64; returns the one that is the result. NULL: not of that type, or of two operands.
  int (*expand)(pb_nest* nest, int x);
  int (*wide)(pb_nest* nest, int x);
  int (*expand_two)(pb_nest* nest, int x, int y);
  int (*wide_two)(pb_nest* nest, int x, int y);
  // The largest error on f32, and on f64, against the exact value, in units of its last place. It holds for subnormal
  // inputs and results too: nothing is flushed. tests/math asserts it.
  double ulp, wide_ulp;
  const char* special; // results at infinities, zeros and outside the domain; NaN gives NaN everywhere
} pb_math_row;

enum { PB_MATH_NODES = 330 }; // no expansion has more: what a nest must have room for

// For chips that multiply and add in one, rounding once: every product that only one sum or difference takes, among the
// nodes from `first` on, becomes one node with it. `result` is one of those; returns its new number.
int pb_math_fuse(pb_nest* nest, int first, int result);

const pb_math_row* pb_math_find(pb_op op); // NULL: not in the table
// Whether the row computes numbers of the type.
bool pb_math_has(const pb_math_row* row, pb_type type);
extern const pb_math_row pb_math_table[]; // ends with a NULL name

#endif
