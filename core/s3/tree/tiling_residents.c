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
    buffer_of[v] = -1;
    if (!value->space) continue;
    if (t->buffer_count == PB_MAX_BUFFERS) {
      pb__tiling_fail(t, "more buffers than a kernel can have");
      break;
    }
    pb_buffer* buffer = &t->buffers[buffer_of[v] = t->buffer_count++];
    *buffer = (pb_buffer){.name = "resident",
                          .memory = pb_chip_memory(t->chip, value->space),
                          .type = value->type,
                          .rank = value->rank,
                          .depth = 1,
                          .bytes = pb_value_bytes(value),
                          .shares = -1,
                          .tensor = 1 + value->argument};
    memcpy(buffer->shape, value->shape, sizeof buffer->shape);
    any = true;
  }
  return any;
}

// What a group's values are on their way into buffers.
typedef struct placing {
  pb_tiling* t;
  const pb_program* program;
  const int* buffer_of;
  const pb_access* const* origin_of;
} placing;

static void use_buffers(const placing* r, pb_nest* nest) {
  static const pb_access front = {.rank = 0};
  for (int a = 0; a < nest->access_count; ++a)
    for (int v = 0; v < r->program->value_count; ++v)
      if (r->buffer_of[v] >= 0 && pb_value_same(r->program->values[v].ir, nest->access[a].memref))
        pb__tiling_in_buffer(&nest->access[a], r->buffer_of[v], r->t->buffers[r->buffer_of[v]].shape,
                             r->origin_of ? r->origin_of[v] : &front);
}

static const pb_nest* kept(const placing* r, const pb_nest* nest) {
  pb_nest* own = pb_nest_kept(r->t->arena, nest);
  use_buffers(r, own);
  return own;
}

// The group, of which each nest uses the buffers.
static pb_group* group_on(const placing* r, const pb_group* group, const pb_program* program) {
  pb_group* own = pb_alloc_raw(r->t->arena, sizeof *own);
  memcpy(own, group, sizeof *own);
  own->program = program;
  use_buffers(r, &own->main);
  if (own->around.init) own->around.init = kept(r, own->around.init);
  for (int k = 0; k < own->around.epilogue_count; ++k)
    own->around.epilogues[k].nest = kept(r, own->around.epilogues[k].nest);
  for (int k = 0; k < own->around.fill_count; ++k) own->around.fills[k] = kept(r, own->around.fills[k]);
  return own;
}

void pb__tiling_take_buffers(pb_tiling* t, const int* buffer_of, const pb_access* const* origin_of) {
  const pb_program* p = t->group->program;
  const placing r = {t, p, buffer_of, origin_of};
  pb_program* own = PB_NEW(t->arena, pb_program);
  *own = *p;
  own->nests = pb_alloc_raw(t->arena, (size_t)p->nest_count * sizeof *own->nests);
  for (int n = 0; n < p->nest_count; ++n) {
    pb_nest_copy(&own->nests[n], &p->nests[n]);
    use_buffers(&r, &own->nests[n]);
  }
  int made = buffer_of[pb_program_stored(p, pb_around_last(&t->group->around))];
  t->group = group_on(&r, t->group, own);
  if (made < 0 || t->group->registers) return; // code stores what is in registers wherever its place is
  pb_into* into = PB_NEW(t->arena, pb_into);
  *into = (pb_into){.buffer = made, .origin = {.rank = t->buffers[made].rank}};
  t->into = into;
}

void pb__tiling_take_residents(pb_tiling* t) {
  const pb_program* p = t->group->program;
  bool any = false;
  for (int v = 0; v < p->value_count; ++v) any |= p->values[v].space != NULL;
  if (!any) return;
  int* buffer_of = PB_NEW_ARRAY(t->arena, int, (size_t)p->value_count + 1);
  if (allocate(t, p, buffer_of)) pb__tiling_take_buffers(t, buffer_of, NULL);
}
