// What a loop takes: when its iterations begin, what holds its queues up (buffers whose copies others have not left
// yet, or have not filled), and how it ends.
#include "core/s3/tree/cost_loops.h"

enum { FENCED = 3 }; // copies for each iteration that a fence lets in

// The next of a loop's own buffers, from a node of its body on; NULL: there is none.
static const pb_tree* own_from(const pb_tree* node) {
  while (node && node->kind != PB_TREE_ALLOC) node = node->next;
  return node;
}

// How long a copy of the buffer is taken, for those that take the next one piece by piece in the same order.
static int64_t held(const buffer_part* b) { return b->to - b->from - (b->early < b->sweep ? b->early : b->sweep); }

// ---- from one iteration to the next ----

// Cycles from one iteration to the next that the buffer's copies allow. What is brought from outside into one copy, and
// read no sooner than later on in the iteration, may come later; all that its queue brings for the next iteration comes
// behind it.
static int64_t pace_of_copies(const part* one, const buffer_part* b, int64_t depth) {
  int64_t idle = b->taken - b->whole, taken = held(b);
  bool brought = b->read_by && b->after == b->filled_by;
  if (depth > 1 || !brought || idle <= 0) return taken / larger(depth, 1);
  const queue_part* queue = &one->queue[__builtin_ctz(b->filled_by)];
  return larger(taken - idle, (taken + queue->free_at - queue->first) / 2);
}

// Cycles from one iteration to the next at which a queue goes through a loop that nobody holds up: its own, or those of
// what it waits for at the beginning.
static int64_t pace_of(const pb_tiling* t, const part* one, int queue) {
  int64_t pace = one->queue[queue].cycles;
  for (int q = 0; q < t->issuers->count; ++q)
    if (one->queue[q].used && one->queue[q].first < one->queue[queue].first) pace = larger(pace, one->queue[q].cycles);
  return pace;
}

// Cycles that a queue is in a loop at least, since what it reads there comes no faster: when it begins, as many
// iterations of that wait for it as the buffer has copies; each further one is begun when a copy is free again.
static int64_t fed_time(const pb_tiling* t, const part* one, const buffer_part* b, int queue, int64_t waited) {
  int64_t pace = 0;
  for (int q = 0; q < t->issuers->count; ++q)
    if (b->filled_by >> q & 1) pace = larger(pace, pace_of(t, one, q));
  return (waited - 1) * pace + b->to - b->from + one->queue[queue].cycles;
}

// Cycles that a queue is in the loop at least (*least), for what it hands to others or takes from them. What it fills
// and others take: it fills each copy once without waiting, then as they become free; what comes behind the loop waits
// too, as a queue goes in order. *filled: when it has filled the last copies of that, from when the others begin it: a
// copy is free when the first of them has been taken. 0: there is a copy for each iteration.
static void time_in_loop(const pb_tiling* t, const pb_tree* loop, const part* one, int queue, int64_t* least,
                         int64_t* filled) {
  *least = *filled = 0;
  for (const pb_tree* own = own_from(loop->first); own; own = own_from(own->next)) {
    const buffer_part* b = &one->buffer[own->buffer];
    bool fills = b->filled_by >> queue & 1, reads = b->read_by >> queue & 1;
    int64_t depth = t->buffers[own->buffer].depth, waited = loop->extent - depth;
    if (waited <= 0 || fills == reads || !b->read_by) continue;
    if (reads) {
      *least = larger(*least, fed_time(t, one, b, queue, waited));
      continue;
    }
    int64_t pace = pace_of_copies(one, b, depth), cycles = one->queue[queue].cycles;
    *least = larger(*least, depth * cycles + waited * pace);
    *filled = larger(*filled, b->to + (waited - 1) * pace + cycles);
  }
}

// Whether what the queue has done so far came after work of the other one.
static bool comes_after(const pb_tiling* t, const part* p, int queue, int other) {
  uint32_t behind = p->queue[queue].follows, all = 0;
  while (behind != all) {
    all = behind;
    for (int q = 0; q < t->issuers->count; ++q)
      if (all >> q & 1) behind |= p->queue[q].follows;
  }
  return all >> other & 1;
}

// Cycles that a queue is in a loop whose other queues come to it late, and late for the queue's own former work:
// nothing of the next iteration outside can be under way meanwhile. `own`: when what it reads itself is there;
// `filled`: as above. `sum`: what was done before the loop.
static int64_t held_up(const pb_tiling* t, const part* one, const part* sum, int queue, int64_t own, int64_t filled) {
  int64_t start = own;
  for (int q = 0; q < t->issuers->count; ++q)
    if (q != queue && one->queue[q].used && comes_after(t, sum, q, queue))
      start = larger(start, sum->queue[q].free_at - one->queue[q].first);
  return start && filled ? start + filled - sum->queue[queue].free_at : 0;
}

