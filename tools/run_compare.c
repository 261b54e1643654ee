#include "run_compare.h"

#include <stdlib.h>

typedef struct kept_argument {
  int step;
  uint8_t* data;
  uint64_t bytes;
} kept_argument;

struct run_steps {
  kept_argument* kept;
  size_t count, capacity;
};

run_steps* run_steps_make(void) {
  run_steps* steps = calloc(1, sizeof *steps);
  if (!steps) pb_no_memory(sizeof *steps);
  return steps;
}

void run_steps_free(run_steps* steps) {
  if (!steps) return;
  for (size_t k = 0; k < steps->count; ++k) free(steps->kept[k].data);
  free(steps->kept);
  free(steps);
}

void run_steps_keep(void* user, pb_rt* rt, int step) {
  run_steps* steps = user;
  for (int a = 0; a < pb_rt_arg_count(rt, step); ++a) {
    kept_argument one = {.step = step};
    if (!pb_rt_read_arg(rt, step, a, NULL, 0, &one.bytes)) {
      one.data = malloc(one.bytes ? one.bytes : 1);
      if (!one.data) pb_no_memory(one.bytes);
      if (pb_rt_read_arg(rt, step, a, one.data, one.bytes, &one.bytes)) one.bytes = 0;
    }
    PB_PUSH(steps->kept, steps->count, steps->capacity, one);
  }
}

char* run_steps_difference(pb_rt* rt, const run_steps* a, const char* name_a, const run_steps* b, const char* name_b,
                           pb_arena* arena) {
  int argument = 0;
  for (size_t n = 0; n < a->count && n < b->count; ++n) {
    const kept_argument *x = &a->kept[n], *y = &b->kept[n];
    argument = n && x->step == a->kept[n - 1].step ? argument + 1 : 0;
    for (uint64_t k = 0; k < x->bytes && k < y->bytes; ++k) {
      if (x->data[k] == y->data[k]) continue;
      const pb_rt_step* step = pb_rt_step_info(rt, x->step);
      return pb_printf(arena,
                       "step %d, kernel %s of '%s', is the first that differs: byte %llu of argument %d: %s has "
                       "0x%02x, %s has 0x%02x",
                       x->step, step->kernel, step->origin, (unsigned long long)k, argument, name_a, x->data[k], name_b,
                       y->data[k]);
    }
  }
  return NULL;
}
