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

// Steps of 11, in an order of its own for each symbol: all remainders of divisors up to 8 are among them, no two
// symbols are ever the same, and none is a sum of others in all samples.
int64_t pb_symbol_extent(const pb_symbols* s, int symbol) {
  int order[PB_SYMBOL_SAMPLES];
  symbol = root(s, symbol);
  uint32_t state = 12345u + (uint32_t)symbol * 7919u;
  for (int k = 0; k < PB_SYMBOL_SAMPLES; ++k) order[k] = k;
  for (int k = PB_SYMBOL_SAMPLES - 1; k > 0; --k) {
    state = state * 1664525u + 1013904223u;
    int other = (int)((state >> 16) % (uint32_t)(k + 1)), swap = order[k];
    order[k] = order[other];
    order[other] = swap;
  }
  return 59 + 3 * symbol + 11 * order[s->sample];
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
