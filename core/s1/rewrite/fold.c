// Nodes that the model alone decides: shapes, what is computed of constants. Their results become constants, so that
// operators which want a constant operand (a shape, axes, a box) find one where an exporter left it computed.
#include "core/s1/rewrite/fold.h"

#include "core/base/half.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ELEMENTS = 1 << 26, MOST_SIZES = 32 };

typedef pb__number number;
typedef pb__folded constant;

number pb__fold_number(const constant* c, int64_t k) {
  number v = {0};
  const char* at = c->data + (size_t)k * pb__fold_size(c->type);
  int32_t narrow;
  uint16_t half = 0;
  if (c->type == PB_F32) {
    memcpy(&v.f, at, 4);
  } else if (pb_type_is_narrow(c->type)) {
    memcpy(&half, at, pb__fold_size(c->type));
    v.f = pb_narrow_number(c->type, half);
  } else if (c->type == PB_I64) {
    memcpy(&v.i, at, 8);
  } else if (c->type == PB_I32) {
    memcpy(&narrow, at, 4);
    v.i = narrow;
  } else {
    v.i = c->type == PB_I1 ? *at != 0 : *(const signed char*)at;
  }
  return v;
}

static void set_number(constant* c, int64_t k, number v) {
  char* at = c->data + (size_t)k * pb__fold_size(c->type);
  uint16_t half = pb_narrow_of(c->type, (double)v.f);
  if (c->type == PB_F32)
    memcpy(at, &v.f, 4);
  else if (pb_type_is_narrow(c->type))
    memcpy(at, &half, pb__fold_size(c->type));
  else
    memcpy(at, &v.i, pb__fold_size(c->type)); // the low bytes of a little-endian number
}

// Whether products of its extents are far from overflow, of some too where another is 0.
static bool is_small(int rank, const int64_t* shape) {
  const int64_t most = (int64_t)1 << 40;
  int64_t product = 1;
  for (int r = 0; r < rank; ++r) {
    if (shape[r] < 0 || shape[r] > most / product) return false;
    if (shape[r]) product *= shape[r];
  }
  return true;
}

bool pb__fold_take(lifter* l, int tensor, constant* c) {
  const pb_const* from = pb__constant(l, tensor);
  if (!from || from->rank > PB_GRAPH_RANK || !is_small(from->rank, from->shape)) return false;
  *c = (constant){.type = from->type, .rank = from->rank, .count = 1};
  memcpy(c->shape, from->shape, sizeof c->shape);
  for (int r = 0; r < c->rank; ++r) c->count *= c->shape[r];
  c->data = (char*)(uintptr_t)pb_const_data(l->consts, from->id);
  return pb__fold_is_real(c) || c->type == PB_I64 || c->type == PB_I32 || c->type == PB_I1 || c->type == PB_I8;
}

bool pb__fold_start(lifter* l, pb_type type, int rank, const int64_t* shape, constant* c) {
  *c = (constant){.type = type, .rank = rank, .count = 1};
  if (rank > PB_GRAPH_RANK || !is_small(rank, shape)) return false;
  for (int r = 0; r < rank; ++r) {
    if (shape[r] && c->count > MOST_ELEMENTS / shape[r]) return false;
    c->shape[r] = shape[r];
    c->count *= shape[r];
  }
  c->data = pb_alloc(&l->consts->arena, (size_t)c->count * pb__fold_size(type) + 1);
  return true;
}

void pb__fold_give(lifter* l, int tensor, const constant* c) {
  if (tensor < 0) return;
  pb_tensor* made = &l->g->tensors[tensor];
  made->const_id = pb_consts_add(l->consts, made->name, c->type, c->rank, c->shape, c->data);
  made->type = c->type;
  made->is_unsigned = false;
  l->consts->items[made->const_id]->sized = l->folds_sizes;
}

// ---- movement: element k of y is from[base + sum index * stride] ----

