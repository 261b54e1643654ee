// The memories and what is known of each byte. Everything is mapped on first touch: system memory is as large as the
// chip's, and only the part in use costs.
#include "targets/control/queues/machine/state.h"

#include "core/base/arena.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

// Address 0 belongs to no buffer, so that a forgotten address shows.
static const uint64_t first_address = 4096;

// Of a memory outside that is larger no host has more to map: allocations begin at its front.
static const int64_t most_mapped = (int64_t)1 << 40;

static void* map(size_t bytes) {
  void* at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return at == MAP_FAILED ? NULL : at;
}

static size_t valid_bytes(const machine_memory* m) { return (size_t)(m->bytes + 63) / 64 * 8; }

int machine__outside(const pb_device* device, int memory) {
  int number = pb_constants_number(device->chip, memory);
  return memory < 0                              ? -1
         : memory == device->chip->system_memory ? MACHINE_SYSTEM
         : number >= 0                           ? MACHINE_CONSTANTS + number
                                                 : -1;
}

static bool open_memory(pb_device* device, machine_memory* m, int memory) {
  const pb_memory* described = &device->chip->memories[memory];
  m->bytes = described->bytes < most_mapped ? described->bytes : most_mapped;
  if (described->scope == PB_SCOPE_CONSTANTS) m->bytes += (int64_t)first_address; // all of it can be given out
  m->granule = pb_is_outside(described) ? MACHINE_OUTSIDE_GRANULE : described->row_bytes;
  m->readers = pb_is_outside(described) ? pb_chip_queues(device->chip) : device->chip->queue_count;
  size_t entry = sizeof(machine_shadow) + sizeof(uint32_t) * (size_t)m->readers;
  m->shadow_bytes = (size_t)((m->bytes + m->granule - 1) / m->granule) * entry;
  m->data = map((size_t)m->bytes);
  m->valid = map(valid_bytes(m));
  m->shadow = map(m->shadow_bytes);
  return m->data && m->valid && m->shadow;
}

bool machine__memory_open(pb_device* device) {
  const pb_chip* chip = device->chip;
  device->memories = calloc((size_t)chip->cores, sizeof *device->memories);
  device->banks = calloc((size_t)chip->cores, sizeof *device->banks);
  if (!device->memories || !device->banks) return false;
  for (int k = 0; k < chip->memory_count; ++k) {
    int which = machine__outside(device, k);
    if (which < 0) continue;
    device->outside[which] =
        (machine_outside){.memory = &device->memories[0][k], .at = 2 * (uint64_t)most_mapped * (uint64_t)which};
    device->outside[which].allocated = first_address;
  }
  for (int core = 0; core < chip->cores; ++core)
    for (int k = 0; k < chip->memory_count; ++k)
      if ((core == 0 || machine__outside(device, k) < 0) && !open_memory(device, &device->memories[core][k], k))
        return false;
  return machine__banks_open(device);
}

void machine__memory_close(pb_device* device) {
  machine__banks_close(device);
  for (int core = 0; device->memories && core < device->chip->cores; ++core)
    for (int k = 0; k < device->chip->memory_count; ++k) {
      machine_memory* m = &device->memories[core][k];
      if (m->data) munmap(m->data, (size_t)m->bytes);
      if (m->valid) munmap(m->valid, valid_bytes(m));
      if (m->shadow) munmap(m->shadow, m->shadow_bytes);
    }
  free(device->memories);
}

// What a kernel finds in a memory of the chip is nobody's, but for what the submission keeps.
static void forget(const pb_device* device, machine_memory* m, int memory) {
  const pb_submission* kernel = &device->kernel;
  uint8_t* before = NULL;
  for (uint32_t k = 0; k < kernel->kept_count; ++k) {
    const pb_device_kept* kept = &kernel->kept[k];
    if (kept->memory != (uint32_t)memory || !kept->bytes) continue;
    if (!before && !(before = malloc(valid_bytes(m)))) pb_no_memory(valid_bytes(m));
    uint64_t from = kept->address / 8, to = (kept->address + kept->bytes + 7) / 8;
    memcpy(before + from, m->valid + from, (size_t)(to - from));
  }
  memset(m->valid, 0, valid_bytes(m));
  for (uint32_t k = 0; before && k < kernel->kept_count; ++k) {
    const pb_device_kept* kept = &kernel->kept[k];
    if (kept->memory != (uint32_t)memory) continue;
    for (uint64_t at = kept->address, end = at + kept->bytes; at < end;) {
      bool whole = at % 8 == 0 && end - at >= 8;
      m->valid[at / 8] |= whole ? before[at / 8] : (uint8_t)(before[at / 8] & 1u << at % 8);
      at += whole ? 8 : 1;
    }
  }
  free(before);
}

void machine__memory_begin(pb_device* device) {
  ++device->epoch;
  machine__banks_begin(device);
  for (int core = 0; core < device->chip->cores; ++core)
    for (int k = 0; k < device->chip->memory_count; ++k)
      if (machine__outside(device, k) < 0) forget(device, &device->memories[core][k], k);
}

