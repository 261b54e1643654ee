// Covering: a pointwise value that no instruction computes alone, as several instructions that do, each on what those
// before it left in a memory of the chip. Tree tiling by dynamic programming (Aho, Ganapathi, Tjiang, "Code Generation
// Using Tree Matching and Dynamic Programming", TOPLAS 1989), with the instructions' semantics as patterns and the
// memories as the kinds of places.
#ifndef PB_SELECT_COVER_H
#define PB_SELECT_COVER_H

#include "core/select/select.h"

enum { PB_MAX_PIECES = 128, PB_COVER_NODES = 256 };

// One instruction: makes the value of `node` in `memory`, or adds the value of `addend` to what is there already.
typedef struct pb_piece {
  const pb_insn* insn;
  int node;
  int memory;
  int addend; // -1: it sets. Else `node` is a sum (a maximum) of `addend` and of what stands in its place:
  int onto;   // the node that an earlier piece made there, -1: the access
  int onto_access;
  int leaf_count; // nodes that it reads where earlier pieces left them
  int leaves[PB_MAX_OPERANDS], leaf_memory[PB_MAX_OPERANDS];
} pb_piece;

typedef struct pb_cover {
  int count; // in the order in which they run; the last one makes the nest's value
  pb_piece pieces[PB_MAX_PIECES];
} pb_cover;

// The cheapest cover of a nest that sets its destination. Matches expressions, types and memories; whether addresses
// can be said is for pb_select to judge, piece by piece. `carried`: an access whose place may be overwritten, -1: none.
// `sets`: constants may be pieces of their own, in all lanes of a row. false: there is none.
bool pb_cover_find(const pb_chip* chip, const pb_flat* nest, int carried, bool sets, pb_cover* cover);

#endif
