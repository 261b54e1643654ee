// Lifts what is computed element by element on any types: comparisons, truths, choices, conversions, integers.
#include "core/s1/lift/lift.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DEQUANTISING = 32 }; // each is made within the one that reads it; graphs may have circles

// A constant among the values. Truths are bytes there, like those of the program.
static int constant_value(lifter* l, int tensor) {
  const pb_const* c = pb__signed_constant(l, tensor);
  int id = c->id;
  int64_t count = pb__elements(c->rank, c->shape);
  if (count < 0 || count > PB_MAX_ELEMENTS) l->impossible = "a constant without elements, or of more than 2^31 - 1";
  pb_const from = *c;
  int v = pb__add_value(l, l->g->tensors[tensor].name, from.type, from.rank, from.shape);
  if (pb_type_stored(from.type) != from.type && from.type != PB_I1)
    id = pb_consts_add(l->consts, from.name, pb_type_stored(from.type), from.rank, from.shape, from.data);
  if (from.type == PB_I1) {
    char* truths = pb_alloc(&l->consts->arena, from.bytes + 1);
    for (uint64_t k = 0; k < from.bytes; ++k) truths[k] = ((const char*)from.data)[k] != 0;
    id = pb_consts_add(l->consts, from.name, PB_I8, from.rank, from.shape, truths);
  }
  l->out->values[v].const_id = id;
  l->unsigned_codes[tensor] = from.type == PB_I8 && l->g->tensors[tensor].is_unsigned;
  l->value_of[tensor] = v;
  return v;
}

enum { MOST_NUMBERS = 1 << 20 }; // four bytes each, where the codes are one

// Constant codes that somebody reads as floats are floats once and for all, unless they are many.
static bool constant_numbers(lifter* l, const pb_node* n) {
  const pb_const* codes = pb__constant(l, n->inputs[0]);
  int rank;
  int64_t count = codes ? pb__elements(codes->rank, codes->shape) : -1;
  const float* numbers = count < 1 || count > MOST_NUMBERS ? NULL : pb__numbers(l, n->outputs[0], count, &rank);
  if (!numbers) return false;
  int v = pb__add_value(l, l->g->tensors[n->outputs[0]].name, PB_F32, codes->rank, codes->shape);
  l->out->values[v].const_id = pb_consts_add(l->consts, codes->name, PB_F32, codes->rank, codes->shape, numbers);
  l->value_of[n->outputs[0]] = v;
  return true;
}

// Codes of 8 bits and one scale are a kind of their own.
static pb_status dequantise(lifter* l, const pb_node* n) {
  bool known, quiet = l->quiet;
  if (l->dequantising == DEQUANTISING)
    return pb__refuse(l, n, NULL,
                      "its operands hang on its own result, or on too many DequantizeLinear nodes in a row");
  if (constant_numbers(l, n)) return PB_OK;
  l->quiet = true;
  pb_status status = pb__constant(l, n->inputs[0]) ? PB_ERR_UNSUPPORTED : pb__lift_dequantise(l, n);
  l->quiet = quiet;
  ++l->dequantising;
  if (status != PB_OK) status = l->rows->make(l, n, &known);
  --l->dequantising;
  return status;
}

pb_status pb__any_value(lifter* l, const pb_node* n, int tensor, int* value) {
  const pb_node* maker = pb__producer(l, tensor);
  bool dequantised = maker && pb__is(maker, "DequantizeLinear");
  if (tensor >= 0 && l->value_of[tensor] < 0 && dequantised) PB_TRY(dequantise(l, maker));
  *value = tensor < 0 ? -1 : l->value_of[tensor];
  if (*value >= 0) return PB_OK;
  if (pb__constant(l, tensor)) {
    *value = constant_value(l, tensor);
    return PB_OK;
  }
  return pb__refuse(l, n, NULL, "an input that no supported operator makes");
}

pb_type pb__type_of(const lifter* l, int tensor) {
  const pb_const* c = pb__constant(l, tensor);
  if (c) return c->type;
  return tensor >= 0 && l->value_of[tensor] >= 0 ? l->out->values[l->value_of[tensor]].type : PB_TYPE_COUNT;
}

