// What vector arithmetic and its special instructions share.
#ifndef PB_GRID_MACHINE_GCN_VECTOR_H
#define PB_GRID_MACHINE_GCN_VECTOR_H

#include "targets/control/grid/machine/gcn/gcn.h"

#include <stdio.h>

// A row of source n, `bytes` a lane, in `room` or where it is. other_lanes: source 0 by DPP, 64 lanes.
int gcn__source(gcn_wave* w, const gcn_insn* i, int n, int bytes, int half, const uint32_t* other_lanes, uint64_t* room,
                const void** row);
void gcn__result(gcn_wave* w, const gcn_insn* i, uint32_t v, const void* row, int bytes, int half, uint32_t mask);
bool gcn__special(gcn_insn* i); // special.c

#endif
