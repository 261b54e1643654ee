// Copies from device to shared memory that land later (cp.async, 9.7.9 of the PTX ISA): as early as they may, as late,
// or at random. Until the wait that is theirs their bytes are pending, whoever reads them.
#include "targets/control/grid/machine/block.h"

#include <stdlib.h>

static uint8_t* source(const grid_block* b, uint64_t address) {
  const grid_memory* m = grid__find(b->launch->device, address);
  return m ? m->data + (address - m->address) : NULL;
}

static void land(grid_block* b, grid_copy* c) {
  if (c->landed) return;
  c->landed = true;
  uint8_t* to = b->shared.data + (c->to - GRID_SHARED);
  const uint8_t* from = c->read ? source(b, c->from) : NULL;
  memset(to, 0, c->bytes);
  if (from) memcpy(to, from, c->read);
}

static int read_sources(grid_block* b, grid_warp* w, const grid_insn* i, uint32_t mask, const uint64_t* from,
                        const uint32_t* sizes) {
  for (uint32_t left = mask; left;) {
    uint32_t size = sizes[__builtin_ctz(left)], group = 0;
    for (uint32_t m = left; m; m &= m - 1)
      if (sizes[__builtin_ctz(m)] == size) group |= m & -m;
    left &= ~group;
    if (!size) continue;
    grid_request q = {.block = b, .warp = w, .insn = i, .mask = group, .bytes = size, .effect = GRID_READ};
    memcpy(q.address, from, sizeof q.address);
    int code = grid__access(&q);
    if (code) return code;
  }
  return GRID_OK;
}

int grid__copy(grid_block* b, grid_warp* w, const grid_insn* i, uint32_t mask) {
  uint64_t from[GRID_LANES];
  uint32_t sizes[GRID_LANES];
  grid_request q = {
      .block = b, .warp = w, .insn = i, .mask = mask, .bytes = i->bytes, .effect = GRID_WRITE, .pending = true};
  grid__addresses(&q, i->b, i->list[0], (int32_t)i->list[1], GRID_SPACE_GLOBAL);
  memcpy(from, q.address, sizeof from);
  for (int l = 0; l < GRID_LANES; ++l) sizes[l] = i->bytes;
  for (uint32_t m = mask; m && i->c != GRID_NONE; m &= m - 1) {
    int l = __builtin_ctz(m);
    sizes[l] = ((uint32_t*)(w->file + i->c))[l];
    if (sizes[l] > i->bytes)
      return grid__stop(b, w, i, l, GRID_BAD_VALUE, "%u bytes of a copy of %u", sizes[l], i->bytes);
    if (sizes[l] & (sizes[l] - 1))
      return grid__stop(b, w, i, l, GRID_BAD_VALUE, "%u bytes of a copy: not a power of two", sizes[l]);
  }
  int code = read_sources(b, w, i, mask, from, sizes);
  if (code) return code;
  grid__addresses(&q, i->a, i->flag, i->offset, GRID_SPACE_SHARED);
  code = grid__access(&q);
  if (code) return code;
  for (uint32_t m = mask; m; m &= m - 1) {
    int l = __builtin_ctz(m);
    if (w->copy_count == w->copy_capacity) {
      size_t capacity = w->copy_capacity ? 2 * w->copy_capacity : 64;
      grid_copy* more = realloc(w->copies, capacity * sizeof *more);
      if (!more) return grid__stop(b, w, i, l, GRID_OUT_OF_MEMORY, "no memory for copies");
      w->copies = more;
      w->copy_capacity = capacity;
    }
    grid_copy* c = &w->copies[w->copy_count++];
    *c = (grid_copy){q.address[l], from[l], i->bytes, sizes[l], w->groups[l], (uint8_t)l, false, i};
    if (b->launch->device->schedule == GRID_EARLY) land(b, c);
  }
  return GRID_OK;
}

void grid__copy_commit(grid_warp* w, uint32_t mask) {
  for (uint32_t m = mask; m; m &= m - 1) ++w->groups[__builtin_ctz(m)];
}

int grid__copy_wait(grid_block* b, grid_warp* w, const grid_insn* i, uint32_t mask) {
  size_t kept = 0;
  bool all = !i || i->flag;
  for (size_t n = 0; n < w->copy_count; ++n) {
    grid_copy* c = &w->copies[n];
    uint32_t committed = w->groups[c->lane];
    bool done = mask >> c->lane & 1 && (all || (int64_t)committed - i->offset > (int64_t)c->group);
    if (!done) {
      w->copies[kept++] = *c;
      continue;
    }
    land(b, c);
    memset(b->shared.valid + (c->to - GRID_SHARED), GRID_BYTE_VALID, c->bytes);
    grid__wrote(b, w, c->lane, c->to, c->bytes);
  }
  w->copy_count = kept;
  return GRID_OK;
}

int grid__copy_some(grid_block* b, grid_warp* w) {
  for (size_t n = 0; n < w->copy_count; ++n)
    if (grid__random(&b->worker->random) & 1) land(b, &w->copies[n]);
  return GRID_OK;
}
