// A tiled kernel as text, and read back: the tree that `tile` printed, for whoever turns its nests into calls or
// values.
#ifndef PB_S3_TILED_H
#define PB_S3_TILED_H

#include "core/s3/kernels.h"
#include "core/s3/tree/tiling.h"

// On a tiled kernel whose nests take tensors by element number: code loads these into registers, and no nest of it
// needs an instruction.
#define PB_BY_NUMBER "pb.by_number"

typedef struct pb_tiled_buffer {
  MlirValue ir;
  pb_access shape;
  const char* name;
  pb_type lies; // as pb_buffer has it
  int memory, depth;
  int level;     // loops around it
  int argument;  // of the kernel, which stays on the chip from kernel to kernel; -1: an alloc
  int64_t place; // one number for all that lie at one place, -1: it has its own
} pb_tiled_buffer;

// Nests are as they stand: outer columns are the loops around, and accesses of buffers have their numbers.
typedef struct pb_tiled {
  pb_tree root; // a LOOP of one iteration
  int buffer_count;
  pb_tiled_buffer buffers[PB_MAX_BUFFERS]; // arguments first, then in the order in which they stand
} pb_tiled;

// Everything lies in unit->pass. What is no nest, loop or buffer is left out.
pb_status pb_tiled_read(pb_unit* unit, MlirOperation func, pb_tiled* tiled) PB_MUST_CHECK;

// Loops and conditions of a tree as affine IR, and what `user` makes of its nests and buffers where they stand.
typedef struct pb_tiled_printer {
  pb_text* text;
  void* user;
  pb_status (*nest)(void* user, pb_nest* nest, int indent);
  void (*alloc)(void* user, int buffer, int indent);
  const pb_tree* loops[PB_NEST_OUTERS]; // those around, outermost first
  int levels;
} pb_tiled_printer;
pb_status pb_tiled_print(pb_tiled_printer* p, const pb_tree* tree, int indent) PB_MUST_CHECK;

#endif
