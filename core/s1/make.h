// Builders of operators as nests: what every front end makes those of that are no kind of their own. A maker writes one
// operator's nests: start one, add what it reads, its body, and end it with what it writes.
#ifndef PB_S1_MAKE_H
#define PB_S1_MAKE_H

#include "core/s1/s1.h"

typedef struct pb_maker {
  pb_s1* program;
  pb_consts* consts;
  const char *name, *type; // of the operator that is being made, as the model says it
  bool is_wrong;           // a nest was ended that stores another type than its tensor's
  pb_nest nest;            // that is being made
} pb_maker;

// A value of its own. The extents are positive and their product is below 2^31.
int pb_make_value(pb_maker* m, pb_type type, int rank, const int64_t* shape);
// A constant; the data must outlive the table of constants.
int pb_make_constant(pb_maker* m, pb_type type, int rank, const int64_t* shape, const void* data);
static inline const pb_s1_value* pb_made(const pb_maker* m, int value) { return &m->program->values[value]; }
int64_t pb_made_elements(const pb_maker* m, int value);

// An empty nest; `part`: "point", "copy", "init", "reduce", "gather".
pb_nest* pb_make_start(pb_maker* m, const char* part);
// The same with the loops of an element-by-element walk over y: dims[r] walks y's index r, -1 where that is always 0.
pb_nest* pb_make_walk(pb_maker* m, const char* part, int y, int* dims);
int pb_make_loop(pb_maker* m, int64_t extent); // -1: one turn
// Something that the nest reads (or changes), at 0 everywhere; indices are added to what comes back.
int pb_make_access(pb_maker* m, int value);
void pb_make_move(pb_maker* m, int access, int index, int dim, int64_t coef); // dim -1: nothing
void pb_make_along(pb_maker* m, int access, const int* dims);                 // index r by dims[r]
// The index of an element in a dense tensor of this shape, at dims: as one index of an access to a flat tensor.
void pb_make_flat(pb_maker* m, int access, int rank, const int64_t* shape, const int* dims);
// Adds an op of the maker's name that has nothing but its operand and its result (-1: none). Returns it, to be filled
// in before the next one is added.
pb_s1_op* pb_make_op(pb_maker* m, pb_s1_kind kind, int x, int y);
// Adds the access that is written and the operator with the nest.
void pb_make_end(pb_maker* m, int y, const int* dims);
void pb_make_finish(pb_maker* m); // the same where the last access is there already

// Number of a constant value whose elements are all the same, as bytes of one; NULL: it is none.
const void* pb_made_splat(const pb_maker* m, int value);
// y = x walked by its own dims, whatever shape y has of the same elements.
void pb_make_copy(pb_maker* m, int x, int y);

#endif
