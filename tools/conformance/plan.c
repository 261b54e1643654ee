// Where programs work: arguments, parts of each memory, and which instructions fill and drain those.
#include "suite.h"

#include <stdlib.h>
#include <string.h>

enum { PART_BYTES = 12288, WIDE_BYTES = 131072, SYSTEM_BYTES = 65536, DRAIN_BYTES = 524288, MOST_RESULT = 1 << 24 };

uint32_t draw(suite* s, uint32_t below) {
  s->state ^= s->state << 13;
  s->state ^= s->state >> 7;
  s->state ^= s->state << 17;
  return (uint32_t)((s->state >> 16) % (below ? below : 1));
}

int64_t draw_between(suite* s, int64_t least, int64_t most) {
  if (most <= least) return least;
  uint64_t high = draw(s, 1u << 31), span = (uint64_t)(most - least) + 1;
  return least + (int64_t)((high << 31 | draw(s, 1u << 31)) % span);
}

static uint32_t any_word(suite* s) {
  uint32_t high = draw(s, 1u << 16);
  return high << 16 | draw(s, 1u << 16);
}

static uint32_t random_word(suite* s) {
  float x;
  uint32_t bits, sign;
  switch (draw(s, 8)) {
  case 0:
    return any_word(s);
  case 1:
    sign = draw(s, 2) << 31;
    return sign | (draw(s, 2) ? 0x7f800000u : 0); // infinities and zeros
  case 2:
    sign = draw(s, 2) << 31;
    return sign | draw(s, 1u << 24); // subnormal and just above
  case 3:
    return draw(s, 20000) - 10000; // a sum
  case 4:
    x = (float)(int32_t)(draw(s, 512) - 256) * 0.5f; // ties
    break;
  default:
    x = ((float)draw(s, 1u << 20) - (1 << 19)) * 0x1p-16f;
    break;
  }
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

// In rows: whole numbers, powers of two that make ties of them, or all kinds.
static uint32_t kind_of_word(suite* s, uint32_t kind) {
  if (kind > 1) return random_word(s);
  if (kind == 0) return draw(s, 256) - 128;
  uint32_t sign = draw(s, 4) == 0 ? 0x80000000u : 0;
  return sign | (127 - draw(s, 5)) << 23;
}

static uint32_t extreme_word(suite* s) {
  static const uint32_t words[] = {0x80808080, 0x7f7f7f7f, 0x80000000, 0x7fffffff, 0xffffffff, 0x00000000, 0x7f800000,
                                   0xff800000, 0x7f7fffff, 0xff7fffff, 0x00000001, 0x80000001, 0x7f80807f, 0x00800000};
  return words[draw(s, sizeof words / sizeof *words)];
}

void suite_images(suite* s) {
  uint32_t kind = 0;
  for (int k = 0; k < REGION_CONSTANTS + s->chip->constant_memory_count; ++k)
    for (int64_t at = s->regions[k].first; at + 4 <= s->regions[k].last; at += 4) {
      if (at % 128 == 0) kind = draw(s, 4);
      uint32_t word = k == REGION_WORDS ? kind_of_word(s, kind) : k == REGION_EXTREMES ? extreme_word(s) : any_word(s);
      memcpy(s->image[s->regions[k].space - JUDGE_ARGUMENTS] + at, &word, 4);
    }
}

// What the largest tile takes of a memory, by extents that are given and by the unit of its bases, twice.
static int64_t tile_bytes(const pb_chip* chip, int memory) {
  int64_t most = 0;
  for (int i = 0; i < chip->insn_count; ++i)
    for (int o = 0; o < chip->insns[i].operand_count; ++o) {
      const pb_operand* x = &chip->insns[i].operands[o];
      if (x->memory != memory) continue;
      int64_t bytes = pb_bytes_of(x->type, 1);
      for (int k = 0; k < x->rank; ++k) bytes *= chip->insns[i].dims[x->dims[k]].min;
      if (bytes < x->unit) bytes = x->unit;
      if (bytes > most) most = bytes;
    }
  return 2 * most;
}

bool suite_is_outside(const suite* s, const pb_operand* window) {
  return window->memory >= 0 && pb_is_outside(&s->chip->memories[window->memory]);
}

// How far every window on a memory outside can begin from its argument.
static int64_t reach_of(const pb_chip* chip, int memory) {
  int64_t reach = INT64_MAX;
  for (int i = 0; i < chip->insn_count; ++i)
    for (int o = 0; o < chip->insns[i].operand_count; ++o) {
      const pb_operand* x = &chip->insns[i].operands[o];
      if (x->memory != memory) continue;
      int64_t most = pb_field_max(&chip->insns[i].fields[x->base]) / 2;
      if (most < reach / x->unit) reach = most * x->unit;
    }
  return reach / 64 * 64;
}

// A region of so many bytes behind those that the argument has.
static void plan_region(suite* s, int kind, int slot, int memory, int64_t bytes, int64_t room) {
  int64_t reach = reach_of(s->chip, memory), tiles = tile_bytes(s->chip, memory);
  if (bytes < tiles) bytes = tiles;
  if (bytes > room) bytes = room;
  if (bytes > reach) bytes = reach;
  s->regions[kind] = (region){JUDGE_ARGUMENTS + slot, s->argument_bytes[slot], s->argument_bytes[slot] + bytes};
  s->argument_bytes[slot] += bytes;
  if (slot >= s->argument_count) s->argument_count = slot + 1;
}

// Bytes of the drain: what is copied out of a program is as large as the largest result that a memory can hold, too.
static int64_t drain_bytes(const pb_chip* chip) {
  int64_t most = 0;
  for (int i = 0; i < chip->insn_count; ++i)
    for (int d = 0; d < chip->insns[i].dim_count && chip->insns[i].operand_count; ++d) {
      int memory = chip->insns[i].operands[chip->insns[i].dest].memory;
      int64_t bytes = suite_largest(&chip->insns[i], d);
      bool held = chip->insns[i].dims[d].field >= 0 && !pb_is_outside(&chip->memories[memory]) &&
                  bytes <= suite_most(chip, memory);
      if (held && bytes > most) most = bytes;
    }
  return DRAIN_BYTES + (most > WIDE_BYTES ? 2 * most : 0);
}

int suite_constants_of(const suite* s, int argument) { return argument < s->constants ? -1 : argument - s->constants; }

// An argument a region, if the chip has so many: else the last one has the rest. Those of memories of constants are
// behind these.
static void plan_arguments(suite* s) {
  const pb_chip* chip = s->chip;
  const int64_t bytes[REGION_CONSTANTS] = {SYSTEM_BYTES, SYSTEM_BYTES, SYSTEM_BYTES, SYSTEM_BYTES, drain_bytes(chip)};
  int slots = chip->arguments - chip->constant_memory_count;
  for (int k = 0; k < REGION_CONSTANTS; ++k) {
    int64_t room = chip->memories[chip->system_memory].bytes / 4 / REGION_CONSTANTS / 64 * 64;
    plan_region(s, k, k < slots ? k : slots - 1, chip->system_memory, bytes[k], room);
  }
  s->constants = s->argument_count;
  for (int k = 0; k < chip->constant_memory_count; ++k) {
    int memory = chip->constant_memories[k];
    plan_region(s, REGION_CONSTANTS + k, s->constants + k, memory, SYSTEM_BYTES,
                chip->memories[memory].bytes / 4 / 64 * 64);
  }
  for (int a = 0; a < s->argument_count; ++a) {
    s->image[a] = pb_alloc(&s->arena, (size_t)s->argument_bytes[a]);
    judge_argument(s->judge, a, s->argument_bytes[a]);
  }
}

static bool is_copy(const pb_insn* insn) {
  return insn->operand_count && insn->reduce == PB_SET && insn->expr_count == 1 && insn->expr[0].op == PB_OP_LOAD &&
         insn->operands[insn->expr[0].operand].type == insn->operands[insn->dest].type;
}

// Whether all that the instruction reads can be there already.
static bool sources_ready(const suite* s, const pb_insn* insn, int* depth) {
  *depth = 0;
  for (int o = 0; o < insn->operand_count; ++o) {
    const pb_operand* operand = &insn->operands[o];
    if (operand->memory < 0 || o == insn->dest || suite_is_outside(s, operand)) continue;
    const memory_plan* m = &s->memories[operand->memory];
    if (!m->filler || operand->memory == insn->operands[insn->dest].memory) return false;
    if (m->depth + 1 > *depth) *depth = m->depth + 1;
  }
  return true;
}

// Copies are preferred, and of those the ones with the fewest operands; what always adds cannot begin.
static void plan_fillers(suite* s) {
  for (bool found = true; found;) {
    found = false;
    for (int pass = 0; pass < 2 && !found; ++pass)
      for (int i = 0; i < s->chip->insn_count && !found; ++i) {
        const pb_insn* insn = &s->chip->insns[i];
        int depth;
        if (!insn->operand_count || (pass == 0) != is_copy(insn)) continue;
        if (insn->reduce != PB_SET && insn->acc_flag < 0) continue;
        int memory = insn->operands[insn->dest].memory;
        if (suite_is_outside(s, &insn->operands[insn->dest]) || s->memories[memory].filler ||
            !sources_ready(s, insn, &depth))
          continue;
        s->memories[memory].filler = insn;
        s->memories[memory].depth = depth;
        found = true;
      }
  }
  for (int i = 0; i < s->chip->insn_count; ++i) {
    const pb_insn* insn = &s->chip->insns[i];
    if (!is_copy(insn) || insn->operands[insn->dest].memory != s->chip->system_memory) continue;
    int from = insn->operands[insn->expr[0].operand].memory;
    if (!pb_is_outside(&s->chip->memories[from]) && !s->memories[from].drainer &&
        !pb_in_banks(&s->chip->memories[from]))
      s->memories[from].drainer = insn;
  }
}

int64_t suite_largest(const pb_insn* insn, int dim) {
  const pb_operand* d = &insn->operands[insn->dest];
  int64_t bytes = pb_bytes_of(d->type, 1);
  for (int k = d->rank - 1; k >= 0; --k) {
    if (d->strides[k].kind == PB_STRIDE_FIELD && d->dims[k] == dim && bytes < d->unit) bytes = d->unit;
    int64_t extent = d->dims[k] == dim ? insn->dims[dim].max : insn->dims[d->dims[k]].min;
    if (extent > 0 && bytes > INT64_MAX / extent) return INT64_MAX;
    bytes *= extent;
  }
  return bytes;
}

int64_t suite_most(const pb_chip* chip, int memory) {
  return chip->memories[memory].bytes < MOST_RESULT ? chip->memories[memory].bytes : MOST_RESULT;
}

// Small memories whole, of others both ends.
static void plan_parts(suite* s, int m, int64_t part) {
  const pb_memory* memory = &s->chip->memories[m];
  memory_plan* plan = &s->memories[m];
  part = (part + memory->row_bytes - 1) / memory->row_bytes * memory->row_bytes;
  plan->tile = tile_bytes(s->chip, m) / 2;
  if (part < 2 * plan->tile) part = 2 * plan->tile;
  plan->count = 0;
  if (pb_is_outside(memory) || pb_in_banks(memory)) return; // banks are filled as they are needed
  if (memory->bytes <= 2 * part)
    plan->parts[plan->count++] = (region){s->space[m], 0, memory->bytes};
  else {
    plan->parts[plan->count++] = (region){s->space[m], 0, part};
    plan->parts[plan->count++] = (region){s->space[m], memory->bytes - part, memory->bytes};
  }
}

void suite_parts(suite* s) {
  for (int m = 0; m < s->chip->memory_count; ++m) plan_parts(s, m, PART_BYTES);
}

// Whether a command of the instruction, or those that fill what it works on, touches the memory.
static bool works_on(const suite* s, const pb_insn* insn, int memory) {
  for (int o = 0; o < insn->operand_count; ++o) {
    int own = insn->operands[o].memory;
    if (own == memory) return true;
    const pb_insn* filler = own >= 0 ? s->memories[own].filler : NULL;
    if (filler && filler != insn && works_on(s, filler, memory)) return true;
  }
  return false;
}

void suite_parts_for(suite* s, const pb_insn* insn, int dim) {
  int64_t largest = suite_largest(insn, dim);
  for (int m = 0; m < s->chip->memory_count; ++m) {
    bool result = insn->operands[insn->dest].memory == m && largest <= suite_most(s->chip, m);
    int64_t wide = result && largest > WIDE_BYTES ? largest : WIDE_BYTES;
    plan_parts(s, m, works_on(s, insn, m) ? wide : PART_BYTES);
  }
}

bool suite_plan(suite* s, char* why) {
  for (int m = 0; m < s->chip->memory_count; ++m) {
    s->space[m] = judge_memory(s->judge, s->chip->memories[m].name);
    if (s->space[m] < 0)
      return snprintf(why, JUDGE_WHY, "the judge has no memory %s", s->chip->memories[m].name), false;
  }
  plan_arguments(s);
  plan_fillers(s);
  suite_parts(s);
  s->coverage = pb_alloc_array(&s->arena, (size_t)s->chip->insn_count, sizeof *s->coverage);
  s->runs = pb_alloc_array(&s->arena, (size_t)s->chip->insn_count, sizeof *s->runs);
  suite_images(s);
  return true;
}
