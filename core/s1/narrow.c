#include "core/s1/narrow.h"

#include "core/base/half.h"
#include "core/s1/control.h"
#include "core/s1/lift/lift.h"
#include "core/s1/scalar/scalar.h"

#include <stdlib.h>
#include <string.h>

enum { TOGETHER = 2 }; // neighbouring terms that instructions of cores on such factors multiply and add at once

typedef struct narrower {
  pb_s1* program;
  pb_consts* consts;
  pb_type to;    // a narrow float
  bool all;      // products that gain nothing too
  int* narrow;   // by value: the one that holds it rounded, -1: none yet
  int* weights;  // by constant, the same
  size_t values; // that there were
  pb_s1_op* ops; // the new program's
  size_t op_count, op_capacity;
} narrower;

static int narrow_weights(narrower* r, int id) {
  if (r->weights[id] >= 0) return r->weights[id];
  const pb_const wide = r->consts->items[id];
  uint64_t count = wide.bytes / sizeof(float);
  const char* from = pb_const_data(r->consts, id); // of a file, perhaps not aligned
  size_t size = (size_t)pb_type_bits(r->to) / 8;
  uint8_t* to = pb_alloc_array(&r->consts->arena, (size_t)count + 1, size);
  for (uint64_t k = 0; k < count; ++k) {
    float number;
    memcpy(&number, from + k * sizeof number, sizeof number);
    uint16_t code = pb_narrow_of(r->to, (double)number);
    memcpy(to + k * size, &code, size); // the low bytes of a little-endian number
  }
  return r->weights[id] = pb_consts_add(r->consts, wide.name, r->to, wide.rank, wide.shape, to);
}

static int add_value(narrower* r, int like, int alias_of) {
  pb_s1_value value = r->program->values[like];
  value.name = pb_printf(&r->program->arena, "%s.%s", value.name ? value.name : "", pb_type_name(r->to));
  value.type = r->to;
  value.is_input = value.is_output = value.is_unsigned = false;
  value.alias_of = alias_of;
  value.const_id = -1;
  PB_PUSH(r->program->values, r->program->value_count, r->program->value_capacity, value);
  return (int)r->program->value_count - 1;
}

// The value in the narrower type: rounded in front of the first product that takes it. Other shapes of it share its
// elements.
static int narrow_value(narrower* r, const pb_s1_op* user, int v) {
  if (r->narrow[v] >= 0) return r->narrow[v];
  int base = r->program->values[v].alias_of;
  if (base >= 0) {
    int made = narrow_value(r, user, base);
    return r->narrow[v] = add_value(r, v, made);
  }
  pb_s1_op cast = pb_s1_new_op(user->name, "Cast", PB_S1_EACH);
  cast.each = PB_S1_CAST;
  cast.x = v;
  cast.y = r->narrow[v] = add_value(r, v, -1);
  PB_PUSH(r->ops, r->op_count, r->op_capacity, cast);
  return cast.y;
}

static bool takes(const narrower* r, int value, int weights) {
  return value >= 0 && (size_t)value < r->values && r->program->values[value].type == PB_F32 &&
         r->program->values[value].const_id < 0 && r->consts->items[weights].type == PB_F32;
}

static bool convolution_gains(const narrower* r, const pb_s1_op* op) {
  const pb_const* w = &r->consts->items[op->weights]; // [o, c, h, w] or [o, k]
  return r->all || (op->groups <= 1 && w->shape[1] % TOGETHER == 0);
}

static bool product_gains(const narrower* r, const pb_s1_op* op) {
  const pb_const* w = &r->consts->items[op->weights]; // [.., k, n]
  return r->all || (!op->swapped && w->rank >= 2 && w->shape[w->rank - 2] % TOGETHER == 0);
}

