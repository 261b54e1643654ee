// How long the parts are that a dim is cut into: for instructions, layouts, tiles in registers and tiles in memories.
#ifndef PB_S3_PARTS_H
#define PB_S3_PARTS_H

#include <stdint.h>

// Parts of nearly one size: `count` of them, the first `big` of them `size` long, the others one less.
typedef struct pb_parts {
  int64_t count, big, size;
} pb_parts;

// The fewest parts that are at most `most` long.
pb_parts pb_parts_of(int64_t extent, int64_t most);
// The largest divisor that is at most `most`, which is at least 1.
int64_t pb_largest_divisor(int64_t extent, int64_t most);
// The largest step below `last` worth trying along a dim: a divisor, or, where the next divisor is less than half as
// long, one that makes parts of nearly one size, each a fifth shorter than the one before. 0: none is left.
int64_t pb_next_step(int64_t extent, int64_t last);

#endif
