#include "core/frontend/stablehlo/write_out.h"

#include <string.h>

pb_writer pb__write_start(pb_door* d, const pb_flat_op* op) {
  return (pb_writer){.d = d, .op = op, .status = PB_OK, .first = d->spare};
}

pb_status pb__write_end(pb_writer* w) {
  w->d->spare = w->first;
  return w->status;
}

void pb__write_result(pb_writer* w, int k, int value) {
  if (w->status != PB_OK) return;
  w->status = pb__door_bind(w->d, w->op, w->op->results[k], pb__door_get(w->d, value));
}

pb_flat_type pb__write_type(const pb_writer* w, int value) { return w->d->types[value]; }

pb_flat_type pb__write_shaped(pb_flat_type type, int rank, const int64_t* shape) {
  type.rank = rank;
  if (rank) memcpy(type.shape, shape, sizeof *shape * (size_t)rank);
  return type;
}

// A number for one more value; that of a result where there is none.
static int take(pb_writer* w, pb_flat_type type) {
  pb_door* d = w->d;
  if (w->status == PB_OK && d->spare == PB_DOOR_SPARE)
    w->status = pb__door_refuse(d, w->op, "of more steps than are written out");
  if (w->status != PB_OK) return w->op->results[0];
  int made = d->flat->value_count + d->spare++;
  type.is_open = false;
  d->types[made] = type;
  pb__door_set(d, made, (pb_door_value){-1, -1});
  return made;
}

int pb__write_given(pb_writer* w, pb_flat_type type, pb_door_value value) {
  int made = take(w, type);
  const pb_s1_value* is = pb_made(&w->d->m, value.value);
  bool fits = is->type == type.type && is->rank == type.rank && (value.imaginary >= 0) == type.is_complex &&
              !memcmp(is->shape, type.shape, sizeof *type.shape * (size_t)type.rank);
  if (w->status == PB_OK && !fits) w->status = pb__door_refuse(w->d, w->op, "a body's result that does not fit");
  if (w->status == PB_OK) pb__door_set(w->d, made, value);
  return made;
}

int pb__write(pb_writer* w, const char* name, pb_flat_type type, int operand_count, const int* operands, int attr_count,
              const pb_flat_attr* attrs) {
  return pb__write_by(w, name, type, operand_count, operands, attr_count, attrs, 0, NULL);
}

int pb__write_by(pb_writer* w, const char* name, pb_flat_type type, int operand_count, const int* operands,
                 int attr_count, const pb_flat_attr* attrs, int region_count, const pb_flat_block* regions) {
  pb_door* d = w->d;
  int made = take(w, type);
  if (w->status != PB_OK) return made;
  pb_flat_op op = {.name = name,
                   .line = w->op->line,
                   .column = w->op->column,
                   .operand_count = operand_count,
                   .operands = operands,
                   .result_count = 1,
                   .results = &made,
                   .attr_count = attr_count,
                   .attrs = attrs,
                   .region_count = region_count,
                   .regions = regions};
  w->status = pb__door_op(d, &op);
  return made;
}

pb_flat_block pb__write_combiner(pb_writer* w, const char* name, pb_flat_type type) {
  pb_arena* arena = &w->d->m.program->arena;
  int* values = PB_NEW_ARRAY(arena, int, 3);
  pb_flat_op* ops = PB_NEW_ARRAY(arena, pb_flat_op, 2);
  for (int k = 0; k < 3; ++k) values[k] = take(w, type);
  ops[0] = (pb_flat_op){.name = name, .operand_count = 2, .operands = values, .result_count = 1, .results = values + 2};
  ops[1] = (pb_flat_op){.name = "stablehlo.return", .operand_count = 1, .operands = values + 2};
  for (int k = 0; k < 2; ++k) ops[k].line = w->op->line, ops[k].column = w->op->column;
  return (pb_flat_block){.argument_count = 2, .op_count = 2, .arguments = values, .ops = ops};
}

pb_flat_attr pb__write_ints(pb_writer* w, const char* name, int count, const int64_t* ints) {
  int64_t* kept = PB_NEW_ARRAY(&w->d->m.program->arena, int64_t, (size_t)count + 1);
  if (count) memcpy(kept, ints, sizeof *ints * (size_t)count);
  return (pb_flat_attr){.name = name, .kind = PB_FLAT_INTS, .count = count, .ints = kept, .text = ""};
}

pb_flat_attr pb__write_text(const char* name, const char* text) {
  return (pb_flat_attr){.name = name, .kind = PB_FLAT_TEXT, .text = text};
}

int pb__write_unary(pb_writer* w, const char* name, int x) {
  return pb__write(w, name, pb__write_type(w, x), 1, &x, 0, NULL);
}

