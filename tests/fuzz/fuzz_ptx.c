// The reader of PTX on any bytes, and what it took of them run for some steps.
#include "fuzz.h"
#include "fuzz_grid.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz_grid(data, size, PB_DEVICE_PTX);
  return 0;
}
