// The machine of a grid: an executable model of a GPU that takes code as the driver does, as the text or the object
// that stands in the engine, and runs it on this computer with checks that no GPU makes.
#ifndef PB_GRID_MACHINE_H
#define PB_GRID_MACHINE_H

#include "pb/device.h"
#include "tdl/chip.h"

// Operations of devices for `chip`, the same ones for all; NULL: it is not controlled as a grid. Options of open():
//   schedule=early|late|random  when asynchronous copies land, and which warp runs next (default early)
//   seed=N        of the random schedule (default 1)
//   repeats=0|1   lanes of one store may store the same numbers of 32 bits at one place (default 0), as the CUDA C++
//                 Programming Guide has it (SIMT architecture: one of them is done), and Triton relies on
//   check=0|1     faults for uninitialised reads and races (default 1); bounds and barriers are always checked
//   threads=N     host threads that run blocks (default 0: as many as there are processors)
//   limit=N       instructions of warps in one launch before it is taken for endless (default 10^11)
const pb_device_ops* pb_grid_machine_ops(const pb_chip* chip);

#endif
