// Engines for two targets: what the chip leaves becomes native code beside its commands.
#ifndef PB_DRIVER_MIXED_H
#define PB_DRIVER_MIXED_H

#include "core/artefact/engine.h"
#include "core/s3/fallback.h"

// Adds the kernels that unit->fallback holds to the engine, compiled for the other target. Nothing to do when the chip
// runs all of them.
pb_status pb_mixed_emit(pb_unit* unit, pb_engine* engine) PB_MUST_CHECK;

#endif
