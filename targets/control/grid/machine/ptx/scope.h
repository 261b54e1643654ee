// A pair of braces within a function: registers and labels of it are not seen outside.
#ifndef PB_GRID_MACHINE_PTX_SCOPE_H
#define PB_GRID_MACHINE_PTX_SCOPE_H

#include "targets/control/grid/machine/ptx/ptx.h"

typedef struct ptx_scope {
  ptx_variable* variables;
  uint32_t number;
  struct ptx_scope* outer;
} ptx_scope;

#endif
