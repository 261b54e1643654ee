#include "core/report/scopes.h"

#include <stdlib.h>
#include <string.h>

static void add(pb_scopes* s, const char* kind, const char* node, int first, int last) {
  s->items[s->count++] = (pb_stretch){.kind = kind, .node = node, .first = first, .last = last, .around = -1};
}

// The end of a loop is a jump back. What leaves it is an `unless` inside that goes behind it: perhaps past copies that
// another one, of a second turn, comes by.
static bool leaves_loop(const pb_scopes* s, int loops, int step, int target) {
  for (int k = 0; k < loops; ++k)
    if (s->items[k].first <= step && step <= s->items[k].last && target > s->items[k].last) return true;
  return false;
}

// By the first step, the longer ones first: then what is around a scope stands in front of it.
static int in_order(const void* a, const void* b) {
  const pb_stretch *x = a, *y = b;
  if (x->first != y->first) return x->first < y->first ? -1 : 1;
  return (x->last < y->last) - (x->last > y->last);
}

static void nest(pb_scopes* s, int steps) {
  for (int k = 0; k < s->count; ++k) {
    for (int j = 0; j < k; ++j)
      if (s->items[j].first <= s->items[k].first && s->items[k].last <= s->items[j].last) s->items[k].around = j;
    s->items[k].depth = s->items[k].around < 0 ? 0 : s->items[s->items[k].around].depth + 1;
    for (int step = s->items[k].first; step <= s->items[k].last && step < steps; ++step) s->of_step[step] = k;
  }
}

pb_scopes pb_scopes_of(const pb_engine* e, pb_arena* arena) {
  pb_scopes s = {.items = PB_NEW_ARRAY(arena, pb_stretch, 2 * (size_t)e->step_count + 1),
                 .of_step = PB_NEW_ARRAY(arena, int, (size_t)e->step_count + 1)};
  for (int k = 0; k < e->step_count; ++k) {
    s.of_step[k] = -1;
    if (e->steps[k].op == PB_HOST_JUMP && e->steps[k].target <= k)
      add(&s, "loop", e->steps[k].origin, e->steps[k].target, k);
  }
  int loops = s.count;
  for (int k = 0; k < e->step_count; ++k) {
    int target = e->steps[k].target;
    if (e->steps[k].op != PB_HOST_UNLESS || leaves_loop(&s, loops, k, target)) continue;
    const pb_step* past = &e->steps[target - 1]; // the `then` jumps over the `else`
    bool both = target - 1 > k && past->op == PB_HOST_JUMP && past->target >= target;
    add(&s, "then", e->steps[k].origin, k + 1, target - 1);
    if (both && past->target > target) add(&s, "else", e->steps[k].origin, target, past->target - 1);
  }
  qsort(s.items, (size_t)s.count, sizeof *s.items, in_order);
  nest(&s, e->step_count);
  return s;
}

int pb_scopes_depth(const pb_scopes* s, int step) {
  int scope = s->count ? s->of_step[step] : -1;
  return scope < 0 ? 0 : s->items[scope].depth + 1;
}

void pb_scopes_print(pb_text* text, const pb_scopes* scopes, int scope) {
  if (scope < 0) return;
  const pb_stretch* s = &scopes->items[scope];
  pb_scopes_print(text, scopes, s->around);
  pb_text_add(text, "%s{\"in\": \"%s\", \"node\": ", s->around < 0 ? "" : ", ", s->kind);
  pb_text_add_json(text, s->node, strlen(s->node));
  pb_text_add(text, ", \"first\": %d, \"last\": %d}", s->first, s->last);
}

const char* pb_scopes_step(const pb_step* step, pb_arena* arena) {
  switch (step->op) {
  case PB_HOST_MOVE:
    return pb_printf(arena, "%llu bytes moved", (unsigned long long)step->bytes);
  case PB_HOST_PLACE:
    return pb_printf(arena, "%llu bytes placed among others", (unsigned long long)(step->bytes * step->rows.count));
  case PB_HOST_TAKE:
    return pb_printf(arena, "the host copies %llu rows of %llu bytes", (unsigned long long)step->rows.count,
                     (unsigned long long)step->bytes);
  case PB_HOST_JUMP:
    return pb_printf(arena, "goes on at step %d", step->target);
  case PB_HOST_UNLESS:
    return pb_printf(arena, "goes on at step %d unless it holds", step->target);
  case PB_HOST_EXTENTS:
    return "extents that data say";
  default:
    return "";
  }
}
