// Inside the driver: kernels that call others, one behind the other.
#ifndef PB_DRIVER_RUNS_H
#define PB_DRIVER_RUNS_H

#include "core/driver/compilation.h"

enum { PB_RUN_CALLS = 48 }; // at most: what is compiled at a time

typedef struct pb_run_operand {
  MlirValue value;
  bool local; // an allocation that calls of this run alone use, and small
} pb_run_operand;

typedef struct pb_run {
  compilation* c;
  const char* name;
  MlirOperation calls[PB_RUN_CALLS];
  int count;
  pb_run_operand* operands; // each value once, in order
  int operand_count;
  int64_t shares;      // it goes through so many shares, each by all calls (chunks.c); 0: through all work at once
  int64_t cycles;      // of all calls, with shares
  MlirAttribute bound; // of the longest of them
} pb_run;

// The kernel that is called; null: there is none, or another target has it.
MlirOperation pb__run_callee(const compilation* c, MlirOperation call);
bool pb__run_has(const pb_run* r, MlirOperation call);
// Whether there is room for one more call, and the kernel takes all tensors that it has then.
bool pb__run_has_room(const pb_run* r, MlirOperation call);
// Makes the kernel of two calls and more, and puts its call where the last one was; the run is empty then.
pb_status pb__run_end(pb_run* r, int* number, bool* any) PB_MUST_CHECK;

#endif
