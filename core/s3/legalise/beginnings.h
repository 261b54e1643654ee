#ifndef PB_S3_LEGALISE_BEGINNINGS_H
#define PB_S3_LEGALISE_BEGINNINGS_H

#include "core/s3/program.h"

// Inside reductions: sums and maxima that begin with something else than the operation's neutral number begin with
// that, and are combined with the other at their end. Whether there were any: then *p is another program.
bool pb__reductions_begin_neutral(pb_program* p, pb_arena* arena);

#endif
