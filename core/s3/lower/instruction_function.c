// An instruction as a function: its semantics in loops over its windows. A core's takes registers whole, each a vector
// of all its elements, and has windows of them for itself.
#include "core/s3/lower/instruction.h"

#include "core/base/arena.h"
#include "core/poly/nest.h"
#include "core/s3/kernel/around.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct body {
  pb_text* t;
  const pb_chip* chip;
  const pb_instruction_use* use;
  const pb_insn* insn;
  pb_type type;
  int indent;
  pb_expr_node expr[PB_MAX_EXPR]; // the instruction's, of the types that the IR has
} body;

static void begin_body(body* b, pb_text* text, const pb_chip* chip, const pb_instruction_use* use) {
  b->t = text;
  b->chip = chip;
  b->use = use;
  b->insn = use->insn;
  b->type = use->type;
  b->indent = 1;
  memcpy(b->expr, b->insn->expr, sizeof *b->expr * (size_t)b->insn->expr_count);
  for (int e = 0; e < b->insn->expr_count; ++e) b->expr[e].type = pb__instruction_ir_type(b->expr[e].type);
}

// Ends a line with the element of a window where the loops are; `row`: a name for its first index, "": the loop's.
static void end_with_element(body* b, int o, const char* row) {
  const pb_operand* operand = &b->insn->operands[o];
  pb_text_add(b->t, "%%w_%d[%s", o, row);
  for (int k = *row != 0; k < operand->rank; ++k) pb_text_add(b->t, "%s%%i%d", k ? ", " : "", operand->dims[k]);
  pb_text_add(b->t, "] : ");
  pb_instruction_window_type(b->t, b->chip, operand, b->type);
  pb_text_add(b->t, "\n");
}

static const char* type_name(const body* b, pb_type own) {
  return pb_type_name(b->type == PB_TYPE_COUNT ? pb__instruction_ir_type(own) : b->type);
}

// A boxed window reads its fill value outside: the load stands behind the test, as there is nothing to load there.
static void boxed_load(body* b, int o, int node) {
  const pb_operand* operand = &b->insn->operands[o];
  char inside[32] = "";
  int tests = 0;
  for (int k = 0; k < operand->rank; ++k) {
    if (operand->box_lo[k] < 0) continue;
    for (int side = 0; side < 2; ++side) {
      pb_text_line(b->t, b->indent, "%%b%d_%d = arith.cmpi %s, %%i%d, %%%s_%d_%d : index\n", node, tests,
                   side ? "slt" : "sge", operand->dims[k], side ? "h" : "l", o, k);
      if (tests)
        pb_text_line(b->t, b->indent, "%%c%d_%d = arith.andi %%%s, %%b%d_%d : i1\n", node, tests, inside, node, tests);
      snprintf(inside, sizeof inside, "%c%d_%d", tests ? 'c' : 'b', node, tests);
      ++tests;
    }
  }
  const char* type = type_name(b, operand->type);
  if (operand->fill < 0) {
    pb_text_line(b->t, b->indent, "%%f_%d = arith.constant ", o);
    pb_number_print(b->t, b->type == PB_TYPE_COUNT ? pb__instruction_ir_type(operand->type) : b->type, 0);
    pb_text_add(b->t, " : %s\n", type);
  }
  pb_text_line(b->t, b->indent, "%%e%d = scf.if %%%s -> %s {\n", node, inside, type);
  pb_text_line(b->t, b->indent + 1, "%%v%d = memref.load ", node);
  end_with_element(b, o, "");
  pb_text_line(b->t, b->indent, "  scf.yield %%v%d : %s\n", node, type);
  pb_text_line(b->t, b->indent, "} else {\n");
  pb_text_line(b->t, b->indent, "  scf.yield %%f_%d : %s\n", o, type);
  pb_text_line(b->t, b->indent, "}\n");
}

