// A core's list of commands, with fences: what reads it hands each command to its queue, one a cycle and in the list's
// order, and stops where the queue is full. At a fence it stops until the queues that this names have nothing left to
// do. Then their commands are complete for all that is handed on behind the fence, whichever queue runs it. Commands
// are counted by their place in the list.
#include "targets/control/queues/machine/state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  MOST_AHEAD = 64, // words fetched ahead
  ARRIVALS = 2 * (MOST_AHEAD + 2 * PB_MAX_LOOP_BODY)
};

// What a queue has been handed and has not begun to read.
typedef struct holder {
  machine_held* commands; // modulo the queue's depth
  uint32_t first, count, depth;
  uint32_t given; // the last one's index + 1; 0: none
} holder;

struct machine_list {
  int core, first_queue;
  uint32_t next;                   // command, as they run
  uint32_t count, fetched, needed; // words of the stream; those asked for; those that must be there for the front
  uint32_t released;               // words whose places others may have
  uint64_t arrives[ARRIVALS], last_arrival;
  uint64_t free_at; // when the next may be handed on
  machine_sequence sequence;
  pb_command front; // the next one; insn NULL: not looked at yet
  uint8_t bytes[PB_COMMAND_BITS / 8];
  bool ended;
  holder holders[PB_CORE_QUEUES];
  uint32_t *clock, *clocks; // of what is handed on now; all of them
};

machine_list* machine__list_open(const pb_chip* chip, int core) {
  machine_list* l = calloc(1, sizeof *l);
  size_t queues = (size_t)chip->queue_count, places = 1;
  if (!l) pb_no_memory(sizeof *l);
  l->core = core;
  l->first_queue = core * chip->queue_count;
  for (int q = 0; q < chip->queue_count; ++q) places += (size_t)chip->queues[q].depth;
  l->clock = l->clocks = calloc(places * queues, sizeof *l->clocks);
  if (!l->clocks) pb_no_memory(places * queues);
  uint32_t* clock = l->clocks;
  for (int q = 0; q < chip->queue_count; ++q) {
    holder* h = &l->holders[q];
    h->depth = (uint32_t)chip->queues[q].depth;
    h->commands = calloc(h->depth, sizeof *h->commands);
    if (!h->commands) pb_no_memory(h->depth);
    for (uint32_t k = 0; k < h->depth; ++k) h->commands[k].clock = clock += queues;
  }
  return l;
}

void machine__list_close(machine_list* l) {
  if (!l) return;
  for (int q = 0; q < PB_CORE_QUEUES; ++q) free(l->holders[q].commands);
  free(l->clocks);
  free(l);
}

static void fetch(pb_device* device, machine_list* l) {
  if (l->fetched == l->count) return;
  l->last_arrival = machine__word_arrives(device, l->last_arrival);
  l->arrives[l->fetched++ % ARRIVALS] = l->last_arrival;
}

void machine__list_begin(pb_device* device, machine_list* l) {
  const pb_chip* chip = device->chip;
  l->next = l->fetched = l->needed = l->released = 0;
  l->count = l->core < (int)device->kernel.queue_count ? pb_submission_count(&device->kernel, (uint32_t)l->core) : 0;
  l->last_arrival = l->free_at = 0;
  l->sequence.word = l->sequence.body = 0;
  l->sequence.count = l->count;
  l->front.insn = NULL;
  l->ended = false;
  memset(l->clock, 0, sizeof *l->clock * (size_t)chip->queue_count);
  for (int q = 0; q < chip->queue_count; ++q) l->holders[q].first = l->holders[q].count = l->holders[q].given = 0;
  int ahead = chip->list_depth < MOST_AHEAD ? chip->list_depth : MOST_AHEAD;
  for (int k = 0; k < ahead; ++k) fetch(device, l);
}

bool machine__list_done(const machine_list* l) { return l->ended; }

static void keep_text(void* user, bool error, int code, const char* text) {
  (void)error, (void)code;
  snprintf(user, 512, "%s", text);
}

