// One operator of StableHLO after the other: its flat form is made and handed to its row.
#include "core/frontend/onnx/emit.h"

#include "core/base/half.h"

#include <string.h>

enum { MOST_OPERANDS = 64 };

int pb__o_new(pb_onnx* o, pb_type type, int rank, const int64_t* shape) {
  if (o->flat.value_count == o->capacity) {
    int more = o->capacity ? 2 * o->capacity : 64;
    size_t room = (size_t)more + PB_DOOR_SPARE; // behind them, of what operators are written out in
    pb_flat_type* types = pb_alloc_raw(&o->arena, room * sizeof *types);
    int** tables[] = {&o->door.value, &o->door.imaginary, &o->door.node, &o->door.imaginary_node};
    if (o->capacity) memcpy(types, o->types, (size_t)o->capacity * sizeof *types);
    for (int k = 0; k < 4; ++k) {
      int* table = pb_alloc_raw(&o->arena, room * sizeof *table);
      memset(table, 0xff, room * sizeof *table);
      if (o->capacity) memcpy(table, *tables[k], (size_t)o->capacity * sizeof *table);
      *tables[k] = table;
    }
    o->flat.values = o->types = o->door.types = types;
    o->capacity = more;
  }
  pb_flat_type* t = &o->types[o->flat.value_count];
  *t = (pb_flat_type){.type = type, .rank = rank, .text = pb_type_name(type)};
  bool good = rank >= 0 && rank <= PB_FLAT_RANK && (pb__fits(o->l->consts, rank, shape) || pb__is_empty(rank, shape));
  if (!good) {
    if (rank < 0 || rank > PB_FLAT_RANK)
      pb__o_refuse(o, "a tensor of more than 8 dims");
    else
      pb__o_refuse(o, "a tensor of less than no elements, or of more than 2^31 - 1");
    t->rank = rank < 0 ? 0 : rank > PB_FLAT_RANK ? PB_FLAT_RANK : rank;
    for (int r = 0; r < t->rank; ++r) t->shape[r] = 1;
  } else if (rank) {
    memcpy(t->shape, shape, sizeof *shape * (size_t)rank);
  }
  return o->flat.value_count++;
}

static bool has_none(const pb_onnx* o, int v) { return pb__is_empty(pb__o_type(o, v)->rank, pb__o_type(o, v)->shape); }

static bool is_named(const pb__o_form* form, const char* name) {
  return !strcmp(form->name + strlen("stablehlo."), name);
}

// y is filled with a number, which is 0 where it is left out (-1).
static void fill(pb_onnx* o, int y, int number) {
  const pb_flat_type of = *pb__o_type(o, y);
  if (number < 0) number = pb__o_number(o, of.type, 0);
  int filled = pb__o_expand(o, number, of.rank, of.shape);
  if (!pb__o_bad(o)) o->door.value[y] = o->door.value[filled];
}

// Tensors without elements: no operator makes one, and of those that read one some make something of nothing. true: it
// is done.
static bool of_nothing(pb_onnx* o, const pb__o_form* form) {
  bool made = false, read = false;
  for (int k = 0; k < form->result_count; ++k) made |= has_none(o, form->results[k]);
  for (int k = 0; k < form->operand_count; ++k) read |= has_none(o, form->operands[k]);
  if (pb__o_bad(o) || (!made && !read)) return false;
  int y = form->results[0];
  if (made) {
    for (int k = 0; k < form->result_count; ++k) {
      const pb_flat_type of = *pb__o_type(o, form->results[k]);
      o->door.value[form->results[k]] = pb_make_value(&o->door.m, of.type, of.rank, of.shape);
    }
  } else if (is_named(form, "reduce") || is_named(form, "reduce_window") || is_named(form, "pad")) {
    fill(o, y, form->operands[1]);
  } else if (is_named(form, "dot_general") || is_named(form, "convolution")) {
    fill(o, y, -1);
  } else if (is_named(form, "scatter") && !has_none(o, form->operands[0])) {
    o->door.value[y] = o->door.value[form->operands[0]];
  } else if (is_named(form, "concatenate")) {
    int* some = PB_NEW_ARRAY(&o->arena, int, (size_t)form->operand_count);
    pb__o_form less = *form;
    less.operands = some;
    less.operand_count = 0;
    for (int k = 0; k < form->operand_count; ++k)
      if (!has_none(o, form->operands[k])) some[less.operand_count++] = form->operands[k];
    if (less.operand_count == 1)
      o->door.value[y] = o->door.value[some[0]];
    else
      pb__o_emit(o, &less);
  } else {
    pb__o_refuse(o, "an operand without elements");
  }
  return true;
}