// On to the next element of a shape: its index, and where operands that are walked by these strides are.
static void advance(int64_t* at, int rank, const int64_t* shape, int operands, const int64_t* const* stride,
                    int64_t* source) {
  for (int r = rank - 1; r >= 0; --r) {
    for (int k = 0; k < operands; ++k) source[k] += stride[k][r];
    if (++at[r] < shape[r]) return;
    for (int k = 0; k < operands; ++k) source[k] -= stride[k][r] * shape[r];
    at[r] = 0;
  }
}

// Where the last dims lie one behind the other in both, they are copied together: so many elements.
static int64_t run_of(const constant* y, const int64_t* stride, int* rank) {
  int64_t run = 1;
  for (*rank = y->rank; *rank > 0 && (y->shape[*rank - 1] == 1 || stride[*rank - 1] == run); --*rank)
    run *= y->shape[*rank - 1];
  return run;
}

static void copy_element(char* to, const char* from, size_t size) {
  switch (size) { // sizes that the compiler knows
  case 1:
    *to = *from;
    break;
  case 2:
    memcpy(to, from, 2);
    break;
  case 4:
    memcpy(to, from, 4);
    break;
  default:
    memcpy(to, from, 8);
  }
}

static void walk(const constant* from, int64_t base, const int64_t* stride, constant* y) {
  int64_t at[PB_GRAPH_RANK] = {0}, source = base;
  size_t size = pb__fold_size(y->type);
  int rank;
  int64_t run = run_of(y, stride, &rank);
  for (int64_t k = 0; k < y->count; k += run) {
    char* to = y->data + (size_t)k * size;
    const char* data = from->data + (size_t)source * size;
    if (run > 1)
      memcpy(to, data, (size_t)run * size);
    else
      copy_element(to, data, size);
    advance(at, rank, y->shape, 1, &stride, &source);
  }
}

void pb__fold_strides(const constant* c, int64_t* stride) {
  int64_t step = 1;
  for (int r = c->rank - 1; r >= 0; --r) {
    stride[r] = step;
    step *= c->shape[r];
  }
}

// The strides by which c is walked to fill a shape that it is broadcast to.
static void spread(const constant* c, int rank, int64_t* stride) {
  int64_t own[PB_GRAPH_RANK];
  pb__fold_strides(c, own);
  for (int r = 0; r < rank; ++r) {
    int mine = r - (rank - c->rank);
    stride[r] = mine < 0 || c->shape[mine] == 1 ? 0 : own[mine];
  }
}

static bool reshape(lifter* l, const pb_node* n, const constant* x, constant* y) {
  pb_s1_value in = {.rank = x->rank};
  int64_t shape[PB_GRAPH_RANK], stride[PB_GRAPH_RANK];
  int rank;
  memcpy(in.shape, x->shape, sizeof in.shape);
  bool same = pb__is(n, "Identity");
  if (same) {
    rank = x->rank;
    memcpy(shape, x->shape, sizeof shape);
  } else if (x->count < 1 || pb__read_reshape(l, n, &in, shape, &rank) != PB_OK) {
    return false;
  }
  if (!pb__fold_start(l, x->type, rank, shape, y) || y->count != x->count) return false;
  pb__fold_strides(y, stride);
  walk(x, 0, stride, y);
  return true;
}

static bool transpose(lifter* l, const pb_node* n, const constant* x, constant* y) {
  const pb_attr* perm = pb_node_attr(n, "perm");
  int64_t own[PB_GRAPH_RANK], stride[PB_GRAPH_RANK], shape[PB_GRAPH_RANK];
  if (perm && perm->count != x->rank) return false;
  pb__fold_strides(x, own);
  for (int r = 0; r < x->rank; ++r) {
    int64_t from = perm ? perm->ints[r] : x->rank - 1 - r;
    if (from < 0 || from >= x->rank) return false;
    shape[r] = x->shape[from];
    stride[r] = own[from];
  }
  if (!pb__fold_start(l, x->type, x->rank, shape, y)) return false;
  walk(x, 0, stride, y);
  return true;
}

