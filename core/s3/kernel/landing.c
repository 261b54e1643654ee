#include "core/s3/kernel/landing.h"

#include "core/s3/chip_facts.h"
#include "core/s3/kernel/contraction_dims.h"
#include "core/s3/kernel/flat.h"
#include "core/s3/transfer_paths.h"
#include "core/select/cover.h"

// Nothing has a place yet, and nothing is padded.
static void flat_of(const pb_nest* nest, pb_flat* flat) {
  pb_flat_begin(nest, flat);
  flat->kept = 0;
  flat->onto = false;
  for (int a = 0; a < nest->access_count; ++a) {
    flat->access[a].boxed = false;
    for (int d = 0; d < nest->dim_count; ++d) flat->access[a].box_rank[d] = -1;
  }
}

int pb_flat_lands(pb_select_memo* memo, const pb_flat* flat, int carried) {
  pb_match match;
  pb_cover cover;
  const char* why;
  if (pb_select_again(memo, flat, &match, &why)) return match.insn->operands[match.insn->dest].memory;
  if (flat->reduce != PB_SET || !pb_cover_find(memo->chip, flat, carried, true, &cover)) return -1;
  return cover.pieces[cover.count - 1].memory;
}

// Cores that run code compute whatever a nest says, at once and in registers.
static bool code_lands(const pb_chip* chip, int* memory) {
  int registers = pb_chip_register_file(chip);
  if (registers >= 0) *memory = registers;
  return registers >= 0;
}

// By how many instructions; 0: none do.
static int lands(const pb_chip* chip, const pb_nest* nest, int carried, int from, bool sets, int* memory) {
  pb_flat flat;
  pb_cover cover;
  if (code_lands(chip, memory)) return 1;
  flat_of(nest, &flat);
  if (carried >= 0) flat.access[carried].memory = from;
  if (!pb_cover_find(chip, &flat, carried, sets, &cover)) return 0;
  *memory = cover.pieces[cover.count - 1].memory;
  return cover.count;
}

bool pb_point_lands(const pb_chip* chip, const pb_nest* nest, int carried, int from, int* memory) {
  return lands(chip, nest, carried, from, true, memory) > 0;
}

bool pb_point_lands_alone(const pb_chip* chip, const pb_nest* nest) {
  int memory;
  return lands(chip, nest, -1, PB_ANY_MEMORY, false, &memory) > 0;
}

int pb_point_commands(const pb_chip* chip, const pb_nest* nest) {
  int memory;
  return lands(chip, nest, -1, PB_ANY_MEMORY, true, &memory);
}

bool pb_sum_lands(const pb_chip* chip, const pb_nest* nest, const bool* is_weight, int* memory) {
  pb_contraction_dims roles, insn_roles;
  if (code_lands(chip, memory)) return true;
  if (pb_nest_contraction_dims(nest, is_weight, &roles)) {
    const pb_insn* insn = pb_nest_contraction(chip, pb_chip_lanes(chip), nest, &roles, &insn_roles);
    if (insn) *memory = insn->operands[insn_roles.y].memory;
    return insn != NULL;
  }
  pb_flat flat;
  pb_arena scratch = {0};
  pb_select_memo memo = {.chip = chip, .arena = &scratch};
  flat_of(nest, &flat);
  pb_flat_cut_rows(&flat, pb_chip_lanes(chip));
  int landing = pb_flat_lands(&memo, &flat, -1);
  if (landing >= 0) *memory = landing;
  pb_arena_free(&scratch);
  return landing >= 0;
}

bool pb_nest_known(const pb_chip* chip, const pb_nest* nest) {
  pb_flat flat;
  int memory;
  if (code_lands(chip, &memory)) return true;
  flat_of(nest, &flat);
  return pb_select_knows(chip, &flat);
}
