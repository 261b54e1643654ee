// Products that are summed: dot_general and convolutions, of any dims and types.
#include "core/base/half.h"
#include "core/frontend/stablehlo/door.h"

#include <ctype.h>
#include <string.h>

// y, or a tensor of f32 that its sums are taken in when it has narrow floats.
static int sums_of(pb_door* d, int y) {
  const pb_s1_value out = *pb_made(&d->m, y);
  int sums = pb_type_is_narrow(out.type) ? pb_make_value(&d->m, PB_F32, out.rank, out.shape) : y;
  pb_type type = pb_made(&d->m, sums)->type;
  int dims[PB_NEST_RANK];
  (void)pb_make_walk(&d->m, "init", sums, dims);
  (void)pb_scalar_number(&d->m.nest, type, 0);
  pb_make_end(&d->m, sums, dims);
  return sums;
}

static void round_sums(pb_door* d, int sums, int y) {
  int dims[PB_NEST_RANK];
  if (sums == y) return;
  (void)pb_make_walk(&d->m, "point", y, dims);
  pb_make_along(&d->m, pb_make_access(&d->m, sums), dims);
  int v = pb_nest_load(&d->m.nest, 0);
  pb__door_store(d, v, y, dims);
}

// What an access reads, as an element of the sums.
static int factor(pb_door* d, int access, pb_type type) {
  pb_nest* n = &d->m.nest;
  pb_type from = pb_made(&d->m, n->access[access].buffer)->type;
  return pb_scalar_converted(n, pb_scalar_load(n, access, from), from, type);
}

// The nest adds a * b, the two accesses being there, to sums that are no truths.
static void add_products(pb_door* d, int a, int b, pb_type type) {
  int x = factor(d, a, type), z = factor(d, b, type);
  (void)pb_nest_node(&d->m.nest, PB_OP_MUL, pb_scalar_worked(type), x, z);
  d->m.nest.reduce = PB_ACC_ADD;
}

// sums += a * b, the two accesses being there; indices of the sums by `to`.
static void multiply(pb_door* d, int a, int b, int sums, const int* to) {
  pb_nest* n = &d->m.nest;
  pb_type type = pb_made(&d->m, sums)->type, worked = pb_scalar_worked(type);
  if (type == PB_I1) { // or of ands
    int x = factor(d, a, type), z = factor(d, b, type);
    int own = pb_make_access(&d->m, sums);
    pb_make_along(&d->m, own, to);
    n->reduce = PB_ACC_BODY;
    int product = pb_nest_node(n, PB_OP_AND, worked, x, z);
    (void)pb_nest_node(n, PB_OP_OR, worked, pb_nest_load(n, own), product);
  } else
    add_products(d, a, b, type);
  pb_make_end(&d->m, sums, to);
}

// A constant of floats of 16 bits as one of f32, so that products find constant weights.
static int wide_constant(pb_door* d, int v) {
  const pb_s1_value in = *pb_made(&d->m, v);
  int64_t count = 1;
  for (int r = 0; r < in.rank; ++r) count *= in.shape[r];
  const char* from = pb_const_data(d->m.consts, in.const_id); // of a file, perhaps not aligned
  float* to = PB_NEW_ARRAY(&d->m.consts->arena, float, (size_t)count + 1);
  for (int64_t k = 0; k < count; ++k) {
    uint16_t code;
    memcpy(&code, from + 2 * k, sizeof code);
    to[k] = pb_narrow_number(in.type, code);
  }
  return pb_make_constant(&d->m, PB_F32, in.rank, in.shape, to);
}

// Operands whose elements are worked on as another type become tensors of it first: the planner knows products of
// tensors.
static int worked_operand(pb_door* d, int v, pb_type type) {
  const pb_s1_value in = *pb_made(&d->m, v);
  int dims[PB_NEST_RANK];
  if (in.type == type || pb_scalar_worked(type) != PB_F32) return v;
  if (in.const_id >= 0 && type == PB_F32 && pb_type_is_narrow(in.type)) return wide_constant(d, v);
  int wide = pb_make_value(&d->m, type, in.rank, in.shape);
  (void)pb_make_walk(&d->m, "point", wide, dims);
  pb_make_along(&d->m, pb_make_access(&d->m, v), dims);
  int x = pb_scalar_load(&d->m.nest, 0, in.type);
  pb__door_store(d, pb_scalar_converted(&d->m.nest, x, in.type, type), wide, dims);
  return wide;
}