// Cycles from one iteration of the loop to the next that the buffers allow: until their copies are free again. Nobody
// outside sees these: `one` forgets them. *ahead: how many iterations ahead of the rest a queue can be, as many as the
// buffers made in each iteration have copies.
static int64_t chain_of(const pb_tiling* t, const pb_tree* loop, part* one, int64_t* ahead) {
  int64_t chain = one->chain;
  *ahead = 0;
  for (const pb_tree* own = own_from(loop->first); own; own = own_from(own->next)) {
    buffer_part* b = &one->buffer[own->buffer];
    *ahead = larger(*ahead, t->buffers[own->buffer].depth);
    chain = larger(chain, pace_of_copies(one, b, t->buffers[own->buffer].depth));
    b->left = b->from + held(b);
    b->to = 0;
  }
  for (int b = 0; b < t->buffer_count; ++b) // what the next iteration begins with: of this loop, not of one inside
    if (t->buffers[b].ahead && t->buffers[b].level == loop->level && one->buffer[b].to)
      chain = larger(chain, one->buffer[b].whole - one->buffer[b].from);
  return chain;
}

// ---- words ----

// What the words of a loop's iterations cost less than those of the first one iteration after iteration: adds them to
// `sum`, and makes `one` one of the iterations that follow. They are alike only `period` apart, as buffers take their
// copies in turn.
static void add_words(const pb_tiling* t, int64_t iterations, int64_t period, part* one, part* sum) {
  int64_t saved = 0;
  for (int q = 0; q < t->issuers->count; ++q) {
    queue_part *of = &one->queue[q], *all = &sum->queue[q];
    int64_t words = pb__port_rolled(t->chip, of->commands * period, of->words * period, iterations / period);
    words += of->words * (iterations % period);
    all->rolled |= words < of->words * iterations;
    all->words += words;
    saved += of->words * iterations - words;
    if (iterations > 1) of->words = (words - of->words) / (iterations - 1);
  }
  saved = pb__port_shared(t, NULL, saved * pb__port_fetch(t->chip));
  sum->system += one->system * iterations - saved;
  if (iterations > 1) one->system -= saved / (iterations - 1);
}

// A loop's body stays where words that were fetched ahead would be: of those that follow it, and are not in a loop's
// body themselves, half of them at most are there when it ends. Commands that each take longer than a word to arrive
// hide the others.
static void wait_for_words(const pb_tiling* t, part* one) {
  for (int q = 0; q < t->issuers->queues; ++q) {
    queue_part* queue = &one->queue[q];
    int depth = t->issuers->of[q].depth;
    int64_t late = queue->words - depth / 2, arrival = pb__port_arrival(t->chip);
    if (queue->rolled && late > 0 && queue->busy < queue->commands * arrival) queue->cycles += late * arrival / depth;
  }
}

// Copies of what one queue hands to another in a loop, the fewest: a fence lets in what a third of them hold, as others
// are read and filled meanwhile. What units hold themselves is handed on one by one.
static int64_t fenced_together(const pb_tiling* t, const pb_tree* loop, const part* one) {
  int64_t least = 0;
  for (const pb_tree* own = own_from(loop->first); own; own = own_from(own->next)) {
    const buffer_part* b = &one->buffer[own->buffer];
    const pb_buffer* buffer = &t->buffers[own->buffer];
    if (!(b->read_by & ~b->filled_by)) continue;
    int64_t copies = pb_holds_tiles(&t->chip->memories[buffer->memory]) ? 0 : buffer->depth;
    if (!least || copies < least) least = larger(copies, 1);
  }
  return least;
}

// Where a list with fences orders queues, iterations that use several of them have one, behind which a queue begins
// anew: it stands still from its last command until what that wrote is visible.
static void wait_at_fences(const pb_tiling* t, const pb_tree* loop, part* one) {
  const pb_chip* chip = t->chip;
  int used = 0;
  for (int q = 0; q < t->issuers->queues; ++q) used += one->queue[q].used;
  if (!t->issuers->list || used < 2) return;
  int64_t* drained = PB_NEW_ARRAY(t->arena, int64_t, (size_t)t->issuers->count);
  for (int i = 0; i < chip->insn_count; ++i) {
    const pb_insn* insn = &chip->insns[i];
    int64_t latency = insn->latency;
    for (int o = 0; o < insn->operand_count; ++o)
      if (insn->operands[o].memory >= 0 && pb_is_outside(&chip->memories[insn->operands[o].memory]) &&
          insn->operands[o].read)
        latency += chip->memories[insn->operands[o].memory].latency;
    drained[insn->queue] = larger(drained[insn->queue], latency);
  }
  int64_t together = larger(fenced_together(t, loop, one), FENCED);
  for (int q = 0; q < t->issuers->queues; ++q) {
    if (one->queue[q].unfenced)
      one->queue[q].cycles += pb__cost_share(drained[q] + t->issuers->fence_cycles, FENCED, together, true);
    one->queue[q].unfenced = false;
  }
}

