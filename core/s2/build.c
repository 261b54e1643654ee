// Operators to nests. Every operator prints its nests as ONNX counts: n, c, h, w.
#include "core/s2/builder.h"

#include <stdlib.h>
#include <string.h>

static const char* ref_of(builder* b, int v) {
  const pb_s1_value* value = &b->program->values[v];
  return pb_printf(&b->arena, value->is_input ? "%%in%d" : value->is_output ? "%%out%d" : "%%v%d", v);
}

int pb__s2_base_of(const builder* b, int v) {
  int alias = b->program->values[v].alias_of;
  return alias >= 0 ? alias : v;
}

pb_access pb__s2_on_value(builder* b, int v) {
  const pb_s1_value* value = &b->program->values[v];
  if (value->const_id >= 0) return pb__s2_on_const(b, value->const_id);
  pb_access access = {.ref = ref_of(b, v), .buffer = v, .type = pb_type_stored(value->type), .rank = value->rank};
  memcpy(access.shape, value->shape, sizeof(int64_t) * (size_t)value->rank);
  return access;
}

pb_access pb__s2_on_const(builder* b, int id) {
  const pb_const* c = b->consts->items[id];
  pb_access access = {
      .ref = pb_printf(&b->arena, "%%c%d", id), .buffer = -1, .type = pb_type_stored(c->type), .rank = c->rank};
  memcpy(access.shape, c->shape, sizeof(int64_t) * (size_t)c->rank);
  b->used_const[id] = true;
  return access;
}

static void declare(builder* b, const char* ref, pb_type type, int rank, const int64_t* shape) {
  pb_access a = {.type = pb_type_stored(type), .rank = rank};
  memcpy(a.shape, shape, sizeof(int64_t) * (size_t)rank);
  pb_text_add(&b->allocs, "  %s = memref.alloc() : ", ref);
  pb_access_print_type(&b->allocs, &a);
  pb_text_add(&b->allocs, "\n");
}

pb_access pb__s2_new_local(builder* b, pb_type type, int rank, const int64_t* shape) {
  pb_access access = {.ref = pb_printf(&b->arena, "%%t%d", b->extra++), .buffer = -1, .type = type, .rank = rank};
  memcpy(access.shape, shape, sizeof(int64_t) * (size_t)rank);
  declare(b, access.ref, type, rank, shape);
  return access;
}

// What a nest reads in another shape than it was made in is read where it lies, if the dims there are products of
// neighbours here: an index there is a sum of those that meet in it.
static void take_base(builder* b, pb_access* access) {
  int v = access->buffer, base = v < 0 ? v : pb__s2_base_of(b, v);
  const pb_s1_value* values = b->program->values;
  if (base == v || access->boxed || access->gathered || !pb_s1_merges(&values[v], &values[base])) return;
  pb_access read = pb__s2_on_value(b, base);
  int at = access->rank - 1;
  for (int r = read.rank - 1; r >= 0; --r) {
    for (int64_t inside = 1; at >= 0 && inside * access->shape[at] <= read.shape[r]; --at) {
      for (int c = 0; c < PB_NEST_COLS; ++c) read.index[r].coef[c] += access->index[at].coef[c] * inside;
      read.index[r].cst += access->index[at].cst * inside;
      inside *= access->shape[at];
    }
  }
  read.splat = access->splat;
  *access = read;
}

void pb__s2_print(builder* b, pb_nest* nest) {
  for (int a = 0; a + 1 < nest->access_count; ++a) take_base(b, &nest->access[a]);
  if (nest->reduce == PB_ACC_ADD && nest->expr[nest->expr_count - 1].op == PB_OP_MUL) {
    nest->macs = 1;
    for (int d = 0; d < nest->dim_count; ++d) nest->macs *= nest->extent[d];
  }
  pb_nest_print(&b->nests, nest, 1, &b->serial);
}

