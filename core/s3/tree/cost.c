// What a plan takes, by the chip's facts. On queues three things can hold a kernel up, and the longest of them is its
// time:
//  - a queue: its commands' cycles, or how fast commands arrive when only Depth of them are fetched ahead;
//  - the port of a memory outside: beats of the movers' runs, where they lie across beats too, and of the commands;
//  - iterations that wait for each other: a buffer is free again only when all that fill and use it are done with it,
//    and a loop has as many iterations under way as the buffer has copies.
// A core issues as one queue does; caches bring what it reads (cost_cores.c), hidden by its work but for a part.
// A tree of loops is added up from the inside out: what one execution takes of everything, and how long it lasts alone.
#include "core/s3/tree/cost.h"

#include "core/s3/tree/cost_cores.h"
#include "core/s3/tree/cost_loops.h"

#include <string.h>

enum {
  START_CYCLES = 6, // from the last beat of a command, or a token, to the start
  TOKEN_CYCLES = 2,
  CORE = 0,   // a core issues as a queue does, in order
  FENCED = 3, // copies for each iteration that a fence lets in
  EXPOSED = 8 // of what a core brings while it computes, and the other way round, one part of so many is not hidden
};

static void use(part* p, int buffer, int64_t from, int64_t to, uint32_t walked, int64_t sweep, int64_t early) {
  p->walked[buffer] |= walked;
  if (!p->to[buffer] || from < p->from[buffer]) p->from[buffer] = from, p->sweep[buffer] = sweep;
  if (to > p->to[buffer]) p->early[buffer] = early < to - p->to[buffer] ? early : to - p->to[buffer];
  p->to[buffer] = larger(p->to[buffer], to);
}

// The port is every core's: what one core does there the others do too, in shares as large as its own or smaller.
static int64_t of_all_cores(const pb_tiling* t, int64_t cycles) {
  for (int b = 0; b < pb_plan_shared_bands(t->plan); ++b) {
    const pb_band* band = &t->plan->bands[b];
    cycles = pb__cost_share(cycles, t->group->main.extent[band->dim], band->step, true);
  }
  return cycles;
}

// What a nest moves of it: a read that is the same in each part of a shared band serves all of them, where the chip's
// mover can do that (Broadcast).
static int64_t of_all_readers(const pb_tiling* t, const pb_nest* nest, const pb_insn* insn, int64_t cycles) {
  if (insn->broadcast < 0) return of_all_cores(t, cycles);
  for (int b = 0; b < pb_plan_shared_bands(t->plan); ++b) {
    const pb_band* band = &t->plan->bands[b];
    if (pb_access_uses(&nest->access[0], PB_NEST_DIMS + b))
      cycles = pb__cost_share(cycles, t->group->main.extent[band->dim], band->step, true);
  }
  return cycles;
}

static int64_t command_beats(const pb_chip* chip) {
  int64_t beat = pb__port_beat(chip, chip->system_memory);
  return (chip->command_bytes + beat - 1) / beat;
}

// Beats of the system memory's port that a command takes.
static int64_t fetch_beats(const pb_chip* chip) { return chip->command_port ? 0 : command_beats(chip); }

static int64_t arrival(const pb_chip* chip) {
  return chip->memories[chip->system_memory].latency + command_beats(chip) + START_CYCLES;
}

// Words for `iterations` of a loop in each of which a queue runs `commands` that are `words` long. A hardware loop
// takes them when they are few enough for its body: once to begin with, as the first iteration often waits for other
// tokens than those that follow, and once as body and steps.
static int64_t rolled(const pb_chip* chip, int64_t commands, int64_t words, int64_t iterations) {
  int64_t plain = words * iterations, loop = 1 + 3 * commands;
  return chip->loop && commands <= chip->loop_most && loop < plain ? loop : plain;
}

// Words of a queue come no faster than Depth of them in the time that one takes to arrive.
static int64_t queue_time(const pb_tiling* t, int queue, int64_t cycles, int64_t words) {
  const pb_chip* chip = t->chip;
  if (t->core || queue >= chip->queue_count || chip->fence) return cycles; // a list is read far ahead
  int depth = chip->queues[queue].depth > 0 ? chip->queues[queue].depth : 1;
  int64_t arriving = words * arrival(chip) / depth;
  return arriving > cycles ? arriving : cycles;
}

