// The table of constants: weights and tables never stand in the IR, which holds their ids only.
#ifndef PB_BASE_CONSTS_H
#define PB_BASE_CONSTS_H

#include "core/base/arena.h"
#include "core/base/expr.h"

#include <stdint.h>

typedef struct pb_const {
  const char* name;
  pb_type type;
  int rank;
  int64_t shape[8];
  const void* data; // row-major, dense; may point into the mapped model
  uint64_t bytes;
} pb_const;

typedef struct pb_consts {
  pb_const* items;
  size_t count, capacity;
  pb_arena arena; // names and data made at compile time
} pb_consts;      // starts as {0}

// Appends and returns the id. `data` must outlive the table (or come from its arena).
int pb_consts_add(pb_consts* consts, const char* name, pb_type type, int rank, const int64_t* shape, const void* data);
void pb_consts_free(pb_consts* consts);

#endif