void pb__o_emit(pb_onnx* o, const pb__o_form* form) {
  if (of_nothing(o, form)) return;
  pb_flat_op op = {.name = form->name,
                   .operand_count = form->operand_count,
                   .operands = form->operands,
                   .result_count = form->result_count,
                   .results = form->results,
                   .attr_count = form->attr_count,
                   .attrs = form->attrs,
                   .region_count = form->body != NULL,
                   .regions = form->body};
  if (o->status == PB_OK) o->status = pb__door_op(&o->door, &op);
}

static int one(pb_onnx* o, const char* name, int count, const int* operands, const pb_flat_attr* attrs, int attr_count,
               const pb_flat_block* body, int result) {
  pb__o_emit(o, &(pb__o_form){.name = name,
                              .operand_count = count,
                              .operands = operands,
                              .result_count = 1,
                              .results = &result,
                              .attr_count = attr_count,
                              .attrs = attrs,
                              .body = body});
  return result;
}

static pb_flat_attr ints_of(pb_onnx* o, const char* name, int count, const int64_t* items) {
  int64_t* kept = PB_NEW_ARRAY(&o->arena, int64_t, (size_t)(count > 0 ? count : 0) + 1);
  if (count > 0) memcpy(kept, items, sizeof *items * (size_t)count);
  return (pb_flat_attr){.name = name, .kind = PB_FLAT_INTS, .count = count, .ints = kept, .text = ""};
}

static pb_flat_attr int_of(const char* name, int64_t value) {
  return (pb_flat_attr){.name = name, .kind = PB_FLAT_INT, .i = value, .text = ""};
}

static pb_flat_attr text_of(const char* name, const char* text) {
  return (pb_flat_attr){.name = name, .kind = PB_FLAT_TEXT, .text = text};
}

static const char* list_text(pb_onnx* o, const char* name, int count, const int64_t* items) {
  const char* text = pb_printf(&o->arena, "%s = [", name);
  for (int k = 0; k < count; ++k) text = pb_printf(&o->arena, "%s%s%lld", text, k ? ", " : "", (long long)items[k]);
  return pb_printf(&o->arena, "%s]", text);
}

static const char* full_name(pb_onnx* o, const char* scalar) {
  static const char* const of_chlo[] = {"erf",   "next_after", "acos",    "acosh",     "asin",    "asinh",
                                        "atanh", "cosh",       "digamma", "erfc",      "erf_inv", "lgamma",
                                        "sinh",  "tan",        "atan",    "bessel_i1e"};
  for (size_t k = 0; k < sizeof of_chlo / sizeof *of_chlo; ++k)
    if (!strcmp(scalar, of_chlo[k])) return pb_printf(&o->arena, "chlo.%s", scalar);
  return pb_printf(&o->arena, "stablehlo.%s", scalar);
}

// ---- constants ----

int pb__o_constant(pb_onnx* o, pb_type type, int rank, const int64_t* shape, const void* bytes) {
  int y = pb__o_new(o, type, rank, shape);
  pb_flat_attr value = {.name = "value", .kind = PB_FLAT_TENSOR, .text = "", .type = *pb__o_type(o, y), .bytes = bytes};
  return pb__o_bad(o) ? y : one(o, "stablehlo.constant", 0, NULL, &value, 1, NULL, y);
}

int pb__o_number(pb_onnx* o, pb_type type, double value) {
  float single = (float)value;
  uint16_t narrow = pb_narrow_of(type, value);
  if (type == PB_F32) return pb__o_constant(o, type, 0, NULL, &single);
  if (type == PB_F64) return pb__o_constant(o, type, 0, NULL, &value);
  if (pb_type_is_narrow(type)) return pb__o_constant(o, type, 0, NULL, &narrow);
  return pb__o_integer(o, type, (int64_t)value);
}

int pb__o_array(pb_onnx* o, pb_type type, int rank, const int64_t* shape, const double* values) {
  size_t count = 1;
  for (int r = 0; r < rank; ++r) count *= (size_t)shape[r];
  if (type == PB_F32) {
    float* single = PB_NEW_ARRAY(&o->l->consts->arena, float, count + 1);
    for (size_t k = 0; k < count; ++k) single[k] = (float)values[k];
    return pb__o_constant(o, type, rank, shape, single);
  }
  return pb__o_cast(o, pb__o_constant(o, PB_F64, rank, shape, values), type);
}

