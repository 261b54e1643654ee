// Inside the plans of kernels of several stages: what the search (plan_stages_search.c) and the cost of one plan
// (plan_stages.c) share.
#ifndef PB_S3_PLAN_STAGES_SEARCH_H
#define PB_S3_PLAN_STAGES_SEARCH_H

#include "core/s3/plan/plan_stages.h"
#include "core/s3/tree/tiling_stages.h"

// What is built by the plan: s->built stages of it.
void pb__stage_plan_begin(const pb_chip* chip, const pb_stages* stages, const pb_kernel_plan* plan, pb_arena* arena,
                          pb_stage_tiles* s);
// The shared loops alone: what their first iteration is. NULL: the chip cannot run it, *why (in s->arena) says why.
const pb_iteration_groups* pb__stage_plan_iteration(pb_stage_tiles* s, const char** why);
// Whether what lies between the stages of the iteration can have room, before any of them has a plan.
bool pb__stage_values_fit(const pb_stage_tiles* s, const pb_iteration_groups* iteration);
// What the kernel's stages so far take in the tree that was built. false: it does not fit, t->failure says why.
bool pb__stage_plan_add_up(const pb_stage_tiles* s, pb_tiling* t, pb_plan* loops);

#endif
