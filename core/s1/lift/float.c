// Lifts operators on f32. Relu and Clip behind an operator become the clamp of its result, a batch normalisation behind
// a convolution goes into its constants.
#include "core/s1/lift/lift.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

pb_status pb__float_value(lifter* l, const pb_node* n, int tensor, int* value) {
  PB_TRY(pb__any_value(l, n, tensor, value));
  if (l->out->values[*value].type != PB_F32) return pb__refuse(l, n, NULL, "an input that is not of type f32");
  return PB_OK;
}

pb_s1_op pb__float_op(const pb_node* n, pb_s1_kind kind) { return pb_s1_new_op(n->name, n->op, kind); }

// A row of all the elements: dims of two shapes without common borders meet in it.
static int flattened(lifter* l, const pb_node* n, int base) {
  const pb_s1_value from = l->out->values[base];
  int64_t count = 1;
  for (int r = 0; r < from.rank; ++r) count *= from.shape[r];
  pb_s1_op op = pb__float_op(n, PB_S1_COPY);
  op.x = pb__reshaped(l, from.name, base, 1, &count);
  op.y = pb__add_value(l, from.name, from.type, 1, &count);
  pb__push_op(l, op);
  return op.y;
}

int pb__copied(lifter* l, const pb_node* n, int value, const char* name) {
  const pb_s1_value from = l->out->values[value];
  pb_s1_op op = pb__float_op(n, PB_S1_COPY);
  op.x = value;
  if (from.alias_of >= 0) {
    const pb_s1_value base = l->out->values[from.alias_of];
    if (!pb_s1_merges(&base, &from) && !pb_s1_merges(&from, &base))
      op.x = pb__reshaped(l, from.name, flattened(l, n, from.alias_of), from.rank, from.shape);
  }
  op.y = pb__add_value(l, name, from.type, from.rank, from.shape);
  pb__push_op(l, op);
  return op.y;
}

void pb__own(lifter* l, const pb_node* n, int* value) {
  const pb_s1_value from = l->out->values[*value];
  if (from.alias_of >= 0) *value = pb__copied(l, n, *value, from.name);
}

void pb__own_apart(lifter* l, const pb_node* n, int* value, int walked, bool alone) {
  int base = l->out->values[*value].alias_of;
  if (base < 0) return;
  const pb_s1_value *from = &l->out->values[base], *to = &l->out->values[walked];
  if (!pb_s1_merges(to, from) && !(alone && pb_s1_merges(from, to))) pb__own(l, n, value);
}

pb_status pb__own_value(lifter* l, const pb_node* n, int tensor, int* value) {
  PB_TRY(pb__float_value(l, n, tensor, value));
  pb__own(l, n, value);
  l->value_of[tensor] = *value;
  return PB_OK;
}

pb_status pb__own_any(lifter* l, const pb_node* n, int tensor, int* value) {
  PB_TRY(pb__any_value(l, n, tensor, value));
  pb__own(l, n, value);
  l->value_of[tensor] = *value;
  return PB_OK;
}

// The bounds [lo, hi] and the clamp f behind them as one clamp.
static pb_status read_bounds(lifter* l, const pb_node* f, double* lo, double* hi) {
  float least = -INFINITY, most = INFINITY;
  if (pb__is(f, "Relu")) {
    least = 0;
  } else {
    const pb_attr *a = pb_node_attr(f, "min"), *b = pb_node_attr(f, "max");
    least = a ? a->f : -FLT_MAX; // infinities are beyond the bounds that it has by default
    most = b ? b->f : FLT_MAX;
    if ((pb__input(f, 1) >= 0 && !pb__scalar_f32(l, pb__input(f, 1), &least)) ||
        (pb__input(f, 2) >= 0 && !pb__scalar_f32(l, pb__input(f, 2), &most)))
      return pb__refuse(l, f, NULL, "bounds that are not constant");
    if (isnan(least) || isnan(most)) return pb__refuse(l, f, NULL, "bounds that are no numbers");
  }
  *lo = fmin(fmax(*lo, least), most);
  *hi = fmin(fmax(*hi, least), most);
  return PB_OK;
}

int pb__only_user(const lifter* l, int tensor) {
  return l->uses[tensor] == 1 && !l->g->tensors[tensor].is_output ? l->user[tensor] : -1;
}

