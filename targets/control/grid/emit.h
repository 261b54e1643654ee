// Stages S4 and S5 for control by a grid: kernels become entries of modules of PTX or of AMD's code, and launches.
#ifndef PB_GRID_EMIT_H
#define PB_GRID_EMIT_H

#include "core/artefact/engine.h"
#include "tdl/chip.h"

#include <mlir-c/IR.h>

// Compiles every kernel function (pb.kernel) of the module to an entry pb_NAME of one of the engine's modules, and adds
// the kernels with their launches to the engine. The module stays as it is. `workers`: as in threads/emit.h.
pb_status pb_grid_emit(const pb_chip* chip, MlirModule module, int workers, pb_engine* engine,
                       pb_diag* diag) PB_MUST_CHECK;
// The same as text, malloc'ed: LLVM IR of lanes, or the processor's assembly.
pb_status pb_grid_print(const pb_chip* chip, MlirModule module, bool assembly, pb_diag* diag,
                        char** text) PB_MUST_CHECK;

#endif
