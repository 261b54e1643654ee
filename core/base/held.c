#include "core/base/held.h"

#include <stdlib.h>

struct pb_held_item {
  bool error;
  int code;
  const char* text;
};

static void take(void* user, bool error, int code, const char* text) {
  pb_held* held = user;
  if (held->passes)
    pb_diag_pass(held->to, error, code, text);
  else
    PB_PUSH(held->items, held->count, held->capacity,
            ((struct pb_held_item){error, code, pb_strdup(&held->arena, text)}));
}

void pb_held_start(pb_held* held, pb_diag* to) {
  *held = (pb_held){.diag = {.sink = take, .user = held, .text = to ? to->text : NULL}, .to = to};
}

void pb_held_release(pb_held* held) {
  for (size_t k = 0; k < held->count; ++k)
    pb_diag_pass(held->to, held->items[k].error, held->items[k].code, held->items[k].text);
  held->count = 0;
  held->passes = true;
}

void pb_held_end(pb_held* held) {
  free(held->items);
  pb_arena_free(&held->arena);
  *held = (pb_held){0};
}
