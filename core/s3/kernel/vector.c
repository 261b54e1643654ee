#include "core/s3/kernel/vector.h"

#include "core/s3/kernel/flat.h"

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
  for (int m = 0; m < chip->memory_count; ++m) {
    const pb_memory* memory = &chip->memories[m];
    if (!is_staging(memory) && !(memory->cached && is_near(memory))) continue;
    if (memory->cached) facts.line = memory->line_bytes;
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

int pb_chip_register_file(const pb_chip* chip) { return pb_vector_facts_of(chip).memory; }

bool pb_chip_runs_code(const pb_chip* chip) { return pb_chip_register_file(chip) >= 0; }

bool pb_chip_whole_rows(const pb_chip* chip) { return !pb_chip_runs_code(chip); }

int pb_chip_staging(const pb_chip* chip) {
  for (int m = 0; m < chip->memory_count && pb_chip_runs_code(chip); ++m)
    if (is_staging(&chip->memories[m])) return m;
  return -1;
}

// The factor in access `a`, as wide as the product. A bf16 is the upper half of an f32, as nests have it.
static int add_factor(pb_nest* nest, int a, bool is_unsigned, pb_type to) {
  pb_type from = nest->access[a].type;
  int load = pb_nest_load(nest, a);
  nest->expr[load].type = pb_type_stored(from);
  if (from == to) return load;
  if (from != PB_BF16) return pb_nest_node(nest, is_unsigned ? PB_OP_ZEXT : PB_OP_SEXT, to, load, -1);
  int wide = pb_nest_node(nest, PB_OP_ZEXT, PB_I32, load, -1), half = pb_nest_integer(nest, PB_I32, 16);
  return pb_nest_node(nest, PB_OP_BITCAST, to, pb_nest_node(nest, PB_OP_SHL, PB_I32, wide, half), -1);
}

// y += x * w on whole registers, as many neighbouring products for each lane as fit.
static void product_nest(const pb_vector_facts* facts, pb_type x, bool x_unsigned, pb_type w, pb_type y,
                         pb_nest* nest) {
  const pb_type types[] = {x, w, y};
  int64_t lanes = facts->row_bytes * 8 / pb_type_bits(y), group = pb_type_bits(y) / pb_type_bits(x);
  pb_nest_begin(nest, "product", "add", 3);
  nest->reduce = PB_ACC_ADD;
  nest->dim_count = 2;
  nest->extent[0] = lanes;
  nest->extent[1] = group;
  for (int a = 0; a < 3; ++a) {
    bool factor = a < 2;
    pb_access* access = &nest->access[a];
    *access = (pb_access){.type = types[a], .rank = 1, .shape = {factor ? lanes * group : lanes}};
    access->index[0].coef[0] = factor ? group : 1;
    access->index[0].coef[1] = factor;
  }
  int a = add_factor(nest, 0, x_unsigned, y), b = add_factor(nest, 1, false, y);
  (void)pb_nest_node(nest, PB_OP_MUL, y, a, b);
}

static int operand_of(const pb_match* match, int access) {
  for (int o = 0; o < match->insn->operand_count; ++o)
    if (match->access_of[o] == access) return o;
  return -1;
}

// The one that multiplies just these types.
static pb_vector_insn find_product(pb_select_memo* memo, const pb_vector_facts* facts, pb_type x, bool flips, pb_type w,
                                   pb_type y) {
  pb_vector_insn found = {0};
  pb_nest nest;
  pb_flat flat;
  pb_match match;
  const char* why;
  product_nest(facts, x, flips, w, y, &nest);
  pb_flat_begin(&nest, &flat);
  for (int a = 0; a < nest.access_count; ++a) pb_flat_place(memo->chip, &nest, a, facts->memory, &flat);
  if (pb_select_again(memo, &flat, &match, &why) && match.insn->emit && !match.loop_count)
    found = (pb_vector_insn){.insn = match.insn,
                             .lanes = (int)nest.extent[0],
                             .group = (int)nest.extent[1],
                             .x = operand_of(&match, 0),
                             .w = operand_of(&match, 1),
                             .y = match.insn->dest,
                             .flips = flips};
  return found;
}

static bool is_code(pb_type type) { return type == PB_I8 || type == PB_I16; }

pb_vector_insn pb_vector_contraction(pb_select_memo* memo, pb_type x, pb_type w, pb_type y) {
  pb_vector_facts facts = pb_vector_facts_of(memo->chip);
  pb_vector_insn found = {0};
  if (facts.memory < 0) return found;
  bool alike = pb_type_bits(x) == pb_type_bits(w) && pb_type_bits(y) % pb_type_bits(x) == 0;
  for (int flips = 0; alike && !found.insn && flips <= !pb_type_is_float(x); ++flips)
    found = find_product(memo, &facts, x, flips, w, y);
  if (found.insn || !is_code(x) || !is_code(w)) return found;
  return find_product(memo, &facts, PB_I16, false, PB_I16, y);
}

bool pb_vector_extends(const pb_vector_insn* insn, int o, pb_type type) {
  return pb_type_bits(type) < pb_type_bits(insn->insn->operands[o].type);
}
