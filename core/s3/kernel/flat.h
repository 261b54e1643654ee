// A nest as the selection sees it: linear strides, and the memories that its operands lie in.
#ifndef PB_S3_FLAT_H
#define PB_S3_FLAT_H

#include "core/poly/nest.h"
#include "core/select/select.h"

// Whether more of the tensor lies behind the index that the body computes: it names a row.
static inline bool pb_gathers_rows(const pb_access* access) {
  return access->gathered && access->gathered < access->rank;
}

// The nest with its operands in any memory.
void pb_flat_begin(const pb_nest* nest, pb_flat* flat);
// Access `access` lies in a memory of the chip (PB_ANY_MEMORY: in any): notes it, and whether all that moves the base
// of its window keeps it on whole rows there.
void pb_flat_place(const pb_chip* chip, const pb_nest* nest, int access, int memory, pb_flat* flat);

// Where what an access reads or writes lies: in a tensor outside, or in a buffer of a memory (PB_ANY_MEMORY: of any),
// of which there are so many copies, of so many bytes each.
typedef struct pb_flat_home {
  bool tensor;
  int memory, copies;
  int64_t bytes;
  pb_type lies; // PB_I4, PB_U4: accesses are of i8, and lie two in a byte
} pb_flat_home;

// The nest of a tile with each access in its home, as the plan asks for an instruction and as map does: what the one is
// told the other is too. What is made lies in the arena.
void pb_flat_at_homes(const pb_chip* chip, const pb_nest* nest, const pb_flat_home* homes, pb_arena* arena,
                      pb_flat* flat);

// Where accesses are of buffers in which codes lie two in a byte (PB_I4, PB_U4: see pb_buffer), the nest as a command
// has it that copies them, makes bytes of them or widens them itself. lies: by access; before these are placed. What is
// made lies in the arena.
void pb_flat_lies(const pb_nest* nest, const pb_type* lies, pb_arena* arena, pb_flat* flat);

// Leaves of what is summed along rows of `lanes` elements the whole rows alone, or the one that is not whole: what is
// behind them is a tile of its own.
void pb_flat_cut_rows(pb_flat* flat, int64_t lanes);

#endif
