// Lifts pb_codes operators out of their float clothes: DequantizeLinear in front, the operator, perhaps Relu or Clip,
// QuantizeLinear behind become one operator on codes.
#include "core/s1/lift/lift.h"

#include "core/s1/control.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

pb_status pb__refuse(lifter* l, const pb_node* n, const char* hint, const char* why) {
  if (l->consts->symbols && l->consts->symbols->again) return PB_ERR_UNSUPPORTED; // it is read again
  if (l->quiet) l->why = why;
  if (l->quiet) return PB_ERR_UNSUPPORTED;
  return pb_unsupported(l->diag, (pb_place){.file = l->g->file, .what = pb_node_place(l->g, n)}, 2020, hint, "%s", why);
}

pb_status pb__refuse_shapes(lifter* l, const pb_node* n, const char* what, int rank, const int64_t* shape,
                            int other_rank, const int64_t* other) {
  pb_arena* arena = &l->g->arena;
  return pb__refuse(l, n, NULL,
                    pb_printf(arena, "%s that do not fit: %s and %s", what, pb_shape_text(arena, rank, shape),
                              pb_shape_text(arena, other_rank, other)));
}

pb_status pb__no_form(lifter* l) {
  l->unknown = true;
  return PB_ERR_UNSUPPORTED;
}

bool pb__is(const pb_node* n, const char* op) { return !strcmp(n->op, op); }

int pb__input(const pb_node* n, int k) { return k < n->input_count ? n->inputs[k] : -1; }

const pb_const* pb__constant(const lifter* l, int tensor) {
  if (tensor < 0 || l->g->tensors[tensor].const_id < 0) return NULL;
  return l->consts->items[l->g->tensors[tensor].const_id];
}

// Codes of 4 bits, which the model has a byte each of, the code below.
const pb_const* pb__byte_codes(lifter* l, int tensor) {
  const pb_const* c = pb__constant(l, tensor);
  if (!c || (c->type != PB_I4 && c->type != PB_U4)) return c;
  int8_t* codes = pb_alloc(&l->consts->arena, c->bytes ? c->bytes : 1);
  for (uint64_t k = 0; k < c->bytes; ++k) {
    int code = ((const uint8_t*)c->data)[k] & 15;
    codes[k] = (int8_t)(c->type == PB_I4 ? (code ^ 8) - 8 : code);
  }
  int id = pb_consts_add(l->consts, c->name, PB_I8, c->rank, c->shape, codes);
  return l->consts->items[id];
}

const pb_const* pb__signed_constant(lifter* l, int tensor) {
  const pb_const* c = pb__byte_codes(l, tensor);
  if (!c || c->type != PB_I8 || !l->g->tensors[tensor].is_unsigned) return c;
  uint8_t* codes = pb_alloc(&l->consts->arena, c->bytes ? c->bytes : 1);
  for (uint64_t k = 0; k < c->bytes; ++k) codes[k] = ((const uint8_t*)c->data)[k] ^ 0x80;
  int id = pb_consts_add(l->consts, c->name, PB_I8, c->rank, c->shape, codes);
  return l->consts->items[id];
}

bool pb__scalar_f32(const lifter* l, int tensor, float* value) {
  int rank;
  const float* numbers = pb__numbers(l, tensor, 1, &rank);
  if (!numbers) return false;
  memcpy(value, numbers, sizeof *value);
  return true;
}

const pb_node* pb__producer(const lifter* l, int tensor) {
  int p = tensor < 0 ? -1 : l->g->tensors[tensor].producer;
  return p < 0 ? NULL : &l->g->nodes[p];
}

// The zero point of QuantizeLinear (or of its partner); u8 codes are shifted to i8 by 128. By ONNX's rule codes without
// a zero point are u8, unless output_dtype says otherwise.
enum { DTYPE_UNKNOWN = 0, DTYPE_UINT8 = 2, DTYPE_INT8 = 3 };

static int64_t output_type(const pb_node* quantise) {
  int64_t type = pb_node_int(quantise, "output_dtype", DTYPE_UNKNOWN);
  return type == DTYPE_UNKNOWN ? DTYPE_UINT8 : type;
}

static bool is_unsigned(const lifter* l, const pb_node* quantise) {
  int zero = pb__input(quantise, 2);
  return zero >= 0 ? l->g->tensors[zero].is_unsigned : output_type(quantise) == DTYPE_UINT8;
}

static bool zero_point(const lifter* l, const pb_node* n, double* zero) {
  int tensor = pb__input(n, 2);
  *zero = 0;
  bool quantises = pb__is(n, "QuantizeLinear");
  if (tensor < 0) {
    bool from_128 = quantises ? is_unsigned(l, n) : n->inputs[0] >= 0 && l->unsigned_codes[n->inputs[0]];
    *zero = from_128 ? -128 : 0;
    return !quantises || output_type(n) == DTYPE_UINT8 || output_type(n) == DTYPE_INT8;
  }
  const pb_const* c = pb__constant(l, tensor);
  if (!c || c->type != PB_I8 || c->bytes != 1) return false;
  bool other = !quantises && n->inputs[0] >= 0 && l->unsigned_codes[n->inputs[0]] != l->g->tensors[tensor].is_unsigned;
  if (other && !pb__constant(l, n->inputs[0])) return false;
  *zero = l->g->tensors[tensor].is_unsigned ? (double)*(const uint8_t*)c->data - 128 : (double)*(const int8_t*)c->data;
  return true;
}

