// Independent pieces of work on several threads.
#ifndef PB_BASE_WORKERS_H
#define PB_BASE_WORKERS_H

#include <stdbool.h>

// Calls work(user, k) once for each k below `count`, in no order, on as many threads as there are processors, at most
// `most` of them (0: any number). The calling thread is one; where no other can be started it does all. Returns when
// all is done. Threads have 16 MiB of stack.
void pb_work_on(int count, int most, void (*work)(void* user, int k), void* user);

// Whether as many threads can be started as MLIR takes beside those of pb_work_on: where one is missing, for which a
// user's limit of processes is enough, MLIR ends the process.
bool pb_can_work_beside(int most);

#endif
