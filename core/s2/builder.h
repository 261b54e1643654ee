// Inside stage S2: what the files that print nests share.
#ifndef PB_S2_BUILDER_H
#define PB_S2_BUILDER_H

#include "core/poly/nest.h"
#include "core/s2/s2.h"

typedef struct builder {
  const pb_s1* program;
  const pb_consts* consts;
  pb_arena arena;
  pb_text allocs, nests;
  bool* used_const;
  int serial, extra;
} builder;

int pb__s2_base_of(const builder* b, int v); // the value whose elements v shares
pb_access pb__s2_on_value(builder* b, int v);
pb_access pb__s2_on_const(builder* b, int id);
pb_access pb__s2_new_local(builder* b, pb_type type, int rank, const int64_t* shape);
void pb__s2_print(builder* b, pb_nest* nest);
// A dim of the nest whatever its extent: channels keep theirs, since a later layout may pad them to whole lanes.
int pb__s2_add_channels(pb_nest* nest, int64_t extent);
// A dim of the nest, unless it is 1 long: then -1 and every index that it moves stays 0.
int pb__s2_add_dim(pb_nest* nest, int64_t extent);
void pb__s2_move(pb_access* access, int rank, int dim, int64_t coef);
pb_nest pb__s2_start(const pb_s1_op* op, const char* part);
// x with `value` around it in h and w. Without pads it is x itself.
pb_access pb__s2_padded(builder* b, const pb_s1_op* op, double value);
// The element-by-element walk over a value: one dim for each index. `dims[r]`: -1 where the extent is 1.
void pb__s2_walk(pb_nest* nest, const pb_access* shape, int* dims);
pb_access pb__s2_along(pb_access access, const int* dims);
// `access` walked in the order of another shape of the same elements.
pb_access pb__s2_along_flat(pb_access access, const pb_access* shape, const int* dims);
// Prints the nest, which has its dims by now, as a copy.
void pb__s2_copy(builder* b, pb_nest* nest, pb_access from, pb_access to);
// Fills the box [lo, hi) of each index with a number.
void pb__s2_fill(builder* b, const pb_s1_op* op, pb_access access, const int64_t* lo, const int64_t* hi, double value,
                 const char* part);
// `access` repeated to fill the shape: its dims stand against the last of the shape's.
pb_access pb__s2_repeat(pb_access access, const pb_access* shape, const int* dims);
void pb__s2_init(builder* b, const pb_s1_op* op, const pb_access* acc, double value);

// The dims of a convolution, and how they walk its tensors:
//   y[n, o, h, w] over x[n, c, h * s + r * d, w * s + q * d] and w[o, c, r, q]; groups: c and o within one group.
void pb__s2_convolve(pb_nest* n, const pb_s1_op* op, pb_access* x, pb_access* w, pb_access* y);
// The same for a window that slides over each channel for itself.
void pb__s2_slide(pb_nest* n, const pb_s1_op* op, pb_access* x, pb_access* y);

// The operator's clamp around a value.
int pb__s2_clamped(pb_nest* n, const pb_s1_op* op, int v);
bool pb__s2_clamps(const pb_s1_op* op);
// v, or the bound where v is below it (or above it). NaN stays.
int pb__s2_bounded(pb_nest* n, const pb_s1_op* op, int v, double bound, bool from_below);

void pb__s2_float(builder* b, const pb_s1_op* op);          // build_float.c
int pb__s2_function(pb_nest* n, const pb_s1_op* op, int x); // build_function.c: FUNARY's value
int pb__s2_prelu(pb_nest* n, int x, int slope);
void pb__s2_reduction(builder* b, const pb_s1_op* op); // build_reduction.c
// A copy to a shape whose dims are products of neighbouring dims of x, walked by x's dims. false: it is another.
bool pb__s2_merge(builder* b, const pb_s1_op* op);
void pb__s2_each(builder* b, const pb_s1_op* op); // build_each.c
void pb__s2_gather(builder* b, const pb_s1_op* op);
void pb__s2_movement(builder* b, const pb_s1_op* op); // build_movement.c

// Codes: build.c. y = requantise(acc + bias, m); what comes last of every operator on codes: clamp(roundeven(v) +
// zero).
void pb__s2_requantise(builder* b, const pb_s1_op* op, pb_access acc, pb_access y);
// The same by a chip's own formula: build_formula.c. The second is the value of ADD, whose accesses are there.
void pb__s2_sum_formula(builder* b, const pb_s1_op* op, pb_access acc, pb_access y);
void pb__s2_add_formula(pb_nest* n, const pb_s1_op* op);
void pb__s2_to_codes(pb_nest* n, int value, const pb_s1_op* op);
void pb__s2_codes(builder* b, const pb_s1_op* op); // build_codes.c: TABLE, SOFTMAX, NORM, MATMUL

#endif
