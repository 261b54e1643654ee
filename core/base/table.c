#include "core/base/table.h"

#include "core/base/arena.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// Open addressing with linear probing, at most half full; key NULL: free.
typedef struct pb_table_slot {
  const void* key;
  size_t length; // 0: the key is the address itself
  uint64_t hash;
  int number;
} slot;

static const char nothing[1]; // the key of no bytes

// FNV-1a; the last steps spread it to the low bits, which choose the slot.
static uint64_t hash_of(const void* bytes, size_t length) {
  const unsigned char* b = bytes;
  uint64_t h = 1469598103934665603u;
  for (size_t k = 0; k < length; ++k) h = (h ^ b[k]) * 1099511628211u;
  return h ^ h >> 32;
}

static bool same(const slot* s, uint64_t hash, const void* key, size_t length) {
  if (s->hash != hash || s->length != length) return false;
  return length ? !memcmp(s->key, key, length) : s->key == key;
}

// The slot of the key, or the free one where it would go.
static slot* probe(const pb_table* table, uint64_t hash, const void* key, size_t length) {
  size_t k = hash & (table->capacity - 1);
  while (table->slots[k].key && !same(&table->slots[k], hash, key, length)) k = (k + 1) & (table->capacity - 1);
  return &table->slots[k];
}

static void grow(pb_table* table) {
  pb_table bigger = {.count = table->count, .capacity = table->capacity ? table->capacity * 2 : 64};
  bigger.slots = calloc(bigger.capacity, sizeof *bigger.slots);
  if (!bigger.slots) pb_no_memory(bigger.capacity * sizeof *bigger.slots);
  for (size_t k = 0; k < table->capacity; ++k) {
    const slot* s = &table->slots[k];
    if (s->key) *probe(&bigger, s->hash, s->key, s->length) = *s;
  }
  free(table->slots);
  *table = bigger;
}

static int find(const pb_table* table, uint64_t hash, const void* key, size_t length) {
  if (!table->count) return -1;
  const slot* s = probe(table, hash, key, length);
  return s->key ? s->number : -1;
}

static void add(pb_table* table, uint64_t hash, const void* key, size_t length, int number) {
  if (table->count * 2 >= table->capacity) grow(table);
  *probe(table, hash, key, length) = (slot){key, length, hash, number};
  ++table->count;
}

int pb_table_find(const pb_table* table, const void* bytes, size_t length) {
  return find(table, hash_of(bytes, length), length ? bytes : nothing, length);
}

void pb_table_add(pb_table* table, const void* bytes, size_t length, int number) {
  add(table, hash_of(bytes, length), length ? bytes : nothing, length, number);
}

int pb_table_number(pb_table* table, pb_arena* arena, const void* bytes, size_t length, int next) {
  int known = pb_table_find(table, bytes, length);
  if (known >= 0) return known;
  void* kept = pb_alloc_raw(arena, length + 1);
  memcpy(kept, bytes, length);
  pb_table_add(table, kept, length, next);
  return next;
}

int pb_table_find_address(const pb_table* table, const void* address) {
  return find(table, hash_of(&address, sizeof address), address, 0);
}

void pb_table_add_address(pb_table* table, const void* address, int number) {
  add(table, hash_of(&address, sizeof address), address, 0, number);
}

void pb_table_free(pb_table* table) {
  free(table->slots);
  *table = (pb_table){0};
}
