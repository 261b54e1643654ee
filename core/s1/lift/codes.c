// More quantised operators: products by constant matrices, operators by elements, concatenation, average pooling.
#include "core/s1/lift/lift.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool pb__same_codes(const pb_codes* x, const pb_target* t) {
  return t->scale == x->scale && t->zero == x->zero && t->lo == -128 && t->hi == 127;
}

void pb__requantise(lifter* l, const pb_node* n, pb_codes x, const pb_target* t, int y) {
  pb_s1_op op = t->floats ? pb__codes_op(n, PB_S1_DEQUANTISE, NULL) : pb__codes_op(n, PB_S1_RESCALE, t);
  op.x = x.value;
  op.zx = x.zero;
  op.ma = pb__factor(l, x.scale, t->scale);
  op.y = y;
  pb__push_op(l, op);
}

bool pb__rescaled(lifter* l, const pb_node* n, const pb_target* t) {
  const pb_node* maker = pb__producer(l, pb__input(n, 0));
  pb_codes x;
  if (!maker || !pb__is(maker, "DequantizeLinear") || pb__read_codes(l, n, n->inputs[0], &x) != PB_OK) return false;
  const pb_s1_value in = l->out->values[x.value];
  if (in.type != PB_I8 || pb__is_empty(in.rank, in.shape)) return false;
  if (pb__same_codes(&x, t))
    pb__reshaped_result(l, n, t, x.value, in.rank, in.shape);
  else
    pb__requantise(l, n, x, t, pb__make_result(l, t, in.rank, in.shape));
  return true;
}

// Gemm and MatMul by constant weights: rows of x by [o, k] or [k, o].
static pb_status lift_product(lifter* l, const pb_node* n) {
  pb_codes x;
  pb_target t;
  pb__weights w;
  bool gemm = pb__is(n, "Gemm"), rows_first = gemm && pb_node_int(n, "transB", 0);
  PB_TRY(pb__read_codes(l, n, pb__input(n, 0), &x));
  PB_TRY(pb__read_weights(l, n, pb__input(n, 1), rows_first ? 0 : 1, &w));
  const pb_attr *alpha = pb_node_attr(n, "alpha"), *beta = pb_node_attr(n, "beta");
  if (gemm && (pb_node_int(n, "transA", 0) || (alpha && alpha->f != 1) || (beta && beta->f != 1)))
    return pb__refuse(l, n, "Gemm with transA=0, alpha=beta=1", "a matrix product in a form that is not read");
  pb_s1_value in = l->out->values[x.value];
  if (w.rank != 2 || in.rank < 2) return pb__no_form(l); // a matrix for each of several, or a vector
  if ((gemm && in.rank != 2) || !pb__meet(l, in.shape[in.rank - 1], w.shape[rows_first ? 1 : 0]))
    return pb__refuse_shapes(l, n, "shapes", in.rank, in.shape, w.rank, w.shape);
  pb_s1_op op = pb__codes_op(n, PB_S1_CONV, NULL);
  PB_TRY(pb__find_result(l, n, &t));
  op.zx = x.zero;
  op.weights = rows_first ? w.id : pb__turned(l, l->consts->items[w.id]);
  const float* apart;
  PB_TRY(pb__fold_constants(l, n, &w, &x, &t, &op, &apart));
  int64_t outputs = w.shape[rows_first ? 0 : 1], shape[2] = {1, outputs};
  for (int r = 0; r + 1 < in.rank; ++r) shape[0] *= in.shape[r];
  if (in.rank == 2) {
    op.x = w.twice ? pb__twice(l, n, x.value, 1, 1) : x.value;
    op.y = pb__make_result(l, &t, 2, shape);
    pb__push_product(l, n, &t, op, apart);
    return PB_OK;
  }
  op.x = pb__matrix_of(l, n, x.value); // a matrix of all rows, in front and behind
  if (w.twice) op.x = pb__twice(l, n, op.x, 1, 1);
  op.y = pb__add_value(l, n->name, pb__target_type(&t), 2, shape);
  pb__push_product(l, n, &t, op, apart);
  in.shape[in.rank - 1] = outputs;
  pb__alias(l, pb__make_result(l, &t, in.rank, in.shape), op.y);
  int* value = &l->value_of[t.tensor];
  if (in.rank > 3 && !pb__is_matrix_as_image(l, *value)) pb__own(l, n, value);
  return PB_OK;
}

