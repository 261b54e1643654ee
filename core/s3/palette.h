// Weights of few values: outside the chip they lie as codes, and a command makes elements of these by a table of the
// values, the palette. Exact: a constant that has more values than a chip's palettes have room for stays as it is.
#ifndef PB_S3_PALETTE_H
#define PB_S3_PALETTE_H

#include "core/s3/program.h"
#include "core/s3/s3.h"

// A constant as two: codes, of i8 whatever their bits, of its shape, and the values that they count.
typedef struct pb_palette {
  int bits;         // of a code
  int codes, table; // numbers of constants
} pb_palette;

// Whether any command of the chip makes elements so.
bool pb_chip_has_palettes(const pb_chip* chip);
// Splits the constant for an instruction that takes its weights in the memory `held`, if the chip brings them there by
// a palette that has room for its values, and no later than it brings the elements themselves.
bool pb_palette_split(pb_unit* unit, int id, int held, pb_palette* palette);

// Bits of a code of the palette whose codes the argument of a kernel is, noted there as pb.palette; 0: it is none.
int pb_palette_bits(MlirValue value);
// A nest of three accesses, codes, palette and result, becomes the one that makes the result of these.
void pb_nest_expand(pb_nest* nest);
// Whether the nest makes weights so, in a kernel's function.
bool pb_nest_expands(const pb_nest* nest);

#endif