// A bound of a slice: from the end where it is below 0, then kept in range.
static int64_t clamped(int64_t at, int64_t extent, int64_t least, int64_t most) {
  if (at < 0) at = at < -extent ? least : at + extent;
  return at < least ? least : at > most ? most : at;
}

static bool slice(lifter* l, const pb_node* n, const constant* x, constant* y) {
  int64_t starts[PB_GRAPH_RANK], ends[PB_GRAPH_RANK], axes[PB_GRAPH_RANK], steps[PB_GRAPH_RANK];
  int64_t stride[PB_GRAPH_RANK], shape[PB_GRAPH_RANK], base = 0;
  int count, end_count, axis_count, step_count, at;
  pb__read_integers(l, n, "starts", 1, PB_GRAPH_RANK, starts, &count);
  pb__read_integers(l, n, "ends", 2, PB_GRAPH_RANK, ends, &end_count);
  pb__read_integers(l, n, "axes", 3, PB_GRAPH_RANK, axes, &axis_count);
  pb__read_integers(l, n, NULL, 4, PB_GRAPH_RANK, steps, &step_count);
  if (count < 1 || end_count != count || (axis_count && axis_count != count) || (step_count && step_count != count))
    return false;
  pb__fold_strides(x, stride);
  memcpy(shape, x->shape, sizeof shape);
  for (int k = 0; k < count; ++k) {
    int64_t step = step_count ? steps[k] : 1, first = starts[k], last = ends[k];
    if (!pb__axis(axis_count ? axes[k] : k, x->rank, &at) || !step || step == INT64_MIN) return false;
    int64_t extent = x->shape[at];
    if (step > 0) {
      first = clamped(first, extent, 0, extent);
      last = clamped(last, extent, 0, extent);
      shape[at] = last > first ? (last - first - 1) / step + 1 : 0;
    } else {
      first = clamped(first, extent, 0, extent - 1);
      last = clamped(last, extent, -1, extent - 1);
      shape[at] = first > last ? (first - last - 1) / -step + 1 : 0;
    }
    base += shape[at] ? first * stride[at] : 0;
    stride[at] *= shape[at] > 1 ? step : 1; // below the extent then
  }
  if (!pb__fold_start(l, x->type, x->rank, shape, y)) return false;
  walk(x, base, stride, y);
  return true;
}

static bool expand(lifter* l, const pb_node* n, const constant* x, constant* y) {
  int64_t said[PB_GRAPH_RANK], shape[PB_GRAPH_RANK], stride[PB_GRAPH_RANK];
  int count, rank = x->rank;
  pb__read_integers(l, n, NULL, 1, PB_GRAPH_RANK, said, &count);
  memcpy(shape, x->shape, sizeof shape);
  if (count < 0 || !pb__broadcast(shape, &rank, said, count) || !pb__fold_start(l, x->type, rank, shape, y))
    return false;
  spread(x, rank, stride);
  walk(x, 0, stride, y);
  return true;
}

// Elements of a constant that are all the same, at places that come at run time.
static bool look_up_same(lifter* l, const pb_node* n, const constant* x, constant* y) {
  int axis, rank = 0, tensor = pb__input(n, 1), value = tensor < 0 ? -1 : l->value_of[tensor];
  int64_t shape[2 * PB_GRAPH_RANK] = {0};
  size_t each = pb__fold_size(x->type);
  if (value < 0 || x->count < 1 || !pb__axis(pb_node_int(n, "axis", 0), x->rank, &axis)) return false;
  const pb_s1_value* at = &l->out->values[value];
  for (int64_t k = 1; k < x->count; ++k)
    if (memcmp(x->data, x->data + (size_t)k * each, each) != 0) return false;
  if (pb__is(n, "GatherElements")) {
    rank = at->rank;
    memcpy(shape, at->shape, sizeof at->shape);
  }
  for (int r = 0; r < x->rank && !pb__is(n, "GatherElements"); ++r) {
    for (int k = 0; k < at->rank && r == axis; ++k) shape[rank++] = at->shape[k];
    if (r != axis) shape[rank++] = x->shape[r];
  }
  if (rank > PB_GRAPH_RANK || !pb__fold_start(l, x->type, rank, shape, y)) return false;
  for (int64_t k = 0; k < y->count; ++k) memcpy(y->data + (size_t)k * each, x->data, each);
  return true;
}

