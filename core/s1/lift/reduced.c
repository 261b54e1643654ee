// Lifts sums, means and maxima of codes over some axes, as the products and pools that they are: what is added are
// whole numbers, so any chip gets the same sum, and what it has for products and pools serves.
//
//   the last axes, or all             [r, k] by a column of ones; a maximum: a pool of the image [1, r, k, 1]
//   an image's rows, columns          a pool; of both a mean over the plane
//   an image's channels, and others   a convolution by ones whose windows are as large as what is taken together; a
//   maximum
//                                     of channels alone: of rows, as which they are turned
//   tokens, [n, t, c] or [t, c]       a mean over the plane of the image [n, c, t, 1]
#include "core/s1/lift/lift.h"

#include <stdlib.h>
#include <string.h>

typedef struct reduction {
  const pb_node* n;
  pb_codes x;
  pb_target t;
  bool axes[PB_GRAPH_RANK];
  bool maximum;
  float scale;  // of a unit of the sum
  int64_t area; // elements that each result takes together
} reduction;

// ---- what it is made of ----

int pb__ones(lifter* l, const pb_node* n, int rank, const int64_t* shape) {
  size_t count = (size_t)pb__elements(rank, shape);
  int8_t* codes = pb_alloc(&l->consts->arena, count);
  memset(codes, 1, count);
  return pb_consts_add(l->consts, pb_printf(&l->consts->arena, "%s.ones", n->name), PB_I8, rank, shape, codes);
}

// The value's elements in their order, as a tensor of another shape of its own.
static int reshaped(lifter* l, const pb_node* n, int value, int rank, const int64_t* shape) {
  int made = pb__reshaped(l, n->name, value, rank, shape);
  pb__own(l, n, &made);
  return made;
}

// The elements of `made` are those of the node's result, whose shape leaves out axes or has them 1 long.
static void finish(lifter* l, const reduction* r, const pb_s1_value* in, int made) {
  int64_t shape[PB_GRAPH_RANK];
  int rank = 0;
  for (int k = 0; k < in->rank; ++k)
    if (!r->axes[k] || pb_node_int(r->n, "keepdims", 1)) shape[rank++] = r->axes[k] ? 1 : in->shape[k];
  pb__reshaped_result(l, r->n, &r->t, made, rank, shape);
}

// ---- the forms ----

// Sums of whole windows of an image, each channel for itself or (`joined`) all of them together.
static int add_up(lifter* l, const reduction* r, int image, const int64_t* window, bool joined) {
  const pb_s1_value x = l->out->values[image];
  int64_t shape[PB_IMAGE_RANK] = {x.shape[0], joined ? 1 : x.shape[1], x.shape[2] / window[0], x.shape[3] / window[1]};
  int64_t weights[PB_IMAGE_RANK] = {shape[1], joined ? x.shape[1] : 1, window[0], window[1]};
  bool plane = !joined && shape[2] * shape[3] == 1;
  pb_s1_op op = pb__codes_op(r->n, plane ? PB_S1_AVERAGE : PB_S1_CONV, &r->t);
  op.x = image;
  memcpy(op.window, window, sizeof op.window);
  op.zx = r->x.zero;
  if (!plane) {
    memcpy(op.stride, window, sizeof op.stride);
    op.groups = joined ? 1 : x.shape[1];
    op.weights = pb__ones(l, r->n, PB_IMAGE_RANK, weights);
  }
  pb__fold_sum(l, r->n, shape[1], r->area, &r->x, r->scale, &r->t, &op);
  op.y = pb__add_value(l, r->n->name, pb__target_type(&r->t), PB_IMAGE_RANK, shape);
  pb__push_op(l, op);
  return op.y;
}

// The largest of whole windows, in the target's codes.
static int largest(lifter* l, const reduction* r, int image, const int64_t* window) {
  const pb_s1_value x = l->out->values[image];
  int64_t shape[PB_IMAGE_RANK] = {x.shape[0], x.shape[1], x.shape[2] / window[0], x.shape[3] / window[1]};
  pb_s1_op op = pb__codes_op(r->n, PB_S1_MAXPOOL, &r->t);
  op.x = image;
  memcpy(op.window, window, sizeof op.window);
  memcpy(op.stride, window, sizeof op.stride);
  op.y = pb__add_value(l, r->n->name, PB_I8, PB_IMAGE_RANK, shape);
  bool same = pb__same_codes(&r->x, &r->t);
  if (!same) op.zy = 0, op.lo = -128, op.hi = 127;
  pb__push_op(l, op);
  if (same) return op.y;
  int scaled = pb__add_value(l, r->n->name, pb__target_type(&r->t), PB_IMAGE_RANK, shape);
  pb__requantise(l, r->n, (pb_codes){op.y, r->x.scale, r->x.zero}, &r->t, scaled);
  return scaled;
}

static int over_image(lifter* l, const reduction* r, int image) {
  const pb_s1_value x = l->out->values[image];
  int64_t window[2] = {r->axes[2] ? x.shape[2] : 1, r->axes[3] ? x.shape[3] : 1};
  return r->maximum ? largest(l, r, image, window) : add_up(l, r, image, window, r->axes[1]);
}

