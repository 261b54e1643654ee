// Firmware on the toy chip: the engine as C, run by the freestanding loader; what it gives must be what pb-run gives.
//   firmware DRIVER.so OPTIONS INPUT.npy EXPECTED.npy
// Damaged images must be refused, each by its code.
#include "pb_firmware.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const unsigned char digits[];
extern const unsigned long long digits_bytes;

static int fail(const char* what, int code) {
  fprintf(stderr, "%s: %d\n", what, code);
  return 1;
}

// The data of a .npy file, of so many bytes at its end.
static void* data_of(const char* path, uint64_t bytes) {
  FILE* file = fopen(path, "rb");
  void* data = malloc(bytes);
  if (!file || !data || fseek(file, -(long)bytes, SEEK_END) || fread(data, 1, bytes, file) != bytes)
    exit(fail(path, 1));
  fclose(file);
  return data;
}

static int refuses(uint64_t at, uint64_t bytes, pb_firmware_code wanted) {
  unsigned char* copy = malloc(digits_bytes);
  pb_firmware f;
  memcpy(copy, digits, digits_bytes);
  if (at < digits_bytes) copy[at] ^= 1;
  pb_firmware_code code = pb_firmware_open(&f, copy, bytes);
  free(copy);
  return code == wanted ? 0 : fail("a damaged image", code);
}

int main(int argc, char** argv) {
  pb_firmware f;
  pb_firmware_tensor in, out;
  if (argc != 5) return fail("usage", argc);
  if (refuses(0, digits_bytes, PB_FIRMWARE_NO_ENGINE) || refuses(9, digits_bytes, PB_FIRMWARE_NO_ENGINE) ||
      refuses(8, digits_bytes, PB_FIRMWARE_DAMAGED) || refuses(digits_bytes, 100, PB_FIRMWARE_NO_ENGINE) ||
      refuses(digits_bytes, digits_bytes - 1, PB_FIRMWARE_DAMAGED) || refuses(70, digits_bytes, PB_FIRMWARE_DAMAGED) ||
      refuses(300, digits_bytes, PB_FIRMWARE_DAMAGED) || refuses(digits_bytes - 1, digits_bytes, PB_FIRMWARE_DAMAGED))
    return 1;
  pb_firmware_code code = pb_firmware_open(&f, digits, digits_bytes);
  if (code || pb_firmware_input(&f, 0, &in) || pb_firmware_output(&f, 0, &out)) return fail("opening", code);
  if (pb_firmware_input(&f, 1, &in) != PB_FIRMWARE_NO_TENSOR) return fail("a second input", 1);
  (void)pb_firmware_input(&f, 0, &in);
#ifdef CODES // without a sign, in and out
  if (in.bytes != 256 || out.bytes != 64 || !in.is_unsigned || !out.is_unsigned) return fail("tensors", 1);
#else
  if (in.name_length != 5 || memcmp(in.name, "image", 5) || in.bytes != 256 || out.bytes != 40)
    return fail("tensors", 1);
#endif
  void* library = dlopen(argv[1], RTLD_NOW);
  const pb_device_ops* (*entry)(void) = NULL;
  if (library) *(void**)&entry = dlsym(library, "pb_device_entry");
  if (!entry) return fail(dlerror(), 1);
  const pb_device_ops* ops = entry();
  pb_device* device = NULL;
  if (ops->open(argv[2], &device)) return fail(ops->last_fault(NULL), 1);
  void *image = data_of(argv[3], in.bytes), *expected = data_of(argv[4], out.bytes), *result = malloc(out.bytes);
  code = pb_firmware_load(&f, ops, device);
  for (int k = 0; k < 2 && !code; ++k) { // the second time with what the first left on the chip
    memset(result, 0, out.bytes);
    code = pb_firmware_run(&f, &(const void*){image}, &result);
    if (!code && memcmp(result, expected, out.bytes)) return fail("the result is another than pb-run's", k);
  }
  if (code) return fail(ops->last_fault(device), code);
  printf("%llu bytes of engine, %llu on the chip: as pb-run\n", digits_bytes,
         (unsigned long long)pb_firmware_memory(&f));
  ops->close(device);
  return 0;
}