static bool gather(lifter* l, const pb_node* n, const constant* x, constant* y) {
  constant ids;
  int axis, rank = 0;
  int64_t shape[2 * PB_GRAPH_RANK] = {0}, inner = 1, outer = 1;
  if (!pb__constant(l, pb__input(n, 1))) return look_up_same(l, n, x, y);
  if (!pb__fold_take(l, pb__input(n, 1), &ids) || (ids.type != PB_I64 && ids.type != PB_I32)) return false;
  if (!pb__axis(pb_node_int(n, "axis", 0), x->rank, &axis)) return false;
  for (int r = 0; r < x->rank; ++r) {
    for (int k = 0; k < ids.rank && r == axis; ++k) shape[rank++] = ids.shape[k];
    if (r != axis) shape[rank++] = x->shape[r];
    if (r < axis) outer *= x->shape[r];
    if (r > axis) inner *= x->shape[r];
  }
  if (!pb__fold_start(l, x->type, rank, shape, y)) return false;
  size_t bytes = (size_t)inner * pb__fold_size(x->type);
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t k = 0; k < ids.count; ++k) {
      int64_t at = pb__fold_number(&ids, k).i, extent = x->shape[axis];
      if (at < 0) at += extent;
      if (at < 0 || at >= extent) return false;
      memcpy(y->data + (size_t)(o * ids.count + k) * bytes, x->data + (size_t)(o * extent + at) * bytes, bytes);
    }
  return true;
}

static bool concat(lifter* l, const pb_node* n, const constant* x, constant* y) {
  constant part;
  int axis;
  int64_t shape[PB_GRAPH_RANK], inner = 1, outer = 1, done = 0;
  if (!pb__axis(pb_node_int(n, "axis", pb_node_opset(l->g, n) < 4), x->rank, &axis)) return false;
  memcpy(shape, x->shape, sizeof shape);
  for (int k = 1; k < n->input_count; ++k) {
    if (!pb__fold_take(l, n->inputs[k], &part) || part.type != x->type || part.rank != x->rank) return false;
    for (int r = 0; r < x->rank; ++r)
      if (r != axis && part.shape[r] != x->shape[r]) return false;
    shape[axis] += part.shape[axis];
  }
  if (!pb__fold_start(l, x->type, x->rank, shape, y)) return false;
  for (int r = 0; r < x->rank; ++r)
    if (r != axis) *(r < axis ? &outer : &inner) *= x->shape[r];
  size_t row = (size_t)inner * pb__fold_size(x->type);
  for (int k = 0; k < n->input_count; ++k) {
    (void)pb__fold_take(l, n->inputs[k], &part);
    size_t bytes = (size_t)part.shape[axis] * row;
    for (int64_t o = 0; o < outer; ++o)
      memcpy(y->data + (size_t)(o * shape[axis] + done) * row, part.data + (size_t)o * bytes, bytes);
    done += part.shape[axis];
  }
  return true;
}

// ---- element by element ----

typedef enum rule { OF_X, TRUTH, OF_Z, OF_CAST } rule; // the result's type

// As the program does it: towards 0, what is out of range the nearest that there is, NaN 0.
static int64_t to_integer(float f, pb_type type) {
  bool wide = type == PB_I64;
  const float end = wide ? 9223372036854775808.0f : 2147483648.0f; // one past the largest
  if (isnan(f)) return 0;
  if (f >= end) return wide ? INT64_MAX : INT32_MAX;
  return f < -end ? (wide ? INT64_MIN : INT32_MIN) : (int64_t)f;
}

