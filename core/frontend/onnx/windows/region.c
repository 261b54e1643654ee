// Regions of images: boxes that are pooled, grids that are moved, columns put back, determinants of what moves them.
#include "core/frontend/onnx/rows.h"

#include <string.h>

#define IN(k) pb__o_in(o, k)

// ---- RoiAlign ----

typedef struct boxes {
  int x, rois, image; // [n, c, h, w], or rows of pixels; [boxes, 4] in f32; [boxes] in i64
  bool last;          // x is rows of pixels, and the points' channels are the last dim
  int64_t count, out[2], points;
  const pb_flat_type* in;
  bool half_pixel, most;
} boxes;

#define NUMBER(v) pb__o_number(o, PB_F32, v)

// Along y (dim 0) or x: where the points of each bin lie, [boxes, out * points] in f32.
static int points_of(pb_onnx* o, const boxes* b, int dim, double scale) {
  int ends[2], offset = NUMBER(b->half_pixel ? 0.5 : 0);
  for (int k = 0; k < 2; ++k) {
    int at = pb__o_part(o, b->rois, 1, 2 * k + 1 - dim, 2 * k + 2 - dim); // a box has x first
    ends[k] = pb__o_sub(o, pb__o_mul(o, at, NUMBER(scale)), offset);
  }
  int extent = pb__o_sub(o, ends[1], ends[0]);
  if (!b->half_pixel) extent = pb__o_most(o, extent, NUMBER(1));
  int64_t all = b->out[dim] * b->points;
  int step = pb__o_div(o, extent, NUMBER((double)all)); // between points, of all bins alike
  int half = NUMBER(0.5), k = pb__o_add(o, pb__o_iota(o, PB_F32, 2, (const int64_t[]){1, all}, 1), half);
  return pb__o_add(o, ends[0], pb__o_mul(o, k, step));
}

// The pixel on side k of a point, and its share; a point outside has none.
static void neighbour(pb_onnx* o, const boxes* b, int dim, int at, int k, int* pixel, int* share) {
  double extent = (double)b->in->shape[2 + dim];
  int below = pb__o_compare(o, "LE", at, NUMBER(extent));
  int within = pb__o_binary(o, "and", pb__o_compare(o, "GE", at, NUMBER(-1)), below);
  int last = NUMBER(extent - 1), held = pb__o_least(o, pb__o_most(o, at, NUMBER(0)), last);
  int low = pb__o_unary(o, "floor", held), part = pb__o_sub(o, held, low), none = NUMBER(0), place = low;
  *share = pb__o_select(o, within, k ? part : pb__o_sub(o, NUMBER(1), part), none);
  if (k) {
    last = NUMBER(extent - 1);
    place = pb__o_least(o, pb__o_add(o, low, NUMBER(1)), last);
  }
  *pixel = pb__o_cast(o, place, PB_I64);
}

// The pixels of all points, `h` rows of `w`.
static int pixels_at(pb_onnx* o, const boxes* b, const int* pixel, int64_t h, int64_t w) {
  const int64_t* in = b->in->shape;
  const int64_t whole[4] = {b->count, h, w, 1}, by_y[4] = {b->count, h, 1, 1}, by_x[4] = {b->count, 1, w, 1},
                of_box[4] = {b->count, 1, 1, 1};
  int parts[3] = {pb__o_reshape(o, b->image, 4, of_box), -1, -1};
  parts[1] = pb__o_reshape(o, pixel[0], 4, by_y);
  parts[2] = pb__o_reshape(o, pixel[1], 4, by_x);
  if (b->last) {
    const int64_t shape[4] = {b->count, h, w, in[1]};
    return pb__o_pixels_by_rows(o, b->x, parts, in[2], in[3], shape);
  }
  for (int k = 0; k < 3; ++k) parts[k] = pb__o_expand(o, parts[k], 4, whole);
  return pb__o_pixels(o, b->x, parts, (const int64_t[]){b->count, in[1], h, w});
}

