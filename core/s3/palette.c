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

bool pb__palette_split(pb_consts* consts, const pb_chip* chip, int id, const uint8_t* data, pb_stored_form* form) {
  pb_const c = consts->items[id];
  const pb_insn* insn = form->insn;
  int64_t size = insn->dims[insn->operands[pb_insn_palette(chip, insn)].dims[0]].max;
  size_t element = (size_t)pb_type_bits(c.type) / 8;
  int64_t count = (int64_t)(c.bytes / element);
  values v;
  form->axis = -1;
  form->part_count = 2;
  form->bits = pb_type_bits(insn->operands[insn->expr[0].operand].type);
  if (form->bits == 4 && c.shape[c.rank - 1] % 2) return false;
  if (count * form->bits / 8 + size * (int64_t)element >= (int64_t)c.bytes) return false;
  if (!find_values(data, element, count, (int)size, &v)) return false;
  uint8_t* codes = pb_alloc_raw(&consts->arena, (size_t)count);
  uint8_t* table = pb_alloc(&consts->arena, (size_t)size * element); // 0 behind the last value
  for (int64_t k = 0; k < count; ++k) codes[k] = (uint8_t)place_of(&v, bits_at(data, element, k));
  for (int k = 0; k < v.count; ++k) memcpy(table + (size_t)k * element, &v.value[k], element);
  const char* name = c.name ? c.name : "";
  form->parts[0] = pb_consts_add(consts, pb_printf(&consts->arena, "%s.codes", name), PB_I8, c.rank, c.shape, codes);
  form->parts[1] = pb_consts_add(consts, pb_printf(&consts->arena, "%s.palette", name), c.type, 1, &size, table);
  return true;
}
