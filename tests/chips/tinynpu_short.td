// The same with commands that do little, one command ahead and one token in each counter: the worst case for order.
#define SHORT_COMMANDS
include "tinynpu.td"