// The longest of its queues and of the port.
static int64_t busiest(const pb_tiling* t, const part* p, const char** name) {
  const pb_chip* chip = t->chip;
  int64_t most = p->system;
  *name = t->core ? "memory" : chip->memories[chip->system_memory].name;
  for (int k = 0; k < chip->constant_memory_count; ++k)
    if (p->constants[k] > most) most = p->constants[k], *name = chip->memories[chip->constant_memories[k]].name;
  for (int q = 0; q < issuers(t); ++q) {
    int64_t time = queue_time(t, q, p->queue[q], p->words[q]);
    if (time > most) most = time, *name = t->core ? "compute" : chip->queues[pb_unit_queue(chip, q)].name;
  }
  int64_t words = 0; // of one list, which all queues share
  for (int q = 0; q < chip->queue_count && chip->fence; ++q) words += p->words[q];
  if (words && words * arrival(chip) / chip->list_depth > most)
    most = words * arrival(chip) / chip->list_depth, *name = "list";
  return most;
}

// The loops around that walk the buffer, of one that comes in pieces those that walk it as these come: others want all
// pieces at once.
static uint32_t columns_of(const pb_tiling* t, const pb_nest* nest, int access) {
  const pb_access* a = &nest->access[access];
  int along = t->buffers[a->buffer].along;
  uint32_t columns = 0;
  for (int k = 0; k < nest->outer_count; ++k)
    if (along ? a->index[along - 1].coef[PB_NEST_DIMS + k] != 0 : pb_access_uses(a, PB_NEST_DIMS + k))
      columns |= 1u << k;
  return columns;
}

// A load that goes piece by piece fills its buffer along this index.
static void note_pieces(pb_tiling* t, const pb_nest* nest) {
  const pb_access* dest = &nest->access[nest->access_count - 1];
  if (!nest->kept || !pb__is_buffer(dest)) return;
  for (int r = 0; r < dest->rank; ++r)
    if (dest->index[r].coef[0]) t->buffers[dest->buffer].along = r + 1;
}

static void begin_queue(part* p, int queue, int64_t start) {
  if (!p->used[queue]) p->first[queue] = start;
  p->used[queue] = true;
}

static void note_read(part* p, int made, int read) {
  for (int w = 0; w < BUFFER_WORDS; ++w) p->made_of[made][w] |= p->made_of[read][w];
  p->made_of[made][read / 64] |= (uint64_t)1 << (read % 64);
}

static void note_taken(part* p, int buffer, int64_t start, uint32_t queues) {
  if (queues && !p->read_by[buffer]) p->taken[buffer] = start;
  p->read_by[buffer] |= queues;
}

// Whether one queue both fills and takes the banks that the buffer lies in: no token is handed on between the two, and
// a bank is free as soon as it has been read.
static bool handed_on_alone(const pb_tiling* t, int buffer) {
  int memory = t->buffers[buffer].memory, fills = -1, takes = -1;
  if (!pb_in_banks(&t->chip->memories[memory])) return false;
  for (int i = 0; i < t->chip->insn_count; ++i)
    for (int o = 0; o < t->chip->insns[i].operand_count; ++o)
      if (t->chip->insns[i].operands[o].memory == memory)
        *(t->chip->insns[i].operands[o].written ? &fills : &takes) = t->chip->insns[i].queue;
  return fills == takes;
}

// When the port has served a load that it reads for so many cycles: the loads in front of it go on beside it on other
// queues, which take turns with it.
static int64_t served_at(part* p, int queue, int64_t cycles) {
  p->loaders |= 1u << queue;
  int64_t turns = cycles * __builtin_popcount(p->loaders);
  return turns < p->loaded ? turns : p->loaded;
}

// How long before its end a nest is done with the first piece of what it accesses, where its commands go piece by
// piece.
static int64_t early_of(const pb_match* match, int access, int64_t lasts) {
  int outer = match && match->loop_count ? match->loops[0] : -1;
  if (outer < 0 || !match->nest.access[access].stride[outer]) return 0;
  return lasts - lasts / match->nest.extent[outer];
}

