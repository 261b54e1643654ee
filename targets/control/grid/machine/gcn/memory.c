// Loads and stores: scalar (SMEM), flat, global, scratch, and LDS (CDNA 3 ISA, chapters 7, 9 and 11).
#include "targets/control/grid/machine/gcn/gcn.h"

#include <pthread.h>
#include <stdlib.h>

static grid_request begin(gcn_wave* w, const gcn_insn* i, int half, grid_effect effect) {
  grid_request q = {.block = w->block,
                    .warp = &w->block->warps[w->halves * w->index + (uint32_t)half],
                    .insn = &i->site,
                    .mask = (uint32_t)(gcn_exec(w) >> 32 * half),
                    .bytes = i->bytes,
                    .align = 1,
                    .effect = effect};
  q.strong = effect == GRID_ATOMIC || i->strong;
  return q;
}

// s_load_dwordxN
static int scalar_load(gcn_wave* w, const gcn_insn* i) {
  uint64_t base, offset = 0;
  int code = gcn__read_scalar(w, i, i->s[0], 2, &base);
  if (!code && i->s[1] <= GCN_NO_SADDR) code = gcn__read_scalar(w, i, i->s[1], 1, &offset);
  if (code) return code;
  uint64_t at = (base + (uint64_t)(int64_t)i->offset + offset) & ~UINT64_C(3);
  grid_counts* counts = &w->block->worker->counts;
  uint64_t sectors = counts->global_sectors;
  grid_request q = {.block = w->block,
                    .warp = &w->block->warps[w->halves * w->index],
                    .insn = &i->site,
                    .mask = 1,
                    .bytes = 4 * (uint32_t)i->dwords,
                    .align = 4,
                    .effect = GRID_READ};
  for (int l = 0; l < GRID_LANES; ++l) q.address[l] = at;
  code = grid__access(&q);
  if (code) return code;
  counts->scalar_sectors += counts->global_sectors - sectors;
  memcpy(&w->s[i->d], q.host[0], q.bytes);
  for (int k = 0; k < i->dwords; ++k) w->s_pending[i->d + k] = w->s_issued + 1;
  ++w->s_issued;
  ++w->pc;
  return GRID_OK;
}

static int addresses(gcn_wave* w, const gcn_insn* i, int half, grid_request* q) {
  const uint32_t* low = gcn_row(w, i->s[0] - GCN_V0, half);
  bool scratch = i->encoding == GCN_SCRATCH, with_base = i->encoding != GCN_FLAT && i->s[2] != GCN_NO_SADDR;
  bool vector = !scratch || i->imm, wide = !scratch && !with_base;
  uint64_t base = scratch ? GRID_LOCAL : 0, plus = 0;
  if (with_base) {
    int code = gcn__read_scalar(w, i, i->s[2], scratch ? 1 : 2, &plus);
    if (code) return code;
    base += plus;
  }
  if (vector) {
    int code = gcn__ready(w, i, i->s[0] - GCN_V0, wide ? 2 : 1);
    if (code) return code;
  }
  const uint32_t* high = wide ? gcn_row(w, i->s[0] - GCN_V0 + 1, half) : low;
  for (int l = 0; l < GRID_LANES; ++l)
    q->address[l] = base + (uint64_t)(int64_t)i->offset + (vector ? low[l] | (wide ? (uint64_t)high[l] << 32 : 0) : 0);
  return GRID_OK;
}

static void take(gcn_wave* w, const gcn_insn* i, int half, const grid_request* q, uint32_t v, uint32_t at, int dwords) {
  for (int k = 0; k < dwords; ++k) {
    uint32_t* row = gcn_row(w, v + (uint32_t)k, half);
    for (uint32_t m = q->mask; m; m &= m - 1) {
      int l = __builtin_ctz(m);
      uint32_t value = 0;
      memcpy(&value, q->host[l] + at + 4 * k, i->bytes < 4 ? i->bytes : 4);
      if (i->extend) value = i->bytes == 1 ? (uint32_t)(int8_t)value : (uint32_t)(int16_t)value;
      if (i->sdwa)
        value = i->sdwa == 1 ? (row[l] & 0xffff0000) | (value & 0xffff) : (row[l] & 0xffff) | value << 16; // d16
      row[l] = value;
    }
  }
}