// ---- places ----

// When the copies of a loop's buffers are free for what lies at their places: its remainder goes on with the copy that
// has not been used for longest.
static void note_free(const pb_tiling* t, const pb_tree* loop, const part* one, int64_t last, int64_t period,
                      part* sum) {
  for (const pb_tree* own = own_from(loop->first); own; own = own_from(own->next)) {
    const pb_buffer* buffer = &t->buffers[own->buffer];
    int place = buffer->shares >= 0 ? buffer->shares : own->buffer;
    sum->buffer[place].free_at = last + one->buffer[own->buffer].left - (buffer->depth - 1) * period;
  }
}

static int64_t wait_for_places(const pb_tiling* t, const pb_tree* loop, const part* one, const part* sum) {
  int64_t start = 0;
  for (const pb_tree* own = own_from(loop->first); own && loop->iterations_before; own = own_from(own->next)) {
    int place = t->buffers[own->buffer].shares;
    if (place >= 0) start = larger(start, sum->buffer[place].free_at - one->buffer[own->buffer].from);
  }
  return start;
}

// ---- all iterations ----

// What a loop is to one of its issuers.
typedef struct in_loop {
  int64_t own;    // what comes after its own former work is there
  int64_t wait;   // for that
  int64_t least;  // that it is in the loop
  int64_t filled; // as time_in_loop says
} in_loop;

// All iterations of a loop on its queues and buffers: when they begin, from one to the next, from the first to the
// last.
typedef struct iterations {
  const pb_tiling* t;
  const pb_tree* loop;
  const part* one;
  int64_t start, period, further;
  int64_t behind; // to the first one that waits for a copy of a buffer
  in_loop* by;    // by issuer
} iterations;

// Whether each iteration takes its piece of the buffer.
static bool is_piecewise(const iterations* all, int b) { return all->one->buffer[b].walked >> all->loop->level & 1; }

// A loop begins when what it reads from outside is there, and its queues are free.
static void begin_loop(iterations* all, const part* sum) {
  const queue_part* queue = all->one->queue;
  for (int b = 0; b < all->t->buffer_count; ++b) {
    const buffer_part *inside = &all->one->buffer[b], *outside = &sum->buffer[b];
    if (!inside->to) continue;
    int64_t there = outside->ready - inside->from;
    bool piecewise = is_piecewise(all, b);
    // an iteration that walks all of the buffer ends no sooner than all of it is there
    if (!piecewise) there = larger(there, outside->whole - inside->to);
    all->start = larger(all->start, there);
    if (piecewise) there = larger(there, outside->whole - inside->from - all->further);
    for (int q = 0; q < all->t->issuers->count; ++q) // as in run_nest
      if (queue[q].commands && outside->after >> q & 1) all->by[q].own = larger(all->by[q].own, there);
  }
  for (int q = 0; q < all->t->issuers->count; ++q)
    if (queue[q].used) all->start = larger(all->start, sum->queue[q].free_at - queue[q].first);
}

// The last iteration takes the last piece of what was brought from outside in front of the loop no sooner than that is
// there, however fast the loop could go through the others.
static void wait_for_last_pieces(iterations* all, const part* sum) {
  for (int b = 0; b < all->t->buffer_count; ++b) {
    const buffer_part *inside = &all->one->buffer[b], *outside = &sum->buffer[b];
    bool brought = outside->filled_by && outside->after == outside->filled_by;
    if (brought && inside->to && is_piecewise(all, b))
      all->further = larger(all->further, outside->whole - inside->from - inside->sweep - all->start);
  }
}

static void add_queue(const iterations* all, int q, part* sum) {
  const queue_part* one = &all->one->queue[q];
  queue_part* queue = &sum->queue[q];
  // what waits for its queue's own former work keeps the queue from going on to the next iteration outside
  int64_t extent = all->loop->extent, busy = one->cycles * extent, late = larger(queue->free_at - all->start, 0);
  int64_t held = all->by[q].own ? one->free_at + all->further - late : 0; // late: at work that was counted
  if (one->commands) busy = larger(busy, all->by[q].least);
  queue->cycles += larger(busy, held) + all->by[q].wait;
  queue->busy += one->busy * extent;
  queue->commands += one->commands * extent;
  queue->unfenced |= one->unfenced;
  queue->follows |= one->follows;
  if (!one->commands) return;
  pb__part_starts(queue, all->start + one->first);
  // in order: what comes behind the loop waits until the last iteration's buffers were free
  queue->free_at = larger(queue->free_at, all->start + one->first) + one->cycles * extent;
  queue->free_at = larger(queue->free_at, all->start + all->behind + one->free_at);
  queue->paced = all->start + one->free_at + (extent - 1) * one->cycles;
}