static bool is_scale(float number) { return number > 0 && isfinite(number); }

// What keeps a scale and a zero point from being one constant number each, of codes of 8 bits.
static const char* not_one_number(lifter* l, const pb_node* n) {
  int tensors[2] = {pb__input(n, 1), pb__input(n, 2)};
  for (int k = 0; k < 2; ++k) {
    const char* what = k ? "zero point" : "scale";
    const pb_const* c = pb__constant(l, tensors[k]);
    if (tensors[k] < 0) continue;
    if (!c) return pb_printf(&l->g->arena, "a %s that is not constant", what);
    if (k && c->type != PB_I8)
      return pb_printf(&l->g->arena, "codes of %s, where products, sums and tables are of those of 8 bits",
                       pb_type_name(c->type));
    if (pb__elements(c->rank, c->shape) != 1)
      return pb_printf(&l->g->arena, "a %s for each of several places, where one is read for all", what);
    if (!k && c->type != PB_F32) return pb_printf(&l->g->arena, "a scale of %s", pb_type_name(c->type));
  }
  return "codes of another type than those of 8 bits";
}

// The one scale and zero point of QuantizeLinear, or of its partner.
static pb_status read_scale(lifter* l, const pb_node* n, float* scale, double* zero) {
  if (!pb__scalar_f32(l, pb__input(n, 1), scale) || !zero_point(l, n, zero))
    return pb__refuse(l, n, NULL, not_one_number(l, n));
  return is_scale(*scale) ? PB_OK : pb__refuse(l, n, NULL, "a scale that is not a positive number");
}

// Quantisers leave such scales where all that they saw was 0 or no number. ONNX computes with them.
static void warn_of_scales(lifter* l, const pb_node* n) {
  const pb_const* c = pb__constant(l, pb__input(n, 1));
  if (!c || c->type != PB_F32) return;
  for (uint64_t k = 0; k < c->bytes / 4; ++k) {
    float scale;
    memcpy(&scale, (const char*)c->data + 4 * k, 4);
    if (is_scale(scale)) continue;
    pb_warning(l->diag, (pb_place){.file = l->g->file, .what = pb_node_place(l->g, n)}, 2033,
               "the scale '%s' is %g%s, not a positive number: it is computed in floats as ONNX defines it, and no "
               "operator beside it in codes",
               l->g->tensors[n->inputs[1]].name, (double)scale, c->bytes > 4 ? " at one place" : "");
    return;
  }
}

// The codes behind a float tensor that DequantizeLinear makes.
pb_status pb__read_codes(lifter* l, const pb_node* n, int tensor, pb_codes* q) {
  const pb_node* dq = pb__producer(l, tensor);
  if (!dq || !pb__is(dq, "DequantizeLinear"))
    return pb__refuse(l, n, "quantise the model (QDQ, int8)",
                      "its input is not quantised: only int8 QDQ operators run on this path");
  const pb_const* scale = pb__constant(l, pb__input(dq, 1));
  if (scale && scale->type == PB_F32 && scale->bytes > sizeof q->scale) return pb__no_form(l); // one for each channel
  PB_TRY(read_scale(l, dq, &q->scale, &q->zero));
  q->value = dq->inputs[0] < 0 ? -1 : l->value_of[dq->inputs[0]];
  if (q->value < 0 && pb__constant(l, dq->inputs[0])) return pb__any_value(l, n, dq->inputs[0], &q->value);
  if (q->value < 0) return pb__refuse(l, dq, NULL, "its input comes later or from nowhere");
  return PB_OK;
}

void pb__mark_done(lifter* l, int node) {
  l->done[node] = true;
  if (l->marks < (int)(sizeof l->marked / sizeof *l->marked)) l->marked[l->marks++] = node;
}

static double code_of(float v, float scale, double zero) {
  float inverse = 1.0f / scale;
  return fmin(127, fmax(-128, (double)rintf(v * inverse) + zero));
}

static pb_status read_bounds(lifter* l, const pb_node* f, float* lo, float* hi) {
  *lo = pb__is(f, "Relu") ? 0 : -INFINITY;
  *hi = INFINITY;
  if (pb__is(f, "Relu")) return PB_OK;
  const pb_attr *a = pb_node_attr(f, "min"), *b = pb_node_attr(f, "max");
  if (a) *lo = a->f;
  if (b) *hi = b->f;
  if ((pb__input(f, 1) >= 0 && !pb__scalar_f32(l, pb__input(f, 1), lo)) ||
      (pb__input(f, 2) >= 0 && !pb__scalar_f32(l, pb__input(f, 2), hi)))
    return pb__refuse(l, f, NULL, "bounds that are not constant");
  return isnan(*lo) || isnan(*hi) ? pb__refuse(l, f, NULL, "bounds that are no numbers") : PB_OK;
}

pb_status pb__clamp_target(lifter* l, const pb_node* n, pb_target* t) {
  float lo, hi;
  PB_TRY(read_bounds(l, n, &lo, &hi));
  if (lo != -INFINITY) t->lo = fmax(t->lo, code_of(lo, t->scale, t->zero));
  if (hi != INFINITY) t->hi = fmin(t->hi, code_of(hi, t->scale, t->zero));
  return PB_OK;
}