// A nest that only sums products of two loads; *x and *w: its accesses to a value and to a constant.
static bool is_product(const narrower* r, const pb_nest* nest, int* x, int* w) {
  const pb_expr_node* e = nest->expr;
  if (nest->reduce != PB_ACC_ADD || nest->expr_count != 3 || nest->access_count != 3 || e[2].op != PB_OP_MUL)
    return false;
  if (e[0].op != PB_OP_LOAD || e[1].op != PB_OP_LOAD || e[0].operand == e[1].operand || nest->access[0].boxed ||
      nest->access[1].boxed)
    return false;
  *w = r->program->values[nest->access[1].buffer].const_id >= 0;
  *x = 1 - *w;
  return r->program->values[nest->access[*w].buffer].const_id >= 0 && nest->access[2].type == PB_F32;
}

// Whether the innermost summed dim walks neighbours of x, an even number of them.
static bool nest_gains(const pb_nest* nest, int x, int w) {
  bool columns = false;
  for (int d = 0; d < nest->dim_count; ++d)
    columns |= pb_access_uses(&nest->access[w], d) && pb_access_uses(&nest->access[2], d) &&
               !pb_access_uses(&nest->access[x], d);
  for (int d = 0; d < nest->dim_count; ++d)
    if (pb_access_uses(&nest->access[x], d) && pb_access_uses(&nest->access[w], d) &&
        !pb_access_uses(&nest->access[2], d) && nest->extent[d] % TOGETHER == 0)
      return columns;
  return false;
}

static int of_constant(narrower* r, int like, int weights) {
  int v = add_value(r, like, -1);
  r->program->values[v].const_id = weights;
  return v;
}

static bool narrow_nest(narrower* r, pb_s1_op* op) {
  int x, w;
  if (!is_product(r, op->nest, &x, &w) || (!r->all && !nest_gains(op->nest, x, w))) return false;
  int weights = op->nest->access[w].buffer, id = r->program->values[weights].const_id;
  if (!takes(r, op->nest->access[x].buffer, id)) return false;
  pb_nest* nest = PB_NEW(&r->program->arena, pb_nest);
  *nest = *op->nest;
  nest->access[x].buffer = narrow_value(r, op, nest->access[x].buffer);
  nest->access[w].buffer = of_constant(r, weights, narrow_weights(r, id));
  nest->access[x].type = nest->access[w].type = pb_type_stored(r->to);
  nest->expr_count = 0;
  int a = pb_scalar_load(nest, 0, r->to);
  pb_nest_node(nest, PB_OP_MUL, PB_F32, a, pb_scalar_load(nest, 1, r->to));
  op->nest = nest;
  return true;
}

static bool narrow_op(narrower* r, pb_s1_op* op) {
  if (op->kind == PB_S1_NEST) return narrow_nest(r, op);
  if ((op->kind != PB_S1_FCONV && op->kind != PB_S1_FMATMUL) || op->weights < 0) return false;
  if (!takes(r, op->x, op->weights)) return false;
  if (!(op->kind == PB_S1_FCONV ? convolution_gains(r, op) : product_gains(r, op))) return false;
  op->x = narrow_value(r, op, op->x);
  op->weights = narrow_weights(r, op->weights);
  return true;
}

int pb_s1_narrow(pb_s1* program, pb_consts* consts, pb_type to, bool all) {
  pb_arena scratch = {0};
  narrower r = {.program = program, .consts = consts, .to = to, .all = all, .values = program->value_count};
  r.narrow = PB_NEW_ARRAY(&scratch, int, program->value_count + 1);
  r.weights = PB_NEW_ARRAY(&scratch, int, consts->count + 1);
  memset(r.narrow, 0xff, sizeof(int) * program->value_count);
  memset(r.weights, 0xff, sizeof(int) * consts->count);
  int count = 0;
  for (size_t k = 0; k < program->op_count; ++k) {
    pb_s1_op op = program->ops[k];
    if (pb_s1_is_control(&op)) memset(r.narrow, 0xff, sizeof(int) * r.values); // what is made there may not be here
    count += narrow_op(&r, &op);
    PB_PUSH(r.ops, r.op_count, r.op_capacity, op);
  }
  free(program->ops);
  program->ops = r.ops;
  program->op_count = r.op_count;
  program->op_capacity = r.op_capacity;
  pb_arena_free(&scratch);
  return count;
}
