#include "core/s3/stored_form.h"

#include "core/s3/kernel/flat.h"
#include "core/s3/kernel/stages.h"
#include "core/s3/kernels.h"
#include "core/s3/transfer_paths.h"
#include "core/select/select.h"

#include <stdlib.h>
#include <string.h>

static bool makes_elements(const pb_chip* chip, const pb_insn* insn) {
  return pb_insn_palette(chip, insn) >= 0 || pb_insn_two_of_four(insn) >= 0;
}

bool pb_chip_expands(const pb_chip* chip) {
  for (int i = 0; i < chip->insn_count; ++i)
    if (makes_elements(chip, &chip->insns[i])) return true;
  return false;
}

bool pb_expands_to(const pb_chip* chip, int memory) {
  for (int i = 0; i < chip->insn_count; ++i)
    if (makes_elements(chip, &chip->insns[i]) && chip->insns[i].operands[chip->insns[i].dest].memory == memory)
      return true;
  return false;
}

int pb_coded_bits(MlirValue value) { return (int)pb_argument_integer(value, "pb.coded", 0); }

// Whether the nest, one of a kernel's function, makes weights of a form's parts.
static bool expands(const pb_nest* nest) {
  if (!nest->part || strcmp(nest->part, "expand")) return false;
  for (int a = 0; a + 1 < nest->access_count; ++a)
    if (pb_coded_bits(nest->access[a].memref)) return true;
  return false;
}

void pb_program_fold_expansions(pb_program* p, pb_arena* arena) {
  bool any = false;
  for (int n = 0; n < p->nest_count; ++n) {
    pb_value* made = &p->values[pb_program_stored(p, n)];
    if (made->kind != PB_VALUE_LOCAL || !expands(&p->nests[n])) continue;
    made->expands = pb_nest_kept(arena, &p->nests[n]);
    made->kind = PB_VALUE_CONST;
    any = p->gone[n] = true;
  }
  if (any) pb_program_drop_nests(p, arena);
}

// ---- the nest ----

// In the last index of the table: one in front says which.
static void look_up(pb_nest* nest) {
  nest->expr_count = 0;
  int code = pb_nest_load(nest, 0), number = pb_nest_node(nest, PB_OP_ZEXT, PB_I32, code, -1);
  pb_nest_gather(nest, 1, nest->access[1].rank - 1, pb_nest_node(nest, PB_OP_SEXT, PB_INDEX, number, -1));
}

// By the iteration of dim `of_four`. Parts stand in the order in which the body reads them.
static void pick(pb_nest* nest, int of_four) {
  pb_type type = pb_nest_store(nest)->type;
  nest->expr_count = 0;
  int code = pb_nest_node(nest, PB_OP_ZEXT, PB_I32, pb_nest_load(nest, 0), -1);
  int low = pb_nest_node(nest, PB_OP_AND, PB_I32, code, pb_nest_integer(nest, PB_I32, 3));
  int iteration = pb_nest_node(nest, PB_OP_INDEX, PB_I64, -1, -1);
  nest->expr[iteration].operand = of_four;
  int place = pb_nest_node(nest, PB_OP_TRUNC, PB_I32, iteration, -1);
  int is_first = pb_nest_node(nest, PB_OP_EQUAL, PB_I1, low, place);
  int high = pb_nest_node(nest, PB_OP_SHRU, PB_I32, code, pb_nest_integer(nest, PB_I32, 2));
  int is_second = pb_nest_node(nest, PB_OP_EQUAL, PB_I1, high, place);
  int first = pb_nest_load(nest, 1), second = pb_nest_load(nest, 2);
  int zero = type == PB_F32 ? pb_nest_const(nest, type, 0) : pb_nest_integer(nest, type, 0);
  int other = pb_nest_node(nest, PB_OP_SELECT, type, is_second, second);
  nest->expr[other].args[2] = zero;
  int value = pb_nest_node(nest, PB_OP_SELECT, type, is_first, first);
  nest->expr[value].args[2] = other;
}

