// Folders for files that are nobody's result, in $TMPDIR: nothing of them is left, however the process ends.
#ifndef PB_BASE_SCRATCH_H
#define PB_BASE_SCRATCH_H

#include "core/base/arena.h"

// A new one; NULL, errno says why: there is none. What processes that are dead left there goes.
const char* pb_scratch_make(pb_arena* arena);
// Removes it with the files in it.
void pb_scratch_remove(const char* folder);
// A file that is there for a while, beside one of the user's: signals remove it too, until it is forgotten.
void pb_scratch_file(const char* path);
void pb_scratch_forget(const char* path);
// Removes PATH.PID.part that processes left which were killed.
void pb_scratch_remove_parts(const char* path);
// The same of all that this process has; what handlers of signals may call.
void pb_scratch_remove_all(void);
// Of a program: INT, TERM and HUP end it as they do, but without leaving any.
void pb_scratch_end_on_signals(void);

#endif
