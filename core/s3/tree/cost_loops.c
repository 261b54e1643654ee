// What holds the queues of a loop up: buffers whose copies others have not left yet, or have not filled.
#include "core/s3/tree/cost_loops.h"

int64_t pb__cost_held(const part* p, int buffer) {
  int64_t together = p->early[buffer] < p->sweep[buffer] ? p->early[buffer] : p->sweep[buffer];
  return p->to[buffer] - p->from[buffer] - together;
}

// Cycles from one iteration to the next that the buffer's copies allow. What is brought from outside into one copy, and
// read no sooner than later on in the iteration, may come later; all that its queue brings for the next iteration comes
// behind it.
static int64_t pace_of_copies(const part* p, int buffer, int64_t depth) {
  int64_t idle = p->taken[buffer] - p->whole[buffer], taken = pb__cost_held(p, buffer);
  bool brought = p->read_by[buffer] && p->after[buffer] == p->filled_by[buffer];
  if (depth > 1 || !brought || idle <= 0) return taken / larger(depth, 1);
  int queue = __builtin_ctz(p->filled_by[buffer]);
  return larger(taken - idle, (taken + p->queue_free[queue] - p->first[queue]) / 2);
}

int64_t pb__cost_ahead(const pb_tiling* t, const pb_tree* loop) {
  int64_t most = 0;
  for (const pb_tree* node = loop->first; node; node = node->next)
    if (node->kind == PB_TREE_ALLOC) most = larger(most, t->buffers[node->buffer].depth);
  return most;
}

// Cycles from one iteration to the next at which a queue goes through a loop that nobody holds up: its own, or those of
// what it waits for at the beginning.
static int64_t pace_of(const pb_tiling* t, const part* one, int queue) {
  int64_t pace = one->queue[queue];
  for (int q = 0; q < issuers(t); ++q)
    if (one->used[q] && one->first[q] < one->first[queue]) pace = larger(pace, one->queue[q]);
  return pace;
}

// Cycles that a queue is in a loop at least, since what it reads there comes no faster: when it begins, as many
// iterations of that wait for it as the buffer has copies; each further one is begun when a copy is free again.
static int64_t fed_time(const pb_tiling* t, const pb_tree* loop, const part* one, int queue, int b) {
  int64_t waited = loop->extent - t->buffers[b].depth, pace = 0;
  for (int q = 0; q < issuers(t); ++q)
    if (one->filled_by[b] >> q & 1) pace = larger(pace, pace_of(t, one, q));
  return waited > 0 ? (waited - 1) * pace + one->to[b] - one->from[b] + one->queue[queue] : 0;
}

// The same of what it fills and others take: it fills each copy once without waiting, then as they become free. What
// comes behind the loop waits too, as a queue goes in order.
static int64_t freed_time(const pb_tiling* t, const pb_tree* loop, const part* one, int queue, int b) {
  int64_t depth = t->buffers[b].depth, waited = loop->extent - depth;
  return waited > 0 ? depth * one->queue[queue] + waited * pace_of_copies(one, b, depth) : 0;
}

// Whether what the queue has done so far came after work of the other one.
static bool comes_after(const pb_tiling* t, const part* p, int queue, int other) {
  uint32_t behind = p->follows[queue], all = 0;
  while (behind != all) {
    all = behind;
    for (int q = 0; q < issuers(t); ++q)
      if (all >> q & 1) behind |= p->follows[q];
  }
  return all >> other & 1;
}

int64_t pb__cost_filled(const pb_tiling* t, const pb_tree* loop, const part* one, int queue) {
  int64_t most = 0;
  for (const pb_tree* node = loop->first; node; node = node->next) {
    int b = node->buffer;
    if (node->kind != PB_TREE_ALLOC || !(one->filled_by[b] >> queue & 1) || one->read_by[b] >> queue & 1) continue;
    int64_t depth = t->buffers[b].depth, waited = loop->extent - depth;
    if (waited > 0 && one->read_by[b])
      most = larger(most, one->to[b] + (waited - 1) * pace_of_copies(one, b, depth) + one->queue[queue]);
  }
  return most;
}

int64_t pb__cost_held_up(const pb_tiling* t, const part* one, const part* sum, int queue, int64_t own, int64_t filled) {
  int64_t start = own;
  for (int q = 0; q < issuers(t); ++q)
    if (q != queue && one->used[q] && comes_after(t, sum, q, queue))
      start = larger(start, sum->queue_free[q] - one->first[q]);
  return start && filled ? start + filled - sum->queue_free[queue] : 0;
}

int64_t pb__cost_in_loop(const pb_tiling* t, const pb_tree* loop, const part* one, int queue) {
  int64_t most = 0;
  for (const pb_tree* node = loop->first; node; node = node->next) {
    int b = node->buffer;
    if (node->kind != PB_TREE_ALLOC) continue;
    bool fills = one->filled_by[b] >> queue & 1, reads = one->read_by[b] >> queue & 1;
    if (reads && !fills) most = larger(most, fed_time(t, loop, one, queue, b));
    if (fills && !reads && one->read_by[b]) most = larger(most, freed_time(t, loop, one, queue, b));
  }
  return most;
}

int64_t pb__cost_chain(const pb_tiling* t, const pb_tree* loop, part* one) {
  int64_t chain = one->chain;
  for (const pb_tree* node = loop->first; node; node = node->next) {
    if (node->kind != PB_TREE_ALLOC) continue;
    int b = node->buffer;
    chain = larger(chain, pace_of_copies(one, b, t->buffers[b].depth));
    one->to[b] = 0; // nobody outside sees it
  }
  for (int b = 0; b < t->buffer_count; ++b) // what the next iteration begins with: of this loop, not of one inside
    if (t->buffers[b].ahead && t->buffers[b].level == loop->level && one->to[b])
      chain = larger(chain, one->whole[b] - one->from[b]);
  return chain;
}
