// pb-tdl's commands that compile models: sizing a chip before it is built, and what a model needs that a chip lacks.
#ifndef PB_TOOLS_TDL_SWEEP_H
#define PB_TOOLS_TDL_SWEEP_H

#include "tdl/chip.h"

int tdl_sweep(int argc, char** argv);                // the exit code
int tdl_check_for(pb_chip* chip, const char* model); // the exit code: 0 when nothing is missing

#endif
