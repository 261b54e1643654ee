// Stage S2: the tensor program in value form: one function of plain affine nests, one memref for each tensor, each
// written once (a pad by disjoint writers), no views. Extents of 1 make no loop.
#ifndef PB_S2_S2_H
#define PB_S2_S2_H

#include "core/s1/s1.h"

// The text of the module; malloc'ed, the caller frees it. Constants stand in it as arguments with their ids.
char* pb_s2_build(const pb_s1* program, const pb_consts* consts);

#endif