int pb__continued(const lifter* l, int tensor) {
  int next = pb__only_user(l, tensor);
  return next >= 0 && l->g->nodes[next].inputs[0] == tensor ? next : -1;
}

pb_status pb__finish(lifter* l, int tensor, pb_s1_op* op, int rank, const int64_t* shape) {
  for (int next; (next = pb__continued(l, tensor)) >= 0;) {
    const pb_node* f = &l->g->nodes[next];
    if (l->done[next] || (!pb__is(f, "Relu") && !pb__is(f, "Clip"))) break;
    PB_TRY(read_bounds(l, f, &op->lo, &op->hi));
    pb__mark_done(l, next);
    tensor = f->outputs[0];
  }
  op->y = pb__add_value(l, l->g->tensors[tensor].name, PB_F32, rank, shape);
  l->value_of[tensor] = op->y;
  pb__push_op(l, *op);
  return PB_OK;
}

const float* pb__vector(const lifter* l, int tensor, int64_t length) {
  int rank;
  const float* numbers = pb__numbers(l, tensor, length, &rank);
  return numbers && rank == 1 ? numbers : NULL;
}

// scale and shift of a batch normalisation, by channel.
static pb_status read_norm(lifter* l, const pb_node* n, int64_t channels, float* scale, float* shift) {
  const float *gamma = pb__vector(l, pb__input(n, 1), channels), *beta = pb__vector(l, pb__input(n, 2), channels),
              *mean = pb__vector(l, pb__input(n, 3), channels), *variance = pb__vector(l, pb__input(n, 4), channels);
  const pb_attr* epsilon = pb_node_attr(n, "epsilon");
  if (!gamma || !beta || !mean || !variance)
    return pb__refuse(l, n, NULL, "parameters that are not constant f32 vectors over the channels");
  if (pb_node_int(n, "training_mode", 0)) return pb__refuse(l, n, "export for inference", "training mode");
  for (int64_t c = 0; c < channels; ++c) {
    double s = gamma[c] / sqrt((double)variance[c] + (epsilon ? (double)epsilon->f : 1e-5));
    scale[c] = (float)s;
    shift[c] = (float)(beta[c] - mean[c] * s);
  }
  return PB_OK;
}

// Weights [o, each] and bias with a normalisation behind them: new constants.
static pb_status fold_norm(lifter* l, const pb_node* norm, pb_s1_op* op, int64_t outputs) {
  float *scale = pb_alloc(&l->consts->arena, (size_t)outputs * 4),
        *shift = pb_alloc(&l->consts->arena, (size_t)outputs * 4);
  PB_TRY(read_norm(l, norm, outputs, scale, shift));
  const pb_const* w = l->consts->items[op->weights];
  int64_t each = (int64_t)w->bytes / 4 / outputs;
  const float* from = pb_const_data(l->consts, op->weights);
  float* folded = pb_alloc(&l->consts->arena, w->bytes);
  for (int64_t o = 0; o < outputs; ++o)
    for (int64_t k = 0; k < each; ++k) folded[o * each + k] = from[o * each + k] * scale[o];
  if (op->bias >= 0)
    for (int64_t o = 0; o < outputs; ++o) shift[o] += ((const float*)l->consts->items[op->bias]->data)[o] * scale[o];
  op->weights = pb_consts_add(l->consts, w->name, PB_F32, w->rank, w->shape, folded);
  op->bias = pb_consts_add(l->consts, norm->name, PB_F32, 1, &outputs, shift);
  return PB_OK;
}

int pb__as_image(lifter* l, const pb_node* n, int value) {
  const pb_s1_value from = l->out->values[value];
  int64_t shape[4] = {from.shape[0], from.shape[1], 1, from.shape[2]};
  int image = pb__reshaped(l, from.name, value, 4, shape);
  pb__own(l, n, &image);
  return image;
}

static const pb_const* weights_as_image(lifter* l, const pb_const* w) {
  int64_t shape[4] = {w->shape[0], w->shape[1], 1, w->shape[2]};
  const void* data = pb_const_data(l->consts, w->id);
  int id = pb_consts_add(l->consts, w->name, PB_F32, 4, shape, data); // which moves the others
  return l->consts->items[id];
}

