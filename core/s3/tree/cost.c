// What a plan takes, by the chip's facts. On queues three things can hold a kernel up, and the longest of them is its
// time:
//  - a queue: its commands' cycles, or how fast commands arrive when only Depth of them are fetched ahead;
//  - the port of a memory outside: beats of the movers' runs, where they lie across beats too, and of the commands;
//  - iterations that wait for each other: a buffer is free again only when all that fill and use it are done with it,
//    and a loop has as many iterations under way as the buffer has copies.
// A core issues as one queue does; caches bring what it reads (cost_cores.c), hidden by its work but for a part.
// A tree of loops is added up from the inside out (cost_loops.c): what one execution takes of everything, and how long
// it lasts alone. A nest is an event there, whoever runs it.
#include "core/s3/tree/cost.h"

#include "core/s3/tree/cost_cores.h"
#include "core/s3/tree/cost_loops.h"
#include "core/s3/tree/moves.h"

#include <string.h>

enum {
  CORE = 0,   // a core issues as a queue does, in order
  EXPOSED = 8 // of what a core brings while it computes, and the other way round, one part of so many is not hidden
};

// ---- one execution of a tree's body ----

static void part_begin(const pb_tiling* t, part* p) {
  memset(p, 0, offsetof(part, buffer));
  memset(p->buffer, 0, sizeof *p->buffer * (size_t)t->buffer_count);
}

static void issue(queue_part* queue, int64_t cycles) {
  queue->cycles += cycles;
  queue->busy += cycles;
  queue->unfenced = true;
}

// Words of a queue come no faster than Depth of them in the time that one takes to arrive.
static int64_t queue_time(const pb_tiling* t, int queue, int64_t cycles, int64_t words) {
  int ahead = t->issuers->list ? 0 : t->issuers->of[queue].depth; // a list is read far ahead
  return ahead ? larger(words * pb__port_arrival(t->chip) / ahead, cycles) : cycles;
}

int64_t pb__part_busiest(const pb_tiling* t, const part* p, const char** name) {
  const pb_chip* chip = t->chip;
  int64_t most = p->system;
  *name = t->issuers->outside;
  for (int k = 0; k < chip->constant_memory_count; ++k)
    if (p->constants[k] > most) most = p->constants[k], *name = chip->memories[chip->constant_memories[k]].name;
  for (int q = 0; q < t->issuers->count; ++q) {
    int64_t time = queue_time(t, q, p->queue[q].cycles, p->queue[q].words);
    if (time > most) most = time, *name = t->issuers->of[q].name;
  }
  int64_t words = 0; // of one list, which all queues share
  for (int q = 0; q < t->issuers->count && t->issuers->list; ++q) words += p->queue[q].words;
  if (words && words * pb__port_arrival(chip) / t->issuers->list > most)
    most = words * pb__port_arrival(chip) / t->issuers->list, *name = "list";
  return most;
}

// ---- nests ----

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

