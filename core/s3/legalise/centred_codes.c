#include "core/s3/layout/layout.h"
#include "core/s3/legalise/legalise.h"

// Whether every load by access a is widened as a number without a sign, and taken in no other way.
static bool reads_unsigned(const pb_nest* nest, int a) {
  for (int e = 0; e < nest->expr_count; ++e) {
    if (nest->expr[e].op != PB_OP_LOAD || nest->expr[e].operand != a) continue;
    if (e + 1 == nest->expr_count) return false; // a copy
    for (int k = e + 1; k < nest->expr_count; ++k)
      for (int side = 0; side < 3; ++side)
        if (nest->expr[k].args[side] == e && nest->expr[k].op != PB_OP_UITOFP && nest->expr[k].op != PB_OP_ZEXT)
          return false;
  }
  return !nest->access[a].boxed && !nest->access[a].gathered;
}

bool pb_can_centre(const pb_program* p, int value) {
  if (!pb_program_is_local(p, value) || p->values[value].type != PB_I8) return false;
  PB_FOR_ACCESSES (n, a, p, value) {
    const pb_nest* nest = &p->nests[n];
    if (a + 1 < nest->access_count) {
      if (!reads_unsigned(nest, a)) return false;
      continue;
    }
    const pb_expr_node* last = &nest->expr[nest->expr_count - 1];
    if (nest->reduce != PB_SET || pb_nest_is_fixed(nest) || last->op != PB_OP_TRUNC) return false;
    if (nest->expr_count + 4 > PB_NEST_EXPR / 2) return false; // each load may become three
  }
  return true;
}

// u(x) becomes s(x) + 128 where x is a load by access a.
static void read_signed(pb_nest* nest, int a, pb_arena* arena) {
  const pb_nest* from = pb_nest_kept(arena, nest);
  int map[PB_NEST_EXPR];
  nest->expr_count = 0;
  for (int e = 0; e < from->expr_count; ++e) {
    pb_expr_node node = from->expr[e];
    const pb_expr_node* taken = node.args[0] >= 0 ? &from->expr[node.args[0]] : NULL;
    bool widens = node.op == PB_OP_UITOFP || node.op == PB_OP_ZEXT;
    bool turns = widens && taken && taken->op == PB_OP_LOAD && taken->operand == a;
    if (turns) node.op = node.op == PB_OP_UITOFP ? PB_OP_SITOFP : PB_OP_SEXT;
    map[e] = pb_nest_node_from(nest, node, map);
    if (!turns) continue;
    bool real = pb_type_is_float(node.type);
    int more = real ? pb_nest_const(nest, node.type, PB_CENTRE) : pb_nest_integer(nest, node.type, PB_CENTRE);
    map[e] = pb_nest_node(nest, PB_OP_ADD, node.type, map[e], more);
  }
}

void pb_centre(pb_program* p, pb_arena* arena, int value) {
  PB_FOR_ACCESSES (n, a, p, value) {
    pb_nest* nest = &p->nests[n];
    if (a + 1 < nest->access_count)
      read_signed(nest, a, arena);
    else
      (void)pb__layout_turn_sign(nest, PB_I8, nest->expr_count - 1);
  }
}
