// The plain meaning of simnpu's instructions, written from the description and from nothing in the RTL.
#ifndef PB_TESTS_SIMNPU_REFERENCE_H
#define PB_TESTS_SIMNPU_REFERENCE_H

#include "program.h"

#include <stddef.h>

typedef struct reference {
  int lanes;
  uint8_t *spad, *acc, *wreg;
  int64_t spad_bytes, acc_bytes;
  uint8_t* dram; // an image of device memory from address 0
  uint64_t dram_bytes;
} reference;

void reference_init(reference* r, const pb_chip* chip, uint64_t dram_bytes);
void reference_free(reference* r);
// Runs the commands in order.
void reference_run(reference* r, const program* p);

// Compares the buffers of the program's arguments with the device's. The first difference is written as text; empty:
// none.
void reference_compare(const reference* r, const program* p, device* d, char* difference, size_t size);

float reference_max(float a, float b); // a number wins over NaN; -0 < +0
float reference_min(float a, float b);

#endif
