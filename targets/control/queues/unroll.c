// Runs a decoded kernel: a small interpreter of loops and conditions, index arithmetic, windows and calls.
#include "targets/control/queues/unroll.h"

#include "core/base/divide.h"

#include <stdlib.h>
#include <string.h>

typedef struct tracer {
  const pb_chip* chip;
  int core;
  pb_diag* diag;
  pb_taker to;
  pb_unrolled_value* values;
  int64_t* nodes; // of the map at hand
  int at;         // the op at hand
} tracer;

static int64_t evaluate(const tracer* t, const pb_affine_node* n) {
  int64_t a = t->nodes[n->a], b = t->nodes[n->b];
  switch (n->kind) {
  case PB_AFFINE_ADD:
    return a + b;
  case PB_AFFINE_MUL:
    return a * b;
  case PB_AFFINE_MOD:
    return a - b * pb_floor_div(a, b);
  case PB_AFFINE_FLOORDIV:
    return pb_floor_div(a, b);
  default:
    return -pb_floor_div(-a, b);
  }
}

static void run_affine(tracer* t, const pb_decoded_op* op) {
  int64_t result = 0;
  for (int k = 0; k < op->node_count; ++k) {
    const pb_affine_node* n = &op->nodes[k];
    t->nodes[k] = n->kind == PB_AFFINE_CONST   ? n->value
                  : n->kind == PB_AFFINE_INPUT ? (int64_t)t->values[n->a].number
                                               : evaluate(t, n);
  }
  for (int k = 0; k < op->result_count; ++k) {
    int64_t value = t->nodes[op->results[k]];
    bool better = op->kind == PB_DECODED_MAX ? value > result : value < result;
    if (k == 0 || (op->kind != PB_DECODED_APPLY && better)) result = value;
  }
  t->values[op->result].number = (double)result;
}

static int64_t number(const tracer* t, const pb_decoded_op* op, int operand) {
  return (int64_t)t->values[op->operands[operand]].number;
}

static void run_window(tracer* t, const pb_decoded_op* op) {
  pb_unrolled_value* window = &t->values[op->result];
  const pb_unrolled_value* buffer = &t->values[op->operands[0]];
  window->memory = buffer->memory;
  window->argument = buffer->argument;
  window->element = buffer->element;
  window->base = buffer->base + number(t, op, 1) * buffer->element;
  window->rank = op->rank;
  for (int k = 0; k < op->rank; ++k) {
    window->extent[k] = number(t, op, 2 + k);
    window->stride[k] = number(t, op, 2 + op->rank + k);
  }
}

static pb_status refuse(tracer* t, const pb_unrolled* c, const char* field, int64_t value) {
  return pb_unsupported(t->diag, (pb_place){.what = c->nest}, 4101, "another plan for this kernel may fit",
                        "%s cannot carry %lld in its field '%s'", c->command.insn->name, (long long)value, field);
}

static pb_status set_field(tracer* t, pb_unrolled* c, int field, int64_t value) {
  const pb_field* f = &c->command.insn->fields[field];
  if (!pb_field_holds(f, value)) return refuse(t, c, f->name, value);
  if (c->set >> field & 1 && c->command.values[field] != value)
    return pb_error(t->diag, (pb_place){.what = c->nest}, 4108, "this is a bug in the compiler, not in the model",
                    "field '%s' of %s gets two values, %lld and %lld", f->name, c->command.insn->name,
                    (long long)c->command.values[field], (long long)value);
  c->set |= 1u << field;
  c->command.values[field] = value;
  return PB_OK;
}

// A number of the model: floats are carried as their bits.
static int64_t number_in(const pb_insn* insn, int field, pb_type type, bool is_float, double value) {
  float f = (float)value;
  uint32_t bits;
  memcpy(&bits, &f, sizeof bits);
  return is_float ? pb_field_bits(&insn->fields[field], bits)
                  : pb_field_low(&insn->fields[field], pb_type_bits(type), (int64_t)value);
}

int64_t pb_unroll_immediate(const pb_insn* insn, int o, const pb_unrolled_value* value) {
  const pb_operand* operand = &insn->operands[o];
  double number = operand->type == PB_I1 ? value->number != 0 : value->number; // i1 true is printed as -1
  return number_in(insn, operand->base, operand->type, operand->type == PB_F32, number);
}

