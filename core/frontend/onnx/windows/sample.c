// Elements between others, at places that come at run time.
#include "core/frontend/onnx/rows.h"

#include <string.h>

enum { MOST_SPACES = 3 };

// Of volumes the first two dims are one, in what is read and in what is made.
typedef struct grid {
  int spaces, x, places[MOST_SPACES]; // the tensor [n, c, d h, w]; z, y and x of each result, as f32 [n, d' h', w']
  int64_t extent[MOST_SPACES], shape[4];
  bool last; // x is rows of pixels [n * d h * w, c], and the results' channels are the last dim
  double low[MOST_SPACES], high[MOST_SPACES]; // between which a place is reflected
  char mode, padding;                         // b(ilinear), n(earest), c(ubic); z(eros), b(order), r(eflection)
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

// A number for all channels of each result.
static int of_all_channels(pb_onnx* o, const grid* g, int v) {
  const int64_t first[4] = {g->shape[0], 1, g->shape[2], g->shape[3]},
                last[4] = {g->shape[0], g->shape[2], g->shape[3], 1};
  return pb__o_reshape(o, v, 4, g->last ? last : first);
}

static int pixels_at(pb_onnx* o, const grid* g, const int* parts) {
  if (!g->last) return pb__o_pixels(o, g->x, parts, g->shape);
  const int64_t shape[4] = {g->shape[0], g->shape[2], g->shape[3], g->shape[1]}, width = g->extent[g->spaces - 1];
  int64_t rows = 1;
  for (int d = 0; d + 1 < g->spaces; ++d) rows *= g->extent[d];
  return pb__o_pixels_by_rows(o, g->x, parts, rows, width, shape);
}

// x at whole places; outside 0, where the padding is of zeros.
static int at_places(pb_onnx* o, const grid* g, const int* at) {
  const int64_t n[4] = {g->shape[0], 1, 1, 1}, whole[4] = {g->shape[0], g->shape[2], g->shape[3], 1};
  int parts[3], is = -1, row = -1;
  parts[0] = pb__o_expand(o, pb__o_iota(o, PB_I64, 4, n, 0), 4, whole);
  for (int d = 0; d < g->spaces; ++d) {
    int place = inside(o, g, d, at[d]);
    int kept = clamped(o, place, g->extent[d]), there = pb__o_compare(o, "EQ", kept, place);
    is = is < 0 ? there : pb__o_binary(o, "and", is, there);
    kept = pb__o_reshape(o, pb__o_cast(o, kept, PB_I64), 4, whole);
    if (d == g->spaces - 1)
      parts[2] = kept;
    else
      row = row < 0 ? kept : pb__o_add(o, pb__o_mul(o, row, pb__o_integer(o, PB_I64, g->extent[d])), kept);
  }
  parts[1] = row;
  int v = pixels_at(o, g, parts);
  if (g->padding != 'z') return v;
  int zero = pb__o_like(o, v, 0);
  return pb__o_select(o, of_all_channels(o, g, is), v, zero);
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
  int base[MOST_SPACES], part[MOST_SPACES], sum = -1;
  if (g->mode == 'n') {
    for (int d = 0; d < g->spaces; ++d) base[d] = pb__o_unary(o, "round_nearest_even", g->places[d]);
    return at_places(o, g, base);
  }
  for (int d = 0; d < g->spaces; ++d) {
    base[d] = pb__o_unary(o, "floor", g->places[d]);
    part[d] = pb__o_sub(o, g->places[d], base[d]);
  }
  int first = g->mode == 'c' ? -1 : 0, taps = g->mode == 'c' ? 4 : 2, neighbours = 1;
  for (int d = 0; d < g->spaces; ++d) neighbours *= taps;
  for (int k = 0; k < neighbours && !pb__o_bad(o); ++k) { // the last dim's turn first
    int at[MOST_SPACES], by = -1;
    for (int d = 0, rest = neighbours / taps; d < g->spaces; ++d, rest /= taps) {
      int turn = first + k / rest % taps, share = weight(o, g, part[d], turn);
      at[d] = pb__o_add(o, base[d], pb__o_number(o, PB_F32, turn));
      by = by < 0 ? share : pb__o_mul(o, by, share);
    }
    by = pb__o_cast(o, of_all_channels(o, g, by), pb__o_type(o, g->x)->type);
    int v = pb__o_mul(o, at_places(o, g, at), by);
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
  int spaces = g.spaces = in.rank - 2, last = in.rank - 1;
  bool fits = (in.rank == 4 || in.rank == 5) && of.rank == in.rank && of.shape[last] == spaces &&
              of.shape[0] == in.shape[0] && pb_type_is_float(in.type);
  if (!fits) pb__o_refuse(o, "other than images or volumes of floats and a grid of a place for each result");
  if (spaces == 3 && g.mode == 'c') pb__o_refuse(o, "a mode '%s' of volumes", mode);
  if (pb__o_bad(o)) return;
  int64_t flat[4] = {in.shape[0], in.shape[1], in.shape[2], in.shape[last]}, rows = of.shape[1], whole[PB_FLAT_RANK];
  if (spaces == 3) flat[2] *= in.shape[3], rows *= of.shape[2];
  g.last = pb__o_pixels_are_rows(o, in.shape[1]);
  g.x = pb__o_reshape(o, x, 4, flat);
  if (g.last) g.x = pb__o_as_pixels(o, g.x);
  const int64_t shape[4] = {in.shape[0], in.shape[1], rows, of.shape[last - 1]}, one[3] = {shape[0], rows, shape[3]};
  memcpy(g.shape, shape, sizeof shape);
  for (int d = 0; d < spaces; ++d) { // the grid has x first
    int64_t extent = g.extent[d] = in.shape[2 + d];
    g.low[d] = align ? 0 : -0.5;
    g.high[d] = align ? (double)(extent - 1) : (double)extent - 0.5;
    int v = pb__o_reshape(o, pb__o_part(o, at, last, spaces - 1 - d, spaces - d), 3, one);
    int one_more = pb__o_number(o, PB_F32, 1);
    v = pb__o_add(o, pb__o_cast(o, v, PB_F32), one_more);
    double scale = (align ? (double)(extent - 1) : (double)extent) / 2;
    v = pb__o_mul(o, v, pb__o_number(o, PB_F32, scale));
    if (!align) v = pb__o_sub(o, v, pb__o_number(o, PB_F32, 0.5));
    // Of a cubic each neighbour is moved inside by itself, as PyTorch and ONNX Runtime have it: a place between the
    // last pixel and the border keeps its fraction. The nearest is found first: reflected, a place in the middle
    // between two pixels would be nearer to another.
    g.places[d] = g.mode == 'c' || g.mode == 'n' ? v : inside(o, &g, d, v);
  }
  memcpy(whole, in.shape, 2 * sizeof *whole);
  memcpy(whole + 2, of.shape + 1, sizeof *whole * (size_t)spaces);
  int y = sampled(o, &g);
  if (g.last) y = pb__o_transpose(o, y, (const int64_t[]){0, 3, 1, 2});
  pb__o_out(o, 0, pb__o_reshape(o, y, in.rank, whole));
}

// ---- DeformConv ----

enum { MOST_TAPS = 1 << 12, MOST_PLACES = 1 << 24 };

typedef struct deformed {
  pb_flat_type in, kernel; // images and weights
  pb_onnx_conv window;
  int64_t out[PB_FLAT_RANK], groups, taps; // groups: of channels that move together
} deformed;

// Where tap k of each result stands when nothing moves it, along y (dim 0) or x: [1, taps * rows, columns].
static int standing(pb_onnx* o, const deformed* d, int dim) {
  int64_t rows = d->out[0], columns = d->out[1], width = d->kernel.shape[3];
  float* places = PB_NEW_ARRAY(&o->arena, float, (size_t)(d->taps * rows * columns) + 1);
  for (int64_t k = 0; k < d->taps * rows * columns; ++k) {
    int64_t tap = k / (rows * columns), at = dim ? k % columns : k / columns % rows;
    int64_t step = dim ? tap % width : tap / width;
    places[k] = (float)(at * d->window.stride[dim] - d->window.low[dim] + step * d->window.dilation[dim]);
  }
  return pb__o_constant(o, PB_F32, 3, (const int64_t[]){1, d->taps * rows, columns}, places);
}

static bool is_offset(const pb_flat_type* t, const deformed* d, int64_t numbers) {
  const int64_t shape[4] = {d->in.shape[0], d->groups * d->taps * numbers, d->out[0], d->out[1]};
  return t->rank == 4 && !memcmp(t->shape, shape, sizeof shape);
}

static bool read_deformed(pb_onnx* o, deformed* d, int offset) {
  const pb_flat_type *in = &d->in, *kernel = &d->kernel;
  if (in->rank != 4 || kernel->rank != 4 || !pb_type_is_float(in->type) || kernel->type != in->type)
    pb__o_refuse(o, "other than images and weights of floats");
  const pb_attr* said = pb_node_attr(o->n, "kernel_shape");
  if (!pb__o_bad(o) && said && (said->count != 2 || memcmp(said->ints, kernel->shape + 2, 2 * sizeof *said->ints) != 0))
    pb__o_refuse(o, "a kernel_shape that is not the weights'");
  if (pb__o_bad(o)) return false;
  pb__o_read_window(o, in->shape + 2, 2, kernel->shape + 2, &d->window, d->out);
  d->groups = pb__o_int(o, "offset_group", 1);
  d->window.groups = pb__o_int(o, "group", 1);
  d->taps = kernel->shape[2] * kernel->shape[3];
  if (d->groups < 1 || in->shape[1] % d->groups || d->taps > MOST_TAPS)
    pb__o_refuse(o, "offset_group %lld of %lld channels, by windows of %lld", (long long)d->groups,
                 (long long)in->shape[1], (long long)d->taps);
  if (d->window.groups < 1 || d->window.groups > in->shape[1] || in->shape[1] != kernel->shape[1] * d->window.groups ||
      kernel->shape[0] % d->window.groups)
    pb__o_refuse(o, "group %lld", (long long)d->window.groups);
  if (pb__o_bad(o)) return false;
  if (!is_offset(pb__o_type(o, offset), d, 2)) pb__o_refuse(o, "offsets that do not fit");
  if (pb__o_has(o, 4) && !is_offset(pb__o_type(o, pb__o_in(o, 4)), d, 1)) pb__o_refuse(o, "a mask that does not fit");
  if (!pb__o_bad(o) && d->taps * d->out[0] * d->out[1] > MOST_PLACES) pb__o_refuse(o, "more than 2^24 places");
  return !pb__o_bad(o);
}

// Each tap of each result is an image's element between others, by its mask; what is left is a convolution of one
// place.
void pb__o_op_deform_conv(pb_onnx* o) {
  int x = pb__o_in(o, 0), w = pb__o_in(o, 1), offset = pb__o_in(o, 2);
  deformed d = {.in = *pb__o_type(o, x), .kernel = *pb__o_type(o, w)};
  if (!read_deformed(o, &d, offset)) return;
  int64_t images = d.in.shape[0] * d.groups, channels = d.in.shape[1] / d.groups, rows = d.taps * d.out[0];
  const int64_t parts[4] = {images, channels, d.in.shape[2], d.in.shape[3]},
                moves[5] = {images, d.taps, 2, d.out[0], d.out[1]}, place[3] = {images, rows, d.out[1]},
                many[4] = {images, 1, rows, d.out[1]},
                taps[4] = {d.in.shape[0], d.in.shape[1] * d.taps, d.out[0], d.out[1]},
                flat[4] = {d.kernel.shape[0], d.kernel.shape[1] * d.taps, 1, 1};
  grid g = {.spaces = 2,
            .x = pb__o_reshape(o, x, 4, parts),
            .extent = {d.in.shape[2], d.in.shape[3]},
            .shape = {images, channels, rows, d.out[1]},
            .mode = 'b',
            .padding = 'z'};
  offset = pb__o_reshape(o, pb__o_cast(o, offset, PB_F32), 5, moves);
  for (int k = 0; k < 2; ++k) {
    int moved = pb__o_reshape(o, pb__o_part(o, offset, 2, k, k + 1), 3, place);
    g.places[k] = pb__o_add(o, moved, standing(o, &d, k));
  }
  int v = sampled(o, &g);
  if (pb__o_has(o, 4)) v = pb__o_mul(o, v, pb__o_reshape(o, pb__o_in(o, 4), 4, many));
  pb_onnx_conv one = {.stride = {1, 1}, .dilation = {1, 1}, .gap = {1, 1}, .groups = d.window.groups};
  v = pb__o_reshape(o, v, 4, taps);
  pb_type between = pb__o_between(d.in.type, pb__o_has(o, 3));
  v = pb__o_conv(o, v, pb__o_reshape(o, w, 4, flat), &one, between);
  pb__o_out(o, 0, pb__o_with_bias(o, v, 3, d.in.type));
}
