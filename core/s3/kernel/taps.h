// Sums of products where each lane is for itself (a window of each channel): what one command takes of them.
#ifndef PB_S3_TAPS_H
#define PB_S3_TAPS_H

#include "core/s3/kernel/contraction_dims.h"

typedef struct pb_taps {
  int64_t step[PB_NEST_DIMS]; // of the nest's summed dims, iterations in one command; 0: a loop around it walks the dim
  int64_t apart[PB_NEST_DIMS]; // elements from weight to weight along such a dim, whole rows of lanes
  int64_t commands;            // that sum one window
} pb_taps;

// Requires an instruction that sums each lane for itself; none for others. lanes: the chip's (pb_chip_lanes).
void pb_taps_of(const pb_chip* chip, int64_t lanes, const pb_nest* nest, const pb_contraction_dims* roles,
                const pb_insn* insn, const pb_contraction_dims* insn_roles, pb_taps* taps);
// The instruction for a nest with these roles. Where its result's lanes are those of both factors, one that sums each
// lane for itself and needs the fewest commands for this window, if there is one; else the one of pb_chip_contraction.
const pb_insn* pb_nest_contraction(const pb_chip* chip, int64_t lanes, const pb_nest* nest,
                                   const pb_contraction_dims* roles, pb_contraction_dims* insn_roles);

#endif
