// The four criteria of slicing-based fusion (PolyBlocks): a slice is made inside its consumer's tile only if
//  - parallelism is kept: loops over tiles around it walk results of the consumer, or the terms that the slice is;
//  - vectorisability is kept: rows of lanes are whole in the slice;
//  - redundant computation is bounded: all slices together are at most so much more than the tensor;
//  - the intermediate tensor goes: nobody else reads it (fuse_reductions.c sees to that).
#ifndef PB_S3_SLICING_H
#define PB_S3_SLICING_H

#include "core/s3/tree/tiling.h"

// Whether the slice of t->group's x, the box `local` in each iteration of the loops outside x_level, keeps them. false:
// t->failure says which it breaks.
bool pb_slicing_allowed(pb_tiling* t, const pb_access* local);

#endif