typedef enum operation {
  ADD,
  SUB,
  MUL,
  DIV,
  MOD,
  MAX,
  MIN,
  NEG,
  RELU,
  SQRT,
  FLOOR,
  CEIL,
  RECIPROCAL,
  POW,
  AND,
  OR,
  NOT,
  WHERE,
  CAST,
  EQUAL, // from here on comparisons
  LESS,
  GREATER,
  LESS_OR_EQUAL,
  GREATER_OR_EQUAL
} operation;

static bool whole(operation op, int64_t a, int64_t b, int64_t* y) {
  uint64_t x = (uint64_t)a, z = (uint64_t)b;
  switch (op) {
  case ADD:
    return *y = (int64_t)(x + z), true;
  case SUB:
    return *y = (int64_t)(x - z), true;
  case MUL:
    return *y = (int64_t)(x * z), true;
  case DIV:
    return b && b != -1 ? (*y = a / b, true) : false;
  case MOD:
    return b > 0 ? (*y = a % b < 0 ? a % b + b : a % b, true) : false;
  case MAX:
    return *y = a > b ? a : b, true;
  case MIN:
    return *y = a < b ? a : b, true;
  case NEG:
    return *y = (int64_t)(0 - x), true;
  case RELU:
    return *y = a < 0 ? 0 : a, true;
  case AND:
    return *y = a && b, true;
  case OR:
    return *y = a || b, true;
  case NOT:
    return *y = !a, true;
  default:
    return false;
  }
}

static bool real(operation op, float a, float b, float* y) {
  switch (op) {
  case ADD:
    return *y = a + b, true;
  case SUB:
    return *y = a - b, true;
  case MUL:
    return *y = a * b, true;
  case DIV:
    return *y = a / b, true;
  case NEG:
    return *y = -a, true;
  case RELU:
    return *y = a < 0 ? 0 : a, true;
  case SQRT:
    return *y = sqrtf(a), true;
  case RECIPROCAL:
    return *y = 1 / a, true;
  case POW:
    return *y = (float)pow(a, b), true;
  case FLOOR:
    return *y = floorf(a), true;
  case CEIL:
    return *y = ceilf(a), true;
  default:
    return false;
  }
}

static bool compares(operation op, int order) {
  return op == EQUAL           ? order == 0
         : op == LESS          ? order < 0
         : op == GREATER       ? order > 0
         : op == LESS_OR_EQUAL ? order <= 0
                               : order >= 0;
}

// What the comparison of two integers, or the choice of one, came out as: of extents it is what the program is for, or
// there is a number for either; false: that is left to the program.
static bool guard(lifter* l, operation op, const number* v, number* y) {
  static const char text[] = "the model is read for extents that decide as these do";
  if (!l->folds_sizes) return true;
  if (op == DIV || op == RELU) pb_consts_guard_sign(l->consts, v[0].i, text);
  if (op == DIV) pb_consts_guard_sign(l->consts, v[1].i, text);
  if (op == MIN) y->i = pb_consts_smaller(l->consts, v[0].i, v[1].i, text);
  if (op == MAX) y->i = v[0].i + v[1].i - pb_consts_smaller(l->consts, v[0].i, v[1].i, text);
  return op < EQUAL || !pb_consts_leave_order(l->consts, v[0].i, v[1].i, text);
}

static bool compute(operation op, const constant* in, const number* v, pb_type to, number* y) {
  bool f = pb__fold_is_real(&in[0]);
  if (op == WHERE) {
    *y = v[0].i ? v[1] : v[2];
    return true;
  }
  if (op == CAST) {
    y->f = f ? v[0].f : (float)v[0].i;
    y->i = to == PB_I1 ? (f ? v[0].f != 0 : v[0].i != 0) : f ? to_integer(v[0].f, to) : v[0].i;
    return true;
  }
  if (op >= EQUAL) {
    int order = f ? (v[0].f > v[1].f) - (v[0].f < v[1].f) : (v[0].i > v[1].i) - (v[0].i < v[1].i);
    bool ordered = !f || (!isnan(v[0].f) && !isnan(v[1].f));
    y->i = ordered && compares(op, order);
    return true;
  }
  return f ? real(op, v[0].f, v[1].f, &y->f) : whole(op, v[0].i, v[1].i, &y->i);
}

