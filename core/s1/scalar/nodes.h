// Inside stage S1: nodes of a body, written short.
#ifndef PB_S1_NODES_H
#define PB_S1_NODES_H

#include "core/s1/scalar/scalar.h"

#include <string.h>

static inline int node(pb_nest* n, pb_op op, pb_type type, int a, int b) { return pb_nest_node(n, op, type, a, b); }
static inline int same(pb_nest* n, pb_op op, int a, int b) { return node(n, op, n->expr[a].type, a, b); }
static inline int integer(pb_nest* n, pb_type type, int64_t value) { return pb_nest_integer(n, type, value); }
static inline int like(pb_nest* n, int v, double number) {
  pb_type type = n->expr[v].type;
  return pb_type_is_float(type) ? pb_nest_const(n, type, number) : integer(n, type, (int64_t)number);
}
static inline int choose(pb_nest* n, int condition, int yes, int no) {
  int id = node(n, PB_OP_SELECT, n->expr[yes].type, condition, yes);
  n->expr[id].args[2] = no;
  return id;
}
static inline int compare(pb_nest* n, pb_op op, int a, int b) { return node(n, op, PB_I1, a, b); }
static inline int as_byte(pb_nest* n, int condition) { return node(n, PB_OP_ZEXT, PB_I8, condition, -1); }
static inline int inverted(pb_nest* n, int byte) { return same(n, PB_OP_XOR, byte, integer(n, PB_I8, 1)); }
static inline int is_true(pb_nest* n, int byte) { return compare(n, PB_OP_LESS, integer(n, PB_I8, 0), byte); }
static inline pb_type bits_type(pb_type type) { return type == PB_F64 ? PB_I64 : PB_I32; }
static inline int bits(pb_nest* n, int v) { return node(n, PB_OP_BITCAST, bits_type(n->expr[v].type), v, -1); }

#endif
