// Codes by a chip's own formula: its expression with an operator's terms in it.
#include "core/s2/builder.h"

// A code without sign as one with it, and the other way round.
static int turned_over(pb_nest* n, int code) {
  return pb_nest_node(n, PB_OP_XOR, PB_I8, code, pb_nest_integer(n, PB_I8, INT8_MIN));
}

static int term_at(pb_nest* n, const pb_formula* f, const pb_expr_node* node, const int* access) {
  pb_formula_term term = f->operands[node->operand].term;
  int load = pb_nest_load(n, access[term]);
  return f->is_unsigned && (term == PB_TERM_A || term == PB_TERM_B) ? turned_over(n, load) : load;
}

// Appends the formula's nodes to the nest's. access: of each term that is read, the nest's access.
static void print_formula(pb_nest* n, const pb_formula_terms* t, const int* access) {
  const pb_formula* f = t->formula;
  int at[PB_FORMULA_EXPR];
  for (int k = 0; k < f->expr_count; ++k) {
    const pb_expr_node* node = &f->expr[k];
    int arg = node->args[0] >= 0 ? at[node->args[0]] : -1;
    if (node->op == PB_OP_LOAD)
      at[k] = term_at(n, f, node, access);
    else if (node->op == PB_OP_IMM)
      at[k] = pb_nest_integer(n, node->type, t->number[f->operands[node->operand].term]);
    else if (node->op == PB_OP_CONST)
      at[k] = pb_nest_integer(n, node->type, (int64_t)node->value);
    else if ((node->op == PB_OP_SEXT || node->op == PB_OP_ZEXT) && n->expr[arg].op == PB_OP_CONST)
      at[k] = pb_nest_integer(n, node->type, n->expr[arg].integer); // as instructions have their immediates
    else {
      at[k] = pb_nest_node(n, node->op, node->type, arg, node->args[1] >= 0 ? at[node->args[1]] : -1);
      if (node->args[2] >= 0) n->expr[at[k]].args[2] = at[node->args[2]];
    }
  }
  if (f->is_unsigned) (void)turned_over(n, at[f->expr_count - 1]);
}

void pb__s2_sum_formula(builder* b, const pb_s1_op* op, pb_access acc, pb_access y) {
  pb_nest n = pb__s2_start(op, "point");
  int dims[PB_NEST_RANK], access[PB_TERM_COUNT];
  pb__s2_walk(&n, &y, dims);
  n.access[n.access_count++] = pb__s2_along(acc, dims);
  access[PB_TERM_SUM] = 0;
  for (int k = 0; k < op->terms->formula->operand_count; ++k) {
    pb_formula_term term = op->terms->formula->operands[k].term;
    if (op->terms->channels[term] < 0) continue;
    pb_access numbers = pb__s2_on_const(b, op->terms->channels[term]);
    pb__s2_move(&numbers, 0, dims[1], 1);
    access[term] = n.access_count;
    n.access[n.access_count++] = numbers;
  }
  n.access[n.access_count++] = pb__s2_along(y, dims);
  print_formula(&n, op->terms, access);
  pb__s2_print(b, &n);
}

void pb__s2_add_formula(pb_nest* n, const pb_s1_op* op) {
  int access[PB_TERM_COUNT] = {[PB_TERM_A] = 0, [PB_TERM_B] = 1};
  print_formula(n, op->terms, access);
}
