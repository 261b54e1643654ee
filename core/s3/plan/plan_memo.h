// Plans that were made before. Networks repeat themselves but for numbers: the layers of a transformer differ in scales
// and zero points, and what one of them has cost to plan serves the others. Fusion asks for plans too, and the plan
// pass for the same ones again. A plan that was found for other numbers is judged anew by the cost model before it is
// taken.
#ifndef PB_S3_PLAN_MEMO_H
#define PB_S3_PLAN_MEMO_H

#include "core/s3/plan/plan.h"
#include "core/s3/plan/plan_stages.h"
#include "core/s3/s3.h"

// As pb_plan_make and pb_stage_plan_make. That there was none is remembered too; with `exact` it is not believed of
// other numbers, for a refusal is about these. The memo lies in unit->arena.
pb_status pb_kernel_plan_again(pb_unit* unit, const pb_kernel_form* kernel, bool exact, pb_arena* arena, pb_diag* diag,
                               pb_kernel_plan* plan) PB_MUST_CHECK;
// The same of a program as one kernel, of one stage or `several`. false: the chip cannot run it so.
bool pb_plan_program_again(pb_unit* unit, const pb_program* program, bool several, pb_arena* arena, pb_plan* plan);
// What has been proved of the trees that are carried out; lives as long.
struct pb_proofs* pb_plan_proofs(pb_unit* unit);
// When the unit goes.
void pb_plan_memo_free(pb_unit* unit);

#endif
