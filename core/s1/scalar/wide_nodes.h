// Inside stage S1: nodes of f64, written short, for functions that are computed so whatever their type.
#ifndef PB_S1_WIDE_NODES_H
#define PB_S1_WIDE_NODES_H

#include "core/s1/scalar/nodes.h"

static inline int wide(pb_nest* n, int v) { return n->expr[v].type == PB_F32 ? node(n, PB_OP_EXTF, PB_F64, v, -1) : v; }
static inline int as(pb_nest* n, int v, int of) {
  return n->expr[of].type == PB_F32 ? node(n, PB_OP_TRUNCF, PB_F32, v, -1) : v;
}
static inline int number(pb_nest* n, double value) { return pb_nest_const(n, PB_F64, value); }
static inline int add(pb_nest* n, int a, int b) { return same(n, PB_OP_ADD, a, b); }
static inline int sub(pb_nest* n, int a, int b) { return same(n, PB_OP_SUB, a, b); }
static inline int mul(pb_nest* n, int a, int b) { return same(n, PB_OP_MUL, a, b); }
static inline int over(pb_nest* n, int a, int b) { return same(n, PB_OP_DIV, a, b); }
static inline int call(pb_nest* n, pb_op op, int a) { return same(n, op, a, -1); }
static inline int less(pb_nest* n, int a, int b) { return compare(n, PB_OP_LESS, a, b); }
static inline int less_equal(pb_nest* n, int a, int b) { return compare(n, PB_OP_LESS_EQUAL, a, b); }

static inline int with_sign(pb_nest* n, int magnitude, int of) {
  int all = integer(n, PB_I64, INT64_MIN);
  all = same(n, PB_OP_AND, bits(n, of), all);
  all = same(n, PB_OP_OR, bits(n, magnitude), all);
  return node(n, PB_OP_BITCAST, PB_F64, all, -1);
}

#endif