void machine__mark_valid(machine_memory* m, int64_t address, int64_t bytes) {
  uint64_t first = (uint64_t)address, last = first + (uint64_t)bytes;
  for (; first < last && first % 8; ++first) m->valid[first / 8] |= (uint8_t)(1u << first % 8);
  uint64_t whole = (last - first) / 8;
  if (whole) memset(m->valid + first / 8, 0xff, whole);
  for (first += 8 * whole; first < last; ++first) m->valid[first / 8] |= (uint8_t)(1u << first % 8);
}

static bool is_valid(const machine_memory* m, uint64_t address) { return m->valid[address / 8] >> address % 8 & 1; }

int64_t machine__first_invalid(const machine_memory* m, int64_t address, int64_t bytes) {
  uint64_t first = (uint64_t)address, last = first + (uint64_t)bytes;
  while (first < last) {
    if (first % 8 == 0 && last - first >= 8 && m->valid[first / 8] == 0xff)
      first += 8;
    else if (is_valid(m, first))
      ++first;
    else
      return (int64_t)first;
  }
  return -1;
}

const machine_allocation* machine__allocation(const machine_outside* outside, uint64_t at) {
  size_t lo = 0, hi = outside->allocation_count; // allocations ascend
  while (lo < hi) {
    size_t mid = (lo + hi) / 2;
    if (outside->allocations[mid].address + outside->allocations[mid].bytes <= at)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo < outside->allocation_count && outside->allocations[lo].address <= at ? &outside->allocations[lo] : NULL;
}

static int allocate(pb_device* device, machine_outside* outside, uint64_t bytes, uint64_t align, uint64_t* address) {
  uint64_t unit = align > 64 ? align : 64, capacity = (uint64_t)outside->memory->bytes;
  uint64_t at = (outside->allocated + unit - 1) / unit * unit;
  if (bytes > capacity || at > capacity - bytes)
    return machine__fault(device, MACHINE_OUT_OF_MEMORY, "%llu bytes do not fit: %llu of %llu are in use",
                          (unsigned long long)bytes, (unsigned long long)outside->allocated,
                          (unsigned long long)capacity);
  PB_PUSH(outside->allocations, outside->allocation_count, outside->allocation_capacity,
          ((machine_allocation){at, bytes ? bytes : 1}));
  outside->allocated = at + (bytes ? bytes : 1);
  *address = outside->at + at;
  return MACHINE_OK;
}

int machine__alloc(pb_device* device, uint64_t bytes, uint64_t align, uint64_t* address) {
  return allocate(device, &device->outside[MACHINE_SYSTEM], bytes, align, address);
}

int machine__alloc_constants_in(pb_device* device, uint32_t number, uint64_t bytes, uint64_t align, uint64_t* address) {
  if (number < (uint32_t)device->chip->constant_memory_count)
    return allocate(device, &device->outside[MACHINE_CONSTANTS + number], bytes, align, address);
  return machine__fault(device, MACHINE_BAD_ADDRESS, "%s has no memory of scope \"constants\"%s", device->chip->name,
                        number ? " of that number" : "");
}

int machine__alloc_constants(pb_device* device, uint64_t bytes, uint64_t align, uint64_t* address) {
  return machine__alloc_constants_in(device, 0, bytes, align, address);
}

int machine__free_all(pb_device* device) {
  for (int k = 0; k < MACHINE_OUTSIDE; ++k) {
    machine_outside* outside = &device->outside[k];
    if (!outside->memory) continue;
    memset(outside->memory->valid, 0, (size_t)(outside->allocated + 7) / 8);
    outside->allocation_count = 0;
    outside->allocated = first_address;
  }
  return MACHINE_OK;
}

// Where the host's copy begins. It may span neighbouring buffers: only commands are held to one. NULL after a fault.
static machine_memory* find_range(pb_device* device, uint64_t address, uint64_t bytes, uint64_t* at) {
  for (int k = 0; k < MACHINE_OUTSIDE; ++k) {
    const machine_outside* outside = &device->outside[k];
    *at = address - outside->at;
    if (outside->memory && address >= outside->at && *at >= first_address && *at <= outside->allocated &&
        bytes <= outside->allocated - *at)
      return outside->memory;
  }
  machine__fault(device, MACHINE_BAD_ADDRESS, "a copy of %llu bytes at 0x%llx is not within what is allocated",
                 (unsigned long long)bytes, (unsigned long long)address);
  return NULL;
}

int machine__copy_in(pb_device* device, uint64_t address, const void* data, uint64_t bytes) {
  uint64_t at;
  machine_memory* m = bytes ? find_range(device, address, bytes, &at) : NULL;
  if (!m) return bytes ? device->fault_code : MACHINE_OK;
  memcpy(m->data + at, data, bytes);
  machine__mark_valid(m, (int64_t)at, (int64_t)bytes);
  return MACHINE_OK;
}

// What was never written reads as it stands: the host may fetch padding.
int machine__copy_out(pb_device* device, uint64_t address, void* data, uint64_t bytes) {
  uint64_t at;
  const machine_memory* m = bytes ? find_range(device, address, bytes, &at) : NULL;
  if (!m) return bytes ? device->fault_code : MACHINE_OK;
  memcpy(data, m->data + at, bytes);
  return MACHINE_OK;
}
