// The same with the strides of moves in configuration state: commands of their own set them, where they change.
#define STRIDES_IN_STATE
include "tinynpu.td"
