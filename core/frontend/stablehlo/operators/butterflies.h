// Fourier transforms by passes of short ones, whose sums are written out (butterflies.c).
#ifndef PB_STABLEHLO_BUTTERFLIES_H
#define PB_STABLEHLO_BUTTERFLIES_H

#include "core/frontend/stablehlo/door.h"

// What is transformed along its dim 1: values [before, length, behind] of real and of imaginary parts, -1: those are 0;
// or one value [before, length, 2, behind] of pairs, real numbers whose neighbours are both parts of one.
typedef struct pb_waves {
  int re, im;
  bool pairs;
} pb_waves;

typedef struct pb_transform {
  int64_t before, length, behind;
  bool inverse;
  double scale;
  // Element (k, c) of what is made is turned by k c / turned of a circle, 0: it is not.
  int64_t turned;
} pb_transform;

enum { PB_WAVES_LANES = 16 }; // so many behind the dim fill vectors

// Whether the target's code goes through nests that are beside each other, and the length has short factors alone.
bool pb__door_has_butterflies(const pb_door* d, int64_t length);
pb_waves pb__door_new_waves(pb_door* d, pb_type type, const pb_transform* t, bool pairs);
void pb__door_butterflies(pb_door* d, const pb_transform* t, pb_waves x, pb_waves y);
// The first half and the middle of the spectrum of real numbers, of which the transform of pairs is `z`, and back: one
// element more than `t` is long.
void pb__door_halves_of_pairs(pb_door* d, const pb_transform* t, pb_waves z, pb_waves y);
void pb__door_pairs_of_halves(pb_door* d, const pb_transform* t, pb_waves x, pb_waves z);

#endif
