// Constants of few values: a code for each element, and the values.
#include "core/s3/stored_form.h"

#include <string.h>

enum { MOST_VALUES = 256 };

// A constant's values in order of their bits.
typedef struct values {
  uint64_t value[MOST_VALUES];
  int count;
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

// Where the elements of one palette lie: `count` behind each other in each of `rows` rows, `pitch` elements apart.
typedef struct block {
  int64_t first, rows, pitch, count;
} block;

static int64_t place_in(const block* b, int64_t k) { return b->first + k / b->count * b->pitch + k % b->count; }

// false: there are more values than `most`.
static bool find_values(const uint8_t* data, size_t size, const block* b, int most, values* v) {
  v->count = 0;
  for (int64_t k = 0; k < b->rows * b->count; ++k) {
    uint64_t bits = bits_at(data, size, place_in(b, k));
    int at = place_of(v, bits);
    if (at < v->count && v->value[at] == bits) continue;
    if (v->count == most) return false;
    memmove(&v->value[at + 1], &v->value[at], sizeof *v->value * (size_t)(v->count++ - at));
    v->value[at] = bits;
  }
  return true;
}

// Whether the command can say which of so many palettes of `bytes` each, and their memory holds them.
static bool has_room(const pb_chip* chip, const pb_insn* insn, int64_t tables, int64_t bytes) {
  const pb_operand* table = &insn->operands[pb_insn_palette(chip, insn)];
  int64_t last = (tables - 1) * bytes;
  return tables * bytes <= chip->memories[table->memory].bytes && bytes % table->unit == 0 &&
         pb_field_holds(&insn->fields[table->base], last / table->unit);
}

// The elements that have palette number t of so many.
static block block_of(const pb_const* c, int64_t count, int64_t tables, int each, int64_t t) {
  int64_t behind = 1;
  for (int r = each; r < c->rank && each; ++r) behind *= c->shape[r];
  return each ? (block){t * behind, count / (tables * behind), tables * behind, behind} : (block){0, 1, count, count};
}

// The parts of a constant all of whose elements have theirs in its palettes.
static void add_parts(pb_consts* consts, const pb_const* c, const uint8_t* data, int64_t tables, int64_t size,
                      pb_stored_form* form) {
  int64_t element = pb_type_bits(c->type) / 8, count = (int64_t)c->bytes / element, shape[2] = {tables, size};
  uint8_t* codes = pb_alloc_raw(&consts->arena, (size_t)count);
  uint8_t* table = pb_alloc(&consts->arena, (size_t)(tables * size * element)); // 0 behind the last value
  values v;
  for (int64_t t = 0; t < tables; ++t) {
    block b = block_of(c, count, tables, form->each, t);
    (void)find_values(data, (size_t)element, &b, (int)size, &v);
    for (int64_t k = 0; k < b.rows * b.count; ++k)
      codes[place_in(&b, k)] = (uint8_t)place_of(&v, bits_at(data, (size_t)element, place_in(&b, k)));
    for (int k = 0; k < v.count; ++k) memcpy(table + (t * size + k) * element, &v.value[k], (size_t)element);
  }
  const char* name = c->name ? c->name : "";
  form->parts[0] = pb_consts_add(consts, pb_printf(&consts->arena, "%s.codes", name), PB_I8, c->rank, c->shape, codes);
  form->parts[1] = pb_consts_add(consts, pb_printf(&consts->arena, "%s.palette", name), c->type, form->each ? 2 : 1,
                                 form->each ? shape : &size, table);
}

bool pb__palette_split(pb_consts* consts, const pb_chip* chip, int id, const uint8_t* data, pb_stored_form* form) {
  pb_const c = *consts->items[id];
  const pb_insn* insn = form->insn;
  int64_t size = insn->dims[insn->operands[pb_insn_palette(chip, insn)].dims[0]].max;
  int64_t tables = form->each ? c.shape[form->each - 1] : 1, element = pb_type_bits(c.type) / 8;
  int64_t count = (int64_t)c.bytes / element;
  form->axis = -1;
  form->part_count = 2;
  form->bits = pb_type_bits(insn->operands[insn->expr[0].operand].type);
  if (form->bits == 4 && c.shape[c.rank - 1] % 2) return false;
  if (count * form->bits / 8 + tables * size * element >= (int64_t)c.bytes) return false;
  if (form->each && (tables < 2 || !has_room(chip, insn, tables, size * element))) return false;
  values v;
  for (int64_t t = 0; t < tables; ++t) {
    block b = block_of(&c, count, tables, form->each, t);
    if (!find_values(data, (size_t)element, &b, (int)size, &v)) return false;
  }
  add_parts(consts, &c, data, tables, size, form);
  return true;
}
