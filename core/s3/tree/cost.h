// What a tree takes, by the chip's facts.
#ifndef PB_S3_COST_H
#define PB_S3_COST_H

#include "core/s3/tree/tiling.h"

// Fills cycles, port, bound and busy of the plan whose tree was built. false: it does not fit, tiling->failure says
// why.
bool pb_tree_cost(pb_tiling* tiling, pb_plan* plan);

// Cycles and bound of a kernel whose stages a core runs as wholes, by what its plans say of each, while movers beside
// it fill its buffers and take its results.
void pb_tree_cost_wholes(pb_tiling* tiling, pb_plan* plan);

// Trees that this thread has added up so far: schedules that were looked at.
int64_t pb_trees_added_up(void);
// Of a tree of cores that was added up: no way to share it as the plan does takes less, whatever caches bring.
int64_t pb_tree_least(const pb_tiling* tiling, const pb_plan* plan);

// Bytes of a memory that the tree's buffers take: they lie side by side for the whole kernel, each from a row on.
int64_t pb_tree_bytes(const pb_tiling* tiling, int memory);
// Whether they are no more than it has. false: tiling->failure says so.
bool pb_tree_fits(pb_tiling* tiling, int memory);

// What the tree's nests hand on in a memory, not a tensor of the kernel's arguments.
static inline bool pb__is_buffer(const pb_access* access) { return !access->memref.ptr && access->buffer >= 0; }

// Of what fills a bank beside its queue's other commands: cycles behind its own until the next one can begin. In
// between stands a command that takes the bank, and starts when it is there.
static inline int64_t pb__until_next(const pb_insn* insn) {
  return insn->beside && insn->operand_count ? insn->latency + 1 : 0;
}

// Inside cost, of the port of a memory outside. A mover goes run by run. *cycles: of all its runs, when it reads a beat
// ahead of a run whose first written beat needs two, if those are more than it says already; *beats: what the port
// moves is added.
void pb__port_moves(const pb_chip* chip, const pb_nest* nest, const pb_match* match, int64_t* cycles, int64_t* beats);
// Beats of an instruction that does more than move. *loads: some of them read.
int64_t pb__port_beats(const pb_chip* chip, const pb_match* match, bool* loads);
// The port is every core's: what one core does there the others do too, in shares as large as its own or smaller.
// read (NULL: none): what is the same in each part of a shared axis serves all of them.
int64_t pb__port_shared(const pb_tiling* tiling, const pb_access* read, int64_t cycles);
// Beats of the system memory's port that a command takes, and cycles until one arrives.
int64_t pb__port_fetch(const pb_chip* chip);
int64_t pb__port_arrival(const pb_chip* chip);
// Words for `iterations` of a loop in each of which a queue runs `commands` that are `words` long. A hardware loop
// takes them when they are few enough for its body: once to begin with, as the first iteration often waits for other
// tokens than those that follow, and once as body and steps.
int64_t pb__port_rolled(const pb_chip* chip, int64_t commands, int64_t words, int64_t iterations);
// number * part / whole, down or up, which does not overflow where the whole is small.
int64_t pb__cost_share(int64_t number, int64_t part, int64_t whole, bool up);

// Commands that write state for one execution of a nest, whose cycles are added to what it takes of each
// unit; and, before that, which fields of which writer the tree's nests read.
int64_t pb__state_writes(const pb_tiling* tiling, const pb_nest* nest, const pb_match* match, int64_t* taken);
void pb__state_count(pb_tiling* tiling);

#endif
