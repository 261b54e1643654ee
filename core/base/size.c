#include "core/base/size.h"

#include <stdlib.h>

static int kept(pb_sizes* s, pb_size node) {
  int known = pb_table_find(&s->numbers, &node, sizeof node);
  if (known >= 0) return known;
  pb_size* copy = PB_NEW(&s->arena, pb_size);
  *copy = node;
  PB_PUSH(s->items, s->count, s->capacity, copy);
  pb_table_add(&s->numbers, copy, sizeof *copy, (int)s->count - 1);
  return (int)s->count - 1;
}

int pb_size_number(pb_sizes* s, int64_t number) { return kept(s, (pb_size){.op = PB_SIZE_NUMBER, .number = number}); }
int pb_size_symbol(pb_sizes* s, int symbol) { return kept(s, (pb_size){.op = PB_SIZE_SYMBOL, .number = symbol}); }

bool pb_size_is_number(const pb_sizes* s, int size, int64_t* number) {
  *number = s->items[size]->number;
  return s->items[size]->op == PB_SIZE_NUMBER;
}

bool pb_size_value(const pb_size* n, const int64_t* symbols, const int64_t* values, int64_t* value) {
  switch ((pb_size_op)n->op) {
  case PB_SIZE_NUMBER:
    *value = n->number;
    return true;
  case PB_SIZE_SYMBOL:
    *value = symbols[n->number];
    return true;
  case PB_SIZE_ADD:
    return !__builtin_add_overflow(values[n->a], values[n->b], value);
  case PB_SIZE_MUL:
    return !__builtin_mul_overflow(values[n->a], values[n->b], value);
  case PB_SIZE_DIV:
    *value = values[n->a] / values[n->b] - (values[n->a] % values[n->b] < 0);
    return true;
  case PB_SIZE_MIN:
    *value = values[n->a] < values[n->b] ? values[n->a] : values[n->b];
    return true;
  case PB_SIZE_OPS:
    break;
  }
  return false;
}

// Of commutative operations the earlier operand comes first.
int pb_size_make(pb_sizes* s, pb_size_op op, int a, int b) {
  int64_t x, y, values[2], result;
  bool is_x = pb_size_is_number(s, a, &x), is_y = pb_size_is_number(s, b, &y);
  if (op == PB_SIZE_ADD && is_x && !x) return b;
  if (op == PB_SIZE_ADD && is_y && !y) return a;
  if (op == PB_SIZE_MUL && ((is_x && x == 1) || (is_y && !y))) return b;
  if (op == PB_SIZE_MUL && ((is_y && y == 1) || (is_x && !x))) return a;
  if (op == PB_SIZE_DIV && is_y && y == 1) return a;
  if (op == PB_SIZE_MIN && a == b) return a;
  values[0] = x;
  values[1] = y;
  pb_size folded = {.op = op, .a = 0, .b = 1};
  if (is_x && is_y && pb_size_value(&folded, NULL, values, &result)) return pb_size_number(s, result);
  bool turned = op != PB_SIZE_DIV && a > b;
  return kept(s, (pb_size){.op = op, .a = turned ? b : a, .b = turned ? a : b});
}

void pb_sizes_free(pb_sizes* s) {
  free(s->items);
  pb_table_free(&s->numbers);
  pb_arena_free(&s->arena);
  *s = (pb_sizes){0};
}
