// Inside the reader of ONNX models.
#ifndef PB_FRONTEND_LOADER_H
#define PB_FRONTEND_LOADER_H

#include "core/frontend/graph.h"
#include "core/frontend/wire.h"

typedef struct pb__loader {
  pb_graph* graph;
  pb_consts* consts;
  pb_diag* diag;
  int* buckets; // names to tensors
  int* chain;
  size_t bucket_count, chain_capacity;
  bool cut_name; // a name holds a NUL
  bool in_file;  // the model is graph->file, and may have data beside it
} pb__loader;

// Where a tensor's data are, as the model says it; NULL: not said.
typedef struct pb__external {
  const char *location, *offset, *length;
} pb__external;

// Maps the data; `raw` gets their bytes. The graph keeps the mapping.
pb_status pb__external_data(pb__loader* l, const char* tensor, const pb__external* from, pb_wire* raw) PB_MUST_CHECK;

#endif