// An element of a table at the number that another node computes, or of the row that it names, which is kept among
// the table's.
static void table_load(body* b, int id) {
  const pb_expr_node* n = &b->expr[id];
  const pb_operand* table = &b->insn->operands[n->operand];
  bool rows = table->rows >= 0;
  char row[32];
  pb_text_line(b->t, b->indent, "%%%c%d = arith.index_cast %%e%d : i32 to index\n", rows ? 'n' : 'x', id, n->args[0]);
  if (rows) {
    pb_text_line(b->t, b->indent, "%%l%d = arith.subi %%to%d, %%one : index\n", id, table->dims[0]);
    pb_text_line(b->t, b->indent, "%%k%d = arith.maxsi %%n%d, %%zero : index\n", id, id);
    pb_text_line(b->t, b->indent, "%%x%d = arith.minsi %%k%d, %%l%d : index\n", id, id, id);
  }
  snprintf(row, sizeof row, "%%x%d", id);
  pb_text_line(b->t, b->indent, "%%e%d = memref.load ", id);
  end_with_element(b, n->operand, row);
}

static void print_load(body* b, int id) {
  const pb_expr_node* n = &b->expr[id];
  if (n->args[0] >= 0) {
    table_load(b, id);
  } else if (b->insn->operands[n->operand].has_box) {
    boxed_load(b, n->operand, id);
  } else {
    pb_text_line(b->t, b->indent, "%%e%d = memref.load ", id);
    end_with_element(b, n->operand, "");
  }
}

static void print_immediate(body* b, int id) {
  const pb_expr_node* n = &b->expr[id];
  bool f = n->type == PB_F32;
  const char* type = pb_type_name(n->type);
  pb_text_line(b->t, b->indent, "%%z%d = arith.constant %s : %s\n", id, f ? "-0.0" : "0", type);
  pb_text_line(b->t, b->indent, "%%e%d = arith.%s %%m_%d, %%z%d : %s\n", id, f ? "addf" : "ori", n->operand, id, type);
}

static void print_constant(body* b, int id) {
  pb_text_line(b->t, b->indent, "%%e%d = arith.constant ", id);
  pb_constant_print(b->t, &b->expr[id]);
  pb_text_add(b->t, " : %s\n", pb_type_name(b->expr[id].type));
}

static void print_operation(body* b, int id) {
  const pb_expr_node* n = &b->expr[id];
  pb_text_line(b->t, b->indent, "%%e%d = %s", id, pb_node_spelling(b->expr, id));
  for (int a = 0; a < 3 && n->args[a] >= 0; ++a) pb_text_add(b->t, "%s %%e%d", a ? "," : "", n->args[a]);
  pb_text_add(b->t, " : ");
  pb_op_print_types(b->t, b->expr, id, 1);
  pb_text_add(b->t, "\n");
}

static void print_node(body* b, int id) {
  const pb_expr_node* n = &b->expr[id];
  switch (n->op) {
  case PB_OP_LOAD:
    print_load(b, id);
    break;
  case PB_OP_INDEX:
    pb_text_line(b->t, b->indent, "%%e%d = arith.index_cast %%i%d : index to i32\n", id, n->operand);
    break;
  case PB_OP_IMM:
    print_immediate(b, id);
    break;
  case PB_OP_CONST:
    print_constant(b, id);
    break;
  case PB_OP_RECIP:
    pb_text_line(b->t, b->indent, "%%one%d = arith.constant 1.0 : f32\n", id);
    pb_text_line(b->t, b->indent, "%%e%d = arith.divf %%one%d, %%e%d : f32\n", id, id, n->args[0]);
    break;
  default:
    print_operation(b, id);
  }
}

// The sum so far inside `depth` loops, which begins as `start`.
static void name_sum(int depth, const char* start, char name[32]) {
  if (depth)
    snprintf(name, 32, "acc%d", depth - 1);
  else
    snprintf(name, 32, "%s", start);
}

// Those over the dims of the result, or (`reduced`) over those that it lacks.
static void open_loops(body* b, bool reduced, const char* carried) {
  const char* type = pb_type_name(b->insn->operands[b->insn->dest].type);
  int depth = 0;
  for (int d = 0; d < b->insn->dim_count; ++d) {
    if (pb_insn_reduces_over(b->insn, d) != reduced || b->insn->dims[d].table) continue;
    if (!carried) {
      pb_text_line(b->t, b->indent, "scf.for %%i%d = %%zero to %%to%d step %%one {\n", d, d);
    } else {
      char from[32];
      name_sum(depth, carried, from);
      pb_text_line(b->t, b->indent,
                   "%%sum%d = scf.for %%i%d = %%zero to %%to%d step %%one iter_args(%%acc%d = %%%s) -> (%s) {\n", depth,
                   d, d, depth, from, type);
    }
    ++b->indent;
    ++depth;
  }
}