// The next command of the list, decoded. All words of a loop are asked for when its first command is looked at.
static int look(pb_device* device, machine_list* l) {
  char text[512] = "";
  int code;
  uint32_t taken = l->needed;
  pb_diag diag = {.sink = keep_text, .user = text};
  machine_site site = {.queue = l->first_queue, .index = l->next};
  if (l->front.insn || l->ended) return MACHINE_OK;
  const uint8_t* bytes = machine__sequence_next(device, &site, &l->sequence, &l->needed, &code);
  l->ended = !bytes;
  if (!bytes) return code;
  for (; taken + 1 < l->needed; ++taken) fetch(device, l);
  memcpy(l->bytes, bytes, (size_t)device->chip->command_bytes);
  bool good = pb_decode(device->chip, bytes, &l->front, &diag) == PB_OK;
  if (good && l->front.insn != device->chip->loop) return MACHINE_OK;
  l->front.insn = NULL;
  return machine__fault(device, MACHINE_BAD_COMMAND, "%s, command %u: %s", pb_chip_stream_name(device->chip, l->core),
                        l->next, good ? "a loop stands in the body of another" : text);
}

// When it can be handed on, or the fence passed; UINT64_MAX: not until something else happens.
static uint64_t front_ready(const pb_device* device, const machine_list* l) {
  uint64_t at = l->arrives[(l->needed - 1) % ARRIVALS];
  if (l->free_at > at) at = l->free_at;
  if (l->front.insn != device->chip->fence) {
    const holder* h = &l->holders[l->front.insn->queue];
    return h->count == h->depth ? UINT64_MAX : at;
  }
  for (int q = 0; q < device->chip->queue_count; ++q) {
    if (!(l->front.waits >> q & 1)) continue;
    uint64_t done;
    if (!machine__queue_idle(device, l->first_queue + q, &done)) return UINT64_MAX;
    done += (uint64_t)device->chip->fence_cycles;
    if (done > at) at = done;
  }
  return at;
}

int machine__list_ready(pb_device* device, machine_list* l, uint64_t now, uint64_t* when) {
  *when = UINT64_MAX;
  int code = look(device, l);
  if (code || l->ended) return code;
  *when = front_ready(device, l);
  if (*when < now) *when = now;
  return MACHINE_OK;
}

// What these were behind themselves, the list is behind already: order comes from it alone.
static void pass_fence(pb_device* device, machine_list* l) {
  for (int q = 0; q < device->chip->queue_count; ++q) {
    if (!(l->front.waits >> q & 1)) continue;
    l->clock[q] = l->holders[q].given;
  }
}

int machine__list_give(pb_device* device, machine_list* l, uint64_t now) {
  int queue = l->front.insn->queue; // a fence's: -1
  if (queue >= 0) {
    holder* h = &l->holders[queue];
    machine_held* c = &h->commands[(h->first + h->count++) % h->depth];
    c->index = l->next;
    c->at = now;
    memcpy(c->bytes, l->bytes, sizeof c->bytes);
    memcpy(c->clock, l->clock, sizeof *c->clock * (size_t)device->chip->queue_count);
    h->given = l->next + 1;
  } else {
    pass_fence(device, l);
  }
  l->front.insn = NULL;
  l->free_at = now + 1;
  ++l->next;
  if (l->needed > l->released) fetch(device, l); // an iteration of a loop takes no word
  l->released = l->needed;
  return queue < 0 ? -1 : l->first_queue + queue;
}

const machine_held* machine__list_take(machine_list* l, int q) {
  holder* h = &l->holders[q - l->first_queue];
  if (!h->count) return NULL;
  const machine_held* c = &h->commands[h->first];
  h->first = (h->first + 1) % h->depth;
  --h->count;
  return c;
}

int machine__list_says(const pb_device* device, const machine_list* l, char* text, size_t size) {
  pb_arena arena = {0};
  if (l->ended || !l->front.insn) return 0;
  int used =
      snprintf(text, size, "\n  %s: command %u (%s) cannot be handed on", pb_chip_stream_name(device->chip, l->core),
               l->next, pb_disassemble(device->chip, &l->front, &arena));
  pb_arena_free(&arena);
  return used;
}
