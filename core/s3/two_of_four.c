// Constants of which two of four elements are not 0: the first of the two, the second, and where they stand.
#include "core/s3/stored_form.h"

#include <string.h>

// Elements that lie `step` apart along the axis, in blocks one behind the other.
typedef struct groups {
  int64_t blocks, count, step; // groups of four in a block
  size_t element;
} groups;

static bool is_zero(const uint8_t* element, size_t bytes) {
  for (size_t k = 0; k < bytes; ++k)
    if (element[k]) return false;
  return true;
}

// The places of the first two elements that are not 0, as they stand in a code; -1: there are three.
static int places_of(const uint8_t* first, const groups* g) {
  int found = 0, at[2] = {0, 1};
  for (int k = 0; k < 4; ++k) {
    if (is_zero(first + (size_t)(k * g->step) * g->element, g->element)) continue;
    if (found == 2) return -1;
    at[found++] = k;
  }
  if (found == 1) at[1] = at[0] ? 0 : 1; // of a 0
  return at[0] | at[1] << 2;
}

static const uint8_t* group_at(const uint8_t* data, const groups* g, int64_t block, int64_t k, int64_t e) {
  return data + (size_t)((block * g->count + k) * 4 * g->step + e) * g->element;
}

static bool fit(const uint8_t* data, const groups* g) {
  for (int64_t b = 0; b < g->blocks; ++b)
    for (int64_t k = 0; k < g->count; ++k)
      for (int64_t e = 0; e < g->step; ++e)
        if (places_of(group_at(data, g, b, k, e), g) < 0) return false;
  return true;
}

static void split(pb_consts* consts, const pb_const* c, const uint8_t* data, const groups* g, pb_stored_form* form) {
  int64_t shape[8], at = 0, count = g->blocks * g->count * g->step;
  uint8_t* parts[PB_STORED_PARTS];
  static const char* const names[] = {"places", "first", "second"};
  for (int p = 0; p < PB_STORED_PARTS; ++p)
    parts[p] = pb_alloc_raw(&consts->arena, (size_t)count * (p ? g->element : 1));
  for (int64_t b = 0; b < g->blocks; ++b)
    for (int64_t k = 0; k < g->count; ++k)
      for (int64_t e = 0; e < g->step; ++e, ++at) {
        const uint8_t* group = group_at(data, g, b, k, e);
        int places = places_of(group, g);
        for (int p = 0; p < 2; ++p)
          memcpy(parts[1 + p] + (size_t)at * g->element, group + (size_t)((places >> 2 * p & 3) * g->step) * g->element,
                 g->element);
        parts[0][at] = (uint8_t)places;
      }
  memcpy(shape, c->shape, sizeof shape);
  shape[form->axis] /= 4;
  for (int p = 0; p < PB_STORED_PARTS; ++p)
    form->parts[p] = pb_consts_add(consts, pb_printf(&consts->arena, "%s.%s", c->name ? c->name : "", names[p]),
                                   p ? c->type : PB_I8, c->rank, shape, parts[p]);
}

bool pb__two_of_four_split(pb_consts* consts, int id, const uint8_t* data, unsigned axes, pb_stored_form* form) {
  const pb_const* c = consts->items[id];
  if (c->shape[c->rank - 1] % 2) return false;
  form->bits = 4;
  form->part_count = PB_STORED_PARTS;
  for (int axis = c->rank - 2; axis >= 0; --axis) {
    groups g = {.blocks = 1, .count = c->shape[axis] / 4, .step = 1, .element = (size_t)pb_type_bits(c->type) / 8};
    if (!(axes >> axis & 1) || c->shape[axis] % 4) continue;
    for (int k = 0; k < axis; ++k) g.blocks *= c->shape[k];
    for (int k = axis + 1; k < c->rank; ++k) g.step *= c->shape[k];
    if (!fit(data, &g)) continue;
    form->axis = axis;
    split(consts, c, data, &g, form);
    return true;
  }
  return false;
}
