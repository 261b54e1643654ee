// Inside row_numbers: tables that a nest gathers of by element numbers (flat_tables.c).
#ifndef PB_S3_ROW_NUMBERS_H
#define PB_S3_ROW_NUMBERS_H

#include "core/s3/program.h"

// The access of which the nest copies elements at a number that its body computes, and nothing else; -1: it is another
// nest.
int pb__rows_table(const pb_nest* nest);
// The nest as it gathers rows of the table of which its own is a flat copy. Returns that table's value, *copy: the nest
// that copies it; -1: there is none.
int pb__rows_unflatten(const pb_program* program, int nest, pb_nest* rows, int* copy);

#endif
