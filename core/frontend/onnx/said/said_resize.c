// Resize by scales or sizes that come at run time: the places and weights of each dim are computed, as resize.c does it
// of constants.
#include "core/frontend/onnx/said/said.h"

#include <string.h>

static int real(pb_onnx* o, double value) { return pb__o_number(o, PB_F64, value); }

static int chosen(pb_onnx* o, int truth, double yes, int no) { return pb__o_select(o, truth, real(o, yes), no); }

// Where each element of the result lies in the input: in resize.c's order, so that a place between two is rounded
// alike.
static int source_of(pb_onnx* o, const pb_onnx_resize* p, int k, double in, int out, int scale, int from, int to) {
  const char* how = p->transform;
  int half = real(o, 0.5), one = real(o, 1), last = real(o, in - 1);
  int alone = pb__o_compare(o, "EQ", out, one), wide = pb__o_mul(o, scale, real(o, in));
  int middle = pb__o_div(o, pb__o_add(o, k, half), scale), stretch = pb__o_sub(o, wide, one);
  if (!strcmp(how, "asymmetric")) return pb__o_div(o, k, scale);
  if (!strcmp(how, "align_corners")) return chosen(o, alone, 0, pb__o_div(o, pb__o_mul(o, k, last), stretch));
  if (!strcmp(how, "pytorch_half_pixel")) return chosen(o, alone, 0, pb__o_sub(o, middle, half));
  if (!strcmp(how, "tf_half_pixel_for_nn")) return middle;
  if (!strcmp(how, "tf_crop_and_resize")) {
    int center = pb__o_mul(o, pb__o_mul(o, half, pb__o_add(o, from, to)), last);
    int walked = pb__o_div(o, pb__o_mul(o, pb__o_mul(o, k, pb__o_sub(o, to, from)), last), stretch);
    return pb__o_select(o, alone, center, pb__o_add(o, pb__o_mul(o, from, last), walked));
  }
  if (strcmp(how, "half_pixel_symmetric") != 0) return pb__o_sub(o, middle, half);
  int less = pb__o_sub(o, one, pb__o_div(o, out, wide)), center = pb__o_mul(o, real(o, in), half);
  int offset = pb__o_mul(o, center, less);
  return pb__o_sub(o, pb__o_add(o, offset, middle), half);
}

static int nearest_of(pb_onnx* o, const pb_onnx_resize* p, int x, int scale) {
  int half = real(o, 0.5);
  if (!strcmp(p->nearest, "simple")) {
    x = pb__o_cast(o, pb__o_cast(o, x, PB_F32), PB_F64);
    int down = pb__o_compare(o, "LT", scale, real(o, 1)), low = pb__o_unary(o, "floor", x);
    return pb__o_select(o, down, pb__o_unary(o, "ceil", x), low);
  }
  if (!strcmp(p->nearest, "floor")) return pb__o_unary(o, "floor", x);
  if (!strcmp(p->nearest, "ceil")) return pb__o_unary(o, "ceil", x);
  bool up = !strcmp(p->nearest, "round_prefer_ceil");
  return pb__o_unary(o, up ? "floor" : "ceil", up ? pb__o_add(o, x, half) : pb__o_sub(o, x, half));
}

// c3 x^3 + c2 x^2 + c1 x + c0
static int polynomial(pb_onnx* o, int x, double c3, double c2, double c1, double c0) {
  const double c[] = {c3, c2, c1, c0};
  int y = real(o, c[0]);
  for (int k = 1; k < 4; ++k) {
    y = pb__o_mul(o, y, x);
    y = pb__o_add(o, y, real(o, c[k]));
  }
  return y;
}

static int weight_of(pb_onnx* o, const pb_onnx_resize* p, int away) {
  double a = p->cubic;
  int x = pb__o_unary(o, "abs", away), zero = real(o, 0);
  if (p->mode == 'l') return pb__o_most(o, pb__o_sub(o, real(o, 1), x), zero);
  int near = polynomial(o, x, a + 2, -(a + 3), 0, 1), far = polynomial(o, x, a, -5 * a, 8 * a, -4 * a);
  int beyond = pb__o_select(o, pb__o_compare(o, "LT", x, real(o, 2)), far, zero);
  return pb__o_select(o, pb__o_compare(o, "LE", x, real(o, 1)), near, beyond);
}

static int inside(pb_onnx* o, int at, int last) {
  int behind = pb__o_compare(o, "GE", at, real(o, 0));
  return pb__o_binary(o, "and", behind, pb__o_compare(o, "LE", at, last));
}

static int element_at(pb_onnx* o, int x, int axis, int at, int last) {
  int place = pb__o_least(o, pb__o_most(o, at, real(o, 0)), last);
  return pb__o_along_axis(o, x, axis, pb__o_cast(o, place, PB_I64));
}

