// What a tree takes, by the chip's facts.
#ifndef PB_S3_COST_H
#define PB_S3_COST_H

#include "core/s3/tree/tiling.h"

// Fills cycles, bound and busy of the plan whose tree was built. false: it does not fit, tiling->failure says why.
bool pb_tree_cost(pb_tiling* tiling, pb_plan* plan);

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

// Inside cost: commands that write state for one execution of a nest, whose cycles are added to what it takes of each
// unit; and, before that, which fields of which writer the tree's nests read.
int64_t pb__state_writes(const pb_tiling* tiling, const pb_nest* nest, const pb_match* match, int64_t* taken);
void pb__state_count(pb_tiling* tiling);

#endif
