// Open dims that are multiples: of blocks that SpaceToDepth takes, of windows that a Reshape takes them apart into.
//
//     [N, H, W, 6] -> [N, H / 4, 4, W / 4, 4, 6]     H and W are multiples of 4
//     [N, L, 5]    -> [-1, 4, 5]                     so is L: N alone could be, but rarely is
#include "core/s1/lift/lift.h"

#include <string.h>

static bool holds(lifter* l, bool is, const int64_t* extents, int count) {
  return l->consts->open && l->consts->symbols ? pb_symbols_hold(l->consts->symbols, is, extents, count) : is;
}

bool pb__divides(lifter* l, int64_t extent, int64_t by) { return holds(l, extent % by == 0, &extent, 1); }

// An extent of which `a` and `b` are the parts, one of them by the other.
static bool is_taken_apart(lifter* l, int64_t extent, int64_t a, int64_t b) {
  if (a < 2 || b < 2 || (extent / a != b && extent / b != a)) return false;
  (void)holds(l, a * b == extent, &extent, 1);
  return true;
}

void pb__divide_reshaped(lifter* l, const pb_s1_value* in, int rank, const int64_t* shape) {
  int64_t to[PB_GRAPH_RANK], all = 1, known = 1;
  int from = 0, at = 0, end = in->rank, last = rank, left = 0;
  if (!l->consts->open) return;
  memcpy(to, shape, sizeof *to * (size_t)rank);
  for (int r = 0; r < rank && r < in->rank; ++r)
    if (!to[r]) to[r] = in->shape[r];
  for (bool goes_on = true; goes_on && end > 0 && last > 0;) { // from behind, then from the front
    bool same = in->shape[end - 1] == to[last - 1];
    goes_on = same || (last > 1 && is_taken_apart(l, in->shape[end - 1], to[last - 2], to[last - 1]));
    if (goes_on) --end, last -= same ? 1 : 2;
  }
  for (bool goes_on = true; goes_on && from < end && at < last;) {
    bool same = in->shape[from] == to[at];
    goes_on = same || (at + 1 < last && is_taken_apart(l, in->shape[from], to[at], to[at + 1]));
    if (goes_on) ++from, at += same ? 1 : 2;
  }
  for (int r = from; r < end; ++r) all *= in->shape[r];
  bool fits = true;
  for (int r = at; r < last && fits; ++r) {
    left += to[r] == -1;
    if (to[r] == -1) continue;
    fits = to[r] > 0 && known <= all / to[r];
    if (fits) known *= to[r];
  }
  (void)holds(l, fits && (left ? all % known == 0 : all == known), in->shape + from, end - from);
}
