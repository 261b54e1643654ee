// The largest or the least of narrow numbers, by rows or by windows: of the same numbers in a type that vectors reduce,
// from which it comes back as it is. Nothing is rounded on the way.
//
//   before   y = reduce(x: bf16, maximum)          y = reduce(x: i1, or)
//   after    y = bf16(reduce(f32(x), maximum))     y = i1(reduce(i8(x), maximum))
#include "core/frontend/stablehlo/write_out.h"

#include <string.h>

// The type; the narrow one itself: vectors reduce it as it is, or it is no such reduction.
static pb_type wider(pb_type type, const char* how) {
  bool most = !strcmp(how, "stablehlo.maximum"), least = !strcmp(how, "stablehlo.minimum");
  if (type == PB_I1) return most || !strcmp(how, "stablehlo.or") ? PB_I8 : type;
  if (!most && !least) return type;
  return type == PB_F16 || type == PB_BF16 ? PB_F32 : type;
}

pb_status pb__door_wider(pb_door* d, const pb_flat_op* op, bool* made) {
  const char* how = op->result_count == 1 ? pb__door_combiner(op, 0) : "";
  const pb_flat_type* x = pb__door_type(d, op->operands[0]);
  pb_type type = x->is_complex ? x->type : wider(x->type, how);
  *made = false;
  if (type == x->type || !pb__door_makes_code(d) || d->open || d->m.consts->open) return PB_OK;
  pb_writer w = pb__write_start(d, op);
  int operands[2];
  for (int k = 0; k < 2; ++k) operands[k] = pb__write_converted(&w, op->operands[k], type);
  pb_flat_type wide = pb__write_type(&w, op->results[0]), scalar = pb__write_shaped(wide, 0, NULL);
  wide.type = scalar.type = type;
  const pb_flat_block body = pb__write_combiner(&w, strcmp(how, "stablehlo.or") ? how : "stablehlo.maximum", scalar);
  int y = pb__write_by(&w, op->name, wide, 2, operands, op->attr_count, op->attrs, 1, &body);
  pb__write_result(&w, 0, pb__write_converted(&w, y, x->type));
  *made = true;
  return pb__write_end(&w);
}
