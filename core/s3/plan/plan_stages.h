// The plan of a kernel of several stages: tiles of the loops that the stages share, and for each
// stage the plan of what it does in one iteration. It stands on the kernel as the attribute pb.plan.
#ifndef PB_S3_PLAN_STAGES_H
#define PB_S3_PLAN_STAGES_H

#include "core/s3/kernel/group.h"
#include "core/s3/kernel/stages.h"
#include "core/s3/plan/plan_text.h"
#include "core/s3/tree/tiling.h"

typedef struct pb_stage_plan {
  pb_plan loops;   // axes over the shared loops, copies of what lies between stages (the result's), cycles, bound
  bool skewed;     // the first stage's sums are made an iteration ahead (tiling_stages.h)
  bool holds;      // what several stages read comes once for all of them (there too)
  int count;       // of stages
  pb_plan* stages; // of a full iteration
} pb_stage_plan;

// The cheapest plan whose buffers fit: on cores they stay in the caches. false: there is none.
bool pb_stage_plan_make(const pb_chip* chip, const pb_stages* stages, pb_arena* arena, pb_stage_plan* plan);
// Fills cycles and bound, on cores those of each stage too. false: it is illegal, *why says why.
bool pb_stage_plan_cost(const pb_chip* chip, const pb_stages* stages, pb_arena* arena, pb_stage_plan* plan,
                        const char** why);
// As text, and back (plan_text.h). More or fewer stages than there are is for pb_stage_plan_cost to say.
void pb_stage_plan_print(pb_text* text, const pb_chip* chip, const pb_stages* stages, const pb_stage_plan* plan);
pb_status pb_stage_plan_read(pb_plan_reader* reader, const pb_stages* stages, pb_arena* arena,
                             pb_stage_plan* plan) PB_MUST_CHECK;
// Builds the kernel's tree, its slices proved where memory is explicit. false: tiling->failure says why.
bool pb_stage_plan_build(const pb_chip* chip, const pb_stages* stages, const pb_stage_plan* plan, pb_arena* arena,
                         struct pb_proofs* proofs, pb_tiling* tiling);

// Finds the loops that the stages of a kernel share and that the chip can tile.
bool pb_stages_of(const pb_chip* chip, const pb_program* program, pb_arena* arena, pb_stages* stages);
// The same of a kernel of one stage, where it is one of stages because tensors pass through a memory of a core's own.
bool pb_stages_of_one(const pb_chip* chip, const pb_program* program, pb_arena* arena, pb_stages* stages);

#endif
