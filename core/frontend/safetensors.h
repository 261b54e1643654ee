// Weights in a file of their own: the safetensors format.
#ifndef PB_FRONTEND_SAFETENSORS_H
#define PB_FRONTEND_SAFETENSORS_H

#include "core/frontend/graph.h"

typedef struct pb_safetensors {
  pb_bound* tensors; // by where their data lie; aligned to their elements
  int count;
  void* mapping; // NULL: it was parsed from memory
  size_t bytes;
  pb_arena arena;
} pb_safetensors; // starts as {0}

// Maps and reads the file; every length is checked before it is used, names are there once, data lie one behind the
// other to the end. After either the caller frees it.
pb_status pb_safetensors_read(const char* path, pb_diag* diag, pb_safetensors* file) PB_MUST_CHECK;
// The same from bytes in memory, which must outlive it.
pb_status pb_safetensors_parse(const void* bytes, size_t count, const char* name, pb_diag* diag,
                               pb_safetensors* file) PB_MUST_CHECK;
void pb_safetensors_free(pb_safetensors* file);

#endif
