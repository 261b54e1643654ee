#include "core/frontend/wire.h"

#include <string.h>

bool pb_wire_varint(pb_wire* wire, uint64_t* value) {
  *value = 0;
  for (int shift = 0; shift < 70; shift += 7) {
    if (wire->at == wire->end) break;
    uint8_t byte = *wire->at++;
    if (shift < 64) *value |= (uint64_t)(byte & 0x7f) << shift;
    if (!(byte & 0x80)) return true;
  }
  wire->broken = true;
  return false;
}

static bool fixed(pb_wire* wire, size_t bytes, uint64_t* value) {
  if ((size_t)(wire->end - wire->at) < bytes) {
    wire->broken = true;
    return false;
  }
  *value = 0;
  for (size_t k = 0; k < bytes; ++k) *value |= (uint64_t)wire->at[k] << (8 * k);
  wire->at += bytes;
  return true;
}

bool pb_wire_next(pb_wire* wire, pb_wire_field* field) {
  uint64_t key;
  if (wire->broken || wire->at == wire->end || !pb_wire_varint(wire, &key)) return false;
  memset(field, 0, sizeof *field);
  field->number = (int)(key >> 3 & 0x1fffffff);
  field->type = (int)(key & 7);
  switch (field->type) {
  case 0:
    return pb_wire_varint(wire, &field->value);
  case 1:
    return fixed(wire, 8, &field->value);
  case 5:
    return fixed(wire, 4, &field->value);
  case 2: {
    uint64_t length;
    if (!pb_wire_varint(wire, &length)) return false;
    if (length > (uint64_t)(wire->end - wire->at)) break;
    field->bytes = (pb_wire){wire->at, wire->at + length, false};
    wire->at += length;
    return true;
  }
  default:
    break;
  }
  wire->broken = true;
  return false;
}
