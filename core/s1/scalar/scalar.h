// Scalar operations by the model's types, as nodes of a nest's body: what an operator does to one element. A narrow
// float is worked on as f32 and rounded where an operation ends; truths are bytes of 0 or 1; integers without a sign
// are those with one and operations that take them so.
#ifndef PB_S1_SCALAR_H
#define PB_S1_SCALAR_H

#include "core/poly/nest.h"

pb_type pb_scalar_worked(pb_type type); // in which type a body works on it

// The number that an access reads, and what the nest must store: nodes of the worked type, and of the stored one.
int pb_scalar_load(pb_nest* n, int access, pb_type type);
int pb_scalar_decoded(pb_nest* n, int stored, pb_type type);
int pb_scalar_encoded(pb_nest* n, int worked, pb_type type);
int pb_scalar_rounded(pb_nest* n, int worked, pb_type type); // a narrow float's number as it would be read again
// A constant of the type from its bytes.
int pb_scalar_constant(pb_nest* n, pb_type type, const void* bytes);
int pb_scalar_number(pb_nest* n, pb_type type, double number);
int pb_scalar_converted(pb_nest* n, int v, pb_type from, pb_type to);
int pb_scalar_select(pb_nest* n, int truth, int yes, int no);

typedef enum pb_compare { PB_EQ, PB_NE, PB_GE, PB_GT, PB_LE, PB_LT } pb_compare;
int pb_scalar_compare(pb_nest* n, pb_compare how, pb_type type, bool total_order, int a, int b); // a truth

// One row an operation: scalar.def. `types`: which it takes, of PB_TAKES_*.
typedef struct pb_scalar_row {
  const char* name;
  int operands;
  unsigned types;
  int (*make)(pb_nest* n, pb_type type, const int* args);
  pb_type result; // PB_TYPE_COUNT: the operands'
} pb_scalar_row;
enum { PB_TAKES_FLOATS = 1, PB_TAKES_INTEGERS = 2, PB_TAKES_TRUTHS = 4 };
bool pb_scalar_takes(const pb_scalar_row* row, pb_type type);
const pb_scalar_row* pb_scalar_find(const char* name); // NULL: none

#endif
