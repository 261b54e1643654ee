// Functions of f64 written down as papers have them: rows of written.def.
#ifndef PB_S1_WRITTEN_H
#define PB_S1_WRITTEN_H

#include "core/poly/nest.h"

enum { PB_WRITTEN_PARAMETERS = 10 };

// A row: its parameters by blanks, statements "name = expression;" and the expression that is its result. Expressions
// have + - * /, the comparisons < <= ==, c ? a : b, numbers, pi, inf, and calls: of sqrt, cbrt, abs, exp, expm1, log,
// log1p, sin, cos, tan, atan2, max and min (NaN wins), copysign, exponent (k of m 2^k, m from sqrt(1/2) to sqrt(2)),
// two_to (2^k of a whole k), and of other rows.
typedef struct pb_written_row {
  const char *name, *parameters, *text;
} pb_written_row;
extern const pb_written_row pb_written_rows[]; // end with a NULL name

const pb_written_row* pb_written_find(const char* name); // NULL: none
// Its nodes, equal ones once; returns the result's, -1: the row is no such text, or the nest has no room.
int pb_written_make(pb_nest* n, const pb_written_row* row, const int* arguments);

#endif
