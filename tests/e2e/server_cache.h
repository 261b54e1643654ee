// What pb-server makes once: descriptions as JSON, and kernels' code.
#ifndef PB_TESTS_SERVER_CACHE_H
#define PB_TESTS_SERVER_CACHE_H

#include <stdbool.h>

bool pb__cache_start(void);
void pb__cache_stop(void);

#endif
