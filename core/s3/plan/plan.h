// The plan of a kernel: made, costed, printed as an attribute and read back.
#ifndef PB_S3_PLAN_H
#define PB_S3_PLAN_H

#include "core/s3/tree/cost.h"

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

#endif
