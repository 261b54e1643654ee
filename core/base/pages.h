// Memory for tensors. Large ones lie on huge pages, where the system gives them: code that walks a tensor in many
// places at a time would touch a page of its own in each, and reading ahead ends where a page does.
#ifndef PB_BASE_PAGES_H
#define PB_BASE_PAGES_H

#include <stdint.h>

// At least `bytes` (0 too), aligned to 64, not set to anything. free() gives it back. NULL: there is no memory.
void* pb_pages_alloc(uint64_t bytes);

#endif
