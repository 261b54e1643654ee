// A program with control, cut at its marks. A value that one segment makes and another reads, a move copies or a mark
// looks at, lies in memory between them: an output of the first, an input of the second.
#include "core/s1/control.h"

#include <stdlib.h>
#include <string.h>

typedef struct cutter {
  const pb_s1* program;
  pb_diag* diag;
  pb_segments* out;
  pb_arena arena;
  int* maker;    // by value: the segment that makes it, -1
  size_t* scope; // by value: 1 + the mark of the innermost turn or branch that makes it; 0: the program
  bool* open;    // by mark: what it begins has not ended
} cutter;

static bool is_there(const pb_s1* p, int value) { return p->values[value].is_input || p->values[value].const_id >= 0; }

static pb_status read_value(cutter* c, const pb_s1_op* op, int value, int segment) {
  const pb_s1* p = c->program;
  int v = pb_s1_base(p, value);
  if (is_there(p, v)) return PB_OK;
  if (p->values[v].is_variable) {
    c->out->crosses[v] = true;
    return PB_OK;
  }
  if (c->maker[v] < 0 || (c->scope[v] && !c->open[c->scope[v] - 1]))
    return pb_unsupported(c->diag, (pb_place){.what = op->name}, 4112, NULL,
                          "reads '%s', which is made in a branch or a turn that may not be", p->values[v].name);
  if (c->maker[v] != segment) c->out->crosses[v] = true;
  return PB_OK;
}

static pb_status read_all(cutter* c, const pb_s1_op* op, int segment) {
  const int own[3] = {op->x, op->z, op->third};
  for (int k = 0; k < 3; ++k)
    if (own[k] >= 0) PB_TRY(read_value(c, op, own[k], segment));
  for (int a = 0; op->nest && a < op->nest->access_count; ++a)
    if (op->nest->access[a].buffer != op->y) PB_TRY(read_value(c, op, op->nest->access[a].buffer, segment));
  return PB_OK;
}

// What a mark ends, and what it begins: the turns of a loop begin at its LOOP, what follows its test at its WHILE.
static void follow_mark(cutter* c, pb_s1_kind kind, size_t at, size_t* stack, size_t* depth) {
  bool ends = kind == PB_S1_AGAIN || kind == PB_S1_ELSE || kind == PB_S1_END;
  bool begins = kind == PB_S1_LOOP || kind == PB_S1_IF || kind == PB_S1_ELSE;
  if (ends && *depth) c->open[stack[--*depth]] = false;
  if (!begins) return;
  c->open[at] = true;
  stack[(*depth)++] = at;
}

static pb_status find_crossings(cutter* c) {
  const pb_s1* p = c->program;
  size_t *stack = PB_NEW_ARRAY(&c->arena, size_t, p->op_count + 1), depth = 0;
  pb_segment* now = NULL;
  for (size_t k = 0; k < p->op_count; ++k) {
    const pb_s1_op* op = &p->ops[k];
    if (pb_s1_is_control(op)) {
      PB_TRY(read_all(c, op, -2));
      follow_mark(c, op->kind, k, stack, &depth);
      if (op->kind == PB_S1_MOVE || op->kind == PB_S1_PLACE || op->kind == PB_S1_TAKE) c->out->crosses[op->y] = true;
      now = NULL;
      continue;
    }
    if (!now) {
      PB_PUSH(c->out->items, c->out->count, c->out->capacity, ((pb_segment){.first = k}));
      now = &c->out->items[c->out->count - 1];
    }
    now->end = k + 1;
    int segment = (int)c->out->count - 1, y = pb_s1_base(p, op->y);
    PB_TRY(read_all(c, op, segment));
    if (c->maker[y] >= 0 && c->maker[y] != segment)
      return pb_error(c->diag, (pb_place){.what = op->name}, 4096, "this is a bug in the compiler, not in the model",
                      "makes '%s' in two segments", p->values[y].name);
    c->maker[y] = segment;
    c->scope[y] = depth ? stack[depth - 1] + 1 : 0;
  }
  return PB_OK;
}

static void make_program(cutter* c, int number) {
  const pb_s1* p = c->program;
  pb_segment* s = &c->out->items[number];
  pb_s1* to = &s->program;
  to->value_count = to->value_capacity = p->value_count;
  to->values = calloc(p->value_count + 1, sizeof *to->values);
  to->op_count = to->op_capacity = s->end - s->first;
  to->ops = calloc(to->op_count + 1, sizeof *to->ops);
  if (!to->values || !to->ops) pb_no_memory(p->value_count * sizeof *to->values);
  memcpy(to->values, p->values, p->value_count * sizeof *to->values);
  memcpy(to->ops, p->ops + s->first, to->op_count * sizeof *to->ops);
  for (size_t v = 0; v < p->value_count; ++v) {
    pb_s1_value* value = &to->values[v];
    bool mine = c->maker[v] == number;
    value->is_output = mine && (c->out->crosses[v] || value->is_output);
    value->is_input = false;
    value->is_unsigned = false;
    if (mine) value->name = pb_printf(&to->arena, "%zu", v);
  }
  for (size_t k = 0; k < to->op_count; ++k) {
    const pb_s1_op* op = &to->ops[k];
    int operands[3 + PB_NEST_ACCESSES] = {op->x, op->z, op->third}, count = 3;
    for (int a = 0; op->nest && a < op->nest->access_count; ++a) operands[count++] = op->nest->access[a].buffer;
    for (int a = 0; a < count; ++a) {
      int v = operands[a] < 0 ? -1 : pb_s1_base(p, operands[a]);
      if (v < 0 || c->maker[v] == number || p->values[v].const_id >= 0 || to->values[v].is_input) continue;
      to->values[v].is_input = true;
      to->values[v].name = pb_printf(&to->arena, "%d", v);
    }
  }
}

pb_status pb_s1_segments(const pb_s1* program, pb_diag* diag, pb_segments* segments) {
  cutter c = {.program = program, .diag = diag, .out = segments};
  *segments = (pb_segments){0};
  segments->crosses = calloc(program->value_count + 1, sizeof *segments->crosses);
  if (!segments->crosses) pb_no_memory(program->value_count);
  c.maker = PB_NEW_ARRAY(&c.arena, int, program->value_count + 1);
  c.scope = PB_NEW_ARRAY(&c.arena, size_t, program->value_count + 1);
  c.open = PB_NEW_ARRAY(&c.arena, bool, program->op_count + 1);
  memset(c.maker, 0xff, sizeof *c.maker * program->value_count);
  pb_status status = find_crossings(&c);
  for (size_t k = 0; k < segments->count && status == PB_OK; ++k) make_program(&c, (int)k);
  pb_arena_free(&c.arena);
  return status;
}

void pb_segments_free(pb_segments* segments) {
  for (size_t k = 0; k < segments->count; ++k) pb_s1_free(&segments->items[k].program);
  free(segments->items);
  free(segments->crosses);
  *segments = (pb_segments){0};
}
