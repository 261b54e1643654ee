// Numbers by small indices, such as ids: an array that grows as far as it is set. What was not set is -1.
#ifndef PB_BASE_NUMBERS_H
#define PB_BASE_NUMBERS_H

#include "core/base/arena.h"

#include <stdlib.h>

typedef struct pb_numbers {
  int* items; // each number plus 1
  size_t count, capacity;
} pb_numbers; // starts as {0}

static inline int pb_numbers_at(const pb_numbers* n, int index) {
  return (size_t)index < n->count ? n->items[index] - 1 : -1;
}

static inline void pb_numbers_set(pb_numbers* n, int index, int number) {
  while (n->count <= (size_t)index) PB_PUSH(n->items, n->count, n->capacity, 0);
  n->items[index] = number + 1;
}

static inline void pb_numbers_free(pb_numbers* n) {
  free(n->items);
  *n = (pb_numbers){0};
}

#endif
