// The processor that this runs on.
#ifndef PB_BASE_PROCESSOR_H
#define PB_BASE_PROCESSOR_H

#include <stdbool.h>

// Whether it has the features of a list "a,b,c"; else `missing`, of `size` bytes, is the first that it lacks.
bool pb_processor_has(const char* features, char* missing, int size);

#endif
