// Kernels of several stages: a graph of nests that share loops. A stage is a reduction with what sets its sums and the
// pointwise nests that take them alone, or a pointwise nest; a value between stages is a buffer of one iteration of the
// shared loops, and the tensor that it was never exists.
#ifndef PB_S3_STAGES_H
#define PB_S3_STAGES_H

#include "core/s3/kernel/around.h"
#include "core/s3/program.h"

// The loop of a kernel of several stages that its last product sums over and its first one makes: in attention, keys.
// What lies between has it as an index, or has been reduced over it.

// How a nest walks an index of so many: by one dim (-1: it is one element), or by blocks (*dim) of *unit elements and
// in them (*lane, else -1). false: otherwise.
bool pb_walks_by_blocks(const pb_nest* nest, const pb_index* index, int64_t extent, int* dim, int* lane, int64_t* unit);

typedef struct pb_key_loop {
  int64_t keys;
  int *dim, *lane; // by nest: its dim over keys, or over blocks of them, and that in a block of one index; -1: none
  int64_t* unit;   // by nest: keys in an iteration of dim
  int* index;      // by value between: its index over keys, or over blocks; -1: none
  int64_t* step;   // by value between: keys in a step of that index
} pb_key_loop;

// first: the value between that has keys as its index. false: there is none such loop, or a nest walks a part of a
// value between alone.
bool pb_key_loop_find(const pb_program* program, int first, int index, pb_arena* arena, pb_key_loop* loop);
// The most keys that an iteration of some nest, or a step of some value, takes.
int64_t pb_key_loop_unit(const pb_program* program, const pb_key_loop* loop);

enum { PB_MAX_SHARED = 6, PB_MAX_BLOCKS = 8 };

// Some rows, and the keys that count for them: what is made of others is zeros, and need not be made.
typedef struct pb_block {
  int64_t row, rows, key, keys;
} pb_block;

// What there is to do where it is not all of it. Attribute pb.blocks of the kernel: the shared loop, and the blocks.
typedef struct pb_blocks {
  int row; // the shared loop over rows; the blocks together are all of it
  int count;
  pb_block items[PB_MAX_BLOCKS]; // that of the most keys first
  pb_key_loop keys;
} pb_blocks;

typedef struct pb_stages {
  const pb_program* program; // of the kernel: what is a local of it stays inside
  int shared;                // loops, in the order of the last nest's dims
  int64_t extent[PB_MAX_SHARED];
  int (*dim)[PB_MAX_SHARED]; // by nest: its dim that is this shared loop
  int (*loop)[PB_NEST_RANK]; // by value and index: which shared loop walks it, -1: none
  int fill_count;            // borders around what is stored, which are no part of the program
  const pb_nest* fills[PB_MAX_FILLS];
  const pb_blocks* blocks; // NULL: everything is done
  bool rows_in_lanes;      // the last index of what lies between is no loop: a row of lanes, of the loop in front of it
  // One ends before the next begins, as a core runs them: each is planned by itself, and nobody waits for a second
  // copy. Else they go on beside each other, from iteration to iteration, as queues run them.
  bool in_turn;
  bool in_caches;    // what lies between them is where tensors are, and stays in a core's caches
  int near;          // the memory of a core's own through which tensors pass on their way; -1: through none
  int brings, takes; // the movers beside the core that bring tensors there, and take results back; -1: code copies them
} pb_stages;

// Whether movers beside a core fill its buffers, or take its results.
static inline bool pb_stages_are_moved(const pb_stages* s) { return s->brings >= 0 || s->takes >= 0; }

// Finds the loops that all nests of a kernel share, if any, and its blocks. false: a nest is of no form that a stage
// has, or the blocks are none of the kernel's.
bool pb_stages_read(const pb_program* program, pb_arena* arena, pb_stages* stages);
// An index of a value between that blocks and lanes walk becomes two indices, so that both can be shared loops. lanes
// 0: of any extent that some nest has so.
void pb_stages_cut_rows(pb_program* program, int64_t lanes);
// The loop over what the first product makes in an iteration and the last one sums over. false: there is none.
bool pb_stages_keys(const pb_stages* stages, pb_arena* arena, pb_key_loop* loop);
// Takes loops out along which values between lie next to each other: rows of lanes stay whole.
void pb_stages_keep_rows(pb_stages* stages);
// Puts the loops last in each of whose iterations sums read more of the same again; of equal ones the longest.
void pb_stages_order_by_reuse(pb_stages* stages);
// Which nests are one stage: *of, by nest, is its number; stages stand in the order of their last nests. Returns how
// many there are.
int pb_stages_split(const pb_program* program, pb_arena* arena, int** of);
// The same, but what takes the first stage's sums is a stage of its own. Returns 0 where the first stage is no sum that
// others take.
int pb_stages_split_first(const pb_program* program, pb_arena* arena, int** of);
// Where a local lies: *home, by value, is the value whose buffer it takes over, itself, or -1: it stays in the
// registers of one stage. A pointwise nest makes its value in place of one that it is the last to read, element by
// element in rows of whole vectors.
void pb_stages_homes(const pb_program* program, const int* of, int64_t lanes, pb_arena* arena, int** home);
// The least value above `after` that the nests use, -1: none.
int pb_program_next_value(const pb_program* program, const int* nests, int count, int after);
// Some nests of a program, in their order, as a program with the values that they use: what other nests use too is no
// local of it.
void pb_program_view(const pb_program* program, const int* nests, int count, pb_arena* arena, pb_program* view);

// Its nests with values numbered in the order of their first use and without names: equal work is equal text.
void pb_program_print_view(const pb_program* program, pb_arena* arena, pb_text* text);

#endif
