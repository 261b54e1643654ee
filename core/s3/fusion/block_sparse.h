// Attention whose mask is a constant: which keys count for which rows. A key that a row's mask takes out has a
// probability of +0, and what it adds to sums is zeros; where that holds for a block of rows, nests that go over the
// other keys alone leave the same bits. It holds as long as scores are bounded and values finite, which is the data's
// to say: kernels that look, and one that does everything where it does not hold, stand behind the blocks.
#ifndef PB_S3_BLOCK_SPARSE_H
#define PB_S3_BLOCK_SPARSE_H

#include "core/s3/fusion/fusion.h"

// The kernel by its rows and keys. Values are those of stages->program.
typedef struct pb_block_sparse {
  const pb_stages* stages;
  pb_blocks blocks;
  int query, key, value, made; // what scores are made of, what probabilities are multiplied by, and the result
  float bound;                 // magnitudes of queries and keys up to which it holds
} pb_block_sparse;

// Finds the blocks. false: the kernel is none of this kind, or all keys count for most rows.
bool pb_block_sparse_find(pb_unit* unit, const pb_stages* stages, pb_arena* arena, pb_block_sparse* found);

// Takes kernels of several stages apart so, in front of what does everything.
void pb_block_sparse_split(pb_unit* unit, pb_groups* groups);

#endif