static pb_status conv(lifter* l, const pb_node* n) {
  pb_s1_op op = pb__float_op(n, PB_S1_FCONV);
  PB_TRY(pb__own_value(l, n, pb__input(n, 0), &op.x));
  const pb_const* w = pb__constant(l, pb__input(n, 1));
  if (!w || w->type != PB_F32) return pb__refuse(l, n, NULL, "weights that are not constant f32");
  int dims = w->rank;
  if (dims == 3 && l->out->values[op.x].rank == 3) {
    op.x = pb__as_image(l, n, op.x);
    w = weights_as_image(l, w);
  }
  pb_s1_value in = l->out->values[op.x];
  if (in.rank != 4 || w->rank != 4) return pb__refuse(l, n, NULL, "only convolutions over one or two dims are read");
  op.groups = pb_node_int(n, "group", 1);
  if (op.groups < 1 || !pb__meet(l, w->shape[1] * op.groups, in.shape[1]) || w->shape[0] % op.groups)
    return pb__refuse(l, n, NULL, "weights that do not fit its input's channels");
  op.weights = w->id;
  op.window[0] = w->shape[2];
  op.window[1] = w->shape[3];
  int64_t shape[4] = {in.shape[0], w->shape[0], 0, 0};
  PB_TRY(pb__read_window(l, n, &in, &op, shape + 2));
  pb__crop(l, n, &op);
  pb__live_window(l, l->out->values[op.x].shape, shape, &op);
  if (pb__input(n, 2) >= 0) {
    if (!pb__vector(l, pb__input(n, 2), shape[1]))
      return pb__refuse(l, n, NULL, "a bias that is no constant f32 vector");
    op.bias = l->g->tensors[pb__input(n, 2)].const_id;
  }
  int tensor = n->outputs[0], next = pb__continued(l, tensor);
  if (next >= 0 && pb__is(&l->g->nodes[next], "BatchNormalization")) {
    PB_TRY(fold_norm(l, &l->g->nodes[next], &op, shape[1]));
    pb__mark_done(l, next);
    tensor = l->g->nodes[next].outputs[0];
  }
  if (dims == 4) return pb__finish(l, tensor, &op, 4, shape);
  op.y = pb__add_value(l, n->name, PB_F32, 4, shape);
  pb__push_op(l, op);
  shape[2] = shape[3];
  l->value_of[tensor] = pb__reshaped(l, l->g->tensors[tensor].name, op.y, 3, shape);
  return PB_OK;
}

static pb_status norm(lifter* l, const pb_node* n) {
  pb_s1_op op = pb__float_op(n, PB_S1_FSCALE);
  PB_TRY(pb__own_value(l, n, pb__input(n, 0), &op.x));
  pb_s1_value in = l->out->values[op.x];
  if (in.rank < 2) return pb__refuse(l, n, NULL, "an input without channels");
  int64_t channels = in.shape[1];
  float *scale = pb_alloc(&l->consts->arena, (size_t)channels * 4),
        *shift = pb_alloc(&l->consts->arena, (size_t)channels * 4);
  PB_TRY(read_norm(l, n, channels, scale, shift));
  op.m = pb_consts_add(l->consts, pb_printf(&l->consts->arena, "%s.m", n->name), PB_F32, 1, &channels, scale);
  op.bias = pb_consts_add(l->consts, pb_printf(&l->consts->arena, "%s.bias", n->name), PB_F32, 1, &channels, shift);
  return pb__finish(l, n->outputs[0], &op, in.rank, in.shape);
}

void pb__pool_rows_first(lifter* l, const pb_node* n, pb_s1_op* op, const int64_t* out) {
  enum { LEAST_HELD = 25, SMALLER = 2 }; // by a window; a tensor more is written and read
  const pb_s1_value in = l->out->values[op->x];
  int64_t rows = op->window[0], columns = op->window[1], at_once = out[2] * rows * columns;
  int64_t behind_each_other = in.shape[2] * columns + out[2] * rows;
  bool code = l->consts->symbols && !l->consts->open;
  if (!code || op->borders || rows * columns < LEAST_HELD || at_once < SMALLER * behind_each_other) return;
  pb_s1_op first = *op;
  first.window[0] = first.stride[0] = first.dilation[0] = op->window[1] = op->stride[1] = op->dilation[1] = 1;
  if (op->kind == PB_S1_FAVERAGE) { // the sum, of which the mean is made at the end
    first.ma = 1;
    first.m = -1;
  }
  first.pad[0] = first.pad[2] = first.over[0] = op->pad[1] = op->pad[3] = op->over[1] = 0;
  op->x = first.y = pb__add_value(l, n->name, in.type, 4, (int64_t[]){in.shape[0], in.shape[1], in.shape[2], out[3]});
  pb__push_op(l, first);
}