static void pend(uint32_t* pending, uint32_t v, int dwords, uint32_t number) {
  for (int k = 0; k < dwords; ++k) pending[v + (uint32_t)k] = number;
}

static int vector_load(gcn_wave* w, const gcn_insn* i) {
  for (int half = 0; half < 2; ++half) {
    grid_request q = begin(w, i, half, GRID_READ);
    if (!q.mask) continue;
    int code = addresses(w, i, half, &q);
    if (!code) code = grid__access(&q);
    if (code) return code;
    take(w, i, half, &q, i->d - GCN_V0, 0, i->dwords);
  }
  ++w->v_issued;
  pend(w->v_pending, i->d - GCN_V0, i->dwords, w->v_issued);
  ++w->pc;
  return GRID_OK;
}

static int give(gcn_wave* w, const gcn_insn* i, int half, const grid_request* q, uint32_t v, uint32_t at, int dwords) {
  int code = gcn__ready(w, i, v, dwords);
  for (int k = 0; k < dwords && !code; ++k) {
    const uint32_t* row = gcn_row(w, v + (uint32_t)k, half);
    for (uint32_t m = q->mask; m; m &= m - 1) {
      int l = __builtin_ctz(m);
      uint32_t value = i->sdwa == 2 ? row[l] >> 16 : row[l];
      memcpy(q->host[l] + at + 4 * k, &value, i->bytes < 4 ? i->bytes : 4);
    }
  }
  return code;
}

// Stores are counted with loads, RDNA's by themselves.
static void stored(gcn_wave* w) {
  if (w->kernel->text->is_rdna)
    ++w->t_issued;
  else
    w->v_stored = ++w->v_issued;
}

static int vector_store(gcn_wave* w, const gcn_insn* i) {
  for (int half = 0; half < 2; ++half) {
    grid_request q = begin(w, i, half, GRID_WRITE);
    if (!q.mask) continue;
    int code = addresses(w, i, half, &q);
    uint32_t upper[GRID_LANES];
    for (int k = 0; k < i->dwords; ++k) q.stores[k] = gcn_row(w, i->s[1] - GCN_V0 + (uint32_t)k, half);
    for (int l = 0; l < GRID_LANES && i->sdwa == 2; ++l) upper[l] = q.stores[0][l] >> 16;
    if (i->sdwa == 2) q.stores[0] = upper;
    if (!code) code = grid__access(&q);
    if (!code) code = give(w, i, half, &q, i->s[1] - GCN_V0, 0, i->dwords);
    if (code) return code;
  }
  stored(w);
  ++w->pc;
  return GRID_OK;
}

enum { ADD, SUB, SMIN, UMIN, SMAX, UMAX, AND, OR, XOR, SWAP, CMPSWAP, ADD_F32, ATOMICS };
static const char* const atomics[] = {"add", "sub", "smin", "umin", "smax",    "umax",
                                      "and", "or",  "xor",  "swap", "cmpswap", "add_f32"};

static uint64_t updated(int op, uint64_t old, uint64_t x, uint64_t y, int bytes) {
  int64_t so = bytes == 8 ? (int64_t)old : (int32_t)old, sx = bytes == 8 ? (int64_t)x : (int32_t)x;
  switch (op) {
  case ADD:
    return old + x;
  case SUB:
    return old - x;
  case SMIN:
    return so < sx ? old : x;
  case UMIN:
    return old < x ? old : x;
  case SMAX:
    return so > sx ? old : x;
  case UMAX:
    return old > x ? old : x;
  case AND:
    return old & x;
  case OR:
    return old | x;
  case XOR:
    return old ^ x;
  case SWAP:
    return x;
  case CMPSWAP: // x: what is put; y: what must stand there
    return old == y ? x : old;
  default:
    return grid__bits_of_float(grid__float_of_bits((uint32_t)old) + grid__float_of_bits((uint32_t)x));
  }
}

static uint64_t lane_of(gcn_wave* w, uint32_t v, int half, int l, int bytes) {
  uint64_t value = gcn_row(w, v, half)[l];
  if (bytes == 8) value |= (uint64_t)gcn_row(w, v + 1, half)[l] << 32;
  return value;
}

