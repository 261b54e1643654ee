// Counters of tokens: one for each ordered pair of queues, or semaphores, which several queues give and take. A token
// carries the clock of the command that signalled it.
//
// What is taken of a semaphore are its oldest tokens, but in another run they could be others: so a token for a later
// wait must be given behind all that an earlier wait took, or behind that wait. That is checked when a token comes and
// when one is taken, whatever the order in which they happen to come here.
#include "targets/control/queues/machine/state.h"

#include <stdlib.h>
#include <string.h>

enum { TOKEN_CYCLES = 1 }; // from completion to the start of who waits

// Tokens are numbered as they are sent; each lies at its number modulo the limit.
typedef struct counter {
  uint64_t produced, consumed;
  int limit;
  uint64_t *sent_at, *consumed_at;
  uint32_t* clocks;  // limit x queues of the core
  uint8_t* givers;   // of each token: its queue, as all here by its number in the core
  uint32_t* counted; // by queue: the commands whose tokens were taken; past the last of them
  uint32_t* waited;  // by queue: past its last command that took tokens
  int last;          // the queue that took some last; -1: none did
} counter;

struct machine_tokens {
  const pb_chip* chip;
  int own, count;    // queues of a core; counters of its command bits
  counter* counters; // by core: of pairs [giver][taker], or of semaphores
  size_t all;
};

static bool has_semaphores(const machine_tokens* t) { return t->chip->semaphore_count > 0; }

// The counter that bit k of what a command of the queue signals, or waits for, means.
static counter* counter_of(const machine_tokens* t, int q, int k, bool signals) {
  int core = q / t->own, own = q % t->own;
  if (has_semaphores(t)) return &t->counters[core * t->count + k];
  return &t->counters[(core * t->own + (signals ? own : k)) * t->own + (signals ? k : own)];
}

static void* room_for(size_t count, size_t size) {
  void* room = calloc(count, size);
  if (!room) pb_no_memory(count * size);
  return room;
}

machine_tokens* machine__tokens_open(const pb_chip* chip) {
  machine_tokens* t = room_for(1, sizeof *t);
  t->chip = chip;
  t->own = chip->queue_count;
  t->count = pb_chip_counters(chip);
  t->all = has_semaphores(t) ? (size_t)(chip->cores * t->count) : (size_t)(chip->cores * t->own * t->own);
  t->counters = room_for(t->all, sizeof *t->counters);
  for (size_t n = 0; n < t->all; ++n) {
    counter* c = &t->counters[n];
    int most = has_semaphores(t) ? chip->semaphores[n % (size_t)t->count].most
                                 : chip->queues[n / (size_t)t->own % (size_t)t->own].tokens;
    c->limit = most > 0 ? most : 1;
    c->sent_at = room_for((size_t)c->limit, sizeof *c->sent_at);
    c->consumed_at = room_for((size_t)c->limit, sizeof *c->consumed_at);
    c->clocks = room_for((size_t)(c->limit * t->own), sizeof *c->clocks);
    c->givers = room_for((size_t)c->limit, sizeof *c->givers);
    c->counted = room_for((size_t)t->own, sizeof *c->counted);
    c->waited = room_for((size_t)t->own, sizeof *c->waited);
  }
  return t;
}

void machine__tokens_close(machine_tokens* t) {
  if (!t) return;
  for (size_t n = 0; n < t->all; ++n) {
    counter* c = &t->counters[n];
    free(c->sent_at);
    free(c->consumed_at);
    free(c->clocks);
    free(c->givers);
    free(c->counted);
    free(c->waited);
  }
  free(t->counters);
  free(t);
}

void machine__tokens_begin(machine_tokens* t) {
  for (size_t n = 0; n < t->all; ++n) {
    counter* c = &t->counters[n];
    c->produced = c->consumed = 0;
    c->last = -1;
    memset(c->counted, 0, sizeof *c->counted * (size_t)t->own);
    memset(c->waited, 0, sizeof *c->waited * (size_t)t->own);
  }
}

uint32_t machine__tokens_missing(const machine_tokens* t, int q, const pb_command* command) {
  uint32_t missing = 0;
  for (int k = 0; k < t->count; ++k) {
    if (!(command->waits >> k & 1)) continue;
    const counter* c = counter_of(t, q, k, false);
    if (c->produced - c->consumed < (uint64_t)pb_count_of(t->chip, command->counts, k)) missing |= 1u << k;
  }
  return missing;
}

