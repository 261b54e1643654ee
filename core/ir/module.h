// Modules from text and to text.
#ifndef PB_IR_MODULE_H
#define PB_IR_MODULE_H

#include "core/base/diag.h"

#include <mlir-c/IR.h>

// Parses the module in the file, "-": standard input. Faults become diagnostics with the place in the text; `name`: the
// file's there.
pb_status pb_module_parse(MlirContext context, const char* path, const char* name, pb_diag* diag,
                          MlirModule* module) PB_MUST_CHECK;
char* pb_module_print(MlirModule module); // malloc'ed

#endif
