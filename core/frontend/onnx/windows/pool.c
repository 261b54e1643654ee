// Pools: windows over the dims behind channels, or all of those.
#include "core/frontend/onnx/rows.h"

#include <math.h>
#include <string.h>

#define IN(k) pb__o_in(o, k)
#define OUT(v) pb__o_out(o, 0, v)

typedef struct pool {
  pb_onnx_window w; // all dims
  int spaces;
  int64_t pads[2][PB_FLAT_RANK], out[PB_FLAT_RANK]; // by space; what the last window hangs over is no pad
} pool;

static void read_pool(pb_onnx* o, int x, pool* p) {
  const pb_flat_type in = *pb__o_type(o, x);
  int64_t kernel[PB_FLAT_RANK];
  pb_onnx_conv c;
  memset(p, 0, sizeof *p);
  p->spaces = in.rank - 2;
  if (in.rank < 3 || in.rank > 5) pb__o_refuse(o, "over other than 1 to 3 dims");
  if (pb__o_bad(o)) return;
  pb__o_ints(o, "kernel_shape", p->spaces, 1, kernel);
  pb__o_read_window(o, in.shape + 2, p->spaces, kernel, &c, p->out);
  p->w.borders = c.borders;
  for (int r = 0; r < in.rank; ++r) p->w.size[r] = p->w.stride[r] = p->w.dilation[r] = 1;
  for (int s = 0; s < p->spaces; ++s) {
    p->w.size[2 + s] = kernel[s];
    p->w.stride[2 + s] = c.stride[s];
    p->w.dilation[2 + s] = c.dilation[s];
    p->pads[0][s] = p->w.low[2 + s] = c.low[s];
    p->pads[1][s] = c.high[s];
    // exactly what the last window reaches; at open extents that is now more and now less than the pads
    p->w.high[2 + s] = (p->out[s] - 1) * c.stride[s] + (kernel[s] - 1) * c.dilation[s] + 1 - in.shape[2 + s] - c.low[s];
    if (o->l->consts->open && !c.borders) p->w.high[2 + s] = c.high[s];
  }
}

// Element k of each window as a tensor of the result's shape.
static int windows_element(pb_onnx* o, int padded, const pool* p, const int64_t* at) {
  const pb_flat_type in = *pb__o_type(o, padded);
  int64_t from[PB_FLAT_RANK] = {0}, to[PB_FLAT_RANK];
  memcpy(to, in.shape, sizeof to);
  for (int s = 0; s < p->spaces; ++s) {
    from[2 + s] = at[s] * p->w.dilation[2 + s];
    to[2 + s] = from[2 + s] + (p->out[s] - 1) * p->w.stride[2 + s] + 1;
  }
  return pb__o_slice(o, padded, from, to, p->w.stride);
}

// Where the largest stands in the whole tensor, each row of it in the order of rows or (storage_order) of columns.
static void with_places(pb_onnx* o, int x, const pool* p) {
  const pb_flat_type in = *pb__o_type(o, x);
  int64_t at[PB_FLAT_RANK] = {0}, stride = 1, turns = 1;
  bool columns = pb__o_int(o, "storage_order", 0);
  int place = -1, best = -1, best_place = -1;
  for (int k = in.rank - 1; k >= 0; --k) {
    int r = columns && k >= 2 ? in.rank + 1 - k : k;
    int64_t shape[PB_FLAT_RANK] = {1, 1, 1, 1, 1, 1, 1, 1};
    shape[r] = in.shape[r];
    int along = pb__o_integer(o, PB_I64, stride);
    along = pb__o_mul(o, pb__o_iota(o, PB_I64, in.rank, shape, r), along);
    place = place < 0 ? along : pb__o_add(o, place, along);
    stride *= in.shape[r];
  }
  double least = pb_type_is_float(in.type) ? -INFINITY : pb_type_is_unsigned(in.type) ? 0 : -128;
  int padded = pb__o_pad_open(o, x, pb__o_like(o, x, least), p->w.low, p->w.high);
  int none = pb__o_integer(o, PB_I64, -1);
  place = pb__o_pad_open(o, pb__o_expand(o, place, in.rank, in.shape), none, p->w.low, p->w.high);
  for (int s = 0; s < p->spaces; ++s) turns *= p->w.size[2 + s];
  const int64_t most = 256;
  if (turns > most) pb__o_refuse(o, "places in windows of more than 256 elements");
  for (int64_t t = 0; t < turns && !pb__o_bad(o); ++t) {
    int element = windows_element(o, padded, p, at), its = windows_element(o, place, p, at);
    if (best >= 0) { // the first of equal ones, and none of the pads
      int none = pb__o_compare(o, "LT", best_place, pb__o_integer(o, PB_I64, 0));
      int there = pb__o_compare(o, "GE", its, pb__o_integer(o, PB_I64, 0));
      int take = pb__o_binary(o, "or", pb__o_compare(o, "GT", element, best), none);
      take = pb__o_binary(o, "and", take, there);
      best = pb__o_select(o, take, element, best);
      best_place = pb__o_select(o, take, its, best_place);
    } else {
      best = element;
      best_place = its;
    }
    for (int s = p->spaces - 1; s >= 0 && ++at[s] == p->w.size[2 + s]; --s) at[s] = 0;
  }
  OUT(best);
  pb__o_out(o, 1, best_place);
}

