// Tokens of a chip with semaphores, which several queues may give and several may take. A count says how many have been
// given, not by whom. So each wait has its own commands that signal for it, one of each queue that it must follow, and
// takes as many as these; and what is there then must be theirs. That holds if a signal for a later wait is given
// behind every signal for an earlier one, or behind that earlier wait itself: by the order of a queue, or by what its
// queue has waited for (the clocks of tokens.c). Where several queues take one semaphore, it is the wait that it must
// be behind, and the later wait too, by other semaphores: one could take what the other waits for.
//
// Where no semaphore can be given so by the command that is needed, a later one of its queue may, or one that does
// nothing, put there behind the waits in question; or an earlier wait of the same queue waits for the command too.
//
// Nothing blocks in a circle: in the program's order every wait finds what it takes, and no semaphore overflows. The
// first command in that order which has not completed always can: signals for later waits are not there before its own.
#include "targets/control/queues/tokens.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { PENDING = 16, DEEP = 2 * PB_CORE_QUEUES, CHANGES = 4 * PB_CORE_QUEUES };

// A wait, and what signals for it.
typedef struct meeting {
  int32_t taker;
  int32_t givers[PB_CORE_QUEUES]; // by queue: the command, -1: none
  int count;
  uint8_t queue; // the taker's
  // What is not known any more of an earlier meeting was told by a giver of this one: another giver would not tell it.
  bool closed;
} meeting;

// The last meetings, in order. One that is gone, every later signal is behind.
typedef struct semaphore {
  meeting pending[PENDING];
  int count;
} semaphore;

// What a command said of tokens before it was changed.
typedef struct change {
  int32_t command;
  uint16_t waits, signals;
  uint64_t taken;
} change;

struct pb_semaphores {
  semaphore of[PB_MAX_SEMAPHORES];
  semaphore before[PB_MAX_SEMAPHORES]; // the command at hand
  change changes[CHANGES];             // since then, of others
  int change_count;
  int depth;     // of commands that do nothing, each for the sake of another
  int preferred; // -1: none
  bool careful;  // no semaphore where one that is more surely given would do
};

// Who would signal a semaphore for a new wait.
typedef struct offer {
  int semaphore; // -1: none can
  int32_t givers[PB_CORE_QUEUES];
  int covered, late; // queues; commands that they are behind what is needed, in all
  int busy;          // meetings that may not be over
} offer;

pb_semaphores* pb__semaphores_start(void) {
  pb_semaphores* s = calloc(1, sizeof *s);
  if (!s) pb_no_memory(sizeof *s);
  s->preferred = -1;
  return s;
}

void pb_tokens_prefer(pb_tokens* t, int semaphore) { t->semaphores->preferred = semaphore; }

void pb__semaphores_free(pb_semaphores* semaphores) { free(semaphores); }

// Whether command `late` signals, or is through, only when `early` has signalled, or has begun to wait.
static bool follows(const pb_tokens* t, int32_t early, int32_t late) {
  const noted *e = &t->commands[early], *l = &t->commands[late];
  if (e->queue == l->queue) return e->position <= l->position;
  return t->clock[(size_t)late * (size_t)t->chip->queue_count + e->queue] > e->position;
}

// Whether command x can signal for a wait of `queue` behind the meeting.
static bool is_behind(const pb_tokens* t, const meeting* m, int32_t x, int queue) {
  bool over = follows(t, m->taker, x);
  if (m->queue != queue) return over && t->known[queue][m->queue] > t->commands[m->taker].position;
  for (int g = 0; g < t->chip->queue_count; ++g)
    if (m->givers[g] >= 0 && !over && !follows(t, m->givers[g], x)) return false;
  return true;
}

// The first of `count` meetings that x cannot signal behind; -1: none.
static int in_the_way(const pb_tokens* t, const semaphore* s, int count, int32_t x, int queue) {
  for (int k = 0; k < count; ++k)
    if (!is_behind(t, &s->pending[k], x, queue)) return k;
  return -1;
}

static bool are_several(uint32_t queues) { return queues & (queues - 1); }

// Where a command signals one semaphore after the other, or waits for them so: those that it may not besides this one.
// Who knows of one that several give would take another one for given; of waits, which of two that several take comes
// first would have to be known.
static uint32_t in_turn(const pb_tokens* t, int semaphore_index, bool waits) {
  const pb_semaphore* all = t->chip->semaphores;
  uint32_t several = 0;
  for (int k = 0; k < t->chip->semaphore_count; ++k)
    if (are_several(waits ? all[k].takers : all[k].givers)) several |= 1u << k;
  return t->chip->wait_field && several >> semaphore_index & 1 ? several : 0;
}

