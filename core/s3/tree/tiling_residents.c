// Values that lie in buffers when a group is built. Tensors that stay on the chip from one kernel to another: those of
// a kernel's arguments that lie in one of its memories (core/s3/reside). They are buffers that somebody else has
// allocated: what takes one reads it where it lies, without a load, and what makes one leaves it there, without a
// store.
#include "core/s3/tree/tiling.h"

#include <string.h>

// Buffers of the arguments; buffer_of: by value, -1: it is no such argument. Returns whether there are any.
static bool allocate(pb_tiling* t, const pb_program* p, int* buffer_of) {
  bool any = false;
  for (int v = 0; v < p->value_count && !t->failure; ++v) {
    const pb_value* value = &p->values[v];
    pb_access all = pb_value_shape(value);
    buffer_of[v] = -1;
    if (!value->space) continue;
    pb_buffer* buffer = pb__tiling_new_buffer(t, &all, pb_chip_memory(t->chip, value->space), 1, "resident");
    if (!buffer) break;
    buffer->tensor = 1 + value->argument;
    buffer_of[v] = all.buffer;
    any = true;
  }
  return any;
}

// What a group's values are on their way into buffers.
typedef struct placing {
  const pb_program* program;
  const int* buffer_of;
  const pb_access* const* origin_of;
} placing;

static void use_buffers(const pb_tiling* t, const void* user, int n, pb_nest* nest) {
  static const pb_access front = {.rank = 0};
  const placing* r = user;
  (void)n;
  for (int a = 0; a < nest->access_count; ++a)
    for (int v = 0; v < r->program->value_count; ++v)
      if (r->buffer_of[v] >= 0 && pb_value_same(r->program->values[v].ir, nest->access[a].memref))
        pb__tiling_in_buffer(&nest->access[a], r->buffer_of[v], t->buffers[r->buffer_of[v]].shape,
                             r->origin_of ? r->origin_of[v] : &front);
}

pb_group* pb__tiling_group_with(const pb_tiling* t, pb_nest_change change, const void* user) {
  const pb_group* group = t->group;
  pb_group* own = pb_alloc_raw(t->arena, sizeof *own);
  pb_around* around = &own->around;
  memcpy(own, group, offsetof(pb_group, main));
  pb_nest_copy(&own->main, &group->main); // it is large
  change(t, user, own->main_index, &own->main);
  for (int n = -1; n < around->epilogue_count; ++n) {
    const pb_nest** nest = n < 0 ? &around->init : &around->epilogues[n].nest;
    int number = n < 0 ? around->init_number : around->epilogues[n].number;
    if (*nest) change(t, user, number, (pb_nest*)(*nest = pb_nest_kept(t->arena, *nest)));
  }
  for (int k = 0; k < around->fill_count; ++k)
    change(t, user, -1, (pb_nest*)(around->fills[k] = pb_nest_kept(t->arena, around->fills[k])));
  return own;
}

void pb__tiling_take_buffers(pb_tiling* t, const int* buffer_of, const pb_access* const* origin_of) {
  const pb_program* p = t->group->program;
  const placing r = {p, buffer_of, origin_of};
  pb_program* own = PB_NEW(t->arena, pb_program);
  *own = *p;
  own->nests = pb_alloc_raw(t->arena, (size_t)p->nest_count * sizeof *own->nests);
  for (int n = 0; n < p->nest_count; ++n) {
    pb_nest_copy(&own->nests[n], &p->nests[n]);
    use_buffers(t, &r, n, &own->nests[n]);
  }
  int made = buffer_of[pb_program_stored(p, pb_around_last(&t->group->around))];
  pb_group* group = pb__tiling_group_with(t, use_buffers, &r);
  group->program = own;
  t->group = group;
  if (made < 0 || t->group->registers) return; // code stores what is in registers wherever its place is
  pb_into* into = PB_NEW(t->arena, pb_into);
  *into = (pb_into){.buffer = made, .origin = {.rank = t->buffers[made].rank}};
  t->into = into;
}

void pb__tiling_take_residents(pb_tiling* t) {
  const pb_program* p = t->group->program;
  int* buffer_of = PB_NEW_ARRAY(t->arena, int, (size_t)p->value_count + 1);
  if (allocate(t, p, buffer_of)) pb__tiling_take_buffers(t, buffer_of, NULL);
}
