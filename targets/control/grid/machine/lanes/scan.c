// Loops over lanes without branches, for compilers to make vectors of.
#include "targets/control/grid/machine/lanes/scan.h"

#include <string.h>

enum { LANES = 32 };

static uint32_t same(const uint64_t* address, uint64_t s) {
  uint32_t bits = 0;
  for (int l = 0; l < LANES; ++l) bits |= (uint32_t)(address[l] == s) << l;
  return bits;
}

static uint32_t dense(const uint64_t* address, uint64_t origin, uint64_t bytes) {
  uint32_t bits = 0;
  for (int l = 0; l < LANES; ++l) bits |= (uint32_t)(address[l] == origin + bytes * (uint64_t)l) << l;
  return bits;
}

static uint32_t odd(const uint64_t* address, uint64_t unit) {
  uint32_t bits = 0;
  for (int l = 0; l < LANES; ++l) bits |= (uint32_t)((address[l] & unit) != 0) << l;
  return bits;
}

static uint32_t within(const uint64_t* address, uint64_t from, uint64_t most) {
  uint32_t bits = 0;
  for (int l = 0; l < LANES; ++l) bits |= (uint32_t)(address[l] - from <= most) << l;
  return bits;
}

static void add(uint64_t* to, const uint64_t* from, uint64_t plus) {
  for (int l = 0; l < LANES; ++l) to[l] = from[l] + plus;
}

static void add_narrow(uint64_t* to, const uint32_t* from, uint64_t plus) {
  for (int l = 0; l < LANES; ++l) to[l] = from[l] + plus;
}

static bool all_set(const uint8_t* bytes, uint64_t count) {
  uint64_t both = UINT64_MAX, k = 0;
  for (; k + 8 <= count; k += 8) {
    uint64_t word;
    memcpy(&word, bytes + k, 8);
    both &= word;
  }
  for (; k < count; ++k) both &= bytes[k] == 0xff ? UINT64_MAX : 0;
  return both == UINT64_MAX;
}

static uint32_t set_at(const uint8_t* valid, const uint64_t* address, uint64_t plus, uint32_t bytes) {
  uint32_t bits = 0;
  if (bytes == 4)
    for (int l = 0; l < LANES; ++l) {
      uint32_t word;
      memcpy(&word, valid + (address[l] + plus), 4);
      bits |= (uint32_t)(word == UINT32_MAX) << l;
    }
  else if (bytes == 8)
    for (int l = 0; l < LANES; ++l) {
      uint64_t word;
      memcpy(&word, valid + (address[l] + plus), 8);
      bits |= (uint32_t)(word == UINT64_MAX) << l;
    }
  return bits;
}

// See race.c for what a record is and what comes before what.
static uint32_t records(const grid_records* v, const uint64_t* index, uint32_t mask) {
  uint64_t tag = v->tag, clock = v->clock, least = v->known_least, me = v->me, own = v->own, warp = me / LANES,
           known[LANES];
  uint64_t shift = (uint64_t)v->epoch_shift, epoch = tag >> shift, write = v->write, distinct = v->distinct;
  uint64_t ws[LANES], rs[LANES], fast[LANES], changed[LANES], store[LANES];
  for (int l = 0; l < LANES; ++l) known[l] = v->known[l];
  // What this warp did before its clock is as if it knew its own release then.
  known[warp] = own;
  for (int l = 0; l < LANES; ++l) ws[l] = v->writers[index[l]];
  for (int l = 0; l < LANES; ++l) rs[l] = v->readers[index[l]];
  for (int l = 0; l < LANES; ++l) {
    uint64_t w = ws[l], r = rs[l], lane = me + (uint64_t)l;
    uint64_t w_tag = w >> 32, w_thread = w >> 22 & 0x3ff, r_tag = r >> 32, r_thread = r >> 22 & 0x3ff;
    uint64_t several = 0 - (r >> 20 & ~(r >> 21) & 1), blocks = 0 - (r >> 21 & ~(r >> 20) & 1), r_clock = r & 0xfffff;
    uint64_t lanes = 0 - (r >> 20 & r >> 21 & 1);
    uint64_t w_known = known[w_thread / LANES], r_known = known[r_thread / LANES];
    uint64_t w_before = (w_thread == lane ? ~UINT64_C(0) : 0) | (w_known > (w & 0xfffff) ? ~UINT64_C(0) : 0);
    uint64_t r_before = ((r_thread == lane ? ~UINT64_C(0) : 0) & ~lanes) | (r_known > r_clock ? ~UINT64_C(0) : 0);
    uint64_t all_before = (least > r_clock ? ~UINT64_C(0) : 0) & (own > r_clock ? ~UINT64_C(0) : 0);
    uint64_t w_old = w_tag >> shift != epoch ? ~UINT64_C(0) : 0, w_mine = w_tag == tag ? ~UINT64_C(0) : 0;
    uint64_t r_now = r_tag >> shift == epoch ? ~UINT64_C(0) : 0, r_mine = r_tag == tag ? ~UINT64_C(0) : 0;
    uint64_t w_good = w_old | (w_mine & w_before);
    uint64_t before = (several & all_before) | (~several & r_before);
    uint64_t ordered = (~r_now | (r_mine & ~blocks & before)) & (0 - distinct);
    uint64_t again = lanes & (r_thread / LANES == warp ? ~UINT64_C(0) : 0) & (r_clock == clock ? ~UINT64_C(0) : 0);
    uint64_t stays = (r_now & (blocks | (r_mine & ((several & ~all_before) | again)))) & (write - 1);
    fast[l] = w_good & (ordered | stays);
    changed[l] = w_good & ordered & ~stays;
    store[l] = tag << 32 | lane << 22 | clock;
  }
  uint32_t done = 0, changes = 0;
  for (int l = 0; l < LANES; ++l) done |= (uint32_t)(fast[l] & 1) << l;
  for (int l = 0; l < LANES; ++l) changes |= (uint32_t)(changed[l] & 1) << l;
  uint64_t* to = v->write ? v->writers : v->readers;
  for (uint32_t m = changes & mask; m; m &= m - 1) to[index[__builtin_ctz(m)]] = store[__builtin_ctz(m)];
  return mask & ~done;
}

static void multiply(double* d, const double* a, const double* b, const double* c, int count) {
  double turned[LANES][8];
  for (int k = 0; k < count; ++k)
    for (int n = 0; n < 8; ++n) turned[k][n] = b[n * LANES + k];
  for (int m = 0; m < 16; ++m) {
    double sum[8] = {0};
    for (int k = 0; k < count; ++k)
      for (int n = 0; n < 8; ++n) sum[n] += a[m * LANES + k] * turned[k][n];
    for (int n = 0; n < 8; ++n) d[m * 8 + n] = sum[n] + c[m * 8 + n];
  }
}

extern const grid_scan GRID_SCAN;
const grid_scan GRID_SCAN = {same, dense, odd, within, add, add_narrow, all_set, set_at, records, multiply};
