// Groups of nests on their way to kernels: which nests each has, in order.
#include "core/s3/fusion/fusion.h"

void pb_groups_add(const pb_groups* g, int group, pb_arena* arena, pb_nest_list* list) {
  int count = 0, from = 0;
  for (int n = g->first[group]; n >= 0; n = g->next[n]) ++count;
  int* nests = PB_NEW_ARRAY(arena, int, (size_t)(list->count + count) + 1);
  count = 0;
  for (int n = g->first[group]; n >= 0; n = g->next[n]) {
    while (from < list->count && list->nests[from] < n) nests[count++] = list->nests[from++];
    nests[count++] = n;
  }
  while (from < list->count) nests[count++] = list->nests[from++];
  *list = (pb_nest_list){nests, count};
}

void pb_groups_list(pb_groups* g, pb_arena* arena) {
  g->first = PB_NEW_ARRAY(arena, int, (size_t)g->program->nest_count + 1); // groups that are parted later have room
  g->next = PB_NEW_ARRAY(arena, int, (size_t)g->program->nest_count + 1);
  for (int k = 0; k < g->count; ++k) g->first[k] = -1;
  for (int n = g->program->nest_count - 1; n >= 0; --n) {
    g->next[n] = g->first[g->of[n]];
    g->first[g->of[n]] = n;
  }
}

void pb_groups_join(pb_groups* g, int from, int into) {
  int *link = &g->first[into], at = g->first[from];
  while (at >= 0) {
    while (*link >= 0 && *link < at) link = &g->next[*link];
    int rest = g->next[at];
    g->of[at] = into;
    g->next[at] = *link;
    *link = at;
    at = rest;
  }
  g->first[from] = g->last[from] = -1;
}
