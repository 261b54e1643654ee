// Runs a function of a module on this machine, by MLIR's own lowering and JIT. It shares no code with any back end, so
// it can judge what the passes make of a module.
#ifndef PB_IR_EXECUTE_H
#define PB_IR_EXECUTE_H

#include "core/base/diag.h"

#include <mlir-c/IR.h>

// Runs `function` of `module`, which stays as it is. The function takes memrefs of static shape and identity layout
// only and returns nothing; buffers[k] is argument k, dense and row-major, as large as its type says, and the caller's.
// PB_ERR_INPUT (PB2002): no such function, an argument of another kind, a count that differs, or a module that does not
// lower; the diagnostic says which.
pb_status pb_ir_execute(MlirModule module, const char* function, void* const* buffers, int count,
                        pb_diag* diag) PB_MUST_CHECK;

// The same for several sets of buffers, one after the other: set s begins at buffers[s * count].
pb_status pb_ir_execute_sets(MlirModule module, const char* function, void* const* buffers, int count, int sets,
                             pb_diag* diag) PB_MUST_CHECK;

// MLIR's passes, once in a process, whoever asks first in whichever thread.
void pb_ir_register_passes(void);

#endif