int pb__o_integer(pb_onnx* o, pb_type type, int64_t value) {
  if (pb_type_is_float(type)) return pb__o_number(o, type, (double)value);
  return pb__o_constant(o, type, 0, NULL, &value); // its low bytes
}

int pb__o_like(pb_onnx* o, int v, double value) { return pb__o_number(o, pb__o_type(o, v)->type, value); }

// ---- of each element ----

// All operands against each other; -1 where they do not fit.
static int broadcast(pb_onnx* o, pb_type type, int count, const int* operands) {
  int64_t shape[PB_GRAPH_RANK] = {0};
  int rank = 0;
  for (int k = 0; k < count; ++k) {
    const pb_flat_type* t = pb__o_type(o, operands[k]);
    bool fits = pb__o_bad(o) ? pb__broadcast(shape, &rank, t->shape, t->rank)
                             : pb__broadcast_open(o->l, shape, &rank, t->shape, t->rank);
    if (fits) continue;
    pb__o_refuse(o, "shapes that do not fit: %s and %s", pb_shape_text(&o->arena, rank, shape),
                 pb_shape_text(&o->arena, t->rank, t->shape));
    return pb__o_new(o, type, 0, NULL);
  }
  return pb__o_new(o, type, rank, shape);
}

static int element(pb_onnx* o, const char* name, pb_type type, int count, const int* operands,
                   const pb_flat_attr* attrs, int attr_count) {
  int y = broadcast(o, type, count, operands);
  return one(o, name, count, operands, attrs, attr_count, NULL, y);
}

static int scalar(pb_onnx* o, const char* name, int count, const int* operands) {
  const pb_scalar_row* row = pb_scalar_find(name);
  pb_type type = pb__o_type(o, operands[0])->type;
  if (!pb_scalar_takes(row, type)) pb__o_refuse(o, "of %s", pb_type_name(type));
  return element(o, full_name(o, name), row->result == PB_TYPE_COUNT ? type : row->result, count, operands, NULL, 0);
}

int pb__o_unary(pb_onnx* o, const char* name, int x) { return scalar(o, name, 1, &x); }

int pb__o_binary(pb_onnx* o, const char* name, int x, int z) { return scalar(o, name, 2, (const int[]){x, z}); }

int pb__o_compare(pb_onnx* o, const char* direction, int x, int z) {
  pb_flat_attr how = text_of("comparison_direction", direction);
  return element(o, "stablehlo.compare", PB_I1, 2, (const int[]){x, z}, &how, 1);
}

int pb__o_select(pb_onnx* o, int truth, int yes, int no) {
  return element(o, "stablehlo.select", pb__o_type(o, yes)->type, 3, (const int[]){truth, yes, no}, NULL, 0);
}

int pb__o_cast(pb_onnx* o, int x, pb_type to) {
  return pb__o_type(o, x)->type == to ? x : element(o, "stablehlo.convert", to, 1, &x, NULL, 0);
}

int pb__o_bits(pb_onnx* o, int x, pb_type to) {
  return pb__o_type(o, x)->type == to ? x : element(o, "stablehlo.bitcast_convert", to, 1, &x, NULL, 0);
}

// ---- movement ----

static bool is_shape(const pb_flat_type* t, int rank, const int64_t* shape) {
  return t->rank == rank && (!rank || !memcmp(t->shape, shape, sizeof *shape * (size_t)rank));
}

bool pb__o_same_shape(const pb_onnx* o, int a, int b) {
  return is_shape(pb__o_type(o, a), pb__o_type(o, b)->rank, pb__o_type(o, b)->shape);
}

int64_t pb__o_elements(const pb_onnx* o, int v) {
  int64_t all = 1;
  for (int r = 0; r < pb__o_type(o, v)->rank; ++r) all *= pb__o_type(o, v)->shape[r];
  return all;
}

int pb__o_reshape(pb_onnx* o, int x, int rank, const int64_t* shape) {
  if (is_shape(pb__o_type(o, x), rank, shape)) return x;
  return one(o, "stablehlo.reshape", 1, &x, NULL, 0, NULL, pb__o_new(o, pb__o_type(o, x)->type, rank, shape));
}

int pb__o_broadcast(pb_onnx* o, int x, int rank, const int64_t* shape, const int64_t* dims) {
  pb_flat_attr to = ints_of(o, "broadcast_dimensions", pb__o_type(o, x)->rank, dims);
  int y = pb__o_new(o, pb__o_type(o, x)->type, rank, shape);
  return one(o, "stablehlo.broadcast_in_dim", 1, &x, &to, 1, NULL, y);
}

