// Elements between others, at places that come at run time.
#include "core/frontend/onnx/rows.h"

#include <string.h>

typedef struct grid {
  int x, places[2]; // the tensor [n, c, h, w]; y and x of each result, as f32 [n, h', w']
  int64_t extent[2], shape[4];
  double low[2], high[2]; // between which a place is reflected
  char mode, padding;     // b(ilinear), n(earest), c(ubic); z(eros), b(order), r(eflection)
} grid;

// Back and forth between both ends.
static int reflected(pb_onnx* o, int v, double low, double high) {
  double range = high - low;
  if (range <= 0) return pb__o_mul(o, v, pb__o_number(o, PB_F32, 0));
  int turn = pb__o_number(o, PB_F32, 2 * range), from = pb__o_number(o, PB_F32, low);
  int rest = pb__o_unary(o, "abs", pb__o_binary(o, "remainder", pb__o_sub(o, v, from), turn));
  return pb__o_add(o, pb__o_least(o, rest, pb__o_sub(o, turn, rest)), from);
}

static int clamped(pb_onnx* o, int v, int64_t extent) {
  int last = pb__o_number(o, PB_F32, (double)(extent - 1));
  return pb__o_least(o, pb__o_most(o, v, pb__o_number(o, PB_F32, 0)), last);
}

// Where a place outside reads, by the padding.
static int inside(pb_onnx* o, const grid* g, int dim, int v) {
  if (g->padding == 'r') v = reflected(o, v, g->low[dim], g->high[dim]);
  return g->padding == 'z' ? v : clamped(o, v, g->extent[dim]);
}

// x at whole places; outside 0, where the padding is of zeros.
static int at_places(pb_onnx* o, const grid* g, int y, int x) {
  const int64_t n[4] = {g->shape[0], 1, 1, 1}, whole[4] = {g->shape[0], g->shape[2], g->shape[3], 1};
  int both[2] = {inside(o, g, 0, y), inside(o, g, 1, x)}, parts[3], is = -1;
  parts[0] = pb__o_expand(o, pb__o_iota(o, PB_I64, 4, n, 0), 4, whole);
  for (int d = 0; d < 2; ++d) {
    int kept = clamped(o, both[d], g->extent[d]), there = pb__o_compare(o, "EQ", kept, both[d]);
    is = is < 0 ? there : pb__o_binary(o, "and", is, there);
    parts[1 + d] = pb__o_reshape(o, pb__o_cast(o, kept, PB_I64), 4, whole);
  }
  int v = pb__o_pixels(o, g->x, parts, g->shape);
  if (g->padding != 'z') return v;
  const int64_t truths[4] = {g->shape[0], 1, g->shape[2], g->shape[3]};
  int zero = pb__o_like(o, v, 0);
  return pb__o_select(o, pb__o_reshape(o, is, 4, truths), v, zero);
}

// The weight of the neighbour `k` of a place whose fraction is t: 1 - |t - k|, or Keys' cubic with a = -0.75.
static int weight(pb_onnx* o, const grid* g, int t, int k) {
  const double a = -0.75;
  int x = pb__o_unary(o, "abs", pb__o_sub(o, t, pb__o_number(o, PB_F32, k)));
#define NUMBER(v) pb__o_number(o, PB_F32, v)
  if (g->mode == 'b') return pb__o_sub(o, NUMBER(1), x);
  int square = pb__o_mul(o, x, x), y, c;
  if (k == 0 || k == 1) {
    c = NUMBER(a + 3);
    y = pb__o_sub(o, pb__o_mul(o, NUMBER(a + 2), x), c);
    c = NUMBER(1);
    return pb__o_add(o, pb__o_mul(o, y, square), c);
  }
  c = NUMBER(8 * a);
  y = NUMBER(5 * a);
  y = pb__o_sub(o, pb__o_mul(o, NUMBER(a), x), y);
  y = pb__o_add(o, pb__o_mul(o, y, x), c);
  c = NUMBER(4 * a);
  return pb__o_sub(o, pb__o_mul(o, y, x), c);
#undef NUMBER
}

