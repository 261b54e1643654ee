// What pb-server makes once: descriptions as JSON, chips, and kernels' code.
#ifndef PB_TESTS_SERVER_CACHE_H
#define PB_TESTS_SERVER_CACHE_H

#include <stdbool.h>

bool pb__cache_start(void);
void pb__cache_stop(void);
bool pb__cache_chip_is_kept(void); // the job that ends now has not given one back
long pb__cache_chips_read(void);   // by this process's jobs; those that they shared count once

#endif
