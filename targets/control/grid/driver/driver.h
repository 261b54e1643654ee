// GPUs through the libraries of their drivers, which are opened when a device is: nothing is linked against them.
#ifndef PB_GRID_DRIVER_H
#define PB_GRID_DRIVER_H

#include "pb/device.h"
#include "tdl/chip.h"

// Devices "cuda" and "hip"; NULL: the chip is of another instruction set. Options of open(): N, the device's number.
// The library is the one that PB_CUDA_LIBRARY or PB_HIP_LIBRARY names, else libcuda.so.1 or libamdhip64.so, wherever
// the system's loader finds it.
const pb_device_ops* pb_cuda_ops(const pb_chip* chip);
const pb_device_ops* pb_hip_ops(const pb_chip* chip);

#endif
