// What stands for tensors in a core's own memory. A tensor's home is a buffer at the outermost level inside which no
// loop moves what an access touches: weights that all rows multiply come once for all of them. What is set goes back
// at the end of each iteration. The copies are nests like others, and code of the core's: it walks them by registers.
// Where a mover beside the core makes them instead, inside loops each buffer has as many copies as the plan says.
#include "core/s3/tree/moves.h"
#include "core/s3/tree/tiling_stages.h"

#include <string.h>

pb_staging pb__staging_begin(const pb_chip* chip, const pb_stages* stages, pb_arena* arena) {
  pb_staging s = {.stages = stages, .memory = stages->near >= 0 ? stages->near : chip->system_memory};
  if (stages->near >= 0) s.homes = pb_alloc_array(arena, (size_t)stages->program->nest_count + 1, sizeof *s.homes);
  return s;
}

static bool is_tensor(const pb_staging* s, int n, int a) {
  const pb_program* p = s->stages->program;
  return !pb_program_is_local(p, p->value_of[n][a]);
}

static bool is_set(const pb_staging* s, int value) { return pb_program_last_writer(s->stages->program, value) >= 0; }

// Loops around an access's home: what is set has it in the innermost iteration.
static int level_of(const pb_tiling* t, const pb_staging* s, int n, int a) {
  const pb_program* p = s->stages->program;
  int level = t->base;
  if (is_set(s, p->value_of[n][a])) return pb__tiling_levels(t);
  for (int b = 0; b < t->plan->axis_count; ++b)
    if (pb_access_uses(&p->nests[n].access[a], s->stages->dim[n][t->plan->axes[b].dim])) level = t->base + b + 1;
  return level;
}

int pb__staging_outer_axes(const pb_tiling* t, const pb_staging* s, bool* first) {
  int least = t->plan->axis_count;
  *first = false;
  for (int n = 0; s->homes && n < s->stages->program->nest_count; ++n)
    for (int a = 0; a < s->stages->program->nests[n].access_count; ++a) {
      int level = is_tensor(s, n, a) ? level_of(t, s, n, a) - t->base : least;
      if (level > 0 && level < least) least = level;
      *first |= level == 0 && is_tensor(s, n, a);
    }
  return least;
}

// The home of the same value that another access has; NULL: none. *other: it has one for another part.
static pb_home* find_home(const pb_staging* s, int value, const pb_home* like, bool* other) {
  *other = false;
  PB_FOR_ACCESSES (n, a, s->stages->program, value) {
    pb_home* home = s->homes[n][a];
    if (home && pb__tiling_same_part(&home->box, &home->origin, &like->box, &like->origin)) return home;
    *other |= home != NULL;
  }
  return NULL;
}

// Copies of a home: of what a mover fills or takes they go in turn.
static int copies_of(const pb_tiling* t, const pb_staging* s, bool set, int level) {
  bool moved = (set ? s->stages->takes : s->stages->brings) >= 0;
  return moved && level > t->base ? pb_plan_copies(t->plan, PB_OF_X) : 1;
}

// Carries a copy between a tensor and a buffer out, by a mover if there is one.
static bool carry_out(pb_tiling* t, const pb_staging* s, pb_nest* copy, bool out, int level, pb_copy_builder by_code,
                      void* user) {
  pb_access* own = &copy->access[!out];
  if ((out ? s->stages->takes : s->stages->brings) < 0) return by_code(t, user, copy, level);
  pb_move_begin(copy);
  own->shape[0] = t->buffers[own->buffer].shape[0];
  pb__tiling_add(t, level, copy);
  return !t->failure;
}

