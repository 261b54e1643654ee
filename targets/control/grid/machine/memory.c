// Device memory: allocations with bounds, which bytes have been written, and room for who touched them last.
#include "targets/control/grid/machine/state.h"

#include <stdio.h>
#include <stdlib.h>

static size_t place(const pb_device* device, uint64_t address) {
  size_t low = 0, high = device->memory_count;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (device->memories[middle]->address <= address)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

grid_memory* grid__find(const pb_device* device, uint64_t address) {
  size_t n = place(device, address);
  if (!n) return NULL;
  grid_memory* m = device->memories[n - 1];
  return address - m->address < m->bytes ? m : NULL;
}

static void release(grid_memory* m) {
  if (!m) return;
  free(m->data);
  free(m->valid);
  free(m->writers);
  free(m->readers);
  free(m);
}

// Addresses only grow, and nothing lies right behind an allocation: what runs over its end is seen.
static grid_memory* allocate(pb_device* device, uint64_t bytes, uint64_t align) {
  if (bytes > UINT64_C(1) << 38 || align > UINT64_C(1) << 30 || (align & (align - 1))) return NULL;
  if (device->memory_count == device->memory_capacity) {
    size_t capacity = device->memory_capacity ? 2 * device->memory_capacity : 64;
    grid_memory** more = realloc(device->memories, capacity * sizeof *more);
    if (!more) return NULL;
    device->memories = more;
    device->memory_capacity = capacity;
  }
  grid_memory* m = calloc(1, sizeof *m);
  if (!m) return NULL;
  if (align < 256) align = 256;
  m->address = (device->next_address + align - 1) & ~(align - 1);
  m->bytes = bytes;
  m->data = calloc(1, bytes + 64);
  m->valid = calloc(1, bytes + 64);
  if (!m->data || !m->valid || m->address + bytes > GRID_SHARED) {
    release(m);
    return NULL;
  }
  device->next_address = m->address + bytes + 256;
  device->memories[device->memory_count++] = m;
  return m;
}

int grid__alloc(pb_device* device, uint64_t bytes, uint64_t align, uint64_t* address) {
  grid_memory* m = allocate(device, bytes, align);
  if (!m)
    return grid__fault(device, GRID_OUT_OF_MEMORY, "no memory for %llu bytes aligned to %llu",
                       (unsigned long long)bytes, (unsigned long long)align);
  m->number = device->allocations++;
  *address = m->address;
  return GRID_OK;
}

grid_memory* grid__variable(pb_device* device, const char* name, uint64_t bytes, uint64_t align, bool constant) {
  grid_memory* m = allocate(device, bytes, align);
  if (!m) return NULL;
  m->of_module = true;
  m->constant = constant;
  snprintf(m->name, sizeof m->name, "%s", name);
  memset(m->valid, GRID_BYTE_VALID, bytes);
  return m;
}

int grid__free_all(pb_device* device) {
  size_t kept = 0;
  for (size_t k = 0; k < device->memory_count; ++k) {
    grid_memory* m = device->memories[k];
    if (m->of_module)
      device->memories[kept++] = m;
    else
      release(m);
  }
  device->memory_count = kept;
  device->allocations = 0;
  if (!kept) device->next_address = GRID_GLOBAL;
  return GRID_OK;
}

void grid__memory_close(pb_device* device) {
  for (size_t k = 0; k < device->memory_count; ++k) release(device->memories[k]);
  free(device->memories);
}

static grid_memory* range(pb_device* device, const char* what, uint64_t address, uint64_t bytes) {
  grid_memory* m = grid__find(device, address);
  if (m && bytes <= m->bytes - (address - m->address)) return m;
  grid__fault(device, GRID_BAD_ADDRESS, "%s of %llu bytes at %#llx: not within one allocation", what,
              (unsigned long long)bytes, (unsigned long long)address);
  return NULL;
}

int grid__copy_in(pb_device* device, uint64_t address, const void* data, uint64_t bytes) {
  if (!bytes) return GRID_OK;
  grid_memory* m = range(device, "copy_in", address, bytes);
  if (!m) return GRID_BAD_ADDRESS;
  memcpy(m->data + (address - m->address), data, bytes);
  memset(m->valid + (address - m->address), GRID_BYTE_VALID, bytes);
  return GRID_OK;
}

int grid__copy_out(pb_device* device, uint64_t address, void* data, uint64_t bytes) {
  if (!bytes) return GRID_OK;
  grid_memory* m = range(device, "copy_out", address, bytes);
  if (!m) return GRID_BAD_ADDRESS;
  const uint8_t* valid = m->valid + (address - m->address);
  for (uint64_t k = 0; device->check && k < bytes; ++k)
    if (valid[k] != GRID_BYTE_VALID)
      return grid__fault(device, GRID_UNINITIALISED, "copy_out of %llu bytes at %#llx: byte %llu was never written",
                         (unsigned long long)bytes, (unsigned long long)address, (unsigned long long)k);
  memcpy(data, m->data + (address - m->address), bytes);
  return GRID_OK;
}

int grid__look(pb_device* device, uint64_t address, uint64_t bytes) {
  return range(device, "a tensor", address, bytes) ? GRID_OK : GRID_BAD_ADDRESS;
}

// What was never written is not afterwards either.
int grid__copy_within(pb_device* device, uint64_t to, uint64_t from, uint64_t bytes) {
  if (!bytes) return GRID_OK;
  grid_memory *a = range(device, "a copy", to, bytes), *b = a ? range(device, "a copy", from, bytes) : NULL;
  if (!b) return GRID_BAD_ADDRESS;
  memmove(a->data + (to - a->address), b->data + (from - b->address), bytes);
  memmove(a->valid + (to - a->address), b->valid + (from - b->address), bytes);
  return GRID_OK;
}

int grid__free(pb_device* device, uint64_t address) {
  size_t n = place(device, address);
  grid_memory* m = n ? device->memories[n - 1] : NULL;
  if (!m || m->address != address || m->of_module)
    return grid__fault(device, GRID_BAD_ADDRESS, "free of %#llx: no allocation begins there",
                       (unsigned long long)address);
  release(m);
  memmove(device->memories + n - 1, device->memories + n, (device->memory_count - n) * sizeof *device->memories);
  --device->memory_count;
  return GRID_OK;
}

bool grid__shadow(grid_memory* m, uint32_t shift) {
  if (m->writers && m->shift <= shift) return true; // finer granules do
  free(m->writers);
  free(m->readers);
  uint64_t granules = (m->bytes >> shift) + 64;
  m->writers = calloc(granules, sizeof *m->writers);
  m->readers = calloc(granules, sizeof *m->readers);
  m->shift = shift;
  return m->writers && m->readers;
}
