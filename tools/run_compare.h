// Two devices on one engine: what each step left behind it, compared.
#ifndef PB_TOOLS_RUN_COMPARE_H
#define PB_TOOLS_RUN_COMPARE_H

#include "core/base/arena.h"
#include "pb/pb.h"

typedef struct run_steps run_steps;

run_steps* run_steps_make(void);
void run_steps_free(run_steps* steps);
// A pb_rt_after_step whose user is the run_steps: keeps a copy of the step's arguments.
void run_steps_keep(void* steps, pb_rt* rt, int step);
// The first step whose arguments differ, as text: kernel, the model's node, the byte and both values. NULL: none does.
char* run_steps_difference(pb_rt* rt, const run_steps* a, const char* name_a, const run_steps* b, const char* name_b,
                           pb_arena* arena);

#endif