static int change(gcn_wave* w, const gcn_insn* i, int half, const grid_request* q, bool returns) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  uint32_t data = i->s[1] - GCN_V0, words = i->bytes / 4u;
  int code = gcn__ready(w, i, data, (int)(i->literal == CMPSWAP ? 2 * words : words));
  if (code) return code;
  pthread_mutex_lock(&lock);
  for (uint32_t m = q->mask; m; m &= m - 1) {
    int l = __builtin_ctz(m);
    uint64_t old = 0, x = lane_of(w, data, half, l, i->bytes),
             y = i->literal == CMPSWAP ? lane_of(w, data + words, half, l, i->bytes) : 0;
    memcpy(&old, q->host[l], i->bytes);
    uint64_t new = updated((int)i->literal, old, x, y, i->bytes);
    memcpy(q->host[l], &new, i->bytes);
    for (uint32_t k = 0; k < words && returns; ++k) gcn_row(w, i->d - GCN_V0 + k, half)[l] = (uint32_t)(old >> 32 * k);
  }
  pthread_mutex_unlock(&lock);
  return GRID_OK;
}

static int vector_atomic(gcn_wave* w, const gcn_insn* i) {
  for (int half = 0; half < 2; ++half) {
    grid_request q = begin(w, i, half, GRID_ATOMIC);
    if (!q.mask) continue;
    int code = addresses(w, i, half, &q);
    if (!code) code = grid__access(&q);
    if (!code) code = change(w, i, half, &q, i->high);
    if (code) return code;
  }
  if (i->high) {
    ++w->v_issued;
    pend(w->v_pending, i->d - GCN_V0, i->bytes / 4, w->v_issued);
  } else {
    stored(w);
  }
  ++w->pc;
  return GRID_OK;
}

// LDS: one or two places at offsets.
static int lds(gcn_wave* w, const gcn_insn* i) {
  bool two = i->high;
  int parts = two ? 2 : 1;
  for (int half = 0; half < 2; ++half) {
    grid_request q = begin(w, i, half, i->store ? GRID_WRITE : GRID_READ);
    if (!q.mask) continue;
    int code = gcn__ready(w, i, i->s[0] - GCN_V0, 1);
    for (int k = 0; k < parts && !code; ++k) {
      uint32_t offset = two ? (i->imm >> 8 * k & 0xff) * i->literal : i->imm;
      const uint32_t* base = gcn_row(w, i->s[0] - GCN_V0, half);
      for (int l = 0; l < GRID_LANES; ++l) q.address[l] = GRID_SHARED + base[l] + offset;
      code = grid__access(&q);
      if (code) break;
      if (i->store)
        code = give(w, i, half, &q, i->s[1 + k] - GCN_V0, 0, i->dwords);
      else
        take(w, i, half, &q, (uint32_t)(i->d - GCN_V0 + k * i->dwords), 0, i->dwords);
    }
    if (code) return code;
  }
  ++w->l_issued;
  if (i->store) w->l_stored = w->l_issued;
  if (!i->store) pend(w->l_pending, i->d - GCN_V0, parts * i->dwords, w->l_issued);
  ++w->pc;
  return GRID_OK;
}

static int lds_atomic(gcn_wave* w, const gcn_insn* i) {
  for (int half = 0; half < 2; ++half) {
    grid_request q = begin(w, i, half, GRID_ATOMIC);
    if (!q.mask) continue;
    int code = gcn__ready(w, i, i->s[0] - GCN_V0, 1);
    const uint32_t* base = gcn_row(w, i->s[0] - GCN_V0, half);
    for (int l = 0; l < GRID_LANES; ++l) q.address[l] = GRID_SHARED + base[l] + i->imm;
    if (!code) code = grid__access(&q);
    if (!code) code = change(w, i, half, &q, i->high);
    if (code) return code;
  }
  ++w->l_issued;
  if (i->high) pend(w->l_pending, i->d - GCN_V0, i->bytes / 4, w->l_issued);
  ++w->pc;
  return GRID_OK;
}

