// How large the numbers of a value can be, as far as the operators say it: codes times their scale, and what is made of
// them. Floats that come from outside may be anything, NaN too. A chip may clamp what is bounded by a maximum that NaN
// loses; what is not needs one that keeps it, as ONNX Runtime does.
#include "core/s1/control.h"
#include "core/s1/lift/lift.h"

#include <math.h>
#include <stdlib.h>

static const float unbounded = INFINITY, largest = 1e37f; // with room for roundings

static float of_value(const pb_s1* p, const float* bounds, int v) {
  if (v < 0) return unbounded;
  return bounds[pb_s1_base(p, v)];
}

static float of_constant(pb_consts* consts, int id) {
  const float* data = pb_const_data(consts, id);
  float most = 0;
  for (uint64_t k = 0; k < consts->items[id]->bytes / sizeof *data; ++k) {
    if (!isfinite(data[k])) return unbounded;
    most = fmaxf(most, fabsf(data[k]));
  }
  return most;
}

static float of_function(const pb_s1_op* op, float x) {
  switch (op->function) {
  case PB_S1_ABS:
  case PB_S1_NEG:
  case PB_S1_SOFTSIGN:
    return x;
  case PB_S1_HARD_SIGMOID:
  case PB_S1_HARD_SWISH:
    return fmaxf(x, 1) * (fabsf(op->ma) + 1) + fabsf(op->mb); // before it is clamped
  default:
    return unbounded;
  }
}

static float of_result(pb_consts* consts, const pb_s1_op* op, float x, float z) {
  switch (op->kind) {
  case PB_S1_DEQUANTISE:
    return (float)(1 << 9) * fabsf(op->ma);
  case PB_S1_FBINARY:
    if (op->weights >= 0) z = of_constant(consts, op->weights);
    if (op->binary == PB_OP_DIV) return unbounded;
    return op->binary == PB_OP_MUL ? x * z : x + z;
  case PB_S1_FUNARY:
    return of_function(op, x);
  case PB_S1_FPAD:
    return fmaxf(x, isnan(op->ma) ? unbounded : fabsf(op->ma));
  case PB_S1_FCLAMP:
  case PB_S1_FMAXPOOL:
  case PB_S1_FTRANSPOSE:
  case PB_S1_SLICE:
  case PB_S1_CONCAT:
  case PB_S1_COPY:
    return x;
  default:
    return unbounded;
  }
}

void pb__s1_bound(pb_s1* p, pb_consts* consts) {
  float* bounds = calloc(p->value_count + 1, sizeof *bounds);
  if (!bounds) pb_no_memory(p->value_count * sizeof *bounds);
  for (size_t v = 0; v < p->value_count; ++v)
    bounds[v] = p->values[v].is_input || p->values[v].is_variable || p->values[v].const_id >= 0 ? unbounded : 0;
  for (size_t k = 0; k < p->op_count; ++k) {
    pb_s1_op* op = &p->ops[k];
    if (pb_s1_is_control(op)) continue;
    float bound = of_result(consts, op, of_value(p, bounds, op->x), of_value(p, bounds, op->z));
    op->bounded = bound <= largest;
    if (!op->bounded) bound = unbounded;
    if (bound > bounds[op->y]) bounds[op->y] = bound; // several operators make the parts of a concatenation
  }
  free(bounds);
}
