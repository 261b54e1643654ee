// Orders of many elements by the digits of their keys, the last digit first (Knuth, The Art of Computer Programming 3,
// 5.2.5): each pass counts, and moves elements of one digit behind each other in the order in which they come. Linear
// in the number of elements, where merging takes a logarithm more and waits for comparisons.
#ifndef PB_STABLEHLO_RADIX_H
#define PB_STABLEHLO_RADIX_H

#include "core/frontend/stablehlo/door.h"

enum { PB_RADIX_KEYS = 4 };

// What a comparator sorts by: operands, the first key first. Floats in the order of their numbers, in which zeros of
// both signs are alike, and all NaN, behind infinity; or `by_codes`: in that of TOTALORDER.
typedef struct pb_radix_key {
  int operand;
  bool descending, by_codes;
} pb_radix_key;

// How many keys the operator's body sorts by; 0: by something else.
int pb__door_radix_keys(const pb_door* d, const pb_flat_op* op, pb_radix_key* keys);
// The value, i64 and of their shape: which element along `axis` comes first, second, ...; those that are alike keep
// their order. x: values of S1 by operand.
int pb__door_radix(pb_door* d, const int* x, int axis, int key_count, const pb_radix_key* keys);

#endif
