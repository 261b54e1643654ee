#include "core/s3/kernel/stages.h"

#include <string.h>

bool pb_walks_by_blocks(const pb_nest* nest, const pb_index* index, int64_t extent, int* dim, int* lane,
                        int64_t* unit) {
  *dim = *lane = -1;
  *unit = 1;
  for (int d = 0; d < nest->dim_count; ++d) {
    if (!index->coef[d] || (nest->extent[d] == 1 && extent > 1)) continue;
    int* at = index->coef[d] == 1 ? lane : dim;
    if (*at >= 0) return false;
    *at = d;
  }
  if (index->cst) return false;
  if (*dim < 0) {
    *dim = *lane;
    *lane = -1;
    return *dim < 0 ? extent == 1 : nest->extent[*dim] == extent;
  }
  *unit = index->coef[*dim];
  return *lane >= 0 && nest->extent[*lane] == *unit && nest->extent[*dim] * *unit == extent;
}

static bool walks_whole(const pb_program* p, int n) {
  const pb_nest* nest = &p->nests[n];
  int dim, lane;
  int64_t unit;
  for (int a = 0; a < nest->access_count; ++a) {
    const pb_access* access = &nest->access[a];
    if (!pb_access_is_plain(access)) return false;
    for (int k = 0; k < access->rank && pb_program_is_local(p, p->value_of[n][a]); ++k)
      if (!pb_walks_by_blocks(nest, &access->index[k], access->shape[k], &dim, &lane, &unit)) return false;
  }
  return true;
}

// The nest's loop over keys as one access of a value between has it. false: another one has another.
static bool take_dim(const pb_program* p, pb_key_loop* loop, int n, int a, bool* changed) {
  const pb_access* access = &p->nests[n].access[a];
  int v = p->value_of[n][a], dim, lane;
  int64_t unit;
  if (loop->index[v] < 0) return true;
  if (!pb_walks_by_blocks(&p->nests[n], &access->index[loop->index[v]], loop->keys / loop->step[v], &dim, &lane, &unit))
    return false;
  unit *= loop->step[v];
  if (loop->dim[n] >= 0) return loop->dim[n] == dim && loop->unit[n] == unit;
  loop->dim[n] = dim;
  loop->lane[n] = lane;
  loop->unit[n] = unit;
  return *changed = true;
}

// The index of a value between that walks keys, as the nest's loop tells.
static bool take_index(const pb_program* p, pb_key_loop* loop, int n, int a, bool* changed) {
  const pb_access* access = &p->nests[n].access[a];
  int v = p->value_of[n][a], found = -1, dim, lane;
  int64_t unit = 1;
  for (int k = 0; k < access->rank; ++k) {
    if (!access->index[k].coef[loop->dim[n]]) continue;
    bool fits = pb_walks_by_blocks(&p->nests[n], &access->index[k], access->shape[k], &dim, &lane, &unit);
    if (!fits || found >= 0 || dim != loop->dim[n] || loop->unit[n] % unit) return false;
    found = k;
  }
  if (found >= 0 && access->shape[found] * (loop->unit[n] / unit) != loop->keys) return false;
  if (loop->index[v] == found) return found < 0 || loop->step[v] == loop->unit[n] / unit;
  if (loop->index[v] >= 0) return false;
  loop->index[v] = found;
  loop->step[v] = loop->unit[n] / unit;
  return *changed = true;
}

static bool trace(const pb_program* p, pb_key_loop* loop) {
  for (bool changed = true; changed;) {
    changed = false;
    for (int n = 0; n < p->nest_count; ++n)
      for (int a = 0; a < p->nests[n].access_count; ++a) {
        if (!pb_program_is_local(p, p->value_of[n][a])) continue;
        if (!take_dim(p, loop, n, a, &changed)) return false;
        if (loop->dim[n] >= 0 && !take_index(p, loop, n, a, &changed)) return false;
      }
  }
  return true;
}

bool pb_key_loop_find(const pb_program* p, int first, int index, pb_arena* arena, pb_key_loop* loop) {
  size_t nests = (size_t)p->nest_count + 1, values = (size_t)p->value_count + 1;
  *loop = (pb_key_loop){.keys = p->values[first].shape[index]};
  for (int n = 0; n < p->nest_count; ++n)
    if (!walks_whole(p, n)) return false;
  loop->dim = PB_NEW_ARRAY(arena, int, nests);
  loop->lane = PB_NEW_ARRAY(arena, int, nests);
  loop->unit = PB_NEW_ARRAY(arena, int64_t, nests);
  loop->index = PB_NEW_ARRAY(arena, int, values);
  loop->step = PB_NEW_ARRAY(arena, int64_t, values);
  memset(loop->dim, 0xff, nests * sizeof *loop->dim);
  memset(loop->lane, 0xff, nests * sizeof *loop->lane);
  memset(loop->index, 0xff, values * sizeof *loop->index);
  loop->index[first] = index;
  loop->step[first] = 1;
  return loop->keys > 1 && trace(p, loop);
}

int64_t pb_key_loop_unit(const pb_program* p, const pb_key_loop* loop) {
  int64_t unit = 1;
  for (int n = 0; n < p->nest_count; ++n)
    if (loop->dim[n] >= 0 && loop->unit[n] > unit) unit = loop->unit[n];
  for (int v = 0; v < p->value_count; ++v)
    if (loop->index[v] >= 0 && loop->step[v] > unit) unit = loop->step[v];
  return unit;
}
