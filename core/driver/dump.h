// --dump-intermediates=DIR: what every stage and pass leaves, as DIR/NN-NAME in the order of compilation.
#ifndef PB_DRIVER_DUMP_H
#define PB_DRIVER_DUMP_H

#include "core/base/diag.h"

#include <mlir-c/IR.h>

typedef struct pb_dump {
  const char* folder; // NULL: nothing is written
  int count;
} pb_dump; // starts as {0}

// Makes the folder unless it is there. NULL: the calls below do nothing.
pb_status pb_dump_start(pb_dump* dump, const char* folder, pb_diag* diag) PB_MUST_CHECK;
// Writes NN-NAME; frees `text` in any case.
pb_status pb_dump_text(pb_dump* dump, const char* name, char* text, pb_diag* diag) PB_MUST_CHECK;
// Writes NN-NAME.mlir.
pb_status pb_dump_module(pb_dump* dump, const char* name, MlirModule module, pb_diag* diag) PB_MUST_CHECK;

#endif
