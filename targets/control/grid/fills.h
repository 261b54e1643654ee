// Borders of tensors that a planned kernel fills beside its tiles. To cores with threads the first of them does it in
// between; of a grid's warps one would come far behind all others.
#ifndef PB_GRID_FILLS_H
#define PB_GRID_FILLS_H

#include "targets/control/grid/lanes/lanes.h"
#include "tdl/chip.h"

#include <mlir-c/IR.h>

// All warps of the launch share the kernel's fills, a row of neighbours each, which its lanes store. Which warp it is a
// function @pb_grid_warp says; the module has it.
void pb_grid_spread_fills(const pb_chip* chip, MlirOperation kernel, const pb_launch* launch);

#endif