// One of the four neighbours of each point by its share: [boxes, c, out, points, out, points], or c last.
static int quarter(pb_onnx* o, const boxes* b, const int* at, int k, int l) {
  int64_t h = b->out[0] * b->points, w = b->out[1] * b->points, channels = b->in->shape[1];
  const int64_t first[6] = {b->count, channels, b->out[0], b->points, b->out[1], b->points},
                last[6] = {b->count, b->out[0], b->points, b->out[1], b->points, channels};
  int pixel[2], share[2];
  neighbour(o, b, 0, at[0], k, &pixel[0], &share[0]);
  neighbour(o, b, 1, at[1], l, &pixel[1], &share[1]);
  int v = pixels_at(o, b, pixel, h, w);
  const int64_t down[4] = {b->count, b->last ? h : 1, b->last ? 1 : h, 1},
                along[4] = {b->count, 1, b->last ? w : 1, b->last ? 1 : w};
  int y = pb__o_reshape(o, share[0], 4, down), x = pb__o_reshape(o, share[1], 4, along);
  v = pb__o_mul(o, pb__o_mul(o, pb__o_cast(o, v, PB_F32), y), x);
  return pb__o_reshape(o, v, 6, b->last ? last : first);
}

// coordinate_transformation_mode came with opset 16; before that nothing was taken off.
void pb__o_op_roi_align(pb_onnx* o) {
  static const bool of_a_bin[2][PB_FLAT_RANK] = {{[3] = true, [5] = true}, {[2] = true, [4] = true}};
  int x = IN(0), rois = IN(1), image = IN(2), at[2], sum = -1;
  const pb_flat_type in = *pb__o_type(o, x), list = *pb__o_type(o, rois);
  const char *mode = pb__o_text(o, "mode", "avg"),
             *how = pb__o_text(o, "coordinate_transformation_mode",
                               pb__o_opset(o) >= 16 ? "half_pixel" : "output_half_pixel");
  boxes b = {.in = &in, .half_pixel = !strcmp(how, "half_pixel"), .most = !strcmp(mode, "max")};
  b.out[0] = pb__o_int(o, "output_height", 1), b.out[1] = pb__o_int(o, "output_width", 1);
  b.points = pb__o_int(o, "sampling_ratio", 0);
  if (strcmp(mode, "avg") && !b.most) pb__o_refuse(o, "a mode '%s'", mode);
  if (!b.half_pixel && strcmp(how, "output_half_pixel")) pb__o_refuse(o, "a coordinate_transformation_mode '%s'", how);
  if (in.rank != 4 || list.rank != 2 || list.shape[1] != 4 || pb__o_elements(o, image) != list.shape[0])
    pb__o_refuse(o, "other than images, boxes of four numbers and an image for each");
  if (b.points < 1) pb__o_refuse(o, "sampling_ratio 0, by which the boxes say how many points there are");
  if (b.points > 64 || b.out[0] < 1 || b.out[1] < 1 || b.out[0] > 4096 || b.out[1] > 4096)
    pb__o_refuse(o, "sizes that make no sense");
  if (pb__o_bad(o)) return;
  b.count = list.shape[0];
  b.last = pb__o_pixels_are_rows(o, in.shape[1]);
  b.x = b.last ? pb__o_as_pixels(o, x) : x;
  b.rois = pb__o_cast(o, rois, PB_F32);
  b.image = pb__o_cast(o, image, PB_I64);
  for (int d = 0; d < 2; ++d) at[d] = points_of(o, &b, d, pb__o_real(o, "spatial_scale", 1));
  for (int k = 0; k < 4; ++k) { // the maximum is of the neighbours' shares, each for itself
    int v = quarter(o, &b, at, k / 2, k % 2);
    sum = sum < 0 ? v : b.most ? pb__o_most(o, sum, v) : pb__o_add(o, sum, v);
  }
  int y = pb__o_reduce(o, sum, b.most ? "maximum" : "add", of_a_bin[b.last]);
  if (!b.most) y = pb__o_div(o, y, NUMBER((double)(b.points * b.points)));
  if (b.last) y = pb__o_transpose(o, y, (const int64_t[]){0, 3, 1, 2});
  pb__o_out(o, 0, pb__o_cast(o, y, in.type));
}

// ---- AffineGrid ----