// Whether `small`, its dims against the last of `large`, repeats to fill it.
static bool repeats(int small_rank, const int64_t* small, const pb_s1_value* large) {
  int skip = large->rank - small_rank;
  for (int r = 0; r < small_rank; ++r)
    if (skip < 0 || (small[r] != 1 && small[r] != large->shape[skip + r])) return false;
  return true;
}

// Whether the last dims of the value are those of the tensor whose elements it shares: that is how nests walk it.
static bool ends_alike(const lifter* l, const pb_s1_value* value, int dims) {
  const pb_s1_value* base = value->alias_of >= 0 ? &l->out->values[value->alias_of] : value;
  for (int r = 1; r <= dims; ++r)
    if (r > base->rank || base->shape[base->rank - r] != value->shape[value->rank - r]) return false;
  return true;
}

// One number as a vector over the columns of `like`: chips read factors and operands by rows of lanes. What lies along
// the lanes of tensors of more dims is not known yet.
static int over_columns(lifter* l, int id, const pb_s1_value* like) {
  const pb_const* from = l->consts->items[id];
  if (from->bytes != 1 || like->rank != 2) return id;
  const int64_t columns = like->shape[1];
  int8_t* codes = pb_alloc(&l->consts->arena, (size_t)columns);
  memset(codes, *(const int8_t*)from->data, (size_t)columns);
  return pb_consts_add(l->consts, from->name, PB_I8, 1, &columns, codes);
}

// A constant that is broadcast to a stack of matrices, as a constant over the matrix of all rows: a vector over the
// columns where the rows are alike. -1: too large.
static int over_matrix(lifter* l, int id, const pb_s1_value* like) {
  const int64_t most = 1 << 26;
  const pb_const* from = l->consts->items[id];
  int64_t columns = like->shape[like->rank - 1], count = pb__elements(like->rank, like->shape), step[PB_GRAPH_RANK];
  bool alike = true;
  int64_t stride = 1;
  memset(step, 0, sizeof step);
  for (int r = from->rank - 1, at = like->rank - 1; r >= 0; --r, --at) {
    if (from->shape[r] != 1) step[at] = stride;
    alike &= from->shape[r] == 1 || at == like->rank - 1;
    stride *= from->shape[r];
  }
  int64_t shape[2] = {count / columns, columns}, made = alike ? columns : count;
  if (count < 0 || made > most) return -1;
  int8_t* codes = pb_alloc(&l->consts->arena, (size_t)made);
  for (int64_t k = 0; k < made; ++k) {
    int64_t rest = k, place = 0;
    for (int r = like->rank - 1; r >= 0; --r) {
      place += rest % like->shape[r] * step[r];
      rest /= like->shape[r];
    }
    codes[k] = ((const int8_t*)from->data)[place];
  }
  return pb_consts_add(l->consts, from->name, PB_I8, alike ? 1 : 2, alike ? shape + 1 : shape, codes);
}

// A constant operand: its codes stand in the table.
static pb_status read_constant(lifter* l, const pb_node* n, int tensor, pb_codes* q, int* id) {
  const pb_node* dq = pb__producer(l, tensor);
  *id = -1;
  if (!dq || !pb__is(dq, "DequantizeLinear") || !pb__constant(l, dq->inputs[0])) return pb__read_codes(l, n, tensor, q);
  const pb_const *codes = pb__signed_constant(l, dq->inputs[0]), *zero = pb__constant(l, pb__input(dq, 2));
  bool from_128 = l->g->tensors[dq->inputs[0]].is_unsigned;
  if (!pb__scalar_f32(l, pb__input(dq, 1), &q->scale) || !(q->scale > 0) || codes->type != PB_I8 ||
      (zero && (zero->bytes != 1 || zero->type != PB_I8)))
    return pb__refuse(l, dq, NULL, "a constant whose scale and zero point are not one number each");
  int z = !zero ? 0 : from_128 ? *(const uint8_t*)zero->data : *(const int8_t*)zero->data;
  q->zero = from_128 ? z - 128 : z;
  q->value = -1;
  *id = codes->id;
  return PB_OK;
}