int pb__o_expand(pb_onnx* o, int x, int rank, const int64_t* shape) {
  int64_t dims[PB_FLAT_RANK] = {0};
  if (is_shape(pb__o_type(o, x), rank, shape)) return x;
  for (int r = 0; r < pb__o_type(o, x)->rank; ++r) dims[r] = rank - pb__o_type(o, x)->rank + r;
  return pb__o_broadcast(o, x, rank, shape, dims);
}

int pb__o_transpose(pb_onnx* o, int x, const int64_t* order) {
  const pb_flat_type in = *pb__o_type(o, x);
  int64_t shape[PB_FLAT_RANK];
  bool same = true;
  for (int r = 0; r < in.rank; ++r) {
    shape[r] = in.shape[order[r]];
    same &= order[r] == r;
  }
  pb_flat_attr by = ints_of(o, "permutation", in.rank, order);
  return same ? x : one(o, "stablehlo.transpose", 1, &x, &by, 1, NULL, pb__o_new(o, in.type, in.rank, shape));
}

int pb__o_moved(pb_onnx* o, int x, int from, int to) {
  int64_t order[PB_FLAT_RANK];
  int rank = pb__o_type(o, x)->rank;
  for (int r = 0, s = 0; r < rank; ++r) {
    if (s == from) ++s;
    order[r] = r == to ? from : s++;
  }
  return pb__o_transpose(o, x, order);
}

int pb__o_slice(pb_onnx* o, int x, const int64_t* from, const int64_t* to, const int64_t* step) {
  const pb_flat_type in = *pb__o_type(o, x);
  int64_t shape[PB_FLAT_RANK], steps[PB_FLAT_RANK];
  bool whole = true;
  for (int r = 0; r < in.rank; ++r) {
    steps[r] = step ? step[r] : 1;
    shape[r] = to[r] > from[r] ? (to[r] - from[r] + steps[r] - 1) / steps[r] : 0;
    whole &= shape[r] == in.shape[r] && steps[r] == 1;
  }
  if (whole) return x;
  pb_flat_attr attrs[] = {ints_of(o, "start_indices", in.rank, from), ints_of(o, "limit_indices", in.rank, to),
                          ints_of(o, "strides", in.rank, steps)};
  return one(o, "stablehlo.slice", 1, &x, attrs, 3, NULL, pb__o_new(o, in.type, in.rank, shape));
}

int pb__o_part(pb_onnx* o, int x, int axis, int64_t from, int64_t to) {
  int64_t first[PB_FLAT_RANK] = {0}, last[PB_FLAT_RANK];
  memcpy(last, pb__o_type(o, x)->shape, sizeof last);
  first[axis] = from;
  last[axis] = to;
  return pb__o_slice(o, x, first, last, NULL);
}

int pb__o_part_at(pb_onnx* o, int x, int axis, int at, int64_t rows) {
  const pb_flat_type in = *pb__o_type(o, x);
  int operands[1 + PB_FLAT_RANK] = {x}, zero = pb__o_integer(o, PB_I64, 0);
  int64_t size[PB_FLAT_RANK];
  for (int r = 0; r < in.rank; ++r) {
    operands[1 + r] = r == axis ? at : zero;
    size[r] = r == axis ? rows : in.shape[r];
  }
  pb_flat_attr sizes = ints_of(o, "slice_sizes", in.rank, size);
  return one(o, "stablehlo.dynamic_slice", 1 + in.rank, operands, &sizes, 1, NULL,
             pb__o_new(o, in.type, in.rank, size));
}

void pb__o_fourier(pb_onnx* o, const char* how, int64_t length, int x, int* re, int* im) {
  pb_flat_type type = *pb__o_type(o, x);
  int last = type.rank - 1, made = *im;
  if (made >= 0) {
    made = pb__o_new(o, type.type, type.rank, type.shape);
    o->types[made].is_complex = true;
    x = one(o, "stablehlo.complex", 2, (const int[]){x, *im}, NULL, 0, NULL, made);
  }
  bool to_half = !strcmp(how, "RFFT"), from_half = !strcmp(how, "IRFFT");
  type.shape[last] = to_half ? length / 2 + 1 : length;
  const pb_flat_attr attrs[] = {{.name = "fft_type", .kind = PB_FLAT_TEXT, .text = how},
                                ints_of(o, "fft_length", 1, &length)};
  made = pb__o_new(o, type.type, type.rank, type.shape);
  o->types[made].is_complex = !from_half;
  x = one(o, "stablehlo.fft", 1, &x, attrs, 2, NULL, made);
  *re = x;
  *im = -1;
  if (from_half) return;
  *re = one(o, "stablehlo.real", 1, &x, NULL, 0, NULL, pb__o_new(o, type.type, type.rank, type.shape));
  *im = one(o, "stablehlo.imag", 1, &x, NULL, 0, NULL, pb__o_new(o, type.type, type.rank, type.shape));
}