int64_t pb_unroll_fill(const pb_insn* insn, int field, const pb_unrolled_value* value) {
  int boxed = 0;
  while (insn->operands[boxed].fill != field) ++boxed;
  return number_in(insn, field, insn->operands[boxed].type, value->is_float, value->number);
}

pb_command pb_unroll_blank(const pb_insn* insn) {
  pb_command command = {.insn = insn};
  for (int f = 0; f < insn->field_count; ++f) // 0 where the field can say it
    if (insn->fields[f].form) command.values[f] = pb_field_nearest(&insn->fields[f], 0);
  return command;
}

// The window on codes of which two lie in a byte, in bytes; in IR each has one, and buffers begin at as many as lie in
// front of them.
static pb_status in_halves(tracer* t, const pb_unrolled* c, const pb_operand* operand, pb_unrolled_value* window) {
  bool odd = window->base % 2 != 0;
  window->base /= 2;
  for (int k = 0; k + 1 < operand->rank; ++k) {
    odd |= window->extent[k] > 1 && window->stride[k] % 2 != 0;
    window->stride[k] /= 2;
  }
  return odd ? refuse(t, c, c->command.insn->fields[operand->base].name, window->base) : PB_OK;
}

static pb_status set_window(tracer* t, pb_unrolled* c, const pb_operand* operand, const pb_unrolled_value* from,
                            pb_region* regions, bool fills) {
  pb_unrolled_value halves = *from;
  const pb_unrolled_value* window = operand->type == PB_I4 ? &halves : from;
  if (operand->type == PB_I4) PB_TRY(in_halves(t, c, operand, &halves));
  if (window->base % operand->unit && !fills)
    return refuse(t, c, c->command.insn->fields[operand->base].name, window->base);
  PB_TRY(set_field(t, c, operand->base, window->base / operand->unit));
  if (operand->slot >= 0) PB_TRY(set_field(t, c, operand->slot, window->argument));
  pb_region region = {.memory = operand->memory,
                      .argument = window->argument,
                      .base = window->base,
                      .rank = operand->rank,
                      .element = window->element,
                      .written = operand->written};
  for (int k = 0; k < operand->rank; ++k) {
    int64_t bytes = window->stride[k] * window->element;
    bool halves = operand->type == PB_I4 && k + 1 == operand->rank;
    region.extent[k] = halves ? pb_bytes_of(PB_I4, window->extent[k]) : window->extent[k];
    region.stride[k] = bytes;
    if (operand->strides[k].kind != PB_STRIDE_FIELD) continue;
    if (bytes % operand->unit && window->extent[k] > 1)
      return refuse(t, c, c->command.insn->fields[operand->strides[k].field].name, bytes);
    if (window->extent[k] > 1) {
      PB_TRY(set_field(t, c, operand->strides[k].field, bytes / operand->unit));
      c->idle &= ~(1u << operand->strides[k].field);
    } else if (!(c->set >> operand->strides[k].field & 1)) {
      c->idle |= 1u << operand->strides[k].field;
    }
  }
  if (!fills) regions[c->region_count++] = region;
  return PB_OK;
}

static int64_t clamp(int64_t v, int64_t lo, int64_t hi) { return v < lo ? lo : v > hi ? hi : v; }

