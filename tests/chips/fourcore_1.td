// One core of the four, on the same port.
#define ONE_CORE
include "fourcore.td"