static bool is_cast(const pb_node* n) { return pb__is(n, "Cast") || pb__is(n, "CastLike"); }

static pb_type cast_type(const lifter* l, const pb_node* n) {
  bool is_unsigned, by_name = pb__is(n, "Cast");
  pb_type type = by_name ? pb_onnx_type(pb_node_int(n, "to", 0), &is_unsigned) : pb__type_of(l, pb__input(n, 1));
  return type == PB_F32 || pb_type_is_narrow(type) || type == PB_I32 || type == PB_I64 || type == PB_I1 ? type
                                                                                                        : PB_TYPE_COUNT;
}

// Codes as floats: weights of a model that keeps them so, millions of them.
static void floats_of_codes(const constant* x, bool is_unsigned, constant* y) {
  float* to = (float*)(void*)y->data; // as pb_alloc aligns it
  for (int64_t k = 0; k < y->count; ++k)
    to[k] = is_unsigned ? (float)(unsigned char)x->data[k] : (float)(signed char)x->data[k];
}

static bool each(lifter* l, const pb_node* n, operation op, int operands, rule type, constant* y) {
  constant in[3];
  int64_t shape[PB_GRAPH_RANK] = {0}, stride[3][PB_GRAPH_RANK], at[PB_GRAPH_RANK] = {0}, source[3] = {0};
  const int64_t* const strides[3] = {stride[0], stride[1], stride[2]};
  int rank = 0;
  if (n->input_count != (pb__is(n, "CastLike") ? 2 : operands)) return false; // of the second it is the type alone
  for (int k = 0; k < operands; ++k)
    if (!pb__fold_take(l, n->inputs[k], &in[k]) || !pb__broadcast(shape, &rank, in[k].shape, in[k].rank)) return false;
  for (int k = type == OF_Z ? 2 : 1; k < operands; ++k)
    if (in[k].type != in[k - 1].type) return false;
  pb_type to = type == TRUTH ? PB_I1 : type == OF_Z ? in[1].type : type == OF_CAST ? cast_type(l, n) : in[0].type;
  bool casts = type == OF_CAST, is_unsigned = l->g->tensors[n->inputs[0]].is_unsigned;
  if (to == PB_TYPE_COUNT || (in[0].type == PB_I8 && !casts) || !pb__fold_start(l, to, rank, shape, y)) return false;
  if (op == CAST && in[0].type == PB_I8 && to == PB_F32) {
    floats_of_codes(&in[0], is_unsigned, y);
    return true;
  }
  for (int k = 0; k < operands; ++k) spread(&in[k], rank, stride[k]);
  for (int64_t e = 0; e < y->count; ++e) {
    number v[3] = {{0}}, made = {0};
    for (int k = 0; k < operands; ++k) {
      v[k] = pb__fold_number(&in[k], source[k]);
      if (in[k].type == PB_I8 && is_unsigned) v[k].i &= UINT8_MAX;
    }
    if (!compute(op, in, v, to, &made)) return false;
    if (!pb__fold_is_real(&in[0]) && !guard(l, op, v, &made)) return false;
    set_number(y, e, made);
    advance(at, rank, shape, operands, strides, source);
  }
  return true;
}