typedef struct dims {
  int count;
  int64_t at[PB_NEST_RANK];
} dims;

static dims list(const pb_flat_op* op, const char* name) {
  dims d;
  d.count = pb__door_list(op, "dot_dimension_numbers", name, PB_NEST_RANK, d.at);
  return d;
}

static bool fit(const dims* a, const dims* b, const pb_s1_value* x, const pb_s1_value* z, bool* of_x, bool* of_z) {
  if (a->count < 0 || a->count != b->count) return false;
  for (int k = 0; k < a->count; ++k) {
    if (a->at[k] < 0 || a->at[k] >= x->rank || b->at[k] < 0 || b->at[k] >= z->rank || of_x[a->at[k]] ||
        of_z[b->at[k]] || x->shape[a->at[k]] != z->shape[b->at[k]])
      return false;
    of_x[a->at[k]] = of_z[b->at[k]] = true;
  }
  return true;
}

// Which loop walks each dim of the operands; false: the numbers do not fit, or the result has another shape.
typedef struct dot {
  dims xb, zb, xc, zc;
  bool of_x[PB_NEST_RANK], of_z[PB_NEST_RANK]; // dims that are batches, or summed over
} dot;

static bool read_dot(const pb_flat_op* op, const pb_s1_value* x, const pb_s1_value* z, const pb_flat_type* y, dot* t) {
  *t = (dot){list(op, "lhs_batching_dimensions"),
             list(op, "rhs_batching_dimensions"),
             list(op, "lhs_contracting_dimensions"),
             list(op, "rhs_contracting_dimensions"),
             {false},
             {false}};
  if (!fit(&t->xb, &t->zb, x, z, t->of_x, t->of_z) || !fit(&t->xc, &t->zc, x, z, t->of_x, t->of_z) ||
      x->rank + z->rank - t->xb.count - 2 * t->xc.count != y->rank || y->rank + t->xc.count > PB_NEST_DIMS)
    return false;
  bool fits = true;
  int at = 0;
  for (int k = 0; k < t->xb.count; ++k) fits &= y->shape[at++] == x->shape[t->xb.at[k]];
  for (int r = 0; r < x->rank; ++r)
    if (!t->of_x[r]) fits &= y->shape[at++] == x->shape[r];
  for (int r = 0; r < z->rank; ++r)
    if (!t->of_z[r]) fits &= y->shape[at++] == z->shape[r];
  return fits;
}

// Weights whose columns are several dims, as of heads and what is in a head, with one dim of columns: the planner knows
// matrices. *shape, *rank: of the result, which changes with them. Returns the weights.
static int one_of_columns(pb_door* d, dot* t, int z, int* rank, int64_t* shape) {
  const pb_s1_value in = *pb_made(&d->m, z);
  int64_t own[PB_NEST_RANK];
  int now[PB_NEST_RANK], count = 0, at = *rank; // where dim r is now, and its place in the result
  if (in.const_id < 0 || d->m.consts->items[in.const_id]->sized) return z;
  for (int r = 0; r < in.rank; ++r) at -= !t->of_z[r];
  for (int r = 0; r < in.rank; ++r) {
    bool joins = r && !t->of_z[r] && !t->of_z[r - 1];
    now[r] = joins ? count - 1 : count;
    own[now[r]] = joins ? own[now[r]] * in.shape[r] : in.shape[r];
    if (!t->of_z[r]) shape[joins ? at - 1 : at] = own[now[r]];
    at += !t->of_z[r] && !joins;
    count += !joins;
  }
  if (count == in.rank) return z;
  *rank = at;
  bool of_z[PB_NEST_RANK] = {false};
  for (int r = 0; r < in.rank; ++r) of_z[now[r]] |= t->of_z[r];
  memcpy(t->of_z, of_z, sizeof of_z);
  for (int k = 0; k < t->zb.count; ++k) t->zb.at[k] = now[t->zb.at[k]];
  for (int k = 0; k < t->zc.count; ++k) t->zc.at[k] = now[t->zc.at[k]];
  return pb_make_constant(&d->m, in.type, count, own, pb_const_data(d->m.consts, in.const_id));
}

