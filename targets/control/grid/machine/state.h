// The machine's parts, as they see each other: device memory (memory), code as it is run (code.h), one request of a
// warp to memory with its checks (access, race, count), a block and its warps (block), and blocks on threads (launch).
#ifndef PB_GRID_MACHINE_STATE_H
#define PB_GRID_MACHINE_STATE_H

#include "pb/device.h"
#include "tdl/chip.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum {
  GRID_LANES = 32, // of one request; a wave of 64 makes two
  GRID_MAX_THREADS = 1024,
  GRID_MAX_WARPS = 32,
  GRID_BARRIERS = 16,
  GRID_FAULT_BYTES = 2048,
  GRID_MAX_LOCAL = 1 << 20,
  GRID_MAX_SHARED = 228 << 10
};
enum grid_fault_code {
  GRID_OK,
  GRID_BAD_OPTION,
  GRID_OUT_OF_MEMORY,
  GRID_BAD_CODE,
  GRID_BAD_LAUNCH,
  GRID_BAD_ADDRESS,
  GRID_MISALIGNED,
  GRID_UNINITIALISED,
  GRID_PENDING,
  GRID_RACE,
  GRID_BARRIER,
  GRID_DIVERGED,
  GRID_LIMIT,
  GRID_TRAP,
  GRID_BAD_VALUE
};

// Where the spaces of a thread lie among generic addresses; device memory is handed out from GRID_GLOBAL on.
#define GRID_GLOBAL UINT64_C(0x700010000000)
#define GRID_SHARED UINT64_C(0x710000000000)
#define GRID_LOCAL UINT64_C(0x720000000000)
#define GRID_WINDOW UINT64_C(0x010000000000)

typedef enum grid_space { GRID_SPACE_GENERIC, GRID_SPACE_GLOBAL, GRID_SPACE_SHARED, GRID_SPACE_LOCAL } grid_space;

// What a byte of memory holds, in `valid`.
enum { GRID_BYTE_NEVER = 0, GRID_BYTE_PENDING = 0x55, GRID_BYTE_VALID = 0xff };

// One allocation of device memory. Who touched its granules last in a launch: writers and readers (race.c).
typedef struct grid_memory {
  uint64_t address, bytes;
  uint8_t* data;
  uint8_t* valid; // a byte a byte
  uint64_t *writers, *readers;
  uint32_t shift;  // log2 of the granule writers and readers are made for
  bool constant;   // of a module: free_all leaves it, stores are faults
  bool of_module;  // of a module: free_all leaves it
  char name[64];   // a variable's; empty: of alloc
  uint64_t number; // of alloc, from 0 on
} grid_memory;

// What happened, in numbers. One for each host thread, summed at the end of a launch.
#define GRID_COUNTERS(C)                                                                                               \
  C(warp_instructions, "warp.instructions")                                                                            \
  C(thread_instructions, "thread.instructions")                                                                        \
  C(scalars, "class.integer.scalar")                                                                                   \
  C(fma, "class.fma")                                                                                                  \
  C(float_other, "class.float")                                                                                        \
  C(integer, "class.integer")                                                                                          \
  C(move, "class.move")                                                                                                \
  C(control, "class.control")                                                                                          \
  C(memory, "class.memory")                                                                                            \
  C(matrix, "class.matrix")                                                                                            \
  C(barrier, "class.barrier")                                                                                          \
  C(matrix_macs, "matrix.macs")                                                                                        \
  C(thread_fmas, "thread.fmas")                                                                                        \
  C(divergent_branches, "divergent.branches")                                                                          \
  C(global_requests, "global.requests")                                                                                \
  C(global_sectors, "global.sectors")                                                                                  \
  C(global_ideal, "global.ideal_sectors")                                                                              \
  C(scalar_sectors, "global.scalar_sectors")                                                                           \
  C(shared_requests, "shared.requests")                                                                                \
  C(shared_conflicts, "shared.bank_conflicts")                                                                         \
  C(atomics, "atomics")                                                                                                \
  C(l2_sectors, "l2.sectors")                                                                                          \
  C(l2_hits, "l2.hits")                                                                                                \
  C(dram_read, "dram.read")                                                                                            \
  C(dram_write, "dram.write")                                                                                          \
  C(cycles, "cycles")                                                                                                  \
  C(cycles_near, "cycles.processors")                                                                                  \
  C(cycles_l2, "cycles.l2")                                                                                            \
  C(cycles_far, "cycles.dram")
typedef struct grid_counts {
#define GRID_FIELD(name, text) uint64_t name;
  GRID_COUNTERS(GRID_FIELD)
#undef GRID_FIELD
} grid_counts;
enum {
#define GRID_ONE(name, text) +1
  GRID_COUNTER_COUNT = 0 GRID_COUNTERS(GRID_ONE)
#undef GRID_ONE
};

typedef enum grid_schedule { GRID_EARLY, GRID_LATE, GRID_RANDOM } grid_schedule;

struct grid_module;
struct grid_l2;

struct pb_device {
  grid_schedule schedule;
  uint64_t seed, limit;
  bool check, repeats;
  int threads;
  grid_memory** memories; // by address
  size_t memory_count, memory_capacity;
  uint64_t next_address, allocations;
  struct grid_module** modules;
  size_t module_count, module_capacity;
  uint32_t epoch; // of the launch, for shadows
  grid_counts counts;
  uint64_t launches;
  struct grid_l2* l2;
  int fault_code;
  char fault[GRID_FAULT_BYTES];
};

int grid__fault(pb_device* device, int code, const char* format, ...) __attribute__((format(printf, 3, 4)));

// memory.c
int grid__alloc(pb_device* device, uint64_t bytes, uint64_t align, uint64_t* address);
int grid__free_all(pb_device* device);
int grid__copy_in(pb_device* device, uint64_t address, const void* data, uint64_t bytes);
int grid__free(pb_device* device, uint64_t address);
int grid__look(pb_device* device, uint64_t address, uint64_t bytes);
int grid__copy_within(pb_device* device, uint64_t to, uint64_t from, uint64_t bytes);
int grid__copy_out(pb_device* device, uint64_t address, void* data, uint64_t bytes);
// A variable of a module, zero and valid where `valid`. NULL: no memory.
grid_memory* grid__variable(pb_device* device, const char* name, uint64_t bytes, uint64_t align, bool constant);
void grid__memory_close(pb_device* device);
grid_memory* grid__find(const pb_device* device, uint64_t address); // NULL: nothing is there
bool grid__shadow(grid_memory* m, uint32_t shift); // makes writers and readers for granules of 1 << shift bytes

// A second-level cache that stands between requests and DRAM.
struct grid_l2* grid__l2_open(uint64_t bytes);
void grid__l2_close(struct grid_l2* l2);
void grid__l2_touch(struct grid_l2* l2, uint64_t line, bool write, grid_counts* counts);

// SplitMix64 (Steele, Lea, Flood 2014).
static inline uint64_t grid__random(uint64_t* state) {
  uint64_t z = *state += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

#endif