// What follows: Relu and Clip fold into the clamp, until QuantizeLinear.
pb_status pb__find_target(lifter* l, const pb_node* n, pb_target* t) {
  double least = -INFINITY, most = INFINITY;
  int tensor = n->outputs[0];
  for (int hops = 0; hops < 4; ++hops) {
    int next = pb__continued(l, tensor);
    if (next < 0)
      return pb__refuse(l, n, "quantise the model (QDQ, int8)", "its result is not quantised (or read by several)");
    const pb_node* f = &l->g->nodes[next];
    if (pb__is(f, "QuantizeLinear")) {
      PB_TRY(read_scale(l, f, &t->scale, &t->zero));
      (void)pb__factor(l, 1, t->scale); // by which bounds are turned into codes
      t->node = next;
      t->floats = false;
      t->is_unsigned = is_unsigned(l, f);
      t->tensor = f->outputs[0];
      t->lo = least == -INFINITY ? -128 : code_of((float)least, t->scale, t->zero);
      t->hi = most == INFINITY ? 127 : code_of((float)most, t->scale, t->zero);
      pb__mark_done(l, next);
      return PB_OK;
    }
    float lo, hi;
    if (!pb__is(f, "Relu") && !pb__is(f, "Clip"))
      return pb__refuse(l, n, "quantise the model (QDQ, int8)", "its result is not quantised");
    PB_TRY(read_bounds(l, f, &lo, &hi));
    least = fmax(least, lo);
    most = fmin(most, hi);
    pb__mark_done(l, next);
    tensor = f->outputs[0];
  }
  return pb__refuse(l, n, NULL, "too long a chain behind it");
}

pb_status pb__find_result(lifter* l, const pb_node* n, pb_target* t) {
  if (pb__ends_in_codes(l, n)) return pb__find_target(l, n, t);
  *t = (pb_target){.node = -1, .tensor = n->outputs[0], .scale = 1, .lo = -INFINITY, .hi = INFINITY, .floats = true};
  return PB_OK;
}

int pb__make_result(lifter* l, const pb_target* t, int rank, const int64_t* shape) {
  int v = pb__add_value(l, l->g->tensors[t->tensor].name, pb__target_type(t), rank, shape);
  l->value_of[t->tensor] = v;
  l->unsigned_codes[t->tensor] = t->is_unsigned;
  return v;
}

void pb__reshaped_result(lifter* l, const pb_node* n, const pb_target* t, int value, int rank, const int64_t* shape) {
  int made = pb__make_result(l, t, rank, shape);
  pb__alias(l, made, value);
  if (!pb_s1_merges(&l->out->values[l->out->values[made].alias_of], &l->out->values[made]))
    pb__own(l, n, &l->value_of[t->tensor]);
}

void pb__push_op(lifter* l, pb_s1_op op) { PB_PUSH(l->out->ops, l->out->op_count, l->out->op_capacity, op); }

pb_s1_op pb__codes_op(const pb_node* n, pb_s1_kind kind, const pb_target* t) {
  pb_s1_op op = pb_s1_new_op(n->name, n->op, kind);
  if (t) {
    op.zy = t->zero;
    op.lo = t->lo;
    op.hi = t->hi;
  }
  return op;
}

int pb__part_of(lifter* l, const pb_node* n, int value, const int64_t* from, const int64_t* to) {
  pb_s1_value x = l->out->values[value];
  pb_s1_op op = pb_s1_new_op(n->name, n->op, PB_S1_SLICE);
  bool whole = true;
  for (int r = 0; r < x.rank; ++r) {
    whole &= from[r] == 0 && to[r] == x.shape[r];
    op.step[r] = 1;
    op.start[r] = from[r];
    x.shape[r] = to[r] - from[r];
  }
  if (whole) return value;
  op.x = value;
  op.y = pb__add_value(l, n->name, x.type, x.rank, x.shape);
  pb__push_op(l, op);
  return op.y;
}

void pb__crop(lifter* l, const pb_node* n, pb_s1_op* op) {
  const pb_s1_value x = l->out->values[op->x];
  if (op->start[2] || op->start[3]) op->x = pb__part_of(l, n, op->x, op->start, x.shape);
  op->start[2] = op->start[3] = 0;
}

// A line of codes, and the weights that walk it, as the image of one row.
static void line_as_image(lifter* l, const pb_node* n, int* value, pb__weights* w) {
  const pb_const* from = l->consts->items[w->id];
  int64_t window[4] = {from->shape[0], from->shape[1], 1, from->shape[2]};
  *value = pb__as_image(l, n, *value);
  w->id = pb_consts_add(l->consts, from->name, PB_I8, 4, window, pb_const_data(l->consts, w->id));
  w->rank = 4;
  w->shape[3] = w->shape[2];
  w->shape[2] = 1;
}

// The result of an operator on images, which has four dims; as a line again, if its input was one.
int pb__image_result(lifter* l, const pb_node* n, const pb_target* t, bool line, const int64_t* shape) {
  if (!line) return pb__make_result(l, t, 4, shape);
  const int64_t of_line[3] = {shape[0], shape[1], shape[3]};
  int image = pb__add_value(l, n->name, pb__target_type(t), 4, shape);
  pb__reshaped_result(l, n, t, image, 3, of_line);
  return image;
}