static int64_t elements_beside(const pb_s1_value* v, const bool* of) {
  int64_t count = 1;
  for (int r = 0; r < v->rank; ++r) count *= of[r] ? 1 : v->shape[r];
  return count;
}

// Whether the columns are too few to fill a register of cores and rows are not: the product is made with both changed
// round then. Constant columns are packed as registers take them.
static bool has_few_columns(const pb_door* d, const dot* t, int x, int z, pb_type type) {
  enum { FEW = 16 };
  const pb_s1_value *rows = pb_made(&d->m, x), *columns = pb_made(&d->m, z);
  if (!pb__door_makes_code(d) || d->m.consts->open || type != PB_F32 || columns->const_id >= 0) return false;
  int64_t n = elements_beside(columns, t->of_z);
  return n > 1 && n < FEW && elements_beside(rows, t->of_x) >= FEW;
}

static int make_dot_of(pb_door* d, const dot* t, int x, int z, pb_type type, int rank, const int64_t* shape);

// How many of a long sum's products are summed by themselves: where what all blocks leave is little beside the factors.
static int64_t block_of_products(const pb_door* d, const dot* t, int x, int z, pb_type type, int rank,
                                 const int64_t* shape) {
  const pb_s1_value *rows = pb_made(&d->m, x), *columns = pb_made(&d->m, z);
  if (t->xc.count != 1 || rank + 1 > PB_GRAPH_RANK || rank + 2 > PB_NEST_DIMS || rows->const_id >= 0 ||
      columns->const_id >= 0 || rows->type != PB_F32 || columns->type != PB_F32)
    return 0;
  int64_t block = pb__door_block_of_sum(d, type, rows->shape[t->xc.at[0]]), left = 1;
  if (!block) return 0;
  for (int r = 0; r < rank; ++r) left *= shape[r];
  left *= rows->shape[t->xc.at[0]] / block;
  return 4 * left <= pb_made_elements(&d->m, x) + pb_made_elements(&d->m, z) ? block : 0;
}

// The blocks' sums as stacks of products, and these summed.
static int make_by_blocks(pb_door* d, const dot* t, int x, int z, int rank, const int64_t* shape, int64_t block) {
  const pb_s1_value in = *pb_made(&d->m, x), other = *pb_made(&d->m, z);
  int64_t stacked[PB_NEST_RANK] = {in.shape[t->xc.at[0]] / block};
  memcpy(stacked + 1, shape, sizeof *shape * (size_t)rank);
  int parts = sums_of(d, pb_make_value(&d->m, PB_F32, rank + 1, stacked));
  int of_in[PB_NEST_RANK], of_other[PB_NEST_RANK], to[PB_NEST_RANK], at = 1, dims[PB_NEST_RANK];
  pb_nest* n = pb_make_walk(&d->m, "reduce", parts, to);
  for (int k = 0; k < t->xb.count; ++k) of_in[t->xb.at[k]] = of_other[t->zb.at[k]] = to[at++];
  for (int r = 0; r < in.rank; ++r)
    if (!t->of_x[r]) of_in[r] = to[at++];
  for (int r = 0; r < other.rank; ++r)
    if (!t->of_z[r]) of_other[r] = to[at++];
  of_in[t->xc.at[0]] = of_other[t->zc.at[0]] = pb_make_loop(&d->m, block);
  int a = pb_make_access(&d->m, x), b = pb_make_access(&d->m, z);
  pb_make_along(&d->m, a, of_in);
  pb_make_along(&d->m, b, of_other);
  pb_make_move(&d->m, a, (int)t->xc.at[0], to[0], block);
  pb_make_move(&d->m, b, (int)t->zc.at[0], to[0], block);
  multiply(d, a, b, parts, to);
  int y = sums_of(d, pb_make_value(&d->m, PB_F32, rank, shape));
  n = pb_make_walk(&d->m, "reduce", y, dims + 1);
  dims[0] = pb_make_loop(&d->m, stacked[0]);
  int access = pb_make_access(&d->m, parts);
  pb_make_along(&d->m, access, dims);
  (void)pb_nest_load(n, access);
  n->reduce = PB_ACC_ADD;
  pb_make_end(&d->m, y, dims + 1);
  return y;
}