void pb__o_op_max_pool(pb_onnx* o) {
  int x = IN(0);
  pool p;
  read_pool(o, x, &p);
  if (pb__o_bad(o)) return;
  if (pb__o_wants(o, 1))
    with_places(o, x, &p);
  else
    OUT(pb__o_windows(o, x, -1, "maximum", &p.w));
}

// How many elements of each window along one dim lie in [lo, hi), f32, at open extents: a table would be another one
// at others.
static int counted(pb_onnx* o, const pool* p, int s, int64_t lo, int64_t hi) {
  const int64_t shape[2] = {p->out[s], p->w.size[2 + s]};
  const bool gone[PB_FLAT_RANK] = {false, true};
  int by = pb__o_integer(o, PB_I64, p->w.stride[2 + s]), apart = pb__o_integer(o, PB_I64, p->w.dilation[2 + s]);
  int window = pb__o_mul(o, pb__o_iota(o, PB_I64, 2, shape, 0), by);
  int element = pb__o_mul(o, pb__o_iota(o, PB_I64, 2, shape, 1), apart);
  int low = pb__o_integer(o, PB_I64, p->pads[0][s]), at = pb__o_add(o, window, element);
  at = pb__o_sub(o, at, low);
  int from = pb__o_compare(o, "GE", at, pb__o_integer(o, PB_I64, lo));
  int is = pb__o_binary(o, "and", from, pb__o_compare(o, "LT", at, pb__o_integer(o, PB_I64, hi)));
  return pb__o_reduce(o, pb__o_cast(o, is, PB_F32), "add", gone);
}

static int table_of_counts(pb_onnx* o, const pool* p, int s, int64_t lo, int64_t hi) {
  float* each = PB_NEW_ARRAY(&o->arena, float, (size_t)p->out[s] + 1);
  for (int64_t k = 0; k < p->out[s]; ++k)
    for (int64_t i = 0; i < p->w.size[2 + s]; ++i) {
      int64_t at = k * p->w.stride[2 + s] + i * p->w.dilation[2 + s] - p->pads[0][s];
      each[k] += at >= lo && at < hi;
    }
  return pb__o_constant(o, PB_F32, 1, &p->out[s], each);
}

// How many of each window's elements count, as f32 along each dim.
static int counts(pb_onnx* o, int like, const pool* p, bool pads_count) {
  const pb_flat_type in = *pb__o_type(o, like);
  int all = -1;
  for (int s = 0; s < p->spaces; ++s) {
    int64_t lo = pads_count ? -p->pads[0][s] : 0, hi = in.shape[2 + s] + (pads_count ? p->pads[1][s] : 0);
    int each = o->l->consts->open ? counted(o, p, s, lo, hi) : table_of_counts(o, p, s, lo, hi);
    int v = pb__o_along(o, each, in.rank, 2 + s);
    all = all < 0 ? v : pb__o_mul(o, all, v);
  }
  return all;
}

void pb__o_op_average_pool(pb_onnx* o) {
  int x = IN(0);
  pb_type type = pb__o_type(o, x)->type;
  pool p;
  read_pool(o, x, &p);
  if (!pb_type_is_float(type)) pb__o_refuse(o, "of %s", pb_type_name(type));
  if (pb__o_bad(o)) return;
  int wide = pb__o_worked(o, x), sum = pb__o_windows(o, wide, -1, "add", &p.w);
  int by = pb__o_cast(o, counts(o, x, &p, pb__o_int(o, "count_include_pad", 0)), pb__o_type(o, wide)->type);
  OUT(pb__o_cast(o, pb__o_div(o, sum, by), type));
}

