#include "core/s3/lower/instruction.h"

#include "core/base/arena.h"
#include "core/poly/nest.h"

#include <stdlib.h>
#include <string.h>

// In IR codes of 4 bits have a byte each, and short floats are codes of their bits.
pb_type pb__instruction_ir_type(pb_type type) {
  return type == PB_I4 ? PB_I8 : pb_type_is_narrow(type) ? pb_type_stored(type) : type;
}

void pb_instruction_window_type(pb_text* text, const pb_chip* chip, const pb_operand* operand, pb_type type) {
  pb_text_add(text, "memref<");
  for (int k = 0; k < operand->rank; ++k) pb_text_add(text, "?x");
  pb_text_add(text, "%s, strided<[",
              pb_type_name(type == PB_TYPE_COUNT ? pb__instruction_ir_type(operand->type) : type));
  for (int k = 0; k < operand->rank; ++k) pb_text_add(text, "%s?", k ? ", " : "");
  pb_text_add(text, "], offset: ?>");
  if (!pb_is_outside(&chip->memories[operand->memory]))
    pb_text_add(text, ", \"%s\"", chip->memories[operand->memory].name);
  pb_text_add(text, ">");
}

void pb_instruction_print_window(pb_text* text, const pb_chip* chip, const pb_operand* operand, pb_type type,
                                 const pb_window* window) {
  pb_text_add(text, "memref.reinterpret_cast %s to offset: [%s], sizes: [", window->whole, window->base);
  for (int k = 0; k < operand->rank; ++k) pb_text_add(text, "%s%s", k ? ", " : "", window->extents[k]);
  pb_text_add(text, "], strides: [");
  for (int k = 0; k < operand->rank; ++k) pb_text_add(text, "%s%s", k ? ", " : "", window->strides[k]);
  pb_text_add(text, "] : %s to ", window->whole_type);
  pb_instruction_window_type(text, chip, operand, type);
  pb_text_add(text, "\n");
}

bool pb__instruction_in_register(const pb_chip* chip, const pb_insn* insn, int o) {
  return pb__instruction_on_registers(insn) && chip->memories[insn->operands[o].memory].kind == PB_MEM_REGISTERS;
}

int64_t pb__instruction_register_elements(const pb_chip* chip, const pb_operand* operand) {
  return chip->memories[operand->memory].row_bytes * 8 / pb_type_bits(operand->type);
}

void pb_instruction_register_type(pb_text* text, const pb_chip* chip, const pb_operand* operand) {
  pb_text_add(text, "vector<%lldx%s>", (long long)pb__instruction_register_elements(chip, operand),
              pb_type_name(pb__instruction_ir_type(operand->type)));
}

const pb_operand* pb_instruction_boxed(const pb_insn* insn) {
  for (int o = 0; o < insn->operand_count; ++o)
    if (insn->operands[o].memory >= 0 && insn->operands[o].has_box) return &insn->operands[o];
  return NULL;
}

static void print_name(pb_text* text, const pb_chip* chip, const pb_instruction_use* use) {
  const pb_insn* insn = use->insn;
  pb_text_add(text, "@");
  if (!pb__instruction_on_registers(insn)) pb_text_add(text, "%s.", chip->name);
  pb_text_add(text, "%s", insn->name);
  if (use->type != PB_TYPE_COUNT) pb_text_add(text, ".%s", pb_type_name(use->type));
  for (int d = 0; d < insn->dim_count && insn->shape_count; ++d) pb_text_add(text, "_%lld", (long long)use->extent[d]);
  if (use->elements) pb_text_add(text, "_of_%lld_by_%lld", (long long)use->elements, (long long)use->stride);
}

// A register that is set is the function's result alone.
static bool is_argument(const pb_chip* chip, const pb_insn* insn, int o) {
  return o != insn->dest || insn->reduce != PB_SET || !pb__instruction_in_register(chip, insn, o);
}

// Types, names or both, `name: type`. given: the names; NULL: those inside of the function.
typedef struct signature {
  pb_text* text;
  bool names, types, any;
  const char* const* given;
} signature;

static void add_argument(signature* a, char kind, int operand, int dim) {
  pb_text_add(a->text, "%s", a->any ? ", " : "");
  a->any = true;
  if (a->given)
    pb_text_add(a->text, "%s", *a->given++);
  else if (a->names)
    pb_text_add(a->text, dim < 0 ? "%%%c_%d: " : "%%%c_%d_%d: ", kind, operand, dim);
}

static void add_index(signature* a, char kind, int operand, int dim) {
  add_argument(a, kind, operand, dim);
  if (a->types) pb_text_add(a->text, "index");
}

