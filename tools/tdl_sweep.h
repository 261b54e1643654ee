// pb-tdl's larger commands: sizing a chip before it is built, what a model needs that a chip lacks, what changed from one
// description to another.
#ifndef PB_TOOLS_TDL_SWEEP_H
#define PB_TOOLS_TDL_SWEEP_H

#include "tdl/chip.h"

int tdl_sweep(int argc, char** argv);                // the exit code
int tdl_diff(int argc, char** argv); // the exit code: 1 when engines are void and Revision does not say so
int tdl_check_for(pb_chip* chip, const char* model); // the exit code: 0 when nothing is missing

#endif
