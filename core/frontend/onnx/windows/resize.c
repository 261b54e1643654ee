// Resize and Upsample: each element a sum of a few neighbours along one dim after the other, by constant weights.
#include "core/frontend/onnx/said/said.h"

#include <math.h>
#include <string.h>

enum { MOST_TAPS = 64 };

typedef pb_onnx_resize plan;

// Where element k of the result lies in the input. What scales make of an extent counts as it is, before it is rounded.
static double source_of(const plan* p, int64_t k, int64_t in, int64_t out, double scale, double from, double to) {
  const char* how = p->transform;
  double x = (double)k, half = 0.5, wide = scale * (double)in;
  if (!strcmp(how, "asymmetric")) return x / scale;
  if (!strcmp(how, "align_corners")) return out == 1 ? 0 : x * (double)(in - 1) / (wide - 1);
  if (!strcmp(how, "pytorch_half_pixel")) return out == 1 ? 0 : (x + half) / scale - half;
  if (!strcmp(how, "tf_half_pixel_for_nn")) return (x + half) / scale;
  if (!strcmp(how, "tf_crop_and_resize"))
    return out == 1 ? half * (from + to) * (double)(in - 1)
                    : from * (double)(in - 1) + x * (to - from) * (double)(in - 1) / (wide - 1);
  if (!strcmp(how, "half_pixel_symmetric")) {
    double offset = (double)in / 2 * (1 - (double)out / wide);
    return offset + (x + half) / scale - half;
  }
  return (x + half) / scale - half;
}

// "simple" is what there was before nearest_mode: places of f32, of fewer elements the one behind.
static double nearest_of(const plan* p, double x, double scale) {
  if (!strcmp(p->nearest, "simple")) return scale < 1 ? ceil((double)(float)x) : floor((double)(float)x);
  if (!strcmp(p->nearest, "floor")) return floor(x);
  if (!strcmp(p->nearest, "ceil")) return ceil(x);
  return !strcmp(p->nearest, "round_prefer_ceil") ? floor(x + 0.5) : ceil(x - 0.5);
}