uint64_t machine__tokens_there(const machine_tokens* t, int q, const pb_command* command) {
  uint64_t at = 0;
  for (int k = 0; k < t->count; ++k) {
    if (!(command->waits >> k & 1)) continue;
    const counter* c = counter_of(t, q, k, false);
    uint64_t last = c->consumed + (uint64_t)pb_count_of(t->chip, command->counts, k) - 1;
    uint64_t sent = c->sent_at[last % (uint64_t)c->limit] + TOKEN_CYCLES;
    if (sent > at) at = sent;
  }
  return at;
}

uint32_t machine__tokens_full(const machine_tokens* t, int q, uint32_t signals) {
  uint32_t full = 0;
  for (int k = 0; k < t->count; ++k) {
    if (!(signals >> k & 1)) continue;
    const counter* c = counter_of(t, q, k, true);
    if (c->produced - c->consumed >= (uint64_t)c->limit) full |= 1u << k;
  }
  return full;
}

uint64_t machine__tokens_room(const machine_tokens* t, int q, uint32_t signals) {
  uint64_t when = 0;
  for (int k = 0; k < t->count; ++k) {
    if (!(signals >> k & 1)) continue;
    const counter* c = counter_of(t, q, k, true);
    uint64_t limit = (uint64_t)c->limit;
    if (c->produced >= limit && c->consumed_at[c->produced % limit] > when) when = c->consumed_at[c->produced % limit];
  }
  return when;
}

static uint32_t* clock_of(const machine_tokens* t, const counter* c, uint64_t token) {
  return c->clocks + token % (uint64_t)c->limit * (uint64_t)t->own;
}

static int report(pb_device* device, const counter* c, int q, uint32_t command, const char* how, int other,
                  uint32_t behind) {
  const machine_tokens* t = device->tokens;
  int n = (int)(c - t->counters), k = n % t->count, first = n / t->count * t->own;
  return machine__fault(device, MACHINE_RACE,
                        "race: queue %s, command %u signals %s for another wait than queue %s, command %u %s, and "
                        "nothing puts it behind that",
                        pb_chip_queue_name(device->chip, first + q), command, device->chip->semaphores[k].name,
                        pb_chip_queue_name(device->chip, first + other), behind, how);
}

// A token of queue q with that clock is not one that a wait has been for: it is behind the last wait, or behind all
// that was counted.
static int check_behind(pb_device* device, const counter* c, int q, const uint32_t* clock) {
  const machine_tokens* t = device->tokens;
  if (c->last < 0 || clock[c->last] >= c->waited[c->last]) return MACHINE_OK;
  for (int g = 0; g < t->own; ++g)
    if (g != q && clock[g] < c->counted[g]) return report(device, c, q, clock[q] - 1, "does", g, c->counted[g] - 1);
  return MACHINE_OK;
}

// Nor could another queue have taken it.
static int check_taker(pb_device* device, const counter* c, int taker, int q, const uint32_t* clock) {
  for (int w = 0; w < device->tokens->own; ++w)
    if (w != taker && clock[w] < c->waited[w])
      return report(device, c, q, clock[q] - 1, "waits with", w, c->waited[w] - 1);
  return MACHINE_OK;
}

static void swap_tokens(const machine_tokens* t, counter* c, uint64_t a, uint64_t b) {
  uint64_t limit = (uint64_t)c->limit, sent = c->sent_at[a % limit];
  uint8_t giver = c->givers[a % limit];
  uint32_t *left = clock_of(t, c, a), *right = clock_of(t, c, b);
  c->sent_at[a % limit] = c->sent_at[b % limit], c->sent_at[b % limit] = sent;
  c->givers[a % limit] = c->givers[b % limit], c->givers[b % limit] = giver;
  for (int q = 0; q < t->own; ++q) {
    uint32_t kept = left[q];
    left[q] = right[q], right[q] = kept;
  }
}

static int give(pb_device* device, counter* c, int queue, uint64_t when, const uint32_t* clock) {
  machine_tokens* t = device->tokens;
  int q = queue % t->own;
  uint64_t n = c->produced++, limit = (uint64_t)c->limit;
  c->sent_at[n % limit] = when;
  c->givers[n % limit] = (uint8_t)q;
  memcpy(clock_of(t, c, n), clock, sizeof *clock * (size_t)t->own);
  for (; n > c->consumed && c->sent_at[(n - 1) % limit] > when; --n) swap_tokens(t, c, n - 1, n);
  return has_semaphores(t) && device->checks ? check_behind(device, c, q, clock) : MACHINE_OK;
}

int machine__tokens_give(pb_device* device, int q, uint32_t signals, uint64_t when, const uint32_t* clock) {
  for (int k = 0; k < device->tokens->count; ++k) {
    if (!(signals >> k & 1)) continue;
    int code = give(device, counter_of(device->tokens, q, k, true), q, when, clock);
    if (code) return code;
  }
  return MACHINE_OK;
}

