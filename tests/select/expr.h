// Expressions for the tests of selection: nodes in one pool, which a nest points to.
#ifndef PB_TESTS_SELECT_EXPR_H
#define PB_TESTS_SELECT_EXPR_H

#include "core/base/expr.h"

static pb_expr_node pool[64];
static int used;

static int node(pb_op op, pb_type type, int a, int b) {
  pool[used] = (pb_expr_node){.op = op, .type = type, .args = {a, b, -1}, .operand = -1};
  return used++;
}
static int load(pb_type type, int access) {
  int n = node(PB_OP_LOAD, type, -1, -1);
  pool[n].operand = access;
  return n;
}
static int number(pb_type type, double value) {
  int n = node(PB_OP_CONST, type, -1, -1);
  pool[n].value = value;
  return n;
}

#endif