// Whether the operand is one code, and no channels are there over which it could be a vector.
static bool is_one_code(const lifter* l, int id, const pb_s1_value* like) {
  const pb_s1_value* base = like->alias_of >= 0 ? &l->out->values[like->alias_of] : like;
  bool channels = (base->rank == 2 || base->rank == 4) && base->shape[1] > 1;
  return id >= 0 && l->consts->items[id]->bytes == 1 && like->rank > 1 && !channels;
}

// What becomes of each code with one constant, by the operations of the operator on both.
static void lift_with_one_code(lifter* l, const pb_node* n, const pb_target* t, int value, int id, const pb_s1_op* op) {
  enum { CODES = 256 };
  int32_t* table = PB_NEW_ARRAY(&l->consts->arena, int32_t, CODES);
  float z = (float)(*(const int8_t*)l->consts->items[id]->data - op->zz);
  for (int c = 0; c < CODES; ++c) {
    float x = (float)(c - CODES / 2 - op->zx), other = z * op->mb;
    x = op->kind == PB_S1_MUL ? x * z * op->ma : x * op->ma + other;
    table[c] = (int32_t)fmin(fmax((double)rintf(x) + op->zy, op->lo), op->hi);
  }
  pb__push_table(l, n, t, value, table);
}

// The operands of an operator by elements: the second is a constant, or repeats to fill the first.
typedef struct operands {
  pb_codes a, b;
  int b_const;  // the second one's codes, -1: it is computed
  float ma, mb; // to the scale of what is made
} operands;

static void swap_operands(operands* o, int a_const) {
  *o = (operands){.a = o->b, .b = o->a, .b_const = a_const, .ma = o->mb, .mb = o->ma};
}

static pb_status read_operands(lifter* l, const pb_node* n, operands* o, pb_target* t) {
  int a_const;
  PB_TRY(read_constant(l, n, pb__input(n, 0), &o->a, &a_const));
  PB_TRY(read_constant(l, n, pb__input(n, 1), &o->b, &o->b_const));
  PB_TRY(pb__find_target(l, n, t));
  if (a_const >= 0 && o->b_const >= 0) return pb__refuse(l, n, NULL, "two constants");
  o->ma = pb__factor(l, o->a.scale, t->scale);
  o->mb = pb__factor(l, o->b.scale, t->scale);
  if (pb__is(n, "Sub")) o->mb = -o->mb;
  const pb_s1_value* values = l->out->values;
  if (a_const >= 0 ||
      (o->b_const < 0 && !repeats(values[o->b.value].rank, values[o->b.value].shape, &values[o->a.value])))
    swap_operands(o, a_const);
  return PB_OK;
}

static bool same_shape(const pb_s1_value* a, const pb_s1_value* b) {
  return a->rank == b->rank && !memcmp(a->shape, b->shape, sizeof(int64_t) * (size_t)a->rank);
}

// Stacks of matrices are added as the matrices of all their rows, if that is how they were made. false: they were not.
static bool take_matrices(lifter* l, operands* o) {
  const pb_s1_value stack = l->out->values[o->a.value];
  int matrix = stack.rank > 2 ? pb__matrix_behind(l, o->a.value) : -1;
  if (matrix < 0) return false;
  if (o->b_const >= 0) {
    const pb_const* c = l->consts->items[o->b_const];
    int spread = repeats(c->rank, c->shape, &stack) ? over_matrix(l, o->b_const, &stack) : -1;
    if (spread < 0) return false;
    o->b_const = spread;
  } else {
    int other = same_shape(&l->out->values[o->b.value], &stack) ? pb__matrix_behind(l, o->b.value) : -1;
    if (other < 0) return false;
    o->b.value = other;
  }
  o->a.value = matrix;
  return true;
}

