// What the bits of a field say: its number, or what its form makes of it. And what no field says.
#include "tdl/chip.h"

static int64_t least_code(const pb_field* field) { return field->is_signed ? -((int64_t)1 << (field->width - 1)) : 0; }

static int64_t most_code(const pb_field* field) {
  if (field->width >= 63) return INT64_MAX;
  return ((int64_t)1 << (field->width - field->is_signed)) - 1;
}

int64_t pb_field_number(const pb_field* field, int64_t code) {
  switch (field->form) {
  case PB_FORM_MINUS:
    return code + field->by;
  case PB_FORM_SCALED:
    return code * field->by;
  case PB_FORM_LOG2:
    return (int64_t)1 << code;
  default:
    return code;
  }
}

int64_t pb_field_code(const pb_field* field, int64_t number) {
  int64_t code = 0;
  switch (field->form) {
  case PB_FORM_MINUS:
    return number - field->by;
  case PB_FORM_SCALED:
    return number / field->by;
  case PB_FORM_LOG2:
    while (number >> (code + 1) > 0) ++code;
    return code;
  default:
    return number;
  }
}

int64_t pb_field_min(const pb_field* field) { return pb_field_number(field, least_code(field)); }
int64_t pb_field_max(const pb_field* field) { return pb_field_number(field, most_code(field)); }

bool pb_field_holds(const pb_field* field, int64_t number) {
  return number >= pb_field_min(field) && number <= pb_field_max(field) &&
         pb_field_number(field, pb_field_code(field, number)) == number;
}

int64_t pb_field_nearest(const pb_field* field, int64_t number) {
  if (number <= pb_field_min(field)) return pb_field_min(field);
  if (number >= pb_field_max(field)) return pb_field_max(field);
  int64_t code = pb_field_code(field, number);
  if (pb_field_number(field, code) == number) return number;
  return pb_field_number(field, number < 0 ? code - 1 : code + 1); // both lie within: the ends do
}

int64_t pb_field_low(const pb_field* field, int bits, int64_t number) {
  bool holds_all = field->form == PB_FORM_PLAIN && !field->is_signed && field->width >= bits && bits < 32;
  return holds_all && number < 0 ? number + ((int64_t)1 << bits) : number;
}

int64_t pb_field_bits(const pb_field* field, uint32_t bits) {
  return field->is_signed && field->width == 32 ? (int32_t)bits : (int64_t)bits;
}

int64_t pb_base_unit(const pb_insn* insn, const pb_operand* window) {
  const pb_field* base = window->base >= 0 ? &insn->fields[window->base] : NULL;
  int64_t unit = window->unit;
  if (base && (base->form == PB_FORM_SCALED || base->hidden) && __builtin_mul_overflow(unit, base->by, &unit))
    return INT64_MAX;
  return unit;
}

const pb_insn* pb_state_alone(const pb_chip* chip, const pb_insn* writer) {
  for (int i = 0; i < chip->insn_count; ++i)
    if (!chip->insns[i].emit && chip->insns[i].state_of == writer->index) return &chip->insns[i];
  return NULL;
}

int pb_unit_queue(const pb_chip* chip, int unit) {
  for (int i = 0; i < chip->insn_count && unit >= chip->queue_count; ++i)
    if (chip->insns[i].unit == unit) return chip->insns[i].queue;
  return unit;
}

int64_t pb_fixed_stride(const pb_chip* chip, const pb_operand* window, int k) {
  switch (window->strides[k].kind) {
  case PB_STRIDE_ELEM:
    return (pb_type_bits(window->type) + 7) / 8;
  case PB_STRIDE_ROW:
    return chip->memories[window->memory].row_bytes;
  case PB_STRIDE_NUMBER: {
    int64_t bytes;
    return __builtin_mul_overflow(window->strides[k].units, window->unit, &bytes) ? INT64_MAX : bytes;
  }
  default:
    return 0;
  }
}
