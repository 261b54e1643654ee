// The reader of .safetensors files on any bytes, from memory that ends where they do.
#include "fuzz.h"

#include "core/frontend/safetensors.h"

#include <stdlib.h>
#include <string.h>

static void ignore(void* user, bool error, int code, const char* text) {
  (void)user, (void)error, (void)code, (void)text;
}

// Reads all of what it was given; names are there once.
static void use(const pb_safetensors* file) {
  unsigned sum = 0;
  for (int k = 0; k < file->count; ++k) {
    const pb_bound* t = &file->tensors[k];
    size_t bytes = ((size_t)pb_type_bits(t->type) + 7) / 8;
    if ((uintptr_t)t->data % bytes) abort();
    for (int d = 0; d < t->rank; ++d) bytes *= (size_t)t->shape[d];
    for (size_t b = 0; b < bytes; ++b) sum += ((const unsigned char*)t->data)[b];
    if (k && !strcmp(file->tensors[k - 1].name, t->name)) abort();
  }
  volatile unsigned kept = sum;
  (void)kept;
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  pb_diag diag = {.sink = ignore};
  pb_safetensors file = {0};
  pb_status status = pb_safetensors_parse(data, size, "fuzz", &diag, &file);
  if (status == PB_OK) use(&file);
  if ((status != PB_OK) != (diag.errors > 0)) abort(); // a refusal says why
  pb_safetensors_free(&file);
  return 0;
}