// The nest begins when its queue is free and what it reads is there; `lasts` cycles after that the queue is free again,
// and `until_done` later what it writes is there. `loads`: cycles of the system memory's port that it reads for.
static void run_nest(const pb_tiling* t, part* p, const pb_nest* nest, const pb_match* match, int queue, int64_t lasts,
                     int64_t until_done, int64_t loads) {
  int64_t free_at = p->queue_free[queue], start = free_at, own = free_at;
  int64_t first = nest->kept ? lasts / nest->extent[0] : lasts;
  uint32_t after = 1u << queue, brought = 0;
  const pb_access* dest = &nest->access[nest->access_count - 1];
  bool adds = !strcmp(nest->part, "add");   // then it reads what is there, too
  bool last = adds || !pb__is_buffer(dest); // of its iteration: it waits for all that its queue brought for that
  int reads = nest->access_count - (adds ? 0 : 1);
  for (int a = 0; a < reads; ++a)
    if (pb__is_buffer(&nest->access[a])) {
      int b = nest->access[a].buffer;
      int64_t there = larger(p->ready[b], p->whole[b] - lasts);
      start = larger(start, there);
      if ((p->after[b] | (last ? p->brought[b] : 0)) >> queue & 1) own = larger(own, there);
      after |= p->after[b];
      brought |= p->brought[b];
      if (pb__is_buffer(dest)) note_read(p, dest->buffer, b);
    }
  for (int a = 0; a < reads; ++a)
    if (pb__is_buffer(&nest->access[a])) note_taken(p, nest->access[a].buffer, start, 1u << queue);
  for (int a = 0; a < nest->access_count; ++a)
    if (pb__is_buffer(&nest->access[a])) {
      int64_t until = start + lasts + (handed_on_alone(t, nest->access[a].buffer) ? 0 : until_done);
      use(p, nest->access[a].buffer, start, until, columns_of(t, nest, a), 0, early_of(match, a, lasts));
    }
  if (pb__is_buffer(dest)) {
    p->after[dest->buffer] = after;
    p->filled_by[dest->buffer] |= 1u << queue;
    p->brought[dest->buffer] |= brought;
    p->ready[dest->buffer] = start + first + until_done; // others go on with the first piece
    p->whole[dest->buffer] = start + lasts + until_done;
    if (loads) p->whole[dest->buffer] = larger(p->whole[dest->buffer], served_at(p, queue, loads) + until_done);
  }
  begin_queue(p, queue, start);
  p->follows[queue] |= after;
  if (own > free_at) { // it waits for what came of its own former command; what is behind it waits too
    p->queue[queue] += own - free_at;
    // so nothing of the next iteration's is under way meanwhile: all since its first command is this iteration's alone
    if (adds) p->queue[queue] = larger(p->queue[queue], own + lasts - p->first[queue]);
  }
  p->queue_free[queue] = start + lasts;
  p->end = larger(p->end, start + first + until_done);
}

static void issue(part* p, int queue, int64_t cycles) {
  p->queue[queue] += cycles;
  p->busy[queue] += cycles;
  p->unfenced[queue] = true;
}

// The nest on its unit, and beside it what writes state for it there.
static void run_units(const pb_tiling* t, part* p, const pb_nest* nest, const pb_match* match, int unit, int queue,
                      const int64_t* taken, int64_t words, int64_t until_done, int64_t loads) {
  int64_t lasts = queue_time(t, unit, taken[unit], words - 1);
  for (int u = 0; u < issuers(t); ++u) {
    if (taken[u]) issue(p, u, taken[u]);
    if (u != queue && taken[u]) ++p->commands[u];
    if (u != unit) lasts = larger(lasts, taken[u]);
  }
  run_nest(t, p, nest, match, unit, lasts, until_done, loads);
  int64_t start = p->queue_free[unit] - lasts;
  for (int u = 0; u < issuers(t); ++u) {
    if (u == unit || !taken[u]) continue;
    begin_queue(p, u, start);
    p->queue_free[u] = larger(p->queue_free[u], start + taken[u]);
  }
}

