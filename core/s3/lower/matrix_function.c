// An instruction on registers that hold rows as a function, from its semantics: what the IR runs until code is made. A
// register is a vector of all its bytes; rows of memory are a flat tensor and the number of the first element.
#include "core/s3/lower/instruction.h"
#include "core/s3/lower/vector_emit.h"

#include <string.h>

static bool in_memory(const pb_chip* chip, const pb_operand* operand) { return operand->memory == chip->system_memory; }

static bool is_argument(const pb_insn* insn, int o, const pb_chip* chip) {
  return in_memory(chip, &insn->operands[o]) || o != insn->dest || insn->reduce != PB_SET;
}

const char* pb_vemit_matrix_name(pb_arena* arena, const pb_vmatrix* use) {
  char* name = pb_strdup(arena, use->insn->name);
  for (int d = 0; d < use->insn->dim_count; ++d) name = pb_printf(arena, "%s_%lld", name, (long long)use->extent[d]);
  if (use->elements)
    name = pb_printf(arena, "%s_of_%lld_by_%lld", name, (long long)use->elements, (long long)use->stride);
  return name;
}

void pb_vemit_matrix_types(pb_text* text, const pb_chip* chip, const pb_vmatrix* use) {
  const pb_insn* insn = use->insn;
  const char* comma = "";
  pb_text_add(text, "(");
  for (int o = 0; o < insn->operand_count; ++o) {
    if (!is_argument(insn, o, chip)) continue;
    pb_text_add(text, "%s", comma);
    comma = ", ";
    if (in_memory(chip, &insn->operands[o]))
      pb_text_add(text, "memref<%lldx%s>, index", (long long)use->elements,
                  pb_type_name(pb_type_stored(insn->operands[o].type)));
    else
      pb_instruction_register_type(text, chip, &insn->operands[o]);
  }
  pb_text_add(text, ") -> ");
  if (in_memory(chip, &insn->operands[insn->dest]))
    pb_text_add(text, "()");
  else
    pb_instruction_register_type(text, chip, &insn->operands[insn->dest]);
}

// Where the operand's elements lie in its buffer: a register's by its largest extents, memory's from %o0 on.
static void place(const pb_vmatrix* use, const pb_chip* chip, int o, pb_access* access) {
  const pb_operand* operand = &use->insn->operands[o];
  bool outside = in_memory(chip, operand);
  *access = (pb_access){.type = pb_type_stored(operand->type), .rank = 1};
  access->shape[0] = outside ? use->elements : pb_instruction_register_elements(chip, operand);
  int64_t stride = 1;
  for (int k = operand->rank - 1; k >= 0; --k) {
    access->index[0].coef[operand->dims[k]] = outside && k == 0 ? use->stride : stride;
    stride *= use->insn->dims[operand->dims[k]].max;
  }
  if (outside) access->index[0].coef[PB_NEST_DIMS] = 1;
}

static void print_head(pb_text* text, const pb_chip* chip, const pb_vmatrix* use, pb_arena* arena) {
  const pb_insn* insn = use->insn;
  const char* comma = "";
  pb_text_add(text, "func.func private @%s(", pb_vemit_matrix_name(arena, use));
  for (int o = 0; o < insn->operand_count; ++o) {
    const pb_operand* operand = &insn->operands[o];
    if (!is_argument(insn, o, chip)) continue;
    pb_text_add(text, "%s%%x%d: ", comma, o);
    comma = ", ";
    if (in_memory(chip, operand))
      pb_text_add(text, "memref<%lldx%s>, %%o0: index", (long long)use->elements,
                  pb_type_name(pb_type_stored(operand->type)));
    else
      pb_instruction_register_type(text, chip, operand);
  }
  pb_text_add(text, ")");
  if (!in_memory(chip, &insn->operands[insn->dest])) {
    pb_text_add(text, " -> ");
    pb_instruction_register_type(text, chip, &insn->operands[insn->dest]);
  }
  pb_text_add(text, " attributes {pb.emit = \"%s\", pb.shape = array<i64: ", insn->emit);
  for (int k = 0; k < insn->shape_count; ++k)
    pb_text_add(text, "%s%lld", k ? ", " : "", (long long)pb_shape(insn, k, use->extent));
  int64_t bytes = 0;
  const pb_memory* file = NULL;
  for (int o = 0; o < insn->operand_count; ++o) {
    if (in_memory(chip, &insn->operands[o]))
      bytes = pb_type_bits(insn->operands[o].type) / 8;
    else
      file = &chip->memories[insn->operands[o].memory];
  }
  pb_text_add(text, ">, pb.stride = %lld : i64, pb.value = [\"%s\", \"%s\", \"%s\"]} {\n",
              (long long)(use->stride * bytes), file->value, file->from_vector, file->to_vector);
}

void pb_vemit_matrix(pb_text* text, const pb_chip* chip, const pb_vmatrix* use) {
  const pb_insn* insn = use->insn;
  pb_arena arena = {0};
  pb_nest nest = {.name = insn->name, .part = "reduce", .dim_count = insn->dim_count, .reduce = insn->reduce};
  print_head(text, chip, use, &arena);
  pb_text_add(text, "  %%zero = arith.constant 0 : index\n");
  memcpy(nest.extent, use->extent, sizeof(int64_t) * (size_t)insn->dim_count);
  memcpy(nest.expr, insn->expr, sizeof(pb_expr_node) * (size_t)insn->expr_count);
  nest.expr_count = insn->expr_count;
  int access_of[PB_MAX_OPERANDS];
  for (int pass = 0; pass < 2; ++pass) // the destination last
    for (int o = 0; o < insn->operand_count; ++o) {
      if ((o == insn->dest) != (pass == 1)) continue;
      pb_access* access = &nest.access[nest.access_count];
      place(use, chip, o, access);
      bool outside = in_memory(chip, &insn->operands[o]);
      access->ref = pb_printf(&arena, "%%%s%d", outside ? "x" : "m", o);
      access_of[o] = nest.access_count++;
      if (outside) {
        nest.outer_count = 1;
        continue;
      }
      pb_text_add(text, "  %s = memref.alloca() : memref<%lldx%s>\n", access->ref, (long long)access->shape[0],
                  pb_type_name(access->type));
      if (!is_argument(insn, o, chip)) continue;
      pb_text_add(text, "  vector.store %%x%d, %s[%%zero] : memref<%lldx%s>, ", o, access->ref,
                  (long long)access->shape[0], pb_type_name(access->type));
      pb_instruction_register_type(text, chip, &insn->operands[o]);
      pb_text_add(text, "\n");
    }
  for (int e = 0; e < nest.expr_count; ++e)
    if (nest.expr[e].op == PB_OP_LOAD) {
      nest.expr[e].operand = access_of[nest.expr[e].operand];
      nest.expr[e].type = pb_type_stored(nest.expr[e].type);
    }
  int serial = 0;
  pb_nest_print(text, &nest, 1, &serial);
  const pb_operand* to = &insn->operands[insn->dest];
  if (in_memory(chip, to)) {
    pb_text_add(text, "  return\n}\n");
  } else {
    pb_text_add(text, "  %%result = vector.load %%m%d[%%zero] : memref<%lldx%s>, ", insn->dest,
                (long long)pb_instruction_register_elements(chip, to), pb_type_name(pb_type_stored(to->type)));
    pb_instruction_register_type(text, chip, to);
    pb_text_add(text, "\n  return %%result : ");
    pb_instruction_register_type(text, chip, to);
    pb_text_add(text, "\n}\n");
  }
  pb_arena_free(&arena);
}
