// The table of lanes for the processor at hand, and modules.
#include "targets/control/grid/machine/code.h"
#include "targets/control/grid/machine/lanes/scan.h"

#include <pthread.h>
#include <stdlib.h>

extern const grid_lane_row grid__lanes_plain[];
extern const size_t grid__lane_count_plain;
extern const grid_scan grid__scan_plain;
#ifdef __x86_64__
extern const grid_lane_row grid__lanes_v3[], grid__lanes_v4[];
extern const size_t grid__lane_count_v3, grid__lane_count_v4;
extern const grid_scan grid__scan_v3, grid__scan_v4;
#endif

enum { SLOTS = 4096 };
static const grid_lane_row* slots[SLOTS];
static const grid_lane_row* rows;
static const grid_scan* scan;
static size_t row_count;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static size_t slot_of(const char* key) { // FNV-1a
  uint64_t h = UINT64_C(0xcbf29ce484222325);
  for (; *key; ++key) h = (h ^ (uint8_t)*key) * UINT64_C(0x100000001b3);
  return (h ^ h >> 32) % SLOTS;
}

static void choose(void) {
  rows = grid__lanes_plain;
  row_count = grid__lane_count_plain;
  scan = &grid__scan_plain;
#ifdef __x86_64__
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2")) {
    rows = grid__lanes_v3;
    scan = &grid__scan_v3;
  }
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512cd")) {
    rows = grid__lanes_v4;
    scan = &grid__scan_v4;
  }
#endif
  for (size_t n = 0; n < row_count; ++n) {
    size_t at = slot_of(rows[n].key);
    while (slots[at]) at = (at + 1) % SLOTS;
    slots[at] = &rows[n];
  }
}

const grid_lane_row* grid__lane_row(const char* key) {
  pthread_once(&once, choose);
  for (size_t at = slot_of(key); slots[at]; at = (at + 1) % SLOTS)
    if (!strcmp(slots[at]->key, key)) return slots[at];
  return NULL;
}

const grid_lane_row* grid__lane_rows(size_t* count) {
  pthread_once(&once, choose);
  *count = row_count;
  return rows;
}

const grid_scan* grid__scan(void) {
  pthread_once(&once, choose);
  return scan;
}

void grid__module_free(grid_module* m) {
  if (!m) return;
  gcn__free(m);
  for (size_t n = 0; n < m->kernel_count; ++n) {
    free(m->kernels[n]->code);
    free(m->kernels[n]->fills);
  }
  free(m->kernels);
  free(m->locs);
  pb_arena_free(&m->arena);
  free(m);
}
