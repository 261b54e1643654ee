// Stages S4 and S5 for control by threads: kernels become functions of a shared object, through LLVM.
#ifndef PB_THREADS_EMIT_H
#define PB_THREADS_EMIT_H

#include "core/artefact/engine.h"
#include "tdl/chip.h"

#include <mlir-c/IR.h>

// Compiles every kernel function (pb.kernel) of the module to `void pb_NAME(void** args, int64_t thread, int64_t
// threads)` and puts the object into engine->native, the kernels into engine->kernels. The module stays as it is. What
// LLVM or the linker refuses is PB_ERR_SYSTEM with their words. `workers`: threads that compile at once at most, 0: one
// a processor; the object is the same.
pb_status pb_threads_emit(const pb_chip* chip, MlirModule module, int workers, pb_engine* engine,
                          pb_diag* diag) PB_MUST_CHECK;

// Cycles that a second thread would save the kernel, less what it costs that both meet (core/driver/control.h).
int64_t pb_threads_saved(const pb_chip* chip, MlirOperation kernel);

// What pb_threads_emit would compile, as text, malloc'ed: LLVM IR as it comes from the kernels, or, when `assembly`,
// what the code generator makes of it.
pb_status pb_threads_print(const pb_chip* chip, MlirModule module, bool assembly, pb_diag* diag,
                           char** text) PB_MUST_CHECK;

#endif