static bool bring(pb_tiling* t, pb_staging* s, const pb_tile* tile, int n, int a, int level, pb_copy_builder copy,
                  void* user) {
  const pb_program* p = s->stages->program;
  pb_tile own;
  pb_nest point, load;
  bool other, set = is_set(s, p->value_of[n][a]);
  pb_home* home = PB_NEW(t->arena, pb_home);
  *home = (pb_home){.value = -1};
  pb__stages_tile(s->stages, n, tile, &own);
  pb__tiling_expand(t, &p->nests[n], &p->nests[n], &own, &point);
  pb__tiling_box(t, &point.access[a], point.extent, level, &home->box, &home->origin);
  pb_home* shared = find_home(s, p->value_of[n][a], home, &other);
  if (set && other) return pb__tiling_fail(t, "nests of a kernel set and read different parts of one tensor");
  s->homes[n][a] = shared ? shared : home;
  if (shared) return true;
  if (set && !pb__tiling_leaves_no_holes(t, &point.access[a], point.extent, level)) return false;
  pb_access flat = {.type = home->box.type, .rank = 1, .shape = {pb_access_elements(&home->box)}};
  pb__tiling_own(t, &flat, level, s->memory, copies_of(t, s, set, level), set ? "result" : "operand");
  home->box.buffer = flat.buffer;
  if (set || t->failure) return !t->failure;
  pb__tiling_copy_box(t, &home->box, &home->origin, &load);
  return carry_out(t, s, &load, false, level, copy, user);
}

bool pb__staging_bring(pb_tiling* t, pb_staging* s, const pb_tile* tile, int level, pb_copy_builder copy, void* user) {
  const pb_program* p = s->stages->program;
  if (!s->homes) return true;
  pb_home*(*outside)[PB_NEST_ACCESSES] = s->homes;
  s->homes = pb_alloc_array(t->arena, (size_t)p->nest_count + 1, sizeof *s->homes);
  memcpy(s->homes, outside, (size_t)p->nest_count * sizeof *s->homes);
  for (int n = 0; n < p->nest_count; ++n)
    for (int a = 0; a < p->nests[n].access_count; ++a)
      if (is_tensor(s, n, a) && !s->homes[n][a] && level_of(t, s, n, a) == level &&
          !bring(t, s, tile, n, a, level, copy, user))
        return false;
  return true;
}

void pb__staging_use(const pb_staging* s, pb_program* iteration, pb_arena* arena) {
  const pb_program* p = s->stages->program;
  size_t nests = (size_t)p->nest_count;
  if (!s->homes) return;
  int(*value_of)[PB_NEST_ACCESSES] = pb_alloc_array(arena, nests + 1, sizeof *value_of);
  iteration->value_of = memcpy(value_of, iteration->value_of, sizeof *value_of * nests);
  iteration->value_capacity = iteration->value_count; // what is added goes to a table of its own
  for (size_t n = 0; n < nests; ++n)
    for (int a = 0; a < p->nests[n].access_count; ++a)
      if (s->homes[n][a]) s->homes[n][a]->value = -1;
  for (size_t n = 0; n < nests; ++n)
    for (int a = 0; a < p->nests[n].access_count; ++a) {
      pb_home* home = s->homes[n][a];
      if (!home) continue;
      if (home->value < 0) {
        home->value = pb_program_add_local(iteration, arena, &home->box);
        iteration->values[home->value].kind = p->values[p->value_of[n][a]].kind;
      }
      pb__tiling_in_buffer(&iteration->nests[n].access[a], home->box.buffer, home->box.shape, &home->origin);
      value_of[n][a] = home->value;
    }
  pb_program_index(iteration, arena);
}

bool pb__staging_return(pb_tiling* t, const pb_staging* s, int level, pb_copy_builder copy, void* user) {
  const pb_program* p = s->stages->program;
  for (int v = 0; s->homes && v < p->value_count; ++v) {
    pb_home* home = NULL;
    pb_nest store;
    if (pb_program_is_local(p, v) || !is_set(s, v)) continue;
    PB_FOR_ACCESSES (n, a, p, v)
      if (!home) home = s->homes[n][a];
    if (!home) continue;
    pb__tiling_copy_box(t, &home->box, &home->origin, &store);
    pb__tiling_turn(&store, "store");
    if (!carry_out(t, s, &store, true, level, copy, user)) return false;
  }
  return true;
}
