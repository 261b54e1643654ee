// Modules from text and to text, and the context that they are of.
#ifndef PB_IR_MODULE_H
#define PB_IR_MODULE_H

#include "core/base/diag.h"

#include <mlir-c/IR.h>

// A context with every dialect that the stages use; the caller destroys it.
MlirContext pb_context_create(void);

// Parses the module in the file, "-": standard input. Faults become diagnostics with the place in the text; `name`: the
// file's there.
pb_status pb_module_parse(MlirContext context, const char* path, const char* name, pb_diag* diag,
                          MlirModule* module) PB_MUST_CHECK;
// The same in two steps: the file's bytes, malloc'ed, NULL: it cannot be read; and the text, which stays the caller's.
char* pb_module_text(const char* path, size_t* length);
// A text that was made of another one: which place of that one a place is. NULL: it is the file's.
typedef struct pb_module_origin {
  void (*place)(const void* user, int* line, int* column);
  const void* user;
} pb_module_origin;
pb_status pb_module_parse_text(MlirContext context, const char* text, size_t length, const char* name,
                               const pb_module_origin* origin, pb_diag* diag, MlirModule* module) PB_MUST_CHECK;
// Runs MLIR's own passes on it; what they find becomes diagnostics like the parser's.
pb_status pb_module_lower(MlirModule module, const char* pipeline, const char* name, pb_diag* diag) PB_MUST_CHECK;
char* pb_module_print(MlirModule module); // malloc'ed

#endif
