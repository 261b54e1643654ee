#include "core/base/arena.h"

#include "core/base/diag.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// AddressSanitizer sees the ends of what is allocated from a block as it sees those of what malloc gives.
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define PB_ADDRESS_SANITIZER 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(PB_ADDRESS_SANITIZER)
#include <sanitizer/asan_interface.h>
enum { RED_ZONE = 16 };
#else
#define ASAN_POISON_MEMORY_REGION(from, bytes) ((void)(from), (void)(bytes))
#define ASAN_UNPOISON_MEMORY_REGION(from, bytes) ((void)(from), (void)(bytes))
enum { RED_ZONE = 0 };
#endif

// Most arenas hold little and not for long: blocks grow with what is taken. AddressSanitizer marks every byte of a
// block four times and keeps for a while what is freed.
enum { FIRST_BLOCK = 2048, BLOCK = 65536 };

struct pb_arena_block {
  struct pb_arena_block* next;
  size_t used, size;
  _Alignas(16) unsigned char data[];
};

void pb_no_memory(size_t bytes) {
  (void)pb_error(NULL, (pb_place){0}, 1011, NULL, "out of memory: no room for %zu bytes", bytes);
  fflush(stdout);
  _exit(1);
}

static void* must(void* memory, size_t bytes) {
  if (!memory) pb_no_memory(bytes);
  return memory;
}

// What is larger than a block has one of its own, which calloc may give as pages that nobody has touched yet.
static void* take(pb_arena* arena, size_t wanted, bool zeroed) {
  if (wanted > SIZE_MAX / 2) pb_no_memory(wanted);
  size_t bytes = ((wanted + 15) & ~(size_t)15) + RED_ZONE;
  bool alone = bytes > BLOCK;
  struct pb_arena_block* block = arena->head;
  if (!block || block->size - block->used < bytes) {
    size_t size = alone ? bytes : !block ? FIRST_BLOCK : block->size < BLOCK ? 2 * block->size : BLOCK;
    while (size < bytes) size *= 2; // to BLOCK at most
    size_t all = sizeof *block + size;
    block = must(alone && zeroed ? calloc(1, all) : malloc(all), size);
    block->size = size;
    block->used = 0;
    block->next = arena->head;
    arena->head = block;
    ASAN_POISON_MEMORY_REGION(block->data, size);
  }
  void* result = block->data + block->used;
  block->used += bytes;
  ASAN_UNPOISON_MEMORY_REGION(result, wanted);
  return zeroed && !alone ? memset(result, 0, wanted) : result;
}

void* pb_alloc(pb_arena* arena, size_t bytes) { return take(arena, bytes, true); }
void* pb_alloc_raw(pb_arena* arena, size_t bytes) { return take(arena, bytes, false); }

void* pb_alloc_array(pb_arena* arena, size_t count, size_t size) {
  if (size && count > SIZE_MAX / 2 / size) pb_no_memory(SIZE_MAX);
  return pb_alloc(arena, count * size);
}

char* pb_strdup(pb_arena* arena, const char* text) {
  size_t n = strlen(text) + 1;
  return memcpy(pb_alloc(arena, n), text, n);
}

char* pb_printf(pb_arena* arena, const char* format, ...) {
  va_list args;
  va_start(args, format);
  int n = vsnprintf(NULL, 0, format, args);
  va_end(args);
  char* text = pb_alloc(arena, (size_t)(n < 0 ? 0 : n) + 1);
  va_start(args, format);
  vsnprintf(text, (size_t)(n < 0 ? 0 : n) + 1, format, args);
  va_end(args);
  return text;
}

void pb_arena_free(pb_arena* arena) {
  while (arena->head) {
    struct pb_arena_block* next = arena->head->next;
    ASAN_UNPOISON_MEMORY_REGION(arena->head->data, arena->head->size);
    free(arena->head);
    arena->head = next;
  }
}

void* pb_grow(void* items, size_t count, size_t* capacity, size_t size) {
  if (count < *capacity) return items;
  *capacity = *capacity ? *capacity * 2 : 8;
  return must(realloc(items, *capacity * size), *capacity * size);
}

const char* pb_shape_text(pb_arena* arena, int rank, const int64_t* shape) {
  const char* text = rank ? "" : "a number";
  for (int r = 0; r < rank; ++r)
    text = shape[r] < 0 ? pb_printf(arena, "%s%s?", text, r ? "x" : "")
                        : pb_printf(arena, "%s%s%lld", text, r ? "x" : "", (long long)shape[r]);
  return text;
}
