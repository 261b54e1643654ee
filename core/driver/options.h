// Options by name: those of pbc's command line, and of include/pb/compiler.h.
#ifndef PB_DRIVER_OPTIONS_H
#define PB_DRIVER_OPTIONS_H

#include "core/driver/compile.h"

// Sets the option that the name says, without its dashes; what it keeps is in the arena. A name that is none is refused
// with the nearest one, a value that fits none with what would, and so is no value (NULL).
pb_status pb_option_set(pb_compile_options* options, pb_arena* arena, const char* name, const char* value,
                        pb_diag* diag) PB_MUST_CHECK;

#endif
