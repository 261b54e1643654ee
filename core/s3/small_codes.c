// Constants whose codes have 4 bits, though they lie in bytes: where a command of the chip makes bytes of such codes on
// their way in, they lie two in a byte outside.
#include "core/s3/small_codes.h"

#include "core/s3/kernel/flat.h"
#include "core/s3/transfer_paths.h"

#include <stdlib.h>

unsigned pb_small_codes_of(MlirValue value) { return (unsigned)pb_argument_integer(value, "pb.codes", 0); }

pb_type pb_small_codes_alloc(MlirOperation alloc, pb_type type) {
  int64_t packed = pb_op_integer(alloc, "pb.packed", 0);
  return !packed ? type : packed == PB_CODES_UNSIGNED ? PB_U4 : PB_I4;
}

static bool has_small_codes(const pb_chip* chip) {
  for (int i = 0; i < chip->insn_count; ++i)
    for (int o = 0; o < chip->insns[i].operand_count; ++o)
      if (chip->insns[i].operands[o].type == PB_I4) return true;
  return false;
}

unsigned pb_small_codes_find(const pb_unit* unit, int id) {
  const pb_consts* consts = unit->consts;
  const pb_const* c = consts->items[id];
  unsigned narrow = PB_CODES_SIGNED | PB_CODES_UNSIGNED;
  if (!has_small_codes(unit->chip)) return 0;
  if (c->type != PB_I8 || c->rank < 1 || !c->bytes || c->shape[c->rank - 1] % 2) return 0;
  int8_t* codes = malloc(c->bytes);
  if (!codes) pb_no_memory(c->bytes);
  pb_const_write(consts, id, codes);
  for (uint64_t k = 0; k < c->bytes && narrow; ++k) {
    if (codes[k] < -8 || codes[k] > 7) narrow &= ~(unsigned)PB_CODES_SIGNED;
    if (codes[k] < 0 || codes[k] > 15) narrow &= ~(unsigned)PB_CODES_UNSIGNED;
  }
  free(codes);
  return narrow;
}

pb_type pb_small_codes_read(const pb_insn* insn, int operand) {
  if (insn->operands[operand].type != PB_I4) return PB_TYPE_COUNT;
  for (int n = 0; n < insn->expr_count; ++n) {
    const pb_expr_node* node = &insn->expr[n];
    if (node->op != PB_OP_SEXT && node->op != PB_OP_ZEXT) continue;
    const pb_expr_node* from = &insn->expr[node->args[0]];
    if (from->op == PB_OP_LOAD && from->operand == operand) return node->op == PB_OP_ZEXT ? PB_U4 : PB_I4;
  }
  return PB_TYPE_COUNT;
}

// Whether the instruction is the other one but for weights of 4 bits.
static bool is_like(const pb_insn* insn, const pb_contraction_dims* r, const pb_insn* plain,
                    const pb_contraction_dims* roles) {
  const pb_operand *x = &insn->operands[r->x], *y = &insn->operands[r->y];
  return r->w_type == PB_I4 && r->x_type == roles->x_type && y->type == plain->operands[roles->y].type &&
         x->memory == plain->operands[roles->x].memory && y->memory == plain->operands[roles->y].memory &&
         pb_insn_lanes(insn, r, PB_ROLE_K) == pb_insn_lanes(plain, roles, PB_ROLE_K) &&
         pb_insn_lanes(insn, r, PB_ROLE_N) == pb_insn_lanes(plain, roles, PB_ROLE_N);
}

const pb_insn* pb_small_codes_contraction(const pb_chip* chip, const pb_nest* nest, const pb_contraction_dims* roles,
                                          const pb_insn* plain, pb_contraction_dims* insn_roles) {
  pb_constant_facts facts = pb_constant_facts_of(nest->access[roles->w].memref);
  if (pb_sums_by_lanes(plain, insn_roles)) return plain;
  for (int i = 0; i < chip->insn_count && facts.codes; ++i) {
    const pb_insn* insn = &chip->insns[i];
    pb_contraction_dims r;
    pb_flat flat;
    pb_type lies[PB_NEST_ACCESSES];
    pb_arena scratch = {0};
    if (!pb_insn_contraction_dims(insn, &r) || !is_like(insn, &r, plain, insn_roles)) continue;
    for (int a = 0; a < nest->access_count; ++a) lies[a] = nest->access[a].type;
    lies[roles->w] = pb_small_codes_read(insn, r.w);
    if (!(facts.codes & (unsigned)pb_codes_of_type(lies[roles->w]))) continue;
    if (pb_transfer_packed_to(chip, facts.kept_out, insn->operands[r.w].memory) < 0) continue;
    pb_flat_begin(nest, &flat);
    pb_flat_lies(nest, lies, &scratch, &flat);
    bool knows = pb_select_knows(chip, &flat);
    pb_arena_free(&scratch);
    if (!knows) continue;
    *insn_roles = r;
    return insn;
  }
  return plain;
}
