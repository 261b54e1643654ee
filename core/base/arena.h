// Memory with a named lifetime: many small allocations, freed by one call. Running out of memory ends the process
// with a diagnostic and exit code 1.
#ifndef PB_BASE_ARENA_H
#define PB_BASE_ARENA_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

typedef struct pb_arena {
  struct pb_arena_block* head;
} pb_arena; // starts as {0}

// Says that there is no memory for so many bytes (PB1011) and ends the process with exit code 1.
_Noreturn void pb_no_memory(size_t bytes);

void* pb_alloc(pb_arena* arena, size_t bytes);     // zeroed, aligned to 16
void* pb_alloc_raw(pb_arena* arena, size_t bytes); // not zeroed
void* pb_alloc_array(pb_arena* arena, size_t count, size_t size);
char* pb_strdup(pb_arena* arena, const char* text);
char* pb_printf(pb_arena* arena, const char* format, ...) __attribute__((format(printf, 2, 3)));
// "2x3", "a number" without dims; a dim below 0 is one that is not known, "?".
const char* pb_shape_text(pb_arena* arena, int rank, const int64_t* shape);
void pb_arena_free(pb_arena* arena);

#define PB_NEW(arena, T) ((T*)pb_alloc((arena), sizeof(T)))
#define PB_NEW_ARRAY(arena, T, n) ((T*)pb_alloc_array((arena), (n), sizeof(T)))

// Growing array on the heap: PB_PUSH(items, count, capacity, value). Starts as NULL, 0, 0; the owner calls free().
void* pb_grow(void* items, size_t count, size_t* capacity, size_t size);
#define PB_PUSH(items, count, capacity, value)                                                                         \
  do {                                                                                                                 \
    (items) = pb_grow((items), (count), &(capacity), sizeof *(items));                                                 \
    (items)[(count)++] = (value);                                                                                      \
  } while (0)

// Two places of a type give each other what they have.
#define PB_SWAP(type, a, b)                                                                                            \
  do {                                                                                                                 \
    type pb_kept = (a);                                                                                                \
    (a) = (b);                                                                                                         \
    (b) = pb_kept;                                                                                                     \
  } while (0)

#endif
