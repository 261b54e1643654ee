// A hash table from keys to numbers. It keeps the keys' addresses: bytes stay where they are as long as the table
// lives.
#ifndef PB_BASE_TABLE_H
#define PB_BASE_TABLE_H

#include <stddef.h>

struct pb_arena;

typedef struct pb_table {
  struct pb_table_slot* slots;
  size_t count, capacity;
} pb_table; // starts as {0}

// The number of equal bytes, -1: there are none.
int pb_table_find(const pb_table* table, const void* bytes, size_t length);
// Of bytes that are not there yet.
void pb_table_add(pb_table* table, const void* bytes, size_t length, int number);
// The number of the bytes, `next` if they are not there yet: a copy of them in the arena has it from then on.
int pb_table_number(pb_table* table, struct pb_arena* arena, const void* bytes, size_t length, int next);
// The same of addresses: what lies there is not looked at. A table is of the one kind or of the other.
int pb_table_find_address(const pb_table* table, const void* address);
void pb_table_add_address(pb_table* table, const void* address, int number);
void pb_table_free(pb_table* table);

#endif
