// Outputs in the model's order: whoever has the engine counts them as the model lists them. Nodes make them in their
// own, so values change places, and all that names one by its place follows.
#include "core/s1/lift/lift.h"

#include <stdlib.h>

static int by_place(const void* a, const void* b) {
  int x = *(const int*)a, z = *(const int*)b;
  return (x > z) - (x < z);
}

static void follow(int* value, const int* to) {
  if (*value >= 0) *value = to[*value];
}

// The nest with other numbers: several operators may share the old one.
static const pb_nest* followed(pb_s1* p, const pb_nest* nest, const int* to) {
  bool moves = false;
  for (int a = 0; nest && a < nest->access_count; ++a) moves |= to[nest->access[a].buffer] != nest->access[a].buffer;
  if (!moves) return nest;
  pb_nest* own = pb_nest_kept(&p->arena, nest);
  for (int a = 0; a < own->access_count; ++a) follow(&own->access[a].buffer, to);
  return own;
}

static void follow_all(pb_s1* p, const int* to) {
  for (size_t k = 0; k < p->op_count; ++k) {
    pb_s1_op* op = &p->ops[k];
    follow(&op->x, to);
    follow(&op->z, to);
    follow(&op->third, to);
    follow(&op->y, to);
    op->nest = followed(p, op->nest, to);
  }
  for (size_t v = 0; v < p->value_count; ++v) {
    follow(&p->values[v].alias_of, to);
    if (p->values[v].made_of) p->values[v].made_of = 1 + to[p->values[v].made_of - 1];
  }
}

void pb__s1_order(pb_s1* p, const int* outputs, size_t count) {
  bool ordered = true;
  for (size_t k = 1; k < count; ++k) ordered &= outputs[k - 1] < outputs[k];
  if (ordered) return;
  int *places = PB_NEW_ARRAY(&p->arena, int, count), *to = PB_NEW_ARRAY(&p->arena, int, p->value_count);
  pb_s1_value* moved = PB_NEW_ARRAY(&p->arena, pb_s1_value, count);
  for (size_t k = 0; k < count; ++k) {
    places[k] = outputs[k];
    moved[k] = p->values[outputs[k]];
  }
  qsort(places, count, sizeof *places, by_place);
  for (size_t v = 0; v < p->value_count; ++v) to[v] = (int)v;
  for (size_t k = 0; k < count; ++k) {
    to[outputs[k]] = places[k];
    p->values[places[k]] = moved[k];
  }
  follow_all(p, to);
}
