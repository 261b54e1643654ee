// Joining a pointwise nest with the one nest that takes what it makes, element by element: one body computes both.
#ifndef PB_S3_FUSION_JOIN_H
#define PB_S3_FUSION_JOIN_H

#include "core/base/arena.h"
#include "core/s3/program.h"

// A taker and the maker of one of its loads, and what becomes of them. Most of a nest is not in use, nor touched, so
// that one of these serves a whole pass.
typedef struct pb_join {
  pb_program* p;
  bool copies; // makers may be copies too
  int taker, maker, load, dim_of[PB_NEST_RANK];
  int values[PB_NEST_ACCESSES]; // by access of `out`
  pb_nest out;
} pb_join;

pb_join* pb_join_begin(pb_program* program, pb_arena* arena);
// Whether it is pointwise: it sets elements by an expression of what it loads, through indices that nests can change.
bool pb_join_takes(const pb_nest* nest);
// Whether it sets all elements to one number.
bool pb_join_is_number(const pb_nest* nest);
// Whether nests make the value. Constants and inputs have a use in every second nest of a long chain: to look through
// them for a writer would take time by the square of its length.
static inline bool pb_join_is_made(const pb_program* program, int value) {
  return program->values[value].kind != PB_VALUE_CONST && program->values[value].kind != PB_VALUE_INPUT;
}
// Whether the nest alone takes what a reduction makes: it will be that one's epilogue.
bool pb_join_is_epilogue(const pb_program* program, int n);
// Whether load `a` of nest n takes each element once, of a value that a pointwise nest makes for it alone; then the
// join is about these two.
bool pb_join_find(pb_join* join, int n, int a);
// The same of a value that others load too, or the nest at several places; or that is one number.
bool pb_join_find_any(pb_join* join, int n, int a);
// *out: the taker with the maker's expression in place of its load. false: a nest has no room for both.
bool pb_join_make(pb_join* join);
// The taker becomes *out; the maker is the caller's to drop.
void pb_join_keep(pb_join* join, pb_arena* arena);

#endif