void pb__s2_copy(builder* b, pb_nest* nest, pb_access from, pb_access to) {
  nest->access[0] = from;
  nest->access[1] = to;
  nest->access_count = 2;
  pb_nest_load(nest, 0);
  pb__s2_print(b, nest);
}

// A dim of the nest whatever its extent: channels keep theirs, since a later layout may pad them to whole lanes.
int pb__s2_add_channels(pb_nest* nest, int64_t extent) { return pb_nest_add_dim(nest, extent); }

// A dim of the nest, unless it is 1 long: then -1 and every index that it moves stays 0.
int pb__s2_add_dim(pb_nest* nest, int64_t extent) { return extent == 1 ? -1 : pb_nest_add_dim(nest, extent); }

void pb__s2_move(pb_access* access, int rank, int dim, int64_t coef) {
  if (dim >= 0) access->index[rank].coef[dim] += coef;
}

pb_nest pb__s2_start(const pb_s1_op* op, const char* part) { return (pb_nest){.name = op->name, .part = part}; }

void pb__s2_fill(builder* b, const pb_s1_op* op, pb_access access, const int64_t* lo, const int64_t* hi, double value,
                 const char* part) {
  pb_nest nest = pb__s2_start(op, part);
  for (int r = 0; r < access.rank; ++r) {
    if (hi[r] <= lo[r]) return;
    access.index[r].cst = lo[r];
    pb__s2_move(&access, r, r == 1 ? pb__s2_add_channels(&nest, hi[r] - lo[r]) : pb__s2_add_dim(&nest, hi[r] - lo[r]),
                1);
  }
  nest.access[nest.access_count++] = access;
  pb_nest_const(&nest, access.type, value);
  pb__s2_print(b, &nest);
}

// The same where extents are open: one nest whatever they are, which borders there are hangs on them.
static pb_access padded_open(builder* b, const pb_s1_op* op, pb_access x, const int64_t* shape, double value) {
  pb_access p = pb__s2_new_local(b, x.type, 4, shape), inside = p;
  pb_nest nest = pb__s2_start(op, "pad");
  for (int r = 0; r < 4; ++r) {
    int d = pb_nest_add_dim(&nest, shape[r]);
    pb__s2_move(&x, r, d, 1);
    pb__s2_move(&inside, r, d, 1);
    x.index[r].cst = r < 2 ? 0 : -op->pad[r - 2];
  }
  x.boxed = true;
  x.fill = value;
  pb__s2_copy(b, &nest, x, inside);
  return p;
}

// x with `value` around it in h and w: border by border, then the inside. Without pads it is x itself.
pb_access pb__s2_padded(builder* b, const pb_s1_op* op, double value) {
  pb_access x = pb__s2_on_value(b, op->x);
  bool open = b->consts->open && op->borders;
  if (!op->pad[0] && !op->pad[1] && !op->pad[2] && !op->pad[3] && !open) return x;
  int64_t height = x.shape[2], width = x.shape[3];
  int64_t shape[4] = {x.shape[0], x.shape[1], height + op->pad[0] + op->pad[2], width + op->pad[1] + op->pad[3]};
  if (open) return padded_open(b, op, x, shape, value);
  pb_access p = pb__s2_new_local(b, x.type, 4, shape);
  int64_t top = op->pad[0], left = op->pad[1];
  int64_t boxes[4][4] = {{0, top, 0, shape[3]},
                         {top + height, shape[2], 0, shape[3]},
                         {top, top + height, 0, left},
                         {top, top + height, left + width, shape[3]}};
  for (int k = 0; k < 4; ++k) {
    int64_t lo[4] = {0, 0, boxes[k][0], boxes[k][2]}, hi[4] = {shape[0], shape[1], boxes[k][1], boxes[k][3]};
    pb__s2_fill(b, op, p, lo, hi, value, "pad");
  }
  pb_nest nest = pb__s2_start(op, "copy");
  pb_access inside = p;
  for (int r = 0; r < 4; ++r) {
    int d = r == 1 ? pb__s2_add_channels(&nest, x.shape[r]) : pb__s2_add_dim(&nest, x.shape[r]);
    pb__s2_move(&x, r, d, 1);
    pb__s2_move(&inside, r, d, 1);
    inside.index[r].cst = r == 2 ? top : r == 3 ? left : 0;
  }
  pb__s2_copy(b, &nest, x, inside);
  return p;
}