static int make_changed_round(pb_door* d, const dot* t, int x, int z, pb_type type, int rank, const int64_t* shape) {
  dot other = {.xb = t->zb, .zb = t->xb, .xc = t->zc, .zc = t->xc};
  memcpy(other.of_x, t->of_z, sizeof other.of_x);
  memcpy(other.of_z, t->of_x, sizeof other.of_z);
  int batches = t->xb.count, rows = pb_made(&d->m, x)->rank - batches - t->xc.count, dims[PB_NEST_RANK];
  int64_t turned[PB_NEST_RANK] = {0};
  int from[PB_NEST_RANK], columns = rank - batches - rows; // the dim of y that each of the product's is
  for (int r = 0; r < rank; ++r) {
    from[r] = r < batches ? r : r < batches + columns ? r + rows : r - columns;
    turned[r] = shape[from[r]];
  }
  int made = make_dot_of(d, &other, z, x, type, rank, turned), y = pb_make_value(&d->m, type, rank, shape);
  (void)pb_make_walk(&d->m, "copy", y, dims);
  int access = pb_make_access(&d->m, made), along[PB_NEST_RANK];
  for (int r = 0; r < rank; ++r) along[r] = dims[from[r]];
  pb_make_along(&d->m, access, along);
  (void)pb_nest_load(&d->m.nest, access);
  pb_make_end(&d->m, y, dims);
  return y;
}

static int make_dot_of(pb_door* d, const dot* t, int x, int z, pb_type type, int rank, const int64_t* shape) {
  if (has_few_columns(d, t, x, z, type)) return make_changed_round(d, t, x, z, type, rank, shape);
  int64_t block = block_of_products(d, t, x, z, type, rank, shape);
  if (block) return make_by_blocks(d, t, x, z, rank, shape, block);
  int y = pb_make_value(&d->m, type, rank, shape);
  pb_type summed = pb_type_is_narrow(type) ? PB_F32 : type;
  x = worked_operand(d, x, summed);
  z = worked_operand(d, z, summed);
  const pb_s1_value in = *pb_made(&d->m, x), other = *pb_made(&d->m, z);
  int sums = sums_of(d, y), to[PB_NEST_RANK], at = 0, of_in[PB_NEST_RANK], of_other[PB_NEST_RANK];
  (void)pb_make_start(&d->m, "reduce");
  for (int k = 0; k < t->xb.count; ++k, ++at)
    of_in[t->xb.at[k]] = of_other[t->zb.at[k]] = to[at] = pb_make_loop(&d->m, in.shape[t->xb.at[k]]);
  for (int r = 0; r < in.rank; ++r)
    if (!t->of_x[r]) of_in[r] = to[at++] = pb_make_loop(&d->m, in.shape[r]);
  for (int r = 0; r < other.rank; ++r)
    if (!t->of_z[r]) of_other[r] = to[at++] = pb_make_loop(&d->m, other.shape[r]);
  for (int k = 0; k < t->xc.count; ++k)
    of_in[t->xc.at[k]] = of_other[t->zc.at[k]] = pb_make_loop(&d->m, in.shape[t->xc.at[k]]);
  int a = pb_make_access(&d->m, x), b = pb_make_access(&d->m, z);
  pb_make_along(&d->m, a, of_in);
  pb_make_along(&d->m, b, of_other);
  multiply(d, a, b, sums, to);
  round_sums(d, sums, y);
  return y;
}

static int make_dot(pb_door* d, const dot* t, int x, int z, pb_type type, int rank, const int64_t* shape) {
  dot matrix = *t;
  int64_t out[PB_NEST_RANK];
  int out_rank = rank;
  memcpy(out, shape, sizeof *shape * (size_t)rank);
  z = one_of_columns(d, &matrix, z, &out_rank, out);
  int y = make_dot_of(d, &matrix, x, z, type, out_rank, out);
  if (out_rank == rank) return y;
  int whole = pb_make_value(&d->m, type, rank, shape);
  pb_make_copy(&d->m, y, whole);
  return whole;
}

