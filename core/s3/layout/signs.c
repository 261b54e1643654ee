// Inside `layout`: codes that products read without sign are stored so. An instruction that takes one factor without
// sign reads x with its sign bit flipped (contract.c); where every product that reads a tensor of the network's own
// does, what makes the tensor flips the bit once instead, and what reads it element by element flips it back.
//
//   before   x[i] = fptosi8(a[i]);       y[o] += zext(x[i] ^ -128) * w[o, i]
//   after    x[i] = fptosi8(a[i]) ^ -128; y[o] += zext(x[i]) * w[o, i]
#include "core/s3/kernel/join.h"
#include "core/s3/layout/layout.h"

#include <string.h>

static double half_of(pb_type type) { return -(double)((int64_t)1 << (pb_type_bits(type) - 1)); }

int pb__layout_turn_sign(pb_nest* nest, pb_type type, int code) {
  int half = pb_nest_const(nest, type, half_of(type));
  return pb_nest_node(nest, PB_OP_XOR, type, code, half);
}

static bool is_pointwise(const pb_nest* nest) {
  return pb_join_takes(nest) && nest->expr_count + 2 * nest->access_count < PB_NEST_EXPR;
}

static int reads(const pb_layout* l, int n, int v, int* access) {
  int count = 0;
  for (int a = 0; a + 1 < l->program.nests[n].access_count; ++a)
    if (l->program.value_of[n][a] == v) *access = a, ++count;
  return count;
}

// Whether nest n can do without the sign of v. *products counts those that gain.
static bool allows(pb_layout* l, int n, int v, int* products) {
  const pb_nest* nest = &l->program.nests[n];
  int access = -1;
  pb_contraction_dims roles;
  if (pb__layout_is_apart(l, n) || l->program.gone[n]) return false;
  if (pb_program_stored(&l->program, n) == v) {
    bool fills = nest->access_count == 1 && nest->expr_count == 1 && nest->expr[0].op == PB_OP_CONST;
    return nest->reduce == PB_SET && (fills || is_pointwise(nest)) && !reads(l, n, v, &access);
  }
  if (is_pointwise(nest)) return true;
  if (reads(l, n, v, &access) != 1 || !pb__layout_contraction_dims(l, n, &roles) || roles.x != access) return false;
  ++*products;
  return pb__layout_flips(l, n, &roles);
}

static void flip_store(pb_nest* nest) {
  pb_expr_node* last = &nest->expr[nest->expr_count - 1];
  pb_type type = last->type;
  if (last->op == PB_OP_CONST) {
    last->integer = last->integer < 0 ? last->integer - (int64_t)half_of(type) : last->integer + (int64_t)half_of(type);
    last->value = (double)last->integer;
    return;
  }
  (void)pb__layout_turn_sign(nest, type, nest->expr_count - 1);
}

// Every load of v, flipped back.
static void flip_loads(pb_layout* l, int n, int v) {
  pb_nest* nest = &l->program.nests[n];
  pb_expr_node from[PB_NEST_EXPR];
  int map[PB_NEST_EXPR], count = nest->expr_count;
  memcpy(from, nest->expr, sizeof *from * (size_t)count);
  nest->expr_count = 0;
  for (int e = 0; e < count; ++e) {
    map[e] = pb_nest_node_from(nest, from[e], map);
    if (from[e].op == PB_OP_LOAD && l->program.value_of[n][from[e].operand] == v)
      map[e] = pb__layout_turn_sign(nest, from[e].type, map[e]);
  }
}

void pb__layout_store_without_sign(pb_layout* l) {
  for (int v = 0; v < l->program.value_count; ++v) {
    const pb_value* value = &l->program.values[v];
    int products = 0;
    bool all = value->kind == PB_VALUE_LOCAL && value->type == PB_I8;
    PB_FOR_USES (n, &l->program, v) all = all && allows(l, n, v, &products);
    if (!all || !products) continue;
    PB_FOR_USES (n, &l->program, v) {
      if (pb_program_stored(&l->program, n) == v)
        flip_store(&l->program.nests[n]);
      else
        flip_loads(l, n, v);
    }
  }
}
