#include "core/s3/palette.h"

#include "core/s3/kernels.h"
#include "core/s3/transfer_paths.h"
#include "core/select/select.h"

#include <mlir-c/BuiltinAttributes.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_VALUES = 256 };

bool pb_chip_has_palettes(const pb_chip* chip) {
  for (int i = 0; i < chip->insn_count; ++i)
    if (pb_insn_palette(chip, &chip->insns[i]) >= 0) return true;
  return false;
}

int pb_palette_bits(MlirValue value) {
  MlirAttribute a = pb_argument_attribute(value, "pb.palette");
  return mlirAttributeIsNull(a) || !mlirAttributeIsAInteger(a) ? 0 : (int)mlirIntegerAttrGetValueInt(a);
}

void pb_nest_expand(pb_nest* nest) {
  nest->expr_count = 0;
  int code = pb_nest_load(nest, 0), number = pb_nest_node(nest, PB_OP_ZEXT, PB_I32, code, -1);
  pb_nest_gather(nest, 1, 0, pb_nest_node(nest, PB_OP_SEXT, PB_INDEX, number, -1));
}

bool pb_nest_expands(const pb_nest* nest) {
  return nest->part && !strcmp(nest->part, "expand") && nest->access_count == 3 &&
         pb_palette_bits(nest->access[0].memref);
}

// ---- values ----

// The constant's values in order of their bits, and a code for each element.
typedef struct values {
  uint64_t value[MOST_VALUES];
  int count;
  uint8_t* codes;
} values;

static uint64_t bits_at(const uint8_t* data, size_t size, int64_t k) {
  uint64_t bits = 0;
  memcpy(&bits, data + (size_t)k * size, size);
  return bits;
}

