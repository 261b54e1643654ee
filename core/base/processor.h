// The processor that this runs on.
#ifndef PB_BASE_PROCESSOR_H
#define PB_BASE_PROCESSOR_H

#include <stdbool.h>

// Whether the feature is state that the operating system grants a process on request, `state-N`: then *number is N.
bool pb_processor_state(const char* feature, int* number);

// Makes the features of the list count as there from now on: for tests that carry out instructions themselves. NULL:
// none. The list must live on.
void pb_processor_pretend(const char* features);

// Whether it has the features of a list "a,b,c"; else `missing`, of `size` bytes, is the first that it lacks. State is
// asked for: with true the process may use it.
bool pb_processor_has(const char* features, char* missing, int size);

#endif