// Each image's matrix by all places between -1 and 1, which are written x first, 1 behind them.
void pb__o_op_affine_grid(pb_onnx* o) {
  int64_t size[5], all = 1, shape[PB_FLAT_RANK];
  int theta = IN(0), count = pb__o_list(o, NULL, 1, 5, size), spaces = count - 2;
  const pb_flat_type in = *pb__o_type(o, theta);
  bool align = pb__o_int(o, "align_corners", 0);
  if (spaces != 2 && spaces != 3) pb__o_refuse(o, "a size of %d dims", count);
  if (pb__o_bad(o)) return;
  if (in.rank != 3 || in.shape[0] != size[0] || in.shape[1] != spaces || in.shape[2] != spaces + 1)
    pb__o_refuse(o, "matrices that do not fit");
  for (int s = 0; s < spaces; ++s) {
    if (size[2 + s] < 1 || size[2 + s] > 1 << 16) pb__o_refuse(o, "a size that makes no sense");
    all *= pb__o_bad(o) ? 1 : size[2 + s];
  }
  if (all > 1 << 24) pb__o_refuse(o, "a grid of %lld places", (long long)all);
  if (pb__o_bad(o)) return;
  double* places = PB_NEW_ARRAY(&o->arena, double, (size_t)all * 4);
  for (int64_t k = 0; k < all; ++k) {
    int64_t rest = k;
    for (int s = spaces - 1; s >= 0; --s) { // the last dim is x
      double n = (double)size[2 + s], i = (double)(rest % size[2 + s]);
      rest /= size[2 + s];
      places[(spaces - 1 - s) * all + k] = align ? (n > 1 ? 2 * i / (n - 1) - 1 : -1) : (2 * i + 1) / n - 1;
    }
    places[spaces * all + k] = 1;
  }
  int grid = pb__o_constant(o, PB_F64, 2, (const int64_t[]){spaces + 1, all}, places);
  int y = pb__o_matmul(o, theta, pb__o_cast(o, grid, in.type), in.type);
  y = pb__o_transpose(o, y, (const int64_t[]){0, 2, 1});
  shape[0] = size[0];
  for (int s = 0; s < spaces; ++s) shape[1 + s] = size[2 + s];
  shape[1 + spaces] = spaces;
  pb__o_out(o, 0, pb__o_reshape(o, y, spaces + 2, shape));
}

// ---- Col2Im ----

// Each place of the block has an image of its own, its columns apart by the strides; these are summed.
void pb__o_op_col2im(pb_onnx* o) {
  int x = IN(0), sum = -1;
  const pb_flat_type in = *pb__o_type(o, x);
  int64_t image[PB_FLAT_RANK], block[PB_FLAT_RANK], strides[PB_FLAT_RANK], dilations[PB_FLAT_RANK],
      pads[2 * PB_FLAT_RANK], columns[PB_FLAT_RANK], places = 1, blocks = 1;
  int spaces = pb__o_list(o, NULL, 1, 4, image);
  if (pb__o_list(o, NULL, 2, 4, block) != spaces || spaces < 1) pb__o_refuse(o, "a block of other dims than the image");
  if (pb__o_bad(o)) return;
  pb__o_ints(o, "strides", spaces, 1, strides);
  pb__o_ints(o, "dilations", spaces, 1, dilations);
  pb__o_ints(o, "pads", 2 * spaces, 0, pads);
  for (int s = 0; s < spaces && !pb__o_bad(o); ++s) {
    bool good = image[s] > 0 && block[s] > 0 && block[s] < 4096 && image[s] < INT32_MAX && strides[s] > 0 &&
                dilations[s] > 0 && dilations[s] < 1 << 20 && pads[s] >= 0 && pads[spaces + s] >= 0;
    int64_t room = good ? image[s] + pads[s] + pads[spaces + s] - dilations[s] * (block[s] - 1) - 1 : -1;
    if (room < 0) pb__o_refuse(o, "a block that does not fit the image");
    if (pb__o_bad(o)) return;
    columns[s] = room / strides[s] + 1;
    places *= block[s];
    blocks *= columns[s];
    if (places > 4096 || blocks > PB_MAX_ELEMENTS) pb__o_refuse(o, "a block of more than 4,096 places");
  }
  if (in.rank != 3 || in.shape[1] % places || in.shape[2] != blocks)
    pb__o_refuse(o, "columns that do not fit the image");
  if (pb__o_bad(o)) return;
  int64_t apart[PB_FLAT_RANK] = {in.shape[0], in.shape[1] / places, places}, one[PB_FLAT_RANK] = {apart[0], apart[1]};
  for (int s = 0; s < spaces; ++s) apart[3 + s] = one[2 + s] = columns[s];
  x = pb__o_reshape(o, x, 3 + spaces, apart);
  for (int64_t k = 0; k < places && !pb__o_bad(o); ++k) {
    int64_t rest = k, low[PB_FLAT_RANK] = {0}, high[PB_FLAT_RANK] = {0}, gap[PB_FLAT_RANK] = {0};
    for (int s = spaces - 1; s >= 0; --s) {
      int64_t from = rest % block[s] * dilations[s] - pads[s];
      rest /= block[s];
      gap[2 + s] = strides[s] - 1;
      low[2 + s] = from;
      high[2 + s] = image[s] - from - ((columns[s] - 1) * strides[s] + 1);
    }
    int part = pb__o_reshape(o, pb__o_part(o, x, 2, k, k + 1), 2 + spaces, one);
    part = pb__o_pad(o, part, pb__o_like(o, x, 0), low, high, gap);
    sum = sum < 0 ? part : pb__o_add(o, sum, part);
  }
  pb__o_out(o, 0, sum);
}