// Whether the second operand repeats to fill the first. Then what shares another shape's elements, and is walked by
// that one's dims, becomes a tensor of its own where the dims would not meet. Two that share elements of one shape are
// walked by that.
static bool meet(lifter* l, const pb_node* n, operands* o) {
  const pb_s1_value *va = &l->out->values[o->a.value], *vb = o->b_const < 0 ? &l->out->values[o->b.value] : NULL;
  const pb_const* c = vb ? NULL : l->consts->items[o->b_const];
  int dims = c ? c->rank : vb->rank;
  if (!repeats(dims, c ? c->shape : vb->shape, va)) return false;
  if (vb && same_shape(va, vb)) {
    const pb_s1_value *of_a = va->alias_of < 0 ? va : &l->out->values[va->alias_of],
                      *of_b = vb->alias_of < 0 ? vb : &l->out->values[vb->alias_of];
    if (same_shape(of_a, of_b) && (pb_s1_merges(of_a, va) || pb_s1_merges(va, of_a))) return true;
    int walked = o->a.value;
    pb__own_apart(l, n, &o->a.value, walked, false);
    pb__own_apart(l, n, &o->b.value, walked, false);
    return true;
  }
  if (vb && vb->alias_of >= 0) pb__own(l, n, &o->b.value);
  if (!ends_alike(l, &l->out->values[o->a.value], dims)) pb__own(l, n, &o->a.value);
  return true;
}

static pb_status lift_elements(lifter* l, const pb_node* n) {
  operands o;
  pb_target t;
  PB_TRY(read_operands(l, n, &o, &t));
  bool mul = pb__is(n, "Mul"), by_elements = false;
  pb_s1_op op = pb__codes_op(n, mul ? PB_S1_MUL : PB_S1_ADD, &t);
  op.zx = o.a.zero;
  op.zz = o.b.zero;
  op.ma = mul ? pb__factor(l, o.a.scale * o.b.scale, t.scale) : o.ma;
  op.mb = mul ? 1 : o.mb;
  const pb_s1_value stack = l->out->values[o.a.value];
  bool matrices = take_matrices(l, &o);
  if (!matrices && is_one_code(l, o.b_const, &stack)) {
    lift_with_one_code(l, n, &t, o.a.value, o.b_const, &op);
    return PB_OK;
  }
  if (!matrices && o.b_const >= 0) {
    by_elements = l->consts->items[o.b_const]->bytes == 1 && stack.alias_of >= 0;
    if (by_elements) o.a.value = stack.alias_of; // whatever their shape, each takes the same number
    o.b_const = over_columns(l, o.b_const, &l->out->values[o.a.value]);
  }
  if (!meet(l, n, &o)) return pb__no_form(l);
  op.x = o.a.value;
  op.z = o.b.value;
  op.weights = o.b_const;
  if (matrices) {
    pb__matrix_result(l, n, &t, stack.rank, stack.shape, &op.y);
  } else if (by_elements) {
    const pb_s1_value whole = l->out->values[o.a.value];
    (void)pb__make_result(l, &t, stack.rank, stack.shape);
    op.y = pb__add_value(l, n->name, PB_I8, whole.rank, whole.shape);
    pb__alias(l, l->value_of[t.tensor], op.y);
  } else {
    op.y = pb__make_result(l, &t, stack.rank, stack.shape);
  }
  pb__push_op(l, op);
  if (matrices || by_elements) pb__own_result(l, n, &t, op.y);
  return PB_OK;
}

// An activation by itself, between a DequantizeLinear and a QuantizeLinear of its own.
static pb_status lift_clamp(lifter* l, const pb_node* n) {
  pb_codes x;
  pb_target t;
  PB_TRY(pb__read_codes(l, n, pb__input(n, 0), &x));
  PB_TRY(pb__find_target(l, n, &t));
  PB_TRY(pb__clamp_target(l, n, &t));
  const pb_s1_value in = l->out->values[x.value];
  pb__requantise(l, n, x, &t, pb__make_result(l, &t, in.rank, in.shape));
  return PB_OK;
}

