// Inside the driver: the host function becomes the engine's steps, tensors between kernels get places in the arena.
#ifndef PB_DRIVER_HOST_H
#define PB_DRIVER_HOST_H

#include "core/artefact/engine.h"
#include "core/s1/control.h"
#include "core/s3/s3.h"

// Fills the engine's inputs, outputs, constants, arena and steps. Kernels must be there already, by name.
// Refuses what the chip's system memory cannot hold; asked in front of what takes time, the passes and S4.
pb_status pb_host_check(const pb_unit* unit) PB_MUST_CHECK;
pb_status pb_host_build(const pb_unit* unit, pb_engine* engine) PB_MUST_CHECK;
// The same of a program in segments, whose functions @main these are: their steps, and between them those of its marks.
pb_status pb_host_build_segments(const pb_unit* unit, const pb_s1* program, const pb_segments* segments,
                                 const MlirOperation* mains, pb_engine* engine) PB_MUST_CHECK;

#endif
