// The same with semaphores that commands of their own wait for and signal, by a field with their number.
#define SEMAPHORES
#define EVENTS
include "tinynpu.td"
