// Kernels that no plan took, of plain nests: their iterations go to the threads of blocks, one each, where no two of
// them write one element.
#ifndef PB_GRID_SPREAD_H
#define PB_GRID_SPREAD_H

#include "targets/control/grid/lanes/lanes.h"
#include "tdl/chip.h"

#include <mlir-c/IR.h>

// Rewrites the kernel, if it is such a one, and says its launch: of one nest as many blocks as there is work for; of
// several one block, whose threads wait for each other behind each, as one reads what another wrote. Which thread it is
// a function @pb_grid_thread says, @pb_grid_wait is the wait; the module has them. What shares one dim of plain loops
// (core/s3/kernel/plain.h) and is none of plain nests does so among threads, rather than warps.
void pb_grid_spread(const pb_chip* chip, MlirOperation kernel, pb_launch* launch);

#endif
