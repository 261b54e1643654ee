// Sums of codes that are scaled, shifted and scaled again, as one addition of integers and one scale.
#ifndef PB_S3_LEGALISE_RESCALE_H
#define PB_S3_LEGALISE_RESCALE_H

#include "core/s3/program.h"
#include "core/s3/s3.h"

// Node x of nest n, times `scale`: as f32(sums + table) * scales, if it is f32(sums) * s + b by numbers or by tables
// along one dim: the last node. -1: it is not of the form. b moves to a whole number of the sums' steps.
int pb_rescale(pb_unit* unit, pb_program* program, int n, int x, double scale);

#endif