// Where the value stands, or would.
static int place_of(const values* v, uint64_t bits) {
  int low = 0, high = v->count;
  while (low < high) {
    int middle = low + (high - low) / 2;
    if (v->value[middle] < bits)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

// false: it has more values than `most`.
static bool find_values(const uint8_t* data, size_t size, int64_t count, int most, values* v) {
  v->count = 0;
  for (int64_t k = 0; k < count; ++k) {
    uint64_t bits = bits_at(data, size, k);
    int at = place_of(v, bits);
    if (at < v->count && v->value[at] == bits) continue;
    if (v->count == most) return false;
    memmove(&v->value[at + 1], &v->value[at], sizeof *v->value * (size_t)(v->count++ - at));
    v->value[at] = bits;
  }
  return true;
}

// ---- what it costs ----

// The cycles that an instruction takes for the whole constant, or the memory outside, whichever is longer; -1: nothing
// does it. table: elements of the palette, 0: the elements come as they are.
static int64_t cycles_of(pb_unit* unit, const pb_const* c, int from, int to, int bits, int64_t table) {
  static const pb_expr_node copy = {.op = PB_OP_LOAD, .args = {-1, -1, -1}};
  const pb_expr_node looked_up[] = {{.op = PB_OP_LOAD, .type = bits == 4 ? PB_I4 : PB_I8, .args = {-1, -1, -1}},
                                    {.op = PB_OP_ZEXT, .type = PB_I32, .args = {0, -1, -1}},
                                    {.op = PB_OP_LOAD, .type = c->type, .args = {1, -1, -1}, .operand = 1}};
  pb_expr_node load = copy;
  pb_flat flat = {.dim_count = c->rank, .access_count = table ? 3 : 2, .expr_count = table ? 3 : 1};
  load.type = c->type;
  flat.expr = table ? looked_up : &load;
  int64_t stride = 1;
  for (int a = 0; a < flat.access_count; ++a)
    flat.access[a] = (pb_flat_access){.memory = PB_ANY_MEMORY, .type = c->type, .aligned_rows = true};
  for (int d = c->rank - 1; d >= 0; stride *= c->shape[d--]) {
    flat.extent[d] = c->shape[d];
    flat.access[0].stride[d] = flat.access[flat.access_count - 1].stride[d] = stride;
  }
  flat.access[0].memory = from;
  flat.access[flat.access_count - 1].memory = to;
  if (table) flat.access[0].type = looked_up[0].type;
  if (table) flat.access[1].table = table;
  pb_match* match = PB_NEW(&unit->pass, pb_match);
  const char* why;
  if (!pb_select(unit->chip, &flat, &unit->pass, match, &why)) return -1;
  int64_t rate = unit->chip->memories[from].bytes_per_cycle, bytes = (stride * bits / 8 + rate - 1) / rate;
  return match->cycles > bytes ? match->cycles : bytes;
}

// Whether the palette's command brings the constant no later than one that copies its elements.
static bool is_worth_it(pb_unit* unit, const pb_const* c, const pb_insn* insn) {
  const pb_chip* chip = unit->chip;
  int to = insn->operands[insn->dest].memory, codes = insn->expr[0].operand;
  int table = insn->dims[insn->operands[pb_insn_palette(chip, insn)].dims[0]].max;
  pb_op unpacks;
  int from = pb_transfer_constant_from(chip, 0, to, c->type, &unpacks);
  int64_t plain = cycles_of(unit, c, from, to, pb_type_bits(c->type), 0);
  int64_t looked_up =
      cycles_of(unit, c, insn->operands[codes].memory, to, pb_type_bits(insn->operands[codes].type), table);
  return looked_up >= 0 && (plain < 0 || looked_up <= plain);
}

// ---- the split ----

static void add_constants(pb_unit* unit, int id, const values* v, int64_t size, pb_palette* palette) {
  pb_const c = unit->consts->items[id];
  size_t element = (size_t)pb_type_bits(c.type) / 8;
  uint8_t* table = pb_alloc(&unit->consts->arena, (size_t)size * element); // 0 behind the last value
  for (int k = 0; k < v->count; ++k) memcpy(table + (size_t)k * element, &v->value[k], element);
  const char* name = c.name ? c.name : "";
  palette->codes =
      pb_consts_add(unit->consts, pb_printf(&unit->consts->arena, "%s.codes", name), PB_I8, c.rank, c.shape, v->codes);
  palette->table =
      pb_consts_add(unit->consts, pb_printf(&unit->consts->arena, "%s.palette", name), c.type, 1, &size, table);
}

// By one command's palette.
static bool split_by(pb_unit* unit, int id, const pb_insn* insn, const uint8_t* data, pb_palette* palette) {
  const pb_const* c = &unit->consts->items[id];
  const pb_operand* codes = &insn->operands[insn->expr[0].operand];
  int64_t size = insn->dims[insn->operands[pb_insn_palette(unit->chip, insn)].dims[0]].max;
  size_t element = (size_t)pb_type_bits(c->type) / 8;
  int64_t count = (int64_t)(c->bytes / element);
  values v;
  palette->bits = pb_type_bits(codes->type);
  if (palette->bits == 4 && c->shape[c->rank - 1] % 2) return false;
  if (count * palette->bits / 8 + size * (int64_t)element >= (int64_t)c->bytes) return false;
  if (!find_values(data, element, count, (int)size, &v) || !is_worth_it(unit, c, insn)) return false;
  v.codes = pb_alloc_raw(&unit->consts->arena, (size_t)count);
  for (int64_t k = 0; k < count; ++k) v.codes[k] = (uint8_t)place_of(&v, bits_at(data, element, k));
  add_constants(unit, id, &v, size, palette);
  return true;
}

bool pb_palette_split(pb_unit* unit, int id, int held, pb_palette* palette) {
  const pb_const* c = &unit->consts->items[id];
  bool split = false;
  if (c->rank < 1 || !c->bytes || pb_type_bits(c->type) % 8) return false;
  uint8_t* data = NULL;
  for (int bits = 4; bits <= 8 && !split; bits += 4) {
    int via = pb_transfer_palette_via(unit->chip, held, c->type, bits);
    if (via < 0) continue;
    if (!data) {
      data = malloc(c->bytes);
      if (!data) pb_no_memory(c->bytes);
      pb_const_write(unit->consts, id, data);
    }
    split = split_by(unit, id, pb_transfer_palette(unit->chip, via, c->type, bits), data, palette);
  }
  free(data);
  return split;
}
