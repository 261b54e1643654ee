// The same where each core has one list of commands, with fences.
#define FENCES
include "fourcore_broadcast.td"
