#include "core/base/symbols.h"

#include <string.h>

int pb_symbol_named(pb_symbols* s, const char* name) {
  for (int k = 0; k < s->count; ++k)
    if (!strcmp(s->names[k], name)) return k;
  if (s->count == PB_MOST_SYMBOLS) return -1;
  s->names[s->count] = pb_strdup(&s->arena, name);
  s->same[s->count] = s->count;
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
// that allows: four of them are a tensor's extents.
int64_t pb_symbol_extent(const pb_symbols* s, int symbol) {
  enum { STEP = 11, GROUPS = 3, LEAST = 59 };
  _Static_assert(PB_MOST_SYMBOLS <= STEP * GROUPS && PB_SYMBOL_SAMPLES % GROUPS == 0, "two symbols would be the same");
  int order[PB_SYMBOL_SAMPLES];
  symbol = root(s, symbol);
  uint32_t state = 12345u + (uint32_t)(symbol % STEP) * 7919u;
  for (int k = 0; k < PB_SYMBOL_SAMPLES; ++k) order[k] = k;
  for (int k = PB_SYMBOL_SAMPLES - 1; k > 0; --k) {
    state = state * 1664525u + 1013904223u;
    int other = (int)((state >> 16) % (uint32_t)(k + 1)), swap = order[k];
    order[k] = order[other];
    order[other] = swap;
  }
  int from = symbol / STEP * (PB_SYMBOL_SAMPLES / GROUPS);
  return LEAST + 3 * symbol % STEP + STEP * ((order[s->sample] + from) % PB_SYMBOL_SAMPLES);
}

bool pb_symbols_unify(pb_symbols* s, int64_t a, int64_t b) {
  int x = -1, y = -1;
  for (int k = 0; k < s->count; ++k) {
    if (pb_symbol_extent(s, k) == a) x = root(s, k);
    if (pb_symbol_extent(s, k) == b) y = root(s, k);
  }
  if (x < 0 || y < 0 || x == y) return false;
  s->same[x > y ? x : y] = x > y ? y : x;
  s->again = true;
  return true;
}

void pb_symbols_free(pb_symbols* s) {
  pb_arena_free(&s->arena);
  *s = (pb_symbols){0};
}