bool pb__broadcast(int64_t* shape, int* rank, const int64_t* other, int other_rank) {
  int64_t both[PB_GRAPH_RANK];
  int all = *rank > other_rank ? *rank : other_rank;
  for (int r = 0; r < all; ++r) {
    int a = r - (all - *rank), b = r - (all - other_rank);
    int64_t mine = a < 0 ? 1 : shape[a], its = b < 0 ? 1 : other[b];
    if (mine != its && mine != 1 && its != 1) return false;
    both[r] = mine == 1 ? its : mine;
  }
  memcpy(shape, both, sizeof *shape * (size_t)all);
  *rank = all;
  return true;
}

// Of extents that must be one: symbols are one, dims are multiples of what makes them one, or the only number that
// fits.
bool pb__meet(lifter* l, int64_t a, int64_t b) {
  pb_symbols* s = l->consts->symbols;
  if (!l->consts->open || !s || s->again) return a == b;
  if (a != b && pb_symbols_unify(s, a, b)) return false;
  if (!pb_symbols_hold(s, a == b, (const int64_t[]){a, b}, 2) && !s->again) (void)pb_symbols_settle(s, a, b);
  return a == b;
}

bool pb__broadcast_open(lifter* l, int64_t* shape, int* rank, const int64_t* other, int other_rank) {
  bool fits = true;
  for (int r = 1; fits && r <= *rank && r <= other_rank; ++r) {
    int64_t a = shape[*rank - r], b = other[other_rank - r];
    fits = a == 1 || b == 1 || pb__meet(l, a, b);
  }
  return fits && pb__broadcast(shape, rank, other, other_rank);
}

// The operands as values, and the shape that they have together.
static pb_status take(lifter* l, const pb_node* n, int count, pb_s1_op* op, int64_t* shape, int* rank) {
  int* to[] = {&op->x, &op->z, &op->third};
  *rank = 0;
  for (int k = 0; k < count; ++k) {
    PB_TRY(pb__own_any(l, n, pb__input(n, k), to[k]));
    const pb_s1_value* v = &l->out->values[*to[k]];
    if (!pb__broadcast_open(l, shape, rank, v->shape, v->rank))
      return pb__refuse_shapes(l, n, "shapes", *rank, shape, v->rank, v->shape);
  }
  return PB_OK;
}

static pb_status give(lifter* l, const pb_node* n, const pb_s1_op* op, pb_type type, const int64_t* shape, int rank) {
  pb_s1_op made = *op;
  made.y = pb__add_value(l, l->g->tensors[n->outputs[0]].name, type, rank, shape);
  l->value_of[n->outputs[0]] = made.y;
  l->unsigned_codes[n->outputs[0]] = op->unsigned_y;
  pb__push_op(l, made);
  return PB_OK;
}

static bool same_types(const lifter* l, const pb_node* n, int from, int to) {
  for (int k = from + 1; k < to; ++k)
    if (pb__type_of(l, pb__input(n, k)) != pb__type_of(l, pb__input(n, from)) ||
        l->unsigned_codes[n->inputs[k]] != l->unsigned_codes[n->inputs[from]])
      return false;
  return true;
}

static pb_status compare(lifter* l, const pb_node* n, pb_s1_each each, bool turned) {
  pb_s1_op op = pb_s1_new_op(n->name, n->op, PB_S1_EACH);
  int64_t shape[PB_GRAPH_RANK];
  int rank;
  if (n->input_count != 2) return pb__refuse(l, n, "two operands", "another number of operands than two");
  PB_TRY(take(l, n, 2, &op, shape, &rank));
  if (!same_types(l, n, 0, 2)) return pb__refuse(l, n, "Cast", "operands of several types");
  if (turned) {
    int x = op.x;
    op.x = op.z;
    op.z = x;
  }
  op.each = each;
  return give(l, n, &op, PB_I1, shape, rank);
}

static pb_status truth(lifter* l, const pb_node* n, pb_s1_each each, int count) {
  pb_s1_op op = pb_s1_new_op(n->name, n->op, PB_S1_EACH);
  int64_t shape[PB_GRAPH_RANK];
  int rank;
  if (n->input_count != count) return pb__refuse(l, n, NULL, "another number of operands");
  PB_TRY(take(l, n, count, &op, shape, &rank));
  for (int k = 0; k < count && each != PB_S1_IS_NAN; ++k)
    if (pb__type_of(l, n->inputs[k]) != PB_I1) return pb__refuse(l, n, "Cast", "operands that are no truths");
  if (each == PB_S1_IS_NAN && pb__type_of(l, n->inputs[0]) != PB_F32)
    return pb__refuse(l, n, NULL, "an input that is not of type f32");
  op.each = each;
  return give(l, n, &op, PB_I1, shape, rank);
}