int pb__o_reverse(pb_onnx* o, int x, const bool* turned) {
  const pb_flat_type in = *pb__o_type(o, x);
  int64_t dims[PB_FLAT_RANK] = {0};
  int count = 0;
  for (int r = 0; r < in.rank; ++r)
    if (turned[r] && in.shape[r] > 1) dims[count++] = r;
  pb_flat_attr along = ints_of(o, "dimensions", count, dims);
  return count ? one(o, "stablehlo.reverse", 1, &x, &along, 1, NULL, pb__o_new(o, in.type, in.rank, in.shape)) : x;
}

int pb__o_join(pb_onnx* o, int count, const int* parts, int axis) {
  const pb_flat_type first = *pb__o_type(o, parts[0]);
  int64_t shape[PB_FLAT_RANK];
  if (count == 1) return parts[0];
  memcpy(shape, first.shape, sizeof shape);
  shape[axis] = 0;
  for (int k = 0; k < count; ++k) {
    const pb_flat_type* t = pb__o_type(o, parts[k]);
    bool fits = t->rank == first.rank && t->type == first.type;
    for (int r = 0; fits && r < t->rank; ++r) fits = r == axis || pb__o_meet(o, t->shape[r], first.shape[r]);
    if (!fits)
      pb__o_refuse(o, "parts that do not fit: %s and %s", pb_shape_text(&o->arena, first.rank, first.shape),
                   pb_shape_text(&o->arena, t->rank, t->shape));
    shape[axis] += t->shape[axis];
  }
  pb_flat_attr along = int_of("dimension", axis);
  int y = pb__o_new(o, first.type, first.rank, shape);
  if (count <= MOST_OPERANDS) return one(o, "stablehlo.concatenate", count, parts, &along, 1, NULL, y);
  int half[2] = {pb__o_join(o, count / 2, parts, axis), pb__o_join(o, count - count / 2, parts + count / 2, axis)};
  return one(o, "stablehlo.concatenate", 2, half, &along, 1, NULL, y);
}

int pb__o_pad(pb_onnx* o, int x, int with, const int64_t* low, const int64_t* high, const int64_t* gap) {
  const pb_flat_type in = *pb__o_type(o, x);
  int64_t shape[PB_FLAT_RANK], gaps[PB_FLAT_RANK];
  bool same = true;
  for (int r = 0; r < in.rank; ++r) {
    gaps[r] = gap ? gap[r] : 0;
    shape[r] = in.shape[r] + (in.shape[r] - 1) * gaps[r] + low[r] + high[r];
    same &= !low[r] && !high[r] && !gaps[r];
  }
  if (same && !o->door.borders) return x;
  pb_flat_attr attrs[] = {ints_of(o, "edge_padding_low", in.rank, low), ints_of(o, "edge_padding_high", in.rank, high),
                          ints_of(o, "interior_padding", in.rank, gaps)};
  int y = pb__o_new(o, in.type, in.rank, shape);
  return one(o, "stablehlo.pad", 2, (const int[]){x, with}, attrs, 3, NULL, y);
}

int pb__o_pad_open(pb_onnx* o, int x, int with, const int64_t* low, const int64_t* high) {
  o->door.borders = o->l->consts->open;
  int y = pb__o_pad(o, x, with, low, high, NULL);
  o->door.borders = false;
  return y;
}

int pb__o_iota(pb_onnx* o, pb_type type, int rank, const int64_t* shape, int axis) {
  pb_flat_attr along = int_of("iota_dimension", axis);
  return one(o, "stablehlo.iota", 0, NULL, &along, 1, NULL, pb__o_new(o, type, rank, shape));
}

// ---- what combines many ----