static pb_status maxpool(lifter* l, const pb_node* n) {
  pb_s1_op op = pb__float_op(n, PB_S1_FMAXPOOL);
  PB_TRY(pb__own_value(l, n, pb__input(n, 0), &op.x));
  pb_s1_value in = l->out->values[op.x];
  if (in.rank != 4) return pb__refuse(l, n, NULL, "only pooling over two dims is read");
  if (n->output_count > 1 && n->outputs[1] >= 0) return pb__refuse(l, n, NULL, "indices of the largest elements");
  int64_t shape[4] = {in.shape[0], in.shape[1], 1, 1};
  if (pb__is(n, "GlobalMaxPool")) {
    memcpy(op.window, in.shape + 2, sizeof op.window);
  } else {
    pb__read_pair(n, "kernel_shape", op.window);
    PB_TRY(pb__read_window(l, n, &in, &op, shape + 2));
    pb__pool_rows_first(l, n, &op, shape);
  }
  return pb__finish(l, n->outputs[0], &op, 4, shape);
}

// 1 / elements of a window in [lo, hi) of each dim, for each place of the result: [h, w].
static int window_factors(lifter* l, const pb_node* n, const pb_s1_op* op, const int64_t* lo, const int64_t* hi,
                          const int64_t* out) {
  float* m = pb_alloc(&l->consts->arena, (size_t)(out[0] * out[1]) * 4);
  for (int64_t h = 0; h < out[0]; ++h)
    for (int64_t w = 0; w < out[1]; ++w) {
      int64_t at[2] = {h, w}, count = 1;
      for (int k = 0; k < 2; ++k) {
        int64_t inside = 0;
        for (int64_t r = 0; r < op->window[k]; ++r) {
          int64_t i = at[k] * op->stride[k] + r * op->dilation[k] - op->pad[k];
          inside += i >= lo[k] && i < hi[k];
        }
        count *= inside;
      }
      m[h * out[1] + w] = 1.0f / (float)(count ? count : 1);
    }
  return pb_consts_add(l->consts, pb_printf(&l->consts->arena, "%s.m", n->name), PB_F32, 2, out, m);
}

static pb_status average(lifter* l, const pb_node* n) {
  pb_s1_op op = pb__float_op(n, PB_S1_FAVERAGE);
  PB_TRY(pb__own_value(l, n, pb__input(n, 0), &op.x));
  pb_s1_value in = l->out->values[op.x];
  if (in.rank != 4) return pb__refuse(l, n, NULL, "only pooling over two dims is read");
  int64_t shape[4] = {in.shape[0], in.shape[1], 1, 1};
  bool whole = pb__is(n, "GlobalAveragePool");
  if (whole) {
    op.window[0] = in.shape[2];
    op.window[1] = in.shape[3];
  } else {
    pb__read_pair(n, "kernel_shape", op.window);
    PB_TRY(pb__read_window(l, n, &in, &op, shape + 2));
  }
  bool padded = op.pad[0] || op.pad[1] || op.pad[2] || op.pad[3];
  bool counted = pb_node_int(n, "count_include_pad", 0), hangs = pb_node_int(n, "ceil_mode", 0);
  bool hang_on_extents = op.borders || (padded && !counted); // counts by window: a table would be of these alone
  if (l->consts->open && hang_on_extents) return pb__no_form(l);
  int64_t lo[2] = {0, 0}, hi[2] = {in.shape[2], in.shape[3]};
  for (int k = 0; k < 2 && counted; ++k) { // what hangs over the pads does not count
    lo[k] = -op.pad[k];
    hi[k] += op.pad[2 + k] - op.over[k];
  }
  if (padded && (!counted || hangs))
    op.m = window_factors(l, n, &op, lo, hi, shape + 2);
  else
    op.ma = 1.0f / (float)(op.window[0] * op.window[1]);
  if (!whole) pb__pool_rows_first(l, n, &op, shape);
  return pb__finish(l, n->outputs[0], &op, 4, shape);
}

