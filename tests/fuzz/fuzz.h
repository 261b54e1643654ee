// libFuzzer's entry, which the plain driver calls too.
#ifndef PB_TESTS_FUZZ_FUZZ_H
#define PB_TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

#endif
