// The reader of AMD's code objects on any bytes, and what it took of them run for some steps.
#include "fuzz.h"
#include "fuzz_grid.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz_grid(data, size, PB_DEVICE_HSACO);
  return 0;
}
