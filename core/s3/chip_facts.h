// What passes ask of a chip as a whole: each answer is read off its memories, instructions and levels. What can be
// asked of one operand, memory or instruction is asked there instead.
#ifndef PB_S3_CHIP_FACTS_H
#define PB_S3_CHIP_FACTS_H

#include "core/poly/nest.h"
#include "tdl/chip.h"

typedef struct pb_vector_facts {
  int memory;        // the register file, -1: the chip has none
  int64_t row_bytes; // of a register
  int64_t lanes;     // elements of 4 bytes in it, as sums have
  int registers;
  int same_at_once;         // neighbours that are one number for all lanes each and come by one load
  int each_at_once;         // neighbours of each lane's own that come by one load
  int apart_cycles;         // of a load whose lanes have addresses of their own; 0: lanes are neighbours in memory
  const pb_memory* near[3]; // what holds data near a core or thread, innermost first; NULL: none
  int64_t cache[3];         // its bytes, or 0
  int64_t way;              // bytes of the innermost one that are in different sets, and
  int ways;                 // how many lines a set has
} pb_vector_facts;

pb_vector_facts pb_vector_facts_of(const pb_chip* chip);
// The memory that holds what its cores compute; -1: none does.
int pb_chip_register_file(const pb_chip* chip);
// Whether code is made for its cores: they compute whatever a nest says, in registers.
bool pb_chip_runs_code(const pb_chip* chip);
// Whether its units take whole rows of lanes and nothing else: no code loads single elements, with any stride.
bool pb_chip_whole_rows(const pb_chip* chip);
// How many neighbours its units take together, so that none can be read or written alone; 1: any element can.
int pb_chip_row(const pb_chip* chip);
// Whether there are several.
bool pb_chip_takes_rows(const pb_chip* chip);
// Whether it makes a number of the first elements alone that a row of lanes has, for elements of the type: a sum or
// another (PB_SET: any).
bool pb_chip_counts_lanes(const pb_chip* chip, pb_type type, pb_reduce reduce);
// The most dims of tensors whose channels may lie in blocks: images, [n, c, h, w], and where code loads elements with
// any stride volumes, [n, c, d, h, w].
int pb_chip_image_rank(const pb_chip* chip);
static inline bool pb_is_image(int rank, int most) { return rank >= PB_IMAGE_RANK && rank <= most; }
// The memory of a core's own, no cache, through which tensors pass on their way to registers and back; -1: there is
// none.
int pb_chip_staging(const pb_chip* chip);
// Whether cores read and write tensors where they are, as caches show them.
bool pb_chip_in_place(const pb_chip* chip);
// Whether neighbours among those that share a kernel are on one processor, and find in its cache what the other took.
static inline bool pb_chip_neighbours(const pb_chip* chip) {
  return chip->level_count > 1 && chip->levels[1].max < chip->levels[0].max;
}
// Cycles of work that all its cores share.
static inline int64_t pb_chip_shared(const pb_chip* chip, int64_t cycles) { return cycles / chip->cores; }
// Whether movers bring what its instructions take to memories of its own, and take it back.
bool pb_chip_moves(const pb_chip* chip);
bool pb_chip_moves_nothing(const pb_chip* chip);

#endif
