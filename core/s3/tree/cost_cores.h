// Inside cost: what a core takes for a nest of a register tile (cost.c adds up the tree around it).
#ifndef PB_S3_COST_CORES_H
#define PB_S3_COST_CORES_H

#include "core/s3/kernel/vector_kernel.h"
#include "core/s3/tree/tiling.h"

typedef struct pb_core_facts {
  const pb_vkernel* kernel; // NULL: the facts are the chip's alone
  pb_vector_facts vector;
  int64_t line;            // bytes of a line of the innermost cache, 0: it is none, and has no sets that lines fall on
  const pb_memory* shared; // what lies behind what is near a core
  int64_t latency;         // cycles until a sum can be added to again
  int64_t registers;       // that hold the sums
  int64_t register_bytes;
  int64_t products; // cycles of one step of one sum
  int64_t units;    // that take such steps at once
  int64_t members;  // that share a kernel and always are there; 0: nobody knows how many there will be
} pb_core_facts;

// Of a chip whose cores run code, and of the kernel's instruction; NULL: of the chip alone.
void pb_core_facts_of(const pb_chip* chip, const pb_vkernel* kernel, pb_core_facts* facts);
// Bytes a cycle of what is near a core, the innermost 0; where it says none, `without`.
int64_t pb_core_rate_of(const pb_core_facts* facts, int cache, int64_t without);
// Bytes a cycle at which a block of this size is read again.
int64_t pb_core_rate(const pb_core_facts* facts, int64_t bytes);

// So many registers of sums or values a tile has at most: each is written out.
enum { PB_VTILE_POINTS = 64 };

// Registers that the dims of `moves` (by dim, NULL: all) make of a tile; size: registers that it has along each.
int64_t pb_core_registers(const pb_vkernel* kernel, const int64_t* size, const int64_t* moves);
// Registers of x that the windows of such a tile cover. outer: of them those that an iteration of this summed dim
// leaves to the next ones; -1: all.
int64_t pb_core_window(const pb_vkernel* kernel, const int64_t* size, int outer);
// Cycles of one execution of the nest. What fills registers with an operand of a product takes none of its own: its
// loads go on beside the product's arithmetic.
int64_t pb__core_cycles(pb_tiling* tiling, const pb_core_facts* facts, const pb_nest* nest);
// Of the nest, where members share the innermost cache, cycles in which that hands over what it loads. Else 0: a core's
// cycles have them.
int64_t pb__core_near(const pb_tiling* tiling, const pb_core_facts* facts, const pb_nest* nest);
// Of the cycles for its products of x those outside of borders of zeros. `nest` is what loads x.
int64_t pb__core_outside(const pb_tiling* tiling, const pb_vkernel* kernel, const pb_nest* nest, const pb_access* x,
                         int64_t cycles);
// Cycles in which what it reads of products' operands, and what it stores, comes from caches further out: of all
// iterations of the loops around, tiling->around. *waited: those of them that computing does not hide.
int64_t pb__core_traffic(const pb_tiling* tiling, const pb_core_facts* facts, const pb_nest* nest, int64_t* waited);
// So many rows of as many columns of tiles, shared out in parts of each.
typedef struct pb_shares {
  int64_t rows, columns, row_parts, column_parts;
  int64_t members; // that there always are to take them (pb_level.busy); 0: nobody knows how many there will be
} pb_shares;
// Uneven shares of them: of 1024 cycles that all members need together what they take longer, since some have more
// tiles than others or none. Where nobody knows how many there will be, what 2, 4 and 8 threads lose on average.
int64_t pb_share_imbalance(const pb_shares* shares);
// The same of a plan's tiles, for so many members.
int64_t pb__core_imbalance(const pb_tiling* tiling, const pb_vkernel* kernel, const pb_plan* plan, int64_t members);

#endif