static pb_status lift_conv(lifter* l, const pb_node* n) {
  pb_codes x;
  pb_target t;
  pb__weights w;
  PB_TRY(pb__read_codes(l, n, pb__input(n, 0), &x));
  PB_TRY(pb__read_weights(l, n, pb__input(n, 1), 0, &w));
  bool line = l->out->values[x.value].rank == 3 && w.rank == 3;
  if (line) line_as_image(l, n, &x.value, &w);
  pb_s1_value in = l->out->values[x.value];
  if (in.rank != 4 || w.rank != 4)
    return pb__refuse(l, n, "a model of floats, for --target=cpu",
                      "of codes only convolutions over one or two dims are read");
  pb_s1_op op = pb__codes_op(n, PB_S1_CONV, NULL);
  op.groups = pb_node_int(n, "group", 1);
  if (op.groups < 1 || !pb__meet(l, w.shape[1] * op.groups, in.shape[1]) || w.shape[0] % op.groups)
    return pb__refuse(l, n, NULL, "weights that do not fit its input's channels");
  op.window[0] = w.shape[2];
  op.window[1] = w.shape[3];
  int64_t shape[4] = {in.shape[0], w.shape[0], 0, 0};
  PB_TRY(pb__read_window(l, n, &in, &op, shape + 2));
  PB_TRY(pb__find_result(l, n, &t));
  op.zx = x.zero;
  op.x = x.value;
  pb__own(l, n, &op.x);
  pb__crop(l, n, &op);
  if (w.twice) op.x = pb__twice(l, n, op.x, 1, op.groups);
  pb__own(l, n, &op.x);
  op.weights = w.id;
  pb__live_window(l, l->out->values[op.x].shape, shape, &op);
  const float* apart;
  PB_TRY(pb__fold_constants(l, n, &w, &x, &t, &op, &apart));
  op.y = pb__image_result(l, n, &t, line, shape);
  pb__push_product(l, n, &t, op, apart);
  return PB_OK;
}

pb_status pb__read_pool(lifter* l, const pb_node* n, pb_s1_kind kind, pb_codes* x, pb_target* t, pb_s1_op* op,
                        int64_t* shape, bool* line) {
  PB_TRY(pb__read_codes(l, n, pb__input(n, 0), x));
  PB_TRY(pb__find_target(l, n, t));
  const pb_attr* window = pb_node_attr(n, "kernel_shape");
  int rank = l->out->values[x->value].rank;
  *line = rank == 3;
  if ((rank != 4 && !*line) || !window || window->count != rank - 2)
    return pb__refuse(l, n, NULL, "only pooling over one or two dims is read");
  *op = pb__codes_op(n, kind, t);
  pb__read_pair(n, "kernel_shape", op->window);
  op->x = *line ? pb__as_image(l, n, x->value) : x->value;
  pb__own(l, n, &op->x);
  const pb_s1_value in = l->out->values[op->x];
  shape[0] = in.shape[0];
  shape[1] = in.shape[1];
  PB_TRY(pb__read_window(l, n, &in, op, shape + 2));
  return *line && shape[2] != 1 ? pb__refuse(l, n, NULL, "pads of another number of dims") : PB_OK;
}

static pb_status lift_maxpool(lifter* l, const pb_node* n) {
  pb_codes x;
  pb_target t;
  pb_s1_op op;
  int64_t shape[4];
  bool line;
  PB_TRY(pb__read_pool(l, n, PB_S1_MAXPOOL, &x, &t, &op, shape, &line));
  int result = pb__image_result(l, n, &t, line, shape);
  bool same = pb__same_codes(&x, &t);
  pb__pool_rows_first(l, n, &op, shape);
  op.y = same ? result : pb__add_value(l, n->name, PB_I8, 4, shape);
  pb__push_op(l, op);
  if (!same) pb__requantise(l, n, (pb_codes){op.y, x.scale, x.zero}, &t, result);
  return PB_OK;
}

static pb_status lift_average(lifter* l, const pb_node* n) {
  pb_codes x;
  pb_target t;
  PB_TRY(pb__read_codes(l, n, pb__input(n, 0), &x));
  PB_TRY(pb__find_result(l, n, &t));
  bool line = l->out->values[x.value].rank == 3;
  if (line) x.value = pb__as_image(l, n, x.value);
  pb_s1_value in = l->out->values[x.value];
  if (in.rank != 4) return pb__refuse(l, n, NULL, "only pooling over one or two dims is read");
  pb_s1_op op = pb__codes_op(n, PB_S1_AVERAGE, &t);
  int64_t channels = in.shape[1], area = in.shape[2] * in.shape[3], shape[4] = {in.shape[0], channels, 1, 1};
  op.x = x.value;
  pb__own(l, n, &op.x);
  op.window[0] = in.shape[2];
  op.window[1] = in.shape[3];
  pb__fold_sum(l, n, channels, area, &x, x.scale / (float)area, &t, &op);
  op.y = pb__image_result(l, n, &t, line, shape);
  pb__push_op(l, op);
  return PB_OK;
}

// Flatten, Reshape, Identity and the like: the same codes under another shape.
static pb_status lift_reshape(lifter* l, const pb_node* n) {
  pb_codes x;
  pb_target t;
  PB_TRY(pb__read_codes(l, n, pb__input(n, 0), &x));
  PB_TRY(pb__find_target(l, n, &t));
  if (!pb__same_codes(&x, &t)) {
    const pb_s1_value from = l->out->values[x.value];
    int scaled = pb__add_value(l, n->name, PB_I8, from.rank, from.shape);
    pb__requantise(l, n, x, &t, scaled);
    x.value = scaled;
  }
  pb_s1_value in = l->out->values[x.value];
  int64_t shape[PB_GRAPH_RANK];
  int rank;
  PB_TRY(pb__read_reshape(l, n, &in, shape, &rank));
  pb__reshaped_result(l, n, &t, x.value, rank, shape);
  return PB_OK;
}