static pb_flat_block* body_of(pb_onnx* o, const char* scalar, pb_type type) {
  pb_flat_block* body = PB_NEW(&o->arena, pb_flat_block);
  int* values = PB_NEW_ARRAY(&o->arena, int, 3);
  pb_flat_op* ops = PB_NEW_ARRAY(&o->arena, pb_flat_op, 2);
  for (int k = 0; k < 3; ++k) values[k] = pb__o_new(o, type, 0, NULL);
  bool second = !strcmp(scalar, "second"); // what comes replaces what is there
  int made = second ? 0 : 1;
  ops[0] = (pb_flat_op){
      .name = full_name(o, scalar), .operand_count = 2, .operands = values, .result_count = 1, .results = values + 2};
  ops[made] =
      (pb_flat_op){.name = "stablehlo.return", .operand_count = 1, .operands = second ? values + 1 : values + 2};
  *body = (pb_flat_block){.argument_count = 2, .arguments = values, .op_count = made + 1, .ops = ops};
  return body;
}

// What the reduction begins with: it changes nothing.
static int neutral(pb_onnx* o, const char* scalar, pb_type type) {
  bool most = !strcmp(scalar, "maximum"), least = !strcmp(scalar, "minimum");
  if (!strcmp(scalar, "multiply")) return pb__o_number(o, type, 1);
  if (!strcmp(scalar, "and")) return pb__o_integer(o, type, -1 & (type == PB_I1 ? 1 : -1));
  if (!most && !least) return pb__o_number(o, type, 0);
  if (pb_type_is_float(type)) return pb__o_number(o, type, most ? -__builtin_inf() : __builtin_inf());
  if (type == PB_I1) return pb__o_integer(o, type, least);
  int bits = pb_type_bits(type);
  if (pb_type_is_unsigned(type)) return pb__o_integer(o, type, most ? 0 : -1);
  return pb__o_integer(o, type, most ? (int64_t)(UINT64_MAX << (bits - 1)) : (int64_t)(UINT64_MAX >> (65 - bits)));
}

int pb__o_reduce(pb_onnx* o, int x, const char* name, const bool* gone) {
  const pb_flat_type in = *pb__o_type(o, x);
  int64_t dims[PB_FLAT_RANK] = {0}, shape[PB_FLAT_RANK];
  int count = 0, rank = 0;
  for (int r = 0; r < in.rank; ++r)
    if (gone[r])
      dims[count++] = r;
    else
      shape[rank++] = in.shape[r];
  if (!count) return x;
  pb_flat_attr over = ints_of(o, "dimensions", count, dims);
  const pb_flat_block* body = body_of(o, name, in.type);
  int with = neutral(o, name, in.type), y = pb__o_new(o, in.type, rank, shape);
  return one(o, "stablehlo.reduce", 2, (const int[]){x, with}, &over, 1, body, y);
}

int pb__o_reduce_kept(pb_onnx* o, int x, const char* name, const bool* gone) {
  const pb_flat_type in = *pb__o_type(o, x);
  int64_t shape[PB_FLAT_RANK];
  for (int r = 0; r < in.rank; ++r) shape[r] = gone[r] ? 1 : in.shape[r];
  return pb__o_reshape(o, pb__o_reduce(o, x, name, gone), in.rank, shape);
}

int pb__o_windows(pb_onnx* o, int x, int with, const char* name, const pb_onnx_window* w) {
  const pb_flat_type in = *pb__o_type(o, x);
  int64_t shape[PB_FLAT_RANK], pads[2 * PB_FLAT_RANK];
  for (int r = 0; r < in.rank; ++r) {
    int64_t room = in.shape[r] + w->low[r] + w->high[r] - (w->size[r] - 1) * w->dilation[r] - 1;
    shape[r] = room < 0 ? 0 : room / w->stride[r] + 1;
    pads[2 * r] = w->low[r];
    pads[2 * r + 1] = w->high[r];
  }
  pb_flat_attr attrs[] = {
      ints_of(o, "window_dimensions", in.rank, w->size), ints_of(o, "window_strides", in.rank, w->stride),
      ints_of(o, "window_dilations", in.rank, w->dilation), ints_of(o, "padding", 2 * in.rank, pads)};
  const pb_flat_block* body = body_of(o, name, in.type);
  if (with < 0) with = neutral(o, name, in.type);
  int y = pb__o_new(o, in.type, in.rank, shape);
  o->door.borders = w->borders && o->l->consts->open;
  one(o, "stablehlo.reduce_window", 2, (const int[]){x, with}, attrs, 4, body, y);
  o->door.borders = false;
  return y;
}

// ---- products ----

