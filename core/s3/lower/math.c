// Math: functions that no instruction of the chip computes become plain operations, by the one table in core/math.
// Requires the program function in value form; leaves it so, nest by nest. Before outline and plan, which see what the
// operations cost. The results differ from the C library's, which runs the IR in front of this pass, by the errors that
// the table states.
#include "core/math/math.h"

#include "core/s3/kernel/landing.h"
#include "core/s3/kernel/vector.h"
#include "core/s3/kernels.h"
#include "core/s3/program.h"

static bool chip_has(const pb_chip* chip, pb_op op) {
  for (int i = 0; i < chip->insn_count; ++i)
    for (int e = 0; e < chip->insns[i].expr_count; ++e)
      if (chip->insns[i].expr[e].op == op) return true;
  return false;
}

static const pb_math_row* lacking(const pb_chip* chip, const pb_expr_node* node) {
  const pb_math_row* row = pb_math_find(node->op);
  return row && !chip_has(chip, node->op) ? row : NULL;
}

static int expanded(const pb_math_row* row, pb_nest* to, const pb_expr_node* node) {
  bool wide = node->type == PB_F64;
  if (node->args[1] < 0) return (wide ? row->wide : row->expand)(to, node->args[0]);
  return (wide ? row->wide_two : row->expand_two)(to, node->args[0], node->args[1]);
}

// How many nodes that makes, found in a nest of its own. Operands are loads: an expansion takes a constant that is
// there already for its own.
static int nodes_of(const pb_math_row* row, const pb_expr_node* node, pb_nest* scratch) {
  pb_expr_node call = *node;
  scratch->expr_count = 0;
  for (int a = 0; a < 2 && node->args[a] >= 0; ++a)
    call.args[a] = pb_nest_node(scratch, PB_OP_LOAD, node->type, -1, -1);
  int before = scratch->expr_count;
  (void)expanded(row, scratch, &call);
  return scratch->expr_count - before;
}

static pb_status expand(pb_unit* unit, const pb_nest* from, bool fuses, pb_nest* to) {
  int map[PB_NEST_EXPR];
  pb_nest* scratch = NULL;
  pb_nest_copy(to, from);
  to->expr_count = 0;
  for (int e = 0; e < from->expr_count; ++e) {
    pb_expr_node node = from->expr[e];
    const pb_math_row* row = lacking(unit->chip, &node);
    if (row && !pb_math_has(row, node.type))
      return pb_unsupported(unit->diag, (pb_place){.what = from->name}, 4046, NULL,
                            "%s of %s: the chip has no instruction for it, and it is not computed without", row->name,
                            pb_type_name(node.type));
    if (row && !scratch) scratch = PB_NEW(&unit->pass, pb_nest);
    if (to->expr_count + (row ? nodes_of(row, &node, scratch) : 1) > PB_NEST_EXPR)
      return pb_unsupported(unit->diag, (pb_place){.what = from->name}, 4045, "split the expression",
                            "too many functions in one nest");
    if (!row) {
      map[e] = pb_nest_node_from(to, node, map);
      continue;
    }
    for (int a = 0; a < 3; ++a)
      if (node.args[a] >= 0) node.args[a] = map[node.args[a]];
    int before = to->expr_count;
    map[e] = expanded(row, to, &node);
    if (fuses && node.type == PB_F32) map[e] = pb_math_fuse(to, before, map[e]);
  }
  if (pb_nest_store(to)->gathered) to->stored_at = map[from->stored_at];
  return PB_OK;
}

// A comparison that is no more than the test of a byte, which is how truths lie in memory.
static bool tests_byte(const pb_nest* nest, int node) {
  const pb_expr_node* n = &nest->expr[node];
  const pb_expr_node* zero = n->args[0] >= 0 ? &nest->expr[n->args[0]] : NULL;
  return n->op == PB_OP_LESS && zero && zero->op == PB_OP_CONST && zero->type == PB_I8 && zero->integer == 0;
}

