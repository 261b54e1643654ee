// Scalar bodies on intervals: what a body makes of operands of which only bounds are known. Bounds are those of f32
// arithmetic, which rounds monotonely; of what is one number all operations of a body give one number.
#ifndef PB_S3_INTERVAL_H
#define PB_S3_INTERVAL_H

#include "core/poly/nest.h"

// PB_ANY_NUMBER: nothing is known, it may be NaN. PB_FACTOR: neither, but what is multiplied by it, or divided, is of
// interest only as far as that is finite; zeros stay zeros then, of either sign.
typedef enum pb_interval_kind { PB_ANY_NUMBER, PB_FACTOR, PB_BOUNDED, PB_WHOLE_NUMBER } pb_interval_kind;

typedef struct pb_interval {
  pb_interval_kind kind;
  float low, high; // PB_BOUNDED: no NaN between
  int64_t integer; // PB_WHOLE_NUMBER: of an integer type
} pb_interval;

static inline pb_interval pb_interval_of(float low, float high) { return (pb_interval){PB_BOUNDED, low, high, 0}; }
// Whether it is 0, of either sign.
static inline bool pb_interval_is_zero(const pb_interval* x) {
  return x->kind == PB_BOUNDED && x->low == 0 && x->high == 0;
}

// Of all numbers of a constant, of which there are some.
pb_interval pb_constant_interval(pb_type type, const void* data, int64_t count);
// The value of the nest's last node; `loads` by access.
pb_interval pb_nest_interval(const pb_nest* nest, const pb_interval* loads);

#endif