// ds_bpermute_b32: the value of the lane that the address says, 0 of one that takes no part; ds_permute_b32 the other
// way.
static int permute(gcn_wave* w, const gcn_insn* i) {
  uint32_t out[GCN_LANES] = {0};
  const uint32_t *at = gcn_row(w, i->s[0] - GCN_V0, 0), *from = gcn_row(w, i->s[1] - GCN_V0, 0);
  uint64_t exec = gcn_exec(w);
  int code = gcn__ready(w, i, i->s[0] - GCN_V0, 1);
  if (!code) code = gcn__ready(w, i, i->s[1] - GCN_V0, 1);
  if (code) return code;
  for (int l = 0; l < GCN_LANES; ++l) {
    if (!(exec >> l & 1)) continue;
    uint32_t other = (at[l] + i->imm) >> 2 & (GRID_LANES * w->halves - 1);
    if (i->store)
      out[other] = from[l];
    else
      out[l] = exec >> other & 1 ? from[other] : 0;
  }
  uint32_t* to = gcn_row(w, i->d - GCN_V0, 0);
  for (int l = 0; l < GCN_LANES; ++l)
    if (exec >> l & 1) to[l] = out[l];
  ++w->l_issued;
  pend(w->l_pending, i->d - GCN_V0, 1, w->l_issued);
  ++w->pc;
  return GRID_OK;
}

// ds_swizzle_b32: quads by a permutation, or groups of 32 by masks.
static int swizzle(gcn_wave* w, const gcn_insn* i) {
  uint32_t out[GCN_LANES];
  const uint32_t* from = gcn_row(w, i->s[0] - GCN_V0, 0);
  uint64_t exec = gcn_exec(w);
  int code = gcn__ready(w, i, i->s[0] - GCN_V0, 1);
  if (code) return code;
  for (int l = 0; l < GCN_LANES; ++l) {
    int in = l & 31;
    int other = i->imm & 0x8000
                    ? (l & ~3) | (int)(i->imm >> 2 * (l & 3) & 3)
                    : (l & 32) | (int)((((uint32_t)in & (i->imm & 31)) | (i->imm >> 5 & 31)) ^ (i->imm >> 10 & 31));
    out[l] = exec >> other & 1 ? from[other] : 0;
  }
  uint32_t* to = gcn_row(w, i->d - GCN_V0, 0);
  for (int l = 0; l < GCN_LANES; ++l)
    if (exec >> l & 1) to[l] = out[l];
  ++w->l_issued;
  pend(w->l_pending, i->d - GCN_V0, 1, w->l_issued);
  ++w->pc;
  return GRID_OK;
}

static int nothing(gcn_wave* w, const gcn_insn* i) {
  (void)i;
  ++w->pc;
  return GRID_OK;
}

typedef struct width {
  const char* name;
  uint8_t dwords, bytes, part; // part: of a register, 1 its low half, 2 its high half
  bool extend;
} width;
static const width widths[] = {{"ubyte", 1, 1, 0, false},
                               {"sbyte", 1, 1, 0, true},
                               {"ushort", 1, 2, 0, false},
                               {"sshort", 1, 2, 0, true},
                               {"dword", 1, 4, 0, false},
                               {"dwordx2", 2, 8, 0, false},
                               {"dwordx3", 3, 12, 0, false},
                               {"dwordx4", 4, 16, 0, false},
                               {"byte", 1, 1, 0, false},
                               {"short", 1, 2, 0, false},
                               {"short_d16", 1, 2, 1, false},
                               {"short_d16_hi", 1, 2, 2, false},
                               {"ubyte_d16", 1, 1, 1, false},
                               {"ubyte_d16_hi", 1, 1, 2, false},
                               {"byte_d16_hi", 1, 1, 2, false},
                               {"b8", 1, 1, 0, false},
                               {"u8", 1, 1, 0, false},
                               {"i8", 1, 1, 0, true},
                               {"b16", 1, 2, 0, false},
                               {"u16", 1, 2, 0, false},
                               {"i16", 1, 2, 0, true},
                               {"b32", 1, 4, 0, false},
                               {"b64", 2, 8, 0, false},
                               {"b96", 3, 12, 0, false},
                               {"b128", 4, 16, 0, false},
                               {"u16_d16", 1, 2, 1, false},
                               {"u16_d16_hi", 1, 2, 2, false},
                               {"b16_d16_hi", 1, 2, 2, false},
                               {"u8_d16", 1, 1, 1, false},
                               {"u8_d16_hi", 1, 1, 2, false},
                               // RDNA's names
                               {"b8_d16_hi", 1, 1, 2, false},
                               {"i8_d16", 1, 1, 1, true},
                               {"i8_d16_hi", 1, 1, 2, true},
                               {"d16_u8", 1, 1, 1, false},
                               {"d16_i8", 1, 1, 1, true},
                               {"d16_b16", 1, 2, 1, false},
                               {"d16_hi_u8", 1, 1, 2, false},
                               {"d16_hi_i8", 1, 1, 2, true},
                               {"d16_hi_b8", 1, 1, 2, false},
                               {"d16_hi_b16", 1, 2, 2, false}};