// Those that stay are none that the wait is for.
static int check_rest(pb_device* device, const counter* c) {
  for (uint64_t n = c->consumed; n < c->produced; ++n) {
    int code = check_behind(device, c, c->givers[n % (uint64_t)c->limit], clock_of(device->tokens, c, n));
    if (code) return code;
  }
  return MACHINE_OK;
}

static int take(pb_device* device, counter* c, int count, const machine_site* site, uint64_t now, uint32_t* clock) {
  machine_tokens* t = device->tokens;
  bool checks = has_semaphores(t) && device->checks;
  int taker = site->queue % t->own;
  for (int n = 0; n < count; ++n) {
    uint64_t at = c->consumed++ % (uint64_t)c->limit;
    const uint32_t* sent = clock_of(t, c, at);
    int q = c->givers[at], code = checks ? check_taker(device, c, taker, q, sent) : MACHINE_OK;
    if (code) return code;
    c->consumed_at[at] = now;
    if (sent[q] > c->counted[q]) c->counted[q] = sent[q];
    for (int k = 0; k < t->own; ++k)
      if (sent[k] > clock[k]) clock[k] = sent[k];
  }
  c->last = taker;
  c->waited[taker] = site->index + 1;
  return checks ? check_rest(device, c) : MACHINE_OK;
}

// How many of queue w's commands are known to be done when the command starts, by all but semaphore `but`.
static uint32_t told(const machine_tokens* t, int q, const pb_command* command, int but, int w, const uint32_t* clock) {
  uint32_t done = clock[w];
  for (int k = 0; k < t->count; ++k) {
    if (k == but || !(command->waits >> k & 1)) continue;
    const counter* c = counter_of(t, q, k, false);
    for (int n = 0; n < pb_count_of(t->chip, command->counts, k); ++n) {
      uint32_t at = clock_of(t, c, c->consumed + (uint64_t)n)[w];
      if (at > done) done = at;
    }
  }
  return done;
}

// It would else have taken what another queue waits for, had it come first.
static int check_turn(pb_device* device, const machine_site* site, const pb_command* command, const uint32_t* clock) {
  const machine_tokens* t = device->tokens;
  for (int k = 0; k < t->count && has_semaphores(t); ++k) {
    if (!(command->waits >> k & 1)) continue;
    const counter* c = counter_of(t, site->queue, k, false);
    for (int w = 0; w < t->own; ++w)
      if (w != site->queue % t->own && c->waited[w] && told(t, site->queue, command, k, w, clock) < c->waited[w])
        return machine__fault(device, MACHINE_RACE,
                              "race: queue %s, command %u waits for %s as queue %s, command %u does, and no other "
                              "semaphore puts it behind that",
                              pb_chip_queue_name(device->chip, site->queue), site->index,
                              device->chip->semaphores[k].name,
                              pb_chip_queue_name(device->chip, site->queue / t->own * t->own + w), c->waited[w] - 1);
  }
  return MACHINE_OK;
}

int machine__tokens_take(pb_device* device, const machine_site* site, const pb_command* command, uint64_t now,
                         uint32_t* clock) {
  int turn = device->checks ? check_turn(device, site, command, clock) : MACHINE_OK;
  if (turn) return turn;
  for (int k = 0; k < device->tokens->count; ++k) {
    if (!(command->waits >> k & 1)) continue;
    counter* c = counter_of(device->tokens, site->queue, k, false);
    int code = take(device, c, pb_count_of(device->chip, command->counts, k), site, now, clock);
    if (code) return code;
  }
  return MACHINE_OK;
}

uint32_t machine__tokens_givers(const machine_tokens* t, uint32_t waits) {
  uint32_t givers = 0;
  for (int k = 0; k < t->count; ++k)
    if (waits >> k & 1) givers |= has_semaphores(t) ? t->chip->semaphores[k].givers : 1u << k;
  return givers;
}

int machine__tokens_end(pb_device* device) {
  const machine_tokens* t = device->tokens;
  for (size_t n = 0; n < t->all; ++n) {
    unsigned long long left = t->counters[n].produced - t->counters[n].consumed;
    int from = (int)n / t->own; // of pairs
    if (!left) continue;
    if (has_semaphores(t))
      return machine__fault(device, MACHINE_TOKENS, "semaphore %s is at %llu at the end",
                            device->chip->semaphores[n % (size_t)t->count].name, left);
    return machine__fault(device, MACHINE_TOKENS, "%llu tokens from queue %s to queue %s are left at the end", left,
                          pb_chip_queue_name(device->chip, from),
                          pb_chip_queue_name(device->chip, from / t->own * t->own + (int)n % t->own));
  }
  return MACHINE_OK;
}