// The first command of queue p, from what is needed on, that can signal for a wait of `queue`; -1: none.
static int32_t giver_of(const pb_tokens* t, int semaphore_index, int meetings, int p, int queue) {
  const semaphore* s = &t->semaphores->of[semaphore_index];
  for (size_t position = (size_t)t->need[p] - 1; position < t->counts[p];) {
    int32_t x = t->at[p][position];
    if (t->commands[x].signals & (1u << semaphore_index | in_turn(t, semaphore_index, false))) {
      ++position;
      continue;
    }
    int k = in_the_way(t, s, meetings, x, queue);
    if (k < 0) return x;
    const meeting* m = &s->pending[k];
    int32_t done = t->commands[m->taker].position + 1;
    if (m->queue != queue && t->known[queue][m->queue] < done) return -1;
    size_t next = m->queue == p ? (size_t)done - 1 : (size_t)pb__first_behind(t, p, m->queue, done) - 1;
    if (next == SIZE_MAX) return -1;
    position = next > position ? next : position + 1;
  }
  return -1;
}

static int least(int a, int b) { return a < b ? a : b; }

static int most_of(const pb_tokens* t, int semaphore_index) {
  return least(t->chip->semaphores[semaphore_index].most, (1 << t->chip->semaphore_wait_bits) - 1);
}

// Whether `count` more have room from command x on, in the order of the program.
static bool has_room(const pb_tokens* t, int semaphore_index, int32_t x, int count) {
  const semaphore* s = &t->semaphores->of[semaphore_index];
  for (int k = 0; k < s->count; ++k)
    if (s->pending[k].taker > x) count += s->pending[k].count;
  return count <= t->chip->semaphores[semaphore_index].most;
}

// A meeting that need not be known any more: a signal for a later one is behind its wait in the program's order, and so
// is every signal from then on. The later one; 0: there is none.
static int forgotten_by(const semaphore* s) {
  for (int k = 1; k < s->count; ++k)
    for (int g = 0; g < PB_CORE_QUEUES; ++g)
      if (s->pending[k].givers[g] > s->pending[0].taker) return k;
  return 0;
}

static bool is_needed(const pb_tokens* t, int p, int queue) {
  return !(p == queue && t->chip->queues[p].in_order) && t->need[p] > t->known[queue][p];
}

// Whether one queue gives it and one takes it: then it can be given whenever it has room.
static bool is_plain(const pb_semaphore* s) { return !are_several(s->givers) && !are_several(s->takers); }

// Whether the semaphore may lead from queue p to the queue. With care, of what would do only what surely does.
static bool joins(const pb_tokens* t, int semaphore_index, int p, int queue) {
  const pb_semaphore* s = &t->chip->semaphores[semaphore_index];
  if (!(s->givers >> p & 1) || !(s->takers >> queue & 1)) return false;
  if (!t->semaphores->careful || is_plain(s)) return true;
  return !are_several(s->takers) && !(t->chip->queues[p].alone >> queue & 1);
}

// What the semaphore offers for a new wait of the queue.
static offer offer_of(const pb_tokens* t, int semaphore_index, int queue, bool late) {
  offer o = {.semaphore = -1};
  const semaphore* s = &t->semaphores->of[semaphore_index];
  int32_t first = INT32_MAX;
  if (s->count == PENDING && !forgotten_by(s)) return o;
  for (int p = 0; p < t->chip->queue_count; ++p) {
    o.givers[p] = -1;
    if (!joins(t, semaphore_index, p, queue) || !is_needed(t, p, queue)) continue;
    int32_t x = giver_of(t, semaphore_index, s->count, p, queue);
    int behind = x < 0 ? -1 : t->commands[x].position + 1 - t->need[p];
    if (behind < 0 || (behind && !late) || !has_room(t, semaphore_index, x < first ? x : first, o.covered + 1))
      continue;
    o.givers[p] = x;
    o.late += behind;
    if (x < first) first = x;
    ++o.covered;
  }
  for (int k = 0; k < s->count; ++k) o.busy += first < s->pending[k].taker;
  if (o.covered && o.covered <= most_of(t, semaphore_index)) o.semaphore = semaphore_index;
  return o;
}

static int queues_of(const pb_semaphore* s) {
  int count = 0;
  for (uint32_t set = s->givers; set; set &= set - 1) ++count;
  for (uint32_t set = s->takers; set; set &= set - 1) ++count;
  return count;
}

static bool is_better(const pb_tokens* t, const offer* a, const offer* b) {
  if (b->semaphore < 0) return true;
  int preferred = t->semaphores->preferred;
  if ((a->semaphore == preferred) != (b->semaphore == preferred)) return a->semaphore == preferred;
  if (a->covered != b->covered) return a->covered > b->covered;
  if (a->late != b->late) return a->late < b->late;
  if (a->busy != b->busy) return a->busy < b->busy;
  return queues_of(&t->chip->semaphores[a->semaphore]) < queues_of(&t->chip->semaphores[b->semaphore]);
}

