// Kernels sum from the neutral number on; what a program begins with comes in behind.
//
//   before   y[i] = 1;  y[i] = max(y[i], x[i, k])
//   after    s[i] = -inf;  s[i] = max(s[i], x[i, k]);  y[i] = max(1, s[i])
#include "core/s3/legalise/legalise.h"

#include "core/s3/compose.h"
#include "core/s3/kernel/around.h"
#include "core/s3/kernel/join.h"

#include <string.h>

// The nest that sets what nest n begins with, where that is to come in behind; -1.
static int late_init(const pb_program* p, int n) {
  const pb_nest* sum = &p->nests[n];
  int init = pb_reduce_combines(sum->reduce) && !pb_nest_is_fixed(sum) ? pb_program_init_of(p, n) : -1;
  return init >= 0 && !pb_around_begins_neutral(&p->nests[init], sum) ? init : -1;
}

// y of the sum and what it began with: `begun`, where that is no number.
static void add_end(pb_program* to, const pb_nest* sum, const pb_nest* init, const pb_access* whole, int begun,
                    int made, int y) {
  pb_nest end;
  int first, value_of[PB_NEST_ACCESSES] = {made, y};
  pb_nest_begin_over(&end, sum->name, "point", pb_join_is_number(init) ? 2 : 3, whole);
  if (pb_join_is_number(init))
    first = pb_nest_node_from(&end, init->expr[0], NULL);
  else {
    first = pb_nest_load(&end, 1);
    value_of[1] = begun;
    value_of[2] = y;
  }
  (void)pb_nest_node(&end, pb_reduce_op(sum->reduce), whole->type, first, pb_nest_load(&end, 0));
  (void)pb_program_add_nest(to, &end, value_of);
}

bool pb__reductions_begin_neutral(pb_program* p, pb_arena* arena) {
  bool late = false;
  size_t count = (size_t)p->nest_count;
  int *init_of = PB_NEW_ARRAY(arena, int, count + 1), *begun = PB_NEW_ARRAY(arena, int, count + 1);
  for (int n = 0; n < p->nest_count; ++n) { // begun: by nest that sets such a beginning, 1 + the value that has it
    init_of[n] = late_init(p, n);
    if (init_of[n] < 0) continue;
    pb_access whole = pb_value_shape(&p->values[pb_program_stored(p, n)]);
    begun[init_of[n]] = 1 + pb_program_add_local(p, arena, &whole);
    late = true;
  }
  if (!late) return false;
  const pb_program from = *p;
  pb_program_begin_nests(&from, arena, p);
  for (int n = 0; n < from.nest_count; ++n) {
    const pb_nest* nest = &from.nests[n];
    int value_of[PB_NEST_ACCESSES], y = pb_program_stored(&from, n), last = nest->access_count - 1, init = init_of[n];
    memcpy(value_of, from.value_of[n], sizeof value_of);
    if (begun[n] && pb_join_is_number(nest)) continue;
    if (begun[n]) value_of[last] = begun[n] - 1;
    if (init < 0) {
      (void)pb_program_add_nest(p, nest, value_of);
      continue;
    }
    pb_access whole = pb_value_shape(&from.values[y]);
    int made = value_of[last] = pb_program_add_local(p, arena, &whole);
    double neutral = pb_reduce_neutral(nest->reduce, whole.type);
    (void)pb_program_add_fill(p, nest->name, "init", made, NULL, NULL, neutral);
    (void)pb_program_add_nest(p, nest, value_of);
    add_end(p, nest, &from.nests[init], &whole, begun[init] - 1, made, y);
  }
  pb_program_index(p, arena);
  return true;
}
