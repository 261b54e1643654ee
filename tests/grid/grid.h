// A device of the machine for tests: loads PTX, gives buffers, launches, and says what went wrong.
#ifndef PB_TESTS_GRID_GRID_H
#define PB_TESTS_GRID_GRID_H

#include "targets/control/grid/machine/machine.h"

#include <setjmp.h>

typedef struct grid {
  const pb_device_ops* ops;
  pb_device* device;
  uint64_t module;
  pb_device_launch launch; // arguments gather in it
  jmp_buf* after;          // set: grid_runs goes there, with 1 + the code
} grid;

void grid_open(grid* g, const char* options);
void grid_close(grid* g);
void grid_load(grid* g, const char* ptx);       // must load
void grid_load_file(grid* g, const char* name); // tests/grid/kernels/NAME
// Adds a buffer of `bytes` as the next argument, filled from `data` unless that is NULL; its address.
uint64_t grid_buffer(grid* g, const void* data, uint64_t bytes);
void grid_number(grid* g, uint64_t value); // the next argument
// Runs `blocks` of `threads`; the arguments are those gathered since the last launch. The fault's code.
int grid_run(grid* g, const char* kernel, uint32_t blocks, uint32_t threads);
void grid_runs(grid* g, const char* kernel, uint32_t blocks, uint32_t threads); // must run
// Must fail, with `what` in the fault.
void grid_refused(grid* g, const char* kernel, uint32_t blocks, uint32_t threads, const char* what);
void grid_read(grid* g, uint64_t address, void* data, uint64_t bytes);
uint64_t grid_counter(grid* g, const char* name);
void grid_load_object(grid* g, const char* bytes, uint64_t count); // AMD's; must load
char* grid_bytes(const char* name, uint64_t* count);               // of a file as below
char* grid_text(const char* name);                                 // of tests/grid/kernels/NAME; the caller frees it

#endif