// Rows that are taken together whole.
static int over_rows(lifter* l, const reduction* r) {
  const pb_s1_value in = l->out->values[r->x.value];
  int64_t rows = pb__elements(in.rank, in.shape) / r->area, matrix[2] = {rows, r->area}, row[2] = {1, r->area};
  if (r->maximum) {
    int64_t image[PB_IMAGE_RANK] = {1, rows, r->area, 1}, window[2] = {r->area, 1};
    return largest(l, r, reshaped(l, r->n, r->x.value, PB_IMAGE_RANK, image), window);
  }
  pb_s1_op op = pb__codes_op(r->n, PB_S1_CONV, &r->t);
  op.x = pb__matrix_behind(l, r->x.value);
  if (op.x < 0 || l->out->values[op.x].shape[1] != r->area) op.x = reshaped(l, r->n, r->x.value, 2, matrix);
  op.zx = r->x.zero;
  op.weights = pb__ones(l, r->n, 2, row);
  pb__fold_sum(l, r->n, 1, r->area, &r->x, r->scale, &r->t, &op);
  matrix[1] = 1;
  op.y = pb__add_value(l, r->n->name, pb__target_type(&r->t), 2, matrix);
  pb__push_op(l, op);
  return op.y;
}

// Tokens: channels, which are rows' elements, go in front.
static int over_tokens(lifter* l, const reduction* r, const pb_s1_value* in) {
  static const int in_front[PB_GRAPH_RANK] = {0, 3, 1, 2};
  int64_t tokens = in->shape[in->rank - 2], channels = in->shape[in->rank - 1], window[2] = {tokens, 1};
  int64_t behind[PB_IMAGE_RANK] = {in->rank == 3 ? in->shape[0] : 1, tokens, 1, channels};
  int image = pb__transposed(l, r->n, reshaped(l, r->n, r->x.value, PB_IMAGE_RANK, behind), in_front, -1);
  return r->maximum ? largest(l, r, image, window) : add_up(l, r, image, window, false);
}

static int over_channels(lifter* l, reduction* r) {
  static const int behind[PB_GRAPH_RANK] = {0, 2, 3, 1};
  r->x.value = pb__transposed(l, r->n, r->x.value, behind, -1);
  return over_rows(l, r);
}

// ---- which form ----

static bool takes_last(const reduction* r, int rank) {
  for (int k = 0; k + 1 < rank; ++k)
    if (r->axes[k] && !r->axes[k + 1]) return false;
  return r->axes[rank - 1];
}

static bool is_of_image(const reduction* r, const pb_s1_value* in) {
  return in->rank == PB_IMAGE_RANK && !r->axes[0] && !(r->maximum && r->axes[1]);
}

static bool is_of_channels(const reduction* r, const pb_s1_value* in) {
  return in->rank == PB_IMAGE_RANK && !r->axes[0] && r->axes[1] && !r->axes[2] && !r->axes[3];
}

static bool is_of_tokens(const reduction* r, const pb_s1_value* in) {
  return (in->rank == 2 && r->axes[0] && !r->axes[1]) || (in->rank == 3 && !r->axes[0] && r->axes[1] && !r->axes[2]);
}

typedef enum form { NONE, IMAGE, CHANNELS, ROWS, TOKENS } form;

static form form_of(const lifter* l, reduction* r, const pb_s1_value* in) {
  if (in->type != PB_I8 || in->rank < 1 || pb__read_axes(l, r->n, in, r->axes, &r->area) || r->area < 1) return NONE;
  if (is_of_image(r, in)) return IMAGE;
  if (is_of_channels(r, in)) return CHANNELS;
  return takes_last(r, in->rank) ? ROWS : is_of_tokens(r, in) ? TOKENS : NONE;
}

bool pb__reduces_codes(const lifter* l, const pb_node* n) {
  reduction r = {.n = n, .maximum = pb__is(n, "ReduceMax")};
  const pb_node* dq = pb__producer(l, n->inputs[0]);
  bool codes = dq && pb__is(dq, "DequantizeLinear") && pb__input(dq, 0) >= 0 && l->value_of[dq->inputs[0]] >= 0;
  return codes && form_of(l, &r, &l->out->values[l->value_of[dq->inputs[0]]]) != NONE;
}

pb_status pb__lift_reduced_codes(lifter* l, const pb_node* n) {
  reduction r = {.n = n, .maximum = pb__is(n, "ReduceMax")};
  PB_TRY(pb__read_codes(l, n, pb__input(n, 0), &r.x));
  PB_TRY(pb__find_result(l, n, &r.t));
  const pb_s1_value in = l->out->values[r.x.value];
  form f = form_of(l, &r, &in);
  r.scale = pb__is(n, "ReduceMean") ? r.x.scale / (float)r.area : r.x.scale;
  if (f == IMAGE || f == CHANNELS) pb__own(l, n, &r.x.value);
  int made = f == IMAGE      ? over_image(l, &r, r.x.value)
             : f == CHANNELS ? over_channels(l, &r)
             : f == ROWS     ? over_rows(l, &r)
                             : over_tokens(l, &r, &in);
  finish(l, &r, &in, made);
  return PB_OK;
}