static int combined(pb_door* d, pb_op how, int a, int b) {
  const pb_s1_value type = *pb_made(&d->m, a);
  int y = pb_make_value(&d->m, type.type, type.rank, type.shape), dims[PB_NEST_RANK];
  pb_nest* n = pb_make_walk(&d->m, "point", y, dims);
  pb_make_along(&d->m, pb_make_access(&d->m, a), dims);
  pb_make_along(&d->m, pb_make_access(&d->m, b), dims);
  int first = pb_nest_load(n, 0), second = pb_nest_load(n, 1);
  (void)pb_nest_node(n, how, type.type, first, second);
  pb_make_end(&d->m, y, dims);
  return y;
}

// Of complex numbers four products of their parts.
pb_status pb__door_dot_general(pb_door* d, const pb_flat_op* op) {
  const pb_flat_type* out = pb__door_type(d, op->results[0]);
  pb_door_value x = pb__door_get(d, op->operands[0]), z = pb__door_get(d, op->operands[1]);
  dot t;
  if (!read_dot(op, pb_made(&d->m, x.value), pb_made(&d->m, z.value), out, &t) ||
      out->is_complex != (x.imaginary >= 0) || out->is_complex != (z.imaginary >= 0))
    return pb__door_refuse(d, op, "dimensions or types that do not fit");
  pb_door_value y = {-1, -1};
#define DOT(a, b) make_dot(d, &t, a, b, out->type, out->rank, out->shape)
  y.value = DOT(x.value, z.value);
  if (out->is_complex) {
    y.value = combined(d, PB_OP_SUB, y.value, DOT(x.imaginary, z.imaginary));
    int cross = DOT(x.value, z.imaginary);
    y.imaginary = combined(d, PB_OP_ADD, cross, DOT(x.imaginary, z.value));
  }
#undef DOT
  return pb__door_bind(d, op, op->results[0], y);
}

// The older product, as the general one.
pb_status pb__door_dot(pb_door* d, const pb_flat_op* op) {
  pb_arena* arena = &d->m.program->arena;
  pb_flat_op said = *op;
  pb_flat_attr* attrs = PB_NEW_ARRAY(arena, pb_flat_attr, (size_t)op->attr_count + 1);
  const char* numbers = pb_printf(arena, "lhs_contracting_dimensions = [%d], rhs_contracting_dimensions = [0]>",
                                  pb__door_type(d, op->operands[0])->rank - 1);
  attrs[0] = (pb_flat_attr){.name = "dot_dimension_numbers", .kind = PB_FLAT_TEXT, .text = numbers};
  if (op->attr_count) memcpy(attrs + 1, op->attrs, sizeof *attrs * (size_t)op->attr_count);
  said.name = "stablehlo.dot_general";
  said.attrs = attrs;
  ++said.attr_count;
  return pb__door_op(d, &said);
}

// "[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]": by dim what it is, a space as its number from 0, else -1, -2.
enum { BATCH = -1, FEATURE = -2 };
static const char* read_roles(const char* at, int* roles, int* count) {
  at = at ? strchr(at, '[') : NULL;
  *count = 0;
  if (!at) return NULL;
  for (++at; *at && *at != ']'; ++at) {
    if (*at == ',' || *at == ' ') continue;
    if (*count == PB_NEST_RANK) return NULL;
    bool batch = *at == 'b' || *at == 'o', feature = *at == 'f' || *at == 'i';
    if (!batch && !feature && !isdigit((unsigned char)*at)) return NULL;
    roles[(*count)++] = batch ? BATCH : feature ? FEATURE : *at - '0';
  }
  return at;
}

typedef struct conv {
  int x[PB_NEST_RANK], w[PB_NEST_RANK], y[PB_NEST_RANK], rank; // roles
  const int64_t *stride, *pad, *base, *dilation, *reversed;
  int64_t groups, batch_groups;
} conv;

static int dim_of(const int* roles, int rank, int role) {
  for (int r = 0; r < rank; ++r)
    if (roles[r] == role) return r;
  return -1;
}

