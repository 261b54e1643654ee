// What checks ask of all lanes of a request at once; compiled, as lanes.c, for each level of the processor.
#ifndef PB_GRID_MACHINE_SCAN_H
#define PB_GRID_MACHINE_SCAN_H

#include <stdbool.h>
#include <stdint.h>

// Who asks: `me` is lane 0's thread; the rest is of race.c.
typedef struct grid_records {
  uint64_t *writers, *readers;
  uint64_t tag, clock, known_least, own; // own: of the warp, what comes before it now
  int epoch_shift;
  uint32_t me;
  const uint32_t* known; // by warp
  bool write, distinct;  // distinct: no two lanes have one granule
} grid_records;

typedef struct grid_scan {
  // Bits of lanes: at `same`; at `origin` + bytes * lane; with bits of `unit` set; at most `most` above `from`.
  uint32_t (*same)(const uint64_t* address, uint64_t same);
  uint32_t (*dense)(const uint64_t* address, uint64_t origin, uint64_t bytes);
  uint32_t (*odd)(const uint64_t* address, uint64_t unit);
  uint32_t (*within)(const uint64_t* address, uint64_t from, uint64_t most);
  void (*add)(uint64_t* to, const uint64_t* from, uint64_t plus);
  void (*add_narrow)(uint64_t* to, const uint32_t* from, uint64_t plus);
  bool (*all_set)(const uint8_t* bytes, uint64_t count); // all are 0xff
  // Lanes whose `bytes` (4, 8; else none) at valid + address + plus are all 0xff; addresses of others lead somewhere,
  // too.
  uint32_t (*set_at)(const uint8_t* valid, const uint64_t* address, uint64_t plus, uint32_t bytes);
  // race.c, for lanes at granules `index` of which none is out of bounds. Lanes for which nothing was done: what is a
  // race or changes more than one record.
  uint32_t (*records)(const grid_records* r, const uint64_t* index, uint32_t mask);
  void (*multiply)(double* d, const double* a, const double* b, const double* c, int k); // 16 x 8, rows of 32
} grid_scan;

const grid_scan* grid__scan(void); // code.c

#endif