static pb_status lift_quantise(lifter* l, const pb_node* n) {
  pb_target t = {.tensor = n->outputs[0]};
  int source = n->inputs[0] < 0 ? -1 : l->value_of[n->inputs[0]];
  if (source >= 0 && l->out->values[source].type != PB_F32) return pb__refuse(l, n, NULL, "its input is no float");
  PB_TRY(read_scale(l, n, &t.scale, &t.zero));
  t.is_unsigned = is_unsigned(l, n);
  t.lo = -128;
  t.hi = 127;
  (void)pb__factor(l, 1, t.scale);
  if (pb__is_table(l, n)) return pb__lift_table(l, n, &t);
  if (pb__rescaled(l, n, &t)) return PB_OK;
  if (source < 0) return pb__refuse(l, n, NULL, "its input is a float that no operator here makes");
  pb_s1_op op = pb__codes_op(n, PB_S1_QUANTISE, &t);
  op.x = source;
  op.ma = pb__factor(l, 1, t.scale);
  pb_s1_value in = l->out->values[source];
  if (in.rank == 3)
    pb__matrix_result(l, n, &t, in.rank, in.shape, &op.y);
  else
    op.y = pb__make_result(l, &t, in.rank, in.shape);
  pb__own_apart(l, n, &op.x, op.y, true);
  pb__push_op(l, op);
  return PB_OK;
}

bool pb__is_matrix_as_image(const lifter* l, int value) {
  const pb_s1_value* v = &l->out->values[value];
  const pb_s1_value* base = v->alias_of < 0 ? NULL : &l->out->values[v->alias_of];
  return base && v->rank == 4 && v->shape[1] == 1 && base->rank == 2 && base->shape[1] == v->shape[3];
}

// A float that leaves the model.
pb_status pb__lift_dequantise(lifter* l, const pb_node* n) {
  pb_codes x;
  PB_TRY(pb__read_codes(l, n, n->outputs[0], &x));
  const pb_s1_value* codes = &l->out->values[x.value];
  if (codes->type != PB_I8) return pb__refuse(l, n, NULL, "codes of more than 8 bits");
  if (pb__is_empty(codes->rank, codes->shape)) {
    l->value_of[n->outputs[0]] = pb__add_empty(l, n->name, PB_F32, codes->rank, codes->shape);
    return PB_OK;
  }
  const char* name = l->g->tensors[n->outputs[0]].name;
  const pb_s1_value whole = *codes;
  bool rows = pb__is_matrix_as_image(l, x.value);
  pb_s1_op op = pb__codes_op(n, PB_S1_DEQUANTISE, NULL);
  if (rows) x.value = whole.alias_of;
  pb__own_apart(l, n, &x.value, x.value, true);
  pb_s1_value in = l->out->values[x.value];
  op.x = x.value;
  op.zx = x.zero;
  op.ma = x.scale;
  op.y = pb__add_value(l, rows ? n->name : name, PB_F32, in.rank, in.shape);
  l->value_of[n->outputs[0]] = rows ? pb__reshaped(l, name, op.y, whole.rank, whole.shape) : op.y;
  pb__push_op(l, op);
  return PB_OK;
}

static const struct {
  const char* op;
  pb_status (*lift)(lifter* l, const pb_node* n);
} rows[] = {{"Conv", lift_conv},
            {"MaxPool", lift_maxpool},
            {"GlobalAveragePool", lift_average},
            {"Flatten", lift_reshape},
            {"Reshape", lift_reshape},
            {"Squeeze", lift_reshape},
            {"Unsqueeze", lift_reshape},
            {"Identity", lift_reshape},
            {"Dropout", lift_reshape},
            {"QuantizeLinear", lift_quantise}};

bool pb__ends_in_codes(const lifter* l, const pb_node* n) {
  const pb_node* at = n;
  do {
    int next = pb__continued(l, at->outputs[0]);
    if (next < 0) return false;
    at = &l->g->nodes[next];
  } while ((pb__is(at, "Relu") || pb__is(at, "Clip")) && at->output_count > 0 && at->outputs[0] >= 0);
  return pb__is(at, "QuantizeLinear");
}

// Whether the node works on codes. Those of a tensor that others read as floats, or that leaves as such, are there
// still.
static bool reads_codes(lifter* l, const pb_node* n) {
  const pb_node* maker = pb__producer(l, n->inputs[0]);
  return maker && pb__is(maker, "DequantizeLinear") && (l->value_of[n->inputs[0]] < 0 || pb__ends_in_codes(l, n));
}

// The forms that are kinds of their own here.
static pb_status lift_form(lifter* l, const pb_node* n) {
  bool known = false;
  if (n->output_count < 1 || n->outputs[0] < 0) return pb__refuse(l, n, NULL, "a node without a result");
  if (n->input_count < 1 || n->inputs[0] < 0) return pb__refuse(l, n, NULL, "a node without an input");
  bool quantised_input = reads_codes(l, n);
  if (!quantised_input && !pb__is(n, "QuantizeLinear")) {
    PB_TRY(pb__lift_float(l, n, &known));
    if (known) return PB_OK;
  }
  if (quantised_input) PB_TRY(pb__lift_moves(l, n, &known));
  if (known) return PB_OK;
  if (quantised_input) PB_TRY(pb__lift_transposed(l, n, &known));
  if (known) return PB_OK;
  for (size_t k = 0; k < sizeof rows / sizeof *rows; ++k)
    if (pb__is(n, rows[k].op)) return rows[k].lift(l, n);
  if (quantised_input) PB_TRY(pb__lift_codes(l, n, &known));
  if (quantised_input && !known) PB_TRY(pb__lift_float(l, n, &known));
  if (known) return PB_OK;
  l->unknown = true;
  return PB_ERR_UNSUPPORTED;
}

