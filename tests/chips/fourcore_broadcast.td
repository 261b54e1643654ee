// The same on a quarter of the port, where one read fills the memories of all cores that want it.
#define BROADCAST
include "fourcore.td"
