// Which queues order which: counters of tokens, and ways by several of them.
#include "tdl/check/check.h"

#include <string.h>

static int way_by(const pb_chip* chip, bool alone, int from, int to) {
  uint32_t reached = 1u << to; // backwards, a counter further in each iteration
  for (int iteration = 0; iteration < chip->queue_count; ++iteration) {
    uint32_t next = reached;
    for (int q = 0; q < chip->queue_count; ++q)
      if ((alone ? chip->queues[q].alone : chip->queues[q].gives) & reached) next |= 1u << q;
    if (next >> from & 1) {
      uint32_t gives = alone ? chip->queues[from].alone : chip->queues[from].gives;
      for (int q = 0; q < chip->queue_count; ++q)
        if (gives & reached & 1u << q) return q;
    }
    reached = next;
  }
  return -1;
}

int pb_token_way(const pb_chip* chip, int from, int to) { return way_by(chip, false, from, to); }

int pb_plain_way(const pb_chip* chip, int from, int to) { return way_by(chip, true, from, to); }

static bool is_read_as_state(const pb_chip* chip, const pb_insn* writer) {
  for (int i = 0; i < chip->insn_count; ++i)
    for (int f = 0; f < chip->insns[i].field_count; ++f)
      if (chip->insns[i].fields[f].state_writer == writer->index) return true;
  return false;
}

const pb_insn* pb_chip_idle_insn(const pb_chip* chip, int queue) {
  if (chip->wait_field) // it waits, and signals behind that
    return pb_semaphore_insn(chip, queue, true) ? pb_semaphore_insn(chip, queue, false) : NULL;
  for (int i = 0; i < chip->insn_count; ++i) {
    const pb_insn* insn = &chip->insns[i];
    if (insn->queue == queue && !insn->operand_count && insn->state_of < 0 && !is_read_as_state(chip, insn))
      return insn;
  }
  return NULL;
}

static int field_from_one(const pb_insn* insn, const char* name) { return name ? 1 + pb_insn_field(insn, name) : 0; }

// A field that holds these numbers.
static void check_field(const pb_insn* insn, int by, int64_t least, int64_t most, pb_diag* diag, int* faults) {
  const pb_field* f = &insn->fields[by - 1];
  for (int64_t n = least; n <= most; ++n) {
    if (pb_field_holds(f, n) && f->bits[0] >= 0) continue;
    ++*faults;
    (void)pb_error(diag, (pb_place){.file = insn->file, .line = insn->line, .column = 1}, 3372,
                   "a wider field, with all its bits in Inst", "%s: field '%s' cannot say %lld", insn->name, f->name,
                   (long long)n);
    return;
  }
}

void pb__find_semaphore_insns(pb_chip* chip, pb_diag* diag, int* faults) {
  for (int i = 0; i < chip->insn_count && chip->wait_field; ++i) {
    pb_insn* insn = &chip->insns[i];
    if (insn->operand_count) continue;
    insn->waits_by = field_from_one(insn, chip->wait_field);
    insn->counts_by = insn->waits_by ? field_from_one(insn, chip->count_field) : 0;
    insn->signals_by = field_from_one(insn, chip->signal_field);
    if (insn->waits_by) check_field(insn, insn->waits_by, 0, chip->semaphore_count - 1, diag, faults);
    if (insn->counts_by) check_field(insn, insn->counts_by, 1, (1 << chip->semaphore_wait_bits) - 1, diag, faults);
    if (insn->signals_by) check_field(insn, insn->signals_by, 0, chip->semaphore_count - 1, diag, faults);
  }
  for (int q = 0; q < 2 * chip->queue_count && chip->wait_field; ++q) {
    const pb_queue* queue = &chip->queues[q / 2];
    const pb_insn* insn = pb_semaphore_insn(chip, q / 2, q % 2);
    bool says = insn && (q % 2 || insn->counts_by || !chip->count_field) && !(insn->waits_by && insn->signals_by);
    if (says || !(q % 2 ? queue->signals : queue->waits)) continue;
    ++*faults;
    (void)pb_error(diag, chip->tokens_place, 3373, "an Instruction of that queue with Operands = (ins) and that field",
                   "%s %s semaphores, and no command of it has the field '%s' for that", queue->name,
                   q % 2 ? "gives" : "takes",
                   q % 2  ? chip->signal_field
                   : insn ? chip->count_field
                          : chip->wait_field);
  }
}

// Whether queue `to` leads back to the giver by semaphores of two queues each, and commands that do nothing: then the
// giver can be behind all that `to` has waited for before.
static bool leads_back(const pb_chip* c, int to, int giver) {
  if (!pb_chip_idle_insn(c, giver)) return false;
  for (int at = to; at != giver;) {
    at = pb_plain_way(c, at, giver);
    if (at < 0 || (at != giver && !pb_chip_idle_insn(c, at))) return false;
  }
  return true;
}

