// Inside `layout`: constants in the order in which movers and instructions walk them.
#ifndef PB_S3_PACK_H
#define PB_S3_PACK_H

#include "core/base/consts.h"
#include "core/poly/nest.h"

// One dim of a packed constant: it walks dim `dim` of the nest by `scale`. Several packed dims may walk one nest dim
// (blocks and lanes of a channel); past its extent the constant is padded with zeros.
typedef struct pb_pack_dim {
  int64_t extent;
  int dim;
  int64_t scale;
} pb_pack_dim;

// A new constant: element (p0, p1, ...) is source[access index at the nest dims that the p's add up to].
// Returns its id. The data is made in the table's arena.
int pb_const_pack(pb_consts* consts, int source, const pb_access* access, const int64_t* nest_extent, int dim_count,
                  const pb_pack_dim* dims, const char* suffix, int shape_rank, const int64_t* shape);
// A vector of `lanes` times one number; equal ones are made once.
int pb_const_splat(pb_consts* consts, double value, int64_t lanes);

#endif