// clamp(roundeven(value) + zero, lo, hi) as codes.
void pb__s2_to_codes(pb_nest* n, int value, const pb_s1_op* op) {
  int v = pb_nest_node(n, PB_OP_ROUNDEVEN, PB_F32, value, -1);
  if (op->zy != 0) v = pb_nest_node(n, PB_OP_ADD, PB_F32, v, pb_nest_const(n, PB_F32, op->zy));
  v = pb_nest_node(n, PB_OP_MAX, PB_F32, v, pb_nest_const(n, PB_F32, op->lo));
  v = pb_nest_node(n, PB_OP_MIN, PB_F32, v, pb_nest_const(n, PB_F32, op->hi));
  pb_nest_node(n, PB_OP_FPTOSI8, PB_I8, v, -1);
}

// sitofp(x) - zero
static int from_codes(pb_nest* n, int access, double zero) {
  int v = pb_nest_node(n, PB_OP_SITOFP, PB_F32, pb_nest_load(n, access), -1);
  return zero == 0 ? v : pb_nest_node(n, PB_OP_SUB, PB_F32, v, pb_nest_const(n, PB_F32, zero));
}

// The element-by-element walk over a value: one dim for each index. `dims[r]`: -1 where the extent is 1.
void pb__s2_walk(pb_nest* nest, const pb_access* shape, int* dims) {
  for (int r = 0; r < shape->rank; ++r)
    dims[r] = r == 1 ? pb__s2_add_channels(nest, shape->shape[r]) : pb__s2_add_dim(nest, shape->shape[r]);
}

pb_access pb__s2_along(pb_access access, const int* dims) {
  for (int r = 0; r < access.rank; ++r) pb__s2_move(&access, r, dims[r], 1);
  return access;
}

// Dims of the two shapes fall into groups of neighbours with equally many elements. An index that is a group of its own
// is a sum of the other's dims; where there are several, the last of them would walk past its end: S1 sees to it that
// there are not.
pb_access pb__s2_along_flat(pb_access access, const pb_access* shape, const int* dims) {
  int r = 0, s = 0;
  while (r < access.rank && s < shape->rank) {
    int first = s;
    int64_t mine = access.shape[r++], its = shape->shape[s++];
    while (mine != its)
      if (mine < its)
        mine *= access.shape[r++];
      else
        its *= shape->shape[s++];
    int64_t stride = 1;
    for (int k = s - 1; k >= first; --k) {
      pb__s2_move(&access, r - 1, dims[k], stride);
      stride *= shape->shape[k];
    }
  }
  return access;
}

void pb__s2_requantise(builder* b, const pb_s1_op* op, pb_access acc, pb_access y) {
  if (op->terms) {
    pb__s2_sum_formula(b, op, acc, y);
    return;
  }
  pb_nest n = pb__s2_start(op, "point");
  int dims[PB_NEST_RANK];
  pb__s2_walk(&n, &y, dims);
  pb_access bias = pb__s2_on_const(b, op->bias), m = pb__s2_on_const(b, op->m);
  pb__s2_move(&bias, 0, dims[1], 1);
  pb__s2_move(&m, 0, dims[1], 1);
  n.access[0] = pb__s2_along(acc, dims);
  n.access[1] = bias;
  n.access[2] = m;
  n.access[3] = pb__s2_along(y, dims);
  n.access_count = 4;
  int added = pb_nest_load(&n, 1),
      to = pb_nest_load(&n, 0); // in this order, whichever a compiler takes first in a call
  int sum = pb_nest_node(&n, PB_OP_ADD, PB_I32, to, added);
  int f = pb_nest_node(&n, PB_OP_SITOFP, PB_F32, sum, -1);
  int number = pb_nest_node(&n, PB_OP_MUL, PB_F32, f, pb_nest_load(&n, 2));
  if (y.type != PB_F32) pb__s2_to_codes(&n, number, op);
  pb__s2_print(b, &n);
}