static double weight_of(const plan* p, double at) {
  double x = fabs(at), a = p->cubic;
  if (p->mode == 'l') return x < 1 ? 1 - x : 0;
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

// The places and weights of one element; how many.
static int taps_of(const plan* p, double x, double scale, int64_t in, int64_t* places, float* weights) {
  if (p->mode == 'n') {
    double at = fmin(fmax(nearest_of(p, x, scale), 0), (double)(in - 1));
    places[0] = (int64_t)at;
    weights[0] = 1;
    return 1;
  }
  double shrink = p->antialias && scale < 1 ? scale : 1, reach = (p->mode == 'l' ? 1 : 2) / shrink, sum = 0;
  double low = floor(x - reach) + 1, all[MOST_TAPS];
  int count = (int)(ceil(x + reach) - low);
  if (count > MOST_TAPS) return -1;
  if (count < 1) count = 1;
  for (int k = 0; k < count; ++k) {
    double at = low + k;
    bool outside = at < 0 || at > (double)(in - 1);
    all[k] = outside && p->exclude ? 0 : weight_of(p, (at - x) * shrink);
    sum += all[k];
    places[k] = (int64_t)fmin(fmax(at, 0), (double)(in - 1));
  }
  bool even = p->exclude || shrink < 1; // as a mean of what is there
  for (int k = 0; k < count; ++k) weights[k] = (float)(even && sum != 0 ? all[k] / sum : all[k]);
  return count;
}

static int resized(pb_onnx* o, int x, int axis, const plan* p, int64_t out, double scale, double from, double to,
                   double beyond) {
  const pb_flat_type in = *pb__o_type(o, x);
  int64_t extent = in.shape[axis], row[PB_FLAT_RANK] = {1, 1, 1, 1, 1, 1, 1, 1};
  int64_t* places = PB_NEW_ARRAY(&o->arena, int64_t, (size_t)out * MOST_TAPS);
  float* weights = PB_NEW_ARRAY(&o->arena, float, (size_t)out* MOST_TAPS);
  char* outside = pb_alloc(&o->arena, (size_t)out);
  int most = 1, y = -1;
  bool leaves = false;
  for (int64_t k = 0; k < out; ++k) {
    int64_t at[MOST_TAPS];
    float by[MOST_TAPS];
    double source = source_of(p, k, extent, out, scale, from, to);
    int count = taps_of(p, source, scale, extent, at, by);
    if (count < 0) pb__o_refuse(o, "more than %d neighbours for an element", MOST_TAPS);
    if (count < 0) return x;
    outside[k] = source < 0 || source > (double)(extent - 1);
    leaves |= outside[k];
    for (int t = 0; t < MOST_TAPS; ++t) {
      places[t * out + k] = at[t < count ? t : 0];
      weights[t * out + k] = t < count ? by[t] : 0;
    }
    if (count > most) most = count;
  }
  row[axis] = out;
  if (p->mode != 'n') x = pb__o_cast(o, x, in.type == PB_F64 ? PB_F64 : PB_F32);
  for (int t = 0; t < most && !pb__o_bad(o); ++t) {
    int part = pb__o_take(o, x, axis, out, places + t * out);
    if (p->mode != 'n') {
      int by = pb__o_reshape(o, pb__o_constant(o, PB_F32, 1, &out, weights + t * out), in.rank, row);
      part = pb__o_mul(o, part, pb__o_cast(o, by, pb__o_type(o, x)->type));
    }
    y = y < 0 ? part : pb__o_add(o, y, part);
  }
  if (!strcmp(p->transform, "tf_crop_and_resize") && leaves && !pb__o_bad(o)) {
    int is = pb__o_reshape(o, pb__o_constant(o, PB_I1, 1, &out, outside), in.rank, row);
    y = pb__o_select(o, is, pb__o_like(o, y, beyond), y);
  }
  return y;
}

static bool one_of(const char* word, const char* const* words) {
  for (; *words; ++words)
    if (!strcmp(word, *words)) return true;
  return false;
}

static void read_plan(pb_onnx* o, bool upsample, plan* p) {
  static const char* const transforms[] = {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners",
                                           "asymmetric", "tf_half_pixel_for_nn", "tf_crop_and_resize", NULL};
  static const char* const roundings[] = {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil", "simple", NULL};
  static const char* const modes[] = {"nearest", "linear", "bilinear", "cubic", NULL};
  bool old = upsample || pb__o_opset(o) < 11;
  const char* mode = pb__o_text(o, "mode", "nearest");
  p->transform = pb__o_text(o, "coordinate_transformation_mode", old ? "asymmetric" : "half_pixel");
  p->nearest = old ? "simple" : pb__o_text(o, "nearest_mode", "round_prefer_floor");
  p->antialias = pb__o_int(o, "antialias", 0);
  p->exclude = pb__o_int(o, "exclude_outside", 0);
  p->cubic = pb__o_real(o, "cubic_coeff_a", -0.75);
  p->mode = mode[0] == 'b' ? 'l' : mode[0];
  if (!one_of(p->transform, transforms)) pb__o_refuse(o, "coordinate_transformation_mode '%s'", p->transform);
  if (!one_of(p->nearest, roundings)) pb__o_refuse(o, "nearest_mode '%s'", p->nearest);
  if (!one_of(mode, modes)) pb__o_refuse(o, "a mode '%s'", mode);
}

// One scale for all dims, the smallest or the largest that the sizes ask for; the sizes become what it makes.
static void keep_aspect(pb_onnx* o, const pb_flat_type* in, const pb_attr* some, int count, int64_t* sizes,
                        float* scales) {
  const char* policy = pb__o_text(o, "keep_aspect_ratio_policy", "stretch");
  bool least = !strcmp(policy, "not_larger");
  double scale = 0;
  if (!least && strcmp(policy, "not_smaller")) pb__o_refuse(o, "keep_aspect_ratio_policy '%s'", policy);
  for (int k = 0; k < count && !pb__o_bad(o); ++k) {
    double of = (double)sizes[k] / (double)in->shape[pb__o_axis(o, some ? some->ints[k] : k, in->rank)];
    scale = k == 0 || (least ? of < scale : of > scale) ? of : scale;
  }
  for (int k = 0; k < count && !pb__o_bad(o); ++k) {
    double extent = (double)in->shape[pb__o_axis(o, some ? some->ints[k] : k, in->rank)];
    sizes[k] = scale * extent < (1 << 25) ? (int64_t)floor(scale * extent + 0.5) : 1 << 25;
    scales[k] = (float)scale;
  }
}

// Scales or sizes, of all dims or of `axes`: out and scale of each dim.
static void read_sizes(pb_onnx* o, const pb_flat_type* in, bool upsample, int64_t* out, double* scale) {
  const pb_attr *attr = pb_node_attr(o->n, "scales"), *some = pb_node_attr(o->n, "axes");
  bool old = upsample || pb__o_opset(o) < 11;
  float scales[PB_FLAT_RANK];
  int64_t sizes[PB_FLAT_RANK];
  int count = 0, at = old ? 1 : 2, all = some ? some->count : in->rank,
      size_count = old ? -1 : pb__o_list(o, NULL, 3, PB_FLAT_RANK, sizes);
  if (attr && attr->count <= PB_FLAT_RANK)
    memcpy(scales, attr->floats, sizeof *scales * (size_t)(count = attr->count));
  else if (pb__o_has(o, at) && !pb__o_reals(o, at, PB_FLAT_RANK, scales, &count))
    pb__o_refuse(o, "scales that are not constant f32");
  if (size_count <= 0 && count != all) pb__o_refuse(o, "%d scales for %d dims", count, all);
  if (size_count > 0 && size_count != all) pb__o_refuse(o, "%d sizes for %d dims", size_count, all);
  bool kept = size_count == all && strcmp(pb__o_text(o, "keep_aspect_ratio_policy", "stretch"), "stretch");
  if (kept && !pb__o_bad(o)) keep_aspect(o, in, some, all, sizes, scales);
  for (int k = 0; k < all && !pb__o_bad(o); ++k) {
    int r = pb__o_axis(o, some ? some->ints[k] : k, in->rank);
    double to = size_count > 0 ? (double)sizes[k] : floor((double)in->shape[r] * (double)scales[k]);
    bool none = to == 0 && !in->shape[r]; // of nothing
    if (!none && !(to >= 1 && to <= 1 << 24)) pb__o_refuse(o, "sizes that make no sense");
    if (pb__o_bad(o)) return;
    out[r] = (int64_t)to;
    scale[r] = size_count > 0 && !kept ? to / (double)in->shape[r] : (double)scales[k];
  }
}

void pb__o_op_resize(pb_onnx* o) {
  bool upsample = o->row->detail[0] != 0;
  int x = pb__o_in(o, 0), y = x, boxes = 0;
  const pb_flat_type in = *pb__o_type(o, x);
  int64_t out[PB_FLAT_RANK];
  double scale[PB_FLAT_RANK];
  float box[2 * PB_FLAT_RANK] = {0};
  plan p;
  read_plan(o, upsample, &p);
  int scales_at = upsample || pb__o_opset(o) < 11 ? 1 : 2;
  bool by_sizes = scales_at == 2 && pb__o_says(o, 3);
  if (by_sizes || pb__o_says(o, scales_at)) {
    if (!pb__o_bad(o)) pb__o_said_resize(o, &p, by_sizes, scales_at, NULL);
    return;
  }
  memcpy(out, in.shape, sizeof out);
  for (int r = 0; r < PB_FLAT_RANK; ++r) scale[r] = 1;
  read_sizes(o, &in, upsample, out, scale);
  if (pb__is_empty(in.rank, in.shape) && !pb__o_bad(o)) {
    pb__o_out(o, 0, pb__o_reshape(o, x, in.rank, out));
    return;
  }
  if (pb_consts_computes(o->l->consts) && pb__o_has(o, scales_at == 2 && pb__o_has(o, 3) ? 3 : scales_at)) {
    if (!pb__o_bad(o)) pb__o_said_resize(o, &p, scales_at == 2 && pb__o_has(o, 3), scales_at, out);
    return;
  }
  bool crops = !strcmp(p.transform, "tf_crop_and_resize");
  const pb_attr* some = pb_node_attr(o->n, "axes");
  int all = some ? some->count : in.rank;
  if (crops && (!pb__o_reals(o, 1, 2 * PB_FLAT_RANK, box, &boxes) || boxes != 2 * all))
    pb__o_refuse(o, "a region that is not constant f32");
  if (p.mode != 'n' && !pb_type_is_float(in.type))
    pb__o_refuse(o, "of %s between its neighbours", pb_type_name(in.type));
  for (int k = 0; k < all && !pb__o_bad(o); ++k) {
    int r = pb__o_axis(o, some ? some->ints[k] : k, in.rank);
    double from = crops ? (double)box[k] : 0, to = crops ? (double)box[all + k] : 1;
    bool same = out[r] == in.shape[r] && scale[r] == 1 && (!crops || (from == 0 && to == 1));
    if (!same) y = resized(o, y, r, &p, out[r], scale[r], from, to, pb__o_real(o, "extrapolation_value", 0));
  }
  pb__o_out(o, 0, pb__o_bad(o) ? y : pb__o_cast(o, y, in.type));
}
