#include "core/s3/lower/instruction.h"

#include "core/poly/nest.h"

#include <math.h>
#include <mlir-c/BuiltinAttributes.h>
#include <stdio.h>
#include <string.h>

// In IR codes of 4 bits have a byte each.
static pb_type in_ir(pb_type type) { return type == PB_I4 ? PB_I8 : type; }

void pb_instruction_window_type(pb_text* text, const pb_chip* chip, const pb_operand* operand, pb_type type) {
  pb_text_add(text, "memref<");
  for (int k = 0; k < operand->rank; ++k) pb_text_add(text, "?x");
  pb_text_add(text, "%s, strided<[", pb_type_name(type == PB_TYPE_COUNT ? in_ir(operand->type) : type));
  for (int k = 0; k < operand->rank; ++k) pb_text_add(text, "%s?", k ? ", " : "");
  pb_text_add(text, "], offset: ?>");
  if (!pb_is_outside(&chip->memories[operand->memory]))
    pb_text_add(text, ", \"%s\"", chip->memories[operand->memory].name);
  pb_text_add(text, ">");
}

int64_t pb_instruction_register_elements(const pb_chip* chip, const pb_operand* operand) {
  return chip->memories[operand->memory].row_bytes * 8 / pb_type_bits(operand->type);
}

void pb_instruction_register_type(pb_text* text, const pb_chip* chip, const pb_operand* operand) {
  pb_text_add(text, "vector<%lldx%s>", (long long)pb_instruction_register_elements(chip, operand),
              pb_type_name(pb_type_stored(operand->type)));
}

// A core's instruction takes registers, and is its intrinsic where code is made of it.
static bool on_registers(const pb_insn* insn) { return insn->emit != NULL; }

const pb_operand* pb_instruction_boxed(const pb_insn* insn) {
  for (int o = 0; o < insn->operand_count; ++o)
    if (insn->operands[o].memory >= 0 && insn->operands[o].has_box) return &insn->operands[o];
  return NULL;
}

static void print_name(pb_text* text, const pb_chip* chip, const pb_insn* insn, pb_type type) {
  pb_text_add(text, "@");
  if (!on_registers(insn)) pb_text_add(text, "%s.", chip->name);
  pb_text_add(text, "%s", insn->name);
  if (type != PB_TYPE_COUNT) pb_text_add(text, ".%s", pb_type_name(type));
}

static void print_operand_type(pb_text* text, const pb_chip* chip, const pb_insn* insn, int o, pb_type type) {
  const pb_operand* operand = &insn->operands[o];
  if (on_registers(insn))
    pb_instruction_register_type(text, chip, operand);
  else if (operand->memory >= 0)
    pb_instruction_window_type(text, chip, operand, type);
  else
    pb_text_add(text, "%s", pb_type_name(operand->type));
}

// Prints every argument: names when `types` is false, types otherwise, `name: type` when both.
static void print_arguments(pb_text* t, const pb_chip* chip, const pb_insn* insn, pb_type type, const char* id,
                            bool names, bool types) {
  bool any = false;
  const char* between = names && types ? ": " : "";
  for (int o = 0; o < insn->operand_count; ++o) {
    const pb_operand* operand = &insn->operands[o];
    pb_text_add(t, "%s", any ? ", " : "");
    any = true;
    if (names) pb_text_add(t, "%%%c%s_%d%s", operand->memory >= 0 ? 'w' : 'm', id, o, between);
    if (types) print_operand_type(t, chip, insn, o, type);
  }
  for (int d = 0; d < insn->dim_count; ++d) {
    if (insn->dims[d].field < 0) continue;
    pb_text_add(t, ", ");
    if (names) pb_text_add(t, "%%x%s_%d%s", id, d, between);
    if (types) pb_text_add(t, "index");
  }
  const pb_operand* boxed = pb_instruction_boxed(insn);
  if (!boxed) return;
  int o = (int)(boxed - insn->operands);
  for (int k = 0; k < boxed->rank; ++k)
    for (int side = 0; side < 2 && boxed->box_lo[k] >= 0; ++side) {
      pb_text_add(t, ", ");
      if (names) pb_text_add(t, "%%%s%s_%d_%d%s", side ? "hi" : "lo", id, o, k, between);
      if (types) pb_text_add(t, "index");
    }
  if (boxed->fill < 0) return;
  pb_text_add(t, ", ");
  if (names) pb_text_add(t, "%%f%s%s", id, between);
  if (types) pb_text_add(t, "%s", pb_type_name(type == PB_TYPE_COUNT ? boxed->type : type));
}

