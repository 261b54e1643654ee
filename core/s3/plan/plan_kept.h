// Inside plan: x that stays in part.
#ifndef PB_S3_PLAN_KEPT_H
#define PB_S3_PLAN_KEPT_H

#include "core/s3/plan/plan.h"

// Of an x that comes again and again by parts of the sums, as much stays as there is room for, if that costs less.
void pb__plan_keep_x(const pb_chip* chip, const pb_group* group, pb_plan* plan);
// None of it stays.
void pb__plan_keep_none(const pb_chip* chip, const pb_group* group, pb_plan* plan);

#endif
