// Inside selection: which instruction comes nearest to a nest that none computes, and the first thing that does not
// fit.
#ifndef PB_SELECT_WHY_H
#define PB_SELECT_WHY_H

#include "core/select/select.h"

// One line in arena: the nest as a description would say it, and "VADD comes nearest: its 'x' lies in ACC, here ...".
const char* pb__why(const pb_chip* chip, const pb_flat* nest, pb_arena* arena);

#endif