// ---- Det ----

// By elimination with the largest pivot of each column: 32 rows at most, which are written out.
void pb__o_op_det(pb_onnx* o) {
  int x = IN(0), det;
  const pb_flat_type in = *pb__o_type(o, x);
  int64_t n = in.rank >= 2 ? in.shape[in.rank - 1] : 0, stack = 1, shape[PB_FLAT_RANK];
  if (in.rank < 2 || in.shape[in.rank - 2] != n || !pb_type_is_float(in.type))
    pb__o_refuse(o, "other than square matrices of floats");
  if (n > 32) pb__o_refuse(o, "matrices of more than 32 rows");
  if (pb__o_bad(o)) return;
  for (int r = 0; r < in.rank - 2; ++r) stack *= in.shape[r];
  memcpy(shape, in.shape, sizeof shape);
  x = pb__o_worked(o, pb__o_reshape(o, x, 3, (const int64_t[]){stack, n, n}));
  det = pb__o_expand(o, pb__o_like(o, x, 1), 3, (const int64_t[]){stack, 1, 1});
  for (int64_t left = n; left > 0 && !pb__o_bad(o); --left) {
    const int64_t square[3] = {stack, left, left};
    int column = pb__o_part(o, x, 2, 0, 1), at = pb__o_first_of_most(o, pb__o_unary(o, "abs", column), 1, false, false);
    int index = pb__o_iota(o, PB_I64, 3, (const int64_t[]){1, left, 1}, 1), is = pb__o_compare(o, "EQ", index, at);
    static const bool down[PB_FLAT_RANK] = {false, true};
    int zero = pb__o_like(o, x, 0);
    int row = pb__o_reduce_kept(o, pb__o_select(o, pb__o_expand(o, is, 3, square), x, zero), "add", down);
    int pivot = pb__o_part(o, row, 2, 0, 1);
    int moved = pb__o_compare(o, "NE", at, pb__o_integer(o, PB_I64, 0));
    det = pb__o_mul(o, det, pb__o_select(o, moved, pb__o_unary(o, "negate", pivot), pivot));
    if (left == 1) break;
    // The first row takes the pivot's place, and all below the first one are kept.
    int first = pb__o_expand(o, pb__o_part(o, x, 1, 0, 1), 3, square);
    x = pb__o_select(o, pb__o_expand(o, is, 3, square), first, x);
    x = pb__o_part(o, x, 1, 1, left);
    column = pb__o_part(o, x, 2, 0, 1);
    int none = pb__o_compare(o, "EQ", pivot, zero); // then the determinant is 0 already
    int factor = pb__o_div(o, column, pb__o_select(o, none, pb__o_like(o, x, 1), pivot));
    x = pb__o_sub(o, x, pb__o_mul(o, factor, row));
    x = pb__o_part(o, x, 2, 1, left);
  }
  pb__o_out(o, 0, pb__o_cast(o, pb__o_reshape(o, det, in.rank - 2, shape), in.type));
}
