// Inside tdl: the sizes of this machine's caches.
#ifndef PB_TDL_CACHES_H
#define PB_TDL_CACHES_H

#include "tdl/chip.h"

// The chip with the caches' sizes that this machine lists, an error where it lists none. The caller owns *native.
pb_status pb__chip_with_own_caches(const pb_chip* chip, pb_diag* diag, pb_chip** native) PB_MUST_CHECK;

#endif
