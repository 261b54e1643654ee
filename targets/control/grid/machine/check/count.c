// What a request costs: sectors of 32 bytes and lines of 128 in device memory, a second-level cache that stands before
// DRAM, banks of shared memory.
#include "targets/control/grid/machine/block.h"

#include <pthread.h>
#include <stdlib.h>

enum { LINE = 128, SECTOR = 32, WAYS = 16, LOCKS = 64 };

typedef struct way {
  uint64_t line; // + 1; 0: nothing
  uint32_t age;
  uint8_t sectors, dirty;
} way;

struct grid_l2 {
  way* ways;
  uint64_t sets;
  uint32_t age[LOCKS];
  pthread_mutex_t locks[LOCKS];
};

struct grid_l2* grid__l2_open(uint64_t bytes) {
  struct grid_l2* l2 = calloc(1, sizeof *l2);
  if (!l2) return NULL;
  l2->sets = bytes / LINE / WAYS;
  l2->ways = calloc(l2->sets * WAYS, sizeof *l2->ways);
  for (int k = 0; k < LOCKS; ++k) pthread_mutex_init(&l2->locks[k], NULL);
  if (l2->ways) return l2;
  free(l2);
  return NULL;
}

void grid__l2_close(struct grid_l2* l2) {
  if (!l2) return;
  for (int k = 0; k < LOCKS; ++k) pthread_mutex_destroy(&l2->locks[k]);
  free(l2->ways);
  free(l2);
}

static void touch_sectors(struct grid_l2* l2, uint64_t line, uint8_t sectors, bool write, grid_counts* counts) {
  uint64_t set = (line * UINT64_C(0x9e3779b97f4a7c15) >> 20) % l2->sets;
  int lock = (int)(set % LOCKS);
  pthread_mutex_lock(&l2->locks[lock]);
  way *ways = &l2->ways[set * WAYS], *found = NULL, *oldest = ways;
  for (int k = 0; k < WAYS && !found; ++k) {
    if (ways[k].line == line + 1) found = &ways[k];
    if (ways[k].age < oldest->age) oldest = &ways[k];
  }
  if (!found) {
    counts->dram_write += (uint64_t)SECTOR * (uint64_t)__builtin_popcount(oldest->dirty);
    found = oldest;
    *found = (way){.line = line + 1};
  }
  found->age = ++l2->age[lock];
  uint8_t missing = (uint8_t)(sectors & ~found->sectors);
  if (!write) counts->dram_read += (uint64_t)SECTOR * (uint64_t)__builtin_popcount(missing);
  counts->l2_hits += (uint64_t)__builtin_popcount(sectors & found->sectors);
  found->sectors |= sectors;
  if (write) found->dirty |= sectors;
  pthread_mutex_unlock(&l2->locks[lock]);
}

static void device_sector(grid_worker* k, uint64_t line, uint8_t sectors, bool write) {
  struct grid_l2* l2 = k->block.launch->device->l2;
  grid_near* near = &k->near[line * UINT64_C(0x9e3779b97f4a7c15) >> 56];
  bool here = near->line == line && near->run == k->block.run;
  if (!write && here && !(sectors & ~near->sectors)) {
    k->counts.l2_hits += (uint64_t)__builtin_popcount(sectors);
    return;
  }
  if (!here) *near = (grid_near){line, k->block.run, 0};
  k->counts.l2_sectors += (uint64_t)__builtin_popcount(write ? sectors : sectors & (uint8_t)~near->sectors);
  near->sectors |= sectors;
  touch_sectors(l2, line, sectors, write, &k->counts);
}

static void one_range(grid_worker* k, uint64_t from, uint64_t to, bool write) {
  for (uint64_t line = from / LINE; line <= (to - 1) / LINE; ++line) {
    uint64_t a = from > line * LINE ? from - line * LINE : 0, z = to - line * LINE < LINE ? to - line * LINE : LINE;
    uint8_t sectors = 0;
    for (uint64_t s = a / SECTOR; s <= (z - 1) / SECTOR; ++s) sectors |= (uint8_t)(1u << s);
    k->counts.global_sectors += (uint64_t)__builtin_popcount(sectors);
    device_sector(k, line, sectors, write);
  }
}

static void scattered(grid_worker* k, const grid_request* q, uint32_t mask, bool write) {
  uint64_t lines[GRID_LANES * 2];
  uint8_t sectors[GRID_LANES * 2];
  int count = 0;
  for (uint32_t m = mask; m; m &= m - 1) {
    uint64_t a = q->address[__builtin_ctz(m)];
    for (uint64_t s = a / SECTOR; s <= (a + q->bytes - 1) / SECTOR; ++s) {
      uint64_t line = s / (LINE / SECTOR);
      int n = count - 1;
      while (n >= 0 && lines[n] != line) --n;
      if (n < 0) lines[n = count++] = line, sectors[n] = 0;
      sectors[n] |= (uint8_t)(1u << s % (LINE / SECTOR));
    }
  }
  for (int n = 0; n < count; ++n) {
    k->counts.global_sectors += (uint64_t)__builtin_popcount(sectors[n]);
    device_sector(k, lines[n], sectors[n], write);
  }
}

// Words of one bank that differ follow each other; requests of more than 128 bytes go in parts.
static void banks(grid_worker* k, const grid_request* q, uint32_t mask) {
  uint32_t lanes_at_once = q->bytes <= 4 ? 32 : q->bytes <= 8 ? 16 : 8;
  for (uint32_t first = 0; first < GRID_LANES; first += lanes_at_once) {
    uint64_t words[GRID_LANES][8];
    int held[GRID_LANES] = {0}, most = 1;
    for (uint32_t l = first; l < first + lanes_at_once; ++l) {
      if (!(mask >> l & 1)) continue;
      for (uint64_t word = q->address[l] / 4; word <= (q->address[l] + q->bytes - 1) / 4; ++word) {
        int bank = (int)(word % 32), n = 0;
        while (n < held[bank] && words[bank][n] != word) ++n;
        if (n < held[bank] || n == 8) continue;
        words[bank][held[bank]++] = word;
        if (held[bank] > most) most = held[bank];
      }
    }
    k->counts.shared_conflicts += (uint64_t)(most - 1);
  }
}

void grid__count(const grid_request* q, uint32_t mask, bool shared) {
  grid_worker* k = q->block->worker;
  int first = __builtin_ctz(mask);
  uint64_t a = q->address[first];
  if (q->effect == GRID_ATOMIC) ++k->counts.atomics;
  if (shared) {
    ++k->counts.shared_requests;
    if (!q->uniform && !(q->dense && q->bytes == 4)) banks(k, q, mask);
    return;
  }
  bool write = q->effect != GRID_READ;
  ++k->counts.global_requests;
  uint64_t bytes = q->uniform ? q->bytes : (uint64_t)q->bytes * (uint64_t)__builtin_popcount(mask);
  k->counts.global_ideal += (bytes + SECTOR - 1) / SECTOR;
  if (q->uniform)
    one_range(k, a, a + q->bytes, write);
  else if (q->dense && mask == UINT32_MAX)
    one_range(k, a, a + (uint64_t)q->bytes * GRID_LANES, write);
  else
    scattered(k, q, mask, write);
}
