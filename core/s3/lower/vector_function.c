// A core's instruction as a function over whole registers, from its semantics: what the IR runs until code is made.
#include "core/s3/lower/vector_emit.h"

#include <string.h>

// Elements of a register for a node: its operand's, or all products'.
static void print_vector(pb_text* text, int64_t elements, pb_type type) {
  pb_text_add(text, "vector<%lldx%s>", (long long)elements, pb_type_name(type));
}

static int64_t elements_of(const pb_chip* chip, const pb_operand* operand) {
  return chip->memories[operand->memory].row_bytes * 8 / pb_type_bits(operand->type);
}

static void print_values(pb_text* text, const pb_insn* insn, int64_t products) {
  for (int n = 0; n < insn->expr_count; ++n) {
    const pb_expr_node* node = &insn->expr[n];
    if (node->op == PB_OP_LOAD) {
      pb_text_add(text, "  %%e%d = arith.bitcast %%x%d : ", n, node->operand);
      print_vector(text, products, node->type);
      pb_text_add(text, " to ");
      print_vector(text, products, node->type);
      pb_text_add(text, "\n");
      continue;
    }
    if (node->op == PB_OP_CONST) {
      pb_text_add(text, "  %%e%d = arith.constant dense<", n);
      pb_constant_print(text, node);
      pb_text_add(text, "> : ");
      print_vector(text, products, node->type);
      pb_text_add(text, "\n");
      continue;
    }
    pb_text_add(text, "  %%e%d = %s ", n, pb_node_spelling(insn->expr, n));
    for (int a = 0; a < 3 && node->args[a] >= 0; ++a) pb_text_add(text, "%s%%e%d", a ? ", " : "", node->args[a]);
    pb_text_add(text, " : ");
    if (pb_op_converts(node->op)) {
      print_vector(text, products, insn->expr[node->args[0]].type);
      pb_text_add(text, " to ");
    }
    print_vector(text, products, node->type);
    pb_text_add(text, "\n");
  }
}

// Neighbouring products are added to the lane that they belong to, one after the other.
void pb_vemit_instruction(pb_text* text, const pb_chip* chip, const pb_insn* insn) {
  const pb_operand* y = &insn->operands[insn->dest];
  int64_t lanes = elements_of(chip, y), products = 1;
  for (int d = 0; d < insn->dim_count; ++d) products *= insn->dims[d].max;
  int64_t group = products / lanes;
  pb_text_add(text, "func.func private @%s(", insn->name);
  for (int o = 0; o < insn->operand_count; ++o) {
    pb_text_add(text, "%s%%x%d: ", o ? ", " : "", o);
    print_vector(text, elements_of(chip, &insn->operands[o]), pb_type_stored(insn->operands[o].type));
  }
  pb_text_add(text, ") -> ");
  print_vector(text, lanes, y->type);
  pb_text_add(text, " attributes {pb.emit = \"%s\", pb.types = [", insn->emit);
  for (int o = 0; o < insn->operand_count; ++o)
    pb_text_add(text, "%s%s", o ? ", " : "", pb_type_name(insn->operands[o].type));
  if (insn->adds)
    pb_text_add(text, "]} {\n");
  else
    pb_text_add(text, "], pb.added = %d : i64} {\n", insn->dest);
  print_values(text, insn, products);
  const char* add = pb_op_spelling(insn->reduce == PB_ACC_MAX ? PB_OP_MAX : PB_OP_ADD, y->type);
  for (int64_t g = 0; g < group; ++g) {
    pb_text_add(text, "  %%p%lld = vector.shuffle %%e%d, %%e%d [", (long long)g, insn->expr_count - 1,
                insn->expr_count - 1);
    for (int64_t lane = 0; lane < lanes; ++lane)
      pb_text_add(text, "%s%lld", lane ? ", " : "", (long long)(lane * group + g));
    pb_text_add(text, "] : ");
    print_vector(text, products, y->type);
    pb_text_add(text, ", ");
    print_vector(text, products, y->type);
    pb_text_add(text, "\n  %%s%lld = %s ", (long long)g, add);
    if (g)
      pb_text_add(text, "%%s%lld", (long long)g - 1);
    else
      pb_text_add(text, "%%x%d", insn->dest);
    pb_text_add(text, ", %%p%lld : ", (long long)g);
    print_vector(text, lanes, y->type);
    pb_text_add(text, "\n");
  }
  pb_text_add(text, "  return %%s%lld : ", (long long)group - 1);
  print_vector(text, lanes, y->type);
  pb_text_add(text, "\n}\n");
}