static pb_status clamp(lifter* l, const pb_node* n) {
  pb_s1_op op = pb__float_op(n, PB_S1_FCLAMP);
  PB_TRY(pb__float_value(l, n, pb__input(n, 0), &op.x));
  pb__own_apart(l, n, &op.x, op.x, true);
  PB_TRY(read_bounds(l, n, &op.lo, &op.hi));
  pb_s1_value in = l->out->values[op.x];
  return pb__finish(l, n->outputs[0], &op, in.rank, in.shape);
}

static void own_beside(lifter* l, const pb_node* n, int* value) { pb__own_apart(l, n, value, *value, false); }

static pb_status binary(lifter* l, const pb_node* n) {
  static const struct {
    const char* name;
    pb_op op;
  } ops[] = {{"Add", PB_OP_ADD}, {"Sub", PB_OP_SUB},     {"Mul", PB_OP_MUL},
             {"Div", PB_OP_DIV}, {"Max", PB_OP_MAXIMUM}, {"Min", PB_OP_MINIMUM}};
  bool prelu = pb__is(n, "PRelu");
  pb_s1_op op = pb__float_op(n, prelu ? PB_S1_FPRELU : PB_S1_FBINARY);
  for (size_t k = 0; k < sizeof ops / sizeof *ops; ++k)
    if (pb__is(n, ops[k].name)) op.binary = ops[k].op;
  if (n->input_count != 2) return pb__refuse(l, n, "two operands", "another number of operands than two");
  int side = pb__constant(l, n->inputs[0]) ? 1 : 0; // x is a value
  const pb_const* c = pb__constant(l, n->inputs[1 - side]);
  PB_TRY(pb__float_value(l, n, n->inputs[side], &op.x));
  if (c) {
    if (c->type != PB_F32) return pb__refuse(l, n, NULL, "a constant that is not f32");
    if (pb__is_empty(c->rank, c->shape)) return pb__refuse(l, n, NULL, "a constant without elements");
    op.weights = c->id;
  } else {
    PB_TRY(pb__float_value(l, n, n->inputs[1 - side], &op.z));
  }
  op.swapped = side == 1;
  pb_s1_value a = l->out->values[op.x];
  int rank = c ? c->rank : l->out->values[op.z].rank;
  const int64_t* shape = c ? c->shape : l->out->values[op.z].shape;
  if (!c && rank > a.rank) { // the larger one gives the result's shape
    int swap = op.x;
    op.x = op.z;
    op.z = swap;
    op.swapped = !op.swapped;
    a = l->out->values[op.x];
    rank = l->out->values[op.z].rank;
    shape = l->out->values[op.z].shape;
  }
  if (prelu && (op.swapped || rank > a.rank)) return pb__refuse(l, n, NULL, "a slope of more dims than what it is for");
  int64_t result[PB_GRAPH_RANK];
  int all = rank > a.rank ? rank : a.rank;
  bool fits = true;
  for (int r = 0; r < all; ++r) {
    int64_t mine = r < all - a.rank ? 1 : a.shape[r - (all - a.rank)];
    int64_t other = r < all - rank ? 1 : shape[r - (all - rank)];
    fits = fits && (mine == 1 || other == 1 || pb__meet(l, mine, other));
    result[r] = other > mine ? other : mine;
  }
  if (!fits) return pb__refuse_shapes(l, n, "shapes", a.rank, a.shape, rank, shape);
  int* operands[] = {&op.x, &op.z};
  for (int k = 0; k < (c ? 1 : 2); ++k) { // what is broadcast is walked by its own dims
    const pb_s1_value* v = &l->out->values[*operands[k]];
    bool whole = v->rank == all && !memcmp(v->shape, result, sizeof *result * (size_t)all);
    (whole ? own_beside : pb__own)(l, n, operands[k]);
  }
  return pb__finish(l, n->outputs[0], &op, all, result);
}

