// Operators of CHLO that are others in another form.
#include "core/frontend/stablehlo/write_out.h"

#include <string.h>

// An operation of elements whose operands fit the result from behind, a dim of 1 for all.
pb_status pb__door_broadcast(pb_door* d, const pb_flat_op* op) {
  static const char prefix[] = "chlo.broadcast_";
  const pb_flat_type* result = pb__door_type(d, op->results[0]);
  const pb_flat_attr* along = pb_flat_find(op, "broadcast_dimensions");
  for (int k = 0; k < op->operand_count; ++k) {
    const pb_flat_type* type = pb__door_type(d, op->operands[k]);
    int lead = result->rank - type->rank;
    bool fits = lead >= 0;
    for (int r = 0; fits && r < type->rank; ++r)
      fits = type->shape[r] == 1 || type->shape[r] == result->shape[lead + r];
    // they are of the operand with fewer dims
    for (int r = 0; fits && lead && along && along->ints && r < along->count; ++r)
      fits = along->count == type->rank && along->ints[r] == lead + r;
    if (!fits) return pb__door_refuse(d, op, "operands of different shapes");
  }
  pb_flat_op plain = *op;
  const char* name = op->name + strlen(prefix);
  bool own = !strcmp(name, "next_after") || !strcmp(name, "zeta") || !strcmp(name, "polygamma");
  plain.name = pb_printf(&d->m.program->arena, "%s.%s", own ? "chlo" : "stablehlo", name);
  bool outside = d->broadcasts;
  d->broadcasts = true;
  pb_status status = pb__door_op(d, &plain);
  d->broadcasts = outside;
  return status;
}

pb_status pb__door_conj(pb_door* d, const pb_flat_op* op) {
  pb_writer w = pb__write_start(d, op);
  pb__write_result(&w, 0, pb__write_conjugate(&w, op->operands[0]));
  return pb__write_end(&w);
}

// A number of the operand's shape.
pb_status pb__door_constant_like(pb_door* d, const pb_flat_op* op) {
  const pb_flat_attr* value = pb_flat_find(op, "value");
  const pb_flat_type* result = pb__door_type(d, op->results[0]);
  if (value->type.rank) return pb__door_refuse(d, op, "a value that is no number");
  pb_writer w = pb__write_start(d, op);
  int number = pb__write_constant(&w, value->type, value->bytes);
  pb__write_result(&w, 0, pb__write_spread(&w, number, result->rank, result->shape));
  return pb__write_end(&w);
}
