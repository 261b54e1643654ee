// The plan of a kernel: made, costed, printed as an attribute and read back.
#ifndef PB_S3_PLAN_H
#define PB_S3_PLAN_H

#include "core/s3/kernel/group.h"
#include "core/s3/kernel/stages.h"
#include "core/s3/plan/plan_text.h"
#include "core/s3/s3.h"
#include "core/s3/tree/cost.h"
#include "core/s3/tree/tiling.h"

// The cheapest plan that fits. PB_ERR_UNSUPPORTED with the nest's name and the
// reason when there is none.
pb_status pb_plan_make(const pb_chip* chip, const pb_group* group, pb_arena* arena, pb_diag* diag,
                       pb_plan* plan) PB_MUST_CHECK;

// Fills the plan's cycles, port, bound and busy. false: it is illegal for the group, *why (static, or in arena) says
// why.
bool pb_plan_cost(const pb_chip* chip, const pb_group* group, pb_plan* plan, pb_arena* arena, const char** why);

// The same where nobody asks why.
bool pb_plan_fits(const pb_chip* chip, const pb_group* group, pb_plan* plan);

enum { PB_PLAN_WHY = 1024 }; // characters of a reason

// What a plan is chosen by, of those that a search looks at: its cycles, and what it moves at the system memory's port.
// That costs energy, and of plans that take equally long it leaves the port to others; cycles of it count a 64th.
static inline int64_t pb_plan_price(const pb_plan* plan) { return plan->cycles + plan->port / 64; }

// How a plan for one stage of a kernel is judged: fills its cycles and port with those of whatever it is part of.
// false: it is illegal, *why says why.
typedef struct pb_judge {
  bool (*cost)(void* user, pb_plan* plan, const char** why);
  void* user;
  bool is_last; // no stage follows
} pb_judge;
// The best plan of a stage inside `base` loops of its kernel, by that judge (NULL: by its own cycles, as a kernel of
// one stage), with so many copies of its results, which cores do not have. false: there is none.
bool pb_plan_stage(const pb_chip* chip, const pb_group* group, int base, int copies, const pb_judge* judge,
                   pb_plan* plan);
// More copies of what the stages of a kernel hold, as long as each one is worth its room; `whole` judges them all.
// plan: what it says of the plans as they are, then as they have become.
void pb_plan_deepen(const pb_chip* chip, pb_plan* plans, int count, const pb_judge* whole, pb_plan* plan);

// ---- plan_stages.c ----
// The plan of a kernel. Of one of several stages: tiles of the loops that these share, and for each stage the plan of
// what it does in one iteration; of one of one stage that stage's plan. It stands on the kernel as the attribute
// pb.plan.

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

// ---- plan_memo.c ----
// Plans that were made before. Networks repeat themselves but for numbers: the layers of a transformer differ in scales
// and zero points, and what one of them has cost to plan serves the others. Fusion asks for plans too, and the plan
// pass for the same ones again. A plan that was found for other numbers is judged anew by the cost model before it is
// taken.

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
