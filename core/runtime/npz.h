// NumPy's .npz files: archives (ZIP, ZIP64) of .npy files, as numpy.savez writes them, not compressed.
#ifndef PB_RUNTIME_NPZ_H
#define PB_RUNTIME_NPZ_H

#include "core/base/diag.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Whether text is FILE.npz or FILE.npz:ARRAY; *length: of the file's name, *array: NULL where none is named.
bool pb_npz_named(const char* text, size_t* length, const char** array);

// The bytes of an array's .npy file inside the archive; array NULL: of the only one. `path` is for diagnostics.
pb_status pb_npz_find(const void* bytes, uint64_t count, const char* path, const char* array, pb_diag* diag,
                      const uint8_t** npy, uint64_t* size) PB_MUST_CHECK;

// The file's bytes, mapped, until pb_npz_close.
typedef struct pb_npz {
  const char* path;
  const void* bytes;
  uint64_t count;
} pb_npz;
pb_status pb_npz_open(const char* path, pb_diag* diag, pb_npz* npz) PB_MUST_CHECK;
void pb_npz_close(pb_npz* npz);

// Whether the archive has an array of the name.
pb_status pb_npz_has(const pb_npz* npz, const char* array, pb_diag* diag, bool* has) PB_MUST_CHECK;

#endif
