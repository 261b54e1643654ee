// What stands around a kernel's main nest, written over that one's dims: what its sums start from, borders of what is
// stored, and the nests that take the result one after the other (the epilogue). So whoever tiles the main nest tiles
// these with it.
#ifndef PB_S3_AROUND_H
#define PB_S3_AROUND_H

#include "core/s3/program.h"

enum { PB_MAX_EPILOGUES = 8, PB_MAX_FILLS = 16 };

// A pointwise nest that takes what the main nest, or the one before it, has made.
typedef struct pb_epilogue {
  int number;          // among the program's nests
  int carried;         // the access that reads that value
  const pb_nest* nest; // over the main nest's dims
} pb_epilogue;

typedef struct pb_around {
  const pb_program* program;
  const pb_nest* main; // while nests are added
  int main_index;
  // Nests may be joined to longer dims: their accesses are taken by element number, not index by index.
  bool linear;
  const pb_nest* init; // over the main nest's dims; NULL: there is none
  int init_number;
  int fill_count;
  const pb_nest* fills[PB_MAX_FILLS]; // constants in other elements of what is stored
  int epilogue_count;
  pb_epilogue epilogues[PB_MAX_EPILOGUES];
} pb_around;

// Adds nest n of the program, which is not the main one; in their order. NULL, or why it is no such nest (static). What
// is made lies in the arena.
const char* pb_around_add(pb_around* around, int n, pb_arena* arena);
// What a reduction starts from that leaves its result as it is.
double pb_reduce_neutral(pb_reduce reduce, pb_type type);
// Whether that is what the reduction begins with.
bool pb_around_begins_neutral(const pb_nest* init, const pb_nest* sum);
// The nest whose result the kernel stores.
static inline int pb_around_last(const pb_around* around) {
  return around->epilogue_count ? around->epilogues[around->epilogue_count - 1].number : around->main_index;
}
// The value that epilogue n takes: what the nest before it makes.
static inline int pb_around_made(const pb_around* around, int n) {
  return pb_program_stored(around->program, n ? around->epilogues[n - 1].number : around->main_index);
}

#endif
