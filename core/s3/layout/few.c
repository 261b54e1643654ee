// Inside `layout`: values of so few channels that rows of lanes would be mostly empty, where code takes them as plain
// tensors. What makes such a value has few columns; its lanes are found elsewhere: neighbours along a row of the
// result, neighbours under a long window, or the channels that it sums over (contract.c, lanes.c).
#include "core/s3/layout/layout.h"

// Cycles of adding up the lanes of one register, roughly: as scalars, by way of memory.
enum { LANE_SUM_CYCLES = 20 };
enum { MOST_STEP = 4 }; // of windows along a row: neighbours of the result are so far apart

static bool is_plain(const pb_layout* l, int v) { return l->few[v] || !l->blocks[v]; }

// Whether a row of plain results, or of plain factors under a window (`summed`), has whole registers of neighbours.
static bool has_neighbours(const pb_layout* l, const pb_nest* nest, const pb_contraction_dims* roles, bool summed) {
  int other = summed ? roles->w : roles->y;
  for (int d = 0; d < nest->dim_count; ++d) {
    bool walks = summed ? roles->role[d] == PB_ROLE_K : roles->role[d] == PB_ROLE_M || roles->role[d] == PB_ROLE_B;
    if (walks && pb_access_stride(&nest->access[roles->x], d) == 1 && pb_access_stride(&nest->access[other], d) == 1 &&
        nest->extent[d] >= (summed ? 2 : 1) * l->lanes)
      return true;
  }
  return false;
}

int pb__layout_dot(const pb_layout* l, int n, const pb_contraction_dims* roles) {
  const pb_nest* nest = &l->program.nests[n];
  int x = l->program.value_of[n][roles->x], y = l->program.value_of[n][roles->y];
  int channel = pb__layout_summed_along(nest, roles, 1, true);
  int64_t columns = pb_extent_of_role(nest, roles, PB_ROLE_N);
  if (l->summed || !l->few[y] || is_plain(l, x) || channel < 0 || columns >= l->lanes) return -1;
  if (!pb__layout_weighs(l, n, roles) || pb__layout_dim_of_role(nest, roles, PB_ROLE_B) != -1) return -1;
  int64_t sums = pb_extent_of_role(nest, roles, PB_ROLE_K);
  int64_t registers = sums / nest->extent[channel] * pb__layout_blocks(nest->extent[channel], l->lanes); // of a result
  bool pays = columns * (registers + LANE_SUM_CYCLES) < sums;
  return pays ? channel : -1;
}

// Whether a contraction makes results of few channels faster than in rows of lanes, most of them empty.
static bool makes_few(const pb_layout* l, int n, const pb_contraction_dims* roles) {
  const pb_nest* nest = &l->program.nests[n];
  int64_t columns = pb_extent_of_role(nest, roles, PB_ROLE_N);
  if (!pb__layout_weighs(l, n, roles)) return false;
  if (!is_plain(l, l->program.value_of[n][roles->x])) return pb__layout_dot(l, n, roles) >= 0;
  return (columns * 2 <= l->lanes && has_neighbours(l, nest, roles, false)) ||
         (columns * 4 <= l->lanes && has_neighbours(l, nest, roles, true));
}

// Element by element: whether all that is touched can be plain.
static bool keeps_plain(const pb_layout* l, int n) {
  const pb_nest* nest = &l->program.nests[n];
  for (int a = 0; a < nest->access_count; ++a)
    if (!is_plain(l, l->program.value_of[n][a])) return false;
  return true;
}

// Whether a sum or maximum of one tensor goes along rows of planes, whole registers of neighbours at once: each a
// result of its own, or all of one, whose lanes are then added up.
static bool pools_rows(const pb_layout* l, int n) {
  const pb_nest* nest = &l->program.nests[n];
  if (nest->reduce == PB_SET || nest->access_count != 2 || pb_program_is_fixed(&l->program, n)) return false;
  if (!is_plain(l, l->program.value_of[n][0])) return false;
  for (int d = 0; d < nest->dim_count; ++d) {
    int64_t step = pb_access_stride(&nest->access[0], d);
    bool kept = pb_access_stride(&nest->access[1], d) == 1 && step >= 1 && step <= MOST_STEP;
    if (pb_access_uses(&nest->access[1], d) ? kept && nest->extent[d] >= l->lanes
                                            : step == 1 && nest->extent[d] >= 2 * l->lanes)
      return true;
  }
  return false;
}

static bool allows_few(const pb_layout* l, int n, int v) {
  const pb_nest* nest = &l->program.nests[n];
  pb_contraction_dims roles;
  if (!pb__layout_contraction_dims(l, n, &roles))
    return nest->access_count == 1 || pools_rows(l, n) || (nest->reduce == PB_SET && keeps_plain(l, n));
  const int* value_of = l->program.value_of[n];
  if (value_of[roles.w] == v || !pb__layout_weighs(l, n, &roles)) return false;
  if (value_of[roles.y] == v) return makes_few(l, n, &roles);
  return l->few[value_of[roles.y]] || pb__layout_dim_of_role(nest, &roles, PB_ROLE_B) == -1;
}

static bool stays_few(const pb_layout* l, int v) {
  PB_FOR_USES (n, &l->program, v)
    if (!allows_few(l, n, v)) return false;
  return true;
}

// Of all values that have few channels those that nothing wants otherwise.
void pb__layout_find_few(pb_layout* l) {
  const pb_program* p = &l->program;
  l->blocks = PB_NEW_ARRAY(&l->unit->pass, bool, (size_t)p->value_count + 1);
  for (int v = 0; v < p->value_count; ++v) {
    const pb_value* value = &p->values[v];
    l->blocks[v] = value->kind == PB_VALUE_LOCAL && pb__layout_has_channels(l, v) && pb__layout_can_block(l, v, -1);
    l->few[v] = l->blocks[v] && value->type == PB_F32 && value->shape[1] * 2 <= l->lanes;
  }
  pb__layout_settle(l, l->few, stays_few);
}
