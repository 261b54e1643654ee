// Open dims that are multiples: of blocks that SpaceToDepth takes, of windows that a Reshape takes them apart into.
// Which number that is a Reshape says by its extents: one that is an open dim's, divided, stands beside what it is
// divided by.
//
//     [N, H, W, 6] -> [N, H / 4, 4, W / 4, 4, 6]     H and W are multiples of 4
//     [N, L, 5]    -> [-1, 4, 5]                     so is L: N alone could be, but rarely is
#include "core/s1/lift/lift.h"

#include <string.h>

enum { MOST_DIVISOR = 20 }; // of an open dim that stands beside what it is divided by: parts are larger

bool pb__divides(lifter* l, int64_t extent, int64_t by) {
  if (l->consts->open && l->consts->symbols) (void)pb_symbols_multiply(l->consts->symbols, extent, by);
  return extent % by == 0;
}

// An extent of which `a` and `b` are the parts, one of them by the other: the smaller one is what divides it.
static bool is_taken_apart(lifter* l, int64_t extent, int64_t a, int64_t b) {
  int64_t by = a < b ? a : b, part = a < b ? b : a;
  if (by < 2 || part != extent / by || !pb_symbols_spread(l->consts->symbols, extent)) return false;
  return by <= MOST_DIVISOR && pb_symbols_multiply(l->consts->symbols, extent, by);
}

// Of extents in front of which nothing is left, `all` must be what they have together.
static void share(lifter* l, const int64_t* extents, int count, int64_t all) {
  for (int r = count - 1; r >= 0 && all > 1; --r) {
    if (pb_symbols_multiply(l->consts->symbols, extents[r], all)) return;
    all /= pb_gcd(all, extents[r]);
  }
}

// What extents of which one is -1 and no other an open dim's have together; 0: they are others.
static int64_t known_of(const int64_t* extents, int count) {
  int64_t all = 1;
  int left = 0;
  for (int r = 0; r < count; ++r) {
    left += extents[r] == -1;
    if (extents[r] == -1) continue;
    if (extents[r] < 1 || extents[r] > MOST_DIVISOR) return 0;
    all *= extents[r];
  }
  return left == 1 ? all : 0;
}

void pb__divide_reshaped(lifter* l, const pb_s1_value* in, int rank, const int64_t* shape) {
  int64_t to[PB_GRAPH_RANK];
  int from = 0, at = 0, end = in->rank, last = rank;
  if (!l->consts->open || !l->consts->symbols) return;
  memcpy(to, shape, sizeof *to * (size_t)rank);
  for (int r = 0; r < rank && r < in->rank; ++r)
    if (!to[r]) to[r] = in->shape[r];
  for (; end > 0 && last > 0 && in->shape[end - 1] == to[last - 1]; --last) --end;
  while (from < end && at < last) {
    if (in->shape[from] == to[at]) {
      ++from, ++at;
    } else if (at + 1 < last && is_taken_apart(l, in->shape[from], to[at], to[at + 1])) {
      ++from, at += 2;
    } else {
      break;
    }
    if (l->consts->symbols->again) return;
  }
  int64_t all = known_of(to + at, last - at);
  if (all > 1) share(l, in->shape + from, end - from, all);
}