void pb__s2_init(builder* b, const pb_s1_op* op, const pb_access* acc, double value) {
  int64_t lo[PB_NEST_RANK] = {0};
  pb__s2_fill(b, op, *acc, lo, acc->shape, value, "init");
}

void pb__s2_convolve(pb_nest* n, const pb_s1_op* op, pb_access* x, pb_access* w, pb_access* y) {
  int64_t outs = y->shape[1] / op->groups, ins = w->shape[1];
  bool grouped = op->groups > 1;
  int batch = pb__s2_add_dim(n, y->shape[0]), g = pb__s2_add_dim(n, op->groups);
  int o = grouped ? pb__s2_add_dim(n, outs) : pb__s2_add_channels(n, outs);
  int h = pb__s2_add_dim(n, y->shape[2]), v = pb__s2_add_dim(n, y->shape[3]);
  int c = grouped ? pb__s2_add_dim(n, ins) : pb__s2_add_channels(n, ins);
  int r = pb__s2_add_dim(n, op->window[0]), s = pb__s2_add_dim(n, op->window[1]);
  pb__s2_move(x, 0, batch, 1);
  pb__s2_move(x, 1, g, ins);
  pb__s2_move(x, 1, c, 1);
  pb__s2_move(x, 2, h, op->stride[0]);
  pb__s2_move(x, 2, r, op->dilation[0]);
  pb__s2_move(x, 3, v, op->stride[1]);
  pb__s2_move(x, 3, s, op->dilation[1]);
  pb__s2_move(w, 0, g, outs);
  pb__s2_move(w, 0, o, 1);
  pb__s2_move(w, 1, c, 1);
  pb__s2_move(w, 2, r, 1);
  pb__s2_move(w, 3, s, 1);
  pb__s2_move(y, 0, batch, 1);
  pb__s2_move(y, 1, g, outs);
  pb__s2_move(y, 1, o, 1);
  pb__s2_move(y, 2, h, 1);
  pb__s2_move(y, 3, v, 1);
}

void pb__s2_slide(pb_nest* n, const pb_s1_op* op, pb_access* x, pb_access* y) {
  int batch = pb__s2_add_dim(n, y->shape[0]), c = pb__s2_add_channels(n, y->shape[1]);
  int h = pb__s2_add_dim(n, y->shape[2]), v = pb__s2_add_dim(n, y->shape[3]);
  int r = pb__s2_add_dim(n, op->window[0]), s = pb__s2_add_dim(n, op->window[1]);
  pb__s2_move(x, 0, batch, 1);
  pb__s2_move(x, 1, c, 1);
  pb__s2_move(x, 2, h, op->stride[0]);
  pb__s2_move(x, 2, r, op->dilation[0]);
  pb__s2_move(x, 3, v, op->stride[1]);
  pb__s2_move(x, 3, s, op->dilation[1]);
  pb__s2_move(y, 0, batch, 1);
  pb__s2_move(y, 1, c, 1);
  pb__s2_move(y, 2, h, 1);
  pb__s2_move(y, 3, v, 1);
}

// acc[o, h, w] += x[c, h * s + r * d, w * s + q * d] * weights[o, c, r, q]; groups: c and o within one group.
static void conv(builder* b, const pb_s1_op* op) {
  pb_access y = pb__s2_on_value(b, op->y), x = pb__s2_padded(b, op, op->zx), w = pb__s2_on_const(b, op->weights);
  pb_access acc = pb__s2_new_local(b, PB_I32, 4, y.shape);
  pb__s2_init(b, op, &acc, 0);
  pb_nest n = pb__s2_start(op, "reduce");
  pb_access to = acc;
  pb__s2_convolve(&n, op, &x, &w, &to);
  n.access[0] = x;
  n.access[1] = w;
  n.access[2] = to;
  n.access_count = 3;
  n.reduce = PB_ACC_ADD;
  (void)pb_nest_product(&n);
  pb__s2_print(b, &n);
  pb__s2_requantise(b, op, acc, y);
}