void pb_instruction_call(pb_text* text, const pb_chip* chip, const pb_insn* insn, pb_type type, int id,
                         const char* const* values, const char* nest) {
  char name[16];
  snprintf(name, sizeof name, "%d", id);
  pb_text_add(text, "func.call ");
  print_name(text, chip, insn, type);
  pb_text_add(text, "(");
  for (int o = 0; values && o < insn->operand_count; ++o) pb_text_add(text, "%s%s", o ? ", " : "", values[o]);
  if (!values) print_arguments(text, chip, insn, type, name, true, false);
  pb_text_add(text, ")");
  if (nest) {
    pb_text_add(text, " {pb.nest = ");
    pb_text_add_quoted(text, nest);
    pb_text_add(text, "}");
  }
  pb_text_add(text, " : (");
  print_arguments(text, chip, insn, type, name, false, true);
  pb_text_add(text, ") -> ");
  if (on_registers(insn))
    print_operand_type(text, chip, insn, insn->dest, type);
  else
    pb_text_add(text, "()");
  pb_text_add(text, "\n");
}

// Windows element by element in loops, or registers whole.
typedef struct body {
  pb_text* t;
  const pb_chip* chip;
  const pb_insn* insn;
  pb_type type;
  int indent;
  int lanes;                      // that a node has a value for; 1: windows
  pb_expr_node expr[PB_MAX_EXPR]; // the instruction's, of the types that the IR has
} body;

static void begin_body(body* b, pb_text* text, const pb_chip* chip, const pb_insn* insn, pb_type type) {
  b->t = text;
  b->chip = chip;
  b->insn = insn;
  b->type = type;
  b->indent = 1;
  b->lanes = 1;
  memcpy(b->expr, insn->expr, sizeof *b->expr * (size_t)insn->expr_count);
  for (int e = 0; e < insn->expr_count; ++e) b->expr[e].type = in_ir(b->expr[e].type);
  for (int d = 0; d < insn->dim_count && on_registers(insn); ++d) b->lanes *= insn->dims[d].max;
}

static void print_type(const body* b, pb_type type) {
  if (b->lanes > 1)
    pb_text_add(b->t, "vector<%dx%s>", b->lanes, pb_type_name(type));
  else
    pb_text_add(b->t, "%s", pb_type_name(type));
}

static void line(body* b, const char* format, ...) __attribute__((format(printf, 2, 3)));
static void line(body* b, const char* format, ...) {
  char text[512];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  pb_text_indent(b->t, b->indent);
  pb_text_add(b->t, "%s\n", text);
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
  return pb_type_name(b->type == PB_TYPE_COUNT ? in_ir(own) : b->type);
}