static bool nest_cost(pb_tiling* t, const pb_nest* nest, part* p) {
  int64_t taken[PB_MAX_QUEUES] = {0}, waited;
  if (t->core) {
    taken[CORE] = pb__core_cycles(t, t->core, nest);
    ++p->commands[CORE];
    run_units(t, p, nest, NULL, CORE, CORE, taken, 1, 0, 0);
    t->traffic += pb__core_traffic(t, t->core, nest, &waited);
    t->waited += waited;
    return true;
  }
  if (!strcmp(nest->part, "init")) return true; // the instruction's accumulate flag
  pb_match match;
  note_pieces(t, nest);
  if (!pb__tiling_select(t, nest, &match)) return false;
  const pb_insn* insn = match.twins[nest->stream % match.twin_count];
  int64_t commands = 1, fetch = fetch_beats(t->chip);
  int64_t words = 1;
  for (int k = match.loop_count - 1; k >= 0; --k) {
    int64_t iterations = match.nest.extent[match.loops[k]];
    words = rolled(t->chip, commands, words, iterations);
    commands *= iterations;
  }
  int64_t cycles = match.cycles, beats = 0;
  int outside = pb_insn_outside(t->chip, insn);
  int number = pb_constants_number(t->chip, outside);
  bool loads = false, apart = number >= 0;
  if (insn->mover) {
    pb__port_moves(t->chip, nest, &match, &cycles, &beats);
    loads = !match.fills && insn->operands[insn->expr[0].operand].memory == outside;
  } else {
    beats = pb__port_beats(t->chip, &match, &loads);
    if (beats > cycles) cycles = beats;
  }
  int64_t whole = of_all_cores(t, beats), shared = of_all_readers(t, nest, insn, beats);
  // the others go to the port at the same time
  if (shared > cycles) cycles = shared;
  taken[insn->unit] = cycles + commands * pb__until_next(insn);
  int64_t writes = pb__state_writes(t, nest, &match, taken);
  commands += writes, words += writes;
  taken[insn->unit] = larger(taken[insn->unit], commands); // a queue's commands start one after the other
  p->commands[insn->queue] += commands;
  p->words[insn->queue] += words;
  p->system += of_all_cores(t, (apart ? 0 : beats) + words * fetch) - (apart ? 0 : whole - shared);
  if (apart) p->constants[number] += shared;
  if (loads && !apart) p->loaded += shared;
  const pb_access* dest = &nest->access[nest->access_count - 1];
  bool alone = pb__is_buffer(dest) && handed_on_alone(t, dest->buffer);
  int64_t until_done = insn->latency + (alone ? 0 : TOKEN_CYCLES);
  if (loads) until_done += t->chip->memories[outside].latency;
  run_units(t, p, nest, &match, insn->unit, insn->queue, taken, words, until_done, loads && !apart ? shared : 0);
  return true;
}

static bool tree_cost(pb_tiling* t, const pb_tree* tree, part* sum);

// When the copies of a loop's buffers are free for what lies at their places: its remainder goes on with the copy that
// has not been used for longest.
static void note_free(const pb_tiling* t, const pb_tree* loop, const part* later, int64_t last, int64_t period,
                      part* sum) {
  for (const pb_tree* node = loop->first; node; node = node->next) {
    if (node->kind != PB_TREE_ALLOC) continue;
    const pb_buffer* buffer = &t->buffers[node->buffer];
    int place = buffer->shares >= 0 ? buffer->shares : node->buffer;
    sum->free_at[place] =
        last + later->from[node->buffer] + pb__cost_held(later, node->buffer) - (buffer->depth - 1) * period;
  }
}

static int64_t wait_for_places(const pb_tiling* t, const pb_tree* loop, const part* one, const part* sum) {
  int64_t start = 0;
  for (const pb_tree* node = loop->first; node && loop->iterations_before; node = node->next)
    if (node->kind == PB_TREE_ALLOC && t->buffers[node->buffer].shares >= 0)
      start = larger(start, sum->free_at[t->buffers[node->buffer].shares] - one->from[node->buffer]);
  return start;
}

