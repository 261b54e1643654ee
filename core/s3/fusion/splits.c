#include "core/s3/fusion/splits.h"

#include "core/s3/kernel/contraction_dims.h"
#include "core/s3/kernel/taps.h"
#include "core/s3/kernel/vector.h"
#include "core/s3/palette.h"
#include "core/s3/small_codes.h"
#include "core/s3/transfer_paths.h"

#include <string.h>

void pb_splits_begin(pb_unit* unit, pb_program* program, pb_splits* splits) {
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(program->func, 0));
  *splits = (pb_splits){.unit = unit,
                        .program = program,
                        .wanted = !pb_chip_runs_code(unit->chip) && pb_chip_has_palettes(unit->chip),
                        .arguments = (int)mlirBlockGetNumArguments(body),
                        .known = program->value_count};
  splits->of = PB_NEW_ARRAY(&unit->pass, pb_split*, (size_t)program->value_count + 1);
  splits->looked_at = PB_NEW_ARRAY(&unit->pass, bool, (size_t)program->value_count + 1);
}

// The memory in which the instruction for the nest holds its weights, if access a is these; -1: it is not.
static int held_memory(const pb_splits* s, int nest, int a) {
  const pb_nest* n = &s->program->nests[nest];
  bool weight[PB_NEST_ACCESSES] = {0};
  pb_contraction_dims roles, insn_roles;
  for (int k = 0; k < n->access_count; ++k)
    weight[k] = s->program->values[s->program->value_of[nest][k]].kind == PB_VALUE_CONST;
  if (n->reduce == PB_SET || !pb_nest_contraction_dims(n, weight, &roles) || roles.w != a) return -1;
  const pb_insn* insn = pb_nest_contraction(s->unit->chip, n, &roles, &insn_roles);
  if (!insn) return -1;
  int held = insn->operands[insn_roles.w].memory;
  // such an instruction takes its weights in another order, which only a copy on the chip brings them into
  bool straight = pb_transfer_palette(s->unit->chip, held, n->access[a].type, 4) ||
                  pb_transfer_palette(s->unit->chip, held, n->access[a].type, 8);
  return straight && pb_sums_by_lanes(insn, &insn_roles) ? -1 : held;
}

static int add_constant(pb_splits* s, int id) {
  const pb_const* c = &s->unit->consts->items[id];
  pb_value value = {
      .kind = PB_VALUE_CONST, .argument = s->arguments++, .const_id = id, .type = c->type, .rank = c->rank};
  memcpy(value.shape, c->shape, sizeof(int64_t) * (size_t)c->rank);
  return pb_program_add_value(s->program, &s->unit->pass, &value);
}

// Codes of 4 bits that a command takes as they are need no palette.
static bool are_codes(const pb_splits* s, int value, int held) {
  unsigned narrow = pb_small_codes_of(s->program->values[value].ir);
  pb_op unpacks;
  pb_type lies;
  int via = pb_transfer_palette_via(s->unit->chip, held, s->program->values[value].type, 4);
  if (!narrow) return false;
  if (pb_transfer_packed_to(s->unit->chip, held) >= 0) return true;
  if (pb_transfer_packed_via(s->unit->chip, narrow, held, PB_I8, &lies) >= 0) return true;
  (void)pb_transfer_constant_from(s->unit->chip, narrow, via < 0 ? held : via, PB_I8, &unpacks);
  return unpacks != PB_OP_COUNT;
}

const pb_split* pb_split_weights(pb_splits* s, int nest, int a) {
  int value = s->program->value_of[nest][a];
  if (!s->wanted || value >= s->known || s->program->values[value].kind != PB_VALUE_CONST) return NULL;
  int held = held_memory(s, nest, a);
  pb_palette palette;
  if (held < 0) return NULL;
  if (s->looked_at[value]) return s->of[value];
  s->looked_at[value] = true;
  if (are_codes(s, value, held) || !pb_palette_split(s->unit, s->program->values[value].const_id, held, &palette))
    return NULL;
  pb_split* split = PB_NEW(&s->unit->pass, pb_split);
  split->whole = value;
  split->bits = palette.bits;
  split->codes = add_constant(s, palette.codes);
  split->table = add_constant(s, palette.table);
  s->of[value] = split;
  return split;
}

static void begin_access(const pb_splits* s, int value, const char* ref, bool walked, pb_access* access) {
  *access = pb_value_shape(&s->program->values[value]);
  access->ref = ref;
  access->buffer = -1;
  for (int r = 0; walked && r < access->rank; ++r) access->index[r].coef[r] = 1;
}

// Argument %a<k> of a kernel is values[k].
static const char* argument_ref(const pb_splits* s, const int* values, int value) {
  int k = 0;
  while (values[k] != value) ++k;
  return pb_printf(&s->unit->pass, "%%a%d", k);
}

void pb_splits_print(const pb_splits* s, const pb_split* const* splits, int count, const int* values, const char* name,
                     int* serial, pb_text* text) {
  pb_nest* nest = PB_NEW(&s->unit->pass, pb_nest);
  for (int k = 0; k < count; ++k) {
    const pb_value* whole = &s->program->values[splits[k]->whole];
    pb_nest_begin(nest, name, "expand", 3);
    nest->dim_count = whole->rank;
    memcpy(nest->extent, whole->shape, sizeof(int64_t) * (size_t)whole->rank);
    begin_access(s, splits[k]->codes, argument_ref(s, values, splits[k]->codes), true, &nest->access[0]);
    begin_access(s, splits[k]->table, argument_ref(s, values, splits[k]->table), false, &nest->access[1]);
    begin_access(s, splits[k]->whole, pb_printf(&s->unit->pass, "%%s%d", k), true, &nest->access[2]);
    pb_text_add(text, "  %%s%d = memref.alloc() : ", k);
    pb_access_print_type(text, &nest->access[2]);
    pb_text_add(text, "\n");
    pb_nest_expand(nest);
    pb_nest_print(text, nest, 1, serial);
  }
}