// A boxed window reads its fill value outside: the load stands behind the test, as there is nothing to load there.
static void boxed_load(body* b, int o, int node) {
  const pb_operand* operand = &b->insn->operands[o];
  char inside[32] = "";
  int tests = 0;
  for (int k = 0; k < operand->rank; ++k) {
    if (operand->box_lo[k] < 0) continue;
    for (int side = 0; side < 2; ++side) {
      line(b, "%%b%d_%d = arith.cmpi %s, %%i%d, %%%s_%d_%d : index", node, tests, side ? "slt" : "sge",
           operand->dims[k], side ? "hi" : "lo", o, k);
      if (tests) line(b, "%%c%d_%d = arith.andi %%%s, %%b%d_%d : i1", node, tests, inside, node, tests);
      snprintf(inside, sizeof inside, "%c%d_%d", tests ? 'c' : 'b', node, tests);
      ++tests;
    }
  }
  const char* type = type_name(b, operand->type);
  if (operand->fill < 0) {
    pb_text_indent(b->t, b->indent);
    pb_text_add(b->t, "%%f = arith.constant ");
    pb_number_print(b->t, b->type == PB_TYPE_COUNT ? in_ir(operand->type) : b->type, 0);
    pb_text_add(b->t, " : %s\n", type);
  }
  line(b, "%%e%d = scf.if %%%s -> %s {", node, inside, type);
  pb_text_indent(b->t, b->indent + 1);
  pb_text_add(b->t, "%%v%d = memref.load ", node);
  end_with_element(b, o, "");
  line(b, "  scf.yield %%v%d : %s", node, type);
  line(b, "} else {");
  line(b, "  scf.yield %%f : %s", type);
  line(b, "}");
}

// An element of a table at the number that another node computes, or of the row that it names, which is kept among
// the table's.
static void table_load(body* b, int id) {
  const pb_expr_node* n = &b->expr[id];
  const pb_operand* table = &b->insn->operands[n->operand];
  bool rows = table->rows >= 0;
  char row[32];
  line(b, "%%%c%d = arith.index_cast %%e%d : i32 to index", rows ? 'n' : 'x', id, n->args[0]);
  if (rows) {
    line(b, "%%l%d = arith.subi %%to%d, %%one : index", id, table->dims[0]);
    line(b, "%%k%d = arith.maxsi %%n%d, %%zero : index", id, id);
    line(b, "%%x%d = arith.minsi %%k%d, %%l%d : index", id, id, id);
  }
  snprintf(row, sizeof row, "%%x%d", id);
  pb_text_indent(b->t, b->indent);
  pb_text_add(b->t, "%%e%d = memref.load ", id);
  end_with_element(b, n->operand, row);
}

static void print_load(body* b, int id) {
  const pb_expr_node* n = &b->expr[id];
  if (b->lanes > 1) {
    pb_text_indent(b->t, b->indent);
    pb_text_add(b->t, "%%e%d = arith.bitcast %%w_%d : ", id, n->operand);
    print_type(b, n->type);
    pb_text_add(b->t, " to ");
    print_type(b, n->type);
    pb_text_add(b->t, "\n");
  } else if (n->args[0] >= 0) {
    table_load(b, id);
  } else if (b->insn->operands[n->operand].has_box) {
    boxed_load(b, n->operand, id);
  } else {
    pb_text_indent(b->t, b->indent);
    pb_text_add(b->t, "%%e%d = memref.load ", id);
    end_with_element(b, n->operand, "");
  }
}

static void print_immediate(body* b, int id) {
  const pb_expr_node* n = &b->expr[id];
  bool f = n->type == PB_F32;
  const char* type = pb_type_name(n->type);
  line(b, "%%z%d = arith.constant %s : %s", id, f ? "-0.0" : "0", type);
  line(b, "%%e%d = arith.%s %%m_%d, %%z%d : %s", id, f ? "addf" : "ori", n->operand, id, type);
}

static void print_constant(body* b, int id) {
  pb_text_indent(b->t, b->indent);
  pb_text_add(b->t, "%%e%d = arith.constant %s", id, b->lanes > 1 ? "dense<" : "");
  pb_constant_print(b->t, &b->expr[id]);
  pb_text_add(b->t, "%s : ", b->lanes > 1 ? ">" : "");
  print_type(b, b->expr[id].type);
  pb_text_add(b->t, "\n");
}

static void print_operation(body* b, int id) {
  const pb_expr_node* n = &b->expr[id];
  pb_text_indent(b->t, b->indent);
  pb_text_add(b->t, "%%e%d = %s", id, pb_node_spelling(b->expr, id));
  for (int a = 0; a < 3 && n->args[a] >= 0; ++a) pb_text_add(b->t, "%s %%e%d", a ? "," : "", n->args[a]);
  pb_text_add(b->t, " : ");
  pb_op_print_types(b->t, b->expr, id, b->lanes);
  pb_text_add(b->t, "\n");
}

