#include "core/s1/elements.h"

#include "core/poly/evaluate.h"

#include <stdlib.h>

// Nodes that a nest computes, and all of them: about a sixth of a second.
enum { MOST_ELEMENTS = 1 << 20, MOST_WORK = 1 << 22, WORK_OF_ALL = 1 << 24 };

pb_s1_elements pb_s1_elements_new(const pb_s1* program, pb_consts* consts) {
  return (pb_s1_elements){.program = program, .consts = consts};
}

void pb_s1_elements_free(pb_s1_elements* e) {
  free(e->of);
  pb_arena_free(&e->arena);
}

static int64_t count_of(const pb_s1_value* v) {
  int64_t count = 1;
  for (int r = 0; r < v->rank && count <= MOST_ELEMENTS; ++r) count *= v->shape[r];
  return count;
}

// The elements of a value as the operators that ran have left them.
static void* known(pb_s1_elements* e, int value) {
  int base = pb_s1_base(e->program, value);
  const pb_s1_value* v = &e->program->values[base];
  pb_s1_elements_state* of = &e->of[base];
  if (!of->data && v->const_id >= 0 && e->consts->items[v->const_id]->bytes <= (uint64_t)MOST_ELEMENTS * 8)
    of->data = (void*)(uintptr_t)pb_const_data(e->consts, v->const_id); // no operator writes it
  return of->is_open ? NULL : of->data;
}

static bool run_nest(pb_s1_elements* e, const pb_nest* nest, int y) {
  void* data[PB_NEST_ACCESSES];
  const pb_s1_value* v = &e->program->values[y];
  int64_t turns = pb_nest_iterations(nest), count = count_of(v);
  if (!nest->expr_count || v->is_variable || count > MOST_ELEMENTS || turns > MOST_WORK / nest->expr_count)
    return false;
  for (int a = 0; a + 1 < nest->access_count; ++a) {
    data[a] = known(e, nest->access[a].buffer);
    if (!data[a]) return false;
  }
  e->work += turns * nest->expr_count;
  if (e->work > WORK_OF_ALL) return false;
  if (!e->of[y].data) e->of[y].data = pb_alloc_array(&e->arena, (size_t)count, pb_number_bytes(v->type));
  data[nest->access_count - 1] = e->of[y].data;
  return pb_nest_evaluate(nest, data);
}

static void run_operator(pb_s1_elements* e, const pb_s1_op* op) {
  int y = op->y >= 0 ? pb_s1_base(e->program, op->y) : -1;
  if (y < 0 || e->of[y].is_open) return;
  e->of[y].is_open = op->kind != PB_S1_NEST || e->program->values[y].const_id >= 0 || !run_nest(e, op->nest, y);
}

void pb_s1_elements_take_back(pb_s1_elements* e) {
  if (e->ran > e->program->op_count) e->ran = e->program->op_count;
}

const void* pb_s1_elements_of(pb_s1_elements* e, int value) {
  if (value < 0 || e->consts->open) return NULL; // constants hang on extents there
  while (e->count < e->program->value_count) PB_PUSH(e->of, e->count, e->capacity, (pb_s1_elements_state){0});
  for (; e->ran < e->program->op_count; ++e->ran) run_operator(e, &e->program->ops[e->ran]);
  return known(e, value);
}
