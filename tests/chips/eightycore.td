// 80 cores of six queues, 480 in all.
#define EIGHTY_CORES
include "fourcore.td"