static const struct {
  const char* name;
  operation op;
  int operands;
  rule type;
} elementwise[] = {{"Add", ADD, 2, OF_X},
                   {"Sub", SUB, 2, OF_X},
                   {"Mul", MUL, 2, OF_X},
                   {"Div", DIV, 2, OF_X},
                   {"Mod", MOD, 2, OF_X},
                   {"Max", MAX, 2, OF_X},
                   {"Min", MIN, 2, OF_X},
                   {"Neg", NEG, 1, OF_X},
                   {"Sqrt", SQRT, 1, OF_X},
                   {"Floor", FLOOR, 1, OF_X},
                   {"Ceil", CEIL, 1, OF_X},
                   {"Reciprocal", RECIPROCAL, 1, OF_X},
                   {"Pow", POW, 2, OF_X},
                   {"And", AND, 2, OF_X},
                   {"Or", OR, 2, OF_X},
                   {"Not", NOT, 1, OF_X},
                   {"Equal", EQUAL, 2, TRUTH},
                   {"Less", LESS, 2, TRUTH},
                   {"Greater", GREATER, 2, TRUTH},
                   {"Where", WHERE, 3, OF_Z},
                   {"LessOrEqual", LESS_OR_EQUAL, 2, TRUTH},
                   {"GreaterOrEqual", GREATER_OR_EQUAL, 2, TRUTH},
                   {"Cast", CAST, 1, OF_CAST},
                   {"CastLike", CAST, 1, OF_CAST},
                   {"Relu", RELU, 1, OF_X}};

static const struct {
  const char* op;
  bool (*fold)(lifter* l, const pb_node* n, const constant* x, constant* y);
} movements[] = {{"Reshape", reshape},     {"Identity", reshape},
                 {"Squeeze", reshape},     {"Unsqueeze", reshape},
                 {"Transpose", transpose}, {"Slice", slice},
                 {"Expand", expand},       {"Gather", gather},
                 {"Concat", concat},       {"GatherElements", look_up_same}};

// ---- without a constant in front ----

static bool shape_of(lifter* l, const pb_node* n, constant* y) {
  int tensor = pb__input(n, 0), value = tensor < 0 ? -1 : l->value_of[tensor];
  const pb_const* c = pb__constant(l, tensor);
  if (value < 0 && !c) return false;
  int64_t rank = c ? c->rank : l->out->values[value].rank, elements = 1;
  const int64_t* shape = c ? c->shape : l->out->values[value].shape;
  int64_t from = pb_node_int(n, "start", 0), to = pb_node_int(n, "end", rank);
  from = from < 0 ? (from < -rank ? 0 : from + rank) : from > rank ? rank : from;
  to = to < 0 ? (to < -rank ? 0 : to + rank) : to > rank ? rank : to;
  int64_t count = to > from ? to - from : 0;
  if (pb__is(n, "Shape")) {
    if (!pb__fold_start(l, PB_I64, 1, &count, y)) return false;
    memcpy(y->data, shape + from, (size_t)count * 8);
    return true;
  }
  for (int64_t r = 0; r < rank; ++r) elements *= shape[r];
  return pb__fold_start(l, PB_I64, 0, NULL, y) && memcpy(y->data, &elements, 8);
}

static bool constant_of_shape(lifter* l, const pb_node* n, constant* y) {
  const pb_attr* value = pb_node_attr(n, "value");
  int64_t shape[PB_GRAPH_RANK];
  int rank;
  pb__read_integers(l, n, NULL, 0, PB_GRAPH_RANK, shape, &rank);
  if (rank < 0 || (value && (value->kind != PB_ATTR_TENSOR || value->tensor < 0 || value->is_unsigned))) return false;
  const pb_const* c = value ? l->consts->items[value->tensor] : NULL;
  pb_type type = c ? c->type : PB_F32;
  if ((c && c->bytes != pb__fold_size(type)) || !pb__fold_start(l, type, rank, shape, y)) return false;
  for (int64_t k = 0; k < y->count; ++k)
    if (c)
      memcpy(y->data + (size_t)k * pb__fold_size(type), c->data, pb__fold_size(type));
    else
      memset(y->data + 4 * k, 0, 4);
  return true;
}