static int sampled(pb_onnx* o, const grid* g) {
  const int64_t wide[4] = {g->shape[0], 1, g->shape[2], g->shape[3]};
  int base[2], part[2], sum = -1;
  if (g->mode == 'n') {
    for (int d = 0; d < 2; ++d) base[d] = pb__o_unary(o, "round_nearest_even", g->places[d]);
    return at_places(o, g, base[0], base[1]);
  }
  for (int d = 0; d < 2; ++d) {
    base[d] = pb__o_unary(o, "floor", g->places[d]);
    part[d] = pb__o_sub(o, g->places[d], base[d]);
  }
  int first = g->mode == 'c' ? -1 : 0, last = g->mode == 'c' ? 2 : 1;
  for (int i = first; i <= last && !pb__o_bad(o); ++i)
    for (int j = first; j <= last; ++j) {
      int y = pb__o_add(o, base[0], pb__o_number(o, PB_F32, i)), x = pb__o_add(o, base[1], pb__o_number(o, PB_F32, j));
      int by = weight(o, g, part[1], j);
      by = pb__o_reshape(o, pb__o_mul(o, weight(o, g, part[0], i), by), 4, wide);
      by = pb__o_cast(o, by, pb__o_type(o, g->x)->type);
      int v = pb__o_mul(o, at_places(o, g, y, x), by);
      sum = sum < 0 ? v : pb__o_add(o, sum, v);
    }
  return sum;
}

void pb__o_op_grid_sample(pb_onnx* o) {
  int x = pb__o_in(o, 0), at = pb__o_in(o, 1);
  const pb_flat_type in = *pb__o_type(o, x), of = *pb__o_type(o, at);
  const char *mode = pb__o_text(o, "mode", "bilinear"), *padding = pb__o_text(o, "padding_mode", "zeros");
  bool align = pb__o_int(o, "align_corners", 0);
  static const char* const modes[] = {"bilinear", "linear", "nearest", "bicubic", "cubic"};
  static const char as[] = "bbncc";
  grid g = {.x = x, .padding = padding[0]};
  for (int k = 0; k < 5; ++k)
    if (!strcmp(mode, modes[k])) g.mode = as[k];
  if (!g.mode) pb__o_refuse(o, "a mode '%s'", mode);
  if (strcmp(padding, "zeros") && strcmp(padding, "border") && strcmp(padding, "reflection"))
    pb__o_refuse(o, "a padding_mode '%s'", padding);
  bool fits = in.rank == 4 && of.rank == 4 && of.shape[3] == 2 && of.shape[0] == in.shape[0];
  if (!fits || !pb_type_is_float(in.type)) pb__o_refuse(o, "other than images of floats and a grid of pairs");
  if (pb__o_bad(o)) return;
  const int64_t shape[4] = {in.shape[0], in.shape[1], of.shape[1], of.shape[2]};
  memcpy(g.shape, shape, sizeof shape);
  for (int d = 0; d < 2; ++d) { // the grid has x first
    int64_t extent = g.extent[d] = in.shape[2 + d];
    g.low[d] = align ? 0 : -0.5;
    g.high[d] = align ? (double)(extent - 1) : (double)extent - 0.5;
    int v = pb__o_reshape(o, pb__o_part(o, at, 3, 1 - d, 2 - d), 3, of.shape);
    int one = pb__o_number(o, PB_F32, 1);
    v = pb__o_add(o, pb__o_cast(o, v, PB_F32), one);
    double scale = (align ? (double)(extent - 1) : (double)extent) / 2;
    v = pb__o_mul(o, v, pb__o_number(o, PB_F32, scale));
    if (!align) v = pb__o_sub(o, v, pb__o_number(o, PB_F32, 0.5));
    g.places[d] = inside(o, &g, d, v);
  }
  pb__o_out(o, 0, sampled(o, &g));
}