// A form that is none after all leaves operators whose results nobody reads, which go with the others of that kind, and
// the nodes that it took for its own.
static bool is_form(lifter* l, const pb_node* n, bool of_codes) {
  l->impossible = l->why = NULL;
  l->quiet = true;
  l->marks = 0;
  bool is = lift_form(l, n) == PB_OK && !l->impossible;
  for (int k = 1; k < n->output_count && is && !of_codes; ++k) { // results that the form does not have
    int tensor = n->outputs[k];
    is = tensor < 0 || l->value_of[tensor] >= 0 || (!l->uses[tensor] && !l->g->tensors[tensor].is_output);
  }
  l->quiet = false;
  if (l->impossible) l->why = l->impossible;
  l->impossible = NULL;
  for (int k = 0; k < l->marks && !is; ++k) l->done[l->marked[k]] = false;
  for (int k = 0; k < n->output_count && !is; ++k)
    if (n->outputs[k] >= 0) l->value_of[n->outputs[k]] = -1;
  return is;
}

// Between codes: computed in floats it is right, and slow, or nothing that a chip of codes has.
static bool is_of_codes(lifter* l, const pb_node* n) {
  return n->input_count > 0 && n->inputs[0] >= 0 && reads_codes(l, n) && pb__ends_in_codes(l, n);
}

// ONNX's own. ONNX Runtime's quantiser may write these two under the runtime's domain: codes of 16 bits were there
// first.
static bool is_own(const pb_node* n) {
  return !n->domain[0] || !strcmp(n->domain, "ai.onnx") ||
         (!strcmp(n->domain, "com.microsoft") && (pb__is(n, "QuantizeLinear") || pb__is(n, "DequantizeLinear")));
}

static bool is_of_runtime(const pb_node* n) {
  return !strcmp(n->domain, "com.microsoft") &&
         (pb__is(n, "Gelu") || pb__is(n, "FastGelu") || pb__is(n, "SimplifiedLayerNormalization"));
}

// The types that forms are of: they take others for what those are stored as.
static bool has_plain_types(const lifter* l, const pb_node* n) {
  for (int k = 0; k < n->input_count; ++k) {
    pb_type type = pb__type_of(l, n->inputs[k]);
    if (type != PB_F32 && type != PB_I8 && type != PB_I32 && type != PB_I64 && type != PB_I1 && type != PB_TYPE_COUNT)
      return false;
  }
  return true;
}

static void warn_of_floats(lifter* l, const pb_node* n, const char* why) {
  pb_warning(l->diag, (pb_place){.file = l->g->file, .what = pb_node_place(l->g, n)}, 2032,
             "is computed in floats, not in the codes around it: %s", why);
}

pb_status pb__lift_node(lifter* l, const pb_node* n) {
  bool known = false, own = is_own(n);
  bool made = n->output_count > 0 && n->outputs[0] >= 0;
  PB_TRY(l->rows->check(l, n));
  bool quantises = own && pb__is(n, "QuantizeLinear");
  if (own && pb__is(n, "DequantizeLinear") && made) { // made when somebody reads it as floats
    int value;
    warn_of_scales(l, n);
    return l->g->tensors[n->outputs[0]].is_output ? pb__any_value(l, n, n->outputs[0], &value) : PB_OK;
  }
  if (own && made) PB_TRY(pb__fold(l, n, &known));
  if (known) return PB_OK;
  l->unknown = false;
  bool empty = pb__takes_empty(l, n), formed = !empty && (own || is_of_runtime(n)) && has_plain_types(l, n);
  bool codes = !empty && own && made && is_of_codes(l, n);
  if ((formed || codes) && is_form(l, n, codes)) {
    if (own && made && l->value_of[n->outputs[0]] >= 0 && pb__multiplies_moved_codes(l, n))
      warn_of_floats(l, n, "what moves them has no QuantizeLinear and DequantizeLinear behind it");
    return PB_OK;
  }
  if (quantises && pb__is_table(l, n)) {
    size_t at = (size_t)(n - l->g->nodes);
    PB_TRY(pb__drop_table(l, at));
    return pb__lift_node(l, &l->g->nodes[at]);
  }
  if (quantises) warn_of_scales(l, n);
  const char* why = codes && !l->unknown ? l->why : NULL;
  if (why && !formed) return pb__refuse(l, n, NULL, why);
  PB_TRY(l->rows->make(l, n, &known));
  if (why) warn_of_floats(l, n, why);
  return PB_OK;
}

// Constants come first: what a node is may hang on them.
pb_status pb__lift_constants(lifter* l, size_t first) {
  for (size_t k = first; k < l->g->node_count; ++k) {
    const pb_node* n = &l->g->nodes[k];
    bool ours = !n->domain[0] || !strcmp(n->domain, "ai.onnx");
    if (!pb__is(n, "Constant") || !ours || n->output_count < 1 || n->outputs[0] < 0) continue;
    PB_TRY(l->rows->check(l, n));
    PB_TRY(pb__lift_constant(l, n));
    l->done[k] = true;
  }
  return PB_OK;
}

