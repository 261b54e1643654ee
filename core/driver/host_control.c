// The host's program of a program with control: the segments' launches, and its marks as moves and jumps.
#include "core/driver/compilation.h"
#include "core/driver/host_places.h"
#include "core/s3/kernels.h"

#include <mlir-c/BuiltinAttributes.h>
#include <stdlib.h>
#include <string.h>

typedef struct builder {
  pb_host host;
  const pb_s1* program;
  const pb_segments* segments;
  int* place; // by value of the program, -1
  pb_brackets brackets;
  pb_host_span* loops;
  size_t loop_count, loop_capacity;
} builder;

static void add_tensor(builder* b, const pb_s1_value* v, pb_tensor_info* list, int* count) {
  pb_tensor_info* info = &list[(*count)++];
  *info = (pb_tensor_info){
      .name = pb_strdup(&b->host.engine->arena, v->name), .type = pb_type_stored(v->type), .rank = v->rank};
  memcpy(info->shape, v->shape, sizeof(int64_t) * (size_t)v->rank);
}

static void place_values(builder* b) {
  const pb_s1* p = b->program;
  pb_engine* e = b->host.engine;
  e->inputs = PB_NEW_ARRAY(&e->arena, pb_tensor_info, p->value_count + 1);
  e->outputs = PB_NEW_ARRAY(&e->arena, pb_tensor_info, p->value_count + 1);
  for (size_t v = 0; v < p->value_count; ++v) {
    const pb_s1_value* value = &p->values[v];
    pb_host_place place = {.first = -1, .last = -1};
    b->place[v] = -1;
    if (value->is_input) {
      place.arg = (pb_arg){PB_SPACE_INPUT, (uint64_t)e->input_count};
      add_tensor(b, value, e->inputs, &e->input_count);
    } else if (value->is_output) {
      place.arg = (pb_arg){PB_SPACE_OUTPUT, (uint64_t)e->output_count};
      add_tensor(b, value, e->outputs, &e->output_count);
    } else if (value->const_id >= 0) {
      place.arg = (pb_arg){PB_SPACE_CONST, (uint64_t)value->const_id};
    } else if (b->segments->crosses[v]) {
      place.arg = (pb_arg){PB_SPACE_ARENA, 0};
      place.bytes = (pb_s1_bytes(value) + PB_ENGINE_ALIGN - 1) / PB_ENGINE_ALIGN * PB_ENGINE_ALIGN;
    } else {
      continue;
    }
    b->place[v] = pb__host_add(&b->host, place);
  }
  b->host.value_places = (int)b->host.place_count;
}

// Outputs that take inputs' places.
static void take_aliases(builder* b) {
  pb_engine* e = b->host.engine;
  for (size_t v = 0; v < b->program->value_count; ++v) {
    const pb_s1_value* value = &b->program->values[v];
    if (!value->is_output || !value->made_of) continue;
    if (!e->aliases) {
      e->aliases = PB_NEW_ARRAY(&e->arena, int, (size_t)e->output_count);
      memset(e->aliases, 0xff, sizeof *e->aliases * (size_t)e->output_count);
    }
    pb_arg output = b->host.places[b->place[v]].arg, input = b->host.places[b->place[value->made_of - 1]].arg;
    e->aliases[output.value] = (int)input.value;
  }
}

// Arguments of a segment's function are the program's values, by their numbers, or constants.
static void name_arguments(builder* b, MlirOperation main) {
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(main, 0));
  for (intptr_t k = 0; k < mlirBlockGetNumArguments(body); ++k) {
    MlirValue value = mlirBlockGetArgument(body, k);
    MlirAttribute id = pb_argument_attribute(value, "pb.const");
    if (!mlirAttributeIsNull(id)) {
      pb_arg arg = {PB_SPACE_CONST, (uint64_t)mlirIntegerAttrGetValueInt(id)};
      pb__host_name(&b->host, value, pb__host_add(&b->host, (pb_host_place){.arg = arg}));
      continue;
    }
    pb__host_name(&b->host, value, b->place[pb__value_of_argument(value)]);
  }
}

static pb_step* add_step(builder* b, pb_host_op op, const pb_s1_op* from) {
  pb_engine* e = b->host.engine;
  pb_step* step = &e->steps[e->step_count++];
  *step = (pb_step){.op = op, .kernel = -1, .origin = pb_strdup(&e->arena, from->name)};
  return step;
}

// A jump, if the mark's truth does not hold or, where it has none, whatever holds, to what is not there yet.
static int add_jump(builder* b, const pb_s1_op* from) {
  int step = b->host.engine->step_count;
  add_step(b, from->x < 0 ? PB_HOST_JUMP : PB_HOST_UNLESS, from)->arg_count = from->x >= 0;
  if (from->x >= 0) pb__host_use(&b->host, step, 0, b->place[pb_s1_base(b->program, from->x)]);
  return step;
}

static void add_move(builder* b, const pb_s1_op* op) {
  int step = b->host.engine->step_count;
  uint64_t bytes = pb_s1_bytes(&b->program->values[op->y]);
  if (!bytes || pb_s1_base(b->program, op->x) == op->y) return;
  pb_step* move = add_step(b, PB_HOST_MOVE, op);
  move->bytes = bytes;
  move->arg_count = 2;
  pb__host_use(&b->host, step, 0, b->place[op->y]);
  pb__host_use(&b->host, step, 1, b->place[pb_s1_base(b->program, op->x)]);
}

