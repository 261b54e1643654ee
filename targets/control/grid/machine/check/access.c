// One request of a warp to memory: where its lanes' addresses lead, and whether they may go there.
#include "targets/control/grid/machine/block.h"

#include <stdio.h>

static const char* const verbs[] = {"reads", "writes", "changes"};

void grid__addresses(grid_request* q, uint32_t row, bool narrow, int64_t offset, grid_space space) {
  const grid_scan* scan = q->block->worker->scan;
  const uint8_t* f = q->warp->file + row;
  uint64_t window = space == GRID_SPACE_SHARED ? GRID_SHARED : space == GRID_SPACE_LOCAL ? GRID_LOCAL : 0;
  if (narrow)
    scan->add_narrow(q->address, (const uint32_t*)f, (uint64_t)offset + window);
  else
    scan->add(q->address, (const uint64_t*)f, (uint64_t)offset + window);
}

static void shape(grid_request* q) {
  const grid_scan* scan = q->block->worker->scan;
  uint64_t first = q->address[__builtin_ctz(q->mask)];
  uint64_t origin = first - (uint64_t)q->bytes * (uint64_t)__builtin_ctz(q->mask);
  q->uniform = (scan->same(q->address, first) & q->mask) == q->mask;
  q->dense = !q->uniform && (scan->dense(q->address, origin, q->bytes) & q->mask) == q->mask;
}

static int nowhere(const grid_request* q, int lane) {
  uint64_t a = q->address[lane];
  const grid_block* b = q->block;
  if (a - GRID_SHARED < GRID_WINDOW)
    return grid__stop(q->block, q->warp, q->insn, lane, GRID_BAD_ADDRESS,
                      "it %s %u bytes at %lld of shared memory, of which the block has %u", verbs[q->effect], q->bytes,
                      (long long)(a - GRID_SHARED), b->launch->shared_bytes);
  if (a - GRID_LOCAL < GRID_WINDOW)
    return grid__stop(q->block, q->warp, q->insn, lane, GRID_BAD_ADDRESS,
                      "it %s %u bytes at %lld of local memory, of which a thread has %u", verbs[q->effect], q->bytes,
                      (long long)(a - GRID_LOCAL), b->local_bytes);
  // The allocation that ends nearest before it, or that it starts in.
  const pb_device* d = b->launch->device;
  const grid_memory* near = NULL;
  for (size_t k = 0; k < d->memory_count; ++k)
    if (d->memories[k]->address <= a) near = d->memories[k];
  if (!near)
    return grid__stop(q->block, q->warp, q->insn, lane, GRID_BAD_ADDRESS,
                      "it %s %u bytes at %#llx: no allocation is near", verbs[q->effect], q->bytes,
                      (unsigned long long)a);
  char name[96];
  if (*near->name)
    snprintf(name, sizeof name, "variable %s", near->name);
  else
    snprintf(name, sizeof name, "allocation %llu", (unsigned long long)near->number);
  return grid__stop(q->block, q->warp, q->insn, lane, GRID_BAD_ADDRESS,
                    "it %s %u bytes at %#llx: %lld bytes into %s of %llu bytes", verbs[q->effect], q->bytes,
                    (unsigned long long)a, (long long)(a - near->address), name, (unsigned long long)near->bytes);
}

static int not_valid(const grid_request* q, int lane, const uint8_t* valid) {
  bool pending = false;
  uint32_t at = 0;
  for (uint32_t k = q->bytes; k-- > 0;)
    if (valid[k] != GRID_BYTE_VALID) at = k, pending |= valid[k] == GRID_BYTE_PENDING;
  uint64_t a = q->address[lane];
  const char* space = a - GRID_SHARED < GRID_WINDOW ? "shared" : a - GRID_LOCAL < GRID_WINDOW ? "local" : "device";
  if (space[0] != 'd') a &= GRID_WINDOW - 1;
  if (pending)
    return grid__stop(q->block, q->warp, q->insn, lane, GRID_PENDING,
                      "it %s %u bytes at %#llx of %s memory, where an asynchronous copy is pending", verbs[q->effect],
                      q->bytes, (unsigned long long)a, space);
  return grid__stop(q->block, q->warp, q->insn, lane, GRID_UNINITIALISED,
                    "it reads %u bytes at %#llx of %s memory: byte %u was never written", q->bytes,
                    (unsigned long long)a, space, at);
}

static bool any_pending(const uint8_t* valid, uint64_t bytes) {
  bool found = false;
  for (uint64_t k = 0; k < bytes; ++k) found |= valid[k] == GRID_BYTE_PENDING;
  return found;
}

