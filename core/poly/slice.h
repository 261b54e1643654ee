// Slices, exactly, by isl: the box of a tensor that a tile touches through one access.
#ifndef PB_POLY_SLICE_H
#define PB_POLY_SLICE_H

#include "core/base/table.h"
#include "core/poly/nest.h"

// What an access touches in one iteration of the loops around a tile. Columns as in pb_index; `extents` has one number
// for each. The first `level` outer columns are the loops around; all others are walked inside.
typedef struct pb_slice {
  pb_index origin[PB_NEST_RANK]; // over the loops around
  int64_t extent[PB_NEST_RANK];
  int wider; // 1 + the index along which it may hold more than is touched; 0: there is none
} pb_slice;

// What has been proved, index by index: networks repeat themselves. Begins as {.arena}, which keeps it; its table is
// the owner's to free.
typedef struct pb_proofs {
  pb_arena* arena;
  pb_table known;
} pb_proofs;

// Whether isl proves that the slice is the smallest box of fixed extents, whose origin is linear in the loops around,
// that holds all that is touched. false: it is not, or isl has run out of memory.
bool pb_slice_is_least(const pb_access* access, const int64_t* extents, int level, const pb_slice* slice,
                       pb_proofs* proofs);

#endif
