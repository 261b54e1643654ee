// One list of commands, with fences: what reads it hands each command to its queue, one a cycle and in the list's
// order, and stops where the queue is full. At a fence it stops until the queues that this names have nothing left to
// do. Then their commands are complete for all that is handed on behind the fence, whichever queue runs it. Commands
// are counted by their place in the list.
#include "machine_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_AHEAD = 64 }; // words fetched ahead

// A command that its queue has been handed and has not begun to read.
typedef struct held {
  uint32_t index;
  uint64_t at;     // since when
  uint32_t* clock; // what it is behind, by fences
} held;

typedef struct holder {
  held* commands; // modulo the queue's depth
  uint32_t first, count, depth;
  uint32_t given; // the last one's index + 1; 0: none
} holder;

struct machine_list {
  uint32_t next, count, fetched; // words
  uint64_t arrives[MOST_AHEAD], last_arrival;
  uint64_t free_at; // when the next may be handed on
  pb_command front; // the next one; insn NULL: not looked at yet
  holder holders[PB_MAX_QUEUES];
  uint32_t *clock, *clocks; // of what is handed on now; all of them
};

machine_list* machine__list_open(const pb_chip* chip) {
  machine_list* l = calloc(1, sizeof *l);
  size_t queues = (size_t)chip->queue_count, places = 1;
  if (!l) pb_no_memory(sizeof *l);
  for (size_t q = 0; q < queues; ++q) places += (size_t)chip->queues[q].depth;
  l->clock = l->clocks = calloc(places * queues, sizeof *l->clocks);
  if (!l->clocks) pb_no_memory(places * queues);
  uint32_t* clock = l->clocks;
  for (size_t q = 0; q < queues; ++q) {
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
  for (int q = 0; q < PB_MAX_QUEUES; ++q) free(l->holders[q].commands);
  free(l->clocks);
  free(l);
}

static void fetch(pb_device* device, machine_list* l) {
  if (l->fetched == l->count) return;
  l->last_arrival = machine__word_arrives(device, l->last_arrival);
  l->arrives[l->fetched++ % MOST_AHEAD] = l->last_arrival;
}

void machine__list_begin(pb_device* device, machine_list* l) {
  const pb_chip* chip = device->chip;
  l->next = l->fetched = 0;
  l->count = device->kernel.queue_count ? device->kernel.count[0] : 0;
  l->last_arrival = l->free_at = 0;
  l->front.insn = NULL;
  memset(l->clock, 0, sizeof *l->clock * (size_t)chip->queue_count);
  for (int q = 0; q < chip->queue_count; ++q) l->holders[q].first = l->holders[q].count = l->holders[q].given = 0;
  int ahead = chip->list_depth < MOST_AHEAD ? chip->list_depth : MOST_AHEAD;
  for (int k = 0; k < ahead; ++k) fetch(device, l);
}

bool machine__list_done(const machine_list* l) { return l->next == l->count; }

static void keep_text(void* user, bool error, int code, const char* text) {
  (void)error, (void)code;
  snprintf(user, 512, "%s", text);
}

// The next command of the list, decoded.
static int look(pb_device* device, machine_list* l) {
  char text[512] = "";
  pb_diag diag = {.sink = keep_text, .user = text};
  machine_site site = {.index = l->next};
  if (l->front.insn) return MACHINE_OK;
  const uint8_t* bytes = machine__word(device, &site, l->next);
  if (!bytes) return MACHINE_BAD_ADDRESS;
  if (pb_decode(device->chip, bytes, &l->front, &diag) == PB_OK) return MACHINE_OK;
  l->front.insn = NULL;
  return machine__fault(device, MACHINE_BAD_COMMAND, "command %u of the list: %s", l->next, text);
}

// When it can be handed on, or the fence passed; UINT64_MAX: not until something else happens.
static uint64_t front_ready(const pb_device* device, const machine_list* l) {
  uint64_t at = l->arrives[l->next % MOST_AHEAD];
  if (l->free_at > at) at = l->free_at;
  if (l->front.insn != device->chip->fence) {
    const holder* h = &l->holders[l->front.insn->queue];
    return h->count == h->depth ? UINT64_MAX : at;
  }
  for (int q = 0; q < device->chip->queue_count; ++q) {
    if (!(l->front.waits >> q & 1)) continue;
    uint64_t done;
    if (l->holders[q].count || !machine__queue_idle(device, q, &done)) return UINT64_MAX;
    done += (uint64_t)device->chip->fence_cycles;
    if (done > at) at = done;
  }
  return at;
}

int machine__list_ready(pb_device* device, machine_list* l, uint64_t now, uint64_t* when) {
  *when = UINT64_MAX;
  if (l->next == l->count) return MACHINE_OK;
  int code = look(device, l);
  if (code) return code;
  *when = front_ready(device, l);
  if (*when < now) *when = now;
  return MACHINE_OK;
}

static void pass_fence(pb_device* device, machine_list* l) {
  for (int q = 0; q < device->chip->queue_count; ++q) {
    if (!(l->front.waits >> q & 1)) continue;
    const uint32_t* knows = machine__queue_clock(device, q);
    for (int p = 0; p < device->chip->queue_count; ++p)
      if (knows[p] > l->clock[p]) l->clock[p] = knows[p];
    l->clock[q] = l->holders[q].given;
  }
}

int machine__list_give(pb_device* device, machine_list* l, uint64_t now) {
  int queue = l->front.insn->queue; // a fence's: -1
  if (queue >= 0) {
    holder* h = &l->holders[queue];
    held* c = &h->commands[(h->first + h->count++) % h->depth];
    c->index = l->next;
    c->at = now;
    memcpy(c->clock, l->clock, sizeof *c->clock * (size_t)device->chip->queue_count);
    h->given = l->next + 1;
  } else {
    pass_fence(device, l);
  }
  l->front.insn = NULL;
  l->free_at = now + 1;
  ++l->next;
  fetch(device, l);
  return queue;
}

bool machine__list_take(machine_list* l, int q, uint32_t* index, uint64_t* at, const uint32_t** clock) {
  holder* h = &l->holders[q];
  if (!h->count) return false;
  const held* c = &h->commands[h->first];
  *index = c->index;
  *at = c->at;
  *clock = c->clock;
  h->first = (h->first + 1) % h->depth;
  --h->count;
  return true;
}

int machine__list_says(const pb_device* device, const machine_list* l, char* text, size_t size) {
  pb_arena arena = {0};
  if (l->next == l->count || !l->front.insn) return 0;
  int used = snprintf(text, size, "\n  the list: command %u (%s) cannot be handed on", l->next,
                      pb_disassemble(device->chip, &l->front, &arena));
  pb_arena_free(&arena);
  return used;
}
