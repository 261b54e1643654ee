// Eight bytes at a step ("slicing by 8", Kounavis and Berry 2005): an engine's constants are checked on every load.
#include "core/artefact/format.h"

#include <pthread.h>

static const uint64_t polynomial = 0xc96c5795d7870f42u;
enum { LANES = 4, LANE_BYTES = 4096 };
static uint64_t table[8][256], lane[8][256];
static pthread_once_t once = PTHREAD_ONCE_INIT;

// Spelt so that compilers see one load.
static inline uint64_t word(const uint8_t* at) {
  return at[0] | (uint64_t)at[1] << 8 | (uint64_t)at[2] << 16 | (uint64_t)at[3] << 24 | (uint64_t)at[4] << 32 |
         (uint64_t)at[5] << 40 | (uint64_t)at[6] << 48 | (uint64_t)at[7] << 56;
}

static inline uint64_t step(uint64_t crc, const uint8_t* at) {
  uint64_t x = crc ^ word(at);
  return table[7][x & 255] ^ table[6][x >> 8 & 255] ^ table[5][x >> 16 & 255] ^ table[4][x >> 24 & 255] ^
         table[3][x >> 32 & 255] ^ table[2][x >> 40 & 255] ^ table[1][x >> 48 & 255] ^ table[0][x >> 56];
}

// The bytes as they come, neither end inverted.
static uint64_t run(uint64_t crc, const uint8_t* at, size_t bytes) {
  for (; bytes >= 8; bytes -= 8, at += 8) crc = step(crc, at);
  for (; bytes; --bytes, ++at) crc = crc >> 8 ^ table[0][(crc ^ *at) & 255];
  return crc;
}

static void fill(void) {
  for (unsigned n = 0; n < 256; ++n) {
    uint64_t crc = n;
    for (int bit = 0; bit < 8; ++bit) crc = crc & 1 ? crc >> 1 ^ polynomial : crc >> 1;
    table[0][n] = crc;
  }
  for (int k = 1; k < 8; ++k)
    for (unsigned n = 0; n < 256; ++n) table[k][n] = table[k - 1][n] >> 8 ^ table[0][table[k - 1][n] & 255];
  static const uint8_t zeros[LANE_BYTES];
  for (int bit = 0; bit < 64; ++bit) {
    uint64_t of_bit = run((uint64_t)1 << bit, zeros, LANE_BYTES);
    for (unsigned n = 0; n < 256; ++n)
      if (n >> bit % 8 & 1) lane[bit / 8][n] ^= of_bit;
  }
}

// Four pieces of as many bytes at once: each step of one waits for its tables, which the others' steps fill.
static void run_lanes(uint64_t crc[LANES], const uint8_t* at) {
  uint64_t a = crc[0], b = crc[1], c = crc[2], d = crc[3];
  for (const uint8_t* end = at + LANE_BYTES; at < end; at += 8) {
    a = step(a, at);
    b = step(b, at + LANE_BYTES);
    c = step(c, at + 2 * LANE_BYTES);
    d = step(d, at + 3 * LANE_BYTES);
  }
  crc[0] = a, crc[1] = b, crc[2] = c, crc[3] = d;
}

// What LANE_BYTES zeros behind a piece make of its sum: linear, so the sum of what they make of its bytes.
static uint64_t shift_lane(uint64_t crc) {
  uint64_t shifted = 0;
  for (int k = 0; k < 8; ++k) shifted ^= lane[k][crc >> 8 * k & 255];
  return shifted;
}

uint64_t pb__crc64(uint64_t crc, const void* data, size_t bytes) {
  pthread_once(&once, fill);
  const uint8_t* at = data;
  crc = ~crc;
  for (; bytes >= LANES * LANE_BYTES; bytes -= LANES * LANE_BYTES, at += LANES * LANE_BYTES) {
    uint64_t part[LANES] = {crc};
    run_lanes(part, at);
    crc = part[0];
    for (int l = 1; l < LANES; ++l) crc = shift_lane(crc) ^ part[l];
  }
  return ~run(crc, at, bytes);
}
