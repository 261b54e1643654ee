// Operations of one element, on whole tensors; body.c has them in the bodies of other operators.
#include "core/frontend/stablehlo/door.h"

#include <math.h>
#include <string.h>

static const char* plain_name(const pb_flat_op* op) { return strchr(op->name, '.') + 1; }

static bool is(const pb_flat_op* op, const char* name) { return !strcmp(op->name, name); }

bool pb__door_is_scalar(const pb_flat_op* op) {
  return pb_scalar_find(plain_name(op)) || is(op, "stablehlo.select") || is(op, "stablehlo.clamp") ||
         is(op, "stablehlo.compare") || is(op, "stablehlo.convert") || is(op, "stablehlo.reduce_precision");
}

static pb_status compare(pb_door* d, pb_nest* n, const pb_flat_op* op, pb_type type, const int* v, int* node) {
  static const char* const names[] = {
      [PB_EQ] = "EQ", [PB_NE] = "NE", [PB_GE] = "GE", [PB_GT] = "GT", [PB_LE] = "LE", [PB_LT] = "LT"};
  bool total = pb__door_says(op, "compare_type", "TOTALORDER");
  for (int how = PB_EQ; how <= PB_LT; ++how)
    if (pb__door_says(op, "comparison_direction", names[how])) {
      *node = pb_scalar_compare(n, (pb_compare)how, type, total, v[0], v[1]);
      return PB_OK;
    }
  return pb__door_refuse(d, op, "an unknown direction");
}

static int choose(pb_nest* n, int condition, int yes, int no) {
  int id = pb_nest_node(n, PB_OP_SELECT, n->expr[yes].type, condition, yes);
  n->expr[id].args[2] = no;
  return id;
}

// Fewer bits of exponent and mantissa, as a number of such a type would have them: rounded to even, what is too large
// infinite, what is too small 0.
static pb_status reduce_precision(pb_door* d, pb_nest* n, const pb_flat_op* op, pb_type type, int x, int* node) {
  int64_t exponent = pb__door_int(op, "exponent_bits", 0), mantissa = pb__door_int(op, "mantissa_bits", 0);
  if (exponent < 1 || mantissa < 0) return pb__door_refuse(d, op, "a number of bits that is not positive");
  bool wide = type == PB_F64;
  int64_t bits = wide ? 52 : 23, bias = wide ? 1023 : 127, lost = bits - mantissa;
  pb_type whole = wide ? PB_I64 : PB_I32, number = wide ? PB_F64 : PB_F32;
  int all = pb_nest_node(n, PB_OP_BITCAST, whole, x, -1);
  int sign = pb_nest_node(n, PB_OP_AND, whole, all, pb_nest_integer(n, whole, wide ? INT64_MIN : INT32_MIN));
  int magnitude = pb_nest_node(n, PB_OP_XOR, whole, all, sign);
  if (lost > 0) {
    int last = pb_nest_node(n, PB_OP_SHRU, whole, magnitude, pb_nest_integer(n, whole, lost));
    last = pb_nest_node(n, PB_OP_AND, whole, last, pb_nest_integer(n, whole, 1));
    int more = pb_nest_node(n, PB_OP_ADD, whole, last, pb_nest_integer(n, whole, ((int64_t)1 << (lost - 1)) - 1));
    magnitude = pb_nest_node(n, PB_OP_ADD, whole, magnitude, more);
    magnitude = pb_nest_node(n, PB_OP_AND, whole, magnitude, pb_nest_integer(n, whole, ~(((int64_t)1 << lost) - 1)));
  }
  int rounded = pb_nest_node(n, PB_OP_BITCAST, number, magnitude, -1);
  if (exponent < (wide ? 11 : 8)) {
    int64_t most = ((int64_t)1 << (exponent - 1)) - 1;
    int64_t past = (bias + most + 1) << bits, small = (bias - most + 1) << bits;
    int infinite = pb_nest_node(n, PB_OP_LESS_EQUAL, PB_I1, pb_nest_integer(n, whole, past), magnitude);
    int tiny = pb_nest_node(n, PB_OP_LESS, PB_I1, magnitude, pb_nest_integer(n, whole, small));
    int zero = pb_nest_const(n, number, 0), none = pb_nest_const(n, number, INFINITY);
    rounded = choose(n, tiny, zero, choose(n, infinite, none, rounded));
  }
  int signed_bits = pb_nest_node(n, PB_OP_OR, whole, pb_nest_node(n, PB_OP_BITCAST, whole, rounded, -1), sign);
  int result = pb_nest_node(n, PB_OP_BITCAST, number, signed_bits, -1);
  int is_number = pb_nest_node(n, PB_OP_EQUAL, PB_I1, x, x), kept = x;
  if (!mantissa) { // no bit is left that tells NaN from infinity
    int most = pb_nest_node(n, PB_OP_BITCAST, whole, pb_nest_const(n, number, INFINITY), -1);
    kept = pb_nest_node(n, PB_OP_BITCAST, number, pb_nest_node(n, PB_OP_OR, whole, most, sign), -1);
  }
  *node = choose(n, is_number, result, kept);
  return PB_OK;
}

