// The stages of one iteration of the loops that they share, each as a kernel.
#include "core/s3/kernel/iteration.h"

#include "core/s3/kernel/stages.h"
#include "core/s3/kernel/vector_kernel.h"

#include <string.h>

static void number_buffers(pb_program* program) {
  int arguments = 0;
  for (int v = 0; v < program->value_count; ++v)
    if (program->values[v].argument >= arguments) arguments = program->values[v].argument + 1;
  for (int v = 0; v < program->value_count; ++v)
    if (program->values[v].argument < 0) program->values[v].argument = arguments++;
}

// The values of a view, as the program that it is of has them.
static int* origins_of(const pb_program* program, const int* nests, int count, pb_arena* arena) {
  int *origin = PB_NEW_ARRAY(arena, int, (size_t)program->value_count + 1), at = 0;
  for (int v = -1; (v = pb_program_next_value(program, nests, count, v)) >= 0;) origin[at++] = v;
  return origin;
}

bool pb_iteration_read(const pb_chip* chip, const pb_program* program, const int* of, int stages, pb_arena* arena,
                       pb_iteration* iteration) {
  pb_program numbered = *program;
  int* nests = PB_NEW_ARRAY(arena, int, (size_t)program->nest_count + 1);
  pb_diag quiet = {.sink = pb_diag_drop};
  iteration->count = 0;
  iteration->views = PB_NEW_ARRAY(arena, pb_program, (size_t)stages + 1);
  iteration->groups = PB_NEW_ARRAY(arena, pb_group, (size_t)stages + 1);
  iteration->origin = PB_NEW_ARRAY(arena, int*, (size_t)stages + 1);
  iteration->value_count = program->value_count;
  iteration->values = numbered.values = PB_NEW_ARRAY(arena, pb_value, (size_t)program->value_count + 1);
  memcpy(numbered.values, program->values, sizeof *program->values * (size_t)program->value_count);
  number_buffers(&numbered);
  for (int k = 0; k < stages; ++k) {
    pb_program* view = &iteration->views[k];
    int count = 0;
    for (int n = 0; n < program->nest_count; ++n)
      if (of[n] == k) nests[count++] = n;
    pb_program_view(&numbered, nests, count, arena, view);
    iteration->origin[k] = origins_of(&numbered, nests, count, arena);
    for (int v = 0; v < view->value_count; ++v)
      if (view->values[v].kind == PB_VALUE_LOCAL) view->values[v].argument = -1;
    ++iteration->count;
    pb_group* group = &iteration->groups[k];
    if (pb_group_read(view, chip, arena, &quiet, group) != PB_OK || group->plain) return false;
    if (group->registers) group->registers->alone = true;
  }
  return true;
}