static int check_bytes(const grid_request* q, const grid_memory* m, uint32_t mask, bool shared) {
  int first = __builtin_ctz(mask);
  uint8_t* valid = m->valid + (q->address[first] - m->address);
  bool one = q->uniform || (q->dense && mask == UINT32_MAX);
  uint64_t bytes = q->uniform ? q->bytes : (uint64_t)q->bytes * GRID_LANES;
  bool reads = q->effect != GRID_WRITE;
  if (reads && one && q->block->worker->scan->all_set(valid, bytes)) return GRID_OK;
  if (!reads && one && !shared) {
    memset(valid, GRID_BYTE_VALID, bytes);
    return GRID_OK;
  }
  if (reads && mask == UINT32_MAX && q->bytes <= 8 &&
      q->block->worker->scan->set_at(m->valid, q->address, 0 - m->address, q->bytes) == UINT32_MAX)
    return GRID_OK;
  for (uint32_t left = mask; left; left &= left - 1) {
    int l = __builtin_ctz(left);
    valid = m->valid + (q->address[l] - m->address);
    if (reads ? !q->block->worker->scan->all_set(valid, q->bytes) : shared && any_pending(valid, q->bytes))
      return not_valid(q, l, valid);
    if (!reads) memset(valid, q->pending ? GRID_BYTE_PENDING : GRID_BYTE_VALID, q->bytes);
  }
  return GRID_OK;
}

static int in_memory(grid_request* q, grid_memory* m, uint32_t mask, bool shared) {
  const pb_device* d = q->block->launch->device;
  int code = GRID_OK;
  if (d->check)
    code = check_bytes(q, m, mask, shared);
  else if (q->effect == GRID_WRITE)
    for (uint32_t left = mask; left; left &= left - 1)
      memset(m->valid + (q->address[__builtin_ctz(left)] - m->address), GRID_BYTE_VALID, q->bytes);
  if (!code && d->check) code = grid__race(q, m, mask, shared);
  if (code) return code;
  if (m->constant && q->effect != GRID_READ)
    return grid__stop(q->block, q->warp, q->insn, __builtin_ctz(mask), GRID_BAD_ADDRESS, "it writes constant %s",
                      m->name);
  grid__count(q, mask, shared);
  uint64_t base = (uint64_t)(uintptr_t)m->data - m->address;
  q->block->worker->scan->add((uint64_t*)(void*)q->host, q->address, base);
  return GRID_OK;
}

// Local memory is a thread's own.
static int in_local(grid_request* q, uint32_t mask) {
  q->uniform = q->dense = false; // one address is another place for each
  grid_block* b = q->block;
  for (uint32_t left = mask; left; left &= left - 1) {
    int l = __builtin_ctz(left);
    uint64_t at = q->address[l] - GRID_LOCAL, thread = q->warp->index * GRID_LANES + (uint32_t)l;
    if (at + q->bytes > b->local_bytes) return nowhere(q, l);
    uint8_t* valid = b->local_valid + thread * b->local_bytes + at;
    if (q->effect == GRID_WRITE)
      memset(valid, GRID_BYTE_VALID, q->bytes);
    else if (b->launch->device->check && !q->block->worker->scan->all_set(valid, q->bytes))
      return not_valid(q, l, valid);
    q->host[l] = b->local + thread * b->local_bytes + at;
  }
  return GRID_OK;
}

static grid_memory* device_memory(grid_worker* k, uint64_t address) {
  for (int n = 0; n < 4; ++n) {
    grid_memory* m = k->recent[n];
    if (m && address - m->address < m->bytes) return m;
  }
  grid_memory* m = grid__find(k->block.launch->device, address);
  if (m) {
    k->recent[3] = k->recent[2];
    k->recent[2] = k->recent[1];
    k->recent[1] = k->recent[0];
    k->recent[0] = m;
  }
  return m;
}

int grid__access(grid_request* q) {
  grid_block* b = q->block;
  uint32_t unit = q->align ? q->align : q->bytes < 16 ? q->bytes : 16;
  const grid_scan* scan = b->worker->scan;
  uint32_t odd = q->mask & scan->odd(q->address, unit - 1);
  if (odd) {
    int lane = __builtin_ctz(odd);
    return grid__stop(b, q->warp, q->insn, lane, GRID_MISALIGNED, "it %s %u bytes at %#llx: not a multiple of %u",
                      verbs[q->effect], q->bytes, (unsigned long long)q->address[lane], unit);
  }
  shape(q);
  for (uint32_t left = q->mask; left;) {
    int first = __builtin_ctz(left);
    uint64_t a = q->address[first];
    grid_memory* m = a - GRID_SHARED < GRID_WINDOW  ? &b->shared
                     : a - GRID_LOCAL < GRID_WINDOW ? NULL
                                                    : device_memory(b->worker, a);
    if (a - GRID_LOCAL < GRID_WINDOW) {
      uint32_t group = 0;
      for (int l = 0; l < GRID_LANES; ++l) group |= (uint32_t)(q->address[l] - GRID_LOCAL < GRID_WINDOW) << l;
      int code = in_local(q, group & left);
      if (code) return code;
      left &= ~group;
      continue;
    }
    if (!m || m->bytes < q->bytes) return nowhere(q, first);
    uint32_t group = left & scan->within(q->address, m->address, m->bytes - q->bytes);
    if (!(group >> first & 1)) return nowhere(q, first);
    if (group != q->mask) q->uniform = q->dense = false;
    uint8_t* kept[GRID_LANES];
    bool partly = left != q->mask;
    if (partly) memcpy(kept, q->host, sizeof kept);
    int code = in_memory(q, m, group, m == &b->shared);
    if (code) return code;
    if (partly)
      for (int l = 0; l < GRID_LANES; ++l)
        if (!(left >> l & 1)) q->host[l] = kept[l];
    left &= ~group;
  }
  return GRID_OK;
}
