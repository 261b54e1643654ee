// Programs with open dims on a device: tensors, arenas and sizes have their places there, as large as runs so far
// wanted them. Where buffers lie in an arena is as in this process (open.c).
#include "core/runtime/rt.h"

static pb__room* outputs_of(const pb_rt* rt) { return rt->words.rooms + rt->engine->input_count; }
static pb__room* arenas_of(const pb_rt* rt) { return outputs_of(rt) + rt->engine->output_count; }
static pb__room* blocks_of(const pb_rt* rt) { return arenas_of(rt) + rt->engine->open->source_count + 1; }

// What becomes too small is left, where devices free all at once alone, and what takes its place is twice as large.
static pb_status make_room(pb_rt* rt, pb__room* room, uint64_t bytes, uint64_t* address, pb_diag* diag) {
  if (bytes > room->bytes) {
    uint64_t more = bytes > 2 * room->bytes ? bytes : 2 * room->bytes;
    const pb__words* w = &rt->words;
    if (room->bytes && w->ops->abi >= 5 && w->ops->free && w->ops->free(w->device, room->address))
      return pb__device_fault(rt, "freeing memory", diag);
    room->bytes = 0;
    PB_TRY(pb__words_allocate(rt, more, &room->address, diag));
    room->bytes = more;
  }
  if (address) *address = room->address;
  return PB_OK;
}

static pb_status place_block(pb_rt* rt, int k, pb_diag* diag) {
  const pb_open_block* block = &rt->engine->open->blocks[k];
  uint64_t bytes = (uint64_t)(block->count * pb_type_bits(block->type) / 8);
  PB_TRY(make_room(rt, &blocks_of(rt)[k], bytes, NULL, diag));
  return pb__words_write(rt, blocks_of(rt)[k].address, rt->open.blocks[k], bytes, diag);
}

pb_status pb__open_to_device(pb_rt* rt, int stage, pb_diag* diag) {
  const pb_engine* e = rt->engine;
  const pb_open* o = e->open;
  pb__words* w = &rt->words;
  size_t count = (size_t)(e->input_count + e->output_count + o->source_count + 1 + o->block_count);
  if (!w->rooms) w->rooms = PB_NEW_ARRAY(&rt->arena, pb__room, count);
  for (int k = 0; k < e->input_count && !stage && !rt->given_inputs; ++k)
    PB_TRY(make_room(rt, &w->rooms[k], rt->inputs[k].bytes, &w->inputs[k], diag));
  for (int k = 0; k < e->output_count; ++k)
    if (rt->open.stages.outputs[k] == stage && !rt->given_outputs)
      PB_TRY(make_room(rt, &outputs_of(rt)[k], rt->outputs[k].bytes, &w->outputs[k], diag));
  for (int k = 0; k < o->block_count; ++k)
    if (rt->open.stages.blocks[k] == stage) PB_TRY(place_block(rt, k, diag));
  return make_room(rt, &arenas_of(rt)[stage], rt->open.arenas[stage].bytes, NULL, diag);
}

uint64_t pb__open_address(const pb_rt* rt, pb_arg arg) {
  if (arg.space == PB_SPACE_SIZES) return blocks_of(rt)[arg.value].address;
  int stage = rt->open.stages.buffers[arg.value];
  return arenas_of(rt)[stage].address + (uint64_t)(rt->open.buffers[arg.value] - rt->open.arenas[stage].data);
}
