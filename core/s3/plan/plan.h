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
void pb_plan_deepen(const pb_chip* chip, const pb_group* stages, pb_plan* plans, int count, const pb_judge* whole,
                    pb_plan* plan);

// `{bands = array<i64: dim, step, ...>, x_level = ...}` as the text of an MLIR attribute. For whoever reads it, and
// ignored when it is read back: cycles, bound, the extents of the main nest's dims, what a tile has of each, and the
// instruction that multiplies.
void pb_plan_print(pb_text* text, const pb_plan* plan, const pb_group* group);
// Its parts, for whoever prints and reads plans of several stages. A list of numbers, and the bands as one.
void pb_plan_print_list(pb_text* text, const char* name, const int64_t* values, int count);
void pb_plan_print_bands(pb_text* text, const pb_plan* plan);
// What a plan is read from, and who is told what is wrong with a field of it: `why`.
typedef struct pb_plan_source {
  MlirAttribute all;
  pb_diag* diag;
  pb_place place;
  int code;
} pb_plan_source;
pb_status pb_plan_refuse(const pb_plan_source* from, const char* field, const char* why) PB_MUST_CHECK;
// A number from `least`, 0 or 1, to 64.
pb_status pb_plan_read_number(const pb_plan_source* from, const char* name, int least, int* number) PB_MUST_CHECK;
// Of so many dims; `none`: why another one is refused.
pb_status pb_plan_read_bands(const pb_plan_source* from, int dims, const char* none, pb_plan* plan) PB_MUST_CHECK;
// Reads the attribute pb.plan of a kernel function; what is missing or not of its kind is PB_ERR_INPUT.
pb_status pb_plan_read(MlirOperation func, pb_diag* diag, pb_plan* plan) PB_MUST_CHECK;
// The same from the attribute itself; `place` and `code` for the diagnostic.
pb_status pb_plan_from(MlirAttribute attribute, pb_place place, int code, pb_diag* diag, pb_plan* plan) PB_MUST_CHECK;

#endif
