// Sizes that are known when a program runs: expressions of the extents that its inputs' open dims have, its symbols.
// Nodes stand in topological order, each different one once; 64 bits, and what overflows is an error.
#ifndef PB_BASE_SIZE_H
#define PB_BASE_SIZE_H

#include "core/base/arena.h"
#include "core/base/table.h"

#include <stdbool.h>
#include <stdint.h>

enum { PB_MOST_SYMBOLS = 64 };

typedef enum pb_size_op {
  PB_SIZE_NUMBER, // number
  PB_SIZE_SYMBOL, // number: which
  PB_SIZE_ADD,
  PB_SIZE_MUL,
  PB_SIZE_DIV, // rounded down; b is a positive number
  PB_SIZE_MIN, // the smaller
  PB_SIZE_OPS
} pb_size_op;

typedef struct pb_size {
  int32_t op, a, b; // a, b: earlier nodes; 0 where there is none
  int32_t zero;     // no gap between fields: nodes are compared as bytes
  int64_t number;
} pb_size;

typedef struct pb_sizes {
  pb_size** items; // in the arena: their addresses are kept
  size_t count, capacity;
  pb_table numbers;
  pb_arena arena;
} pb_sizes; // starts as {0}

int pb_size_number(pb_sizes* sizes, int64_t number);
int pb_size_symbol(pb_sizes* sizes, int symbol);
// Of numbers the number, where it does not overflow; x + 0, x * 1, x * 0, x / 1 and the smaller of x and x are what
// they are.
int pb_size_make(pb_sizes* sizes, pb_size_op op, int a, int b);
static inline int pb_size_plus(pb_sizes* s, int a, int64_t b) {
  return pb_size_make(s, PB_SIZE_ADD, a, pb_size_number(s, b));
}
static inline int pb_size_times(pb_sizes* s, int a, int64_t b) {
  return pb_size_make(s, PB_SIZE_MUL, a, pb_size_number(s, b));
}
bool pb_size_is_number(const pb_sizes* sizes, int size, int64_t* number);
void pb_sizes_free(pb_sizes* sizes);

// One node, of values[k] of the nodes in front. false: it overflows.
bool pb_size_value(const pb_size* node, const int64_t* symbols, const int64_t* values, int64_t* value);

#endif
