// Tensors of cores whose registers load from a memory of the core's own (pb_chip_staging): what the iterations of the
// shared loops touch of a tensor lies in a buffer there, brought before it is read and taken back when it has been set.
#ifndef PB_S3_TILING_STAGING_H
#define PB_S3_TILING_STAGING_H

#include "core/s3/tree/tiling.h"

// The buffer that stands for a tensor in one access of a nest, and where in the tensor it begins.
typedef struct pb_home {
  pb_access box, origin; // the buffer, which lies flat in its memory, as the tensor's indices walk it
  int value;             // of the iteration's program; -1: not numbered yet
} pb_home;

typedef struct pb_staging {
  const pb_stages* stages;
  int memory;                          // -1: tensors are read and written where they are, and there are no homes
  pb_home* (*homes)[PB_NEST_ACCESSES]; // by nest and access; NULL: none yet
} pb_staging;

// A nest that copies between a tensor and a buffer, to be built inside `level` loops.
typedef bool (*pb_copy_builder)(pb_tiling* t, void* user, const pb_nest* copy, int level);

pb_staging pb__staging_begin(const pb_chip* chip, const pb_stages* stages, pb_arena* arena);
// How many of the bands stand around nothing but each other: no tensor is brought between them.
int pb__staging_outer_bands(const pb_tiling* t, const pb_staging* s);
// Whether any is brought in front of all of them.
bool pb__staging_brings_first(const pb_tiling* t, const pb_staging* s);
// Brings what the nests read of tensors and no loop inside `level` moves, or that the innermost iteration needs; makes
// room for what they set. The homes that *s has so far are kept: outer loops' are used by several runs of inner ones.
bool pb__staging_bring(pb_tiling* t, pb_staging* s, const pb_tile* tile, int level, pb_copy_builder copy, void* user);
// The iteration's nests use the homes: values of the iteration's own, which are appended to it.
void pb__staging_use(const pb_staging* s, pb_program* iteration, pb_arena* arena);
// Takes what the iteration has set back to its tensors.
bool pb__staging_return(pb_tiling* t, const pb_staging* s, int level, pb_copy_builder copy, void* user);

// The dims of one of the stages' nests that the shared loops walk, inside the loops opened so far; in
// tiling_iteration.c.
void pb__stages_tile(const pb_stages* stages, int nest, const pb_tile* shared, pb_tile* own);

#endif
