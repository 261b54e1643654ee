// Several targets: one engine with the program for each, which share their constants.
#ifndef PB_DRIVER_TARGETS_H
#define PB_DRIVER_TARGETS_H

#include "core/driver/compile.h"

// Of --target: NAME:VARIANT,VARIANT,NAME... How many; the k-th as NAME:VARIANT, in the arena. What follows a variant
// and has no colon is one more variant of the same name.
int pb_targets_count(const char* targets);
const char* pb_targets_item(const char* targets, int number, pb_arena* arena);
// Compiles for each and joins them; texts and reports are of one alone. `one` compiles for one target.
pb_status pb_targets_compile(const pb_compile_options* options,
                             pb_status (*one)(const pb_compile_options* options, pb_diag* diag, pb_compiled* out),
                             pb_diag* diag, pb_compiled* out) PB_MUST_CHECK;

#endif