static pb_status where(lifter* l, const pb_node* n) {
  pb_s1_op op = pb_s1_new_op(n->name, n->op, PB_S1_EACH);
  int64_t shape[PB_GRAPH_RANK];
  int rank;
  if (n->input_count != 3) return pb__refuse(l, n, NULL, "another number of operands than three");
  PB_TRY(take(l, n, 3, &op, shape, &rank));
  if (l->out->values[op.x].type != PB_I1 || !same_types(l, n, 1, 3))
    return pb__refuse(l, n, "Cast", "a condition that is no truth, or results of several types");
  op.each = PB_S1_WHERE;
  op.unsigned_y = l->unsigned_codes[n->inputs[1]];
  return give(l, n, &op, l->out->values[op.z].type, shape, rank);
}

static pb_status cast(lifter* l, const pb_node* n) {
  pb_s1_op op = pb_s1_new_op(n->name, n->op, PB_S1_EACH);
  int64_t shape[PB_GRAPH_RANK], to = pb_node_int(n, "to", 0);
  int rank;
  PB_TRY(take(l, n, 1, &op, shape, &rank));
  op.each = PB_S1_CAST;
  op.unsigned_x = l->unsigned_codes[n->inputs[0]];
  pb_type type = pb_onnx_type(to, &op.unsigned_y);
  if (type == PB_F32 || type == PB_I8 || type == PB_I32 || type == PB_I64 || type == PB_I1)
    return give(l, n, &op, type, shape, rank);
  return pb__refuse(l, n, "f32, i64, i32, int8, uint8 or bool",
                    pb_printf(&l->g->arena, "a conversion to ONNX type %lld, which is not read yet", (long long)to));
}

static pb_status expand(lifter* l, const pb_node* n) {
  pb_s1_op op = pb_s1_new_op(n->name, n->op, PB_S1_EACH);
  int64_t shape[PB_GRAPH_RANK], said[PB_GRAPH_RANK];
  int rank, count;
  PB_TRY(take(l, n, 1, &op, shape, &rank));
  pb__read_integers(l, n, NULL, 1, PB_GRAPH_RANK, said, &count);
  if (count < 0) return pb__refuse(l, n, NULL, "a shape that is not constant");
  if (!pb__broadcast(shape, &rank, said, count)) return pb__refuse_shapes(l, n, "shapes", rank, shape, count, said);
  op.each = PB_S1_EXPAND;
  op.unsigned_y = l->unsigned_codes[n->inputs[0]];
  return give(l, n, &op, l->out->values[op.x].type, shape, rank);
}

// Trilu: a choice between x and 0 by a constant triangle.
static pb_status trilu(lifter* l, const pb_node* n) {
  pb_s1_op op = pb_s1_new_op(n->name, n->op, PB_S1_EACH);
  int64_t shape[PB_GRAPH_RANK], k = 0;
  int rank, count;
  PB_TRY(take(l, n, 1, &op, shape, &rank));
  pb__read_integers(l, n, NULL, 1, 1, &k, &count);
  if (count < 0) return pb__refuse(l, n, NULL, "a diagonal that is not constant");
  if (rank < 2) return pb__refuse(l, n, NULL, "an input that is no matrix");
  const int64_t *sides = shape + rank - 2, most = 1 << 26;
  if (pb_consts_computes(l->consts)) return pb__no_form(l);
  if (sides[0] > most / sides[1]) return pb__refuse(l, n, NULL, "a matrix of more than 2^26 elements");
  bool upper = pb_node_int(n, "upper", 1) != 0;
  char* triangle = pb_alloc(&l->consts->arena, (size_t)(sides[0] * sides[1]) + 1);
  for (int64_t i = 0; i < sides[0]; ++i)
    for (int64_t j = 0; j < sides[1]; ++j)
      triangle[i * sides[1] + j] = upper ? j - i >= k : j - i <= k; // differences of extents: no overflow
  pb_type type = l->out->values[op.x].type;
  op.z = op.x;
  op.x = pb__add_value(l, n->name, PB_I1, 2, sides);
  l->out->values[op.x].const_id = pb_consts_add(l->consts, n->name, PB_I8, 2, sides, triangle);
  op.third = pb__add_value(l, n->name, type, 0, NULL);
  char* zero = pb_alloc(&l->consts->arena, 8);
  memset(zero, 0, 8);
  op.unsigned_y = l->unsigned_codes[n->inputs[0]];
  if (op.unsigned_y) *zero = INT8_MIN;
  l->out->values[op.third].const_id = pb_consts_add(l->consts, n->name, type == PB_I1 ? PB_I8 : type, 0, NULL, zero);
  op.each = PB_S1_WHERE;
  return give(l, n, &op, type, shape, rank);
}

