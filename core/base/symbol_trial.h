// Open dims that are tried as multiples (symbols.h).
#ifndef PB_BASE_SYMBOL_TRIAL_H
#define PB_BASE_SYMBOL_TRIAL_H

#include "core/base/symbols.h"

// The symbol that has a number of its own in this reading, to which others may be equal; -1: none has.
int pb__symbol_on_trial(const pb_symbols* s);
// That number.
int64_t pb__symbol_tried(const pb_symbols* s);

#endif