static pb_status read_conv(pb_door* d, const pb_flat_op* op, int rank, conv* c) {
  int w, y;
  const char* at = read_roles(pb_flat_find(op, "dimension_numbers")->text, c->x, &c->rank);
  at = read_roles(at, c->w, &w);
  at = read_roles(at, c->y, &y);
  if (!at || c->rank != rank || w != rank || y != rank || rank < 2)
    return pb__door_refuse(d, op, "dimension numbers that do not fit");
  int spaces = rank - 2;
  c->stride = pb__door_ints(d, op, "window_strides", spaces, 1);
  c->pad = pb__door_ints(d, op, "padding", 2 * spaces, 0);
  c->base = pb__door_ints(d, op, "lhs_dilation", spaces, 1);
  c->dilation = pb__door_ints(d, op, "rhs_dilation", spaces, 1);
  c->reversed = pb__door_ints(d, op, "window_reversal", spaces, 0);
  c->groups = pb__door_int(op, "feature_group_count", 1);
  c->batch_groups = pb__door_int(op, "batch_group_count", 1);
  for (int role = FEATURE; role < spaces; ++role)
    if (dim_of(c->x, rank, role) < 0 || dim_of(c->w, rank, role) < 0 || dim_of(c->y, rank, role) < 0)
      return pb__door_refuse(d, op, "dimension numbers that do not fit");
  bool fits = c->stride && c->pad && c->base && c->dilation && c->reversed && c->groups > 0 && c->batch_groups > 0 &&
              (c->groups == 1 || c->batch_groups == 1);
  for (int s = 0; fits && s < spaces; ++s) fits = c->stride[s] > 0 && c->base[s] > 0 && c->dilation[s] > 0;
  return fits ? PB_OK : pb__door_refuse(d, op, "attributes that do not fit");
}

static pb_status check_conv(pb_door* d, const pb_flat_op* op, const conv* c, const pb_s1_value* x, const pb_s1_value* w,
                            const pb_s1_value* y) {
  int64_t outs = w->shape[dim_of(c->w, c->rank, BATCH)], ins = w->shape[dim_of(c->w, c->rank, FEATURE)];
  int64_t features = x->shape[dim_of(c->x, c->rank, FEATURE)], batch = x->shape[dim_of(c->x, c->rank, BATCH)];
  bool fits = ins * c->groups == features && outs % c->groups == 0 && outs % c->batch_groups == 0 &&
              batch % c->batch_groups == 0 && y->shape[dim_of(c->y, c->rank, FEATURE)] == outs &&
              y->shape[dim_of(c->y, c->rank, BATCH)] == batch / c->batch_groups;
  for (int s = 0; fits && s < c->rank - 2; ++s) {
    int64_t all = (x->shape[dim_of(c->x, c->rank, s)] - 1) * c->base[s] + 1 + c->pad[2 * s] + c->pad[2 * s + 1];
    int64_t window = (w->shape[dim_of(c->w, c->rank, s)] - 1) * c->dilation[s] + 1;
    fits = pb__door_places(all, window, c->stride[s]) == y->shape[dim_of(c->y, c->rank, s)];
  }
  return fits ? PB_OK : pb__door_refuse(d, op, "shapes that do not fit");
}

// Whether the input has gaps as wide as the window and pads that let each element meet all of it: then each result is
// made of one place of the input.
static bool meets_one_place(const conv* c, const pb_s1_value* w) {
  bool one = c->groups == 1 && c->batch_groups == 1, gaps = false;
  for (int s = 0; s < c->rank - 2; ++s) {
    int64_t kernel = w->shape[dim_of(c->w, c->rank, s)];
    one &= c->base[s] == kernel && c->dilation[s] == 1 && c->stride[s] == 1 && c->pad[2 * s] == kernel - 1 &&
           c->pad[2 * s + 1] == kernel - 1;
    gaps |= kernel > 1;
  }
  return one && gaps;
}

// Whether products take factors of the type as they are: what is done to them in front does not widen them then.
static bool is_multiplied(const pb_door* d, pb_type type) {
  bool is = false;
  for (int k = 0; d->multiplied && k < PB_NARROW_TYPES; ++k) is |= pb_narrow_type(k) == type && d->multiplied[k];
  return is;
}

