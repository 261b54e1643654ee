// One list of commands, with fences: in which order commands stand in it, and where it waits. A fence is a coarse
// thing. It waits for all that its queues were handed so far, and holds up all that stands behind it, so a list in the
// program's order with fences where they are needed would run load, compute and store one after the other: the load of
// the next tile stands behind the products of this one, and waits for them as soon as it needs anything of that queue.
//
// List scheduling (as in Graham, "Bounds on Multiprocessing Timing Anomalies", 1969): the queues are run on paper. The
// next command is the first of a queue that could start soonest, by itself or behind a fence; of several the first of
// the program. If it needs a fence, those that stand at the front of other queues and would not make that wait any
// longer are let in by the same one, so that the queues go on together. And where a queue has more to do, but what
// another waits for has been handed to it already, a fence comes first if the other gains more by it than the queue
// loses: it stands still until all that it has begun is visible. Else products of two tiles would be handed on in one
// go, and the loads of two more behind them. And where the other has more to do in all, and waits for little but the
// latency of short commands, one of those less is in front of the fence.
#include "targets/control/queues/unroll.h"

#include <stdlib.h>

typedef struct scheduler {
  const pb_chip* chip;
  const pb_tokens* tokens;
  const pb_cost_of_command* costs;
  int32_t counts[PB_CORE_QUEUES];   // commands of each queue
  int32_t handed[PB_CORE_QUEUES];   // of these, in the list
  int32_t done[PB_CORE_QUEUES];     // of these, in front of a fence for the queue
  int64_t left[PB_CORE_QUEUES];     // cycles of those that are not in the list
  int64_t free_at[PB_CORE_QUEUES];  // on paper: the queue has nothing left to do
  int64_t there_at[PB_CORE_QUEUES]; // and what it wrote is visible
  pb_listed* list;
  size_t count, capacity;
} scheduler;

// The first command of a queue that is not in the list.
typedef struct front {
  size_t command;
  uint32_t fence; // queues that a fence must wait for first
  int64_t there;  // when they are done
  int64_t start;
  bool possible; // all that it needs is in the list
} front;

static front front_of(const scheduler* s, int q) {
  front f = {.possible = s->handed[q] < s->counts[q]};
  if (!f.possible) return f;
  f.command = pb_tokens_at(s->tokens, q, s->handed[q]);
  const int32_t* behind = pb_tokens_behind(s->tokens, f.command);
  for (int p = 0; p < s->chip->queue_count; ++p) {
    if ((p == q && s->chip->queues[q].in_order) || behind[p] <= s->done[p]) continue;
    f.possible &= behind[p] <= s->handed[p];
    f.fence |= 1u << p;
    if (s->there_at[p] > f.there) f.there = s->there_at[p];
  }
  f.start = f.there > s->free_at[q] ? f.there : s->free_at[q];
  return f;
}

static void hand(scheduler* s, int q, const front* f) {
  int64_t end = s->free_at[q] + s->costs[f->command].cycles, there = end + s->costs[f->command].latency;
  PB_PUSH(s->list, s->count, s->capacity, ((pb_listed){.command = f->command}));
  ++s->handed[q];
  s->left[q] -= s->costs[f->command].cycles;
  s->free_at[q] = end;
  if (there > s->there_at[q]) s->there_at[q] = there;
}

static void fence(scheduler* s, uint32_t queues) {
  int64_t now = 0;
  if (s->chip->fence_wait < 0) queues = (1u << s->chip->queue_count) - 1;
  PB_PUSH(s->list, s->count, s->capacity, ((pb_listed){.queues = queues}));
  for (int q = 0; q < s->chip->queue_count; ++q) {
    if (!(queues >> q & 1)) continue;
    s->done[q] = s->handed[q];
    if (s->there_at[q] > now) now = s->there_at[q];
  }
  now += s->chip->fence_cycles;
  for (int q = 0; q < s->chip->queue_count; ++q)
    if (s->free_at[q] < now) s->free_at[q] = now;
}

