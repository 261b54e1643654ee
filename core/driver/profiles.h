// Profiles: one engine with several programs, each compiled for extents of its own, which share their constants
// (pb_engine_share).
#ifndef PB_DRIVER_PROFILES_H
#define PB_DRIVER_PROFILES_H

#include "core/driver/compile.h"

// How many the options list: 1 where no dim lists values. An error where lists are of several lengths.
pb_status pb_profiles_count(const pb_input_options* inputs, pb_diag* diag, int* count) PB_MUST_CHECK;
// Compiles each by `compile` and joins them; texts and reports are of one alone.
pb_status pb_profiles_compile(const pb_compile_options* options, int count,
                              pb_status (*compile)(const pb_compile_options* options, pb_diag* diag, pb_compiled* out),
                              pb_diag* diag, pb_compiled* out) PB_MUST_CHECK;

#endif
