// Copies of numbers that a pointwise nest makes of narrower ones, as of codes, become copies of the narrower ones, and
// the nest goes behind them: an image that a resize repeats is moved as codes, and what takes it makes the numbers. Of
// copies of images along lines and columns, whose channels stay where they are. Exact.
//
//   before   f[c, h, w] = (x[c, h, w] - 3) * 0.1;  y[c, 2 h + i, w] = f[c, h, w]                     of x: codes
//   after    t[c, 2 h + i, w] = x[c, h, w];        y[c, h, w] = (t[c, h, w] - 3) * 0.1
#include "core/s3/compose.h"
#include "core/s3/fusion/fusion.h"

#include <string.h>

// Whether the nest makes each element of one of fewer bits, at the same place.
static bool widens(const pb_program* p, int n) {
  const pb_nest* nest = &p->nests[n];
  const pb_access *x = &nest->access[0], *y = &nest->access[1];
  int dim_of[PB_NEST_RANK];
  if (nest->reduce != PB_SET || nest->access_count != 2 || pb_nest_is_fixed(nest)) return false;
  if (pb_program_is_const(p, n, 0) || x->boxed || x->splat || pb_type_bits(x->type) >= pb_type_bits(y->type))
    return false;
  return y->rank == PB_IMAGE_RANK && pb_walks_elements(nest, y, dim_of) && pb_same_walk(x, y);
}

// Whether the copy fills an image with another one's lines and columns, channel by channel.
static bool keeps_channels(const pb_program* p, int n) {
  const pb_nest* nest = &p->nests[n];
  const pb_access *x = &nest->access[0], *y = &nest->access[1];
  return pb_copies_elements(nest) && x->rank == PB_IMAGE_RANK && y->rank == PB_IMAGE_RANK &&
         x->shape[PB_IMAGE_CHANNELS] > 1 && x->shape[PB_IMAGE_CHANNELS] == y->shape[PB_IMAGE_CHANNELS] &&
         !memcmp(&x->index[PB_IMAGE_CHANNELS], &y->index[PB_IMAGE_CHANNELS], sizeof x->index[PB_IMAGE_CHANNELS]) &&
         pb_nest_iterations(nest) == pb_access_elements(y);
}

// The nest that widens what copy n, its only reader, moves; -1: there is none.
static int widened_by(const pb_program* p, int n) {
  int from = p->value_of[n][0], to = pb_program_stored(p, n);
  if (p->gone[n] || !keeps_channels(p, n) || pb_program_only_writer(p, to) != n) return -1;
  int maker = pb_program_only_writer(p, from);
  bool alone = maker >= 0 && maker < n && !p->gone[maker] && pb_program_only_reader(p, from) == n;
  return alone && widens(p, maker) ? maker : -1;
}

// The copy takes the maker's place, and the maker, over all that was copied, the copy's.
static void swap(pb_program* p, pb_arena* arena, int maker, int copy) {
  pb_nest *first = &p->nests[maker], *then = &p->nests[copy];
  pb_nest* made = pb_nest_kept(arena, first);
  pb_access whole = pb_value_shape(&p->values[pb_program_stored(p, copy)]), narrow = whole;
  narrow.type = first->access[0].type;
  int moved = pb_program_add_local(p, arena, &narrow);
  pb_nest_copy(first, then);
  first->expr_count = 0;
  first->access[0].type = first->access[1].type = narrow.type;
  (void)pb_nest_load(first, 0);
  pb_nest_copy(then, made);
  then->dim_count = 0;
  for (int r = 0; r < whole.rank; ++r) whole.index[r].coef[pb_nest_add_dim(then, whole.shape[r])] = 1;
  memcpy(narrow.index, whole.index, sizeof narrow.index);
  then->access[0] = narrow;
  then->access[1] = whole;
  pb_program_set_value(p, arena, maker, 1, moved);
  pb_program_set_value(p, arena, copy, 0, moved);
}

bool pb_fusion_narrow_copies(pb_program* p, pb_arena* arena) {
  bool any = false;
  for (int n = 0; n < p->nest_count; ++n) { // what widens goes on to the next copy
    int maker = widened_by(p, n);
    if (maker < 0) continue;
    swap(p, arena, maker, n);
    any = true;
  }
  return any;
}