// What the words of a loop's iterations cost less than those of the first one iteration after iteration: adds them to
// `sum`, and makes `later` one of the iterations that follow. Returns the cycles of the port that are saved. They are
// alike only `period` apart, as buffers take their copies in turn.
static int64_t add_words(const pb_tiling* t, const part* one, int64_t iterations, int64_t period, part* later,
                         part* sum) {
  const pb_chip* chip = t->chip;
  int64_t fetch = fetch_beats(chip), saved = 0;
  for (int q = 0; q < issuers(t); ++q) {
    int64_t words = rolled(chip, one->commands[q] * period, one->words[q] * period, iterations / period);
    words += one->words[q] * (iterations % period);
    sum->rolled[q] |= words < one->words[q] * iterations;
    sum->words[q] += words;
    saved += one->words[q] * iterations - words;
    if (iterations > 1) later->words[q] = (words - one->words[q]) / (iterations - 1);
  }
  saved = of_all_cores(t, saved * fetch);
  if (iterations > 1) later->system -= saved / (iterations - 1);
  return saved;
}

// A loop's body stays where words that were fetched ahead would be: of those that follow it, and are not in a loop's
// body themselves, half of them at most are there when it ends. Commands that each take longer than a word to arrive
// hide the others.
static void wait_for_words(const pb_chip* chip, part* one) {
  for (int q = 0; q < chip->queue_count; ++q) {
    int depth = chip->queues[q].depth > 0 ? chip->queues[q].depth : 1;
    int64_t late = one->words[q] - depth / 2;
    if (one->rolled[q] && late > 0 && one->busy[q] < one->commands[q] * arrival(chip))
      one->queue[q] += late * arrival(chip) / depth;
  }
}

// Copies of what one queue hands to another in a loop, the fewest: a fence lets in what a third of them hold, as others
// are read and filled meanwhile. What units hold themselves is handed on one by one.
static int64_t fenced_together(const pb_tiling* t, const pb_tree* loop, const part* one) {
  int64_t least = 0;
  for (const pb_tree* node = loop->first; node; node = node->next) {
    int b = node->buffer;
    if (node->kind != PB_TREE_ALLOC || !(one->read_by[b] & ~one->filled_by[b])) continue;
    int64_t copies = pb_holds_tiles(&t->chip->memories[t->buffers[b].memory]) ? 0 : t->buffers[b].depth;
    if (!least || copies < least) least = larger(copies, 1);
  }
  return least;
}

// Where a list with fences orders queues, iterations that use several of them have one, behind which a queue begins
// anew: it stands still from its last command until what that wrote is visible.
static void wait_at_fences(const pb_tiling* t, const pb_tree* loop, part* one) {
  const pb_chip* chip = t->chip;
  int64_t drained[PB_MAX_QUEUES] = {0};
  int used = 0;
  for (int q = 0; q < chip->queue_count; ++q) used += one->used[q];
  if (!chip->fence || used < 2) return;
  for (int i = 0; i < chip->insn_count; ++i) {
    const pb_insn* insn = &chip->insns[i];
    int64_t latency = insn->latency;
    for (int o = 0; o < insn->operand_count; ++o)
      if (insn->operands[o].memory >= 0 && pb_is_outside(&chip->memories[insn->operands[o].memory]) &&
          insn->operands[o].read)
        latency += chip->memories[insn->operands[o].memory].latency;
    drained[insn->queue] = larger(drained[insn->queue], latency);
  }
  int64_t together = fenced_together(t, loop, one);
  for (int q = 0; q < chip->queue_count; ++q) {
    if (one->unfenced[q])
      one->queue[q] += pb__cost_share(drained[q] + chip->fence_cycles, FENCED, larger(together, FENCED), true);
    one->unfenced[q] = false;
  }
}

// What a loop makes comes after what the queues outside brought for it. Notes in `sum` what it was made of.
static uint32_t brought_for(const pb_tiling* t, part* sum, const part* one, int made) {
  uint32_t after = 0;
  for (int b = 0; b < t->buffer_count; ++b) {
    if (!(one->made_of[made][b / 64] >> (b % 64) & 1)) continue;
    if (!one->after[b]) after |= sum->after[b];
    for (int w = 0; w < BUFFER_WORDS; ++w) sum->made_of[made][w] |= sum->made_of[b][w];
  }
  for (int w = 0; w < BUFFER_WORDS; ++w) sum->made_of[made][w] |= one->made_of[made][w];
  return after;
}