static void shape_of(const pb_const* c, pb_access* access) {
  *access = (pb_access){.type = pb_type_stored(c->type), .rank = c->rank, .buffer = -1};
  memcpy(access->shape, c->shape, sizeof(int64_t) * (size_t)c->rank);
}

void pb_stored_nest(const pb_const* whole, const pb_const* const* parts, const pb_stored_form* form, pb_nest* nest) {
  int table = form->axis < 0 && form->part_count > 1 ? 1 : -1;
  pb_nest_begin(nest, "", "expand", form->part_count + 1);
  nest->dim_count = whole->rank + (form->axis >= 0);
  shape_of(whole, pb_nest_store(nest));
  for (int p = 0; p < form->part_count; ++p) shape_of(parts[p], &nest->access[p]);
  for (int r = 0, d = 0; r < whole->rank; ++r, ++d) {
    nest->extent[d] = whole->shape[r];
    for (int a = 0; a < nest->access_count; ++a)
      if (a != table) nest->access[a].index[r].coef[d] = 1;
    if (r + 1 == form->each) nest->access[table].index[0].coef[d] = 1;
    if (r != form->axis) continue;
    nest->extent[d] /= 4;
    pb_nest_store(nest)->index[r].coef[d++] = 4;
    nest->extent[d] = 4;
    pb_nest_store(nest)->index[r].coef[d] = 1;
  }
  if (form->axis >= 0)
    pick(nest, form->axis + 1);
  else if (table >= 0)
    look_up(nest);
  else
    (void)pb_nest_load(nest, 0);
}

// ---- its command ----

// The dim whose iteration the nest's body takes; -1: none.
static int counted(const pb_nest* nest) {
  for (int n = 0; n < nest->expr_count; ++n)
    if (nest->expr[n].op == PB_OP_INDEX) return nest->expr[n].operand;
  return -1;
}

bool pb_nest_takes_codes(const pb_nest* nest) { return pb_nest_gathers(nest) || counted(nest) >= 0; }

// Bits of the codes, of a nest that looks them up or picks by them: where they are an argument's.
static int coded_bits(const pb_nest* nest) {
  int bits = 0;
  for (int a = 0; a + 1 < nest->access_count && !bits; ++a) bits = pb_coded_bits(nest->access[a].memref);
  return bits;
}

const pb_insn* pb_expanding(const pb_chip* chip, const pb_nest* nest, int memory) {
  int of_four = counted(nest), bits = pb_nest_takes_codes(nest) ? coded_bits(nest) : 0;
  pb_type type = nest->access[nest->access_count - 1].type;
  unsigned kept_out = pb_constant_facts_of(nest->access[0].memref).kept_out;
  for (int rank = 0, from; bits && (from = pb_constant_home(chip, kept_out, rank)) >= 0; ++rank)
    for (int i = 0; i < chip->insn_count; ++i) {
      const pb_insn* insn = &chip->insns[i];
      bool fits = of_four >= 0 ? pb_insn_two_of_four(insn) >= 0 : pb_insn_palette(chip, insn) >= 0;
      if (!fits || insn->operands[insn->dest].memory != memory || insn->operands[insn->dest].type != type) continue;
      const pb_operand* codes = &insn->operands[insn->expr[0].operand];
      if (codes->memory == from && pb_type_bits(codes->type) == bits) return insn;
    }
  return NULL;
}

int pb_expanded_via(const pb_chip* chip, const pb_nest* expands, int memory) {
  pb_type type = expands->access[expands->access_count - 1].type;
  if (pb_expanding(chip, expands, memory)) return memory;
  for (int via = 0; via < chip->memory_count; ++via)
    if (pb_expanding(chip, expands, via) && pb_transfer_copies(chip, via, memory, type)) return via;
  return -1;
}

// ---- a tile's load ----