static int to_power(pb_onnx* o, int x, int64_t p) {
  x = pb__o_unary(o, "abs", x);
  return p == 1 ? x : p == 2 ? pb__o_mul(o, x, x) : pb__o_binary(o, "power", x, pb__o_like(o, x, (double)p));
}

static int root(pb_onnx* o, int x, int64_t p) {
  if (p == 1) return x;
  return p == 2 ? pb__o_unary(o, "sqrt", x) : pb__o_binary(o, "power", x, pb__o_like(o, x, 1 / (double)p));
}

void pb__o_op_lp_pool(pb_onnx* o) {
  pb__o_works_in_f32(o);
  int x = IN(0);
  int64_t power = pb__o_int(o, "p", 2);
  pool p;
  read_pool(o, x, &p);
  if (power < 1) pb__o_refuse(o, "p = %lld", (long long)power);
  if (!pb__o_bad(o)) OUT(root(o, pb__o_windows(o, to_power(o, x, power), -1, "add", &p.w), power));
}

void pb__o_op_global_pool(pb_onnx* o) {
  const char* how = o->row->detail;
  if (!strcmp(how, "lp")) pb__o_works_in_f32(o);
  int x = IN(0), rank = pb__o_type(o, x)->rank;
  int64_t power = pb__o_int(o, "p", 2);
  bool axes[PB_FLAT_RANK];
  for (int r = 0; r < PB_FLAT_RANK; ++r) axes[r] = r >= 2 && r < rank;
  if (rank < 2 || power < 1) pb__o_refuse(o, "an input of less than 2 dims, or a p below 1");
  if (pb__o_bad(o)) return;
  if (!strcmp(how, "mean"))
    OUT(pb__o_mean(o, x, axes));
  else if (!strcmp(how, "max"))
    OUT(pb__o_reduce_kept(o, x, "maximum", axes));
  else
    OUT(root(o, pb__o_sum(o, to_power(o, x, power), axes, true), power));
}

// Each element goes back to its place in what was pooled; around it 0.
void pb__o_op_max_unpool(pb_onnx* o) {
  int x = IN(0), at = IN(1);
  const pb_flat_type in = *pb__o_type(o, x);
  int spaces = in.rank - 2;
  int64_t kernel[PB_FLAT_RANK], stride[PB_FLAT_RANK], pads[2 * PB_FLAT_RANK], shape[PB_FLAT_RANK], said[PB_FLAT_RANK];
  if (spaces < 1 || spaces > 3 || !pb__o_same_shape(o, x, at)) pb__o_refuse(o, "places that do not fit");
  if (pb__o_bad(o)) return;
  pb__o_ints(o, "kernel_shape", spaces, 1, kernel);
  pb__o_ints(o, "strides", spaces, 1, stride);
  pb__o_ints(o, "pads", 2 * spaces, 0, pads);
  memcpy(shape, in.shape, sizeof shape);
  for (int s = 0; s < spaces; ++s)
    shape[2 + s] = (in.shape[2 + s] - 1) * stride[s] + kernel[s] - pads[s] - pads[spaces + s];
  int y = pb__o_expand(o, pb__o_like(o, x, 0), in.rank, shape);
  if (pb__o_bad(o)) return;
  int64_t all = pb__o_elements(o, y), parts = pb__o_elements(o, x), column[2] = {parts, 1};
  pb_onnx_places p = {.dropped = 1, .drop = {0}, .maps = 1, .map = {0}};
  x = pb__o_reshape(o, x, 1, &parts);
  at = pb__o_reshape(o, at, 2, column);
  y = pb__o_scatter(o, pb__o_reshape(o, y, 1, &all), at, x, "second", &p);
  y = pb__o_reshape(o, y, in.rank, shape);
  int count = pb__o_list(o, NULL, 2, PB_FLAT_RANK, said);
  int64_t low[PB_FLAT_RANK] = {0}, high[PB_FLAT_RANK];
  for (int r = 0; r < in.rank; ++r) high[r] = count == in.rank ? said[r] - shape[r] : 0;
  if (count >= 0 && count != in.rank) pb__o_refuse(o, "an output shape that does not fit");
  for (int r = 0; r < in.rank && count > 0; ++r)
    if (said[r] < shape[r] || said[r] > PB_MAX_ELEMENTS) pb__o_refuse(o, "an output shape that does not fit");
  if (!pb__o_bad(o)) OUT(pb__o_pad(o, y, pb__o_like(o, y, 0), low, high, NULL));
}
