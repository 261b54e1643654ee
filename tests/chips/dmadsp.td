// dsp.td with a mover beside each core, which fills its memory and empties it while the core computes.
#define MOVER
include "dsp.td"
