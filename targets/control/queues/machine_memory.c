// The memories and what is known of each byte. Everything is mapped on first touch: system memory is as large as the
// chip's, and only the part in use costs.
#include "machine_state.h"

#include "core/base/arena.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

// Address 0 belongs to no buffer, so that a forgotten address shows.
static const uint64_t first_address = 4096;

static void* map(size_t bytes) {
  void* at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return at == MAP_FAILED ? NULL : at;
}

static size_t valid_bytes(const machine_memory* m) { return (size_t)(m->bytes + 63) / 64 * 8; }

// Of a system memory that is larger no host has more to map: allocations begin at its front.
static const int64_t most_mapped = (int64_t)1 << 40;

static bool open_memory(pb_device* device, machine_memory* m, int memory) {
  const pb_memory* described = &device->chip->memories[memory];
  m->bytes = described->bytes < most_mapped ? described->bytes : most_mapped;
  m->granule = memory == device->chip->system_memory ? MACHINE_SYSTEM_GRANULE : described->row_bytes;
  size_t entry = sizeof(machine_shadow) + sizeof(uint32_t) * (size_t)pb_chip_queues(device->chip);
  m->shadow_bytes = (size_t)((m->bytes + m->granule - 1) / m->granule) * entry;
  m->data = map((size_t)m->bytes);
  m->valid = map(valid_bytes(m));
  m->shadow = map(m->shadow_bytes);
  return m->data && m->valid && m->shadow;
}

bool machine__memory_open(pb_device* device) {
  const pb_chip* chip = device->chip;
  device->system = &device->memories[0][chip->system_memory];
  for (int core = 0; core < chip->cores; ++core)
    for (int k = 0; k < chip->memory_count; ++k)
      if ((core == 0 || k != chip->system_memory) && !open_memory(device, &device->memories[core][k], k)) return false;
  device->allocated = first_address;
  return machine__banks_open(device);
}

void machine__memory_close(pb_device* device) {
  machine__banks_close(device);
  for (int core = 0; core < device->chip->cores; ++core)
    for (int k = 0; k < device->chip->memory_count; ++k) {
      machine_memory* m = &device->memories[core][k];
      if (m->data) munmap(m->data, (size_t)m->bytes);
      if (m->valid) munmap(m->valid, valid_bytes(m));
      if (m->shadow) munmap(m->shadow, m->shadow_bytes);
    }
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
      if (k != device->chip->system_memory) forget(device, &device->memories[core][k], k);
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

const machine_allocation* machine__allocation(const pb_device* device, uint64_t address) {
  size_t lo = 0, hi = device->allocation_count; // allocations ascend
  while (lo < hi) {
    size_t mid = (lo + hi) / 2;
    if (device->allocations[mid].address + device->allocations[mid].bytes <= address)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo < device->allocation_count && device->allocations[lo].address <= address ? &device->allocations[lo] : NULL;
}

int machine__alloc(pb_device* device, uint64_t bytes, uint64_t align, uint64_t* address) {
  uint64_t unit = align > 64 ? align : 64, capacity = (uint64_t)device->system->bytes;
  uint64_t at = (device->allocated + unit - 1) / unit * unit;
  if (bytes > capacity || at > capacity - bytes)
    return machine__fault(device, MACHINE_OUT_OF_MEMORY, "%llu bytes do not fit: %llu of %llu are in use",
                          (unsigned long long)bytes, (unsigned long long)device->allocated,
                          (unsigned long long)capacity);
  PB_PUSH(device->allocations, device->allocation_count, device->allocation_capacity,
          ((machine_allocation){at, bytes ? bytes : 1}));
  device->allocated = at + (bytes ? bytes : 1);
  *address = at;
  return MACHINE_OK;
}

int machine__free_all(pb_device* device) {
  machine_memory* m = device->system;
  memset(m->valid, 0, (size_t)(device->allocated + 7) / 8);
  device->allocation_count = 0;
  device->allocated = first_address;
  return MACHINE_OK;
}

// A copy may span neighbouring buffers: only commands are held to one.
static int check_range(pb_device* device, uint64_t address, uint64_t bytes) {
  if (bytes == 0 || (address >= first_address && address <= device->allocated && bytes <= device->allocated - address))
    return MACHINE_OK;
  return machine__fault(device, MACHINE_BAD_ADDRESS, "a copy of %llu bytes at 0x%llx is not within what is allocated",
                        (unsigned long long)bytes, (unsigned long long)address);
}

int machine__copy_in(pb_device* device, uint64_t address, const void* data, uint64_t bytes) {
  int code = check_range(device, address, bytes);
  if (code || bytes == 0) return code;
  machine_memory* m = device->system;
  memcpy(m->data + address, data, bytes);
  machine__mark_valid(m, (int64_t)address, (int64_t)bytes);
  return MACHINE_OK;
}

// What was never written reads as it stands: the host may fetch padding.
int machine__copy_out(pb_device* device, uint64_t address, void* data, uint64_t bytes) {
  int code = check_range(device, address, bytes);
  if (code || bytes == 0) return code;
  memcpy(data, device->system->data + address, bytes);
  return MACHINE_OK;
}
