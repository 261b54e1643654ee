// Eight bytes at a step ("slicing by 8", Kounavis and Berry 2005): an engine's constants are checked on every load.
#include "core/artefact/format.h"

#include <pthread.h>

static const uint64_t polynomial = 0xc96c5795d7870f42u;
static uint64_t table[8][256];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void fill(void) {
  for (unsigned n = 0; n < 256; ++n) {
    uint64_t crc = n;
    for (int bit = 0; bit < 8; ++bit) crc = crc & 1 ? crc >> 1 ^ polynomial : crc >> 1;
    table[0][n] = crc;
  }
  for (int k = 1; k < 8; ++k)
    for (unsigned n = 0; n < 256; ++n) table[k][n] = table[k - 1][n] >> 8 ^ table[0][table[k - 1][n] & 255];
}

uint64_t pb__crc64(uint64_t crc, const void* data, size_t bytes) {
  pthread_once(&once, fill);
  const uint8_t* at = data;
  crc = ~crc;
  for (; bytes >= 8; bytes -= 8, at += 8) {
    crc ^= pb__get(at, 8);
    uint64_t next = 0;
    for (int k = 0; k < 8; ++k) next ^= table[7 - k][crc >> 8 * k & 255];
    crc = next;
  }
  for (; bytes; --bytes, ++at) crc = crc >> 8 ^ table[0][(crc ^ *at) & 255];
  return ~crc;
}