static offer best_offer(const pb_tokens* t, int queue, uint32_t waited, bool late) {
  offer best = {.semaphore = -1};
  for (int k = 0; k < t->chip->semaphore_count; ++k) {
    if (waited & (1u << k | in_turn(t, k, true))) continue; // a command waits for a semaphore once
    offer o = offer_of(t, k, queue, late);
    if (o.semaphore >= 0 && is_better(t, &o, &best)) best = o;
  }
  return best;
}

static void note(pb_tokens* t, int32_t command) {
  const noted* n = &t->commands[command];
  pb_semaphores* s = t->semaphores;
  assert(s->change_count < CHANGES); // three for each queue at most
  s->changes[s->change_count++] = (change){command, n->waits, n->signals, t->taken[command]};
}

static void meet(pb_tokens* t, const offer* o, int queue, int32_t id) {
  semaphore* s = &t->semaphores->of[o->semaphore];
  meeting m = {.taker = id, .queue = (uint8_t)queue};
  if (s->count == PENDING) {
    s->pending[forgotten_by(s)].closed = true;
    memmove(s->pending, s->pending + 1, sizeof *s->pending * (PENDING - 1));
    --s->count;
  }
  memset(m.givers, 0xff, sizeof m.givers);
  for (int p = 0; p < t->chip->queue_count; ++p) {
    if (o->givers[p] < 0 || !is_needed(t, p, queue)) continue; // one of before may have told what it would
    m.givers[p] = o->givers[p];
    ++m.count;
    note(t, m.givers[p]);
    t->commands[m.givers[p]].signals |= (uint16_t)(1u << o->semaphore);
    pb__learn(t, queue, m.givers[p]);
  }
  t->commands[id].waits |= (uint16_t)(1u << o->semaphore);
  t->taken[id] |= (uint64_t)m.count << 4 * o->semaphore;
  s->pending[s->count++] = m;
}

// The command of queue p that the last wait for the semaphore, which is of this queue, could follow too; -1: none.
static int32_t joiner_of(const pb_tokens* t, int semaphore_index, int p, int queue) {
  const semaphore* s = &t->semaphores->of[semaphore_index];
  if (!joins(t, semaphore_index, p, queue) || !s->count) return -1;
  const meeting* m = &s->pending[s->count - 1];
  int32_t now = m->givers[p], first = t->at[p][t->need[p] - 1];
  if (m->queue != queue || (now < 0 && m->closed)) return -1;
  if (now >= 0 && t->commands[now].position >= t->need[p] - 1) return now;
  int32_t x = giver_of(t, semaphore_index, s->count - 1, p, queue);
  if (x < 0 || x >= m->taker) return -1;
  if (now >= 0) return x;
  for (int g = 0; g < t->chip->queue_count; ++g)
    if (m->givers[g] >= 0 && m->givers[g] < first) first = m->givers[g];
  return m->count < most_of(t, semaphore_index) && has_room(t, semaphore_index, first, 1) ? x : -1;
}

static bool join(pb_tokens* t, int p, int queue) {
  for (int k = 0; k < t->chip->semaphore_count; ++k) {
    int32_t x = joiner_of(t, k, p, queue);
    if (x < 0) continue;
    semaphore* s = &t->semaphores->of[k];
    meeting* m = &s->pending[s->count - 1];
    note(t, m->taker);
    note(t, x);
    if (m->givers[p] >= 0) {
      note(t, m->givers[p]);
      t->commands[m->givers[p]].signals &= (uint16_t) ~(1u << k);
    } else {
      ++m->count;
      t->taken[m->taker] += (uint64_t)1 << 4 * k;
    }
    t->commands[x].signals |= (uint16_t)(1u << k);
    m->givers[p] = x;
    pb__learn(t, queue, x);
    return true;
  }
  return false;
}

static pb_status refuse(const pb_tokens* t, int p, int queue) {
  return pb_unsupported(t->diag, (pb_place){.file = t->chip->tokens_place.file, .line = t->chip->tokens_place.line},
                        4111, "a Semaphore that one of them alone gives and the other alone takes",
                        "%s: the semaphores do not suffice to put %s behind %s", t->nest ? t->nest : "a kernel",
                        t->chip->queues[queue].name, t->chip->queues[p].name);
}

bool pb__semaphores_lead(const pb_tokens* t, int p, int queue) {
  for (int k = 0; k < t->chip->semaphore_count; ++k) {
    if (!joins(t, k, p, queue)) continue;
    offer o = offer_of(t, k, queue, true);
    if ((o.semaphore >= 0 && o.givers[p] >= 0) || joiner_of(t, k, p, queue) >= 0) return true;
  }
  return false;
}