static void add_operand(signature* a, const pb_chip* chip, const pb_instruction_use* use, int o) {
  const pb_operand* operand = &use->insn->operands[o];
  bool registers = pb__instruction_on_registers(use->insn);
  add_argument(a, operand->memory < 0 ? 'm' : registers ? 'r' : 'w', o, -1);
  if (!a->types) return;
  if (operand->memory < 0)
    pb_text_add(a->text, "%s", pb_type_name(operand->type));
  else if (!registers)
    pb_instruction_window_type(a->text, chip, operand, use->type);
  else if (pb__instruction_in_register(chip, use->insn, o))
    pb_instruction_register_type(a->text, chip, operand);
  else
    pb_text_add(a->text, a->names ? "memref<%lldx%s>, %%at_%d: index" : "memref<%lldx%s>, index",
                (long long)use->elements, pb_type_name(pb__instruction_ir_type(operand->type)), o);
}

// What is said of a box: bounds of its dims, and what is read outside.
static void add_box(signature* a, const pb_instruction_use* use) {
  const pb_operand* boxed = pb_instruction_boxed(use->insn);
  if (!boxed) return;
  for (int k = 0; k < boxed->rank; ++k)
    for (int side = 0; side < 2 && boxed->box_lo[k] >= 0; ++side)
      add_index(a, side ? 'h' : 'l', (int)(boxed - use->insn->operands), k);
  if (boxed->fill < 0) return;
  add_argument(a, 'f', (int)(boxed - use->insn->operands), -1);
  if (a->types) pb_text_add(a->text, "%s", pb_type_name(use->type == PB_TYPE_COUNT ? boxed->type : use->type));
}

static void add_arguments(signature a, const pb_chip* chip, const pb_instruction_use* use) {
  for (int o = 0; o < use->insn->operand_count; ++o)
    if (is_argument(chip, use->insn, o)) add_operand(&a, chip, use, o);
  for (int d = 0; d < use->insn->dim_count; ++d)
    if (use->insn->dims[d].field >= 0) add_index(&a, 'x', d, -1);
  add_box(&a, use);
}

bool pb_instruction_makes_register(const pb_chip* chip, const pb_insn* insn) {
  return pb__instruction_in_register(chip, insn, insn->dest);
}

static bool same(const pb_instruction_use* a, const pb_instruction_use* b) {
  return a->insn == b->insn && a->type == b->type && !memcmp(a->extent, b->extent, sizeof a->extent) &&
         a->elements == b->elements && a->stride == b->stride;
}

static void note(pb_instructions* called, const pb_instruction_use* use) {
  for (size_t n = 0; n < called->count; ++n)
    if (same(&called->uses[n], use)) return;
  PB_PUSH(called->uses, called->count, called->capacity, *use);
}

void pb_instruction_call(pb_text* text, pb_instructions* called, const pb_instruction_use* use,
                         const char* const* arguments, const char* nest) {
  note(called, use);
  pb_text_add(text, "func.call ");
  print_name(text, called->chip, use);
  pb_text_add(text, "(");
  add_arguments((signature){.text = text, .given = arguments}, called->chip, use);
  pb_text_add(text, ")");
  if (nest) {
    pb_text_add(text, " {pb.nest = ");
    pb_text_add_quoted(text, nest);
    pb_text_add(text, "}");
  }
  pb_text_add(text, " : (");
  add_arguments((signature){.text = text, .types = true}, called->chip, use);
  pb_text_add(text, ") -> ");
  if (pb_instruction_makes_register(called->chip, use->insn))
    pb_instruction_register_type(text, called->chip, &use->insn->operands[use->insn->dest]);
  else
    pb_text_add(text, "()");
  pb_text_add(text, "\n");
}

void pb__instruction_head(pb_text* text, const pb_chip* chip, const pb_instruction_use* use) {
  pb_text_add(text, "func.func private ");
  print_name(text, chip, use);
  pb_text_add(text, "(");
  add_arguments((signature){.text = text, .names = true, .types = true}, chip, use);
  pb_text_add(text, ")");
  if (!pb_instruction_makes_register(chip, use->insn)) return;
  pb_text_add(text, " -> ");
  pb_instruction_register_type(text, chip, &use->insn->operands[use->insn->dest]);
}

void pb_instruction_functions(pb_text* text, const pb_instructions* called) {
  for (size_t n = 0; n < called->count; ++n) pb__instruction_function(text, called->chip, &called->uses[n]);
}

void pb_instructions_free(pb_instructions* called) { free(called->uses); }
