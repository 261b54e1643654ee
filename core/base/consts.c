#include "core/base/consts.h"

#include <stdlib.h>
#include <string.h>

int pb_consts_add(pb_consts* consts, const char* name, pb_type type, int rank, const int64_t* shape, const void* data) {
  pb_const item = {.name = pb_strdup(&consts->arena, name ? name : ""), .type = type, .rank = rank, .data = data};
  item.bytes = (uint64_t)(pb_type_bits(type) + 7) / 8;
  for (int r = 0; r < rank; ++r) item.bytes *= (uint64_t)(item.shape[r] = shape[r]);
  PB_PUSH(consts->items, consts->count, consts->capacity, item);
  return (int)consts->count - 1;
}

void pb_consts_free(pb_consts* consts) {
  free(consts->items);
  pb_arena_free(&consts->arena);
  *consts = (pb_consts){0};
}