static void note_read(part* p, buffer_part* made, int read) {
  for (int w = 0; w < BUFFER_WORDS; ++w) made->made_of[w] |= p->buffer[read].made_of[w];
  made->made_of[read / 64] |= (uint64_t)1 << (read % 64);
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

// The nest begins when its unit is free and what it reads is there; `lasts` cycles after that the unit is free again.
// Returns when it begins.
static int64_t run_nest(const pb_tiling* t, part* p, const event* e, int64_t lasts) {
  const pb_nest* nest = e->nest;
  queue_part* queue = &p->queue[e->unit];
  int64_t free_at = queue->free_at, start = free_at, own = free_at, until_done = e->until_done;
  int64_t first = nest->kept ? lasts / nest->extent[0] : lasts;
  uint32_t self = 1u << e->unit, after = self, brought = 0;
  const pb_access* dest = &nest->access[nest->access_count - 1];
  buffer_part* made = pb__is_buffer(dest) ? &p->buffer[dest->buffer] : NULL;
  bool adds = !strcmp(nest->part, "add"); // then it reads what is there, too
  bool last = adds || !made;              // of its iteration: it waits for all that its queue brought for that
  int reads = nest->access_count - !adds;
  for (int a = 0; a < reads; ++a) {
    if (!pb__is_buffer(&nest->access[a])) continue;
    const buffer_part* b = &p->buffer[nest->access[a].buffer];
    int64_t there = larger(b->ready, b->whole - lasts);
    start = larger(start, there);
    if ((b->after | (last ? b->brought : 0)) & self) own = larger(own, there);
    after |= b->after;
    brought |= b->brought;
    if (made) note_read(p, made, nest->access[a].buffer);
  }
  for (int a = 0; a < nest->access_count; ++a) {
    int b = nest->access[a].buffer;
    if (!pb__is_buffer(&nest->access[a])) continue;
    if (a < reads) pb__part_taken(&p->buffer[b], start, self);
    int64_t until = start + lasts + (handed_on_alone(t, b) ? 0 : until_done);
    pb__part_use(&p->buffer[b], start, until, columns_of(t, nest, a), 0, early_of(e->match, a, lasts));
  }
  if (made) {
    made->after = after;
    made->filled_by |= self;
    made->brought |= brought;
    made->ready = start + first + until_done; // others go on with the first piece
    made->whole = start + lasts + until_done;
    if (e->loads) made->whole = larger(made->whole, served_at(p, e->unit, e->loads) + until_done);
  }
  pb__part_starts(queue, start);
  queue->follows |= after;
  if (own > free_at) { // it waits for what came of its own former command; what is behind it waits too
    queue->cycles += own - free_at;
    // so nothing of the next iteration's is under way meanwhile: all since its first command is this iteration's alone
    if (adds) queue->cycles = larger(queue->cycles, own + lasts - queue->first);
  }
  queue->free_at = start + lasts;
  p->end = larger(p->end, start + first + until_done);
  return start;
}

// The nest on its unit, and beside it what writes state for it there.
static void run_units(const pb_tiling* t, part* p, const event* e) {
  int64_t lasts = queue_time(t, e->unit, e->taken[e->unit], e->words - 1);
  p->queue[e->queue].commands += e->commands;
  p->queue[e->queue].words += e->words;
  for (int u = 0; u < t->issuers->count; ++u) {
    if (e->taken[u]) issue(&p->queue[u], e->taken[u]);
    if (u != e->queue && e->taken[u]) ++p->queue[u].commands;
    if (u != e->unit) lasts = larger(lasts, e->taken[u]);
  }
  int64_t start = run_nest(t, p, e, lasts);
  for (int u = 0; u < t->issuers->count; ++u) {
    queue_part* queue = &p->queue[u];
    if (u == e->unit || !e->taken[u]) continue;
    pb__part_starts(queue, start);
    queue->free_at = larger(queue->free_at, start + e->taken[u]);
  }
}

// By code of the core's, which is there already.
static bool by_code(pb_tiling* t, part* p, event* e) {
  int64_t waited;
  e->taken[CORE] = pb__core_cycles(t, t->issuers->facts, e->nest);
  e->commands = 1;
  p->traffic += pb__core_traffic(t, t->issuers->facts, e->nest, &waited);
  p->waited += waited;
  p->near += pb__core_near(t, t->issuers->facts, e->nest);
  return true;
}

// By the instruction's commands, which come through the port as what they move does. Where sums begin an instruction's
// accumulate flag says so.
static bool by_commands(pb_tiling* t, part* p, event* e) {
  pb_match* match = e->found;
  e->match = match;
  e->unit = -1;
  if (!strcmp(e->nest->part, "init")) return true;
  if (!pb__tiling_select(t, e->nest, match)) return false;
  const pb_insn* insn = match->twins[e->nest->stream % match->twin_count];
  const pb_access* dest = &e->nest->access[e->nest->access_count - 1];
  int outside = pb_insn_outside(t->chip, insn), number = pb_constants_number(t->chip, outside);
  int64_t cycles = match->cycles, beats = 0;
  bool loads = false, apart = number >= 0;
  e->unit = insn->unit, e->queue = insn->queue;
  e->commands = e->words = 1;
  for (int k = match->loop_count - 1; k >= 0; --k) {
    int64_t iterations = match->nest.extent[match->loops[k]];
    e->words = pb__port_rolled(t->chip, e->commands, e->words, iterations);
    e->commands *= iterations;
  }
  if (insn->mover) {
    pb__port_moves(t->chip, e->nest, match, &cycles, &beats);
    loads = !match->fills && insn->operands[insn->expr[0].operand].memory == outside;
  } else {
    beats = pb__port_beats(t->chip, match, &loads);
    cycles = larger(cycles, beats);
  }
  // a read that is the same in each part of a shared axis serves all of them, where the mover can do that (Broadcast);
  // the others go to the port at the same time
  int64_t shared = pb__port_shared(t, insn->broadcast < 0 ? NULL : &e->nest->access[0], beats);
  e->taken[e->unit] = larger(cycles, shared) + e->commands * pb__until_next(insn);
  int64_t writes = pb__state_writes(t, e->nest, match, e->taken);
  e->commands += writes, e->words += writes;
  e->taken[e->unit] = larger(e->taken[e->unit], e->commands); // a queue's commands start one after the other
  int64_t own = apart ? 0 : beats;
  p->system += pb__port_shared(t, NULL, own + e->words * pb__port_fetch(t->chip)) -
               (apart ? 0 : pb__port_shared(t, NULL, own) - shared);
  if (apart) p->constants[number] += shared;
  if (loads && !apart) p->loaded += e->loads = shared;
  bool alone = pb__is_buffer(dest) && handed_on_alone(t, dest->buffer);
  e->until_done =
      insn->latency + (alone ? 0 : t->chip->token_cycles) + (loads ? t->chip->memories[outside].latency : 0);
  return true;
}

// A move by one of the movers beside a core. Code that starts it goes on, and starts what is taken out behind what it
// brings for the next iteration: so these are issuers of their own, and the system memory's port has both. Of more
// moves than the mover can have under way code waits for those that are too many: for each, where that is one.
static bool by_mover(pb_tiling* t, part* p, event* e) {
  const pb_nest* nest = e->nest;
  pb_move move;
  e->unit = -1;
  if (!pb_is_move(nest)) return true; // a border, which code fills once
  bool out = nest->access[1].memref.ptr != NULL;
  pb_move_of(t->chip, nest, out, t->buffers[nest->access[!out].buffer].memory, &move);
  e->unit = e->queue = 1 + 2 * move.mover + out;
  e->taken[e->unit] = pb_move_cycles(t->chip, &move, nest->access[0].type);
  p->system += e->taken[e->unit];
  e->commands = pb_move_starts(&move);
  e->until_done = out ? 0 : t->chip->memories[t->chip->system_memory].latency;
  const pb_core_mover* mover = &t->chip->core_movers[move.mover];
  int64_t many = mover->depth == 1 ? e->commands : larger(e->commands - mover->depth, 0);
  int64_t waits = e->taken[e->unit] * many / e->commands + many * e->until_done;
  issue(&p->queue[CORE], e->commands * mover->start_cycles + waits);
  return true;
}

static bool nest_cost(pb_tiling* t, const pb_nest* nest, part* p) {
  pb_match found; // not set to 0: it is large
  event e = {.nest = nest, .found = &found, .unit = CORE, .queue = CORE};
  e.taken = PB_NEW_ARRAY(t->arena, int64_t, (size_t)t->issuers->count);
  note_pieces(t, nest);
  if (!t->issuers->take(t, p, &e)) return false;
  if (e.unit >= 0) run_units(t, p, &e);
  return true;
}

// ---- trees ----

// A stage that a core runs as a whole: when its buffers are there, and until what it makes is.
static void whole_cost(pb_tiling* t, const pb_tree* stage, part* sum) {
  event e = {.nest = stage->nest, .unit = CORE, .queue = CORE, .commands = 1};
  e.taken = PB_NEW_ARRAY(t->arena, int64_t, (size_t)t->issuers->count);
  e.taken[CORE] = stage->cycles;
  run_units(t, sum, &e);
}

static bool tree_cost(pb_tiling* t, const pb_tree* tree, part* sum);

// Until what movers beside a core bring for an iteration is there, when nothing has started it ahead.
static int64_t unhidden_moves(const pb_tiling* t, const part* one) {
  int64_t most = 0;
  for (int m = 0; m < t->chip->core_mover_count; ++m) most = larger(most, one->queue[1 + 2 * m].cycles);
  return most ? most + t->chip->memories[t->chip->system_memory].latency : 0;
}

static bool has_loops_alone(const pb_tree* tree) {
  for (const pb_tree* node = tree->first; node; node = node->next)
    if (node->kind != PB_TREE_LOOP) return false;
  return true;
}

// alone: nothing but its remainder stands beside it in the loop around. Else moves of its first iteration start when it
// does, each time.
static bool loop_cost(pb_tiling* t, const pb_tree* loop, bool alone, part* sum) {
  part one;
  part_begin(t, &one);
  if (!tree_cost(t, loop, &one)) return false;
  if (t->issuers->restarts && !alone) {
    int64_t waits = unhidden_moves(t, &one);
    issue(&sum->queue[CORE], waits);
    sum->queue[CORE].free_at += waits;
  }
  pb__cost_loop(t, loop, &one, sum);
  return true;
}

// What one iteration of a loop around does, and the others do, in the average iteration.
static bool iteration_cost(pb_tiling* t, const pb_tree* iteration, part* sum) {
  int64_t iterations = t->around[iteration->loop + 1]->extent;
  queue_part* queue = &sum->queue[CORE];
  part one, others;
  part_begin(t, &one);
  part_begin(t, &others);
  if (!tree_cost(t, iteration, &one)) return false;
  if (iteration->others && !tree_cost(t, iteration->others, &others)) return false;
  int64_t cycles = (one.queue[CORE].cycles + (iterations - 1) * others.queue[CORE].cycles) / iterations;
  sum->traffic += one.traffic / iterations + others.traffic;
  sum->waited += one.waited / iterations + others.waited;
  sum->near += (one.near + (iterations - 1) * others.near) / iterations;
  issue(queue, cycles);
  queue->free_at += cycles;
  sum->end = larger(sum->end, queue->free_at);
  return true;
}

// Adds what one execution of the tree's body takes. What only one iteration of a loop does is left out where queues
// run: it is little, and not what the other iterations wait for.
static bool tree_cost(pb_tiling* t, const pb_tree* tree, part* sum) {
  for (const pb_tree* node = tree->first; node; node = node->next) {
    pb_tree loop = *node;
    bool shared = node->parts && t->issuers->of_one;
    if (shared) loop.extent = 1; // of one core, which takes the first: a remainder is another's, and no longer
    if (node->kind == PB_TREE_LOOP) t->around[node->level + 1] = node;
    if (node->kind == PB_TREE_LOOP && !(shared && node->iterations_before) &&
        !loop_cost(t, &loop, has_loops_alone(tree), sum))
      return false;
    if (node->kind == PB_TREE_ITERATION && !t->issuers->of_one && !iteration_cost(t, node, sum)) return false;
    if (node->kind == PB_TREE_NEST && !nest_cost(t, node->nest, sum)) return false;
    if (node->kind == PB_TREE_STAGE) whole_cost(t, node, sum);
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

static int64_t with_imbalance(const pb_tiling* t, const pb_plan* plan, int64_t cycles, int64_t members) {
  return cycles + cycles * pb__core_imbalance(t, t->issuers->facts->kernel, plan, members) / 1024;
}

// A core computes while caches bring what it takes next, and hides most of the shorter of the two.
static int64_t overlapped(int64_t compute, int64_t brought) {
  int64_t longer = larger(compute, brought);
  return longer + (compute + brought - longer) / EXPOSED;
}

// Members that there always are: those that compute may be few, but what caches bring they share.
static int64_t total_of_all(const pb_tiling* t, const pb_plan* plan, int64_t traffic) {
  int64_t members = t->issuers->facts->members;
  int64_t processors = pb_chip_neighbours(t->chip) ? t->chip->levels[1].max : members;
  return overlapped(with_imbalance(t, plan, t->compute, members),
                    larger(traffic, with_imbalance(t, plan, t->near, processors)));
}

static int64_t core_total(const pb_tiling* t, const pb_plan* plan, int64_t traffic, int64_t waited) {
  traffic -= waited;
  if (t->issuers->facts->members) return total_of_all(t, plan, traffic) + waited;
  return with_imbalance(t, plan, overlapped(t->compute, traffic) + waited, 0);
}

int64_t pb_tree_least(const pb_tiling* t, const pb_plan* plan) { return core_total(t, plan, 0, 0); }

static _Thread_local int64_t added_up;

int64_t pb_trees_added_up(void) { return added_up; }

static void finish_core(pb_tiling* t, part* all, pb_plan* plan) {
  all->system = all->traffic;
  (void)pb__part_busiest(t, all, &plan->bound);
  plan->port = 0;
  plan->cycles = core_total(t, plan, all->traffic, all->waited);
}

static void finish_movers(pb_tiling* t, part* all, pb_plan* plan) {
  int64_t most = pb__part_busiest(t, all, &plan->bound);
  plan->cycles = larger(larger(all->end, all->chain), most);
}

static void finish_queues(pb_tiling* t, part* all, pb_plan* plan) {
  finish_movers(t, all, plan);
  plan->cycles += pb__port_arrival(t->chip);
  plan->port = all->system;
  for (int k = 0; k < t->chip->constant_memory_count; ++k) plan->port += all->constants[k];
}

// A core that runs stages as wholes, and the movers beside it.
static const pb_issuers* core_and_movers(const pb_tiling* t) {
  const pb_chip* chip = t->chip;
  pb_issuers* all = PB_NEW(t->arena, pb_issuers);
  pb_issuer* of = PB_NEW_ARRAY(t->arena, pb_issuer, 2 * (size_t)chip->core_mover_count + 1);
  of[CORE].name = "compute";
  for (int k = 0; k < 2 * chip->core_mover_count; ++k) of[1 + k].name = chip->core_movers[k / 2].name;
  *all = (pb_issuers){.count = 1 + 2 * chip->core_mover_count,
                      .of = of,
                      .outside = chip->memories[chip->system_memory].name,
                      .take = by_mover,
                      .finish = finish_movers,
                      .restarts = true};
  return all;
}

// Of a kernel whose nests code runs, or commands; the same for all ways to share its tree.
static const pb_issuers* issuers_of(const pb_tiling* t) {
  const pb_chip* chip = t->chip;
  const pb_vkernel* k = t->group->registers;
  pb_issuers* all = PB_NEW(t->arena, pb_issuers);
  pb_core_facts* facts = k ? PB_NEW(t->arena, pb_core_facts) : NULL;
  if (k) pb_core_facts_of(chip, k, facts);
  pb_issuer* of = PB_NEW_ARRAY(t->arena, pb_issuer, (size_t)chip->unit_count + 1);
  if (k) {
    of->name = "compute";
    *all =
        (pb_issuers){.count = 1, .of = of, .outside = "memory", .facts = facts, .take = by_code, .finish = finish_core};
    return all;
  }
  *all = (pb_issuers){.count = chip->unit_count, .of = of, .queues = chip->queue_count};
  if (chip->fence) all->list = chip->list_depth, all->fence_cycles = chip->fence_cycles;
  all->outside = chip->memories[chip->system_memory].name;
  all->take = by_commands;
  all->finish = finish_queues;
  all->of_one = true;
  for (int u = 0; u < all->count; ++u) {
    const pb_queue* queue = &chip->queues[pb_unit_queue(chip, u)];
    of[u].name = queue->name;
    of[u].depth = u >= all->queues ? 0 : queue->depth > 0 ? queue->depth : 1;
  }
  return all;
}

void pb_tree_cost_wholes(pb_tiling* t, pb_plan* plan) {
  part all;
  t->issuers = core_and_movers(t);
  part_begin(t, &all);
  ++added_up;
  (void)tree_cost(t, &t->root, &all);
  t->issuers->finish(t, &all, plan);
}

bool pb_tree_cost(pb_tiling* t, pb_plan* plan) {
  part all;
  if (!t->issuers) t->issuers = issuers_of(t);
  part_begin(t, &all);
  ++added_up;
  for (int m = 0; m < t->chip->memory_count; ++m) // of a core's registers those that a tile needs have been counted
    if (!(t->issuers->facts && t->chip->memories[m].kind == PB_MEM_REGISTERS) && !pb_tree_fits(t, m)) return false;
  pb__state_count(t);
  if (!tree_cost(t, &t->root, &all)) return false;
  t->compute = larger(all.end, all.queue[CORE].cycles);
  t->near = all.near;
  for (int q = 0; q < t->issuers->count; ++q) plan->busy[q] = all.queue[q].busy;
  t->issuers->finish(t, &all, plan);
  return true;
}
