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

// One round: its state are a to h, of which d and h become what the next one has as e and a.
static void mix(uint32_t a, uint32_t b, uint32_t c, uint32_t* d, uint32_t e, uint32_t f, uint32_t g, uint32_t* h,
                uint32_t word) {
  uint32_t t = *h + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + ((e & f) ^ (~e & g)) + word;
  *d += t;
  *h = t + (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
}

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
  for (int t = 0; t < 64; ++t) w[t] += round_constants[t];
  memcpy(s, sha->state, sizeof s);
  for (int t = 0; t < 64; t += 8) { // names turn instead of numbers
    mix(s[0], s[1], s[2], &s[3], s[4], s[5], s[6], &s[7], w[t]);
    mix(s[7], s[0], s[1], &s[2], s[3], s[4], s[5], &s[6], w[t + 1]);
    mix(s[6], s[7], s[0], &s[1], s[2], s[3], s[4], &s[5], w[t + 2]);
    mix(s[5], s[6], s[7], &s[0], s[1], s[2], s[3], &s[4], w[t + 3]);
    mix(s[4], s[5], s[6], &s[7], s[0], s[1], s[2], &s[3], w[t + 4]);
    mix(s[3], s[4], s[5], &s[6], s[7], s[0], s[1], &s[2], w[t + 5]);
    mix(s[2], s[3], s[4], &s[5], s[6], s[7], s[0], &s[1], w[t + 6]);
    mix(s[1], s[2], s[3], &s[4], s[5], s[6], s[7], &s[0], w[t + 7]);
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
