// Bodies of linalg's operators: what is yielded, back to what the nest reads.
#include "core/frontend/linalg/rows.h"

#include <string.h>

enum { ROOM = 180, SERIES_ROOM = 300 }; // nodes that one operation may take, its rounding too; one with a series

static bool is(const pb_flat_op* op, const char* name) { return !strcmp(op->name, name); }

static int made_by(const pb_flat_block* block, int flat_value) {
  for (int k = 0; k + 1 < block->op_count; ++k)
    for (int r = 0; r < block->ops[k].result_count; ++r)
      if (block->ops[k].results[r] == flat_value) return k;
  return -1;
}

const int* pb__l_mark(pb_l_body* b, int k) {
  const pb_flat_op* end = &b->block->ops[b->block->op_count - 1];
  int* uses = b->d->marks; // 0 for values of other blocks that this one does not read, whatever came before
  for (int a = 0; a < b->block->argument_count; ++a) uses[b->block->arguments[a]] = 0;
  for (int o = 0; o < b->block->op_count; ++o)
    for (int v = 0; v < b->block->ops[o].operand_count; ++v) uses[b->block->ops[o].operands[v]] = 0;
  for (int o = 0; o < b->block->op_count; ++o)
    for (int r = 0; r < b->block->ops[o].result_count; ++r) uses[b->block->ops[o].results[r]] = 0;
  b->needed = PB_NEW_ARRAY(&b->d->m.program->arena, bool, (size_t)b->block->op_count + 1);
  memset(b->needed, 0, (size_t)b->block->op_count + 1);
  for (int r = 0; r < end->operand_count; ++r) {
    if (k >= 0 && r != k) continue;
    ++uses[end->operands[r]];
  }
  for (int o = b->block->op_count - 1; o-- > 0;) {
    const pb_flat_op* op = &b->block->ops[o];
    for (int r = 0; r < op->result_count; ++r) b->needed[o] |= uses[op->results[r]] > 0;
    for (int v = 0; v < op->operand_count && b->needed[o]; ++v) ++uses[op->operands[v]];
  }
  return uses;
}

// A number from outside of the body.
static pb_status captured(pb_l_body* b, const pb_flat_op* op, int flat_value, int* node) {
  int access, v = b->d->value[flat_value];
  if (v < 0 || pb_made(&b->d->m, v)->rank) return pb__door_refuse(b->d, op, "a tensor from outside of the body");
  if (b->n->access_count + 3 > PB_NEST_ACCESSES)
    return pb__door_refuse(b->d, b->owner, "a body that reads more than %d tensors", PB_NEST_ACCESSES - 2);
  *node = pb__door_load(b->d, v, &access);
  return PB_OK;
}

pb_status pb__l_node(pb_l_body* b, const pb_flat_op* op, int flat_value, int* node) {
  if (b->d->node[flat_value] < 0) PB_TRY(captured(b, op, flat_value, &b->d->node[flat_value]));
  *node = b->d->node[flat_value];
  return PB_OK;
}

// ---- a tensor at places ----

// Which of the operands say a place that the body computes, and not the turn of a loop or a constant.
static bool is_computed(const pb_l_body* b, int flat_value) {
  int k = made_by(b->block, flat_value);
  if (k >= 0) return !is(&b->block->ops[k], "linalg.index") && !is(&b->block->ops[k], "arith.constant");
  for (int a = 0; a < b->block->argument_count; ++a)
    if (b->block->arguments[a] == flat_value) return true;
  return !pb__l_is_constant(b->d, b->d->value[flat_value]);
}

static int computed_places(const pb_l_body* b, const pb_flat_op* op) {
  int count = 0;
  for (int k = 1; k < op->operand_count; ++k) count += is_computed(b, op->operands[k]);
  return count;
}

// The tensor's flat form stands where the nodes of numbers do: a tensor has none.
pb_status pb__l_flatten(pb_l_body* b) {
  for (int o = 0; o + 1 < b->block->op_count; ++o) {
    const pb_flat_op* op = &b->block->ops[o];
    if (!b->needed[o] || !is(op, "tensor.extract") || op->operand_count < 1 || computed_places(b, op) < 2) continue;
    int v;
    PB_TRY(pb__l_in(b->d, op, 0, &v));
    const pb_s1_value in = *pb_made(&b->d->m, v);
    int64_t all = pb_made_elements(&b->d->m, v);
    if (in.rank > 1)
      b->d->node[op->operands[0]] =
          pb__l_is_constant(b->d, v)
              ? pb_make_constant(&b->d->m, in.type, 1, &all, b->d->m.consts->items[in.const_id]->data)
              : pb__door_flat(b->d, v);
  }
  return PB_OK;
}

static int number(pb_nest* n, int64_t value) { return pb_nest_integer(n, PB_I64, value); }

static int kept(pb_nest* n, int v, int64_t most) {
  int above = pb_nest_node(n, PB_OP_MAX, PB_I64, v, number(n, 0));
  return pb_nest_node(n, PB_OP_MIN, PB_I64, above, number(n, most));
}

