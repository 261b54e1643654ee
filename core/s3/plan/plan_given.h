// Plans that a person hands in (--plan=FILE): for a kernel's name its plan as text (plan_text.h), in braces.
//
//   // comments run to the end of the line
//   k0 {
//     loop d0 step 2
//     ...
//   }
#ifndef PB_S3_PLAN_GIVEN_H
#define PB_S3_PLAN_GIVEN_H

#include "core/s3/plan/plan_text.h"
#include "core/s3/s3.h"

typedef struct pb_given_plan {
  const char* kernel;
  const char* text;
  pb_place place;      // of the kernel's name in the file
  pb_place text_place; // of the text
  bool used;
} pb_given_plan;

typedef struct pb_given_plans {
  pb_given_plan* items;
  size_t count, capacity;
} pb_given_plans; // starts as {0}

// Reads the file, but for what the plans say. All of it lives in unit->arena; the caller calls pb_given_plans_free. A
// fault is PB_ERR_INPUT with its line (PB2401, PB2403).
pb_status pb_given_plans_read(pb_unit* unit, const char* path, pb_given_plans* plans) PB_MUST_CHECK;
void pb_given_plans_free(pb_given_plans* plans);
// What was given for this kernel, and notes that somebody asked; NULL: the planner chooses.
const pb_given_plan* pb_given_plan_of(const pb_unit* unit, MlirOperation func);
// After planning: a plan that nobody asked for names no kernel of this model (PB2404).
pb_status pb_given_plans_used(const pb_unit* unit) PB_MUST_CHECK;

// Every kernel that has a plan (pb.plan) in the form that is read above. PB_ERR_UNSUPPORTED (PB2407) when none has.
pb_status pb_given_plans_print(const pb_unit* unit, pb_text* text) PB_MUST_CHECK;
// Reads what a given plan says; faults have PB2406.
pb_plan_reader pb_given_plan_reader(pb_unit* unit, const pb_given_plan* given);

#endif
