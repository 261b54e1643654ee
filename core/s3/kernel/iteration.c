// The stages of one iteration of the loops that they share, each as a kernel.
#include "core/s3/kernel/iteration.h"

#include "core/s3/kernel/stages.h"
#include "core/s3/kernel/vector_kernel.h"

// The values of a view, as the program that it is of has them.
static int* origins_of(const pb_program* program, const int* nests, int count, pb_arena* arena) {
  int *origin = PB_NEW_ARRAY(arena, int, (size_t)program->value_count + 1), at = 0;
  for (int v = -1; (v = pb_program_next_value(program, nests, count, v)) >= 0;) origin[at++] = v;
  return origin;
}

bool pb_iteration_read(const pb_chip* chip, const pb_program* program, const int* of, int stages, pb_arena* arena,
                       pb_iteration* iteration) {
  int* nests = PB_NEW_ARRAY(arena, int, (size_t)program->nest_count + 1);
  pb_diag quiet = {.sink = pb_diag_drop};
  iteration->count = 0;
  iteration->views = PB_NEW_ARRAY(arena, pb_program, (size_t)stages + 1);
  iteration->groups = PB_NEW_ARRAY(arena, pb_group, (size_t)stages + 1);
  iteration->origin = PB_NEW_ARRAY(arena, int*, (size_t)stages + 1);
  iteration->value_count = program->value_count;
  iteration->values = program->values;
  for (int k = 0; k < stages; ++k) {
    pb_program* view = &iteration->views[k];
    int count = 0;
    for (int n = 0; n < program->nest_count; ++n)
      if (of[n] == k) nests[count++] = n;
    pb_program_view(program, nests, count, arena, view);
    iteration->origin[k] = origins_of(program, nests, count, arena);
    ++iteration->count;
    pb_group* group = &iteration->groups[k];
    if (pb_group_read(view, chip, arena, &quiet, group) != PB_OK || group->plain) return false;
    if (group->registers) group->registers->alone = true;
  }
  return true;
}