// Queue p behind all that the queue has begun, by commands that do nothing and semaphores that are no others': then it
// can give what the queue alone takes.
static pb_status put_behind(pb_tokens* t, int p, int queue) {
  int at = queue;
  int32_t done = (int32_t)t->counts[queue];
  pb_status status = PB_OK;
  if (!done) return refuse(t, p, queue);
  ++t->semaphores->depth;
  while (at != p && status == PB_OK && t->semaphores->depth < DEEP) {
    int way = pb_plain_way(t->chip, at, p);
    if (way < 0 || !pb_chip_idle_insn(t->chip, way)) break;
    if (way == p || !pb__first_behind(t, way, at, done)) status = pb__put_idle_behind(t, way, at, done);
    if (status == PB_OK) done = pb__first_behind(t, way, at, done);
    at = way;
  }
  --t->semaphores->depth;
  return status != PB_OK ? status : at == p ? PB_OK : refuse(t, p, queue);
}

// So that the queue can be put behind p: p behind the queue's waits, or both by way of other queues.
static pb_status put_giver(pb_tokens* t, int p, int queue) {
  const pb_queue* giver = &t->chip->queues[p];
  if (!(giver->gives >> queue & 1)) return p == queue ? refuse(t, p, queue) : pb__find_way(t, queue, p);
  return giver->alone >> queue & 1 ? PB_OK : put_behind(t, p, queue);
}

// Has the command wait for all that it needs. The queue that it could not be put behind; -1: there is none.
static int try_order(pb_tokens* t, int queue, int32_t id) {
  for (int p = 0; p < t->chip->queue_count;) {
    if (!is_needed(t, p, queue)) {
      ++p;
      continue;
    }
    offer o = best_offer(t, queue, t->commands[id].waits, false);
    if (o.semaphore < 0) o = best_offer(t, queue, t->commands[id].waits, true);
    if (o.semaphore >= 0)
      meet(t, &o, queue, id);
    else if (!join(t, p, queue))
      return p;
  }
  return -1;
}

// A queue that the command cannot be put behind, though others may stand in the way of each other; -1: there is none.
static int without_way(const pb_tokens* t, int queue) {
  for (int p = 0; p < t->chip->queue_count; ++p)
    if (is_needed(t, p, queue) && !pb__semaphores_lead(t, p, queue)) return p;
  return -1;
}

static void undo(pb_tokens* t, int queue, const int32_t* known) {
  pb_semaphores* s = t->semaphores;
  memcpy(s->of, s->before, sizeof *s->of * (size_t)t->chip->semaphore_count);
  memcpy(t->known[queue], known, sizeof t->known[queue]);
  while (s->change_count) {
    const change* c = &s->changes[--s->change_count];
    t->commands[c->command].waits = c->waits;
    t->commands[c->command].signals = c->signals;
    t->taken[c->command] = c->taken;
  }
  --t->count;
  --t->taken_count;
}

// Each command that is needed had a way by itself, but two are in each other's: then the last of their queues, which
// are behind all that was, by semaphores that have no other use.
static pb_status put_givers(pb_tokens* t, int queue) {
  for (int p = 0; p < t->chip->queue_count; ++p) {
    if (!is_needed(t, p, queue)) continue;
    PB_TRY(put_giver(t, p, queue));
    if (t->need[p] && !(t->chip->queues[p].alone >> queue & 1)) t->need[p] = (int32_t)t->counts[p];
  }
  return PB_OK;
}

// The queue that a new command could not be put behind, which then is not added; -1: there is none.
static int add(pb_tokens* t, int queue) {
  int32_t known[PB_CORE_QUEUES];
  pb_semaphores* s = t->semaphores;
  int p = without_way(t, queue);
  if (p >= 0) return p;
  noted new = {.position = (int32_t)t->counts[queue], .queue = (uint8_t)queue};
  PB_PUSH(t->commands, t->count, t->capacity, new);
  PB_PUSH(t->taken, t->taken_count, t->taken_capacity, 0);
  memcpy(s->before, s->of, sizeof *s->of * (size_t)t->chip->semaphore_count);
  memcpy(known, t->known[queue], sizeof known);
  s->change_count = 0;
  p = try_order(t, queue, (int32_t)t->count - 1);
  if (p >= 0) undo(t, queue, known);
  return p;
}

pb_status pb__semaphores_add(pb_tokens* t, int queue) {
  bool careful = t->semaphores->careful; // of a command for whose sake this one is put
  pb_status status = PB_OK;
  for (int tries = 0; status == PB_OK; ++tries) {
    t->semaphores->careful = tries > 1;
    int p = add(t, queue);
    t->semaphores->careful = false;
    if (p < 0) break;
    if (tries == DEEP)
      status = refuse(t, p, queue);
    else
      status = tries == 0 ? put_giver(t, p, queue) : put_givers(t, queue);
  }
  t->semaphores->careful = careful;
  return status;
}