// The index of the codes of which each place has a palette of its own; -1: there is one for all.
static int own_palettes(const pb_nest* expands) {
  const pb_index* which = &expands->access[1].index[0];
  for (int r = 0; r < expands->access[0].rank && expands->access[1].rank > 1; ++r)
    if (!memcmp(&expands->access[0].index[r], which, sizeof *which)) return r;
  return -1;
}

static const char* load_codes(const pb_nest* expands, pb_nest* load) {
  int each = own_palettes(expands);
  if (expands->access[1].rank > 1 && each < 0) return "nothing says which palette its weights have";
  load->access[2] = load->access[1];
  load->access[1] = expands->access[1];
  if (each >= 0) load->access[1].index[0] = load->access[0].index[each];
  load->access[0].type = expands->access[0].type;
  load->access_count = 3;
  look_up(load);
  return NULL;
}

// The index along which the nest takes two of four.
static int axis_of(const pb_nest* expands) {
  const pb_access* store = &expands->access[expands->access_count - 1];
  int axis = 0;
  while (axis + 1 < store->rank && !store->index[axis].coef[counted(expands)]) ++axis;
  return axis;
}

// The dim that walks the index one by one, if all else steps over whole groups; -1: it does not.
static int walks_groups(const pb_nest* load, const pb_index* index) {
  int found = -1;
  if (index->cst % 4) return -1;
  for (int c = 0; c < PB_NEST_COLS; ++c) {
    if (index->coef[c] % 4 == 0) continue;
    if (found >= 0 || c >= load->dim_count || index->coef[c] != 1 || load->extent[c] % 4) return -1;
    found = c;
  }
  return found;
}

static const char* load_two_of_four(const pb_nest* expands, pb_nest* load) {
  int axis = axis_of(expands), d = walks_groups(load, &load->access[0].index[axis]);
  if (d < 0 || load->dim_count == PB_NEST_DIMS) return "a tile of its weights has no whole groups of four";
  pb_nest_cut_dim(load, d, 4);
  load->access[3] = load->access[1];
  load->access_count = 4;
  pb_access from = load->access[0];
  from.shape[axis] /= 4;
  from.index[axis].coef[d + 1] = 0;
  for (int c = 0; c < PB_NEST_COLS; ++c) from.index[axis].coef[c] /= 4;
  from.index[axis].cst /= 4;
  for (int p = 0; p < PB_STORED_PARTS; ++p) {
    load->access[p] = from;
    load->access[p].memref = expands->access[p].memref;
    load->access[p].type = expands->access[p].type;
  }
  pick(load, d + 1);
  return NULL;
}

const char* pb_expand_load(const pb_nest* expands, pb_nest* load) {
  return counted(expands) < 0 ? load_codes(expands, load) : load_two_of_four(expands, load);
}

// ---- the split ----

// The cycles that the chip takes for all of the constant, or the memory outside, whichever is longer; -1: nothing does
// it. form NULL: as its elements lie.
static int64_t cycles_of(pb_unit* unit, const pb_const* c, const pb_const* const* parts, const pb_stored_form* form,
                         int from, int to) {
  pb_nest* nest = PB_NEW(&unit->pass, pb_nest);
  pb_match* match = PB_NEW(&unit->pass, pb_match);
  pb_stored_form plain = {.axis = -1, .part_count = 1};
  pb_flat flat;
  pb_type lies[PB_NEST_ACCESSES];
  const char* why;
  pb_stored_nest(c, form ? parts : &c, form ? form : &plain, nest);
  for (int a = 0; a < nest->access_count; ++a) lies[a] = nest->access[a].type;
  if (form && form->bits == 4) lies[0] = PB_U4;
  pb_flat_begin(nest, &flat);
  pb_flat_lies(nest, lies, &unit->pass, &flat);
  int64_t bits = 0;
  for (int a = 0; a + 1 < nest->access_count; ++a) {
    if (nest->access[a].gathered) continue;
    flat.access[a].memory = from;
    bits += pb_access_elements(&nest->access[a]) * pb_type_bits(flat.access[a].type);
  }
  flat.access[flat.access_count - 1].memory = to;
  if (!pb_select(unit->chip, &flat, &unit->pass, match, &why)) return -1;
  int64_t rate = 8 * unit->chip->memories[from].bytes_per_cycle, beats = (bits + rate - 1) / rate;
  return match->cycles > beats ? match->cycles : beats;
}