// The rows of a matrix product: a tensor whose first dim counts them, whatever dims the columns are made of; or a copy
// that has this shape.
static pb_access rows_of(builder* b, const pb_s1_op* op) {
  const pb_s1_value* matrix = &b->program->values[op->x];
  pb_access x = pb__s2_on_value(b, pb__s2_base_of(b, op->x));
  if (x.shape[0] == matrix->shape[0]) return x;
  pb_access copy = pb__s2_new_local(b, x.type, matrix->rank, matrix->shape);
  pb_nest n = pb__s2_start(op, "copy");
  int dims[PB_NEST_RANK];
  pb__s2_walk(&n, &x, dims);
  n.access[0] = pb__s2_along(x, dims);
  n.access[1] = pb__s2_along_flat(copy, &x, dims);
  n.access_count = 2;
  pb_nest_load(&n, 0);
  pb__s2_print(b, &n);
  return copy;
}

// acc[n, o] += x[n, k] * weights[o, k], where x may be a tensor of more dims: k walks them in order.
static void gemm(builder* b, const pb_s1_op* op) {
  pb_access y = pb__s2_on_value(b, op->y), x = rows_of(b, op), w = pb__s2_on_const(b, op->weights);
  pb_access acc = pb__s2_new_local(b, PB_I32, 2, y.shape);
  pb__s2_init(b, op, &acc, 0);
  pb_nest n = pb__s2_start(op, "reduce");
  int o = pb__s2_add_channels(&n, y.shape[1]), dims[PB_NEST_RANK];
  pb_access shape = x;
  pb__s2_walk(&n, &shape, dims);
  pb__s2_move(&w, 0, o, 1);
  n.access[0] = pb__s2_along(x, dims);
  n.access[1] = w;
  int64_t stride = 1;
  for (int r = shape.rank - 1; r > 0; --r) {
    pb__s2_move(&n.access[1], 1, dims[r], stride);
    stride *= shape.shape[r];
  }
  n.access[2] = acc;
  pb__s2_move(&n.access[2], 0, dims[0], 1);
  pb__s2_move(&n.access[2], 1, o, 1);
  n.access_count = 3;
  n.reduce = PB_ACC_ADD;
  (void)pb_nest_product(&n);
  pb__s2_print(b, &n);
  pb__s2_requantise(b, op, acc, y);
}

static void maxpool(builder* b, const pb_s1_op* op) {
  pb_access y = pb__s2_on_value(b, op->y), x = pb__s2_padded(b, op, -128);
  pb__s2_init(b, op, &y, -128);
  pb_nest n = pb__s2_start(op, "reduce");
  pb__s2_slide(&n, op, &x, &y);
  n.access[0] = x;
  n.access[1] = y;
  n.access_count = 2;
  n.reduce = PB_ACC_MAX;
  pb_nest_load(&n, 0);
  pb__s2_print(b, &n);
}

static void average(builder* b, const pb_s1_op* op) {
  pb_access y = pb__s2_on_value(b, op->y), x = pb__s2_on_value(b, op->x);
  pb_access acc = pb__s2_new_local(b, PB_I32, 4, y.shape);
  pb__s2_init(b, op, &acc, 0);
  pb_nest n = pb__s2_start(op, "reduce");
  int batch = pb__s2_add_dim(&n, y.shape[0]), c = pb__s2_add_channels(&n, y.shape[1]);
  int h = pb__s2_add_dim(&n, op->window[0]), v = pb__s2_add_dim(&n, op->window[1]);
  pb__s2_move(&x, 0, batch, 1);
  pb__s2_move(&x, 1, c, 1);
  pb__s2_move(&x, 2, h, 1);
  pb__s2_move(&x, 3, v, 1);
  n.access[0] = x;
  n.access[1] = acc;
  pb__s2_move(&n.access[1], 0, batch, 1);
  pb__s2_move(&n.access[1], 1, c, 1);
  n.access_count = 2;
  n.reduce = PB_ACC_ADD;
  pb_nest_node(&n, PB_OP_SEXT, PB_I32, pb_nest_load(&n, 0), -1);
  pb__s2_print(b, &n);
  pb__s2_requantise(b, op, acc, y);
}