// y[n, o, s kernel + k..] += x[n, i, s..] * w[o, i, kernel - 1 - k..]: no tensor with gaps is made, and nothing is
// multiplied by them.
static void multiply_places(pb_door* d, const conv* c, int x, int w, int y) {
  const pb_s1_value in = *pb_made(&d->m, x), kernel = *pb_made(&d->m, w);
  int sums = sums_of(d, y), spaces = c->rank - 2, to[PB_NEST_RANK], of_x[PB_NEST_RANK], of_w[PB_NEST_RANK];
  pb_nest* nest = pb_make_start(&d->m, "reduce");
  int wo = dim_of(c->w, c->rank, BATCH), wi = dim_of(c->w, c->rank, FEATURE), xn = dim_of(c->x, c->rank, BATCH);
  of_x[xn] = to[dim_of(c->y, c->rank, BATCH)] = pb_make_loop(&d->m, in.shape[xn]);
  of_w[wo] = to[dim_of(c->y, c->rank, FEATURE)] = pb_make_loop(&d->m, kernel.shape[wo]);
  for (int s = 0; s < spaces; ++s) {
    int xs = dim_of(c->x, c->rank, s), ws = dim_of(c->w, c->rank, s);
    of_x[xs] = pb_make_loop(&d->m, in.shape[xs]);
    of_w[ws] = pb_make_loop(&d->m, kernel.shape[ws]);
    to[dim_of(c->y, c->rank, s)] = of_w[ws];
  }
  of_x[dim_of(c->x, c->rank, FEATURE)] = of_w[wi] = pb_make_loop(&d->m, kernel.shape[wi]);
  int a = pb_make_access(&d->m, x), b = pb_make_access(&d->m, w);
  pb_make_along(&d->m, a, of_x);
  pb_make_along(&d->m, b, of_w);
  add_products(d, a, b, pb_made(&d->m, sums)->type);
  int into = pb_make_access(&d->m, sums);
  pb_make_along(&d->m, into, to);
  for (int s = 0; s < spaces; ++s) {
    int ws = dim_of(c->w, c->rank, s);
    pb_make_move(&d->m, into, dim_of(c->y, c->rank, s), of_x[dim_of(c->x, c->rank, s)], kernel.shape[ws]);
    if (c->reversed[s]) continue;
    pb_make_move(&d->m, b, ws, of_w[ws], -2); // the other way round
    nest->access[b].index[ws].cst = kernel.shape[ws] - 1;
  }
  pb_make_finish(&d->m);
  round_sums(d, sums, y);
}

