#include "core/s3/kernel/landing.h"

#include "core/s3/kernel/roles.h"
#include "core/select/cover.h"

#include <string.h>

static void flat_of(const pb_nest* nest, pb_flat* flat) {
  *flat = (pb_flat){.dim_count = nest->dim_count,
                    .access_count = nest->access_count,
                    .expr_count = nest->expr_count,
                    .expr = nest->expr,
                    .reduce = nest->reduce};
  memcpy(flat->extent, nest->extent, sizeof(int64_t) * (size_t)nest->dim_count);
  for (int a = 0; a < nest->access_count; ++a) {
    pb_flat_access* f = &flat->access[a];
    *f = (pb_flat_access){
        .memory = PB_ANY_MEMORY, .type = nest->access[a].type, .splat = nest->access[a].splat, .aligned_rows = true};
    f->table = nest->access[a].gathered ? pb_access_elements(&nest->access[a]) : 0;
    for (int d = 0; d < nest->dim_count; ++d) {
      f->stride[d] = pb_access_stride(&nest->access[a], d);
      f->box_rank[d] = -1;
    }
  }
}

bool pb_point_lands(const pb_chip* chip, const pb_nest* nest, int carried, int from, int* memory) {
  pb_flat flat;
  pb_cover cover;
  if (nest->dim_count > PB_FLAT_DIMS || nest->access_count > PB_FLAT_ACCESSES) return false;
  flat_of(nest, &flat);
  if (carried >= 0) flat.access[carried].memory = from;
  if (!pb_cover_find(chip, &flat, carried, &cover)) return false;
  *memory = cover.pieces[cover.count - 1].memory;
  return true;
}

bool pb_sum_lands(const pb_chip* chip, const pb_nest* nest, const bool* is_weight, int* memory) {
  pb_roles roles, insn_roles;
  if (pb_nest_roles(nest, is_weight, &roles)) {
    const pb_insn* insn = pb_chip_contraction(chip, nest->access[roles.x].type, nest->access[roles.w].type,
                                              nest->access[roles.y].type, &insn_roles);
    if (insn) *memory = insn->operands[insn_roles.y].memory;
    return insn != NULL;
  }
  pb_flat flat;
  pb_match match;
  pb_arena scratch = {0};
  const char* why;
  if (nest->dim_count > PB_FLAT_DIMS || nest->access_count > PB_FLAT_ACCESSES) return false;
  flat_of(nest, &flat);
  bool found = pb_select(chip, &flat, &scratch, &match, &why);
  if (found) *memory = match.insn->operands[match.insn->dest].memory;
  pb_arena_free(&scratch);
  return found;
}
