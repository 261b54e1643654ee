// The reader of .npy files on any bytes.
#include "fuzz.h"

#include "core/runtime/npy.h"

#include <stdlib.h>

static void ignore(void* user, bool error, int code, const char* text) {
  (void)user, (void)error, (void)code, (void)text;
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  pb_diag diag = {.sink = ignore};
  pb_npy npy;
  pb_status status = pb_npy_parse(data, size, "fuzz", &diag, &npy);
  if (status == PB_OK) {
    uint64_t bytes = (uint64_t)(pb_type_bits(npy.type) + 7) / 8;
    for (int d = 0; d < npy.rank; ++d) bytes *= (uint64_t)npy.shape[d];
    if (bytes != npy.bytes || bytes > size || (npy.is_complex && npy.shape[npy.rank - 1] != 2)) abort();
  } else if (!diag.errors || npy.data) {
    abort(); // a refusal says why, and gives nothing
  }
  free(npy.data);
  return 0;
}
