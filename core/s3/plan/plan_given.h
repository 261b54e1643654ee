// Plans that a person hands in (--plan=FILE): for a kernel's name the text of an MLIR attribute, whatever that
// attribute says to the pass that plans.
//
//   // comments run to the end of the line
//   k0 = {bands = array<i64: 0, 2>, x_level = 1 : i64, ...}
#ifndef PB_S3_PLAN_GIVEN_H
#define PB_S3_PLAN_GIVEN_H

#include "core/poly/text.h"
#include "core/s3/s3.h"

typedef struct pb_given_plan {
  const char* kernel;
  MlirAttribute plan;
  pb_place place; // of the kernel's name in the file
  bool used;
} pb_given_plan;

typedef struct pb_given_plans {
  pb_given_plan* items;
  size_t count, capacity;
} pb_given_plans; // starts as {0}

// Reads the file. Names and places live in unit->arena, attributes in unit->context; the caller calls
// pb_given_plans_free. A fault is PB_ERR_INPUT with its line (PB2401 to PB2403).
pb_status pb_given_plans_read(pb_unit* unit, const char* path, pb_given_plans* plans) PB_MUST_CHECK;
void pb_given_plans_free(pb_given_plans* plans);
// What was given for this kernel, and notes that somebody asked; NULL: the planner chooses.
const pb_given_plan* pb_given_plan_of(const pb_unit* unit, MlirOperation func);
// After planning: a plan that nobody asked for names no kernel of this model (PB2404).
pb_status pb_given_plans_used(const pb_unit* unit) PB_MUST_CHECK;

// Every kernel that has a plan (pb.plan) in the form that is read above. PB_ERR_UNSUPPORTED (PB2407) when none has.
pb_status pb_given_plans_print(const pb_unit* unit, pb_text* text) PB_MUST_CHECK;
// The kernel's plan (pb.plan) from the text of its attribute, which is freed.
void pb_plan_set(pb_unit* unit, MlirOperation func, pb_text* text);

#endif
