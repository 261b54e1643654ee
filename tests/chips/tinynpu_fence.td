// The same without tokens: all commands stand in one list, with fences between them.
#define FENCES
include "tinynpu.td"
