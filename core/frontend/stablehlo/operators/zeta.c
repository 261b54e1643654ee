// Hurwitz's zeta function and polygamma, written out in f64 whatever the type.
#include "core/frontend/stablehlo/write_out.h"

#include <math.h>
#include <string.h>

// A number for all elements of x.
static int number(pb_writer* w, int x, double value) { return pb__write_number(w, pb__write_type(w, x), value); }

static int add(pb_writer* w, int x, int y) { return pb__write_binary(w, "stablehlo.add", x, y); }
static int mul(pb_writer* w, int x, int y) { return pb__write_binary(w, "stablehlo.multiply", x, y); }
static int over(pb_writer* w, int x, int y) { return pb__write_binary(w, "stablehlo.divide", x, y); }
static int power(pb_writer* w, int x, int y) { return pb__write_binary(w, "stablehlo.power", x, y); }
static int plus(pb_writer* w, int x, double value) { return add(w, x, number(w, x, value)); }

static int compare_with(pb_writer* w, const char* how, int x, double value) {
  return pb__write_compared(w, how, x, number(w, x, value));
}

static int number_where(pb_writer* w, int which, double value, int no) {
  return pb__write_chosen(w, which, number(w, no, value), no);
}

static int is_whole(pb_writer* w, int x) {
  return pb__write_compared(w, "EQ", x, pb__write_unary(w, "stablehlo.floor", x));
}

static int is_even(pb_writer* w, int x) {
  int rest = pb__write_binary(w, "stablehlo.remainder", x, number(w, x, 2));
  return compare_with(w, "EQ", rest, 0);
}

// The sum of (q + k)^-x over k >= FIRST by Euler's and Maclaurin's formula at a = q + FIRST:
//
//   a^(1 - x) / (x - 1) + a^-x (1/2 + x / a (c[0] + (x + 1) (x + 2) / a^2 (c[1] + ...)))
//
// where c are Bernoulli's numbers by factorials.
enum { FIRST = 10 };

static int sum_behind(pb_writer* w, int x, int q) {
  static const double c[] = {1.0 / 12,
                             -1.0 / 720,
                             1.0 / 30240,
                             -1.0 / 1209600,
                             1.0 / 47900160,
                             -691.0 / 1307674368000,
                             1.0 / 74724249600,
                             -3617.0 / 10670622842880000,
                             43867.0 / 5109094217170944000};
  enum { TERMS = sizeof c / sizeof *c };
  int a = plus(w, q, FIRST), first = power(w, a, pb__write_unary(w, "stablehlo.negate", x)), square = mul(w, a, a);
  int inner = number(w, x, c[TERMS - 1]);
  for (int k = TERMS - 2; k >= 0; --k) {
    int one = plus(w, x, 2 * k + 1), factor = mul(w, one, plus(w, x, 2 * k + 2));
    inner = plus(w, mul(w, over(w, factor, square), inner), c[k]);
  }
  inner = plus(w, mul(w, over(w, x, a), inner), 0.5);
  int near = mul(w, first, inner);
  near =
      pb__write_chosen(w, compare_with(w, "EQ", first, 0), first, near); // of an x for which the factors are infinite
  int above = plus(w, x, -1), far = power(w, a, pb__write_unary(w, "stablehlo.negate", above));
  return add(w, near, over(w, far, above));
}

// Of f64. At a pole it is infinite where both sides are alike; where q is below 0 it is not computed.
static int zeta(pb_writer* w, int x, int q) {
  int minus = pb__write_unary(w, "stablehlo.negate", x), y = sum_behind(w, x, q);
  for (int k = FIRST - 1; k >= 0; --k) y = add(w, y, power(w, plus(w, q, k), minus));
  int nan = number(w, q, NAN), pole = number_where(w, is_even(w, x), INFINITY, nan);
  pole = pb__write_chosen(w, is_whole(w, q), pole, nan);
  y = pb__write_chosen(w, compare_with(w, "LE", q, 0), pole, y);
  y = number_where(w, compare_with(w, "LT", x, 1), NAN, y);
  return number_where(w, compare_with(w, "EQ", x, 1), INFINITY, y);
}

// The n-th derivative of digamma: n! zeta(n + 1, x), below 0 where n is even.
static int polygamma(pb_writer* w, int n, int x) {
  int next = plus(w, n, 1), log = pb__write_unary(w, "chlo.lgamma", next);
  int factorial = pb__write_unary(w, "stablehlo.exponential", log), y = mul(w, factorial, zeta(w, next, x));
  int even = is_even(w, n), minus = pb__write_unary(w, "stablehlo.negate", y), nan = number(w, n, NAN);
  y = pb__write_chosen(w, even, minus, y);
  y = pb__write_chosen(w, is_whole(w, n), y, nan);
  y = number_where(w, compare_with(w, "LT", n, 0), NAN, y);
  int none = compare_with(w, "EQ", n, 0), digamma = pb__write_unary(w, "chlo.digamma", x);
  return pb__write_chosen(w, none, digamma, y);
}

// In f64, and of the result's shape, which chlo.broadcast_* has checked.
static int wide(pb_writer* w, int x, const pb_flat_type* result) {
  pb_flat_type type = pb__write_type(w, x);
  int64_t dims[PB_FLAT_RANK];
  int lead = result->rank - type.rank;
  for (int r = 0; r < type.rank; ++r) dims[r] = lead + r;
  pb_flat_attr along = pb__write_ints(w, "broadcast_dimensions", type.rank, dims);
  type = pb__write_shaped(type, result->rank, result->shape);
  x = pb__write(w, "stablehlo.broadcast_in_dim", type, 1, &x, 1, &along);
  return pb__write_converted(w, x, PB_F64);
}

static pb_status in_wide(pb_door* d, const pb_flat_op* op, int (*made)(pb_writer* w, int x, int y)) {
  const pb_flat_type* type = pb__door_type(d, op->results[0]);
  for (int k = 0; k < 2; ++k) {
    const pb_flat_type* of = pb__door_type(d, op->operands[k]);
    bool same =
        of->rank == type->rank && (!of->rank || !memcmp(of->shape, type->shape, sizeof *of->shape * (size_t)of->rank));
    if (of->type != type->type || of->is_complex || (!same && !d->broadcasts))
      return pb__door_refuse(d, op, "operands of different types or shapes");
  }
  if (!pb_type_is_float(type->type) && !pb_type_is_narrow(type->type)) return pb__door_refuse(d, op, "of integers");
  pb_writer w = pb__write_start(d, op);
  bool outside = d->broadcasts;
  d->broadcasts = false;
  const pb_flat_type result = *type;
  int x = wide(&w, op->operands[0], &result), y = wide(&w, op->operands[1], &result);
  pb__write_result(&w, 0, pb__write_converted(&w, made(&w, x, y), type->type));
  d->broadcasts = outside;
  return pb__write_end(&w);
}

pb_status pb__door_zeta(pb_door* d, const pb_flat_op* op) { return in_wide(d, op, zeta); }

pb_status pb__door_polygamma(pb_door* d, const pb_flat_op* op) { return in_wide(d, op, polygamma); }
