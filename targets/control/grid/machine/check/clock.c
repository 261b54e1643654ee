// How long a launch would keep a GPU busy, by what was counted: blocks go to processors in turn, the warps of each to
// its schedulers in turn, and the launch is over when the busiest unit is done. Latency is not in it, nor what a launch
// itself costs: it is a bound from below, and says whether work is spread over the chip. Rates are those of the
// vendors' data sheets, not the descriptions'.
#include "targets/control/grid/machine/block.h"

#include <stdlib.h>

enum { MEMORY = GRID_UNITS - 1, SECTOR = 32 };

// Of a chip: processors, schedulers of each, and cycles of a scheduler for an instruction of a warp: any at all, any
// that computes in lanes, and of those floats and integers. Bytes in a cycle of a processor's first cache, of the
// second-level cache and of DRAM.
struct grid_rates {
  const char* name;
  uint32_t processors, schedulers, any, lanes, floats, integers, near_bytes, l2_bytes, far_bytes;
};

static const grid_rates known[] = {
    {"sm_80", 108, 4, 1, 1, 2, 2, 128, 5120, 1102},  // NVIDIA A100 Tensor Core GPU Architecture: 1,555 GB/s, 1.41 GHz
    {"sm_89", 128, 4, 1, 1, 1, 2, 128, 2048, 400},   // NVIDIA Ada GPU Architecture: 1,008 GB/s, 2.52 GHz
    {"sm_90", 132, 4, 1, 1, 1, 2, 128, 5120, 1900},  // NVIDIA H100 Tensor Core GPU Architecture: 3,350 GB/s, 1.76 GHz
    {"gfx942", 304, 4, 1, 4, 4, 4, 64, 16384, 2523}, // AMD CDNA 3 white paper: 5,300 GB/s, 2.1 GHz
    {"gfx90a", 220, 4, 1, 4, 4, 4, 64, 8192, 1927},  // AMD CDNA 2 white paper: 3,277 GB/s, 1.7 GHz
    {"gfx1100", 96, 2, 1, 1, 1, 1, 128, 2304, 384}}; // AMD RDNA 3: Radeon RX 7900 XTX, 960 GB/s, 2.5 GHz

const grid_rates* grid__rates(const char* processor) {
  for (size_t k = sizeof known / sizeof *known; k-- > 0;)
    if (!strncmp(processor, known[k].name, strlen(known[k].name))) return &known[k];
  return &known[0];
}

uint64_t* grid__clock_open(const grid_rates* rates) { return calloc(rates->processors, GRID_UNITS * sizeof(uint64_t)); }

// Cycles of each unit so far, if one scheduler had done all of it.
static void units_of(const grid_worker* k, const grid_rates* r, uint64_t* unit) {
  const uint64_t* c = k->classes;
  uint64_t floats = c[GRID_CLASS_FMA] + c[GRID_CLASS_FLOAT], integers = c[GRID_CLASS_INTEGER] - k->counts.scalars;
  unit[0] = k->counts.warp_instructions * r->any;
  unit[1] = (floats + integers + c[GRID_CLASS_MOVE]) * r->lanes;
  unit[2] = floats * r->floats;
  unit[3] = integers * r->integers;
  uint64_t own = k->counts.global_sectors - k->counts.scalar_sectors; // scalar loads have a cache of their own
  uint64_t bytes = own * SECTOR / r->near_bytes;
  unit[MEMORY] = bytes > k->counts.global_requests ? bytes : k->counts.global_requests;
}

void grid__clock_block(grid_worker* k, uint64_t index) {
  const grid_launch* l = k->block.launch;
  uint64_t now[GRID_UNITS], *busy = l->busy + index % l->module->rates->processors * GRID_UNITS;
  units_of(k, l->module->rates, now);
  for (int u = 0; u < GRID_UNITS; ++u) {
    __atomic_fetch_add(&busy[u], now[u] - k->clocked[u], __ATOMIC_RELAXED);
    k->clocked[u] = now[u];
  }
}

// Of a processor: schedulers that have one warp more than others end later.
static uint64_t processor_cycles(const grid_launch* l, uint64_t processor, const uint64_t* busy) {
  const grid_rates* r = l->module->rates;
  uint32_t lanes = GRID_LANES * (l->kernel->gcn ? gcn__halves(l->kernel) : 1);
  uint64_t blocks = l->block_count / r->processors + (processor < l->block_count % r->processors), most = 0;
  uint64_t warps = blocks * ((l->thread_count + lanes - 1) / lanes);
  for (int u = 0; u < MEMORY && warps; ++u) {
    uint64_t cycles = busy[u] * ((warps + r->schedulers - 1) / r->schedulers) / warps;
    if (cycles > most) most = cycles;
  }
  return most > busy[MEMORY] ? most : busy[MEMORY];
}

static uint64_t far_bytes(const grid_counts* counts) { return counts->dram_read + counts->dram_write; }

void grid__clock_close(grid_launch* l, const grid_counts* before) {
  const grid_rates* r = l->module->rates;
  grid_counts* counts = &l->device->counts;
  uint64_t most = 0, far = (far_bytes(counts) - far_bytes(before)) / r->far_bytes;
  uint64_t l2 = (counts->l2_sectors - before->l2_sectors) * SECTOR / r->l2_bytes;
  for (uint64_t p = 0; p < r->processors; ++p) {
    uint64_t cycles = processor_cycles(l, p, l->busy + p * GRID_UNITS);
    if (cycles > most) most = cycles;
  }
  counts->cycles_near += most;
  counts->cycles_l2 += l2;
  counts->cycles_far += far;
  if (l2 > most) most = l2;
  counts->cycles += most > far ? most : far;
  free(l->busy);
  l->busy = NULL;
}
