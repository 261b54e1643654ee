// Orders of many elements by merging runs of 1, 2, 4, ...: one nest whose turns go in their order. Time n log n, where
// counting what goes before each element (sort.c) takes n^2, but any number of units at once.
#ifndef PB_STABLEHLO_MERGE_H
#define PB_STABLEHLO_MERGE_H

#include "core/frontend/stablehlo/door.h"

typedef struct pb_door_merge {
  int left, right; // i64 nodes: which elements come next from the two runs, places along the axis, kept within it
  int key;         // i64 node: the number of the key that they are compared by, the last one first
  // the rest is merge.c's
  int half; // bits of either half of a number of the work tensor
  // Neighbours along the dim `abreast` are merged side by side, `side` at once: the innermost loop, `next`. -1: none
  // are.
  int abreast, next;
  int64_t side;
  int rank, axis, dims[PB_NEST_RANK], turn, work, base, passes, taken, has_left, has_right;
  int64_t count, keys, shape[PB_NEST_RANK];
} pb_door_merge;

// Begins the nest for an order along `axis` of tensors of this shape, by so many keys. Behind it come nodes that
// compare the elements `left` and `right` by `key`.
pb_door_merge pb__door_merge_start(pb_door* d, int rank, const int64_t* shape, int axis, int64_t keys);
// A node of the element of x, a tensor of the shape, that stands at a place.
int pb__door_merge_load(pb_door* d, const pb_door_merge* m, int x, int place);
// Ends the nest. right_first: an i1 node, whether the right one must go in front; elements that are alike keep their
// order. The value, i64 and of the shape: which element comes first, second, ...
int pb__door_merge_end(pb_door* d, const pb_door_merge* m, int right_first);
// y[.., k, ..] = x[.., order[.., k, ..], ..] along the axis for as many as y has; y and x are values of S1.
void pb__door_in_order(pb_door* d, int x, int order, int axis, int y);

#endif
