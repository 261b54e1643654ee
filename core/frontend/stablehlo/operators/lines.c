// Largest and least elements and sums under windows of several dims: along one dim after the other, as many elements
// each as the window is long there, and not as many as it holds. The former two are exact, for neither asks in which
// order, or how often; sums begin at 0 and are of types whose partial sums need no more bits than the result.
#include "core/frontend/stablehlo/write_out.h"
#include "core/poly/evaluate.h"

#include <string.h>

enum { LEAST_HELD = 25 }; // by a window: a tensor more is written and read

typedef struct window {
  const int64_t *size, *pad; // pad: low and high by dim
} window;

static bool sums_from_zero(const pb_door* d, const pb_flat_op* op) {
  pb_type type = pb__door_type(d, op->operands[0])->type;
  int first = pb__door_in(d, op, 1);
  const void* bytes = pb_made_splat(&d->m, first);
  bool is_exact = type == PB_F32 || type == PB_F64 || (!pb_type_is_float(type) && type != PB_I1);
  return bytes && is_exact && !memcmp(bytes, &(int64_t){0}, pb_number_bytes(pb_made(&d->m, first)->type));
}

static bool steps_by_one(pb_door* d, const pb_flat_op* op, int rank) {
  static const char* const steps[] = {"window_strides", "base_dilations", "window_dilations"};
  for (int k = 0; k < 3; ++k) {
    const int64_t* step = pb__door_ints(d, op, steps[k], rank, 1);
    for (int r = 0; r < rank; ++r)
      if (!step || step[r] != 1) return false;
  }
  return true;
}

// Whether it is worth it, and the result's extents are the window's.
static bool is_wide(const window* w, const pb_flat_type* in, const pb_flat_type* out) {
  int64_t held = 1;
  int dims = 0;
  for (int r = 0; r < in->rank; ++r) {
    int64_t extent = in->shape[r] + w->pad[2 * r] + w->pad[2 * r + 1] - w->size[r] + 1;
    if (w->size[r] < 1 || extent < 1 || out->rank != in->rank || out->shape[r] != extent) return false;
    dims += w->size[r] > 1;
    held *= w->size[r];
  }
  return dims > 1 && held >= LEAST_HELD;
}

static int along(pb_writer* w, const pb_flat_op* op, int x, int r, const window* of) {
  pb_flat_type type = pb__write_type(w, x);
  int64_t size[PB_FLAT_RANK], pad[2 * PB_FLAT_RANK] = {0};
  for (int k = 0; k < type.rank; ++k) size[k] = k == r ? of->size[r] : 1;
  memcpy(pad + 2 * r, of->pad + 2 * r, 2 * sizeof *pad);
  type.shape[r] += pad[2 * r] + pad[2 * r + 1] - of->size[r] + 1;
  const pb_flat_attr attrs[] = {pb__write_ints(w, "window_dimensions", type.rank, size),
                                pb__write_ints(w, "padding", 2 * type.rank, pad)};
  return pb__write_by(w, "stablehlo.reduce_window", type, 2, (const int[]){x, op->operands[1]}, 2, attrs, 1,
                      op->regions);
}

pb_status pb__door_by_lines(pb_door* d, const pb_flat_op* op, bool* made) {
  *made = false;
  if (op->operand_count != 2 || op->result_count != 1 || !pb__door_makes_code(d)) return PB_OK;
  const char* by = pb__door_combiner(op, 0);
  const pb_flat_type* in = pb__door_type(d, op->operands[0]);
  int rank = in->rank;
  bool chooses = !strcmp(by, "stablehlo.maximum") || !strcmp(by, "stablehlo.minimum");
  if (!chooses && (strcmp(by, "stablehlo.add") || !sums_from_zero(d, op))) return PB_OK;
  if (d->open || d->m.consts->open || in->is_complex) return PB_OK;
  window of = {pb__door_ints(d, op, "window_dimensions", rank, 1), pb__door_ints(d, op, "padding", 2 * rank, 0)};
  if (!of.size || !of.pad || !is_wide(&of, in, pb__door_type(d, op->results[0])) || !steps_by_one(d, op, rank))
    return PB_OK;
  pb_writer w = pb__write_start(d, op);
  int x = op->operands[0];
  for (int r = 0; r < rank; ++r)
    if (of.size[r] > 1 || of.pad[2 * r] || of.pad[2 * r + 1]) x = along(&w, op, x, r, &of);
  pb__write_result(&w, 0, x);
  *made = true;
  return pb__write_end(&w);
}
