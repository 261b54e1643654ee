#include "core/base/symbols.h"

#include "core/base/symbol_trial.h"

#include <stdlib.h>
#include <string.h>

enum { LEAST_EXTENT = 59 }; // of a symbol, in all samples
enum { STEP = 11, FAR = 3 * STEP * PB_SYMBOL_SAMPLES };

int pb_symbol_named(pb_symbols* s, const char* name) {
  for (int k = 0; k < s->count; ++k)
    if (!strcmp(s->names[k], name)) return k;
  if (s->count == PB_MOST_SYMBOLS) return -1;
  s->names[s->count] = pb_strdup(&s->arena, name);
  s->same[s->count] = s->count;
  s->times[s->count] = 1;
  s->is_far[s->count] = false;
  return s->count++;
}

int pb_source_named(pb_symbols* s, const char* name) {
  for (int k = 0; k < s->source_count; ++k)
    if (!strcmp(s->sources[k].name, name)) return k;
  if (s->source_count == PB_MOST_SOURCES) return -1;
  s->sources[s->source_count].name = pb_strdup(&s->arena, name);
  return s->source_count++;
}

static int root(const pb_symbols* s, int symbol) {
  while (s->same[symbol] != symbol) symbol = s->same[symbol];
  return symbol;
}

// Steps of STEP, in an order of its own for each symbol: all remainders of divisors up to 8 are among them. No two
// symbols are ever the same: STEP of them stand at different places of a step, and those behind them that stand at the
// same one go in the same order from another beginning. None is a sum of others in all samples. Numbers are as small as
// that allows: four of them are a tensor's extents. Multiples are past all that are none.
int64_t pb_symbol_extent(const pb_symbols* s, int symbol) {
  enum { GROUPS = 6 };
  _Static_assert(PB_MOST_SYMBOLS <= STEP * GROUPS && PB_SYMBOL_SAMPLES % GROUPS == 0, "two symbols would be the same");
  int order[PB_SYMBOL_SAMPLES];
  symbol = root(s, symbol);
  if (pb__symbol_on_trial(s) == symbol) return pb__symbol_tried(s);
  uint32_t state = 12345u + (uint32_t)(symbol % STEP) * 7919u;
  for (int k = 0; k < PB_SYMBOL_SAMPLES; ++k) order[k] = k;
  for (int k = PB_SYMBOL_SAMPLES - 1; k > 0; --k) {
    state = state * 1664525u + 1013904223u;
    int other = (int)((state >> 16) % (uint32_t)(k + 1)), swap = order[k];
    order[k] = order[other];
    order[other] = swap;
  }
  int from = symbol / STEP * (PB_SYMBOL_SAMPLES / GROUPS);
  int64_t extent = LEAST_EXTENT + 3 * symbol % STEP + STEP * ((order[s->sample] + from) % PB_SYMBOL_SAMPLES);
  return s->times[symbol] * (extent + (s->is_far[symbol] ? FAR : 0));
}

bool pb_symbol_is_said(const pb_symbols* s, int symbol) {
  for (int k = 0; k < s->source_count; ++k)
    for (int n = 0; n < s->sources[k].count; ++n)
      if (s->sources[k].symbol[n] == symbol) return true;
  return false;
}

// The symbol whose extent it is; -1: no input's.
static int symbol_of(const pb_symbols* s, int64_t extent) {
  for (int k = 0; k < s->count; ++k)
    if (pb_symbol_extent(s, k) == extent && !pb_symbol_is_said(s, k)) return root(s, k);
  return -1;
}

bool pb_symbols_unify(pb_symbols* s, int64_t a, int64_t b) {
  int x = symbol_of(s, a), y = symbol_of(s, b);
  if (s->trial.now != PB_READ_PLAIN || x < 0 || y < 0 || x == y) return false;
  s->same[x > y ? x : y] = x > y ? y : x;
  s->again = true;
  return true;
}

// Its symbols are found again when the model is read again, in the order that they have without it.
static bool settle(pb_symbols* s, int symbol, int64_t extent) {
  const char* name = s->names[symbol];
  if (extent < 1 || s->settled_count == PB_MOST_SYMBOLS || pb_symbol_settled(s, name) >= 0) return false;
  s->settled[s->settled_count].name = name;
  s->settled[s->settled_count++].extent = extent;
  s->count = s->source_count = 0;
  s->again = true;
  return true;
}

bool pb_symbols_settle(pb_symbols* s, int64_t a, int64_t b) {
  int of_a = -1, of_b = -1;
  for (int k = 0; k < s->count; ++k) {
    int64_t extent = pb_symbol_extent(s, k);
    if (extent == a) of_a = k;
    if (extent == b) of_b = k;
  }
  if (s->trial.now != PB_READ_PLAIN || (of_a < 0) == (of_b < 0)) return false;
  return of_a >= 0 ? settle(s, of_a, b) : settle(s, of_b, a);
}

int64_t pb_symbol_settled(const pb_symbols* s, const char* name) {
  for (int k = 0; k < s->settled_count; ++k)
    if (!strcmp(s->settled[k].name, name)) return s->settled[k].extent;
  return -1;
}

static pb_choice* ask(pb_symbols* s, bool compares, int64_t a, int64_t b, bool* either) {
  pb_choice asked = {compares, a, b, a < b ? a : b};
  *either = s->choice_count < s->either_count && s->either[s->choice_count];
  PB_PUSH(s->choices, s->choice_count, s->choice_capacity, asked);
  return &s->choices[s->choice_count - 1];
}

// A number below the smaller one, or of one that is smaller than any symbol's below the larger, that grows with the
// smaller, so that slices that begin where it does and end where another does have elements; differently in each
// sample.
static int64_t stand_in(const pb_symbols* s, int64_t a, int64_t b) {
  enum { STEP = 7, FIRST = 20, TURN = 5, LEAST = 2 };
  int64_t least = a < b ? a : b, larger = a < b ? b : a, most = least < LEAST_EXTENT ? larger : least;
  int64_t bend = FIRST + STEP * (s->sample * TURN % PB_SYMBOL_SAMPLES);
  return LEAST + (most - 2 * LEAST) * least / (least + bend);
}

// The same question gets the same answer, and is one more all the same: whether two are the same is an accident of the
// sample's numbers.
int64_t pb_symbols_smaller(pb_symbols* s, int64_t a, int64_t b, bool* either) {
  enum { ROOM = 16 }; // numbers from which there are enough below
  pb_choice* c = ask(s, false, a, b, either);
  *either = *either && a > 0 && b > 0 && (a > b ? a : b) >= ROOM;
  if (*either) c->is = stand_in(s, a, b);
  return c->is;
}

bool pb_symbols_leave(pb_symbols* s, int64_t a, int64_t b) {
  bool either;
  (void)ask(s, true, a, b, &either);
  return either;
}

void pb_symbols_free(pb_symbols* s) {
  pb_arena_free(&s->arena);
  free(s->choices);
  *s = (pb_symbols){0};
}
