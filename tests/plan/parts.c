// Parts and steps of a dim, against their definitions.
#include "core/s3/kernel/parts.h"

#include <stdio.h>

static int failed;

static void check(int right, const char* what, int64_t extent, int64_t most) {
  if (!right) printf("%s of %lld, at most %lld: wrong\n", what, (long long)extent, (long long)most);
  failed += !right;
}

static void check_parts(int64_t extent, int64_t most) {
  pb_parts p = pb_parts_of(extent, most);
  int64_t small = p.count - p.big, least = (extent + most - 1) / most;
  check(p.count == least && p.size <= most && p.big > 0, "parts", extent, most);
  check(p.big * p.size + small * (p.size - 1) == extent, "sum of parts", extent, most);
}

static void check_divisor(int64_t extent, int64_t most) {
  int64_t largest = 1;
  for (int64_t d = 2; d <= most && d <= extent; ++d)
    if (extent % d == 0) largest = d;
  check(pb_largest_divisor(extent, most) == largest, "divisor", extent, most);
}

// Steps fall to 1; between two neighbours further apart than by half no divisor is left out, and nowhere is one
// jumped over.
static void check_steps(int64_t extent) {
  for (int64_t last = extent, step; last > 0; last = step) {
    step = pb_next_step(extent, last);
    check(step < last && (step > 0 || last == 1), "next step", extent, last);
    for (int64_t d = step + 1; d < last; ++d) check(extent % d != 0, "divisor between steps", extent, last);
    check(extent % (step ? step : 1) == 0 || pb_parts_of(extent, step).size == step, "even step", extent, last);
  }
}

int main(void) {
  for (int64_t extent = 1; extent <= 300; ++extent) {
    for (int64_t most = 1; most <= extent + 1; ++most) {
      check_parts(extent, most);
      check_divisor(extent, most);
    }
    check_steps(extent);
  }
  return failed > 0;
}
