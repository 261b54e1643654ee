// Inside `layout`: convolutions of groups with several channels each, y[g * outs + o] += x[g * ins + c] * w[.., c].
#ifndef PB_S3_GROUPED_H
#define PB_S3_GROUPED_H

#include "core/s3/kernel/roles.h"
#include "core/s3/kernels.h"
#include "core/s3/program.h"

// Dims of the groups, of results and of inputs within one, -1 where that extent is 1.
typedef struct pb_grouped {
  int g, o, c;
  int64_t groups, outs, ins;
} pb_grouped;

bool pb_grouped_read(const pb_nest* nest, const pb_roles* roles, pb_grouped* out);
// Takes `together` groups of nest n as one, with zeros in the constant weights between them; if they do not divide the
// groups, the last of them reach past x and y. Appends a value to the program; what is there keeps its number.
void pb_grouped_merge(pb_unit* unit, pb_program* program, int n, const pb_roles* roles, const pb_grouped* g,
                      int64_t together);

#endif
