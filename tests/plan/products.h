// Seeded small kernels, as layout leaves them.
#ifndef PB_TEST_PRODUCTS_H
#define PB_TEST_PRODUCTS_H

#include "core/s3/kernels.h"
#include "core/s3/plan/plan.h"

#include <stdint.h>

// Draws go on from here; each kernel of a seed is the same on every machine.
void seed_draws(uint64_t seed);
int64_t draw(int64_t least, int64_t most);

enum { FORM_CODES, FORM_FLOATS, FORM_WINDOW, FORM_POINTS };
// The module's text, which the caller frees. Codes, for 16 lanes: rows x terms * 16 times terms * 16 x blocks * 16, and
// codes again. Floats, for 8 lanes: rows x terms times terms x blocks * 8; windows of 3 x 3 over rows x rows pixels of
// terms * 8 channels; rows x blocks * 8 numbers that are added to others.
char* kernel_text(int form, int64_t rows, int64_t terms, int64_t blocks);

typedef struct kernel {
  pb_unit unit;
  pb_program program; // of which the group is
  pb_group group;
  pb_plan plan; // the planner's
} kernel;
// Reads the text, which it frees, and plans it; false: it cannot.
bool plan_kernel(MlirContext context, const pb_chip* chip, pb_diag* diag, char* text, kernel* k);
void free_kernel(kernel* k);

#endif