// Cycles of what the queue could go on with when these queues had been waited for; no more than `enough` are counted.
static int64_t work_ahead(const scheduler* s, int q, uint32_t fenced, int64_t enough) {
  int64_t work = 0;
  for (int32_t at = s->handed[q]; at < s->counts[q] && work < enough; ++at) {
    size_t command = pb_tokens_at(s->tokens, q, at);
    const int32_t* behind = pb_tokens_behind(s->tokens, command);
    for (int p = 0; p < s->chip->queue_count; ++p)
      if ((p != q || !s->chip->queues[q].in_order) && behind[p] > (fenced >> p & 1 ? s->handed[p] : s->done[p]))
        return work;
    work += s->costs[command].cycles;
  }
  return work;
}

// Whether queue p, which has more to do in all, is held up less by a fence for queue q now than by one behind q's next
// command, and by more than q then stands still.
static bool saves(const scheduler* s, int q, const front* next, int p, const front* waiting) {
  if (s->left[p] <= s->left[q]) return false;
  const pb_cost_of_command* cost = &s->costs[next->command];
  int64_t behind = s->free_at[q] + cost->cycles + cost->latency;
  if (behind < s->there_at[q]) behind = s->there_at[q];
  int64_t now = waiting->there > s->free_at[p] ? waiting->there : s->free_at[p];
  int64_t later = behind > s->free_at[p] ? behind : s->free_at[p];
  int64_t lost = waiting->there + s->chip->fence_cycles - s->free_at[q];
  return later - now > lost;
}

// Whether it is better to wait for queue q now, so that the front of queue p can start, than to hand q its next
// command.
static bool pays(const scheduler* s, int q, const front* next, int p, const front* waiting) {
  if (!waiting->possible || !(waiting->fence >> q & 1)) return false;
  if (saves(s, q, next, p, waiting)) return true;
  int64_t cycles = s->costs[next->command].cycles, lost = waiting->there + s->chip->fence_cycles - s->free_at[q];
  int64_t idle = s->free_at[p] - waiting->there; // until then p has something to do
  if (idle < 0) idle = 0;
  if (idle >= cycles) return false; // there is time for one command more
  return work_ahead(s, q, 0, lost + idle + 1) - idle > lost && work_ahead(s, p, waiting->fence, lost + 1) > lost;
}

// A fence for these queues, and for what others wait for if that is done by then.
static void fence_together(scheduler* s, const front* fronts, uint32_t queues, int64_t there) {
  for (int q = 0; q < s->chip->queue_count; ++q)
    if (fronts[q].possible && fronts[q].there <= there) queues |= fronts[q].fence;
  fence(s, queues);
}

// One command more, or a fence. false: all are in the list.
static bool step(scheduler* s) {
  front fronts[PB_CORE_QUEUES];
  int best = -1;
  for (int q = 0; q < s->chip->queue_count; ++q) {
    fronts[q] = front_of(s, q);
    if (!fronts[q].possible) continue;
    bool sooner = best < 0 || fronts[q].start < fronts[best].start;
    if (sooner || (fronts[q].start == fronts[best].start && fronts[q].command < fronts[best].command)) best = q;
  }
  if (best < 0) return false; // the first command of the program that is not in the list needs nothing that is not
  if (fronts[best].fence) {
    fence_together(s, fronts, fronts[best].fence, fronts[best].start);
    return true;
  }
  for (int p = 0; p < s->chip->queue_count; ++p)
    if (pays(s, best, &fronts[best], p, &fronts[p])) {
      fence_together(s, fronts, fronts[p].fence, fronts[p].there);
      return true;
    }
  hand(s, best, &fronts[best]);
  return true;
}

pb_listed* pb_fences_put(const pb_chip* chip, const pb_tokens* tokens, const pb_cost_of_command* costs, size_t* count) {
  scheduler s = {.chip = chip, .tokens = tokens, .costs = costs};
  for (size_t k = 0; k < pb_tokens_count(tokens); ++k) {
    int q = pb_tokens_of(tokens, k).queue;
    ++s.counts[q];
    s.left[q] += costs[k].cycles;
  }
  while (step(&s)) {}
  *count = s.count;
  return s.list;
}