// Several results at once: parts of so many, or equal ones of which the last may be shorter.
static bool split(lifter* l, const pb_node* n) {
  constant x, y;
  int64_t sizes[PB_GRAPH_RANK * 8], axis = pb_node_int(n, "axis", 0), stride[PB_GRAPH_RANK], all = 0, from = 0;
  int count = -1, most = (int)(sizeof sizes / sizeof *sizes);
  if (n->output_count > most || !pb__constant(l, n->inputs[0]) || pb__constant(l, n->inputs[0])->type == PB_I8 ||
      !pb__fold_take(l, n->inputs[0], &x) || axis < -x.rank || axis >= x.rank)
    return false;
  axis += axis < 0 ? x.rank : 0;
  bool said = pb_node_attr(n, "split") || pb__input(n, 1) >= 0;
  if (said) pb__read_integers(l, n, "split", 1, most, sizes, &count);
  if (said && count != n->output_count) return false;
  int64_t each = (x.shape[axis] + n->output_count - 1) / n->output_count;
  for (int k = 0; k < n->output_count; ++k) {
    if (!said) sizes[k] = all + each < x.shape[axis] ? each : x.shape[axis] - all;
    if (sizes[k] < 0 || sizes[k] > x.shape[axis] - all) return false;
    all += sizes[k];
  }
  if (all != x.shape[axis]) return false;
  pb__fold_strides(&x, stride);
  for (int k = 0; k < n->output_count; from += sizes[k++]) {
    int64_t shape[PB_GRAPH_RANK];
    memcpy(shape, x.shape, sizeof shape);
    shape[axis] = sizes[k];
    if (!pb__fold_start(l, x.type, x.rank, shape, &y)) return false;
    walk(&x, from * stride[axis], stride, &y);
    pb__fold_give(l, n->outputs[k], &y);
  }
  return true;
}

static bool fold(lifter* l, const pb_node* n, constant* y) {
  constant x;
  if (pb__is(n, "Shape") || pb__is(n, "Size")) return shape_of(l, n, y);
  if (pb__is(n, "ConstantOfShape")) return constant_of_shape(l, n, y);
  if (pb__is(n, "Range")) return pb__fold_range(l, n, y);
  if (n->input_count < 1 || !pb__constant(l, n->inputs[0])) return false;
  bool eight = l->g->tensors[n->inputs[0]].is_unsigned || pb__constant(l, n->inputs[0])->type == PB_I8;
  if (eight && !is_cast(n)) return false; // codes belong to the operators that they are quantised for
  for (size_t k = 0; k < sizeof elementwise / sizeof *elementwise; ++k)
    if (pb__is(n, elementwise[k].name))
      return each(l, n, elementwise[k].op, elementwise[k].operands, elementwise[k].type, y);
  if (pb__fold_places(l, n, y)) return true;
  for (size_t k = 0; k < sizeof movements / sizeof *movements; ++k)
    if (pb__is(n, movements[k].op)) return pb__fold_take(l, n->inputs[0], &x) && movements[k].fold(l, n, &x, y);
  return pb__fold_reduced(l, n, y);
}

// Whether the node computes of extents of open dims.
static bool folds_sizes(const lifter* l, const pb_node* n) {
  bool sizes = pb__is(n, "Shape") || pb__is(n, "Size");
  for (int k = 0; k < n->input_count; ++k) {
    const pb_const* c = pb__constant(l, n->inputs[k]);
    sizes |= c && c->sized;
  }
  return l->consts->open && sizes;
}

// Few integers are extents, and what is computed of them; all else is made when the program runs.
static bool is_size(const constant* y) { return !pb__fold_is_real(y) && y->count <= MOST_SIZES; }

pb_status pb__fold(lifter* l, const pb_node* n, bool* known) {
  constant y;
  int errors = l->diag ? l->diag->errors : 0;
  size_t guards = l->consts->guard_count;
  l->folds_sizes = folds_sizes(l, n);
  *known = fold(l, n, &y) && (!l->folds_sizes || is_size(&y));
  if (!*known) l->consts->guard_count = guards;
  if (*known) pb__fold_give(l, n->outputs[0], &y);
  if (!*known && pb__is(n, "Split")) *known = n->input_count > 0 && n->inputs[0] >= 0 && split(l, n);
  if (!*known) *known = pb__fold_codes(l, n);
  if (!*known) *known = pb__fold_search(l, n);
  return l->diag && l->diag->errors > errors ? PB_ERR_UNSUPPORTED : PB_OK; // a shape was refused
}