// One place that is computed stays an index of its own; the turns of loops are the access's, where they keep within.
static pb_status extract(pb_l_body* b, const pb_flat_op* op, int* node) {
  pb_door* d = b->d;
  pb_nest* n = b->n;
  int v, flat = d->node[op->operands[0]], at = -1, where = 0, places[PB_NEST_RANK];
  PB_TRY(pb__l_in(d, op, 0, &v));
  const pb_s1_value in = *pb_made(&d->m, v);
  if (op->operand_count != 1 + in.rank) return pb__door_refuse(d, op, "a place for each dimension");
  if (in.type != pb__l_type(d, op->results[0])) return pb__door_refuse(d, op, "a result of another type");
  for (int r = 0; r < in.rank; ++r) {
    PB_TRY(pb__l_node(b, op, op->operands[1 + r], &places[r]));
    if (n->expr[places[r]].type != PB_I64) return pb__door_refuse(d, op, "a place that is no index");
  }
  if (n->access_count + 3 > PB_NEST_ACCESSES)
    return pb__door_refuse(d, b->owner, "a body that reads more than %d tensors", PB_NEST_ACCESSES - 2);
  int access = pb_make_access(&d->m, flat >= 0 ? flat : v);
  for (int r = 0; r < in.rank; ++r) {
    const pb_expr_node* place = &n->expr[places[r]];
    bool turn = place->op == PB_OP_INDEX && n->extent[place->operand] <= in.shape[r];
    bool constant = place->op == PB_OP_CONST && place->integer >= 0 && place->integer < in.shape[r];
    if (flat < 0 && turn) {
      n->access[access].index[r].coef[place->operand] += 1;
    } else if (flat < 0 && constant) {
      n->access[access].index[r].cst += place->integer;
    } else {
      int inside = kept(n, places[r], in.shape[r] - 1);
      if (flat < 0 && at >= 0) return pb__door_refuse(d, op, "a place that lies outside of the tensor");
      if (flat >= 0 && at >= 0) at = pb_nest_node(n, PB_OP_MUL, PB_I64, at, number(n, in.shape[r]));
      at = at >= 0 ? pb_nest_node(n, PB_OP_ADD, PB_I64, at, inside) : inside;
      where = flat >= 0 ? 0 : r;
    }
  }
  int code = at < 0 ? pb_nest_load(n, access) : pb_nest_gather(n, access, where, pb__door_as_place(n, at));
  *node = pb_scalar_decoded(n, code, in.type);
  return PB_OK;
}

// ---- operations ----

static pb_status constant(pb_l_body* b, const pb_flat_op* op, int* node) {
  const pb_flat_attr* value = pb_flat_find(op, "value");
  const pb_flat_type* type = pb__door_type(b->d, op->results[0]);
  if (value && value->kind == PB_FLAT_INT && type->is_element && !pb_type_is_float(type->type)) {
    bool is_truth = type->type == PB_I1;
    *node = pb_nest_integer(b->n, pb_type_stored(pb__l_type(b->d, op->results[0])), is_truth ? value->i & 1 : value->i);
    return PB_OK;
  }
  if (!value || value->kind != PB_FLAT_TENSOR || value->type.rank || value->type.is_complex || !type->is_element ||
      value->type.type != type->type)
    return pb__door_refuse(b->d, op, "a constant that is not one number of its type");
  *node = pb_scalar_constant(b->n, value->type.type, value->bytes);
  return PB_OK;
}

static pb_status index_of(pb_l_body* b, const pb_flat_op* op, int* node) {
  int64_t dim = pb__door_int(op, "dim", -1);
  if (dim < 0 || dim >= b->loop_count) return pb__door_refuse(b->d, op, "no such loop");
  *node = pb__door_turn(b->n, b->loops[dim]);
  return PB_OK;
}

static pb_status body_op(pb_l_body* b, const pb_flat_op* op) {
  int nodes[3], node;
  PB_TRY(pb__door_check(b->d, op));
  if (b->n->expr_count + (strcmp(op->name, "math.erfc") ? ROOM : SERIES_ROOM) > PB_NEST_EXPR)
    return pb__door_refuse(b->d, op, "a body of too many operations for one nest");
  if (op->result_count != 1 || !pb__door_type(b->d, op->results[0])->is_element)
    return pb__door_refuse(b->d, op, "in the body of another operator");
  if (is(op, "tensor.extract") && op->operand_count > 0) {
    PB_TRY(extract(b, op, &node));
  } else if (is(op, "arith.constant")) {
    PB_TRY(constant(b, op, &node));
  } else if (is(op, "linalg.index")) {
    PB_TRY(index_of(b, op, &node));
  } else if (pb__l_is_scalar(op) && op->operand_count >= 1 && op->operand_count <= 3) {
    for (int k = 0; k < op->operand_count; ++k) PB_TRY(pb__l_node(b, op, op->operands[k], &nodes[k]));
    PB_TRY(pb__l_scalar(b->d, b->n, op, nodes, &node));
    node = pb_scalar_rounded(b->n, node, pb__l_type(b->d, op->results[0]));
  } else {
    return pb__door_refuse(b->d, op, "in the body of another operator");
  }
  b->d->node[op->results[0]] = node;
  return PB_OK;
}

pb_status pb__l_body(pb_l_body* b, int but) {
  for (int o = 0; o + 1 < b->block->op_count; ++o)
    if (b->needed[o] && o != but) PB_TRY(body_op(b, &b->block->ops[o]));
  return PB_OK;
}
