// What a device says of its commands' times, where it traces and counts: each command of a queue begins and ends once,
// as many as there are, in order where the queue completes in order; and its counters move.
#include "suite.h"

#include <string.h>

static void wrong(timeline* t, int queue, uint32_t index, const char* what) {
  if (t->what) return;
  t->what = what, t->queue = queue, t->index = index;
}

static void note(void* user, uint32_t queue, uint32_t index, uint64_t start, uint64_t end) {
  timeline* t = user;
  const suite* s = t->suite;
  int own = s->chip->queue_count;
  if (queue >= (uint32_t)(own * s->chip->cores)) {
    wrong(t, 0, 0, "is traced in a queue that is not there");
    return;
  }
  if ((int)queue / own != s->core) return; // what runs beside it is another program's
  int q = (int)queue % own;
  bool in_order = s->chip->queues[q].in_order;
  uint32_t at = s->chip->fence ? t->seen[q] : index; // in one list it is the place in that
  if (in_order && at != t->seen[q]) wrong(t, q, t->seen[q], "is traced by the number of another");
  if (start >= end) wrong(t, q, at, "is traced to end before it has begun");
  if (start < t->begun) wrong(t, q, at, "is traced to begin before the program does");
  if (in_order && end < t->last[q]) wrong(t, q, at, "is traced to end before the one in front of it");
  ++t->seen[q];
  t->last[q] = end;
}

// The counter's index; -1: the device has none of that name.
static int counter_of(const target_device* d, const char* name) {
  const char* there;
  for (uint32_t k = 0; (there = d->ops->counter_name(d->handle, k)); ++k)
    if (!strcmp(there, name)) return (int)k;
  return -1;
}

static uint64_t count_of(const target_device* d, const char* name) {
  int at = counter_of(d, name);
  return at < 0 ? 0 : d->ops->counter(d->handle, (uint32_t)at);
}

static void busy_name(const suite* s, int queue, char* name, size_t room) {
  snprintf(name, room, "busy.%s", pb_chip_queue_name(s->chip, s->core * s->chip->queue_count + queue));
}

void timeline_begin(suite* s, const target_device* d, timeline* t) {
  *t = (timeline){.suite = s, .begun = count_of(d, "cycles")};
  for (int q = 0; q < s->chip->queue_count; ++q) {
    char name[64];
    busy_name(s, q, name, sizeof name);
    t->busy[q] = count_of(d, name);
  }
  if (d->ops->set_trace) d->ops->set_trace(d->handle, note, t);
}

// Commands of the queue that are words of its stream, as many as it runs; the first of the program whose number is
// `at`.
static uint32_t commands_of(const suite* s, const program* p, int queue, uint32_t at, const pb_command** found) {
  uint32_t count = 0;
  *found = NULL;
  for (size_t n = 0; n < p->count; ++n) {
    if (p->commands[n].insn->queue != queue || (s->chip->wait_field && program_only_orders(s, &p->commands[n])))
      continue;
    if (count++ == at) *found = &p->commands[n];
  }
  return count;
}

char* timeline_end(suite* s, const program* p, const target_device* d, timeline* t, pb_arena* arena) {
  const pb_command* c;
  if (d->ops->set_trace) d->ops->set_trace(d->handle, NULL, NULL);
  for (int q = 0; q < s->chip->queue_count && !t->what; ++q) {
    char name[64];
    busy_name(s, q, name, sizeof name);
    uint32_t count = commands_of(s, p, q, 0, &c);
    if (d->ops->set_trace && !s->chip->wait_field && t->seen[q] != count)
      wrong(t, q, t->seen[q] < count ? t->seen[q] : count,
            t->seen[q] < count ? "has no end in the trace" : "is traced, and no command of the program");
    if (count && counter_of(d, name) >= 0 && count_of(d, name) == t->busy[q])
      wrong(t, q, 0, "makes its queue busy, which the counter of that does not say");
    if (count && counter_of(d, "cycles") >= 0 && count_of(d, "cycles") == t->begun)
      wrong(t, q, 0, "takes cycles, which the counter of those does not say");
  }
  if (!t->what) return NULL;
  (void)commands_of(s, p, t->queue, t->index, &c);
  return pb_printf(arena, "%s: the first command that differs is %s in queue %s (number %u there): it %s", d->name,
                   c ? c->insn->name : "one that is not there",
                   pb_chip_queue_name(s->chip, s->core * s->chip->queue_count + t->queue), t->index, t->what);
}