// `walked`: the tensor whose dims the nest walks.
static pb_access second_operand(builder* b, const pb_s1_op* op, const pb_access* walked, const int* dims) {
  if (op->weights >= 0) return pb__s2_repeat(pb__s2_on_const(b, op->weights), walked, dims);
  const pb_s1_value *from = &b->program->values[op->x], *z = &b->program->values[op->z];
  bool same = from->rank == z->rank && !memcmp(from->shape, z->shape, sizeof(int64_t) * (size_t)z->rank);
  if (same) return pb__s2_along_flat(pb__s2_on_value(b, pb__s2_base_of(b, op->z)), walked, dims);
  return pb__s2_repeat(pb__s2_on_value(b, op->z), walked, dims);
}

// Whether dims of the result are of several of the tensor's whose elements x has, or as they are.
static bool merges(const builder* b, const pb_s1_op* op) {
  return pb_s1_merges(&b->program->values[pb__s2_base_of(b, op->x)], &b->program->values[op->y]);
}

static void point(builder* b, const pb_s1_op* op) {
  pb_nest n = pb__s2_start(op, "point");
  int dims[PB_NEST_RANK];
  pb_access x = pb__s2_on_value(b, pb__s2_base_of(b, op->x)), y = pb__s2_on_value(b, op->y);
  bool two = op->kind == PB_S1_ADD || op->kind == PB_S1_MUL, by_y = !merges(b, op);
  const pb_access walked = by_y ? y : x;
  pb__s2_walk(&n, by_y ? &y : &x, dims);
  n.access[n.access_count++] = by_y ? pb__s2_along_flat(x, &walked, dims) : pb__s2_along(x, dims);
  if (two) n.access[n.access_count++] = second_operand(b, op, &walked, dims);
  n.access[n.access_count++] = by_y ? pb__s2_along(y, dims) : pb__s2_along_flat(y, &walked, dims);
  if (op->terms) {
    pb__s2_add_formula(&n, op);
  } else if (op->kind == PB_S1_QUANTISE) {
    int v = pb_nest_load(&n, 0);
    pb__s2_to_codes(&n, pb_nest_node(&n, PB_OP_MUL, PB_F32, v, pb_nest_const(&n, PB_F32, op->ma)), op);
  } else {
    int v = from_codes(&n, 0, op->zx);
    float factor = op->kind == PB_S1_MUL ? 1 : op->ma;
    v = pb_nest_node(&n, PB_OP_MUL, PB_F32, v, pb_nest_const(&n, PB_F32, factor));
    if (op->kind == PB_S1_MUL) { // both as numbers first: their product is exact
      int w = from_codes(&n, 1, op->zz);
      w = pb_nest_node(&n, PB_OP_MUL, PB_F32, w, pb_nest_const(&n, PB_F32, 1));
      v = pb_nest_node(&n, PB_OP_MUL, PB_F32, v, w);
      pb__s2_to_codes(&n, pb_nest_node(&n, PB_OP_MUL, PB_F32, v, pb_nest_const(&n, PB_F32, op->ma)), op);
    } else if (op->kind == PB_S1_RESCALE) { // by way of a number, whose own factor is 1
      pb__s2_to_codes(&n, pb_nest_node(&n, PB_OP_MUL, PB_F32, v, pb_nest_const(&n, PB_F32, 1)), op);
    } else if (op->kind == PB_S1_ADD) {
      int w = from_codes(&n, 1, op->zz);
      w = pb_nest_node(&n, PB_OP_MUL, PB_F32, w, pb_nest_const(&n, PB_F32, op->mb));
      pb__s2_to_codes(&n, pb_nest_node(&n, PB_OP_ADD, PB_F32, v, w), op);
    }
  }
  pb__s2_print(b, &n);
}

