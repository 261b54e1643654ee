#include "core/base/sha256.h"

#include <math.h>
#include <pthread.h>
#include <string.h>

// The constants are the first 32 bits of the fractional parts of the roots of the first primes.
static uint32_t round_constants[64];

static void make_round_constants(void) {
  for (int n = 2, count = 0; count < 64; ++n) {
    int prime = 1;
    for (int d = 2; d * d <= n; ++d) prime &= n % d != 0;
    if (!prime) continue;
    long double root = cbrtl((long double)n);
    round_constants[count++] = (uint32_t)((root - floorl(root)) * 4294967296.0L);
  }
}

static uint32_t rotate(uint32_t x, int n) { return x >> n | x << (32 - n); }

static void compress(pb_sha256* sha, const uint8_t* block) {
  uint32_t w[64], s[8];
  for (int t = 0; t < 16; ++t)
    w[t] = (uint32_t)block[4 * t] << 24 | (uint32_t)block[4 * t + 1] << 16 | (uint32_t)block[4 * t + 2] << 8 |
           block[4 * t + 3];
  for (int t = 16; t < 64; ++t) {
    uint32_t a = rotate(w[t - 15], 7) ^ rotate(w[t - 15], 18) ^ w[t - 15] >> 3;
    uint32_t b = rotate(w[t - 2], 17) ^ rotate(w[t - 2], 19) ^ w[t - 2] >> 10;
    w[t] = w[t - 16] + a + w[t - 7] + b;
  }
  memcpy(s, sha->state, sizeof s);
  for (int t = 0; t < 64; ++t) {
    uint32_t e = rotate(s[4], 6) ^ rotate(s[4], 11) ^ rotate(s[4], 25);
    uint32_t t1 = s[7] + e + ((s[4] & s[5]) ^ (~s[4] & s[6])) + round_constants[t] + w[t];
    uint32_t a = rotate(s[0], 2) ^ rotate(s[0], 13) ^ rotate(s[0], 22);
    uint32_t t2 = a + ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
    memmove(s + 1, s, sizeof s - sizeof *s);
    s[4] += t1;
    s[0] = t1 + t2;
  }
  for (int k = 0; k < 8; ++k) sha->state[k] += s[k];
}

void pb_sha256_init(pb_sha256* sha) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, make_round_constants);
  static const int primes[8] = {2, 3, 5, 7, 11, 13, 17, 19};
  memset(sha, 0, sizeof *sha);
  for (int k = 0; k < 8; ++k) {
    long double root = sqrtl((long double)primes[k]);
    sha->state[k] = (uint32_t)((root - floorl(root)) * 4294967296.0L);
  }
}

void pb_sha256_add(pb_sha256* sha, const void* data, size_t bytes) {
  const uint8_t* from = data;
  while (bytes) {
    size_t at = sha->length % 64, n = 64 - at < bytes ? 64 - at : bytes;
    memcpy(sha->block + at, from, n);
    sha->length += n;
    from += n;
    bytes -= n;
    if (sha->length % 64 == 0) compress(sha, sha->block);
  }
}

void pb_sha256_done(pb_sha256* sha, uint8_t hash[32]) {
  uint64_t bits = sha->length * 8;
  uint8_t pad[72] = {0x80};
  size_t n = (sha->length % 64 < 56 ? 56 : 120) - sha->length % 64;
  pb_sha256_add(sha, pad, n);
  uint8_t length[8];
  for (int k = 0; k < 8; ++k) length[k] = (uint8_t)(bits >> (56 - 8 * k));
  pb_sha256_add(sha, length, 8);
  for (int k = 0; k < 32; ++k) hash[k] = (uint8_t)(sha->state[k / 4] >> (24 - 8 * (k % 4)));
}