// Operators work on what is to be the output, which begins as the input is: its value is the runtime's to place.
static pb_status donate(lifter* l, int input) {
  const pb_tensor* t = &l->g->tensors[input];
  pb_place place = {.file = l->g->file, .what = t->name};
  if (l->consts->open || t->is_unsigned || pb__is_empty(t->rank, t->shape))
    return pb_unsupported(l->diag, place, 2030, NULL, "is donated, and %s",
                          l->consts->open ? "dims are open" : "is of codes without a sign, or without elements");
  const char* name = l->g->tensors[t->donated_to - 1].name;
  int made = pb__add_value(l, name, t->type, t->rank, t->shape);
  l->out->values[made].is_variable = true;
  l->out->values[made].made_of = l->value_of[input] + 1;
  l->value_of[input] = made;
  return PB_OK;
}

static pb_status take_input(lifter* l, int k) {
  const pb_tensor* t = &l->g->tensors[k];
  for (int i = 0; t->is_sequence && i < t->item_count; ++i) PB_TRY(take_input(l, t->items[i]));
  if (!t->is_input) return PB_OK; // an initialiser too, or bound
  bool empty = pb__is_empty(t->rank, t->shape);
  if (!empty && !pb__fits(l->consts, t->rank, t->shape))
    return pb_unsupported(l->diag, (pb_place){.file = l->g->file, .what = t->name}, 2024, NULL,
                          "an input of more than 2^31 - 1 elements");
  l->value_of[k] = (empty ? pb__add_empty : pb__add_value)(l, t->name, t->type, t->rank, t->shape);
  l->unsigned_codes[k] = t->type == PB_I8 && t->is_unsigned;
  l->out->values[l->value_of[k]].is_input = true;
  l->out->values[l->value_of[k]].is_unsigned = l->unsigned_codes[k];
  return t->donated_to ? donate(l, k) : PB_OK;
}

static pb_status take_inputs(lifter* l) {
  for (size_t k = 0; k < l->g->input_count; ++k) PB_TRY(take_input(l, l->g->inputs[k]));
  return PB_OK;
}

// An output that has no tensor of its own: an input, a reshape, or a tensor that leaves twice.
static void copy_output(lifter* l, int tensor) {
  const pb_s1_value from = l->out->values[l->value_of[tensor]];
  if (pb__is_empty(from.rank, from.shape)) {
    l->value_of[tensor] = pb__add_empty(l, l->g->tensors[tensor].name, from.type, from.rank, from.shape);
    return;
  }
  const pb_node none = {.op = "output", .name = l->g->tensors[tensor].name};
  l->value_of[tensor] = pb__copied(l, &none, l->value_of[tensor], none.name);
}

// The outputs that constants are, as values.
static pb_status constant_output(lifter* l, int tensor) {
  const pb_const* c = pb__constant(l, tensor);
  if (pb__is_empty(c->rank, c->shape)) {
    l->value_of[tensor] = pb__add_empty(l, l->g->tensors[tensor].name, c->type, c->rank, c->shape);
    l->unsigned_codes[tensor] = c->type == PB_I8 && l->g->tensors[tensor].is_unsigned;
    return PB_OK;
  }
  pb_node none = {.op = "output", .name = l->g->tensors[tensor].name, .domain = ""};
  int value;
  l->impossible = NULL;
  PB_TRY(pb__any_value(l, &none, tensor, &value));
  return l->impossible ? pb__refuse(l, &none, NULL, l->impossible) : PB_OK;
}

static const char* type_name(pb_type type, bool is_unsigned) {
  return type == PB_I8 && is_unsigned ? "u8" : type == PB_I1 ? "bool" : pb_type_name(type);
}

// Whoever made the file was wrong about one of them. A type that is another would have its bytes misread; extents come
// with the result, and files keep those of a batch that they were written with.
static pb_status check_declared(lifter* l, const pb_tensor* t, const pb_s1_value* made) {
  const pb_tensor* d = t->declared;
  pb_place place = {.file = l->g->file, .what = t->name};
  if (!d || t->lists || t->may_miss) return PB_OK;
  bool same = made->type == d->type && (d->type != PB_I8 || made->is_unsigned == d->is_unsigned);
  if (d->type_code && !same)
    return pb_error(l->diag, place, 2034, "mend the output's type in the model, or cast to it",
                    "the model says of this output that it is %s, and computes %s",
                    d->type == PB_TYPE_COUNT ? pb_printf(&l->g->arena, "of ONNX type %lld", (long long)d->type_code)
                                             : type_name(d->type, d->is_unsigned),
                    type_name(made->type, made->is_unsigned));
  if (d->rank < 0 || l->consts->open) return PB_OK; // open extents are said when it runs
  same = d->rank == made->rank;
  for (int r = 0; same && r < d->rank; ++r) same = d->shape[r] < 0 || d->shape[r] == made->shape[r];
  if (!same)
    pb_warning(l->diag, place, 2035, "the model says of this output that it is %s, and computes %s",
               pb_shape_text(&l->g->arena, d->rank, d->shape), pb_shape_text(&l->g->arena, made->rank, made->shape));
  return PB_OK;
}