static void print_node(body* b, int id) {
  const pb_expr_node* n = &b->expr[id];
  switch (n->op) {
  case PB_OP_LOAD:
    print_load(b, id);
    break;
  case PB_OP_INDEX:
    line(b, "%%e%d = arith.index_cast %%i%d : index to i32", id, n->operand);
    break;
  case PB_OP_IMM:
    print_immediate(b, id);
    break;
  case PB_OP_CONST:
    print_constant(b, id);
    break;
  case PB_OP_RECIP:
    line(b, "%%one%d = arith.constant 1.0 : f32", id);
    line(b, "%%e%d = arith.divf %%one%d, %%e%d : f32", id, id, n->args[0]);
    break;
  default:
    print_operation(b, id);
  }
}

static bool in_destination(const pb_insn* insn, int dim) {
  const pb_operand* dest = &insn->operands[insn->dest];
  for (int k = 0; k < dest->rank; ++k)
    if (dest->dims[k] == dim) return true;
  return false;
}

// The sum so far inside `depth` loops, which begins as `start`.
static void name_sum(int depth, const char* start, char name[32]) {
  if (depth)
    snprintf(name, 32, "acc%d", depth - 1);
  else
    snprintf(name, 32, "%s", start);
}

static void open_loops(body* b, bool destination, const char* carried) {
  const char* type = pb_type_name(b->insn->operands[b->insn->dest].type);
  int depth = 0;
  for (int d = 0; d < b->insn->dim_count; ++d) {
    if (in_destination(b->insn, d) != destination || b->insn->dims[d].table) continue;
    if (!carried) {
      line(b, "scf.for %%i%d = %%zero to %%to%d step %%one {", d, d);
    } else {
      char from[32];
      name_sum(depth, carried, from);
      line(b, "%%sum%d = scf.for %%i%d = %%zero to %%to%d step %%one iter_args(%%acc%d = %%%s) -> (%s) {", depth, d, d,
           depth, from, type);
    }
    ++b->indent;
    ++depth;
  }
}

static int reduced_dims(const pb_insn* insn) {
  int n = 0;
  for (int d = 0; d < insn->dim_count; ++d) n += !in_destination(insn, d) && !insn->dims[d].table;
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
  if (type == PB_F32)
    line(b, "%%neutral = arith.constant %s : f32", insn->reduce == PB_ACC_MAX ? "0xFF800000" : "0.0");
  else
    line(b, "%%neutral = arith.constant %lld : %s",
         (long long)(insn->reduce == PB_ACC_ADD ? 0 : pb_reduce_least(insn->reduce, pb_type_bits(type))), name);
  line(b, "%%start = arith.select %%m_%d, %%old, %%neutral : %s", insn->acc_flag, name);
}

static const char* combination_of(const pb_insn* insn) {
  return pb_op_spelling(pb_reduce_op(insn->reduce), insn->operands[insn->dest].type);
}

static void print_reduction(body* b) {
  const pb_insn* insn = b->insn;
  pb_type type = insn->operands[insn->dest].type;
  const char* name = pb_type_name(type);
  pb_text_indent(b->t, b->indent);
  pb_text_add(b->t, "%%old = memref.load ");
  end_with_element(b, insn->dest, "");
  const char* start = insn->acc_flag < 0 ? "old" : "start";
  if (insn->acc_flag >= 0) start_from_flag(b);
  int n = reduced_dims(insn), value = insn->expr_count - 1;
  const char* combine = combination_of(insn);
  if (n) open_loops(b, false, start);
  print_value(b);
  char inner[32];
  name_sum(n, start, inner);
  line(b, "%%new = %s %%%s, %%e%d : %s", combine, inner, value, name);
  for (int k = n - 1; k >= 0; --k) {
    if (k == n - 1)
      line(b, "scf.yield %%new : %s", name);
    else
      line(b, "scf.yield %%sum%d : %s", k + 1, name);
    --b->indent;
    line(b, "}");
  }
  pb_text_indent(b->t, b->indent);
  pb_text_add(b->t, "memref.store %s, ", n ? "%sum0" : "%new");
  end_with_element(b, insn->dest, "");
}