static int reduced_dims(const pb_insn* insn) {
  int n = 0;
  for (int d = 0; d < insn->dim_count; ++d) n += pb_insn_reduces_over(insn, d);
  return n;
}

static void print_value(body* b) {
  for (int k = 0; k < b->insn->expr_count; ++k) print_node(b, k);
}

// %start: what is there, or what the reduction begins with, as the accumulate flag says.
static void start_from_flag(body* b) {
  const pb_insn* insn = b->insn;
  pb_type type = insn->operands[insn->dest].type;
  const char* name = pb_type_name(type);
  pb_text_line(b->t, b->indent, "%%neutral = arith.constant ");
  pb_number_print(b->t, type, pb_reduce_neutral(insn->reduce, type));
  pb_text_add(b->t, " : %s\n", name);
  pb_text_line(b->t, b->indent, "%%start = arith.select %%m_%d, %%old, %%neutral : %s\n", insn->acc_flag, name);
}

static const char* combination_of(const pb_insn* insn) {
  return pb_op_spelling(pb_reduce_op(insn->reduce), insn->operands[insn->dest].type);
}

static void print_reduction(body* b) {
  const pb_insn* insn = b->insn;
  pb_type type = insn->operands[insn->dest].type;
  const char* name = pb_type_name(type);
  pb_text_line(b->t, b->indent, "%%old = memref.load ");
  end_with_element(b, insn->dest, "");
  const char* start = insn->acc_flag < 0 ? "old" : "start";
  if (insn->acc_flag >= 0) start_from_flag(b);
  int n = reduced_dims(insn), value = insn->expr_count - 1;
  const char* combine = combination_of(insn);
  if (n) open_loops(b, true, start);
  print_value(b);
  char inner[32];
  name_sum(n, start, inner);
  pb_text_line(b->t, b->indent, "%%new = %s %%%s, %%e%d : %s\n", combine, inner, value, name);
  for (int k = n - 1; k >= 0; --k) {
    if (k == n - 1)
      pb_text_line(b->t, b->indent, "scf.yield %%new : %s\n", name);
    else
      pb_text_line(b->t, b->indent, "scf.yield %%sum%d : %s\n", k + 1, name);
    --b->indent;
    pb_text_line(b->t, b->indent, "}\n");
  }
  pb_text_line(b->t, b->indent, "memref.store %s, ", n ? "%sum0" : "%new");
  end_with_element(b, insn->dest, "");
}

static void print_loops(body* b) {
  const pb_insn* insn = b->insn;
  open_loops(b, false, NULL);
  if (insn->reduce == PB_SET) {
    print_value(b);
    pb_text_line(b->t, b->indent, "memref.store %%e%d, ", insn->expr_count - 1);
    end_with_element(b, insn->dest, "");
  } else {
    print_reduction(b);
  }
  while (b->indent > 1) {
    --b->indent;
    pb_text_line(b->t, b->indent, "}\n");
  }
}

static void print_extents(body* b) {
  pb_text_line(b->t, b->indent, "%%zero = arith.constant 0 : index\n");
  pb_text_line(b->t, b->indent, "%%one = arith.constant 1 : index\n");
  for (int d = 0; d < b->insn->dim_count; ++d) {
    int64_t told = b->use->extent[d];
    if (b->insn->dims[d].field < 0)
      pb_text_line(b->t, b->indent, "%%to%d = arith.constant %lld : index\n", d,
                   (long long)(told ? told : b->insn->dims[d].max));
    else
      pb_text_line(b->t, b->indent, "%%to%d = arith.addi %%x_%d, %%zero : index\n", d, d);
  }
}

// ---- a core's ----

static int64_t elements_of(const body* b, int o) {
  bool inside = pb__instruction_in_register(b->chip, b->insn, o);
  return inside ? pb__instruction_register_elements(b->chip, &b->insn->operands[o]) : b->use->elements;
}