static pb_status lift_concat(lifter* l, const pb_node* n) {
  pb_codes* parts = PB_NEW_ARRAY(&l->g->arena, pb_codes, (size_t)n->input_count);
  pb_target t;
  for (int k = 0; k < n->input_count; ++k) PB_TRY(pb__read_codes(l, n, pb__input(n, k), &parts[k]));
  PB_TRY(pb__find_target(l, n, &t));
  const pb_s1_value first = l->out->values[parts[0].value];
  pb_s1_value whole = first;
  int64_t axis = pb_node_int(n, "axis", pb_node_opset(l->g, n) < 4);
  if (axis < 0) axis += whole.rank;
  if (axis < 0 || axis >= whole.rank) return pb__refuse(l, n, NULL, "an axis that is not there");
  whole.shape[axis] = 0;
  for (int k = 0; k < n->input_count; ++k) {
    const pb_s1_value* part = &l->out->values[parts[k].value];
    for (int r = 0; r < whole.rank; ++r)
      if (part->rank != whole.rank || (r != axis && !pb__meet(l, part->shape[r], whole.shape[r])))
        return pb__refuse_shapes(l, n, "parts", first.rank, first.shape, part->rank, part->shape);
    whole.shape[axis] += part->shape[axis];
  }
  pb_s1_op op = pb__codes_op(n, PB_S1_CONCAT, NULL);
  op.axis = (int)axis;
  op.y = pb__make_result(l, &t, whole.rank, whole.shape);
  for (int k = 0; k < n->input_count; ++k) {
    pb_s1_value part = l->out->values[parts[k].value];
    op.x = parts[k].value;
    if (pb__same_codes(&parts[k], &t)) {
      pb__own(l, n, &op.x);
    } else {
      op.x = pb__add_value(l, n->name, PB_I8, part.rank, part.shape);
      pb__requantise(l, n, parts[k], &t, op.x);
    }
    pb__push_op(l, op);
    op.offset += part.shape[axis];
  }
  return PB_OK;
}

// An average whose windows are summed: those that hang over the pads lack what hangs over, and those that leave out
// their pads lack these, too.
typedef struct averaged {
  pb_s1_op op;
  bool leaves_out;
  int64_t extent[2]; // of the image
} averaged;

// What window `at` of dim k lacks in front, and behind.
static void lacks(const averaged* a, int k, int64_t at, int64_t* front, int64_t* behind) {
  const pb_s1_op* op = &a->op;
  int64_t first = at * op->stride[k] - op->pad[k], step = op->dilation[k];
  int64_t low = a->leaves_out ? 0 : -op->pad[k];
  int64_t limit = a->extent[k] + (a->leaves_out ? 0 : op->pad[2 + k] - op->over[k]);
  *front = first < low ? (low - first + step - 1) / step : 0;
  for (*behind = 0; first + (op->window[k] - 1 - *behind) * step >= limit;) ++*behind;
}

// The windows [from, to) of each dim, which lack the same: a convolution of each channel by ones.
static int average_part(lifter* l, const pb_node* n, const averaged* whole, const pb_codes* x, const pb_target* t,
                        const int64_t* from, const int64_t* to, int y) {
  pb_s1_op op = whole->op;
  pb_s1_value in = l->out->values[op.x];
  int64_t begin[4] = {0}, end[4] = {in.shape[0], in.shape[1]};
  for (int k = 0; k < 2; ++k) {
    int64_t extent = in.shape[2 + k], front, behind;
    lacks(whole, k, from[k], &front, &behind);
    op.window[k] -= front + behind;
    int64_t low = from[k] * op.stride[k] - op.pad[k] + front * op.dilation[k];
    int64_t high = low + (to[k] - 1 - from[k]) * op.stride[k] + (op.window[k] - 1) * op.dilation[k] + 1;
    begin[2 + k] = low > 0 ? low : 0;
    end[2 + k] = high < extent ? high : extent;
    op.pad[k] = begin[2 + k] - low;
    op.pad[2 + k] = high - end[2 + k];
  }
  int64_t area = op.window[0] * op.window[1], each[4] = {in.shape[1], 1, op.window[0], op.window[1]};
  op.x = pb__part_of(l, n, op.x, begin, end);
  op.weights = pb__ones(l, n, 4, each);
  pb__fold_sum(l, n, in.shape[1], area, x, x->scale / (float)area, t, &op);
  int64_t shape[4] = {in.shape[0], in.shape[1], to[0] - from[0], to[1] - from[1]};
  op.y = y >= 0 ? y : pb__add_value(l, n->name, PB_I8, 4, shape);
  pb__push_op(l, op);
  return op.y;
}

