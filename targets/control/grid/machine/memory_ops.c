// Loads, stores and atomics of a warp, once their addresses are known to be good.
#include "targets/control/grid/machine/block.h"
#include "targets/control/grid/machine/lanes/number.h"

#include <pthread.h>

static grid_request request(grid_block* b, grid_warp* w, const grid_insn* i, uint32_t mask, grid_effect effect,
                            uint32_t bytes) {
  grid_request q;
  q.block = b;
  q.warp = w;
  q.insn = i;
  q.mask = mask;
  q.bytes = bytes;
  q.align = 0;
  q.effect = effect;
  q.strong = effect == GRID_ATOMIC || (i->op != GRID_OP_ASYNC_COPY && i->mode != GRID_WEAK);
  q.constant = q.pending = false;
  q.stores[0] = NULL;
  q.repeats = false;
  grid__addresses(&q, i->a, i->flag, i->offset, i->space);
  return q;
}

// An element into a lane of a register that is as wide or wider.
static inline uint64_t widened(uint64_t value, uint32_t bytes, bool with_sign) {
  if (bytes == 8) return value;
  uint64_t sign = UINT64_C(1) << (8 * bytes - 1);
  return with_sign ? (value ^ sign) - sign : value;
}

static void fill_row(const grid_request* q, const grid_insn* i, uint8_t* row, uint32_t at, uint32_t mask) {
  if (i->bytes == 4 && i->size == 4) {
    uint32_t* to = (uint32_t*)row;
    if (mask == UINT32_MAX && q->dense && i->count == 1) {
      memcpy(to, q->host[0], 4 * GRID_LANES);
    } else if (mask == UINT32_MAX && q->uniform) {
      uint32_t value;
      memcpy(&value, q->host[0] + at, 4);
      for (int l = 0; l < GRID_LANES; ++l) to[l] = value;
    } else if (mask == UINT32_MAX) {
      for (int l = 0; l < GRID_LANES; ++l) memcpy(&to[l], q->host[l] + at, 4);
    } else {
      for (uint32_t m = mask; m; m &= m - 1) memcpy(&to[__builtin_ctz(m)], q->host[__builtin_ctz(m)] + at, 4);
    }
    return;
  }
  for (uint32_t m = mask; m; m &= m - 1) {
    int l = __builtin_ctz(m);
    uint64_t value = 0;
    memcpy(&value, q->host[l] + at, i->bytes);
    value = widened(value, i->bytes, i->extend);
    memcpy(row + i->size * l, &value, i->size);
  }
}

int grid__load(grid_block* b, grid_warp* w, const grid_insn* i, uint32_t mask) {
  grid_request q = request(b, w, i, mask, GRID_READ, (uint32_t)i->bytes * i->count);
  int code = grid__access(&q);
  if (code) return code;
  for (int k = 0; k < i->count; ++k) fill_row(&q, i, w->file + i->list[k], (uint32_t)i->bytes * (uint32_t)k, mask);
  if (q.strong) grid__sync(&q, true, false, i->mode == GRID_ACQUIRE, false);
  return GRID_OK;
}

int grid__store(grid_block* b, grid_warp* w, const grid_insn* i, uint32_t mask) {
  grid_request q = request(b, w, i, mask, GRID_WRITE, (uint32_t)i->bytes * i->count);
  q.repeats = b->launch->device->repeats && i->bytes == 4 && i->size == 4;
  for (int k = 0; k < i->count && q.repeats; ++k) q.stores[k] = (const uint32_t*)(w->file + i->list[k]);
  int code = grid__access(&q);
  if (code) return code;
  if (q.strong) grid__sync(&q, false, true, false, i->mode == GRID_RELEASE); // before anybody can find what is stored
  for (int k = 0; k < i->count; ++k) {
    const uint8_t* row = w->file + i->list[k];
    uint32_t at = (uint32_t)i->bytes * (uint32_t)k;
    if (i->bytes == 4 && i->size == 4) {
      const uint32_t* from = (const uint32_t*)row;
      if (mask == UINT32_MAX && q.dense && i->count == 1)
        memcpy(q.host[0], from, 4 * GRID_LANES);
      else
        for (uint32_t m = mask; m; m &= m - 1) memcpy(q.host[__builtin_ctz(m)] + at, &from[__builtin_ctz(m)], 4);
      continue;
    }
    for (uint32_t m = mask; m; m &= m - 1) {
      int l = __builtin_ctz(m);
      memcpy(q.host[l] + at, row + i->size * l, i->bytes);
    }
  }
  return GRID_OK;
}

// Numbers of `format` in the low bits; 9.7.13 of the PTX ISA, atom.
static uint64_t updated(const grid_insn* i, uint64_t old, uint64_t x, uint64_t y) {
  uint64_t mask = i->bytes == 8 ? UINT64_MAX : (UINT64_C(1) << 8 * i->bytes) - 1;
  int format = i->count;
  bool with_sign = format == GRID_S32 || format == GRID_S64;
  int64_t so = (int64_t)widened(old, i->bytes, true), sx = (int64_t)widened(x, i->bytes, true);
  switch (i->mode) {
  case 0:
    switch (format) {
    case GRID_F32:
      return grid__bits_of_float(
          grid__canonical(grid__float_of_bits((uint32_t)old) + grid__float_of_bits((uint32_t)x)));
    case GRID_F64:
      return grid__bits_of_double(grid__double_of_bits(old) + grid__double_of_bits(x));
    case GRID_F16:
      return grid__half_of(grid__half((uint16_t)old) + grid__half((uint16_t)x));
    case GRID_BF16:
      return grid__bfloat_of(grid__bfloat((uint16_t)old) + grid__bfloat((uint16_t)x));
    default:
      return (old + x) & mask;
    }
  case 1:
    return old & x;
  case 2:
    return old | x;
  case 3:
    return old ^ x;
  case 4:
    return x;
  case 5:
    return old == x ? y : old;
  case 6:
    return with_sign ? (so < sx ? old : x) : old < x ? old : x;
  case 7:
    return with_sign ? (so > sx ? old : x) : old > x ? old : x;
  case 8:
    return old >= x ? 0 : old + 1;
  default:
    return old == 0 || old > x ? x : old - 1;
  }
}

int grid__atomic(grid_block* b, grid_warp* w, const grid_insn* i, uint32_t mask) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // blocks on other threads change the same numbers
  grid_request q = request(b, w, i, mask, GRID_ATOMIC, i->bytes);
  int code = grid__access(&q);
  if (code) return code;
  pthread_mutex_lock(&lock);
  for (uint32_t m = mask; m; m &= m - 1) {
    int l = __builtin_ctz(m);
    uint64_t old = 0, x = 0, y = 0;
    memcpy(&old, q.host[l], i->bytes);
    memcpy(&x, w->file + i->b + i->bytes * l, i->bytes);
    if (i->mode == 5) memcpy(&y, w->file + i->c + i->bytes * l, i->bytes);
    uint64_t new = updated(i, old, x, y);
    memcpy(q.host[l], &new, i->bytes);
    if (i->d != GRID_NONE) memcpy(w->file + i->d + i->bytes * l, &old, i->bytes);
  }
  grid__sync(&q, true, true, i->extend, i->release); // as one with it: who comes next finds what this one hands on
  pthread_mutex_unlock(&lock);
  return GRID_OK;
}
