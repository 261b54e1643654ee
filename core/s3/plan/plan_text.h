// Plans as text: what --emit=plan prints, --plan=FILE reads, and a kernel has as its attribute pb.plan. One choice a
// line; what comments say is there for whoever reads it, and is worked out anew.
//
//   // 735 cycles, bound by MX
//   loop d1 step 2 // of 28 rows
//     home x, 2 copies
//     loop d0 step 1 // of 4 blocks of columns
//       home w, 3 copies
//       home result, 2 copies
//   // instruction MMA, tile d0 1, d1 2, d2 28
//
// A home stands inside the loops that are around it: `inside 1` says how many where these are loops of a kernel's
// stages. `keeps 2`: iterations of the loop around it whose share stays. `loop ... over core 4`: shared among so many.
// A kernel of several stages has the loops that they share, `home between`, then `ahead` or `held` or neither, and
// `stage { ... }` for each.
#ifndef PB_S3_PLAN_TEXT_H
#define PB_S3_PLAN_TEXT_H

#include "core/poly/text.h"
#include "core/s3/kernel/group.h"
#include "core/s3/s3.h"
#include "core/s3/tree/schedule.h"

// Prints the plan of a stage inside `base` loops, or of a kernel of one, indented by `depth`.
void pb_plan_print(pb_text* text, const pb_chip* chip, const pb_plan* plan, const pb_group* group, int base, int depth);
// Of its parts, for plans of several stages: what it takes, and the loop of one axis, `left` long.
void pb_plan_print_cycles(pb_text* text, const pb_plan* plan, int depth);
void pb_plan_print_axis(pb_text* text, const pb_chip* chip, const pb_axis* axis, int64_t left, const char* what,
                        int depth);

// What is left to read of a plan's text, and whom its faults are told.
typedef struct pb_plan_reader {
  const char* at;
  pb_place place; // of `at`, where the text has a file; else of the kernel
  int code;       // of diagnostics
  const pb_chip* chip;
  pb_diag* diag;
} pb_plan_reader;

// Goes to the next word; false: there is none.
bool pb_plan_more(pb_plan_reader* reader);
// Takes the next word if it is that one, which is one sign or letters alone.
bool pb_plan_takes(pb_plan_reader* reader, const char* word);
pb_status pb_plan_expects(pb_plan_reader* reader, const char* word) PB_MUST_CHECK;
// A fault at the next word.
pb_status pb_plan_refuse(pb_plan_reader* reader, const char* why) PB_MUST_CHECK;
// An axis, behind the word `loop`, of one of so many dims.
pb_status pb_plan_read_axis(pb_plan_reader* reader, int dims, pb_plan* plan) PB_MUST_CHECK;
// Copies, behind `, `: a number from 1 to 64, and the word for them.
pb_status pb_plan_read_copies(pb_plan_reader* reader, int* copies) PB_MUST_CHECK;
// A plan inside `base` loops, up to what is no part of one.
pb_status pb_plan_read_stage(pb_plan_reader* reader, int base, pb_plan* plan) PB_MUST_CHECK;
// Whether the text is the plan of a kernel of several stages.
bool pb_plan_is_of_stages(pb_plan_reader reader);
// A plan of one stage, to the end of the text.
pb_status pb_plan_read(pb_plan_reader* reader, pb_plan* plan) PB_MUST_CHECK;
// What stands on a kernel as pb.plan, which another pass has printed: faults have PB4011. `text`: where it is kept.
pb_plan_reader pb_plan_reader_of(pb_unit* unit, MlirOperation func);

// Puts a plan on its kernel: pb.plan, and beside it pb.cycles, pb.bound and, of a product, pb.contraction. Frees the
// text.
void pb_plan_set(pb_unit* unit, MlirOperation func, const pb_plan* plan, const char* instruction, pb_text* text);

#endif