// Where along dim k windows lack something else than those in front of them. Returns how many parts there are.
static int cut_windows(const averaged* whole, int k, int64_t windows, int64_t* cut) {
  int parts = 0;
  int64_t front, behind, front_before = -1, behind_before = -1;
  for (int64_t at = 0; at < windows; ++at) {
    lacks(whole, k, at, &front, &behind);
    if (front != front_before || behind != behind_before) cut[parts++] = at;
    front_before = front, behind_before = behind;
  }
  cut[parts] = windows;
  return parts;
}

// Windows of another size stand at the image's borders only.
static void average_parts(lifter* l, const pb_node* n, const averaged* whole, const pb_codes* x, const pb_target* t,
                          const int64_t* shape, int y) {
  int64_t* cut[2];
  int parts[2];
  for (int k = 0; k < 2; ++k) {
    cut[k] = PB_NEW_ARRAY(&l->g->arena, int64_t, (size_t)shape[2 + k] + 1);
    parts[k] = cut_windows(whole, k, shape[2 + k], cut[k]);
  }
  pb_s1_op rows = pb__codes_op(n, PB_S1_CONCAT, NULL);
  rows.axis = 2;
  rows.y = y;
  for (int r = 0; r < parts[0]; ++r) {
    int64_t row[4] = {shape[0], shape[1], cut[0][r + 1] - cut[0][r], shape[3]};
    pb_s1_op columns = pb__codes_op(n, PB_S1_CONCAT, NULL);
    columns.axis = 3;
    columns.y = parts[0] == 1 ? y : parts[1] == 1 ? -1 : pb__add_value(l, n->name, PB_I8, 4, row);
    for (int c = 0; c < parts[1]; ++c) {
      int64_t from[2] = {cut[0][r], cut[1][c]}, to[2] = {cut[0][r + 1], cut[1][c + 1]};
      int part = average_part(l, n, whole, x, t, from, to, parts[0] * parts[1] == 1 ? y : -1);
      rows.x = columns.x = part;
      columns.offset = from[1];
      if (parts[1] > 1) pb__push_op(l, columns);
    }
    if (parts[0] == 1) break;
    if (parts[1] > 1) rows.x = columns.y;
    rows.offset = cut[0][r];
    pb__push_op(l, rows);
  }
}

static bool leaves_out_pads(const pb_node* n) {
  const pb_attr *pads = pb_node_attr(n, "pads"), *mode = pb_node_attr(n, "auto_pad");
  bool padded = mode && mode->s && !strncmp(mode->s, "SAME", 4);
  for (int k = 0; pads && k < pads->count; ++k) padded |= pads->ints[k] != 0;
  return padded && !pb_node_int(n, "count_include_pad", 0);
}

// What lies outside counts as zero where it is counted.
static pb_status lift_average(lifter* l, const pb_node* n) {
  pb_codes x;
  pb_target t;
  averaged whole = {.leaves_out = leaves_out_pads(n)};
  pb_s1_op* op = &whole.op;
  int64_t shape[4];
  bool line;
  PB_TRY(pb__read_pool(l, n, PB_S1_CONV, &x, &t, op, shape, &line));
  if (op->window[0] * op->window[1] > 1 << 16)
    return pb__refuse(l, n, "GlobalAveragePool", "a window of more than 65536 elements");
  op->groups = shape[1];
  op->zx = x.zero;
  for (int k = 0; k < 2; ++k) whole.extent[k] = l->out->values[op->x].shape[2 + k];
  average_parts(l, n, &whole, &x, &t, shape, pb__image_result(l, n, &t, line, shape));
  return PB_OK;
}

