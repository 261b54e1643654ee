// Whether a body of several operations, as the logarithm of two exponentials' sum is, combines numbers in any order
// alike, and its first number changes none of them; whether one of numbers and their places keeps the largest, or the
// least, and its place.
#include "core/frontend/stablehlo/operators/trial.h"

#include <math.h>

static bool combine(const pb_flat_block* body, double a, double b, double* is) {
  return pb__door_try(body, (const double[]){a, b}, 1, is);
}

static bool alike(double a, double b) { return a == b || fabs(a - b) <= 1e-9 * (1 + fabs(a) + fabs(b)); }

bool pb__door_is_monoid(const pb_flat_op* op, double first) {
  const double numbers[] = {first, 0, 1, -1, 0.25, -2.5, 3.75, 17, -40};
  enum { TRIED = sizeof numbers / sizeof *numbers };
  const pb_flat_block* body = op->region_count == 1 ? &op->regions[0] : NULL;
  if (!body || body->argument_count != 2) return false;
  for (int i = 0; i < TRIED; ++i) {
    double front, behind;
    if (!combine(body, first, numbers[i], &front) || !combine(body, numbers[i], first, &behind)) return false;
    if (!alike(front, numbers[i]) || !alike(behind, numbers[i])) return false;
    for (int j = 0; j < TRIED; ++j)
      for (int k = 0; k < TRIED; ++k) {
        double ab, bc, left, right;
        if (!combine(body, numbers[i], numbers[j], &ab) || !combine(body, ab, numbers[k], &left)) return false;
        if (!combine(body, numbers[j], numbers[k], &bc) || !combine(body, numbers[i], bc, &right)) return false;
        if (!alike(left, right)) return false;
      }
  }
  return true;
}

// The body with the number and place (a, i) in front of (b, j) keeps the better one: NaN is better than all numbers,
// and of those that are alike the first is.
static bool keeps(const pb_flat_block* body, bool largest, double a, double i, double b, double j) {
  bool first = isnan(a) || (largest ? a >= b : a <= b);
  double kept[2];
  if (!pb__door_try(body, (const double[]){a, i, b, j}, 2, kept) || kept[1] != (first ? i : j)) return false;
  double better = first ? a : b;
  return kept[0] == better || (isnan(kept[0]) && isnan(better));
}

bool pb__door_keeps_place(const pb_flat_op* op, bool is_float, bool largest) {
  const double whole[] = {0, 1, -1, 3, -40}, floats[] = {0, -0.0, 1, -1, 0.25, -2.5, INFINITY, -INFINITY, NAN};
  const double* numbers = is_float ? floats : whole;
  int count = is_float ? (int)(sizeof floats / sizeof *floats) : (int)(sizeof whole / sizeof *whole);
  const pb_flat_block* body = op->region_count == 1 ? &op->regions[0] : NULL;
  if (!body || body->argument_count != 4) return false;
  for (int i = 0; i < count; ++i)
    for (int j = 0; j < count; ++j)
      if (!keeps(body, largest, numbers[i], 0, numbers[j], 1) || !keeps(body, largest, numbers[i], 2, numbers[j], 7))
        return false;
  return true;
}
