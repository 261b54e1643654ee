// Bodies of other operators: operations of one element on nodes. A complex number is two nodes; calls are put in their
// places.
#include "core/frontend/stablehlo/door.h"

#include <string.h>

static bool is(const pb_flat_op* op, const char* name) { return !strcmp(op->name, name); }

static bool is_complex(const pb_door* d, int flat) { return pb__door_type(d, flat)->is_complex; }

static void set(pb_door* d, int flat, pb_door_number v) {
  d->node[flat] = v.re;
  d->imaginary_node[flat] = v.im;
}

static pb_status body_constant(pb_door* d, pb_nest* n, const pb_flat_op* op, pb_door_number* made) {
  const pb_flat_attr* value = pb_flat_find(op, "value");
  if (!value || value->kind != PB_FLAT_TENSOR || value->type.rank ||
      value->type.is_complex != is_complex(d, op->results[0]))
    return pb__door_refuse(d, op, "a constant that is not one number");
  const char* bytes = value->bytes;
  pb_type inside = pb__door_type(d, op->results[0])->type; // another one of floats of 8 bits
  made->re = pb_scalar_constant(n, pb_type_is_narrow(inside) ? inside : value->type.type, bytes);
  if (value->type.is_complex)
    made->im = pb_scalar_constant(n, value->type.type, bytes + pb_type_bits(value->type.type) / 8);
  return PB_OK;
}

// A value from outside of the body: one number.
static pb_status captured(pb_door* d, const pb_flat_op* op, int flat) {
  int access;
  pb_door_value v = pb__door_get(d, flat);
  if (v.value < 0 || pb_made(&d->m, v.value)->rank) return pb__door_refuse(d, op, "a tensor from outside of the body");
  if (d->m.nest.access_count + 3 >= PB_NEST_ACCESSES) return pb__door_refuse(d, op, "too many numbers from outside");
  pb_door_number made = {pb__door_load(d, v.value, &access), -1};
  if (v.imaginary >= 0) made.im = pb__door_load(d, v.imaginary, &access);
  set(d, flat, made);
  return PB_OK;
}

// The number that a value of the body is, or one from outside.
static pb_status number_of(pb_door* d, const pb_flat_op* op, int flat, pb_door_number* v) {
  if (d->node[flat] < 0) PB_TRY(captured(d, op, flat));
  *v = (pb_door_number){d->node[flat], d->imaginary_node[flat]};
  return PB_OK;
}

static pb_status body_block(pb_door* d, pb_nest* n, const pb_flat_block* block);

static pb_status body_call(pb_door* d, pb_nest* n, const pb_flat_op* op) {
  const pb_flat_func* func;
  PB_TRY(pb__door_callee(d, op, &func));
  const pb_flat_op* end = &func->body.ops[func->body.op_count - 1];
  for (int k = 0; k < op->operand_count; ++k) {
    pb_door_number v;
    PB_TRY(number_of(d, op, op->operands[k], &v));
    const pb_flat_type *a = pb__door_type(d, op->operands[k]), *b = pb__door_type(d, func->body.arguments[k]);
    if (a->type != b->type || a->is_complex != b->is_complex || a->rank || b->rank)
      return pb__door_refuse(d, op, "'%s' takes another type than %s", func->name, a->text);
    set(d, func->body.arguments[k], v);
  }
  ++d->calls;
  PB_TRY(body_block(d, n, &func->body));
  --d->calls;
  for (int k = 0; k < op->result_count; ++k) {
    pb_door_number v;
    PB_TRY(number_of(d, end, end->operands[k], &v));
    const pb_flat_type *a = pb__door_type(d, op->results[k]), *b = pb__door_type(d, end->operands[k]);
    if (a->type != b->type || a->is_complex != b->is_complex)
      return pb__door_refuse(d, op, "'%s' returns another type than %s", func->name, a->text);
    set(d, op->results[k], v);
  }
  return PB_OK;
}