// Windows that lack so many different things that a convolution for each is too much: floats take them all at once.
// Along a dim there are no more than windows, and than places at which one may hang over.
static bool has_many_parts(const lifter* l, const pb_node* n) {
  enum { MOST = 25 };
  const pb_attr *pads = pb_node_attr(n, "pads"), *mode = pb_node_attr(n, "auto_pad");
  int64_t parts[2], window[2] = {1, 1}, stride[2] = {1, 1};
  int value = l->value_of[pb__producer(l, n->inputs[0])->inputs[0]];
  if (value < 0) return false;
  const pb_s1_value* in = &l->out->values[value];
  bool same = mode && mode->s && !strncmp(mode->s, "SAME", 4);
  pb__read_pair(n, "kernel_shape", window);
  pb__read_pair(n, "strides", stride);
  for (int k = 0; k < 2; ++k) {
    int64_t extent = in->rank == 4 ? in->shape[2 + k] : k ? in->shape[in->rank - 1] : 1, hangs = 0;
    if (same) hangs = window[k] - 1;
    if (!same && pads && pads->count == 4) hangs = pads->ints[k] + pads->ints[2 + k];
    if (!same && pads && pads->count == 2 && k) hangs = pads->ints[0] + pads->ints[1]; // of a line
    int64_t windows = stride[k] > 0 ? (extent + hangs) / stride[k] + 1 : 1;
    parts[k] = 1 + pb_node_int(n, "ceil_mode", 0) + hangs;
    if (windows < parts[k]) parts[k] = windows;
  }
  return parts[0] > MOST || parts[1] > MOST || parts[0] * parts[1] > MOST;
}

// What takes a row of codes together; operands behind the first are constants.
static const char* const over_rows[] = {"Softmax", "LayerNormalization", "RMSNormalization",
                                        "SimplifiedLayerNormalization"};

static pb_status lift_matmul(lifter* l, const pb_node* n) {
  const pb_node* dq = pb__producer(l, pb__input(n, 1));
  bool computed = dq && pb__is(dq, "DequantizeLinear") && !pb__constant(l, pb__input(dq, 0));
  return computed ? pb__lift_matmul_codes(l, n) : lift_product(l, n);
}

// Whether codes go in and come out. What does not is an operator on floats, in front of which codes become floats.
static bool on_codes(const lifter* l, const pb_node* n) {
  if (pb__is(n, "Gemm")) return true;
  if (pb__is(n, "ReduceMax") || pb__is(n, "ReduceMean") || pb__is(n, "ReduceSum")) return pb__reduces_codes(l, n);
  for (size_t k = 0; k < sizeof over_rows / sizeof *over_rows; ++k)
    if (pb__is(n, over_rows[k])) return pb__over_one_dim(l, n);
  for (int k = 0; k < (pb__is(n, "Clip") ? 1 : n->input_count); ++k) {
    const pb_node* dq = pb__producer(l, n->inputs[k]);
    if (!dq || !pb__is(dq, "DequantizeLinear")) return false;
  }
  bool product = pb__is(n, "MatMul") && pb__constant(l, pb__input(pb__producer(l, pb__input(n, 1)), 0));
  if (product) return true;
  return pb__ends_in_codes(l, n) && !(pb__is(n, "AveragePool") && leaves_out_pads(n) && has_many_parts(l, n));
}

static const struct {
  const char* op;
  pb_status (*lift)(lifter* l, const pb_node* n);
} rows[] = {{"Gemm", lift_product},
            {"MatMul", lift_matmul},
            {"Add", lift_elements},
            {"Sub", lift_elements},
            {"Mul", lift_elements},
            {"Concat", lift_concat},
            {"Relu", lift_clamp},
            {"Clip", lift_clamp},
            {"AveragePool", lift_average},
            {"ReduceMax", pb__lift_reduced_codes},
            {"ReduceMean", pb__lift_reduced_codes},
            {"ReduceSum", pb__lift_reduced_codes},
            {"Softmax", pb__lift_softmax_codes},
            {"LayerNormalization", pb__lift_norm_codes},
            {"RMSNormalization", pb__lift_norm_codes},
            {"SimplifiedLayerNormalization", pb__lift_norm_codes}};

pb_status pb__lift_codes(lifter* l, const pb_node* n, bool* known) {
  for (size_t k = 0; k < sizeof rows / sizeof *rows; ++k)
    if (pb__is(n, rows[k].op) && on_codes(l, n)) {
      *known = true;
      return rows[k].lift(l, n);
    }
  return PB_OK;
}
