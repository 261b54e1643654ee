// The metadata of a code object: a note in MessagePack that names kernels and what their arguments are.
#ifndef PB_GRID_MACHINE_GCN_METADATA_H
#define PB_GRID_MACHINE_GCN_METADATA_H

#include "targets/control/grid/machine/gcn/gcn.h"

typedef struct gcn_described {
  char name[256];
  gcn_arg args[GCN_MAX_ARGS];
  uint32_t arg_count, most_threads, lanes; // 0: it does not say
} gcn_described;

typedef struct gcn_metadata {
  gcn_described* kernels; // the caller frees it
  uint32_t count;
} gcn_metadata;

// False: no such note among these bytes, or one that is damaged.
bool gcn__metadata(const uint8_t* notes, uint64_t bytes, gcn_metadata* out);

#endif