// When there is enough of the buffer to go on with: the first iteration's piece, where each brings another one; else
// what the last one brings first.
static void note_ready(const pb_tree* loop, const part* one, int b, int64_t start, int64_t further, part* sum) {
  bool piecewise = one->after[b] && one->walked[b] >> loop->level & 1;
  if (piecewise)
    sum->ready[b] = larger(sum->ready[b], start + one->to[b]);
  else
    sum->ready[b] = one->ready[b] ? start + further + one->ready[b] : sum->whole[b];
}

// All iterations of a loop on its queues and buffers: when they begin, from one to the next, from the first to the
// last.
typedef struct iterations {
  int64_t start, period, further;
  int64_t behind;               // to the first one that waits for a copy of a buffer
  int64_t own[PB_MAX_QUEUES];   // what comes after the queue's own former work is there
  int64_t wait[PB_MAX_QUEUES];  // for that
  int64_t least[PB_MAX_QUEUES]; // that the queue is in the loop
} iterations;

// A loop begins when what it reads from outside is there, and its queues are free.
static void begin_loop(const pb_tiling* t, const pb_tree* loop, const part* one, const part* sum, iterations* all) {
  for (int b = 0; b < t->buffer_count; ++b) {
    if (!one->to[b]) continue;
    int64_t there = sum->ready[b] - one->from[b];
    bool piecewise = one->walked[b] >> loop->level & 1; // each iteration takes its piece of the buffer
    // an iteration that walks all of the buffer ends no sooner than all of it is there
    if (!piecewise) there = larger(there, sum->whole[b] - one->to[b]);
    all->start = larger(all->start, there);
    if (piecewise) there = larger(there, sum->whole[b] - one->from[b] - all->further);
    for (int q = 0; q < issuers(t); ++q) // as in run_nest
      if (one->commands[q] && sum->after[b] >> q & 1) all->own[q] = larger(all->own[q], there);
  }
  for (int q = 0; q < issuers(t); ++q)
    if (one->used[q]) all->start = larger(all->start, sum->queue_free[q] - one->first[q]);
}

// The last iteration takes the last piece of what was brought from outside in front of the loop no sooner than that is
// there, however fast the loop could go through the others.
static void wait_for_last_pieces(const pb_tiling* t, const pb_tree* loop, const part* one, const part* sum,
                                 iterations* all) {
  for (int b = 0; b < t->buffer_count; ++b) {
    bool brought = sum->filled_by[b] && sum->after[b] == sum->filled_by[b];
    if (brought && one->to[b] && one->walked[b] >> loop->level & 1)
      all->further = larger(all->further, sum->whole[b] - one->from[b] - one->sweep[b] - all->start);
  }
}

static void add_queue(const pb_tree* loop, const part* one, const iterations* all, int q, part* sum) {
  // what waits for its queue's own former work keeps the queue from going on to the next iteration outside
  int64_t busy = one->queue[q] * loop->extent, late = larger(sum->queue_free[q] - all->start, 0);
  int64_t held = all->own[q] ? one->queue_free[q] + all->further - late : 0; // late: at work that was counted
  if (one->commands[q]) busy = larger(busy, all->least[q]);
  sum->queue[q] += larger(busy, held) + all->wait[q];
  sum->busy[q] += one->busy[q] * loop->extent;
  sum->commands[q] += one->commands[q] * loop->extent;
  sum->unfenced[q] |= one->unfenced[q];
  sum->follows[q] |= one->follows[q];
  if (!one->commands[q]) return;
  begin_queue(sum, q, all->start + one->first[q]);
  // in order: what comes behind the loop waits until the last iteration's buffers were free
  sum->queue_free[q] = larger(sum->queue_free[q], all->start + one->first[q]) + one->queue[q] * loop->extent;
  sum->queue_free[q] = larger(sum->queue_free[q], all->start + all->behind + one->queue_free[q]);
  sum->paced[q] = all->start + one->queue_free[q] + (loop->extent - 1) * one->queue[q];
}

