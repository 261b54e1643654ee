// Inside fusion: one index of a tensor that several dims walk becomes two.
#ifndef PB_S3_DELINEARIZE_H
#define PB_S3_DELINEARIZE_H

#include "core/s3/program.h"
#include "core/s3/s3.h"

// Index r of the tensor that access a of nest n walks by several dims, outer * inner + ..: two indices, of that tensor
// and of all that lies between. false: nothing is cut, since some nest does not go so.
bool pb__cut_index(pb_unit* unit, pb_program* program, int n, int a, int r);

#endif
