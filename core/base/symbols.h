// Open dims of a program: what its inputs' extents are called, and the numbers that stand for them while it is read.
#ifndef PB_BASE_SYMBOLS_H
#define PB_BASE_SYMBOLS_H

#include "core/base/size.h"

enum { PB_SYMBOL_SAMPLES = 12, PB_MOST_TRIALS = 32 };

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

// What must hold of extents and does not may hold where a dim is a multiple: 2 * (H / 2) is H where H is even. Such
// dims are found by reading the model more often, with other numbers for one dim (symbol_trial.c).
typedef enum pb_reading {
  PB_READ_PLAIN,
  PB_READ_PROBE, // with one that no small number divides: what needs a multiple fails
  PB_READ_TRIAL, // with a multiple: whether that is enough for the question
} pb_reading;
typedef enum pb_larger { PB_LARGER_NOT, PB_LARGER_NOW, PB_LARGER_WAS } pb_larger; // than numbers that were refused
typedef struct pb_symbol_trial {
  pb_larger larger;
  pb_reading now, next;                             // this reading, and the one behind it
  int probe, probe_count;                           // several for each dim
  bool holds;                                       // what was asked does in this reading
  int question, tried[PB_MOST_TRIALS], tried_count; // by place among all that are asked in one reading
  int order[PB_MOST_SYMBOLS], count, at;            // the dims to be tried
  int64_t good;                                     // times what it is enough, 0: not known of any
  int step;                                         // half of it: what is left out of that now; odd: one more
} pb_symbol_trial;

// Front ends add symbols as they find them; those that the model says to be equal are one.
typedef struct pb_symbols {
  int count;
  const char* names[PB_MOST_SYMBOLS]; // in `arena`
  int same[PB_MOST_SYMBOLS];          // as which one in front, or itself
  int64_t times[PB_MOST_SYMBOLS];     // it is a multiple of that, as an operator needs it
  bool is_far[PB_MOST_SYMBOLS];       // its numbers are far larger than what an operator divides it by
  int sample;                         // each has another number in each sample
  bool again; // two were found to be one, or one to be a number or a multiple: what was read is of no use
  int asked;  // in this reading
  pb_symbol_trial trial;
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
// Asks whether something holds of extents, that does where one of them is a multiple of the right number. Whoever reads
// a model asks the same in each reading. Returns `holds`; the model is read again where the answer may become another.
// `extents`: whose dims are tried first, the last one in front.
bool pb_symbols_hold(pb_symbols* symbols, bool holds, const int64_t* extents, int count);
// Before and behind each reading of a model. `done`: it was not refused.
void pb_symbols_begin(pb_symbols* symbols);
void pb_symbols_end(pb_symbols* symbols, bool done);
int64_t pb_symbol_settled(const pb_symbols* symbols, const char* name); // its extent; -1: it is not
// The smaller one of two numbers, or what stands for it. *either: the program is for either answer, which is
// guarded by the caller else.
int64_t pb_symbols_smaller(pb_symbols* symbols, int64_t a, int64_t b, bool* either);
// Whether how two numbers compare is left to the program.
bool pb_symbols_leave(pb_symbols* symbols, int64_t a, int64_t b);
void pb_symbols_free(pb_symbols* symbols);

#endif
