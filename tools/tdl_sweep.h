// pb-tdl sweep: sizing a chip before it is built.
#ifndef PB_TOOLS_TDL_SWEEP_H
#define PB_TOOLS_TDL_SWEEP_H

int tdl_sweep(int argc, char** argv); // the exit code

#endif