// What the loop takes from outside, or leaves there.
static void add_buffer(const pb_tiling* t, const pb_tree* loop, const part* one, const iterations* all, int b,
                       part* sum) {
  int64_t start = all->start, further = all->further;
  int64_t pieces = one->walked[b] >> loop->level & 1 ? further : 0; // from the first one's to the last one's
  use(sum, b, start + one->from[b], start + one->to[b] + further, one->walked[b], one->sweep[b] + pieces,
      one->early[b] + pieces);
  for (int q = 0; q < issuers(t); ++q)
    if (one->read_by[b] >> q & 1) sum->follows[q] |= sum->after[b] | one->after[b];
  sum->after[b] |= one->after[b];
  sum->filled_by[b] |= one->filled_by[b];
  note_taken(sum, b, start + one->taken[b], one->read_by[b]);
  if (!one->after[b]) return; // it is read there, and was all there before
  sum->brought[b] |= one->brought[b] | brought_for(t, sum, one, b);
  sum->whole[b] = larger(sum->whole[b], start + one->to[b] + further);
  note_ready(loop, one, b, start, further, sum);
}

static bool loop_cost(pb_tiling* t, const pb_tree* loop, part* sum) {
  part one = {0};
  if (!tree_cost(t, loop, &one)) return false;
  wait_for_words(t->chip, &one);
  wait_at_fences(t, loop, &one);
  const char* unused;
  part later = one;
  iterations all = {.start = wait_for_places(t, loop, &one, sum)};
  int64_t filled[PB_MAX_QUEUES];
  for (int q = 0; q < issuers(t); ++q) {
    all.least[q] = pb__cost_in_loop(t, loop, &one, q);
    filled[q] = pb__cost_filled(t, loop, &one, q);
  }
  int64_t chain = pb__cost_chain(t, loop, &one), ahead = pb__cost_ahead(t, loop);
  sum->system += one.system * loop->extent - add_words(t, &one, loop->extent, larger(ahead, 1), &later, sum);
  for (int k = 0; k < t->chip->constant_memory_count; ++k) sum->constants[k] += one.constants[k] * loop->extent;
  sum->loaded += one.loaded * loop->extent;
  sum->loaders |= one.loaders;
  all.period = larger(chain, busiest(t, &later, &unused));
  all.further = (loop->extent - 1) * all.period;
  all.behind = ahead && ahead < loop->extent ? (loop->extent - ahead) * all.period : 0;
  // a remainder's buffers are those of the loop before it
  sum->chain = loop->iterations_before ? sum->chain + chain * loop->extent : larger(sum->chain, chain * loop->extent);
  begin_loop(t, loop, &one, sum, &all);
  wait_for_last_pieces(t, loop, &one, sum, &all);
  for (int q = 0; q < issuers(t); ++q) {
    all.wait[q] = larger(all.own[q] - larger(sum->queue_free[q], sum->paced[q]), 0);
    int64_t held = pb__cost_held_up(t, &one, sum, q, all.own[q], filled[q]);
    all.least[q] = larger(all.least[q], held - all.wait[q]);
  }
  for (int q = 0; q < issuers(t); ++q) add_queue(loop, &one, &all, q, sum);
  sum->end = larger(sum->end, all.start + one.end + all.further);
  note_free(t, loop, &later, all.start + all.further, all.period, sum);
  for (int b = 0; b < t->buffer_count; ++b)
    if (one.to[b]) add_buffer(t, loop, &one, &all, b, sum);
  return true;
}

// What one iteration of a loop around does, and the others do, in the average iteration.
static bool iteration_cost(pb_tiling* t, const pb_tree* iteration, part* sum) {
  int64_t iterations = t->around[iteration->loop + 1]->extent, before = t->traffic, waited = t->waited;
  part one = {0}, others = {0};
  if (!tree_cost(t, iteration, &one)) return false;
  t->traffic = before + (t->traffic - before) / iterations;
  t->waited = waited + (t->waited - waited) / iterations;
  if (iteration->others && !tree_cost(t, iteration->others, &others)) return false;
  int64_t cycles = (one.queue[CORE] + (iterations - 1) * others.queue[CORE]) / iterations;
  issue(sum, CORE, cycles);
  sum->queue_free[CORE] += cycles;
  sum->end = larger(sum->end, sum->queue_free[CORE]);
  return true;
}

