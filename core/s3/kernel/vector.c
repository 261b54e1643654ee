#include "core/s3/kernel/vector.h"

#include <string.h>

// Whether its result is a vector for the code generator.
static bool is_vector(const pb_chip* chip, const pb_insn* insn) {
  const pb_memory* memory = &chip->memories[insn->operands[insn->dest].memory];
  return memory->kind == PB_MEM_REGISTERS && !memory->value[0];
}

pb_vector_facts pb_vector_facts_of(const pb_chip* chip) {
  pb_vector_facts facts = {.memory = -1};
  for (int i = 0; i < chip->insn_count && facts.memory < 0; ++i)
    if (chip->insns[i].emit && is_vector(chip, &chip->insns[i]))
      facts.memory = chip->insns[i].operands[chip->insns[i].dest].memory;
  if (facts.memory < 0) return facts;
  const pb_memory* file = &chip->memories[facts.memory];
  facts.row_bytes = file->row_bytes;
  facts.lanes = facts.row_bytes / 4;
  facts.registers = (int)(file->bytes / file->row_bytes);
  for (int m = 0; m < chip->memory_count; ++m) {
    const pb_memory* memory = &chip->memories[m];
    if (!memory->cached || (memory->scope != PB_SCOPE_CORE && memory->scope != PB_SCOPE_THREAD)) continue;
    facts.line = memory->line_bytes;
    int at = 0;
    while (at < 3 && facts.cache[at] && facts.cache[at] < memory->bytes) ++at;
    if (at == 3) continue;
    memmove(&facts.cache[at + 1], &facts.cache[at], sizeof facts.cache[0] * (size_t)(2 - at));
    facts.cache[at] = memory->bytes;
    if (at == 0) facts.ways = memory->ways;
  }
  if (facts.ways) facts.way = facts.cache[0] / facts.ways;
  return facts;
}

static int group_of(const pb_insn* insn) {
  int group = 1;
  const pb_operand* y = &insn->operands[insn->dest];
  for (int d = 0; d < insn->dim_count; ++d) {
    bool walks = false;
    for (int k = 0; k < y->rank; ++k) walks |= y->dims[k] == d;
    if (!walks) group *= insn->dims[d].max;
  }
  return group;
}

pb_vector_insn pb_vector_contraction(const pb_chip* chip, pb_type x, pb_type w, pb_type y) {
  pb_vector_insn best = {0};
  for (int i = 0; i < chip->insn_count; ++i) {
    const pb_insn* insn = &chip->insns[i];
    const pb_expr_node* last = &insn->expr[insn->expr_count - 1];
    if (!insn->emit || !is_vector(chip, insn) || insn->reduce != PB_ACC_ADD || last->op != PB_OP_MUL) continue;
    pb_factor a = pb_factor_of(insn->expr, last->args[0]), b = pb_factor_of(insn->expr, last->args[1]);
    if (a.load < 0 || b.load < 0 || (a.is_unsigned && b.is_unsigned)) continue;
    if (b.is_unsigned) { // the factor without sign is x
      pb_factor swap = a;
      a = b;
      b = swap;
    }
    if (a.type != x || b.type != w || insn->operands[insn->dest].type != y) continue;
    const pb_operand* dest = &insn->operands[insn->dest];
    pb_vector_insn found = {.insn = insn,
                            .lanes = (int)(chip->memories[dest->memory].row_bytes * 8 / pb_type_bits(dest->type)),
                            .group = group_of(insn),
                            .x = a.load,
                            .w = b.load,
                            .y = insn->dest,
                            .flips = a.is_unsigned,
                            .swappable = !a.is_unsigned};
    if (!best.insn || found.group > best.group) best = found;
  }
  return best;
}