static pb_status body_op(pb_door* d, pb_nest* n, const pb_flat_op* op) {
  enum { ROOM = 180, SERIES_ROOM = 300 }; // nodes that one operation may take, its rounding too; those of CHLO
  pb_door_number v[3], made = {-1, -1};
  int nodes[3];
  if (is(op, "func.call")) return body_call(d, n, op);
  int room = strncmp(op->name, "chlo.", 5) ? ROOM : SERIES_ROOM;
  if (n->expr_count + room > PB_NEST_EXPR) return pb__door_refuse(d, op, "a body of too many operations");
  if (op->operand_count > 3 || op->result_count != 1) return pb__door_refuse(d, op, "in the body of another operator");
  if (pb__door_type(d, op->results[0])->is_element) return pb__door_refuse(d, op, "in the body of another operator");
  bool has_pairs = is_complex(d, op->results[0]);
  for (int k = 0; k < op->operand_count; ++k) {
    PB_TRY(number_of(d, op, op->operands[k], &v[k]));
    nodes[k] = v[k].re;
    has_pairs |= is_complex(d, op->operands[k]);
  }
  pb_type type = pb__door_type(d, op->results[0])->type;
  if (is(op, "stablehlo.constant"))
    PB_TRY(body_constant(d, n, op, &made));
  else if (is(op, "stablehlo.reshape") || is(op, "stablehlo.broadcast_in_dim")) // of one number to one number
    made = v[0];
  else if (has_pairs && !d->part) // those that are made for each part alone have one of each
    PB_TRY(pb__door_complex_number(d, n, op, v, &made));
  else if (pb__door_is_scalar(op))
    PB_TRY(pb__door_scalar(d, n, op, nodes, &made.re));
  else
    return pb__door_refuse(d, op, "in the body of another operator");
  bool exact = is(op, "stablehlo.constant") || is(op, "stablehlo.select") || is(op, "stablehlo.maximum") ||
               is(op, "stablehlo.minimum") || is(op, "stablehlo.reshape");
  if (!exact && type != PB_TYPE_COUNT) made.re = pb_scalar_rounded(n, made.re, type);
  set(d, op->results[0], made);
  return PB_OK;
}

static pb_status body_block(pb_door* d, pb_nest* n, const pb_flat_block* block) {
  for (int k = 0; k + 1 < block->op_count; ++k) PB_TRY(body_op(d, n, &block->ops[k]));
  return PB_OK;
}

// How many nodes the values are; those of an operator that is made for each part alone are one each.
static int nodes_of(const pb_door* d, bool by_parts, const int* flat, int count) {
  int nodes = 0;
  for (int k = 0; k < count; ++k) nodes += !by_parts && is_complex(d, flat[k]) ? 2 : 1;
  return nodes;
}

pb_status pb__door_body(pb_door* d, pb_nest* n, const pb_flat_op* owner, int region, pb_door_ends arguments, int made,
                        const pb_type* types, int* results) {
  if (region >= owner->region_count || !owner->regions[region].op_count)
    return pb__door_refuse(d, owner, "its body is missing");
  const pb_flat_block* block = &owner->regions[region];
  const pb_flat_op* end = &block->ops[block->op_count - 1];
  bool by_parts = pb__door_by_parts(owner);
  if (nodes_of(d, by_parts, block->arguments, block->argument_count) != arguments.count ||
      nodes_of(d, by_parts, end->operands, end->operand_count) != made)
    return pb__door_refuse(d, owner, "a body of %d arguments and %d results", block->argument_count,
                           end->operand_count);
  for (int v = 0; v < d->flat->value_count; ++v) d->node[v] = d->imaginary_node[v] = -1;
  for (int k = 0, at = 0; k < block->argument_count; ++k) {
    const pb_flat_type* type = pb__door_type(d, block->arguments[k]);
    if (type->rank || type->is_element || type->type == PB_TYPE_COUNT)
      return pb__door_refuse(d, owner, "a body over %s", type->text);
    pb_door_number v = {arguments.nodes[at++], -1};
    if (type->is_complex && !by_parts) v.im = arguments.nodes[at++];
    if (n->expr[v.re].type != pb_scalar_worked(type->type))
      return pb__door_refuse(d, owner, "a body over %s", type->text);
    set(d, block->arguments[k], v);
  }
  PB_TRY(body_block(d, n, block));
  for (int k = 0, at = 0; k < end->operand_count; ++k) {
    pb_door_number v;
    PB_TRY(number_of(d, end, end->operands[k], &v));
    if (n->expr[v.re].type != pb_scalar_worked(types[at]))
      return pb__door_refuse(d, owner, "a body that returns another type");
    results[at++] = v.re;
    if (!by_parts && is_complex(d, end->operands[k])) results[at++] = v.im;
  }
  return PB_OK;
}

const char* pb__door_combiner(const pb_flat_op* owner, int region) {
  if (region >= owner->region_count) return "";
  const pb_flat_block* b = &owner->regions[region];
  if (b->op_count != 2 || b->argument_count != 2 || b->ops[0].operand_count != 2 || b->ops[1].operand_count != 1)
    return "";
  const pb_flat_op* op = &b->ops[0];
  bool both = (op->operands[0] == b->arguments[0] && op->operands[1] == b->arguments[1]) ||
              (op->operands[0] == b->arguments[1] && op->operands[1] == b->arguments[0]);
  return both && b->ops[1].operands[0] == op->results[0] ? op->name : "";
}
