#include "core/s3/kernel/vector.h"

#include "core/select/select.h"

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

typedef struct product_nest {
  pb_flat flat;
  pb_expr_node expr[11];
} product_nest;

static int add(product_nest* p, pb_op op, pb_type type, int a, int b) {
  p->expr[p->flat.expr_count] = (pb_expr_node){.op = op, .type = type, .args = {a, b, -1}};
  return p->flat.expr_count++;
}

// The factor in access `a`, as wide as the product. A bf16 is the upper half of an f32, as nests have it.
static int add_factor(product_nest* p, int a, pb_type from, bool is_unsigned, pb_type to) {
  int load = add(p, PB_OP_LOAD, pb_type_stored(from), -1, -1);
  p->expr[load].operand = a;
  if (from == to) return load;
  if (from != PB_BF16) return add(p, is_unsigned ? PB_OP_ZEXT : PB_OP_SEXT, to, load, -1);
  int wide = add(p, PB_OP_ZEXT, PB_I32, load, -1), half = add(p, PB_OP_CONST, PB_I32, -1, -1);
  p->expr[half].value = 16;
  p->expr[half].integer = 16;
  return add(p, PB_OP_BITCAST, to, add(p, PB_OP_SHL, PB_I32, wide, half), -1);
}

// y += x * w on whole registers, as many neighbouring products for each lane as fit.
static void flat_product(const pb_vector_facts* facts, pb_type x, bool x_unsigned, pb_type w, pb_type y,
                         product_nest* p) {
  int64_t lanes = facts->row_bytes * 8 / pb_type_bits(y), group = pb_type_bits(y) / pb_type_bits(x);
  p->flat = (pb_flat){
      .dim_count = 2,
      .extent = {lanes, group},
      .access_count = 3,
      .access = {{.type = x, .stride = {group, 1}}, {.type = w, .stride = {group, 1}}, {.type = y, .stride = {1, 0}}},
      .expr = p->expr,
      .reduce = PB_ACC_ADD,
      .onto = true};
  for (int a = 0; a < p->flat.access_count; ++a) {
    p->flat.access[a].memory = facts->memory;
    p->flat.access[a].aligned_rows = true;
  }
  int a = add_factor(p, 0, x, x_unsigned, y), b = add_factor(p, 1, w, false, y);
  (void)add(p, PB_OP_MUL, y, a, b);
}

static int operand_of(const pb_match* match, int access) {
  for (int o = 0; o < match->insn->operand_count; ++o)
    if (match->access_of[o] == access) return o;
  return -1;
}

// The one that multiplies just these types.
static pb_vector_insn find_product(const pb_chip* chip, const pb_vector_facts* facts, pb_type x, bool flips, pb_type w,
                                   pb_type y) {
  pb_vector_insn found = {0};
  pb_arena scratch = {0};
  product_nest product;
  pb_match match;
  const char* why;
  flat_product(facts, x, flips, w, y, &product);
  if (pb_select(chip, &product.flat, &scratch, &match, &why) && match.insn->emit && !match.loop_count)
    found = (pb_vector_insn){.insn = match.insn,
                             .lanes = (int)product.flat.extent[0],
                             .group = (int)product.flat.extent[1],
                             .x = operand_of(&match, 0),
                             .w = operand_of(&match, 1),
                             .y = match.insn->dest,
                             .flips = flips};
  pb_arena_free(&scratch);
  return found;
}

static bool is_code(pb_type type) { return type == PB_I8 || type == PB_I16; }

pb_vector_insn pb_vector_contraction(const pb_chip* chip, pb_type x, pb_type w, pb_type y) {
  pb_vector_facts facts = pb_vector_facts_of(chip);
  pb_vector_insn found = {0};
  if (facts.memory < 0) return found;
  bool alike = pb_type_bits(x) == pb_type_bits(w) && pb_type_bits(y) % pb_type_bits(x) == 0;
  for (int flips = 0; alike && !found.insn && flips <= !pb_type_is_float(x); ++flips)
    found = find_product(chip, &facts, x, flips, w, y);
  if (found.insn || !is_code(x) || !is_code(w)) return found;
  return find_product(chip, &facts, PB_I16, false, PB_I16, y);
}

bool pb_vector_extends(const pb_vector_insn* insn, int o, pb_type type) {
  return pb_type_bits(type) < pb_type_bits(insn->insn->operands[o].type);
}