// The operands in the order that core/s3/lower/instruction.h says.
static pb_status run_call(tracer* t, const pb_decoded_op* op) {
  const pb_insn* insn = op->insn;
  pb_region regions[PB_MAX_OPERANDS];
  pb_unrolled c = {.command = pb_unroll_blank(insn), .nest = op->nest, .call = t->at, .regions = regions};
  int boxes = insn->operand_count;
  int64_t extents[PB_MAX_INSN_DIMS];
  for (int d = 0; d < insn->dim_count; ++d) {
    extents[d] = insn->dims[d].max;
    if (insn->dims[d].field < 0) continue;
    extents[d] = number(t, op, boxes++);
    PB_TRY(set_field(t, &c, insn->dims[d].field, extents[d]));
  }
  bool fills = false;
  for (int o = 0; o < insn->operand_count; ++o) {
    const pb_operand* operand = &insn->operands[o];
    if (operand->memory < 0 || !operand->has_box) continue;
    fills = false;
    for (int k = 0; k < operand->rank; ++k) {
      if (operand->box_lo[k] < 0) continue;
      int64_t most = extents[operand->dims[k]];
      int64_t lo = clamp(number(t, op, boxes++), 0, most);
      int64_t hi = clamp(number(t, op, boxes++), 0, most);
      fills |= hi <= lo;
      PB_TRY(set_field(t, &c, operand->box_lo[k], lo));
      PB_TRY(set_field(t, &c, operand->box_hi[k], hi));
    }
    if (operand->fill >= 0) {
      const pb_unrolled_value* fill = &t->values[op->operands[boxes++]];
      PB_TRY(set_field(t, &c, operand->fill, pb_unroll_fill(insn, operand->fill, fill)));
    }
  }
  for (int o = 0; o < insn->operand_count; ++o) {
    const pb_operand* operand = &insn->operands[o];
    const pb_unrolled_value* value = &t->values[op->operands[o]];
    if (operand->memory >= 0)
      PB_TRY(set_window(t, &c, operand, value, regions, fills && operand->has_box));
    else
      PB_TRY(set_field(t, &c, operand->base, pb_unroll_immediate(insn, o, value)));
  }
  return t->to.take(t->to.user, &c);
}

typedef struct iterations {
  int64_t begin, end;
} iterations;

static int64_t within(int64_t iteration, int64_t extent) {
  return iteration < 0 ? 0 : iteration > extent ? extent : iteration;
}

// The iterations of the loop that are the core's.
static iterations own_iterations(const tracer* t, const pb_decoded_op* loop) {
  if (!loop->parts) return (iterations){0, loop->extent};
  int64_t part = t->core / loop->weight % loop->parts;
  int64_t begin = part * loop->iterations / loop->parts - loop->first;
  int64_t end = (part + 1) * loop->iterations / loop->parts - loop->first;
  return (iterations){within(begin, loop->extent), within(end, loop->extent)};
}

static pb_status run(tracer* t, const pb_decoded* kernel) {
  for (size_t at = 0; at < kernel->op_count; ++at) {
    const pb_decoded_op* op = &kernel->ops[at];
    switch (op->kind) {
    case PB_DECODED_LOOP: {
      iterations own = own_iterations(t, op);
      t->values[op->result].number = (double)own.begin;
      if (own.begin >= own.end) at = (size_t)op->other;
      break;
    }
    case PB_DECODED_END: {
      const pb_decoded_op* loop = &kernel->ops[op->other];
      double* iteration = &t->values[loop->result].number;
      if (++*iteration < (double)own_iterations(t, loop).end) at = (size_t)op->other;
      break;
    }
    case PB_DECODED_IF:
      if (number(t, op, 0)) at = (size_t)op->other;
      break;
    case PB_DECODED_APPLY:
    case PB_DECODED_MAX:
    case PB_DECODED_MIN:
      run_affine(t, op);
      break;
    case PB_DECODED_DIFFERS:
      t->values[op->result].number = number(t, op, 0) != number(t, op, 1);
      break;
    case PB_DECODED_WINDOW:
      run_window(t, op);
      break;
    case PB_DECODED_CALL:
      t->at = (int)at;
      PB_TRY(run_call(t, op));
      break;
    }
  }
  return PB_OK;
}

pb_status pb_unroll_run(const pb_chip* chip, const pb_decoded* kernel, int core, pb_diag* diag, pb_taker to) {
  pb_arena arena = {0};
  tracer t = {.chip = chip, .core = core, .diag = diag, .to = to};
  t.nodes = PB_NEW_ARRAY(&arena, int64_t, (size_t)kernel->most_nodes + 1);
  t.values = PB_NEW_ARRAY(&arena, pb_unrolled_value, kernel->value_count + 1);
  if (kernel->value_count) memcpy(t.values, kernel->values, kernel->value_count * sizeof *t.values);
  pb_status status = run(&t, kernel);
  pb_arena_free(&arena);
  return status;
}
