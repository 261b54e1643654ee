// pb-grid-code: makes code of a module of lanes. LLVM ends the process where the processor has no instruction for
// something, so it is one of its own. Started by pbc. Usage: pb-grid-code TRIPLE PROCESSOR asm|obj IN.bc OUT [ENTRY]
#include "targets/control/grid/code.h"

#include <stdio.h>
#include <unistd.h>

int main(int argc, char** argv) {
  int code = pb_grid_code_main(argc, argv);
  (void)fflush(NULL);
  _exit(code); // with what LLVM holds
}