static bool has_truths(const pb_nest* nest) {
  for (int e = 0; e < nest->expr_count; ++e)
    if (nest->expr[e].type == PB_I1 && !tests_byte(nest, e)) return true;
  return false;
}

static int add_node(pb_nest* nest, pb_expr_node node) {
  nest->expr[nest->expr_count] = node;
  return nest->expr_count++;
}

// Truths between operations become bytes, 0 or 1: what one instruction leaves for another lies in a memory. false: it
// does more with them than to choose and to combine.
static bool with_bytes(const pb_nest* from, pb_nest* to) {
  int map[PB_NEST_EXPR], byte_of[PB_NEST_EXPR]; // byte_of: the byte that node e of `from` is, -1: it is no such truth
  pb_nest_copy(to, from);
  to->expr_count = 0;
  for (int e = 0; e < from->expr_count; ++e) {
    pb_expr_node node = from->expr[e];
    bool combines = node.op == PB_OP_AND || node.op == PB_OP_OR || node.op == PB_OP_XOR;
    if (to->expr_count + 4 > PB_NEST_EXPR) return false;
    byte_of[e] = -1;
    if (node.op == PB_OP_ZEXT && node.type == PB_I8 && byte_of[node.args[0]] >= 0) {
      map[e] = byte_of[node.args[0]];
      continue;
    }
    for (int a = 0; a < 3; ++a) {
      if (node.args[a] < 0) continue;
      int byte = byte_of[node.args[a]];
      if (node.type == PB_I1 && combines && byte < 0) return false;
      node.args[a] = node.type == PB_I1 && combines ? byte : map[node.args[a]];
    }
    if (node.type != PB_I1 || tests_byte(from, e)) {
      map[e] = add_node(to, node);
      continue;
    }
    if (combines) node.type = PB_I8;
    if (!combines && !pb_op_compares(node.op)) return false;
    int value = add_node(to, node);
    byte_of[e] =
        combines ? value : add_node(to, (pb_expr_node){.op = PB_OP_ZEXT, .type = PB_I8, .args = {value, -1, -1}});
    int zero = pb_nest_integer(to, PB_I8, 0);
    map[e] = add_node(to, (pb_expr_node){.op = PB_OP_LESS, .type = PB_I1, .args = {zero, byte_of[e], -1}});
  }
  int last = map[from->expr_count - 1]; // the value stands last
  if (last != to->expr_count - 1) to->expr_count = last + 1;
  return true;
}

// Bytes in the place of truths where no instructions compute the nest as it is.
static void lay_truths(const pb_unit* unit, pb_nest* nest, pb_nest* scratch) {
  if (nest->reduce != PB_SET || pb_nest_is_fixed(nest) || !has_truths(nest)) return;
  if (pb_point_lands_alone(unit->chip, nest) || !with_bytes(nest, scratch)) return;
  pb_nest_copy(nest, scratch);
}

pb_status pb_s3_math(pb_unit* unit) {
  pb_program program;
  bool any = false;
  PB_TRY(pb_program_read_main(unit, &program));
  for (int n = 0; n < program.nest_count; ++n)
    for (int e = 0; e < program.nests[n].expr_count; ++e)
      any |= lacking(unit->chip, &program.nests[n].expr[e]) ||
             (program.nests[n].expr[e].type == PB_I1 && !pb_point_lands_alone(unit->chip, &program.nests[n]));
  if (!any) return PB_OK;
  pb_nest* nest = pb_alloc_raw(&unit->pass, sizeof *nest);
  pb_select_memo memo = {.chip = unit->chip, .arena = &unit->pass};
  bool fuses = pb_vector_contraction(&memo, PB_F32, PB_F32, PB_F32).insn != NULL;
  for (int n = 0; n < program.nest_count; ++n) {
    PB_TRY(expand(unit, &program.nests[n], fuses, nest));
    pb_nest_copy(&program.nests[n], nest);
    lay_truths(unit, &program.nests[n], nest);
  }
  return pb_program_rewrite(unit, &program, "math");
}
