// The reader of .npz archives on any bytes: what it finds lies inside them, what it refuses it says why.
#include "fuzz.h"

#include "core/runtime/npz.h"

#include <stdlib.h>

static void ignore(void* user, bool error, int code, const char* text) {
  (void)user, (void)error, (void)code, (void)text;
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const char* const arrays[] = {NULL, "x", "weights/0"};
  for (size_t k = 0; k < sizeof arrays / sizeof *arrays; ++k) {
    pb_diag diag = {.sink = ignore};
    const uint8_t* npy;
    uint64_t bytes;
    bool has;
    pb_status status = pb_npz_find(data, size, "fuzz", arrays[k], &diag, &npy, &bytes);
    if (status == PB_OK ? npy < data || bytes > size || (size_t)(npy - data) > size - bytes : !diag.errors || npy)
      abort();
    for (uint64_t b = 0; b < bytes; ++b) (void)*(const volatile uint8_t*)(npy + b);
    if (arrays[k] && pb_npz_has(&(pb_npz){"fuzz", data, size}, arrays[k], &diag, &has) == PB_OK && !has && !status)
      abort();
  }
  return 0;
}