int pb__write_binary(pb_writer* w, const char* name, int x, int y) {
  return pb__write(w, name, pb__write_type(w, x), 2, (const int[]){x, y}, 0, NULL);
}

int pb__write_compared(pb_writer* w, const char* how, int x, int y) {
  pb_flat_type truths = pb__write_type(w, x);
  truths.type = PB_I1;
  const pb_flat_attr direction = pb__write_text("comparison_direction", how);
  return pb__write(w, "stablehlo.compare", truths, 2, (const int[]){x, y}, 1, &direction);
}

int pb__write_chosen(pb_writer* w, int truths, int yes, int no) {
  return pb__write(w, "stablehlo.select", pb__write_type(w, yes), 3, (const int[]){truths, yes, no}, 0, NULL);
}

int pb__write_constant(pb_writer* w, pb_flat_type type, const void* bytes) {
  pb_flat_attr value = {.name = "value", .kind = PB_FLAT_TENSOR, .text = "", .type = type, .bytes = bytes};
  return pb__write(w, "stablehlo.constant", type, 0, NULL, 1, &value);
}

int pb__write_rows(pb_writer* w, int x, int axis, int64_t from, int64_t to) {
  pb_flat_type type = pb__write_type(w, x);
  int64_t start[PB_FLAT_RANK] = {0}, limit[PB_FLAT_RANK], step[PB_FLAT_RANK];
  for (int r = 0; r < type.rank; ++r) {
    limit[r] = type.shape[r];
    step[r] = 1;
  }
  start[axis] = from;
  limit[axis] = to;
  type.shape[axis] = to - from;
  const pb_flat_attr attrs[] = {pb__write_ints(w, "start_indices", type.rank, start),
                                pb__write_ints(w, "limit_indices", type.rank, limit),
                                pb__write_ints(w, "strides", type.rank, step)};
  return pb__write(w, "stablehlo.slice", type, 1, &x, 3, attrs);
}

int pb__write_transposed(pb_writer* w, int x, const int64_t* order) {
  pb_flat_type in = pb__write_type(w, x), type = in;
  for (int r = 0; r < in.rank; ++r) type.shape[r] = in.shape[order[r]];
  pb_flat_attr permutation = pb__write_ints(w, "permutation", in.rank, order);
  return pb__write(w, "stablehlo.transpose", type, 1, &x, 1, &permutation);
}

int pb__write_spread(pb_writer* w, int x, int rank, const int64_t* shape) {
  int64_t dims[PB_FLAT_RANK];
  pb_flat_type in = pb__write_type(w, x);
  for (int r = 0; r < in.rank; ++r) dims[r] = r;
  pb_flat_attr along = pb__write_ints(w, "broadcast_dimensions", in.rank, dims);
  return pb__write(w, "stablehlo.broadcast_in_dim", pb__write_shaped(in, rank, shape), 1, &x, 1, &along);
}

int pb__write_number(pb_writer* w, pb_flat_type type, double number) {
  const double wide[2] = {number};
  const float narrow[2] = {(float)number};
  const void* bytes = type.type == PB_F64 ? (const void*)wide : narrow;
  return pb__write_spread(w, pb__write_constant(w, pb__write_shaped(type, 0, NULL), bytes), type.rank, type.shape);
}

int pb__write_joined(pb_writer* w, int axis, int count, const int* values) {
  enum { AT_ONCE = 64 };
  if (count > AT_ONCE) {
    int half = count / 2, parts[] = {pb__write_joined(w, axis, half, values), -1};
    parts[1] = pb__write_joined(w, axis, count - half, values + half);
    return pb__write_joined(w, axis, 2, parts);
  }
  pb_flat_type type = pb__write_type(w, values[0]);
  for (int k = 1; k < count; ++k) type.shape[axis] += pb__write_type(w, values[k]).shape[axis];
  pb_flat_attr dimension = {.name = "dimension", .kind = PB_FLAT_INT, .i = axis, .text = ""};
  return pb__write(w, "stablehlo.concatenate", type, count, values, 1, &dimension);
}

int pb__write_converted(pb_writer* w, int x, pb_type to) {
  pb_flat_type type = pb__write_type(w, x);
  if (type.type == to) return x;
  type.type = to;
  return pb__write(w, "stablehlo.convert", type, 1, &x, 0, NULL);
}

int pb__write_conjugate(pb_writer* w, int x) {
  pb_flat_type type = pb__write_type(w, x), part = type;
  if (!type.is_complex) return x;
  part.is_complex = false;
  int re = pb__write(w, "stablehlo.real", part, 1, &x, 0, NULL);
  int im = pb__write(w, "stablehlo.imag", part, 1, &x, 0, NULL);
  im = pb__write_unary(w, "stablehlo.negate", im);
  return pb__write(w, "stablehlo.complex", type, 2, (const int[]){re, im}, 0, NULL);
}
