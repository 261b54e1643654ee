// SHA-256 (FIPS 180-4), to tell one description or file section from another. Not a signature.
#ifndef PB_BASE_SHA256_H
#define PB_BASE_SHA256_H

#include <stddef.h>
#include <stdint.h>

typedef struct pb_sha256 {
  uint32_t state[8];
  uint64_t length;
  uint8_t block[64];
} pb_sha256;

void pb_sha256_init(pb_sha256* sha);
void pb_sha256_add(pb_sha256* sha, const void* data, size_t bytes);
void pb_sha256_done(pb_sha256* sha, uint8_t hash[32]);

#endif