// Of what an operand's window is in: a register's buffer, or the tensor in memory.
static void print_flat_type(const body* b, int o, pb_text* text) {
  const pb_operand* operand = &b->insn->operands[o];
  const pb_memory* memory = &b->chip->memories[operand->memory];
  pb_text_add(text, "memref<%lldx%s", (long long)elements_of(b, o),
              pb_type_name(pb__instruction_ir_type(operand->type)));
  if (!pb_is_outside(memory)) pb_text_add(text, ", \"%s\"", memory->name);
  pb_text_add(text, ">");
}

// A register gets a buffer, which holds what stood in it.
static void print_buffer(body* b, int o) {
  pb_text type = {0};
  print_flat_type(b, o, &type);
  pb_text_line(b->t, b->indent, "%%f_%d = memref.alloca() : %s\n", o, type.data);
  if (o != b->insn->dest || b->insn->reduce != PB_SET) {
    pb_text_add(&type, ", ");
    pb_instruction_register_type(&type, b->chip, &b->insn->operands[o]);
    pb_text_line(b->t, b->indent, "vector.store %%r_%d, %%f_%d[%%zero] : %s\n", o, o, type.data);
  }
  pb_text_free(&type);
}

// Elements of a register lie right behind each other, as its dims have it at their largest.
static void print_window(body* b, int o) {
  const pb_operand* operand = &b->insn->operands[o];
  bool inside = pb__instruction_in_register(b->chip, b->insn, o);
  pb_arena names = {0};
  pb_text type = {0};
  print_flat_type(b, o, &type);
  pb_window window = {.whole = pb_printf(&names, "%%%c_%d", inside ? 'f' : 'r', o),
                      .whole_type = type.data,
                      .base = inside ? "%zero" : pb_printf(&names, "%%at_%d", o)};
  int64_t stride = 1;
  if (inside) print_buffer(b, o);
  for (int k = operand->rank - 1; k >= 0; --k) {
    window.extents[k] = pb_printf(&names, "%%to%d", operand->dims[k]);
    window.strides[k] = pb_printf(&names, "%%s%d_%d", o, k);
    pb_text_line(b->t, b->indent, "%s = arith.constant %lld : index\n", window.strides[k],
                 (long long)(inside || k ? stride : b->use->stride));
    stride *= b->insn->dims[operand->dims[k]].max;
  }
  pb_text_line(b->t, b->indent, "%%w_%d = ", o);
  pb_instruction_print_window(b->t, b->chip, operand, PB_TYPE_COUNT, &window);
  pb_text_free(&type);
  pb_arena_free(&names);
}

static void print_return(body* b) {
  int made = b->insn->dest;
  if (!pb_instruction_makes_register(b->chip, b->insn)) {
    pb_text_line(b->t, b->indent, "return\n");
    return;
  }
  pb_text type = {0};
  pb_instruction_register_type(&type, b->chip, &b->insn->operands[made]);
  pb_text_line(b->t, b->indent, "%%made = vector.load %%f_%d[%%zero] : ", made);
  print_flat_type(b, made, b->t);
  pb_text_add(b->t, ", %s\n", type.data);
  pb_text_line(b->t, b->indent, "return %%made : %s\n", type.data);
  pb_text_free(&type);
}

// Which instruction it is, and how it is used: the description has the rest.
static void print_attributes(body* b) {
  const pb_insn* insn = b->insn;
  pb_text_add(b->t, " attributes {pb.instruction = \"%s\"", insn->name);
  for (int d = 0; d < insn->dim_count && insn->shape_count; ++d)
    pb_text_add(b->t, "%s%lld", d ? ", " : ", pb.extents = array<i64: ", (long long)b->use->extent[d]);
  if (insn->shape_count) pb_text_add(b->t, ">");
  if (b->use->elements) pb_text_add(b->t, ", pb.stride = %lld : i64", (long long)b->use->stride);
  pb_text_add(b->t, "} {\n");
}

void pb__instruction_function(pb_text* text, const pb_chip* chip, const pb_instruction_use* use) {
  body b;
  begin_body(&b, text, chip, use);
  pb__instruction_head(text, chip, use);
  print_attributes(&b);
  print_extents(&b);
  for (int o = 0; pb__instruction_on_registers(use->insn) && o < use->insn->operand_count; ++o) print_window(&b, o);
  print_loops(&b);
  print_return(&b);
  pb_text_add(text, "}\n");
}
