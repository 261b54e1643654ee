// Inside the folding of nodes: constants as it works on them.
#ifndef PB_S1_FOLD_H
#define PB_S1_FOLD_H

#include "core/s1/lift/lift.h"

// A number of any type: floats in f, all others in i.
typedef struct pb__number {
  int64_t i;
  float f;
} pb__number;

typedef struct pb__folded {
  pb_type type;
  int rank;
  int64_t shape[PB_GRAPH_RANK], count;
  char* data; // of a result: to be filled
} pb__folded;

// Whose numbers are floats: of f32, or of 16 bits, which are computed in f32 and rounded, as the program does it.
static inline bool pb__fold_is_real(const pb__folded* c) { return c->type == PB_F32 || pb_type_is_narrow(c->type); }

static inline size_t pb__fold_size(pb_type type) { return ((size_t)pb_type_bits(type) + 7) / 8; } // bytes of an element
// Elements from one index of each dim to the next.
void pb__fold_strides(const pb__folded* c, int64_t* stride);

// The constant that a tensor is; false: it is none, or of another type than f32, f16, bf16, i64, i32, i8 and truths.
bool pb__fold_take(lifter* l, int tensor, pb__folded* c);
// A result to be filled; false: it is too large.
bool pb__fold_start(lifter* l, pb_type type, int rank, const int64_t* shape, pb__folded* c);
// It is what the tensor is, -1: nobody wants it.
void pb__fold_give(lifter* l, int tensor, const pb__folded* c);
pb__number pb__fold_number(const pb__folded* c, int64_t k);

// Reductions and norms (fold_reduce.c): *y is the result. false: it is none of them, or not of constants.
bool pb__fold_reduced(lifter* l, const pb_node* n, pb__folded* y);
// Range (fold_range.c): the same.
bool pb__fold_range(lifter* l, const pb_node* n, pb__folded* y);
// What stands at constant places of a constant (fold_places.c): the same.
bool pb__fold_places(lifter* l, const pb_node* n, pb__folded* y);
// Codes of constants (fold_codes.c). true: they are given.
bool pb__fold_codes(lifter* l, const pb_node* n);
// Results of extents that the data say: NonZero, Unique, NonMaxSuppression (fold_search.c). true: they are given.
bool pb__fold_search(lifter* l, const pb_node* n);

#endif