// Until a palette is there, before which no element is.
static int64_t wait_for(const pb_memory* outside, const pb_const* palette) {
  int64_t rate = outside->bytes_per_cycle;
  return outside->latency + ((int64_t)palette->bytes + rate - 1) / rate;
}

// Whether the form's command brings the constant no later than one that copies its elements.
static bool is_worth_it(pb_unit* unit, int id, const pb_stored_form* form) {
  const pb_const *c = unit->consts->items[id], *parts[PB_STORED_PARTS];
  const pb_insn* insn = form->insn;
  int to = insn->operands[insn->dest].memory;
  pb_op unpacks;
  for (int p = 0; p < form->part_count; ++p) parts[p] = unit->consts->items[form->parts[p]];
  pb_constant_facts facts = {.kept_out = c->kept_out};
  int from = pb_transfer_constant_from(unit->chip, facts, to, pb_type_stored(c->type), &unpacks);
  int64_t plain = cycles_of(unit, c, NULL, NULL, from, to);
  int outside = insn->operands[insn->expr[0].operand].memory;
  int64_t made = cycles_of(unit, c, parts, form, outside, to);
  if (made >= 0 && form->axis < 0) made += wait_for(&unit->chip->memories[outside], parts[1]);
  return made >= 0 && (plain < 0 || made <= plain);
}

// What the instruction brings on the way to `held`.
static bool reaches(const pb_chip* chip, const pb_insn* insn, int held, pb_type type) {
  const pb_operand* to = &insn->operands[insn->dest];
  return to->type == type && (to->memory == held || pb_transfer_copies(chip, to->memory, held, type));
}

// One palette for all, or the first index each of whose places has one that does.
static bool split_palette(pb_unit* unit, int id, const uint8_t* data, pb_stored_form* form) {
  for (form->each = 0; form->each < unit->consts->items[id]->rank; ++form->each)
    if (pb__palette_split(unit->consts, unit->chip, id, data, form) && is_worth_it(unit, id, form)) return true;
  return false;
}

// By the first of the commands that make elements of what lies in the memory `from`. *data: the elements, once any
// command wants them.
static bool split_from(pb_unit* unit, int id, int held, unsigned axes, int from, uint8_t** data, pb_stored_form* form) {
  const pb_chip* chip = unit->chip;
  bool split = false;
  for (int i = 0; i < chip->insn_count && !split; ++i) {
    const pb_insn* insn = &chip->insns[i];
    const pb_const* c = unit->consts->items[id];
    if (!makes_elements(chip, insn) || insn->operands[insn->expr[0].operand].memory != from) continue;
    if (!reaches(chip, insn, held, pb_type_stored(c->type))) continue;
    if (!*data) {
      *data = malloc(c->bytes);
      if (!*data) pb_no_memory(c->bytes);
      pb_const_write(unit->consts, id, *data);
    }
    *form = (pb_stored_form){.insn = insn};
    split = pb_insn_palette(chip, insn) >= 0
                ? split_palette(unit, id, *data, form)
                : pb__two_of_four_split(unit->consts, id, *data, axes, form) && is_worth_it(unit, id, form);
  }
  return split;
}

bool pb_stored_split(pb_unit* unit, int id, int held, unsigned axes, pb_stored_form* form) {
  const pb_const* c = unit->consts->items[id];
  unsigned kept_out = c->kept_out;
  bool split = false;
  uint8_t* data = NULL;
  if (c->rank < 1 || !c->bytes || pb_type_bits(pb_type_stored(c->type)) % 8) return false;
  for (int rank = 0, from; !split && (from = pb_constant_home(unit->chip, kept_out, rank)) >= 0; ++rank)
    split = split_from(unit, id, held, axes, from, &data, form);
  free(data);
  return split;
}