// y[n, g o, s..] += x[(b n), g i, s stride + k dilation..] * w[o, i, k..]; groups of features or of the batch are a
// dim.
pb_status pb__door_convolution(pb_door* d, const pb_flat_op* op) {
  int y = pb__door_result(d, op, 0), x = pb__door_in(d, op, 0), w = pb__door_in(d, op, 1), zero;
  pb_type summed = pb_type_is_narrow(pb_made(&d->m, y)->type) ? PB_F32 : pb_made(&d->m, y)->type;
  conv c;
  if (pb_made(&d->m, x)->rank != pb_made(&d->m, y)->rank || pb_made(&d->m, w)->rank != pb_made(&d->m, y)->rank)
    return pb__door_refuse(d, op, "operands of different ranks");
  PB_TRY(read_conv(d, op, pb_made(&d->m, x)->rank, &c));
  PB_TRY(check_conv(d, op, &c, pb_made(&d->m, x), pb_made(&d->m, w), pb_made(&d->m, y)));
  if (!is_multiplied(d, pb_made(&d->m, x)->type)) x = worked_operand(d, x, summed);
  w = worked_operand(d, w, summed);
  if (summed != PB_I1 && meets_one_place(&c, pb_made(&d->m, w)) && 3 + 2 * (c.rank - 2) <= PB_NEST_DIMS) {
    multiply_places(d, &c, worked_operand(d, x, summed), w, y);
    return PB_OK;
  }
  int64_t pad[2 * PB_NEST_RANK] = {0}, base[PB_NEST_RANK];
  bool padded = d->borders;
  for (int r = 0; r < c.rank; ++r) {
    base[r] = 1;
    if (c.x[r] < 0) continue;
    base[r] = c.base[c.x[r]];
    pad[2 * r] = c.pad[2 * c.x[r]];
    pad[2 * r + 1] = c.pad[2 * c.x[r] + 1];
    padded |= pad[2 * r] || pad[2 * r + 1] || base[r] != 1;
  }
  if (padded) {
    static const int64_t nothing[1];
    zero = pb_make_constant(&d->m, pb_made(&d->m, x)->type, 0, NULL, nothing);
    PB_TRY(pb__door_padded(d, op, x, zero, pad, base, &x));
  }
  x = worked_operand(d, x, summed);
  const pb_s1_value kernel = *pb_made(&d->m, w), out = *pb_made(&d->m, y);
  int sums = sums_of(d, y);
  (void)pb_make_start(&d->m, "reduce");
  int64_t groups = c.groups * c.batch_groups, outs = kernel.shape[dim_of(c.w, c.rank, BATCH)] / groups;
  int xf = dim_of(c.x, c.rank, FEATURE), xn = dim_of(c.x, c.rank, BATCH), wo = dim_of(c.w, c.rank, BATCH),
      wi = dim_of(c.w, c.rank, FEATURE), yn = dim_of(c.y, c.rank, BATCH), yf = dim_of(c.y, c.rank, FEATURE);
  int loops[PB_NEST_DIMS], spaces = c.rank - 2;
  if (4 + 2 * spaces > PB_NEST_DIMS) return pb__door_refuse(d, op, "too many dimensions");
  int n = pb_make_loop(&d->m, out.shape[yn]), g = pb_make_loop(&d->m, groups), o = pb_make_loop(&d->m, outs);
  for (int s = 0; s < spaces; ++s) loops[s] = pb_make_loop(&d->m, out.shape[dim_of(c.y, c.rank, s)]);
  int i = pb_make_loop(&d->m, kernel.shape[wi]);
  for (int s = 0; s < spaces; ++s) loops[spaces + s] = pb_make_loop(&d->m, kernel.shape[dim_of(c.w, c.rank, s)]);
  int a = pb_make_access(&d->m, x), b = pb_make_access(&d->m, w);
  pb_make_move(&d->m, a, xn, n, 1);
  pb_make_move(&d->m, a, c.groups > 1 ? xf : xn, g, c.groups > 1 ? kernel.shape[wi] : out.shape[yn]);
  pb_make_move(&d->m, a, xf, i, 1);
  pb_make_move(&d->m, b, wo, g, outs);
  pb_make_move(&d->m, b, wo, o, 1);
  pb_make_move(&d->m, b, wi, i, 1);
  for (int s = 0; s < spaces; ++s) {
    int xs = dim_of(c.x, c.rank, s), ws = dim_of(c.w, c.rank, s);
    pb_make_move(&d->m, a, xs, loops[s], c.stride[s]);
    pb_make_move(&d->m, a, xs, loops[spaces + s], c.dilation[s]);
    pb_make_move(&d->m, b, ws, loops[spaces + s], c.reversed[s] ? -1 : 1);
    if (c.reversed[s]) d->m.nest.access[b].index[ws].cst = kernel.shape[ws] - 1;
  }
  int none[PB_NEST_RANK];
  for (int r = 0; r < out.rank; ++r) none[r] = -1;
  none[yn] = n;
  for (int s = 0; s < spaces; ++s) none[dim_of(c.y, c.rank, s)] = loops[s];
  // the features of y are two loops: a tensor with both as dims would be another shape, so the access is moved by hand
  pb_type type = pb_made(&d->m, sums)->type;
  if (type == PB_I1) return pb__door_refuse(d, op, "of truths");
  add_products(d, a, b, type);
  int to = pb_make_access(&d->m, sums);
  pb_make_along(&d->m, to, none);
  pb_make_move(&d->m, to, yf, g, outs);
  pb_make_move(&d->m, to, yf, o, 1);
  pb_make_finish(&d->m);
  round_sums(d, sums, y);
  return PB_OK;
}
