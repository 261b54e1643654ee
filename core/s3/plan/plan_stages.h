// The plan of a kernel. Of one of several stages: tiles of the loops that these share, and for each stage the plan of
// what it does in one iteration; of one of one stage that stage's plan. It stands on the kernel as the attribute
// pb.plan.
#ifndef PB_S3_PLAN_STAGES_H
#define PB_S3_PLAN_STAGES_H

#include "core/s3/kernel/group.h"
#include "core/s3/kernel/stages.h"
#include "core/s3/plan/plan_text.h"
#include "core/s3/tree/tiling.h"

// What is planned: one of the two.
typedef struct pb_kernel_form {
  const pb_group* group;   // of one stage: what it computes
  const pb_stages* stages; // of several: the loops that they share
} pb_kernel_form;

// What the program is as a kernel, of `several` stages if these share loops that the chip can tile. One stage is one of
// stages too where tensors pass through a memory of a core's own.
pb_status pb_kernel_read(const pb_chip* chip, const pb_program* program, bool several, pb_arena* arena, pb_diag* diag,
                         pb_kernel_form* kernel) PB_MUST_CHECK;
// Whether cores run it as plain loops, which have no plan.
static inline bool pb_kernel_is_plain(const pb_kernel_form* kernel) { return kernel->group && kernel->group->plain; }

// Of stages: the cheapest plan whose buffers fit; on cores they stay in the caches. PB_ERR_UNSUPPORTED: there is none.
pb_status pb_stage_plan_make(const pb_chip* chip, const pb_stages* stages, pb_arena* arena, pb_diag* diag,
                             pb_kernel_plan* plan) PB_MUST_CHECK;
// Fills cycles and bound, on cores those of each stage too. false: it is illegal, *why says why.
bool pb_kernel_plan_cost(const pb_chip* chip, const pb_kernel_form* kernel, pb_arena* arena, pb_kernel_plan* plan,
                         const char** why);
// As text, and back (plan_text.h). More or fewer stages than there are is for pb_kernel_plan_cost to say.
void pb_kernel_plan_print(pb_text* text, const pb_chip* chip, const pb_kernel_form* kernel, const pb_kernel_plan* plan);
pb_status pb_kernel_plan_read(pb_plan_reader* reader, const pb_kernel_form* kernel, pb_arena* arena,
                              pb_kernel_plan* plan) PB_MUST_CHECK;
// Builds the kernel's tree, its slices proved where memory is explicit. false: tiling->failure says why.
bool pb_kernel_plan_build(const pb_chip* chip, const pb_kernel_form* kernel, const pb_kernel_plan* plan,
                          pb_arena* arena, struct pb_proofs* proofs, pb_tiling* tiling);

// Finds the loops that the stages of a kernel share and that the chip can tile.
bool pb_stages_of(const pb_chip* chip, const pb_program* program, pb_arena* arena, pb_stages* stages);

#endif