int pb__o_dot(pb_onnx* o, int x, int z, const pb_onnx_pairs* p, pb_type type) {
  const pb_flat_type a = *pb__o_type(o, x), b = *pb__o_type(o, z);
  int64_t shape[2 * PB_FLAT_RANK];
  int rank = 0;
  bool used[2][PB_FLAT_RANK] = {{false}};
  for (int k = 0; k < p->batches; ++k) {
    shape[rank++] = a.shape[p->batch[0][k]];
    for (int side = 0; side < 2; ++side) used[side][p->batch[side][k]] = true;
  }
  for (int k = 0; k < p->sums; ++k)
    for (int side = 0; side < 2; ++side) used[side][p->sum[side][k]] = true;
  for (int side = 0; side < 2; ++side)
    for (int r = 0; r < (side ? b.rank : a.rank); ++r)
      if (!used[side][r]) shape[rank++] = side ? b.shape[r] : a.shape[r];
  const char* text = list_text(o, "lhs_batching_dimensions", p->batches, p->batch[0]);
  text = pb_printf(&o->arena, "%s, %s", text, list_text(o, "rhs_batching_dimensions", p->batches, p->batch[1]));
  text = pb_printf(&o->arena, "%s, %s", text, list_text(o, "lhs_contracting_dimensions", p->sums, p->sum[0]));
  text = pb_printf(&o->arena, "%s, %s", text, list_text(o, "rhs_contracting_dimensions", p->sums, p->sum[1]));
  pb_flat_attr how = text_of("dot_dimension_numbers", text);
  int y = pb__o_new(o, type, rank, shape);
  return one(o, "stablehlo.dot_general", 2, (const int[]){x, z}, &how, 1, NULL, y);
}

int pb__o_conv(pb_onnx* o, int x, int w, const pb_onnx_conv* c, pb_type type) {
  const pb_flat_type in = *pb__o_type(o, x), kernel = *pb__o_type(o, w);
  int spaces = in.rank - 2;
  int64_t shape[PB_FLAT_RANK] = {in.shape[0], kernel.shape[0]}, pads[2 * PB_FLAT_RANK], ones[PB_FLAT_RANK],
          turned[PB_FLAT_RANK];
  const char* dims = "";
  for (int s = 0; s < spaces; ++s) {
    int64_t all = (in.shape[2 + s] - 1) * c->gap[s] + 1 + c->low[s] + c->high[s];
    int64_t room = all - (kernel.shape[2 + s] - 1) * c->dilation[s] - 1;
    shape[2 + s] = room < 0 ? 0 : room / c->stride[s] + 1;
    pads[2 * s] = c->low[s];
    pads[2 * s + 1] = c->high[s];
    ones[s] = c->gap[s];
    turned[s] = c->reversed;
    dims = pb_printf(&o->arena, "%s, %d", dims, s);
  }
  const char* text = pb_printf(&o->arena, "[b, f%s]x[o, i%s]->[b, f%s]", dims, dims, dims);
  pb_flat_attr attrs[] = {text_of("dimension_numbers", text),
                          ints_of(o, "window_strides", spaces, c->stride),
                          ints_of(o, "padding", 2 * spaces, pads),
                          ints_of(o, "lhs_dilation", spaces, ones),
                          ints_of(o, "rhs_dilation", spaces, c->dilation),
                          ints_of(o, "window_reversal", spaces, turned),
                          int_of("feature_group_count", c->groups),
                          int_of("batch_group_count", 1)};
  int y = pb__o_new(o, type, in.rank, shape);
  o->door.borders = c->borders && o->l->consts->open;
  one(o, "stablehlo.convolution", 2, (const int[]){x, w}, attrs, 8, NULL, y);
  o->door.borders = false;
  return y;
}

// ---- places that come at run time ----

static pb_flat_attr numbers_of(pb_onnx* o, const pb_onnx_places* p, bool scatter, int vector) {
  const char* text = list_text(o, scatter ? "update_window_dims" : "offset_dims", p->windows, p->window);
  text = pb_printf(&o->arena, "%s, %s", text,
                   list_text(o, scatter ? "inserted_window_dims" : "collapsed_slice_dims", p->dropped, p->drop));
  text = pb_printf(&o->arena, "%s, %s", text,
                   list_text(o, scatter ? "scatter_dims_to_operand_dims" : "start_index_map", p->maps, p->map));
  text = pb_printf(&o->arena, "%s, index_vector_dim = %d", text, vector);
  return text_of(scatter ? "scatter_dimension_numbers" : "dimension_numbers", text);
}

