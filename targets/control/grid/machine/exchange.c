// Values that lanes of a warp hand to each other: 9.7.9 and 9.7.13 of the PTX ISA.
#include "targets/control/grid/machine/block.h"

static int shuffle(grid_block* b, grid_warp* w, const grid_insn* i, uint32_t mask) {
  uint8_t* f = w->file;
  uint32_t *d = (uint32_t*)(f + i->d), a[GRID_LANES], taken = 0;
  memcpy(a, f + i->a, sizeof a);
  const uint32_t *bs = (const uint32_t*)(f + i->b), *cs = (const uint32_t*)(f + i->c);
  uint32_t result[GRID_LANES];
  for (uint32_t m = mask; m; m &= m - 1) {
    int lane = __builtin_ctz(m), bval = (int)(bs[lane] & 31), cval = (int)(cs[lane] & 31),
        segment = (int)(cs[lane] >> 8 & 31);
    int most = (lane & segment) | (cval & ~segment), least = lane & segment, j;
    bool in;
    switch (i->mode) {
    case 0:
      j = lane - bval;
      in = j >= most;
      break;
    case 1:
      j = lane + bval;
      in = j <= most;
      break;
    case 2:
      j = lane ^ bval;
      in = j <= most;
      break;
    default:
      j = least | (bval & ~segment);
      in = j <= most;
      break;
    }
    if (!in) j = lane;
    if (in && !(mask >> j & 1))
      return grid__stop(b, w, i, lane, GRID_DIVERGED, "it takes the value of lane %d, which does not take part", j);
    result[lane] = a[j];
    taken |= (uint32_t)in << lane;
  }
  for (uint32_t m = mask; m; m &= m - 1) d[__builtin_ctz(m)] = result[__builtin_ctz(m)];
  if (i->list[0] != GRID_NONE) {
    uint32_t bits;
    memcpy(&bits, f + i->list[0], 4);
    bits = (bits & ~mask) | (taken & mask);
    memcpy(f + i->list[0], &bits, 4);
  }
  return GRID_OK;
}

static void vote(const grid_warp* w, const grid_insn* i, uint32_t mask) {
  uint32_t bits, old;
  memcpy(&bits, w->file + i->a, 4);
  bits &= mask;
  if (i->mode == 3) {
    for (uint32_t m = mask; m; m &= m - 1) ((uint32_t*)(w->file + i->d))[__builtin_ctz(m)] = bits;
    return;
  }
  bool yes = i->mode == 0 ? bits == mask : i->mode == 1 ? bits != 0 : bits == mask || !bits;
  memcpy(&old, w->file + i->d, 4);
  old = yes ? old | mask : old & ~mask;
  memcpy(w->file + i->d, &old, 4);
}

static void match(const grid_warp* w, const grid_insn* i, uint32_t mask) {
  uint64_t values[GRID_LANES] = {0};
  uint32_t found[GRID_LANES] = {0}, all = mask;
  for (uint32_t m = mask; m; m &= m - 1)
    memcpy(&values[__builtin_ctz(m)], w->file + i->a + i->bytes * __builtin_ctz(m), i->bytes);
  for (uint32_t m = mask; m; m &= m - 1)
    for (uint32_t o = mask; o; o &= o - 1)
      if (values[__builtin_ctz(m)] == values[__builtin_ctz(o)]) found[__builtin_ctz(m)] |= o & -o;
  for (uint32_t m = mask; m; m &= m - 1) all &= found[__builtin_ctz(m)];
  bool same = all == mask;
  for (uint32_t m = mask; m; m &= m - 1)
    ((uint32_t*)(w->file + i->d))[__builtin_ctz(m)] = i->mode ? (same ? mask : 0) : found[__builtin_ctz(m)];
  if (i->c == GRID_NONE) return;
  uint32_t bits;
  memcpy(&bits, w->file + i->c, 4);
  bits = same ? bits | mask : bits & ~mask;
  memcpy(w->file + i->c, &bits, 4);
}

static void reduce(const grid_warp* w, const grid_insn* i, uint32_t mask) {
  const uint32_t* a = (const uint32_t*)(w->file + i->a);
  uint32_t sum = a[__builtin_ctz(mask)];
  for (uint32_t m = mask & (mask - 1); m; m &= m - 1) {
    uint32_t x = a[__builtin_ctz(m)];
    bool less = i->extend ? (int32_t)x < (int32_t)sum : x < sum;
    switch (i->mode) {
    case 0:
      sum += x;
      break;
    case 1:
      sum = less ? x : sum;
      break;
    case 2:
      sum = less ? sum : x;
      break;
    case 3:
      sum &= x;
      break;
    case 4:
      sum |= x;
      break;
    default:
      sum ^= x;
    }
  }
  for (uint32_t m = mask; m; m &= m - 1) ((uint32_t*)(w->file + i->d))[__builtin_ctz(m)] = sum;
}

// movmatrix: 8 x 8 of 16 bits, two neighbours of a row in a lane.
static void transpose(const grid_warp* w, const grid_insn* i) {
  uint16_t in[64], *d = (uint16_t*)(w->file + i->d);
  memcpy(in, w->file + i->a, sizeof in);
  for (int row = 0; row < 8; ++row)
    for (int column = 0; column < 8; ++column) d[8 * row + column] = in[8 * column + row];
}

int grid__exchange(grid_block* b, grid_warp* w, const grid_insn* i, uint32_t mask) {
  switch (i->op) {
  case GRID_OP_SHUFFLE:
    return shuffle(b, w, i, mask);
  case GRID_OP_VOTE:
    vote(w, i, mask);
    break;
  case GRID_OP_MATCH:
    match(w, i, mask);
    break;
  case GRID_OP_REDUX:
    reduce(w, i, mask);
    break;
  default:
    transpose(w, i);
  }
  return GRID_OK;
}
