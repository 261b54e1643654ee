// Modules from text and to text.
#ifndef PB_IR_MODULE_H
#define PB_IR_MODULE_H

#include "core/base/diag.h"

#include <mlir-c/IR.h>

// Parses a module from text or a file. Faults become diagnostics with the place in the text.
pb_status pb_module_parse(MlirContext context, const char* path, pb_diag* diag, MlirModule* module) PB_MUST_CHECK;
char* pb_module_print(MlirModule module); // malloc'ed

#endif
