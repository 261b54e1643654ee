#include "core/s1/narrow.h"

#include "core/base/half.h"
#include "core/base/half_expr.h"
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
  bool exact;    // what was widened from such floats alone: nothing is rounded
  int* narrow;   // by value: the one that holds it rounded, -1: none yet
  int* weights;  // by constant, the same
  size_t values; // that there were
  pb_s1_op* ops; // the new program's
  size_t op_count, op_capacity;
} narrower;

static int narrow_weights(narrower* r, int id) {
  if (r->weights[id] >= 0) return r->weights[id];
  const pb_const* wide = r->consts->items[id];
  uint64_t count = wide->bytes / sizeof(float);
  const char* from = pb_const_data(r->consts, id); // of a file, perhaps not aligned
  size_t size = (size_t)pb_type_bits(r->to) / 8;
  uint8_t* to = pb_alloc_array(&r->consts->arena, (size_t)count + 1, size);
  for (uint64_t k = 0; k < count; ++k) {
    float number;
    memcpy(&number, from + k * sizeof number, sizeof number);
    uint16_t code = pb_narrow_of(r->to, (double)number);
    memcpy(to + k * size, &code, size); // the low bytes of a little-endian number
  }
  return r->weights[id] = pb_consts_add(r->consts, wide->name, r->to, wide->rank, wide->shape, to);
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

// Whether each number of the constant is one of the narrow type.
static bool is_narrow(const narrower* r, int id) {
  const pb_const* wide = r->consts->items[id];
  const char* from = pb_const_data(r->consts, id);
  for (uint64_t k = 0; k < wide->bytes / sizeof(float); ++k) {
    float number;
    memcpy(&number, from + k * sizeof number, sizeof number);
    float back = pb_narrow_number(r->to, pb_narrow_of(r->to, (double)number));
    if (memcmp(&back, &number, sizeof back) && number == number) return false;
  }
  return true;
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

// Whether the value, or the one that it is another shape of, is there in the narrow type.
static bool was_narrow(const narrower* r, int value) { return r->narrow[pb_s1_base(r->program, value)] >= 0; }

static bool takes(const narrower* r, int value, int weights) {
  if (r->exact && value >= 0 && (size_t)value < r->values && (!was_narrow(r, value) || !is_narrow(r, weights)))
    return false;
  return value >= 0 && (size_t)value < r->values && r->program->values[value].type == PB_F32 &&
         r->program->values[value].const_id < 0 && r->consts->items[weights]->type == PB_F32;
}

static bool convolution_gains(const narrower* r, const pb_s1_op* op) {
  const pb_const* w = r->consts->items[op->weights]; // [o, c, h, w] or [o, k]
  return r->all || (op->groups <= 1 && w->shape[1] % TOGETHER == 0);
}

static bool product_gains(const narrower* r, const pb_s1_op* op) {
  const pb_const* w = r->consts->items[op->weights]; // [.., k, n]
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

static void multiply(const narrower* r, pb_nest* nest) {
  nest->access[0].type = nest->access[1].type = pb_type_stored(r->to);
  nest->expr_count = 0;
  int a = pb_scalar_load(nest, 0, r->to);
  pb_nest_node(nest, PB_OP_MUL, PB_F32, a, pb_scalar_load(nest, 1, r->to));
}

// The operator names what its nest reads as well.
static void take_nest(pb_s1_op* op, const pb_nest* nest) {
  int* const named[] = {&op->x, &op->z, &op->third};
  for (int a = 0; a + 1 < nest->access_count; ++a)
    for (int k = 0; k < 3; ++k)
      if (*named[k] == op->nest->access[a].buffer) *named[k] = nest->access[a].buffer;
  op->nest = nest;
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
  multiply(r, nest);
  take_nest(op, nest);
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

// Whether the nest takes each element to the same place: both accesses have the same indices, one for each turn.
static bool keeps_places(const pb_nest* nest) {
  const pb_access *x = &nest->access[0], *y = &nest->access[1];
  int64_t turns = 1, elements = 1;
  bool keeps = !x->boxed && !x->gathered && !y->gathered && x->rank == y->rank;
  for (int d = 0; d < nest->dim_count; ++d) turns *= nest->extent[d];
  for (int r = 0; keeps && r < x->rank; ++r) {
    elements *= x->shape[r];
    keeps = x->shape[r] == y->shape[r] && x->index[r].cst == y->index[r].cst;
    for (int d = 0; keeps && d < nest->dim_count; ++d) keeps = x->index[r].coef[d] == y->index[r].coef[d];
  }
  return keeps && turns == elements;
}

// The value whose elements the operator widens, each to the same place; -1: it does something else.
static int widened_by(const narrower* r, const pb_s1_op* op) {
  if (op->kind == PB_S1_EACH && op->each == PB_S1_CAST)
    return r->program->values[op->x].type == r->to && r->program->values[op->y].type == PB_F32 ? op->x : -1;
  const pb_nest* n = op->kind == PB_S1_NEST ? op->nest : NULL;
  if (!n || n->reduce != PB_SET || n->access_count != 2 || n->expr_count < 2 || !keeps_places(n)) return -1;
  int from = n->access[0].buffer, load = pb_half_widens(n->expr, n->expr_count - 1, r->to);
  return load >= 0 && r->program->values[from].type == r->to && r->program->values[from].const_id < 0 ? from : -1;
}

static int narrow_program(pb_s1* program, pb_consts* consts, pb_type to, bool all, bool exact) {
  pb_arena scratch = {0};
  narrower r = {.program = program, .consts = consts, .to = to, .all = all, .exact = exact};
  r.values = program->value_count;
  r.narrow = PB_NEW_ARRAY(&scratch, int, program->value_count + 1);
  r.weights = PB_NEW_ARRAY(&scratch, int, consts->count + 1);
  memset(r.narrow, 0xff, sizeof(int) * program->value_count);
  memset(r.weights, 0xff, sizeof(int) * consts->count);
  int count = 0;
  for (size_t k = 0; k < program->op_count; ++k) {
    pb_s1_op op = program->ops[k];
    if (pb_s1_is_control(&op)) memset(r.narrow, 0xff, sizeof(int) * r.values); // what is made there may not be here
    int from = exact ? widened_by(&r, &op) : -1;
    if (from >= 0) r.narrow[op.kind == PB_S1_NEST ? op.nest->access[1].buffer : op.y] = from;
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

int pb_s1_narrow(pb_s1* program, pb_consts* consts, pb_type to, bool all) {
  return narrow_program(program, consts, to, all, false);
}

int pb_s1_narrow_again(pb_s1* program, pb_consts* consts, pb_type to, bool all) {
  int count = narrow_program(program, consts, to, all, true);
  if (count) pb_s1_drop_unread(program);
  return count;
}
