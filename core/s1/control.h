// Control of the host's program: loops and branches that data decide. Operators that are marks stand among the others
// and nest as brackets do:
//
//   LOOP ... WHILE x ... MOVE y = x ... AGAIN        IF x ... MOVE ... ELSE ... MOVE ... END
//
// What goes from turn to turn, or comes out of branches, are variables: values that moves alone make. Between two marks
// operators are a segment, a program of its own, with inputs and outputs where values cross its borders; the stages
// behind S1 see one segment at a time. The host's program launches their kernels, copies what moves say, and jumps.
#ifndef PB_S1_CONTROL_H
#define PB_S1_CONTROL_H

#include "core/s1/make.h"

static inline bool pb_s1_is_control(const pb_s1_op* op) { return op->kind >= PB_S1_MOVE; }
bool pb_s1_has_control(const pb_s1* program);
// 1: the mark opens a loop or a branch; -1: it ends one; 0: neither.
static inline int pb_s1_opens(pb_s1_kind kind) {
  return (kind == PB_S1_LOOP || kind == PB_S1_IF) - (kind == PB_S1_AGAIN || kind == PB_S1_END);
}
// The mark that ends the loop or branch which operator `begin` opens.
size_t pb_s1_end_of(const pb_s1* program, size_t begin);

// A variable of the value's type and shape.
int pb_control_variable(pb_maker* m, int like);
void pb_control_mark(pb_maker* m, pb_s1_kind kind, int x);
// All at once: what was a variable's before is what the others get. Those that stay as they are need no move.
void pb_control_assign(pb_maker* m, int count, const int* variables, const int* values);

void pb_control_place(pb_maker* m, int variable, int x, int axis, int index);

// Where the chip has no command that gathers rows. First, before integers of 64 bits are words, all else that is looked
// up at run time becomes rows at numbers.
void pb_s1_places_by_host(pb_s1* program, pb_consts* consts);
void pb_s1_rows_by_host(pb_s1* program);

// Drops operators whose results nobody reads, in this turn or a later one.
void pb_s1_drop_unread(pb_s1* program);
// Variables of loops that stay what they are become that (rewrite/hoist.c).
void pb_s1_drop_unchanged(pb_s1* program);
// Moves what each turn of a loop computes alike in front of the loop (rewrite/hoist.c).
void pb_s1_hoist(pb_s1* program);
// Values with a short dim that is taken apart become a value for each place along it (rewrite/planes.c).
void pb_s1_split_short_dims(pb_s1* program);
// Sums of a few elements along the first dim of the values that `of` has, of so many, are written out.
void pb_s1_write_short_sums(pb_s1* program, const bool* of, size_t values);
// Short last dims that are summed away become first ones (rewrite/short_dims.c).
void pb_s1_turn_short_dims(pb_s1* program);

// Where the host jumps, as marks open and close: loops that begin and are left, branches.
typedef struct pb_brackets {
  struct pb_bracket {
    int begin, leave; // steps: where its loop begins, -1; the jump whose target is to come, -1
  } * open;           // with room for as many as there are marks
  int depth;
} pb_brackets;
typedef struct pb_jump {
  int step, target;
} pb_jump;
// Whether a step that jumps stands for the mark.
static inline bool pb_mark_jumps(pb_s1_kind kind) {
  return kind == PB_S1_WHILE || kind == PB_S1_AGAIN || kind == PB_S1_IF || kind == PB_S1_ELSE;
}
// Takes a mark that moves nothing. jump: the step that stands for it, -1; next: the step behind. Which jumps have their
// targets now, two at most; of AGAIN its own first, to where the loop begins.
int pb_brackets_take(pb_brackets* brackets, pb_s1_kind kind, int jump, int next, pb_jump* jumps);

// A stretch of operators between marks, or a loop that is one kernel (core/driver/turns.c), and what of the whole
// program's values it reads and makes for others.
typedef struct pb_segment {
  size_t first, end;
  pb_s1 program; // its inputs and outputs are named by the numbers of the whole program's values
} pb_segment;
typedef struct pb_segments {
  pb_segment* items;
  size_t count, capacity;
  bool* crosses; // by value: it lies in memory between segments
} pb_segments;
// A value that is read where it may not have been made is an error: PB4112.
pb_status pb_s1_segments(const pb_s1* program, pb_diag* diag, pb_segments* segments) PB_MUST_CHECK;
void pb_segments_free(pb_segments* segments);

#endif
