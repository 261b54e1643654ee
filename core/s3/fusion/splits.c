#include "core/s3/fusion/splits.h"

#include "core/s3/kernel/contraction_dims.h"
#include "core/s3/transfer_paths.h"

void pb_splits_begin(pb_unit* unit, pb_program* program, pb_splits* splits) {
  *splits = (pb_splits){
      .unit = unit, .program = program, .wanted = pb_chip_expands(unit->chip), .known = program->value_count};
  splits->of = PB_NEW_ARRAY(&unit->pass, pb_split*, (size_t)program->value_count + 1);
  splits->looked_at = PB_NEW_ARRAY(&unit->pass, bool, (size_t)program->value_count + 1);
}

// Whether one dim of a sum walks the index one by one, and all others step over whole groups of four, so that tiles of
// an instruction that sums fours are whole groups too.
static bool is_by_fours(const pb_nest* nest, const pb_contraction_dims* roles, const pb_index* index) {
  bool walked = false;
  for (int d = 0; d < nest->dim_count; ++d) {
    if (index->coef[d] % 4 == 0) continue;
    if (walked || index->coef[d] != 1 || roles->role[d] != PB_ROLE_K || nest->extent[d] % 4) return false;
    walked = true;
  }
  return walked && index->cst % 4 == 0;
}

// Bits of the indices of access a along which a sum goes by fours.
static unsigned sum_axes(const pb_nest* nest, const pb_contraction_dims* roles, int a) {
  unsigned axes = 0;
  for (int r = 0; r < nest->access[a].rank; ++r)
    if (is_by_fours(nest, roles, &nest->access[a].index[r])) axes |= 1u << r;
  return axes;
}

// The memory in which the instruction for the nest holds its weights, if access a is these; -1: it is not.
static int held_memory(const pb_splits* s, int nest, int a, unsigned* axes) {
  const pb_nest* n = &s->program->nests[nest];
  bool weight[PB_NEST_ACCESSES] = {0};
  pb_contraction_dims roles, insn_roles;
  pb_program_find_weights(s->program, nest, n, weight);
  if (n->reduce == PB_SET || !pb_nest_contraction_dims(n, weight, &roles) || roles.w != a) return -1;
  const pb_insn* insn = pb_nest_contraction(s->unit->chip, pb_chip_lanes(s->unit->chip), n, &roles, &insn_roles);
  if (!insn) return -1;
  *axes = pb_insn_lanes(insn, &insn_roles, PB_ROLE_K) % 4 ? 0 : sum_axes(n, &roles, a);
  int held = insn->operands[insn_roles.w].memory;
  // weights of sums by lanes are held in another order, which only a copy on the chip brings them into
  return pb_sums_by_lanes(insn, &insn_roles) && pb_expands_to(s->unit->chip, held) ? -1 : held;
}

// Codes of 4 bits that a command takes as they are need no other form.
static bool are_codes(const pb_splits* s, int value, int held) {
  const pb_chip* chip = s->unit->chip;
  pb_constant_facts facts = pb_constant_facts_of(s->program->values[value].ir);
  pb_op unpacks;
  pb_type lies;
  int via = pb_transfer_constant_via(chip, facts, held, PB_I8);
  if (!facts.codes) return false;
  if (pb_transfer_packed_to(chip, facts.kept_out, held) >= 0 ||
      pb_transfer_packed_via(chip, facts, held, PB_I8, &lies) >= 0)
    return true;
  (void)pb_transfer_constant_from(chip, facts, via < 0 ? held : via, PB_I8, &unpacks);
  return unpacks != PB_OP_COUNT;
}

const pb_split* pb_split_weights(pb_splits* s, int nest, int a) {
  int value = s->program->value_of[nest][a], held;
  unsigned axes;
  pb_stored_form form;
  if (!s->wanted || value >= s->known || s->program->values[value].kind != PB_VALUE_CONST) return NULL;
  if ((held = held_memory(s, nest, a, &axes)) < 0) return NULL;
  if (s->looked_at[value]) return s->of[value];
  s->looked_at[value] = true;
  if (are_codes(s, value, held) || !pb_stored_split(s->unit, s->program->values[value].const_id, held, axes, &form))
    return NULL;
  pb_split* split = PB_NEW(&s->unit->pass, pb_split);
  split->form = form;
  split->whole = value;
  for (int p = 0; p < form.part_count; ++p) {
    split->parts[p] = pb_program_add_known(s->program, &s->unit->pass, s->unit->consts, form.parts[p]);
    s->unit->consts->items[form.parts[p]]->part_of = s->program->values[value].const_id + 1;
  }
  s->of[value] = split;
  return split;
}

// Argument %a<k> of a kernel is values[k].
static const char* argument_ref(const pb_splits* s, const int* values, int value) {
  int k = 0;
  while (values[k] != value) ++k;
  return pb_printf(&s->unit->pass, "%%a%d", k);
}

void pb_splits_print(const pb_splits* s, const pb_split* const* splits, int count, const int* values, const char* name,
                     int* serial, pb_text* text) {
  if (!count) return; // a nest is many bytes, and most kernels have no splits
  pb_nest* nest = PB_NEW(&s->unit->pass, pb_nest);
  pb_const* const* items = s->unit->consts->items;
  for (int k = 0; k < count; ++k) {
    const pb_split* split = splits[k];
    const pb_const* parts[PB_STORED_PARTS];
    for (int p = 0; p < split->form.part_count; ++p) parts[p] = items[split->form.parts[p]];
    pb_stored_nest(items[s->program->values[split->whole].const_id], parts, &split->form, nest);
    nest->name = name;
    for (int p = 0; p < split->form.part_count; ++p) nest->access[p].ref = argument_ref(s, values, split->parts[p]);
    pb_nest_store(nest)->ref = pb_printf(&s->unit->pass, "%%s%d", k);
    pb_text_add(text, "  %%s%d = memref.alloc() : ", k);
    pb_access_print_type(text, pb_nest_store(nest));
    pb_text_add(text, "\n");
    pb_nest_print(text, nest, 1, serial);
  }
}