static pb_status reshape(lifter* l, const pb_node* n) {
  int x, rank;
  int64_t shape[PB_GRAPH_RANK];
  PB_TRY(pb__any_value(l, n, pb__input(n, 0), &x));
  pb_s1_value in = l->out->values[x];
  PB_TRY(pb__read_reshape(l, n, &in, shape, &rank));
  l->unsigned_codes[n->outputs[0]] = l->unsigned_codes[n->inputs[0]];
  l->value_of[n->outputs[0]] = pb__reshaped(l, l->g->tensors[n->outputs[0]].name, x, rank, shape);
  return PB_OK;
}

static pb_status concat(lifter* l, const pb_node* n) {
  int64_t shape[PB_GRAPH_RANK], axis = pb_node_int(n, "axis", pb_node_opset(l->g, n) < 4); // opset 1: 1
  int first;
  PB_TRY(pb__own_any(l, n, n->inputs[0], &first));
  pb_s1_value in = l->out->values[first];
  if (axis < 0) axis += in.rank;
  if (axis < 0 || axis >= in.rank) return pb__refuse(l, n, NULL, "an axis that is not there");
  memcpy(shape, in.shape, sizeof shape);
  shape[axis] = 0;
  for (int k = 0; k < n->input_count; ++k) {
    int v;
    PB_TRY(pb__own_any(l, n, n->inputs[k], &v));
    const pb_s1_value* part = &l->out->values[v];
    if (part->type != in.type || l->unsigned_codes[n->inputs[k]] != l->unsigned_codes[n->inputs[0]])
      return pb__refuse(l, n, NULL, "parts of several types");
    bool fits = part->rank == in.rank;
    for (int r = 0; fits && r < in.rank; ++r) fits = r == axis || pb__meet(l, part->shape[r], in.shape[r]);
    if (!fits) return pb__refuse_shapes(l, n, "parts", in.rank, in.shape, part->rank, part->shape);
    shape[axis] += part->shape[axis];
  }
  int y = pb__add_value(l, l->g->tensors[n->outputs[0]].name, in.type, in.rank, shape);
  l->value_of[n->outputs[0]] = y;
  l->unsigned_codes[n->outputs[0]] = l->unsigned_codes[n->inputs[0]];
  pb_s1_op op = pb__float_op(n, PB_S1_CONCAT);
  op.axis = (int)axis;
  op.y = y;
  for (int k = 0; k < n->input_count; ++k) {
    PB_TRY(pb__any_value(l, n, n->inputs[k], &op.x));
    pb__push_op(l, op);
    op.offset += l->out->values[op.x].shape[axis];
  }
  return PB_OK;
}

static const struct {
  const char* op;
  pb_status (*lift)(lifter* l, const pb_node* n);
} rows[] = {{"Conv", conv},       {"BatchNormalization", norm},
            {"Gemm", pb__gemm},   {"MatMul", pb__matmul},
            {"MaxPool", maxpool}, {"AveragePool", average},
            {"Relu", clamp},      {"GlobalAveragePool", average},
            {"Clip", clamp},      {"Add", binary},
            {"Sub", binary},      {"Mul", binary},
            {"Div", binary},      {"Max", binary},
            {"Min", binary},      {"Flatten", reshape},
            {"Reshape", reshape}, {"Identity", reshape},
            {"Squeeze", reshape}, {"Unsqueeze", reshape},
            {"Dropout", reshape}, {"Concat", concat},
            {"PRelu", binary},    {"GlobalMaxPool", maxpool}};

pb_status pb__lift_float(lifter* l, const pb_node* n, bool* known) {
  PB_TRY(pb__lift_each(l, n, known));
  if (!*known) PB_TRY(pb__lift_gather(l, n, known));
  if (!*known) PB_TRY(pb__lift_function(l, n, known));
  if (!*known) PB_TRY(pb__lift_reduction(l, n, known));
  if (!*known) PB_TRY(pb__lift_movement(l, n, known));
  if (*known) return PB_OK;
  for (size_t k = 0; k < sizeof rows / sizeof *rows; ++k) {
    if (!pb__is(n, rows[k].op)) continue;
    *known = true;
    return rows[k].lift(l, n);
  }
  *known = false;
  return PB_OK;
}
