// NumPy's .npy files, versions 1 to 3, of either order of dims and of bytes.
#ifndef PB_RUNTIME_NPY_H
#define PB_RUNTIME_NPY_H

#include "core/base/diag.h"
#include "core/base/expr.h"

#include <stdbool.h>
#include <stdint.h>

enum { PB_NPY_MAX_RANK = 8 };

typedef struct pb_npy {
  pb_type type;    // |b1 reads as PB_I1
  bool is_complex; // of f32 or f64: the last dim, of 2, is their parts
  int rank;
  int64_t shape[PB_NPY_MAX_RANK];
  uint64_t bytes;
  void* data;
} pb_npy;

// Whether text names a file that pb_npy_read takes: FILE.npy, FILE.npz (of one array), FILE.npz:ARRAY.
bool pb_npy_is_file(const char* text);
// The caller frees npy->data.
pb_status pb_npy_read(const char* path, pb_diag* diag, pb_npy* npy) PB_MUST_CHECK;
// The same from bytes in memory; `path` is for diagnostics.
pb_status pb_npy_parse(const void* bytes, uint64_t count, const char* path, pb_diag* diag, pb_npy* npy) PB_MUST_CHECK;
pb_status pb_npy_write(const char* path, const pb_npy* npy, pb_diag* diag) PB_MUST_CHECK;

#endif