// The weighted sum of two or four neighbours.
static int between(pb_onnx* o, const pb_onnx_resize* p, int x, int axis, int source, int last) {
  const pb_flat_type in = *pb__o_type(o, x);
  int taps = p->mode == 'l' ? 2 : 4, at[4], by[4], sum = -1, y = -1;
  int low = pb__o_unary(o, "floor", source), none = real(o, 0);
  low = pb__o_sub(o, low, real(o, taps / 2 - 1));
  for (int t = 0; t < taps; ++t) {
    at[t] = pb__o_add(o, low, real(o, t));
    by[t] = weight_of(o, p, pb__o_sub(o, at[t], source));
    if (p->exclude) by[t] = pb__o_select(o, inside(o, at[t], last), by[t], none);
    sum = sum < 0 ? by[t] : pb__o_add(o, sum, by[t]);
  }
  for (int t = 0; t < taps && !pb__o_bad(o); ++t) {
    int weight = p->exclude ? pb__o_div(o, by[t], sum) : by[t];
    weight = pb__o_along(o, pb__o_cast(o, pb__o_cast(o, weight, PB_F32), in.type), in.rank, axis);
    int part = pb__o_mul(o, element_at(o, x, axis, at[t], last), weight);
    y = y < 0 ? part : pb__o_add(o, y, part);
  }
  return y;
}

static int numbers(pb_onnx* o, int k, const char* what, int64_t count) {
  int v = pb__o_in(o, k);
  if (pb__o_type(o, v)->rank != 1 || pb__o_type(o, v)->shape[0] != count)
    pb__o_refuse(o, "%s that are not %lld numbers", what, (long long)count);
  return pb__o_cast(o, v, PB_F64);
}

void pb__o_said_resize(pb_onnx* o, const pb_onnx_resize* p, bool by_sizes, int scales_at, const int64_t* known) {
  int x = pb__o_in(o, 0);
  const pb_flat_type in = *pb__o_type(o, x);
  const pb_attr* some = pb_node_attr(o->n, "axes");
  bool crops = !strcmp(p->transform, "tf_crop_and_resize");
  int all = some ? some->count : in.rank, at[PB_FLAT_RANK], axes[PB_FLAT_RANK];
  int64_t shape[PB_FLAT_RANK];
  if (p->antialias || strcmp(pb__o_text(o, "keep_aspect_ratio_policy", "stretch"), "stretch") != 0)
    pb__o_refuse(o, "antialiased, or of a kept ratio, by numbers that are not constant");
  if (p->mode != 'n' && !pb_type_is_float(in.type))
    pb__o_refuse(o, "of %s between its neighbours", pb_type_name(in.type));
  if (all < 1 || all > in.rank) pb__o_refuse(o, "%d axes of %d dims", all, in.rank);
  if (pb__o_bad(o)) return;
  int said = by_sizes ? numbers(o, 3, "sizes", all) : numbers(o, scales_at, "scales", all);
  int region = crops ? numbers(o, 1, "a region", 2 * (int64_t)all) : -1;
  for (int r = 0; r < in.rank; ++r) {
    at[r] = -1;
    shape[r] = in.shape[r];
  }
  for (int k = 0; k < all && !pb__o_bad(o); ++k) {
    axes[k] = pb__o_axis(o, some ? some->ints[k] : k, in.rank);
    at[axes[k]] = k;
    shape[axes[k]] = known ? known[axes[k]] : -1;
  }
  if (pb__o_bad(o)) return;
  int out[PB_FLAT_RANK], scale[PB_FLAT_RANK], extents[PB_FLAT_RANK];
  for (int r = 0; r < in.rank; ++r) {
    extents[r] = pb__o_vector(o, 1, &in.shape[r]);
    if (at[r] < 0) continue;
    int own = real(o, (double)in.shape[r]), number = pb__o_entry(o, said, at[r]);
    out[r] = by_sizes ? number : pb__o_unary(o, "floor", pb__o_mul(o, own, number));
    scale[r] = by_sizes ? pb__o_div(o, number, own) : number;
    extents[r] = pb__o_reshape(o, pb__o_cast(o, out[r], PB_I64), 1, (const int64_t[]){1});
  }
  if (!known) pb__o_extents(o, 0, pb__o_join(o, in.rank, extents, 0), -1, in.rank, shape);
  if (p->mode != 'n') x = pb__o_cast(o, x, in.type == PB_F64 ? PB_F64 : PB_F32);
  for (int r = 0; r < in.rank && !pb__o_bad(o); ++r) {
    if (at[r] < 0) continue;
    int turns = pb__o_cast(o, pb__o_turns(o, shape[r]), PB_F64), last = real(o, (double)(in.shape[r] - 1));
    int from = crops ? pb__o_entry(o, region, at[r]) : -1, to = crops ? pb__o_entry(o, region, all + at[r]) : -1;
    int source = source_of(o, p, turns, (double)in.shape[r], out[r], scale[r], from, to);
    x = p->mode == 'n' ? element_at(o, x, r, nearest_of(o, p, source, scale[r]), last)
                       : between(o, p, x, r, source, last);
    if (crops) {
      int is = pb__o_along(o, inside(o, source, last), in.rank, r);
      x = pb__o_select(o, is, x, pb__o_like(o, x, pb__o_real(o, "extrapolation_value", 0)));
    }
  }
  pb__o_out(o, 0, pb__o_bad(o) ? x : pb__o_cast(o, x, in.type));
}
