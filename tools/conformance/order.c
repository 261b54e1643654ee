// Tokens: which command of one queue waits for which of another, from what they touch in program order. In one list a
// command waits for all of another queue that stands before it, by a fence: then it is enough to know what no fence
// stands behind yet.
#include "suite.h"

#include "targets/control/queues/unroll.h"

#include <stdlib.h>
#include <string.h>

typedef struct token {
  size_t from, to; // commands of the program
} token;

typedef struct channel {
  token* tokens;
  size_t count, capacity;
} channel;

static bool conflict(const touched* a, const touched* b) {
  for (int x = 0; x < a->count; ++x)
    for (int y = 0; y < b->count; ++y)
      if (a->of[x].space == b->of[y].space && (a->of[x].written || b->of[y].written) &&
          a->of[x].first < b->of[y].last && b->of[y].first < a->of[x].last)
        return true;
  return false;
}

// The last command of a queue that conflicts with what is touched, from command `least` on. `above` is one more than
// the number of the queue's command to begin with, 0: none. SIZE_MAX: no command does.
static size_t last_conflict(const program* p, size_t above, const touched* t, size_t least) {
  for (; above > least; above = p->touches[above - 1].before)
    if (conflict(t, &p->touches[above - 1])) return above - 1;
  return SIZE_MAX;
}

// Whether the counter has room for one more token that is there from command `from` until `to`. Then the program runs
// through in its own order, and so in every other that the tokens allow.
static bool has_room(const channel* c, size_t from, size_t to, int limit) {
  for (size_t t = from; t < to; ++t) {
    int there = 1;
    for (size_t k = 0; k < c->count; ++k) there += c->tokens[k].from <= t && c->tokens[k].to > t;
    if (there > limit) return false;
  }
  return true;
}

// The last command of queue q before `n`.
static size_t last_of(const program* p, int q, size_t n) {
  size_t m = n;
  while (m > 0 && p->commands[m - 1].insn->queue != q) --m;
  return m - 1;
}

// What a command waits for is what a fence in front of it does. The first of the commands that no fence has waited for
// yet is `open`, by queue.
static void order_list(const suite* s, program* p) {
  size_t open[PB_CORE_QUEUES] = {0}, above[PB_CORE_QUEUES] = {0};
  for (size_t n = 0; n < p->count; ++n) {
    int q = p->commands[n].insn->queue;
    p->commands[n].waits = p->commands[n].signals = 0;
    for (int r = 0; r < s->chip->queue_count; ++r)
      if ((r != q || !s->chip->queues[q].in_order) && last_conflict(p, above[r], &p->touches[n], open[r]) != SIZE_MAX)
        p->commands[n].waits |= 1u << r;
    above[q] = n + 1;
    for (int r = 0; r < s->chip->queue_count; ++r)
      if (pb_fence(s->chip, p->commands[n].waits).waits >> r & 1 && p->commands[n].waits) open[r] = n;
  }
}

static void push(program* p, const pb_command* command, const touched* t) {
  touched own = *t;
  own.before = p->last[command->insn->queue];
  PB_PUSH(p->commands, p->count, p->capacity, *command);
  PB_PUSH(p->touches, p->touch_count, p->touch_capacity, own);
  p->last[command->insn->queue] = p->count;
}

// A program with what does nothing put in between.
typedef struct ordered {
  program made;
  int32_t counts[PB_CORE_QUEUES]; // commands of each queue
} ordered;

static pb_status take_idle(void* user, const pb_unrolled* command) {
  ordered* o = user;
  push(&o->made, &command->command, &(touched){0});
  ++o->counts[command->command.insn->queue];
  return PB_OK;
}

// Which commands of each queue command n must be behind; or, of the semaphore in hand, all that give it. `above` is as
// last_conflict has it, by queue.
static void find_needs(const suite* s, const program* p, size_t n, const size_t* above, const int32_t* positions,
                       const ordered* o, int32_t* need) {
  int q = p->commands[n].insn->queue;
  bool all = p->semaphore >= 0 && q == p->taker && n >= p->body && n < p->tail;
  for (int r = 0; r < s->chip->queue_count; ++r) {
    if (r == q && s->chip->queues[q].in_order) continue;
    size_t m = last_conflict(p, above[r], &p->touches[n], 0);
    if (m != SIZE_MAX) need[r] = positions[m];
  }
  for (int r = 0; r < s->chip->queue_count && all; ++r)
    if (r != q && s->chip->semaphores[p->semaphore].givers >> r & 1) need[r] = o->counts[r];
}

