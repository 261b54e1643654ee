#include "core/s3/chip_facts.h"

#include "core/s3/transfer_paths.h"

#include <string.h>

// Whether its result is a vector for the code generator.
static bool is_vector(const pb_chip* chip, const pb_insn* insn) {
  const pb_memory* memory = &chip->memories[insn->operands[insn->dest].memory];
  return memory->kind == PB_MEM_REGISTERS && !memory->value[0];
}

static bool is_near(const pb_memory* memory) {
  return memory->scope == PB_SCOPE_CORE || memory->scope == PB_SCOPE_THREAD;
}

// A memory of a core's own that code fills.
static bool is_staging(const pb_memory* memory) {
  return is_near(memory) && !memory->cached && memory->kind != PB_MEM_REGISTERS;
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
  facts.apart_cycles = file->apart_cycles;
  facts.same_at_once = file->same_at_once;
  facts.each_at_once = file->each_at_once;
  for (int m = 0; m < chip->memory_count; ++m) {
    const pb_memory* memory = &chip->memories[m];
    if (!is_staging(memory) && !(memory->cached && is_near(memory))) continue;
    int at = 0;
    while (at < 3 && facts.near[at] && facts.near[at]->bytes < memory->bytes) ++at;
    if (at == 3) continue;
    memmove(&facts.near[at + 1], &facts.near[at], sizeof facts.near[0] * (size_t)(2 - at));
    facts.near[at] = memory;
  }
  for (int c = 0; c < 3 && facts.near[c]; ++c) facts.cache[c] = facts.near[c]->bytes;
  if (facts.near[0]) facts.ways = facts.near[0]->ways;
  if (facts.ways) facts.way = facts.cache[0] / facts.ways;
  return facts;
}

int pb_chip_register_file(const pb_chip* chip) { return pb_vector_facts_of(chip).memory; }

bool pb_chip_runs_code(const pb_chip* chip) { return pb_chip_register_file(chip) >= 0; }

bool pb_chip_whole_rows(const pb_chip* chip) { return !pb_chip_runs_code(chip); }

int pb_chip_image_rank(const pb_chip* chip) { return PB_IMAGE_RANK + !pb_chip_whole_rows(chip); }

int pb_chip_row(const pb_chip* chip) { return pb_chip_whole_rows(chip) ? pb_chip_lanes(chip) : 1; }

bool pb_chip_takes_rows(const pb_chip* chip) { return pb_chip_row(chip) > 1; }

static bool counts_lanes(const pb_insn* insn, pb_type type, int lanes) {
  const pb_operand *to = &insn->operands[insn->dest], *from = NULL;
  for (int o = 0; o < insn->operand_count && insn->reduce != PB_SET && !from; ++o)
    if (o != insn->dest && insn->operands[o].memory >= 0 && insn->operands[o].type == type) from = &insn->operands[o];
  for (int r = 0; from && r < from->rank; ++r) {
    const pb_dim* dim = &insn->dims[from->dims[r]];
    if (pb_operand_index(to, from->dims[r]) < 0 && dim->field >= 0 && dim->max == lanes) return true;
  }
  return false;
}

bool pb_chip_counts_lanes(const pb_chip* chip, pb_type type, pb_reduce reduce) {
  bool any = false;
  for (int i = 0; i < chip->insn_count; ++i)
    if (reduce == PB_SET || chip->insns[i].reduce == reduce)
      any |= counts_lanes(&chip->insns[i], type, pb_chip_lanes(chip));
  return any;
}

int pb_chip_staging(const pb_chip* chip) {
  for (int m = 0; m < chip->memory_count && pb_chip_runs_code(chip); ++m)
    if (is_staging(&chip->memories[m])) return m;
  return -1;
}

bool pb_chip_in_place(const pb_chip* chip) { return pb_chip_runs_code(chip) && pb_chip_staging(chip) < 0; }

bool pb_chip_moves(const pb_chip* chip) {
  for (int i = 0; i < chip->insn_count; ++i)
    if (chip->insns[i].mover) return true;
  return false;
}

bool pb_chip_moves_nothing(const pb_chip* chip) { return !pb_chip_moves(chip); }
