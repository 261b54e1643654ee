// Kernels of lanes through LLVM's code generator. That is a program of its own, pb-grid-code: it ends where a processor
// has no instruction for what stands there.
#ifndef PB_GRID_CODE_H
#define PB_GRID_CODE_H

#include "core/artefact/engine.h"
#include "tdl/chip.h"

#include <llvm-c/Core.h>

typedef struct pb_grid_module {
  const pb_chip* chip;
  LLVMModuleRef module; // of lanes
  const char* folder;   // for files
  int number;
  char *text, *why;      // malloc'ed: assembly; what went wrong, NULL: nothing
  pb_grid_code codes[2]; // malloc'ed data
  int code_count;
} pb_grid_module;

// Sets the module's triple and how types lie there; false: LLVM has no such target.
bool pb_grid_target(const pb_chip* chip, LLVMModuleRef module);
// The module's assembly, PTX or AMD's.
bool pb_grid_assembly(pb_grid_module* m);
// What a device loads: PTX, and a cubin if the assembler is found; or a code object.
bool pb_grid_codes(pb_grid_module* m);
void pb_grid_module_free(pb_grid_module* m);

// The program: pb-grid-code TRIPLE PROCESSOR FORM IN.bc OUT [ENTRY], where FORM is "asm" or "obj". With an entry, that
// one alone.
int pb_grid_code_main(int argc, char** argv);

#endif