// By semaphores, as the compiler gives them: whether they do for the data the machine finds out, and the results.
static void order_by_semaphores(const suite* s, program* p) {
  ordered o = {.made = *p};
  size_t above[PB_CORE_QUEUES] = {0};
  int32_t* positions = malloc(p->count * sizeof *positions + 1);
  pb_tokens* tokens = pb_tokens_start(s->chip, NULL, (pb_taker){take_idle, &o});
  if (!positions) abort(); // out of memory: without an order no program may be judged
  o.made.commands = NULL, o.made.touches = NULL;
  o.made.count = o.made.capacity = o.made.touch_count = o.made.touch_capacity = 0;
  memset(o.made.last, 0, sizeof o.made.last);
  pb_tokens_prefer(tokens, p->semaphore);
  for (size_t n = 0; n < p->count; ++n) {
    int32_t need[PB_CORE_QUEUES] = {0};
    pb_unrolled c = {.command = p->commands[n], .call = -1};
    if (n == p->body) o.made.body = o.made.count;
    if (n == p->tail) o.made.tail = o.made.count;
    find_needs(s, p, n, above, positions, &o, need);
    if (pb_tokens_add_behind(tokens, &c, need) != PB_OK) abort(); // `check` sees that there is a way
    positions[n] = ++o.counts[c.command.insn->queue];
    above[c.command.insn->queue] = n + 1;
    push(&o.made, &p->commands[n], &p->touches[n]);
  }
  if (p->body == p->count) o.made.body = o.made.count;
  if (p->tail == p->count) o.made.tail = o.made.count;
  for (size_t k = 0; k < o.made.count; ++k) {
    pb_order order = pb_tokens_of(tokens, k);
    o.made.commands[k].waits = order.waits;
    o.made.commands[k].signals = order.signals;
    o.made.commands[k].counts = order.counts;
  }
  pb_tokens_free(tokens);
  free(positions);
  free(p->commands);
  free(p->touches);
  *p = o.made;
}

// Command n waits for command m of queue r by a token of its own; or, where the counter has no room for one, by that
// which the queue took last.
static void hand_token(const suite* s, program* p, channel* c, size_t m, size_t n) {
  int r = p->commands[m].insn->queue, q = p->commands[n].insn->queue;
  if (has_room(c, m, n, s->chip->queues[r].tokens)) {
    PB_PUSH(c->tokens, c->count, c->capacity, ((token){m, n}));
    p->commands[m].signals |= 1u << q;
    p->commands[n].waits |= 1u << r;
    return;
  }
  token* last = &c->tokens[c->count - 1]; // is taken behind m: so it may as well be given by m or later
  p->commands[last->from].signals &= ~(1u << q);
  last->from = last_of(p, r, last->to);
  p->commands[last->from].signals |= 1u << q;
}

// Tokens of a pair of queues are taken in the order in which they were given: a command that must follow command m of
// another queue follows it already, when one before it took a token of m's or a later one's.
static void order_by_tokens(const suite* s, program* p) {
  int queues = s->chip->queue_count;
  size_t above[PB_CORE_QUEUES] = {0};
  channel* channels = calloc((size_t)(queues * queues), sizeof *channels);
  if (!channels) abort(); // out of memory: without an order no program may be judged
  for (size_t n = 0; n < p->count; ++n) p->commands[n].waits = p->commands[n].signals = 0;
  for (size_t n = 0; n < p->count; ++n) {
    int q = p->commands[n].insn->queue;
    for (int r = 0; r < queues; ++r) {
      channel* c = &channels[r * queues + q];
      bool counted = s->chip->queues[r].gives >> q & 1; // what no counter orders, commands between do
      if (!counted || (r == q && s->chip->queues[q].in_order)) continue;
      size_t least = c->count ? c->tokens[c->count - 1].from + 1 : 0;
      size_t m = last_conflict(p, above[r], &p->touches[n], least);
      if (m != SIZE_MAX) hand_token(s, p, c, m, n);
    }
    above[q] = n + 1;
  }
  for (int k = 0; k < queues * queues; ++k) free(channels[k].tokens);
  free(channels);
}

void program_order(const suite* s, program* p) {
  if (s->chip->fence)
    order_list(s, p);
  else if (s->chip->semaphore_count)
    order_by_semaphores(s, p);
  else
    order_by_tokens(s, p);
}

// A command that does nothing, of each queue between r and q. As if it wrote all that the next one touches: then it is
// behind what that must be behind, and that is behind it.
static void push_between(const suite* s, program* p, int r, int q, const touched* t) {
  touched all = *t;
  for (int k = 0; k < all.count; ++k) all.of[k].written = true;
  for (int way = pb_token_way(s->chip, r, q); way >= 0 && way != q; way = pb_token_way(s->chip, way, q)) {
    pb_command idle = {.insn = pb_chip_idle_insn(s->chip, way)};
    for (int f = 0; f < idle.insn->field_count; ++f) idle.values[f] = pb_field_nearest(&idle.insn->fields[f], 0);
    push(p, &idle, &all);
  }
}

// What puts a command behind those of queues that it has no counter from.
static void push_ways(const suite* s, program* p, int q, const touched* t) {
  for (int r = 0; r < s->chip->queue_count; ++r) {
    if (r == q || s->chip->queues[r].gives >> q & 1 || s->chip->semaphore_count) continue;
    if (last_conflict(p, p->last[r], t, 0) != SIZE_MAX) push_between(s, p, r, q, t);
  }
}

bool program_only_orders(const suite* s, const pb_command* c) {
  return !c->insn->operand_count && c->insn == pb_chip_idle_insn(s->chip, c->insn->queue);
}

void program_push_touched(const suite* s, program* p, const pb_command* command, const touched* t) {
  push_ways(s, p, command->insn->queue, t);
  push(p, command, t);
}

void program_push(const suite* s, program* p, const pb_command* command, const judge_command* read) {
  touched t = {0};
  for (int o = 0; o < read->count; ++o) {
    const judge_window* w = &read->windows[o];
    if (w->space < 0 || w->empty) continue;
    t.of[t.count].space = w->space;
    t.of[t.count].written = w->writes;
    t.of[t.count].first = w->first;
    t.of[t.count++].last = w->last;
  }
  program_push_touched(s, p, command, &t);
}