// What the instruction does to its windows.
static void window_function(body* b) {
  const pb_insn* insn = b->insn;
  pb_text_add(b->t, " attributes {pb.instruction = \"%s\"} {\n", insn->name);
  line(b, "%%zero = arith.constant 0 : index");
  line(b, "%%one = arith.constant 1 : index");
  for (int d = 0; d < insn->dim_count; ++d) {
    if (insn->dims[d].field < 0)
      line(b, "%%to%d = arith.constant %d : index", d, insn->dims[d].max);
    else
      line(b, "%%to%d = arith.addi %%x_%d, %%zero : index", d, d);
  }
  open_loops(b, true, NULL);
  if (insn->reduce == PB_SET) {
    print_value(b);
    pb_text_indent(b->t, b->indent);
    pb_text_add(b->t, "memref.store %%e%d, ", insn->expr_count - 1);
    end_with_element(b, insn->dest, "");
  } else {
    print_reduction(b);
  }
  while (b->indent > 1) {
    --b->indent;
    line(b, "}");
  }
  pb_text_add(b->t, "  return\n}\n");
}

// Neighbouring products are added to the lane that they belong to, one after the other.
static void add_groups(body* b, const pb_operand* y, int64_t lanes) {
  int64_t group = b->lanes / lanes;
  const char *type = pb_type_name(y->type), *combine = combination_of(b->insn);
  for (int g = 0; g < group; ++g) {
    pb_text_add(b->t, "  %%p%d = vector.shuffle %%e%d, %%e%d [", g, b->insn->expr_count - 1, b->insn->expr_count - 1);
    for (int64_t lane = 0; lane < lanes; ++lane)
      pb_text_add(b->t, "%s%lld", lane ? ", " : "", (long long)(lane * group + g));
    pb_text_add(b->t, "] : vector<%dx%s>, vector<%dx%s>\n", b->lanes, type, b->lanes, type);
    char before[16];
    snprintf(before, sizeof before, g ? "s%d" : "w_%d", g ? g - 1 : b->insn->dest);
    line(b, "%%s%d = %s %%%s, %%p%d : vector<%lldx%s>", g, combine, before, g, (long long)lanes, type);
  }
  line(b, "return %%s%lld : vector<%lldx%s>", (long long)group - 1, (long long)lanes, type);
}

// A sum of products of whole registers.
static void register_function(body* b) {
  const pb_insn* insn = b->insn;
  const pb_operand* y = &insn->operands[insn->dest];
  pb_text_add(b->t, " -> ");
  pb_instruction_register_type(b->t, b->chip, y);
  pb_text_add(b->t, " attributes {pb.emit = \"%s\", pb.types = [", insn->emit);
  for (int o = 0; o < insn->operand_count; ++o)
    pb_text_add(b->t, "%s%s", o ? ", " : "", pb_type_name(insn->operands[o].type));
  pb_text_add(b->t, "]");
  if (!insn->adds) pb_text_add(b->t, ", pb.added = %d : i64", insn->dest);
  pb_text_add(b->t, "} {\n");
  print_value(b);
  add_groups(b, y, pb_instruction_register_elements(b->chip, y));
  pb_text_add(b->t, "}\n");
}

void pb_instruction_function(pb_text* text, const pb_chip* chip, const pb_insn* insn, pb_type type) {
  body b;
  begin_body(&b, text, chip, insn, type);
  pb_text_add(text, "func.func private ");
  print_name(text, chip, insn, type);
  pb_text_add(text, "(");
  print_arguments(text, chip, insn, type, "", true, true);
  pb_text_add(text, ")");
  if (on_registers(insn))
    register_function(&b);
  else
    window_function(&b);
}