// Whether an integer division by the constant neither fails nor overflows.
static bool divides(const lifter* l, int tensor) {
  const pb_const* c = pb__constant(l, tensor);
  for (uint64_t k = 0; c && k < c->bytes; k += (uint64_t)pb_type_bits(c->type) / 8) {
    int64_t wide = 0;
    int32_t narrow;
    memcpy(c->type == PB_I64 ? (void*)&wide : (void*)&narrow, (const char*)c->data + k, c->type == PB_I64 ? 8 : 4);
    if (c->type != PB_I64) wide = narrow;
    if (wide == 0 || wide == -1) return false;
  }
  return c != NULL;
}

static pb_status integer(lifter* l, const pb_node* n, pb_op binary) {
  pb_s1_op op = pb_s1_new_op(n->name, n->op, PB_S1_EACH);
  int64_t shape[PB_GRAPH_RANK];
  int rank, count = pb__is(n, "Neg") || pb__is(n, "Abs") ? 1 : 2;
  if (n->input_count != count) return pb__refuse(l, n, NULL, "another number of operands");
  PB_TRY(take(l, n, count, &op, shape, &rank));
  pb_type type = l->out->values[op.x].type;
  if ((type != PB_I32 && type != PB_I64) || !same_types(l, n, 0, count))
    return pb__refuse(l, n, "Cast", "operands of several types, or other than f32, i32 and i64");
  if (binary == PB_OP_DIV && !divides(l, n->inputs[1]))
    return pb__refuse(l, n, NULL, "a division of integers by what is no constant, or by 0 or -1");
  op.each = PB_S1_INTEGER;
  op.binary = binary;
  return give(l, n, &op, type, shape, rank);
}

pb_status pb__lift_each(lifter* l, const pb_node* n, bool* known) {
  static const struct {
    const char* name;
    pb_s1_each each;
    bool turned;
  } comparisons[] = {{"Equal", PB_S1_EQUAL, false},
                     {"Less", PB_S1_LESS, false},
                     {"Greater", PB_S1_LESS, true},
                     {"LessOrEqual", PB_S1_LESS_EQUAL, false},
                     {"GreaterOrEqual", PB_S1_LESS_EQUAL, true}};
  static const struct {
    const char* name;
    pb_s1_each each;
    int count;
  } truths[] = {{"And", PB_S1_AND, 2},
                {"Or", PB_S1_OR, 2},
                {"Xor", PB_S1_XOR, 2},
                {"Not", PB_S1_NOT, 1},
                {"IsNaN", PB_S1_IS_NAN, 1}};
  static const struct {
    const char* name;
    pb_op op;
  } integers[] = {{"Add", PB_OP_ADD}, {"Sub", PB_OP_SUB}, {"Mul", PB_OP_MUL}, {"Div", PB_OP_DIV},
                  {"Max", PB_OP_MAX}, {"Min", PB_OP_MIN}, {"Neg", PB_OP_NEG}, {"Abs", PB_OP_ABS}};
  *known = true;
  for (size_t k = 0; k < sizeof comparisons / sizeof *comparisons; ++k)
    if (pb__is(n, comparisons[k].name)) return compare(l, n, comparisons[k].each, comparisons[k].turned);
  for (size_t k = 0; k < sizeof truths / sizeof *truths; ++k)
    if (pb__is(n, truths[k].name)) return truth(l, n, truths[k].each, truths[k].count);
  if (pb__is(n, "Where")) return where(l, n);
  if (pb__is(n, "Cast")) return cast(l, n);
  if (pb__is(n, "Expand")) return expand(l, n);
  if (pb__is(n, "Trilu")) return trilu(l, n);
  pb_type type = pb__type_of(l, n->inputs[0]);
  for (size_t k = 0; k < sizeof integers / sizeof *integers && type != PB_F32 && type != PB_TYPE_COUNT; ++k)
    if (pb__is(n, integers[k].name)) return integer(l, n, integers[k].op);
  *known = false;
  return PB_OK;
}
