// Operators that `layout` leaves as they are: no rows of lanes fit them. Plain ones commands may walk, or with
// --fallback another target runs them. Their tensors are plain; movers copy what others share with them (edges.c).
#include "core/s3/layout/layout.h"

#include <string.h>

bool pb__layout_is_apart(const pb_layout* l, int n) {
  const char* name = l->program.nests[n].name;
  for (size_t k = 0; name && k < l->apart->count; ++k)
    if (!strcmp(l->apart->names[k], name)) return true;
  return false;
}

void pb__layout_set_apart(pb_layout* l, int n) {
  const char* name = pb_strdup(&l->unit->arena, l->program.nests[n].name ? l->program.nests[n].name : "");
  PB_PUSH(l->apart->names, l->apart->count, l->apart->capacity, name);
}

bool pb__layout_touched(const pb_layout* l, int v, bool apart) {
  if (!l->apart->count) return !apart;
  PB_FOR_USES (n, &l->program, v)
    if (pb__layout_is_apart(l, n) == apart) return true;
  return false;
}

bool pb__layout_grow_apart(pb_layout* l) {
  size_t before = l->apart->count;
  for (int v = 0; v < l->program.value_count; ++v) {
    bool any = false;
    PB_FOR_WRITERS (n, &l->program, v) any |= pb__layout_is_apart(l, n);
    PB_FOR_WRITERS (n, &l->program, v)
      if (any && !pb__layout_is_apart(l, n)) pb__layout_set_apart(l, n);
  }
  return l->apart->count > before;
}