int pb__o_gather(pb_onnx* o, int x, int places, const pb_onnx_places* p, int rank, const int64_t* shape) {
  const pb_flat_type in = *pb__o_type(o, x);
  pb_flat_attr attrs[] = {numbers_of(o, p, false, pb__o_type(o, places)->rank - 1),
                          ints_of(o, "slice_sizes", in.rank, p->size)};
  int y = pb__o_new(o, in.type, rank, shape);
  return one(o, "stablehlo.gather", 2, (const int[]){x, places}, attrs, 2, NULL, y);
}

int pb__o_pixels(pb_onnx* o, int x, const int* places, const int64_t* shape) {
  const pb_onnx_places p = {.windows = 1,
                            .window = {1},
                            .dropped = 3,
                            .drop = {0, 2, 3},
                            .maps = 3,
                            .map = {0, 2, 3},
                            .size = {1, shape[1], 1, 1}};
  return pb__o_gather(o, x, pb__o_join(o, 3, places, 3), &p, 4, shape);
}

bool pb__o_pixels_are_rows(const pb_onnx* o, int64_t channels) {
  enum { LEAST_CHANNELS = 16 }; // of which lanes take all at once
  return o->l->g->keeps_loops && !o->l->consts->open && channels >= LEAST_CHANNELS;
}

int pb__o_as_pixels(pb_onnx* o, int x) {
  const pb_flat_type in = *pb__o_type(o, x);
  const int64_t last[4] = {0, 2, 3, 1}, rows[2] = {in.shape[0] * in.shape[2] * in.shape[3], in.shape[1]};
  return pb__o_reshape(o, pb__o_transpose(o, x, last), 2, rows);
}

int pb__o_pixels_by_rows(pb_onnx* o, int x, const int* places, int64_t height, int64_t width, const int64_t* shape) {
  const pb_onnx_places p = {.windows = 1, .window = {3}, .dropped = 1, .maps = 1, .size = {1, shape[3]}};
  int rows = pb__o_integer(o, PB_I64, height), columns = pb__o_integer(o, PB_I64, width);
  int row = pb__o_add(o, pb__o_mul(o, places[0], rows), places[1]);
  row = pb__o_mul(o, row, columns);
  return pb__o_gather(o, x, pb__o_add(o, row, places[2]), &p, 4, shape);
}

int pb__o_scatter(pb_onnx* o, int x, int places, int updates, const char* name, const pb_onnx_places* p) {
  const pb_flat_type in = *pb__o_type(o, x);
  pb_flat_attr how = numbers_of(o, p, true, pb__o_type(o, places)->rank - 1);
  const pb_flat_block* body = body_of(o, name, in.type);
  int y = pb__o_new(o, in.type, in.rank, in.shape);
  return one(o, "stablehlo.scatter", 3, (const int[]){x, places, updates}, &how, 1, body, y);
}

int pb__o_top(pb_onnx* o, int x, int64_t count, int* where) {
  const pb_flat_type in = *pb__o_type(o, x);
  int64_t shape[PB_FLAT_RANK];
  memcpy(shape, in.shape, sizeof shape);
  if (in.rank) shape[in.rank - 1] = count;
  pb_flat_attr k = int_of("k", count);
  int results[2] = {pb__o_new(o, in.type, in.rank, shape), pb__o_new(o, PB_I32, in.rank, shape)};
  pb__o_emit(o, &(pb__o_form){.name = "chlo.top_k",
                              .operand_count = 1,
                              .operands = &x,
                              .result_count = 2,
                              .results = results,
                              .attr_count = 1,
                              .attrs = &k});
  *where = results[1];
  return results[0];
}

int pb__o_state_like(pb_onnx* o, int value) {
  const pb_flat_type type = *pb__o_type(o, value);
  int made = pb__o_new(o, type.type, type.rank, type.shape);
  if (!pb__o_bad(o)) o->door.value[made] = pb_control_variable(&o->door.m, o->door.value[value]);
  return made;
}

void pb__o_set_states(pb_onnx* o, int count, const int* states, const int* values) {
  int to[PB_O_STATES], from[PB_O_STATES];
  for (int k = 0; k < count && !pb__o_bad(o); ++k) {
    to[k] = o->door.value[states[k]];
    from[k] = o->door.value[values[k]];
  }
  o->door.m.type = o->n->op;
  if (!pb__o_bad(o)) pb_control_assign(&o->door.m, count, to, from);
}

void pb__o_mark_loop(pb_onnx* o, pb_s1_kind kind, int by) {
  o->door.m.type = o->n->op;
  if (!pb__o_bad(o)) pb_control_mark(&o->door.m, kind, by < 0 ? -1 : o->door.value[by]);
}
