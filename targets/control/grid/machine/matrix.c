// Products of a warp, and loads and stores of their fragments: 9.7.14 of the PTX ISA. How the unit adds is its own;
// here products of floats are exact, summed in f64 in the order of k, and rounded once.
#include "targets/control/grid/machine/block.h"
#include "targets/control/grid/machine/lanes/number.h"

enum { MOST_M = 16, MOST_N = 8, MOST_K = 32 };

static double factor(uint32_t word, int k, grid_format f) {
  switch (f) {
  case GRID_F16:
    return grid__half((uint16_t)(word >> 16 * k));
  case GRID_BF16:
    return grid__bfloat((uint16_t)(word >> 16 * k));
  case GRID_TF32:
    return grid__float_of_bits(word & 0xffffe000);
  case GRID_S8:
    return (int8_t)(word >> 8 * k);
  default:
    return (uint8_t)(word >> 8 * k);
  }
}

// Register r of lane l holds `per` neighbours along k: of A in row l / 4 (and 8 further for odd r), of B in column l
// / 4.
static void read_factors(const grid_warp* w, const uint32_t* rows, int count, int per, grid_format f, bool a,
                         double* to) {
  for (int r = 0; r < count; ++r) {
    const uint32_t* words = (const uint32_t*)(w->file + rows[r]);
    for (int l = 0; l < GRID_LANES; ++l)
      for (int e = 0; e < per; ++e) {
        int line = l / 4 + (a ? 8 * (r & 1) : 0), k = l % 4 * per + e + (a ? r >> 1 : r) * 4 * per;
        to[line * MOST_K + k] = factor(words[l], e, f);
      }
  }
}

static void floats(const grid_scan* scan, grid_warp* w, const grid_insn* i) {
  double a[MOST_M * MOST_K], b[MOST_N * MOST_K], c[MOST_M * MOST_N], d[MOST_M * MOST_N];
  int per = i->space == GRID_TF32 ? 1 : i->space == GRID_F16 || i->space == GRID_BF16 ? 2 : 4;
  int of_a = MOST_M * i->count / 32 / per, of_b = MOST_N * i->count / 32 / per, of_c = i->extend ? 2 : 4;
  const uint32_t *to = i->list, *as = to + of_c, *bs = as + of_a, *cs = bs + of_b;
  bool whole = i->space == GRID_S8 || i->space == GRID_U8;
  read_factors(w, as, of_a, per, i->space, true, a);
  read_factors(w, bs, of_b, per, i->mode, false, b);
  for (int l = 0; l < GRID_LANES; ++l)
    for (int e = 0; e < 4; ++e) {
      int at = (l / 4 + 8 * (e >> 1)) * MOST_N + l % 4 * 2 + (e & 1);
      if (i->extend)
        c[at] = grid__half((uint16_t)(((const uint32_t*)(w->file + cs[e >> 1]))[l] >> 16 * (e & 1)));
      else if (whole)
        c[at] = ((const int32_t*)(w->file + cs[e]))[l];
      else
        c[at] = ((const float*)(w->file + cs[e]))[l];
    }
  scan->multiply(d, a, b, c, i->count);
  for (int l = 0; l < GRID_LANES; ++l)
    for (int e = 0; e < 4; ++e) {
      double value = d[(l / 4 + 8 * (e >> 1)) * MOST_N + l % 4 * 2 + (e & 1)];
      if (i->extend) {
        uint32_t* word = &((uint32_t*)(w->file + to[e >> 1]))[l];
        uint32_t half = grid__half_of(grid__odd_float(value));
        *word = e & 1 ? (*word & 0xffff) | half << 16 : (*word & 0xffff0000) | half;
      } else if (whole) { // exact in f64; what does not fit wraps, unless it is to saturate
        int64_t exact = (int64_t)value;
        if (i->flag) exact = exact > INT32_MAX ? INT32_MAX : exact < INT32_MIN ? INT32_MIN : exact;
        ((uint32_t*)(w->file + to[e]))[l] = (uint32_t)exact;
      } else {
        ((float*)(w->file + to[e]))[l] = grid__canonical((float)value);
      }
    }
}

static void doubles(grid_warp* w, const grid_insn* i) { // m8n8k4
  const double *a = (const double*)(w->file + i->list[2]), *b = (const double*)(w->file + i->list[3]);
  double d[2][GRID_LANES];
  for (int l = 0; l < GRID_LANES; ++l)
    for (int e = 0; e < 2; ++e) {
      double sum = ((const double*)(w->file + i->list[4 + e]))[l];
      for (int k = 0; k < 4; ++k) sum = fma(a[l / 4 * 4 + k], b[(l % 4 * 2 + e) * 4 + k], sum);
      d[e][l] = sum;
    }
  for (int e = 0; e < 2; ++e) memcpy(w->file + i->list[e], d[e], sizeof d[e]);
}

int grid__matrix(grid_block* b, grid_warp* w, const grid_insn* i) {
  if (i->space == GRID_F64)
    doubles(w, i);
  else
    floats(b->worker->scan, w, i);
  b->worker->counts.matrix_macs += (uint64_t)i->bytes * 8 * i->count;
  return GRID_OK;
}

// Matrix r of 8 x 8 lies in 8 rows of 16 bytes at the addresses of lanes 8 r to 8 r + 7; lane l holds two of row l / 4.
int grid__fragment(grid_block* b, grid_warp* w, const grid_insn* i, uint32_t mask) {
  uint32_t lanes = i->count == 4 ? UINT32_MAX : (UINT32_C(1) << 8 * i->count) - 1;
  grid_request q = {.block = b,
                    .warp = w,
                    .insn = i,
                    .mask = mask & lanes,
                    .bytes = 16,
                    .effect = i->op == GRID_OP_LDMATRIX ? GRID_READ : GRID_WRITE};
  if (mask != UINT32_MAX) return grid__stop(b, w, i, -1, GRID_DIVERGED, "a warp of fewer than 32 threads");
  grid__addresses(&q, i->a, i->flag, i->offset, i->space);
  for (uint32_t m = q.mask; m; m &= m - 1)
    if (q.address[__builtin_ctz(m)] - GRID_SHARED >= GRID_WINDOW)
      return grid__stop(b, w, i, __builtin_ctz(m), GRID_BAD_ADDRESS, "the address is not one of shared memory");
  int code = grid__access(&q);
  if (code) return code;
  for (int r = 0; r < i->count; ++r) {
    uint32_t* words = (uint32_t*)(w->file + i->list[r]);
    for (int l = 0; l < GRID_LANES; ++l)
      for (int e = 0; e < 2; ++e) {
        int row = i->mode ? l % 4 * 2 + e : l / 4, column = i->mode ? l / 4 : l % 4 * 2 + e;
        uint8_t* at = q.host[8 * r + row] + 2 * column;
        uint16_t half = (uint16_t)(words[l] >> 16 * e);
        if (i->op == GRID_OP_STMATRIX) {
          memcpy(at, &half, 2);
          continue;
        }
        memcpy(&half, at, 2);
        words[l] = e ? (words[l] & 0xffff) | (uint32_t)half << 16 : (words[l] & 0xffff0000) | half;
      }
  }
  return GRID_OK;
}