void pb__find_sure_semaphores(pb_chip* c) {
  for (int q = 0; q < c->queue_count && c->semaphore_count; ++q) {
    c->queues[q].gives = c->queues[q].alone = c->queues[q].takes = 0;
    for (int k = 0; k < c->semaphore_count; ++k)
      if (c->semaphores[k].givers == 1u << q && !(c->semaphores[k].takers & (c->semaphores[k].takers - 1)))
        c->queues[q].gives = c->queues[q].alone |= c->semaphores[k].takers;
  }
  for (int k = 0; k < c->semaphore_count; ++k)
    for (int to = 0; to < c->queue_count; ++to) {
      if (c->semaphores[k].takers != 1u << to) continue; // of several, others must say which takes next
      for (int q = 0; q < c->queue_count; ++q)
        if (c->semaphores[k].givers >> q & 1 && q != to && leads_back(c, to, q)) c->queues[q].gives |= 1u << to;
    }
  for (int q = 0; q < c->queue_count && c->semaphore_count; ++q)
    for (int to = 0; to < c->queue_count; ++to)
      if (c->queues[q].gives >> to & 1) c->queues[to].takes |= 1u << q;
}

// The first memory on the chip that both use and one of them writes; -1: none.
static int shared_memory(const pb_chip* chip, int p, int c) {
  uint32_t uses[2] = {0}, writes[2] = {0};
  for (int i = 0; i < chip->insn_count; ++i) {
    const pb_insn* insn = &chip->insns[i];
    if (insn->queue != p && insn->queue != c) continue;
    for (int o = 0; o < insn->operand_count; ++o) {
      if (insn->operands[o].memory < 0 || pb_is_outside(&chip->memories[insn->operands[o].memory])) continue;
      uses[insn->queue == c] |= 1u << insn->operands[o].memory;
      if (insn->operands[o].written) writes[insn->queue == c] |= 1u << insn->operands[o].memory;
    }
  }
  if (p == c) uses[0] = uses[1], writes[0] = writes[1];
  uint32_t both = (uses[0] & writes[1]) | (uses[1] & writes[0]);
  for (int m = 0; m < chip->memory_count; ++m)
    if (both >> m & 1) return m;
  return -1;
}

// One queue whose commands complete in any order, and meet in a memory.
static void check_own(const pb_chip* chip, int q, pb_diag* diag, int* faults) {
  int memory = shared_memory(chip, q, q);
  if (memory < 0 || chip->queues[q].in_order || chip->queues[q].gives >> q & 1) return;
  ++*faults;
  (void)pb_error(diag, chip->tokens_place, 3285,
                 chip->semaphore_count ? "a Semaphore that it alone gives and takes, or let InOrder = 1"
                                       : "a Pair of it and itself, or let InOrder = 1",
                 "no tokens lead from %s to %s, whose commands complete in any order and share %s",
                 chip->queues[q].name, chip->queues[q].name, chip->memories[memory].name);
}

static void check_pair(const pb_chip* chip, int p, int c, pb_diag* diag, int* faults) {
  int memory = shared_memory(chip, p, c), way = p;
  if (memory < 0 || chip->queues[p].gives >> c & 1) return;
  const char *from = chip->queues[p].name, *to = chip->queues[c].name;
  while (way >= 0 && way != c) {
    way = pb_token_way(chip, way, c);
    if (way < 0) {
      ++*faults;
      (void)pb_error(
          diag, chip->tokens_place, 3285,
          chip->semaphore_count
              ? "a Semaphore that one gives and one takes; or that several give, with a way back to each by such"
              : "a Pair, or Pairs by way of other queues",
          "no tokens lead from %s to %s, which both use %s", from, to, chip->memories[memory].name);
    } else if (way != c && !pb_chip_idle_insn(chip, way)) {
      ++*faults;
      (void)pb_error(diag, chip->tokens_place, 3286,
                     "an Instruction with Dims = [] and Operands = (ins), whose fields are nobody's state",
                     "tokens from %s to %s go by way of %s, which has no command that does nothing", from, to,
                     chip->queues[way].name);
    }
  }
}

void pb__check_order(const pb_chip* chip, pb_diag* diag, int* faults) {
  for (int q = 0; q < chip->queue_count; ++q) check_own(chip, q, diag, faults);
  for (int p = 0; p < chip->queue_count; ++p)
    for (int c = 0; c < chip->queue_count; ++c)
      if (p != c) check_pair(chip, p, c, diag, faults);
}
