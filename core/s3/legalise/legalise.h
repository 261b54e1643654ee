// What files of legalise have of each other.
#ifndef PB_S3_LEGALISE_H
#define PB_S3_LEGALISE_H

#include "core/poly/nest.h"
#include "core/s3/program.h"
#include "core/s3/s3.h"

// ---- beginnings.c ----

// Inside reductions: sums and maxima that begin with something else than the operation's neutral number begin with
// that, and are combined with the other at their end. Whether there were any: then *p is another program.
bool pb__reductions_begin_neutral(pb_program* p, pb_arena* arena);

// ---- centred_codes.c ----
// Codes without a sign, kept as codes with one, 128 less: of a tensor that only this program has.

enum { PB_CENTRE = 128 };

// Whether numbers without a sign alone are made of what is stored in the local tensor, and conversions alone store.
bool pb_can_centre(const pb_program* program, int value);
// What stores in it turns the sign bit over, and what loads adds 128.
void pb_centre(pb_program* program, pb_arena* arena, int value);

// ---- rescale.c ----
// Sums of codes that are scaled, shifted and scaled again, as one addition of integers and one scale.

// Node x of nest n, times `scale`: as f32(sums + table) * scales, if it is f32(sums) * s + b by numbers or by tables
// along one dim: the last node. -1: it is not of the form. b moves to a whole number of the sums' steps.
int pb_rescale(pb_unit* unit, pb_program* program, int n, int x, double scale);

// ---- row_numbers.c ----
// Inside row_numbers: tables that a nest gathers of by element numbers (flat_tables.c).

// The access of which the nest copies elements at a number that its body computes, and nothing else; -1: it is another
// nest.
int pb__rows_table(const pb_nest* nest);
// The nest as it gathers rows of the table of which its own is a flat copy. Returns that table's value, *copy: the nest
// that copies it; -1: there is none.
int pb__rows_unflatten(const pb_program* program, int nest, pb_nest* rows, int* copy);

// ---- unsigned.c ----
// Inside pass `unsigned`: bodies on codes without sign.

// Nodes of a body. What is made of a code is said of the code without sign, where that is the same to the bit.
int pb__unsigned_flipped(pb_nest* nest, int code); // the code with its sign bit flipped
int pb__unsigned_node(pb_nest* nest, const pb_expr_node* like, const int* args);
// Of a nest that adds codes, or products of codes by something, less a number: takes that number off, and says it. 0:
// there is none. *by: the load of what they are multiplied by, -1: nothing.
int64_t pb__unsigned_split(pb_nest* nest, int* by);

#endif