static pb_status mark_output(lifter* l, int k) {
  const pb_tensor* t = &l->g->tensors[k];
  if (l->value_of[k] < 0 && t->const_id >= 0 && !t->is_input) PB_TRY(constant_output(l, k));
  if (l->value_of[k] >= 0 && (l->out->values[l->value_of[k]].is_input || l->out->values[l->value_of[k]].alias_of >= 0 ||
                              l->out->values[l->value_of[k]].const_id >= 0 || l->out->values[l->value_of[k]].is_output))
    copy_output(l, k);
  if (l->value_of[k] < 0)
    return pb_unsupported(l->diag, (pb_place){.file = l->g->file, .what = t->name}, 2022, NULL,
                          "an output that no supported operator makes");
  l->out->values[l->value_of[k]].name = t->name; // the same value may have come by another tensor's
  l->out->values[l->value_of[k]].is_output = true;
  l->out->values[l->value_of[k]].is_unsigned = l->unsigned_codes[k];
  PB_PUSH(l->outputs, l->output_count, l->output_capacity, l->value_of[k]);
  return check_declared(l, t, &l->out->values[l->value_of[k]]);
}

// What is in a sequence leaves as NAME[0] and on, in an optional by its own name.
static pb_status mark_items(lifter* l, const pb_tensor* t, const char* name, int* count) {
  for (int k = 0; k < t->item_count; ++k) {
    const pb_tensor* item = &l->g->tensors[t->items[k]];
    if (item->is_sequence) {
      PB_TRY(mark_items(l, item, name, count));
      continue;
    }
    if (l->g->tensor_count == l->tensor_room)
      return pb_unsupported(l->diag, (pb_place){.file = l->g->file, .what = name}, 2022, NULL, "too long a sequence");
    int made = pb__new_tensor(l, t->is_optional ? name : pb_printf(&l->g->arena, "%s[%d]", name, k));
    pb_tensor* output = &l->g->tensors[made];
    output->const_id = item->const_id;
    output->is_unsigned = item->is_unsigned;
    l->value_of[made] = l->value_of[t->items[k]];
    l->unsigned_codes[made] = l->unsigned_codes[t->items[k]];
    PB_TRY(mark_output(l, made));
    l->out->values[l->value_of[made]].name = output->name;
    ++*count;
  }
  return PB_OK;
}

static pb_status mark_outputs(lifter* l) {
  int count = 0;
  for (size_t k = 0; k < l->g->output_count; ++k) {
    const pb_tensor* t = &l->g->tensors[l->g->outputs[k]];
    if (t->is_sequence) {
      PB_TRY(mark_items(l, t, t->name, &count));
      continue;
    }
    PB_TRY(mark_output(l, l->g->outputs[k]));
    ++count;
  }
  return count ? PB_OK : pb_error(l->diag, (pb_place){.file = l->g->file}, 2023, NULL, "a model without outputs");
}

pb_status pb_s1_build(pb_graph* graph, pb_consts* consts, pb_diag* diag, const pb_s1_rows* rows, pb_s1* program) {
  lifter l = {.g = graph, .consts = consts, .diag = diag, .out = program, .rows = rows};
  *program = (pb_s1){0};
  pb__drop_guards(graph, consts);
  pb__drop_identities(graph); // guards that went are such
  pb__rewrite_qoperators(graph, consts);
  pb__pair_moved_codes(graph, consts);
  pb__move_transposes(graph, consts);
  pb__reserve(&l);
  for (size_t n = 0; n < graph->node_count; ++n) pb__count_uses(&l, &graph->nodes[n], (int)n);
  pb_status status = rows->survey(&l, 0);
  if (status == PB_OK) status = take_inputs(&l);
  if (status == PB_OK) status = pb__lift_constants(&l, 0);
  if (status == PB_OK) pb__find_tables(&l);
  for (size_t n = 0, count = graph->node_count; n < count && status == PB_OK; ++n) // what is written out comes behind
    if (!l.done[n]) status = pb__lift_node(&l, &graph->nodes[n]);
  if (status == PB_OK) status = mark_outputs(&l);
  if (status == PB_OK) pb__s1_join_tables(program, consts);
  if (status == PB_OK) pb_s1_drop_unread(program);
  if (status == PB_OK) pb__s1_shuffles(program, consts);
  if (status == PB_OK) pb__s1_walks(program, consts);
  if (status == PB_OK) pb_s1_drop_unread(program);
  if (status == PB_OK) pb__s1_order(program, l.outputs, l.output_count);
  if (status == PB_OK) pb__s1_bound(program, consts);
  free(l.value_of);
  free(l.uses);
  free(l.user);
  free(l.done);
  free(l.table_source);
  free(l.unsigned_codes);
  free(l.copy_of);
  free(l.outputs);
  return status;
}

bool pb_s1_merges(const pb_s1_value* from, const pb_s1_value* to) {
  int r = 0, s = 0;
  while (r < to->rank && s < from->rank) {
    int64_t mine = to->shape[r++], its = from->shape[s++];
    int several = mine != 1;
    while (mine != its)
      if (mine < its ? r == to->rank : s == from->rank) {
        return false; // without elements, extents need not meet
      } else if (mine < its) {
        mine *= to->shape[r];
        several += to->shape[r++] != 1;
      } else {
        its *= from->shape[s++];
      }
    if (several > 1) return false;
  }
  return true;
}

void pb_s1_free(pb_s1* program) {
  free(program->values);
  free(program->ops);
  pb_arena_free(&program->arena);
  *program = (pb_s1){0};
}
