// The protobuf wire format, read in place and with limits: the bytes are a stranger's.
#ifndef PB_FRONTEND_WIRE_H
#define PB_FRONTEND_WIRE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct pb_wire {
  const uint8_t *at, *end;
  bool broken; // a length that leaves the message, a varint that does not end
} pb_wire;

typedef struct pb_wire_field {
  int number, type; // type: 0 varint, 1 fixed64, 2 bytes, 5 fixed32
  uint64_t value;   // varint and fixed
  pb_wire bytes;    // type 2
} pb_wire_field;

// The next field; false at the end, or when broken.
bool pb_wire_next(pb_wire* wire, pb_wire_field* field);
// A varint of a packed field.
bool pb_wire_varint(pb_wire* wire, uint64_t* value);

#endif
