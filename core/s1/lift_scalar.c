// ONNX's operators of each element that are one operation of scalar.def: nests by the builders that every front end
// has.
#include "core/s1/lift.h"
#include "core/s1/make.h"
#include "core/s1/scalar.h"

#include <math.h>
#include <string.h>

static const struct {
  const char *op, *scalar;
} rows[] = {{"Sin", "sine"},       {"Cos", "cosine"},
            {"Tan", "tan"},        {"Asin", "asin"},
            {"Acos", "acos"},      {"Atan", "atan"},
            {"Sinh", "sinh"},      {"Cosh", "cosh"},
            {"Asinh", "asinh"},    {"Acosh", "acosh"},
            {"Atanh", "atanh"},    {"Floor", "floor"},
            {"Ceil", "ceil"},      {"Round", "round_nearest_even"},
            {"Sign", "sign"},      {"Pow", "power"},
            {"BitwiseAnd", "and"}, {"BitwiseOr", "or"},
            {"BitwiseXor", "xor"}, {"BitwiseNot", "not"}};

// A power by one constant that is a multiple of 1/2 has a better form: products and roots, exact where they are.
static bool is_plain_power(const lifter* l, const pb_node* n) {
  const pb_const* c = pb__is(n, "Pow") ? pb__constant(l, pb__input(n, 1)) : NULL;
  float exponent;
  if (!c) return false;
  if (c->type != PB_F32) return true;
  return pb__scalar_f32(l, pb__input(n, 1), &exponent) && exponent != 0 && fabsf(exponent) <= 16 &&
         2 * exponent == rintf(2 * exponent);
}

static pb_status lift(lifter* l, const pb_node* n, const pb_scalar_row* row) {
  int operands[2], nodes[2], dims[PB_NEST_RANK], rank = 0;
  int64_t shape[PB_GRAPH_RANK];
  pb_type type = pb__type_of(l, pb__input(n, 0));
  if (n->input_count != row->operands) return pb__refuse(l, n, NULL, "another number of operands");
  for (int k = 0; k < row->operands; ++k) {
    PB_TRY(pb__own_any(l, n, pb__input(n, k), &operands[k]));
    const pb_s1_value* v = &l->out->values[operands[k]];
    type = l->out->values[operands[0]].type;
    if (v->type != type || l->unsigned_codes[n->inputs[k]])
      return pb__refuse(l, n, "Cast", "operands of several types, or of uint8");
    if (!pb__broadcast(shape, &rank, v->shape, v->rank)) return pb__refuse(l, n, NULL, "shapes that do not fit");
  }
  if (!pb_scalar_takes(row, type)) return pb__refuse(l, n, "Cast", "operands of a type that it does not take");
  pb_maker* m = PB_NEW(&l->out->arena, pb_maker);
  *m = (pb_maker){.program = l->out, .consts = l->consts, .name = n->name, .type = n->op};
  int y = pb__add_value(l, l->g->tensors[n->outputs[0]].name, type, rank, shape);
  pb_nest* nest = pb_make_walk(m, "point", y, dims);
  for (int k = 0; k < row->operands; ++k) {
    int access = pb_make_access(m, operands[k]);
    const pb_access* from = &nest->access[access];
    for (int r = 0; r < from->rank; ++r)
      if (from->shape[r] > 1) pb_make_move(m, access, r, dims[rank - from->rank + r], 1);
    nodes[k] = pb_scalar_load(nest, access, type);
  }
  int made = row->make(nest, type, nodes);
  if (made != nest->expr_count - 1) (void)pb_nest_node(nest, PB_OP_BITCAST, nest->expr[made].type, made, -1);
  pb_make_end(m, y, dims);
  l->value_of[n->outputs[0]] = y;
  return PB_OK;
}

pb_status pb__lift_scalar(lifter* l, const pb_node* n, bool* known) {
  *known = false;
  for (size_t k = 0; k < sizeof rows / sizeof *rows && !*known; ++k) {
    if (!pb__is(n, rows[k].op) || is_plain_power(l, n)) continue;
    *known = true;
    return lift(l, n, pb_scalar_find(rows[k].scalar));
  }
  return PB_OK;
}