static void nest(builder* b, const pb_s1_op* op) {
  pb_nest n = *op->nest;
  n.name = op->name;
  for (int a = 0; a < n.access_count; ++a) {
    pb_access on = pb__s2_on_value(b, n.access[a].buffer);
    n.access[a].ref = on.ref;
    n.access[a].type = on.type;
    n.access[a].rank = on.rank;
    memcpy(n.access[a].shape, on.shape, sizeof on.shape);
    n.access[a].buffer = on.buffer;
  }
  pb__s2_print(b, &n);
}

static void print_argument(pb_text* text, bool* any, pb_access access) {
  pb_text_add(text, "%s%s: ", *any ? ", " : "", access.ref);
  pb_access_print_type(text, &access);
  *any = true;
}

static void print_signature(builder* b, pb_text* text) {
  bool any = false;
  pb_text_add(text, "func.func @main(");
  for (int pass = 0; pass < 3; ++pass) {
    for (size_t k = 0; pass == 1 && k < b->consts->count; ++k) {
      if (!b->used_const[k]) continue;
      print_argument(text, &any, pb__s2_on_const(b, (int)k));
      pb_text_add(text, " {pb.const = %zu : i64}", k);
    }
    for (size_t v = 0; pass != 1 && v < b->program->value_count; ++v) {
      const pb_s1_value* value = &b->program->values[v];
      if (pass == 0 ? !value->is_input : !value->is_output) continue;
      print_argument(text, &any, pb__s2_on_value(b, (int)v));
      pb_text_add(text, " {pb.%s = ", pass ? "output" : "input");
      pb_text_add_quoted(text, value->name);
      pb_text_add(text, "}");
    }
  }
  pb_text_add(text, ") {\n");
}

static bool is_made(const pb_s1* program, int value) {
  for (size_t k = 0; k < program->op_count; ++k)
    if (program->ops[k].y == value) return true;
  return false;
}

char* pb_s2_build(const pb_s1* program, const pb_consts* consts) {
  builder b = {.program = program, .consts = consts};
  b.used_const = calloc(consts->count + 1, sizeof *b.used_const);
  for (size_t v = 0; v < program->value_count; ++v) {
    const pb_s1_value* value = &program->values[v];
    if (!is_made(program, (int)v)) continue;
    if (!value->is_input && !value->is_output && value->alias_of < 0)
      declare(&b, ref_of(&b, (int)v), value->type, value->rank, value->shape);
  }
  for (size_t k = 0; k < program->op_count; ++k) {
    const pb_s1_op* op = &program->ops[k];
    if (op->kind == PB_S1_CONV && program->values[op->y].rank == 2)
      gemm(&b, op);
    else if (op->kind == PB_S1_CONV)
      conv(&b, op);
    else if (op->kind == PB_S1_MAXPOOL)
      maxpool(&b, op);
    else if (op->kind == PB_S1_AVERAGE)
      average(&b, op);
    else if (op->kind == PB_S1_NEST)
      nest(&b, op);
    else if (op->kind >= PB_S1_TABLE && op->kind <= PB_S1_MATMUL)
      pb__s2_codes(&b, op);
    else if (op->kind >= PB_S1_FCONV)
      pb__s2_float(&b, op);
    else
      point(&b, op);
  }
  pb_text text = {0};
  pb_text_add(&text, "module attributes {pb.stage = \"s2\"} {\n");
  print_signature(&b, &text);
  pb_text_add(&text, "%s%s  return\n}\n}\n", b.allocs.data ? b.allocs.data : "", b.nests.data ? b.nests.data : "");
  pb_text_free(&b.allocs);
  pb_text_free(&b.nests);
  pb_arena_free(&b.arena);
  free(b.used_const);
  return text.data;
}
