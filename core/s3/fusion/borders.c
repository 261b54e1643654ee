// Which tensors have a border of zeros: nothing but fills with 0 is written there, and what products of them are by is
// finite, so that each product by such a zero is one.
//
//   p[0, :] = p[8, :] = p[:, 0] = p[:, 8] = 0;  p[1 + h, 1 + w] = ...;  acc[h, w] += p[h + r, w + s] * weights[r, s]
#include "core/s3/fusion/fusion.h"
#include "core/s3/kernel/border.h"
#include "core/s3/kernel/contraction_dims.h"

#include <string.h>

static bool fills_with_zero(const pb_nest* nest) {
  return pb_nest_is_fill(nest) && nest->expr[0].op == PB_OP_CONST && nest->expr[0].value == 0;
}

// What is beside all else that is written. false: nothing is, or nobody can tell.
static bool find_border(const pb_program* p, int v, int64_t border[PB_NEST_RANK][2]) {
  const pb_value* value = &p->values[v];
  int64_t first[PB_NEST_RANK] = {0}, last[PB_NEST_RANK] = {0};
  bool filled = false, written = false, any = false;
  PB_FOR_WRITERS (n, p, v) {
    const pb_nest* nest = &p->nests[n];
    const pb_access* store = &nest->access[nest->access_count - 1];
    filled |= fills_with_zero(nest);
    if (fills_with_zero(nest)) continue;
    if (store->gathered || pb_access_can_leave(nest, store)) return false;
    for (int r = 0; r < value->rank; ++r) {
      int64_t least, most;
      if (!pb_index_range(nest, &store->index[r], &least, &most)) return false;
      first[r] = written && first[r] < least ? first[r] : least;
      last[r] = written && last[r] > most ? last[r] : most;
    }
    written = true;
  }
  for (int r = 0; filled && written && r < value->rank; ++r) {
    border[r][0] = first[r];
    border[r][1] = value->shape[r] - 1 - last[r];
    any |= border[r][0] || border[r][1];
  }
  return any;
}

// Whether the other factor of the value in nest n is finite, and the value is read index by index; *least and *most of
// each widen to what is read.
static bool keeps_zeros(const pb_program* p, int n, int v, pb_consts* consts, int64_t* least, int64_t* most) {
  const pb_nest* nest = &p->nests[n];
  pb_contraction_dims roles;
  (void)pb_program_contraction_dims(p, n, &roles);
  int factor = p->value_of[n][roles.x] == v ? roles.x : roles.w, other = factor == roles.x ? roles.w : roles.x;
  const pb_value* by = &p->values[p->value_of[n][other]];
  if (nest->access[factor].gathered || pb_access_can_leave(nest, &nest->access[factor])) return false;
  for (int r = 0; r < nest->access[factor].rank; ++r) {
    int64_t first, last;
    if (!pb_index_range(nest, &nest->access[factor].index[r], &first, &last)) return false;
    if (first < least[r]) least[r] = first;
    if (last > most[r]) most[r] = last;
  }
  return !pb_type_is_float(by->type) ||
         (by->kind == PB_VALUE_CONST && by->const_id >= 0 && pb_const_is_finite(consts, by->const_id));
}

void pb_find_borders(pb_unit* unit, pb_program* p) {
  for (int v = 0; v < p->value_count; ++v) {
    int64_t border[PB_NEST_RANK][2] = {{0}};
    if (!pb_program_is_local(p, v) || !find_border(p, v, border)) continue;
    int64_t least[PB_NEST_RANK], most[PB_NEST_RANK] = {0};
    bool keeps = true;
    memcpy(least, p->values[v].shape, sizeof least);
    PB_FOR_USES (n, p, v)
      if (keeps && pb_program_multiplies(p, n, v)) keeps = keeps_zeros(p, n, v, unit->consts, least, most);
    for (int r = 0; keeps && r < p->values[v].rank; ++r) { // no window may reach as far
      if (least[r] < border[r][0]) p->values[v].border[r][0] = border[r][0];
      if (most[r] >= p->values[v].shape[r] - border[r][1]) p->values[v].border[r][1] = border[r][1];
    }
  }
}