// Adds what one execution of the tree's body takes. What only one iteration of a loop does is left out where queues
// run: it is little, and not what the other iterations wait for.
static bool tree_cost(pb_tiling* t, const pb_tree* tree, part* sum) {
  for (const pb_tree* node = tree->first; node; node = node->next) {
    pb_tree loop = *node;
    bool shared = node->parts && !t->core;
    if (shared) loop.extent = 1; // of one core, which takes the first: a remainder is another's, and no longer
    if (node->kind == PB_TREE_LOOP) t->around[node->level + 1] = node;
    if (node->kind == PB_TREE_LOOP && !(shared && node->iterations_before) && !loop_cost(t, &loop, sum)) return false;
    if (node->kind == PB_TREE_ITERATION && t->core && !iteration_cost(t, node, sum)) return false;
    if (node->kind == PB_TREE_NEST && !nest_cost(t, node->nest, sum)) return false;
  }
  return true;
}

int64_t pb_tree_bytes(const pb_tiling* t, int memory) {
  const int64_t *reserved = t->group->program->reserved, row = t->chip->memories[memory].row_bytes;
  int64_t used = reserved ? reserved[memory] : 0;
  for (int b = 0; b < t->buffer_count; ++b)
    if (t->buffers[b].memory == memory && t->buffers[b].shares < 0 && !t->buffers[b].tensor)
      used += (t->buffers[b].bytes + row - 1) / row * row * t->buffers[b].depth;
  return used;
}

bool pb_tree_fits(pb_tiling* t, int memory) {
  const pb_memory* m = &t->chip->memories[memory];
  int64_t used = pb_tree_bytes(t, memory);
  if (used <= m->bytes) return true;
  return pb__tiling_fail(t, pb_printf(t->arena, "its buffers take %lld bytes of %s, which has %lld", (long long)used,
                                      m->name, (long long)m->bytes));
}

// A core computes while caches bring what it takes next, and hides most of the shorter of the two, but for what it
// waits for.
static int64_t core_total(const pb_tiling* t, const pb_plan* plan, int64_t traffic, int64_t waited) {
  traffic -= waited;
  int64_t longer = larger(t->compute, traffic), cycles = longer + (t->compute + traffic - longer) / EXPOSED + waited;
  return cycles + cycles * pb__core_imbalance(t, plan) / 1024;
}

int64_t pb_tree_least(const pb_tiling* t, const pb_plan* plan) { return core_total(t, plan, 0, 0); }

static _Thread_local int64_t added_up;

int64_t pb_trees_added_up(void) { return added_up; }

bool pb_tree_cost(pb_tiling* t, pb_plan* plan) {
  part all = {0};
  ++added_up;
  if (t->group->registers && !t->core) { // the same for all ways to share the tree
    pb_core_facts* core = PB_NEW(t->arena, pb_core_facts);
    pb_core_facts_of(t->chip, t->group->registers, core);
    t->core = core;
  }
  t->traffic = t->waited = 0;
  for (int m = 0; m < t->chip->memory_count; ++m) // of a core's registers those that a tile needs have been counted
    if (!(t->core && t->chip->memories[m].kind == PB_MEM_REGISTERS) && !pb_tree_fits(t, m)) return false;
  pb__state_count(t);
  if (!tree_cost(t, &t->root, &all)) return false;
  if (t->core) all.system = t->traffic;
  int64_t most = busiest(t, &all, &plan->bound);
  plan->port = t->core ? 0 : all.system;
  for (int k = 0; k < t->chip->constant_memory_count; ++k) plan->port += all.constants[k];
  memcpy(plan->busy, all.busy, sizeof plan->busy);
  t->compute = larger(all.end, all.queue[CORE]);
  if (t->core)
    plan->cycles = core_total(t, plan, t->traffic, t->waited);
  else
    plan->cycles = larger(larger(all.end, all.chain), most) + arrival(t->chip);
  return true;
}
