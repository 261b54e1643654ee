// Scans by a body over tensors: written out, a step for each slice along a dim.
#include "core/frontend/stablehlo/write_out.h"

#include <string.h>

enum { MOST_STEPS = 256, MOST_VALUES = 16 };

typedef struct scan {
  int inputs, carries, outputs, axis;
  int64_t steps;
  bool is_reverse;
} scan;

// How many operands or results come first, and how many behind them: all there are.
static bool segments(pb_door* d, const pb_flat_op* op, const char* name, int all, int* first, int* rest) {
  const int64_t* sizes = pb__door_ints(d, op, name, 2, 0);
  bool fits = sizes && sizes[0] >= 0 && sizes[1] >= 0 && sizes[0] + sizes[1] == all && all <= MOST_VALUES;
  *first = fits ? (int)sizes[0] : 0;
  *rest = fits ? (int)sizes[1] : 0;
  return fits;
}

static pb_status read_scan(pb_door* d, const pb_flat_op* op, scan* s) {
  int left;
  bool fits = segments(d, op, "operandSegmentSizes", op->operand_count, &s->inputs, &s->carries) &&
              segments(d, op, "resultSegmentSizes", op->result_count, &s->outputs, &left) && left == s->carries;
  s->axis = (int)pb__door_int(op, "dimension", -1);
  s->is_reverse = pb__door_int(op, "is_reverse", 0);
  for (int k = 0; fits && k < s->inputs; ++k) {
    const pb_flat_type* x = pb__door_type(d, op->operands[k]);
    fits = s->axis >= 0 && s->axis < x->rank && (!k || x->shape[s->axis] == s->steps);
    if (fits) s->steps = x->shape[s->axis];
  }
  for (int k = 0; fits && k < s->outputs; ++k) fits = s->axis < pb__door_type(d, op->results[k])->rank;
  if (!fits || !s->inputs) return pb__door_refuse(d, op, "operands or results that do not fit");
  return s->steps <= MOST_STEPS ? PB_OK : pb__door_refuse(d, op, "of more than %d steps", MOST_STEPS);
}

// Without the dim, of extent 1, or with it.
static int without(pb_writer* w, int x, int axis) {
  pb_flat_type type = pb__write_type(w, x);
  --type.rank;
  for (int r = axis; r < type.rank; ++r) type.shape[r] = type.shape[r + 1];
  return pb__write(w, "stablehlo.reshape", type, 1, &x, 0, NULL);
}

static int with(pb_writer* w, int x, int axis) {
  pb_flat_type type = pb__write_type(w, x);
  for (int r = type.rank++; r > axis; --r) type.shape[r] = type.shape[r - 1];
  type.shape[axis] = 1;
  return pb__write(w, "stablehlo.reshape", type, 1, &x, 0, NULL);
}

pb_status pb__door_scan(pb_door* d, const pb_flat_op* op) {
  scan s = {0};
  PB_TRY(read_scan(d, op, &s));
  pb_arena* arena = &d->m.program->arena;
  int* rows = PB_NEW_ARRAY(arena, int, (size_t)(s.steps * (s.outputs + 1)));
  pb_door_value now[MOST_VALUES], made[MOST_VALUES];
  pb_writer w = pb__write_start(d, op);
  for (int k = 0; k < s.carries; ++k) now[s.inputs + k] = pb__door_get(d, op->operands[s.inputs + k]);
  for (int64_t step = 0; step < s.steps; ++step) {
    int64_t at = s.is_reverse ? s.steps - 1 - step : step;
    for (int k = 0; k < s.inputs; ++k) {
      int row = without(&w, pb__write_rows(&w, op->operands[k], s.axis, at, at + 1), s.axis);
      now[k] = pb__door_get(d, row);
    }
    if (w.status != PB_OK) break;
    PB_TRY(pb__door_region(d, op, 0, s.inputs + s.carries, now, s.outputs + s.carries, made));
    for (int k = 0; k < s.outputs; ++k) {
      pb_flat_type type = *pb__door_type(d, op->results[k]);
      --type.rank;
      for (int r = s.axis; r < type.rank; ++r) type.shape[r] = type.shape[r + 1];
      rows[k * s.steps + at] = with(&w, pb__write_given(&w, type, made[k]), s.axis);
    }
    memcpy(now + s.inputs, made + s.outputs, sizeof *made * (size_t)s.carries);
  }
  for (int k = 0; k < s.outputs && w.status == PB_OK; ++k)
    pb__write_result(&w, k, pb__write_joined(&w, s.axis, (int)s.steps, rows + k * s.steps));
  for (int k = 0; k < s.carries && w.status == PB_OK; ++k)
    w.status = pb__door_bind(d, op, op->results[s.outputs + k], now[s.inputs + k]);
  return pb__write_end(&w);
}