static bool set_width(gcn_insn* i, const char* name) {
  for (size_t k = 0; k < sizeof widths / sizeof *widths; ++k)
    if (!strcmp(widths[k].name, name)) {
      i->dwords = widths[k].dwords;
      i->bytes = widths[k].bytes;
      i->sdwa = widths[k].part;
      i->extend = widths[k].extend;
      return true;
    }
  return false;
}

static bool atomic(gcn_insn* i, const char* name, bool in_lds) {
  size_t length = strlen(name);
  i->bytes = 4;
  if (length > 3 && !strcmp(name + length - 3, in_lds ? "u64" : "_x2")) i->bytes = 8;
  if (in_lds) i->high = strstr(name, "_rtn_") != NULL;
  size_t stem = in_lds ? strcspn(name, "_") : i->bytes == 8 ? length - 3 : length;
  if (in_lds && !strncmp(name, "add_f32", 7)) stem = 7;
  static const char* const lds_names[] = {"add", "sub", "", "", "", "", "and", "or", "xor", "", "", "add_f32"};
  for (int k = 0; k < ATOMICS; ++k) {
    const char* own = in_lds ? lds_names[k] : atomics[k];
    if (!*own || strlen(own) != stem || memcmp(own, name, stem)) continue;
    if (in_lds && k >= AND && k <= XOR && !strstr(name, "b32")) continue;
    if (k == ADD_F32 && i->bytes == 8) continue;
    i->literal = (uint32_t)k;
    i->run = in_lds ? lds_atomic : vector_atomic;
    return true;
  }
  return false;
}

bool gcn__memory(gcn_insn* i) {
  if (i->encoding != GCN_SMEM && i->encoding < GCN_FLAT) return false;
  i->class = GRID_CLASS_MEMORY;
  const char* name = strchr(i->name, '_') + 1;
  if (i->encoding == GCN_SMEM) {
    static const char* const loads[][2] = {{"load_dword", "load_b32"},
                                           {"load_dwordx2", "load_b64"},
                                           {"load_dwordx4", "load_b128"},
                                           {"load_dwordx8", "load_b256"},
                                           {"load_dwordx16", "load_b512"}};
    for (int k = 0; k < 5; ++k)
      if (!strcmp(name, loads[k][0]) || !strcmp(name, loads[k][1])) {
        i->run = scalar_load;
        i->dwords = (uint8_t)(1 << k);
        return i->d + i->dwords <= 108;
      }
    if (!strncmp(name, "dcache", 6) || !strcmp(name, "gl1_inv")) i->run = nothing;
    return i->run != NULL;
  }
  if (i->encoding == GCN_DS) {
    i->high = false;
    if (!strcmp(name, "bpermute_b32") || !strcmp(name, "permute_b32") || !strcmp(name, "swizzle_b32")) {
      i->run = *name == 's' ? swizzle : permute;
      i->store = *name == 'p';
      return true;
    }
    if (!strcmp(name, "nop")) return i->run = nothing, true;
    i->store = !strncmp(name, "write", 5);
    if (!i->store && strncmp(name, "read", 4)) return atomic(i, name, true);
    name += i->store ? 5 : 4;
    i->high = *name == '2';
    name += i->high;
    uint32_t times = 1;
    if (i->high && !strncmp(name, "st64", 4)) times = 64, name += 4;
    i->run = lds;
    if (!set_width(i, name + 1)) return false;
    i->literal = times * i->bytes;
    return true;
  }
  if (!strncmp(name, "load_", 5)) return i->run = vector_load, set_width(i, name + 5);
  if (!strncmp(name, "store_", 6)) return i->run = vector_store, set_width(i, name + 6);
  if (!strncmp(name, "atomic_", 7)) return atomic(i, name + 7, false);
  if (!strcmp(name, "wbl2") || !strcmp(name, "inv")) return i->run = nothing, true;
  return false;
}
