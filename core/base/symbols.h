// Open dims of a program: what its inputs' extents are called, and the numbers that stand for them while it is read.
#ifndef PB_BASE_SYMBOLS_H
#define PB_BASE_SYMBOLS_H

#include "core/base/size.h"

enum { PB_SYMBOL_SAMPLES = 12 };

// Extents that data say: elements of a tensor, which the program makes before it uses them. `symbol` by element, -1
// where it is known what it must be; behind them the tensor has one more, 0 if a result of these extents can be made.
enum { PB_MOST_SOURCES = 64, PB_SOURCE_EXTENTS = 8 };
typedef struct pb_source {
  const char* name; // of the tensor, as an output of the program
  int count, symbol[PB_SOURCE_EXTENTS];
} pb_source;

// Where a reader asks which of two numbers is the smaller (a slice that is kept inside of its tensor, a minimum of two
// extents), and how they compare. The same questions are asked in each sample, in one order. `is`: what was answered.
typedef struct pb_choice {
  bool compares;
  int64_t a, b, is;
} pb_choice;

// Front ends add symbols as they find them; those that the model says to be equal are one.
typedef struct pb_symbols {
  int count;
  const char* names[PB_MOST_SYMBOLS]; // in `arena`
  int same[PB_MOST_SYMBOLS];          // as which one in front, or itself
  int64_t times[PB_MOST_SYMBOLS];     // it is a multiple of that, as an operator needs it
  bool is_far[PB_MOST_SYMBOLS];       // its numbers are far larger than what an operator divides it by
  int sample;                         // each has another number in each sample
  bool again; // two were found to be one, or one to be a number or a multiple: what was read is of no use
  int settled_count;
  struct {
    const char* name; // in `arena` of the first that had it
    int64_t extent;
  } settled[PB_MOST_SYMBOLS]; // dims of which an operator takes one extent alone: no symbols any more
  int source_count;
  pb_source sources[PB_MOST_SOURCES];
  bool tabulates; // there are tables that hang on extents
  bool computes;  // which are computed when the program runs
  pb_choice* choices;
  size_t choice_count, choice_capacity;
  const bool* either;  // by question, somebody else's: whether its answer hangs on extents. A number of its own stands
  size_t either_count; // for the smaller one then, as for a symbol, and comparisons are made when the program runs
  pb_arena arena;
} pb_symbols; // starts as {0}

// The symbol of that name, added where there is none; -1: there are too many.
int pb_symbol_named(pb_symbols* symbols, const char* name);
// The source of that name, added where there is none; -1: there are too many.
int pb_source_named(pb_symbols* symbols, const char* name);
// Its extent in the sample: different ones for different symbols.
int64_t pb_symbol_extent(const pb_symbols* symbols, int symbol);
bool pb_symbol_is_said(const pb_symbols* symbols, int symbol); // by data, when the program runs
// Two extents that must be one. false: they are not those of two symbols that inputs have.
bool pb_symbols_unify(pb_symbols* symbols, int64_t a, int64_t b);
// Two extents that must be one, of which one is a number and the other that of an open dim, which is settled then.
// false: they are not, or there is no room.
bool pb_symbols_settle(pb_symbols* symbols, int64_t a, int64_t b);
// An extent that must be a multiple of a number: an open dim whose extent it is has such numbers when the model is read
// again. false: it is none's, or other than said by an input, or too large.
bool pb_symbols_multiply(pb_symbols* symbols, int64_t extent, int64_t times);
// An extent whose parts are to be told from what it is divided by. true: it is an open dim's, and as large as that.
bool pb_symbols_spread(pb_symbols* symbols, int64_t extent);
int64_t pb_symbol_settled(const pb_symbols* symbols, const char* name); // its extent; -1: it is not
// The smaller one of two numbers, or what stands for it. *either: the program is for either answer, which is
// guarded by the caller else.
int64_t pb_symbols_smaller(pb_symbols* symbols, int64_t a, int64_t b, bool* either);
// Whether how two numbers compare is left to the program.
bool pb_symbols_leave(pb_symbols* symbols, int64_t a, int64_t b);
void pb_symbols_free(pb_symbols* symbols);

#endif
