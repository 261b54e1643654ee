#include "core/math/math.h"

#include <string.h>

static int uses_of(const pb_nest* n, int node) {
  int uses = 0;
  for (int k = 0; k < n->expr_count; ++k)
    for (int a = 0; a < 3; ++a) uses += n->expr[k].args[a] == node;
  return uses;
}

// The operand of a sum or difference that is a product of its own, -1: none.
static int product_of(const pb_nest* n, int first, int result, int node) {
  const pb_expr_node* sum = &n->expr[node];
  if ((sum->op != PB_OP_ADD && sum->op != PB_OP_SUB) || sum->type != PB_F32) return -1;
  for (int side = 1; side >= 0; --side) {
    int product = sum->args[side];
    if (product >= first && product != result && n->expr[product].op == PB_OP_MUL && uses_of(n, product) == 1)
      return side;
  }
  return -1;
}

typedef struct fuser {
  pb_expr_node from[PB_NEST_EXPR];
  int map[PB_NEST_EXPR];
  pb_nest* nest;
} fuser;

static int negated(fuser* f, int node) { return pb_nest_node(f->nest, PB_OP_NEG, PB_F32, node, -1); }

// a * b + c, a * b - c or c - a * b.
static int fused(fuser* f, const pb_expr_node* sum, int side) {
  const pb_expr_node* product = &f->from[sum->args[side]];
  int a = f->map[product->args[0]], b = f->map[product->args[1]], c = f->map[sum->args[1 - side]];
  if (sum->op == PB_OP_SUB && side == 1) a = negated(f, a);
  if (sum->op == PB_OP_SUB && side == 0) c = negated(f, c);
  int id = pb_nest_node(f->nest, PB_OP_FMA, PB_F32, a, b);
  f->nest->expr[id].args[2] = c;
  return id;
}

int pb_math_fuse(pb_nest* nest, int first, int result) {
  fuser f = {.nest = nest};
  int count = nest->expr_count, side[PB_NEST_EXPR];
  bool gone[PB_NEST_EXPR] = {false};
  for (int k = 0; k < count; ++k) {
    side[k] = k < first ? -1 : product_of(nest, first, result, k);
    if (side[k] >= 0) gone[nest->expr[k].args[side[k]]] = true;
    f.map[k] = k;
  }
  memcpy(f.from, nest->expr, sizeof f.from);
  nest->expr_count = first;
  for (int k = first; k < count; ++k) {
    pb_expr_node node = f.from[k];
    if (gone[k]) continue;
    if (side[k] >= 0) {
      f.map[k] = fused(&f, &node, side[k]);
      continue;
    }
    f.map[k] = pb_nest_node_from(nest, node, f.map);
  }
  return f.map[result];
}