static pb_status make_scalar(pb_door* d, pb_nest* n, const pb_flat_op* op, const int* v, int* node) {
  pb_type type = pb__door_type(d, op->operands[0])->type, result = pb__door_type(d, op->results[0])->type;
  const pb_scalar_row* row = pb_scalar_find(plain_name(op));
  bool alike = true; // the operands that are worked on together
  for (int k = is(op, "stablehlo.select") ? 2 : 1; k < op->operand_count; ++k)
    alike &= pb__door_type(d, op->operands[k])->type == pb__door_type(d, op->operands[k - 1])->type;
  if (!alike) return pb__door_refuse(d, op, "operands of different types");
  if (is(op, "stablehlo.convert")) {
    *node = pb_scalar_converted(n, v[0], type, result);
  } else if (is(op, "stablehlo.compare")) {
    return compare(d, n, op, type, v, node);
  } else if (is(op, "stablehlo.select")) {
    if (type != PB_I1) return pb__door_refuse(d, op, "what chooses is no truth");
    *node = pb_scalar_select(n, v[0], v[1], v[2]);
  } else if (is(op, "stablehlo.clamp")) {
    const pb_scalar_row *most = pb_scalar_find("minimum"), *least = pb_scalar_find("maximum");
    int above = least->make(n, type, (const int[]){v[1], v[0]});
    *node = most->make(n, type, (const int[]){above, v[2]});
  } else if (is(op, "stablehlo.reduce_precision")) {
    if (!pb_type_is_float(type)) return pb__door_refuse(d, op, "of %s", pb_type_name(type));
    return reduce_precision(d, n, op, type, v[0], node);
  } else {
    if (!pb_scalar_takes(row, type)) return pb__door_refuse(d, op, "of %s", pb_type_name(type));
    if (result != (row->result == PB_TYPE_COUNT ? type : row->result))
      return pb__door_refuse(d, op, "a result of %s", pb_type_name(result));
    *node = row->make(n, type, v);
  }
  return PB_OK;
}

pb_status pb__door_scalar(pb_door* d, pb_nest* n, const pb_flat_op* op, const int* v, int* node) {
  const pb_flat_type* made = pb__door_type(d, op->results[0]);
  for (int k = 0; k < op->operand_count; ++k)
    if (n->expr[v[k]].type != pb_scalar_worked(pb__door_type(d, op->operands[k])->type))
      return pb__door_refuse(d, op, "an operand of another type");
  PB_TRY(make_scalar(d, n, op, v, node));
  if (made->type == PB_TYPE_COUNT || n->expr[*node].type != pb_scalar_worked(made->type))
    return pb__door_refuse(d, op, "a result of %s", made->text);
  return PB_OK;
}

// ---- whole tensors ----

int pb__door_load(pb_door* d, int value, int* access) {
  const void* splat = pb_made_splat(&d->m, value);
  pb_type type = pb_made(&d->m, value)->type;
  *access = -1;
  if (splat) return pb_scalar_constant(&d->m.nest, type, splat);
  *access = pb_make_access(&d->m, value);
  return pb_scalar_load(&d->m.nest, *access, type);
}

void pb__door_last(pb_door* d, int node, pb_type type) {
  pb_nest* n = &d->m.nest;
  node = pb_scalar_encoded(n, node, type);
  if (node != n->expr_count - 1) (void)pb_nest_node(n, PB_OP_BITCAST, n->expr[node].type, node, -1);
}

void pb__door_close(pb_door* d, int node, pb_type type) {
  pb__door_last(d, node, type);
  pb_make_finish(&d->m);
}

void pb__door_store(pb_door* d, int node, int y, const int* dims) {
  pb__door_last(d, node, pb_made(&d->m, y)->type);
  pb_make_end(&d->m, y, dims);
}

pb_status pb__door_element(pb_door* d, const pb_flat_op* op) {
  bool made = pb__door_fold(d, op);
  if (!made) PB_TRY(pb__door_interleave(d, op, &made));
  if (made) return PB_OK;
  int y = pb__door_result(d, op, 0), dims[PB_NEST_RANK], nodes[3], node;
  const pb_s1_value result = *pb_made(&d->m, y);
  (void)pb_make_walk(&d->m, "point", y, dims);
  for (int k = 0; k < op->operand_count; ++k) {
    int access, v = pb__door_in(d, op, k);
    const pb_s1_value* value = pb_made(&d->m, v);
    bool same =
        value->rank == result.rank && !memcmp(value->shape, result.shape, sizeof(int64_t) * (size_t)result.rank);
    if (!same && value->rank && !d->broadcasts) {
      bool one = value->rank == result.rank && pb__door_unifies(d, result.rank, result.shape, value->shape);
      return one ? PB_ERR_UNSUPPORTED : pb__door_refuse(d, op, "operands of different shapes"); // one: it is read again
    }
    nodes[k] = pb__door_load(d, v, &access);
    if (access >= 0 && same) pb_make_along(&d->m, access, dims);
    if (access < 0 || same) continue;
    int lead = result.rank - pb_made(&d->m, v)->rank;
    for (int r = 0; r < pb_made(&d->m, v)->rank; ++r)
      if (pb_made(&d->m, v)->shape[r] > 1) pb_make_move(&d->m, access, r, dims[lead + r], 1);
  }
  PB_TRY(pb__door_scalar(d, &d->m.nest, op, nodes, &node));
  pb__door_store(d, node, y, dims);
  return PB_OK;
}