// What a loop makes comes after what the queues outside brought for it. Notes in `sum` what it was made of.
static uint32_t brought_for(const iterations* all, const buffer_part* one, buffer_part* made, const part* sum) {
  uint32_t after = 0;
  for (int b = 0; b < all->t->buffer_count; ++b) {
    if (!(one->made_of[b / 64] >> (b % 64) & 1)) continue;
    if (!all->one->buffer[b].after) after |= sum->buffer[b].after;
    for (int w = 0; w < BUFFER_WORDS; ++w) made->made_of[w] |= sum->buffer[b].made_of[w];
  }
  for (int w = 0; w < BUFFER_WORDS; ++w) made->made_of[w] |= one->made_of[w];
  return after;
}

// What the loop takes from outside, or leaves there.
static void add_buffer(const iterations* all, int b, part* sum) {
  const buffer_part* one = &all->one->buffer[b];
  buffer_part* buffer = &sum->buffer[b];
  int64_t start = all->start, further = all->further;
  bool piecewise = is_piecewise(all, b);
  int64_t pieces = piecewise ? further : 0; // from the first one's to the last one's
  pb__part_use(buffer, start + one->from, start + one->to + further, one->walked, one->sweep + pieces,
               one->early + pieces);
  for (int q = 0; q < all->t->issuers->count; ++q)
    if (one->read_by >> q & 1) sum->queue[q].follows |= buffer->after | one->after;
  buffer->after |= one->after;
  buffer->filled_by |= one->filled_by;
  pb__part_taken(buffer, start + one->taken, one->read_by);
  if (!one->after) return; // it is read there, and was all there before
  buffer->brought |= one->brought | brought_for(all, one, buffer, sum);
  buffer->whole = larger(buffer->whole, start + one->to + further);
  if (piecewise) // enough to go on with: the first iteration's piece
    buffer->ready = larger(buffer->ready, start + one->to);
  else // what the last one brings first
    buffer->ready = one->ready ? start + further + one->ready : buffer->whole;
}

void pb__cost_loop(const pb_tiling* t, const pb_tree* loop, part* one, part* sum) {
  wait_for_words(t, one);
  wait_at_fences(t, loop, one);
  const char* unused;
  iterations all = {.t = t, .loop = loop, .one = one, .start = wait_for_places(t, loop, one, sum)};
  int64_t extent = loop->extent;
  all.by = PB_NEW_ARRAY(t->arena, in_loop, (size_t)t->issuers->count);
  for (int q = 0; q < t->issuers->count; ++q) time_in_loop(t, loop, one, q, &all.by[q].least, &all.by[q].filled);
  int64_t ahead, chain = chain_of(t, loop, one, &ahead);
  add_words(t, extent, larger(ahead, 1), one, sum);
  for (int k = 0; k < t->chip->constant_memory_count; ++k) sum->constants[k] += one->constants[k] * extent;
  sum->loaded += one->loaded * extent;
  sum->loaders |= one->loaders;
  sum->near += one->near * extent;
  sum->traffic += one->traffic;
  sum->waited += one->waited;
  all.period = larger(chain, pb__part_busiest(t, one, &unused));
  all.further = (extent - 1) * all.period;
  all.behind = ahead && ahead < extent ? (extent - ahead) * all.period : 0;
  // a remainder's buffers are those of the loop before it
  sum->chain = loop->iterations_before ? sum->chain + chain * extent : larger(sum->chain, chain * extent);
  begin_loop(&all, sum);
  wait_for_last_pieces(&all, sum);
  for (int q = 0; q < t->issuers->count; ++q) {
    all.by[q].wait = larger(all.by[q].own - larger(sum->queue[q].free_at, sum->queue[q].paced), 0);
    all.by[q].least =
        larger(all.by[q].least, held_up(t, one, sum, q, all.by[q].own, all.by[q].filled) - all.by[q].wait);
  }
  for (int q = 0; q < t->issuers->count; ++q) add_queue(&all, q, sum);
  sum->end = larger(sum->end, all.start + one->end + all.further);
  note_free(t, loop, one, all.start + all.further, all.period, sum);
  for (int b = 0; b < t->buffer_count; ++b)
    if (one->buffer[b].to) add_buffer(&all, b, sum);
}