// What lies behind one index of the axis.
static uint64_t row_bytes(const pb_s1_value* value, int axis) {
  uint64_t bytes = (uint64_t)pb_type_bits(pb_type_stored(value->type)) / 8;
  for (int r = axis + 1; r < value->rank; ++r) bytes *= (uint64_t)value->shape[r];
  return bytes;
}

// Of a step that moves rows: the result, what they are of, and their numbers.
static void use_rows(builder* b, int step, const pb_s1_op* op) {
  const int values[] = {op->y, pb_s1_base(b->program, op->x), pb_s1_base(b->program, op->third)};
  b->host.engine->steps[step].arg_count = 3;
  for (int k = 0; k < 3; ++k) pb__host_use(&b->host, step, k, b->place[values[k]]);
}

static void add_place(builder* b, const pb_s1_op* op) {
  const pb_s1_value *y = &b->program->values[op->y], *x = &b->program->values[op->x];
  int step = b->host.engine->step_count;
  uint64_t bytes = row_bytes(y, op->axis), count = 1;
  for (int r = 0; r < op->axis; ++r) count *= (uint64_t)y->shape[r];
  pb_step* place = add_step(b, PB_HOST_PLACE, op);
  place->bytes = bytes * (uint64_t)x->shape[op->axis];
  place->rows = (pb_rows){.count = count,
                          .stride = bytes * (uint64_t)y->shape[op->axis],
                          .unit = bytes,
                          .most = (uint64_t)(y->shape[op->axis] - x->shape[op->axis]),
                          .index = b->program->values[op->third].type};
  use_rows(b, step, op);
}

static void add_take(builder* b, const pb_s1_op* op) {
  const pb_s1_value *x = &b->program->values[op->x], *z = &b->program->values[op->third];
  int step = b->host.engine->step_count;
  uint64_t bytes = row_bytes(x, op->axis), count = 1;
  for (int r = 0; r < z->rank; ++r) count *= (uint64_t)z->shape[r];
  pb_step* take = add_step(b, PB_HOST_TAKE, op);
  take->bytes = bytes;
  take->rows = (pb_rows){
      .count = count, .stride = bytes, .unit = bytes, .most = (uint64_t)x->shape[op->axis] - 1, .index = z->type};
  use_rows(b, step, op);
}

static void add_mark(builder* b, const pb_s1_op* op) {
  pb_engine* e = b->host.engine;
  pb_jump jumps[2];
  switch (op->kind) {
  case PB_S1_MOVE:
    add_move(b, op);
    return;
  case PB_S1_PLACE:
    add_place(b, op);
    return;
  case PB_S1_TAKE:
    add_take(b, op);
    return;
  default:
    break;
  }
  int jump = pb_mark_jumps(op->kind) ? add_jump(b, op) : -1;
  int count = pb_brackets_take(&b->brackets, op->kind, jump, e->step_count, jumps);
  for (int k = 0; k < count; ++k) e->steps[jumps[k].step].target = jumps[k].target;
  if (op->kind != PB_S1_AGAIN) return;
  pb_host_span loop = pb__host_two_places(&b->host, (pb_host_span){jumps[0].target, jump}, b->loops, b->loop_count);
  PB_PUSH(b->loops, b->loop_count, b->loop_capacity, loop);
}

// What goes from segment to segment stays through all iterations of a loop that it is used in: a later one may want it.
static void stretch_over_loops(builder* b) {
  for (size_t l = 0; l < b->loop_count; ++l) // inner ones end first
    for (size_t v = 0; v < b->program->value_count; ++v) {
      pb_host_place* p = b->place[v] < 0 ? NULL : &b->host.places[b->place[v]];
      if (!p || p->arg.space != PB_SPACE_ARENA || p->first < 0) continue;
      if (p->first > b->loops[l].last || p->last < b->loops[l].first) continue;
      if (p->first > b->loops[l].first) p->first = b->loops[l].first;
      if (p->last < b->loops[l].last) p->last = b->loops[l].last;
    }
}

static pb_status add_steps(builder* b, const MlirOperation* mains) {
  size_t segment = 0;
  for (size_t k = 0; k < b->program->op_count;) {
    const pb_s1_op* op = &b->program->ops[k];
    bool begins = segment < b->segments->count && b->segments->items[segment].first == k; // a whole loop may
    if (pb_s1_is_control(op) && !begins) {
      add_mark(b, op);
      ++k;
      continue;
    }
    name_arguments(b, mains[segment]);
    PB_TRY(pb__host_take(&b->host, mains[segment]));
    k = b->segments->items[segment++].end;
  }
  return PB_OK;
}

pb_status pb_host_build_segments(const pb_unit* unit, const pb_s1* program, const pb_segments* segments,
                                 const MlirOperation* mains, pb_engine* engine) {
  builder b = {.program = program, .segments = segments};
  pb_arena scratch = {0};
  size_t steps = program->op_count + 1; // its marks are among them
  for (size_t k = 0; k < segments->count; ++k) steps += (size_t)pb__host_launches(mains[k]);
  b.place = PB_NEW_ARRAY(&scratch, int, program->value_count + 1);
  b.brackets.open = PB_NEW_ARRAY(&scratch, struct pb_bracket, program->op_count + 1);
  pb__host_start(&b.host, unit, engine);
  engine->steps = PB_NEW_ARRAY(&engine->arena, pb_step, steps);
  b.host.step_room = (int)steps;
  place_values(&b);
  take_aliases(&b);
  pb_status status = add_steps(&b, mains);
  if (status == PB_OK) {
    stretch_over_loops(&b);
    status = pb__host_end(&b.host);
  }
  pb__host_free(&b.host);
  free(b.loops);
  pb_arena_free(&scratch);
  return status;
}
