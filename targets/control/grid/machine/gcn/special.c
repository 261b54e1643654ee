// Vector instructions that are more than one operation on a lane: carries, division's steps, packed pairs, and what
// goes between vector and scalar registers.
#include "targets/control/grid/machine/gcn/vector.h"

// Reads `count` sources of 32 bits of a half.
static int sources(gcn_wave* w, const gcn_insn* i, int count, int bytes, int half, uint64_t room[3][GRID_LANES],
                   const void** rows) {
  for (int n = 0; n < count; ++n) {
    int code = gcn__source(w, i, n, bytes, half, NULL, room[n], &rows[n]);
    if (code) return code;
  }
  return GRID_OK;
}

#define EACH_HALF(count, bytes)                                                                                        \
  uint64_t exec = gcn_exec(w);                                                                                         \
  for (int half = 0; half < 2; ++half) {                                                                               \
    uint32_t mask = (uint32_t)(exec >> 32 * half);                                                                     \
    uint64_t room[3][GRID_LANES], out[GRID_LANES];                                                                     \
    const void* rows[3];                                                                                               \
    if (!mask) continue;                                                                                               \
    int code = sources(w, i, count, bytes, half, room, rows);                                                          \
    if (code) return code;

static int read_first(gcn_wave* w, const gcn_insn* i) {
  uint64_t exec = gcn_exec(w);
  int lane = exec ? __builtin_ctzll(exec) : 0;
  if (i->s[0] >= GCN_V0) {
    int code = gcn__ready(w, i, i->s[0] - GCN_V0, 1);
    if (code) return code;
    w->s[i->d - GCN_V0] = gcn_row(w, i->s[0] - GCN_V0, 0)[lane];
  } else {
    uint64_t value;
    int code = gcn__read_scalar(w, i, i->s[0], 1, &value);
    if (code) return code;
    w->s[i->d - GCN_V0] = (uint32_t)value;
  }
  w->s_pending[i->d - GCN_V0] = 0;
  ++w->pc;
  return GRID_OK;
}

static int read_lane(gcn_wave* w, const gcn_insn* i) {
  uint64_t lane;
  int code = gcn__ready(w, i, i->s[0] - GCN_V0, 1);
  if (!code) code = gcn__read_scalar(w, i, i->s[1], 1, &lane);
  if (code) return code;
  w->s[i->d - GCN_V0] = gcn_row(w, i->s[0] - GCN_V0, 0)[lane & (GRID_LANES * w->halves - 1)];
  w->s_pending[i->d - GCN_V0] = 0;
  ++w->pc;
  return GRID_OK;
}

static int write_lane(gcn_wave* w, const gcn_insn* i) {
  uint64_t lane, value;
  int code = gcn__read_scalar(w, i, i->s[0], 1, &value);
  if (!code) code = gcn__read_scalar(w, i, i->s[1], 1, &lane);
  if (code) return code;
  gcn_row(w, i->d - GCN_V0, 0)[lane & (GRID_LANES * w->halves - 1)] = (uint32_t)value;
  ++w->pc;
  return GRID_OK;
}

static int count_below(gcn_wave* w, const gcn_insn* i) { // v_mbcnt_lo, _hi
  bool high = i->name[8] == 'h';
  EACH_HALF(2, 4)
  for (int l = 0; l < GRID_LANES; ++l) {
    int lane = 32 * half + l;
    uint64_t below = (UINT64_C(1) << lane) - 1;
    uint32_t bits = ((const uint32_t*)rows[0])[l] & (uint32_t)(high ? below >> 32 : below);
    ((uint32_t*)out)[l] = (uint32_t)__builtin_popcount(bits) + ((const uint32_t*)rows[1])[l];
  }
  gcn__result(w, i, i->d - GCN_V0, out, 4, half, mask);
}
++w->pc;
return GRID_OK;
}

// v_add_co, v_sub_co, v_subrev_co and those that take a carry, too.
static int carry(gcn_wave* w, const gcn_insn* i) {
  bool in = strstr(i->name, "addc") || strstr(i->name, "subb"), minus = i->name[2] == 's',
       back = strstr(i->name, "rev");
  uint64_t given = 0, made = 0;
  if (in) {
    int code = gcn__read_scalar(w, i, i->three ? i->s[2] : GCN_VCC, (int)w->halves, &given);
    if (code) return code;
  }
  EACH_HALF(2, 4)
  for (int l = 0; l < GRID_LANES; ++l) {
    uint64_t x = ((const uint32_t*)rows[back])[l], y = ((const uint32_t*)rows[!back])[l],
             c = given >> (32 * half + l) & 1;
    uint64_t sum = minus ? x - y - c : x + y + c;
    ((uint32_t*)out)[l] = (uint32_t)sum;
    if (mask >> l & 1) made |= (sum >> 32 & 1) << (32 * half + l);
  }
  gcn__result(w, i, i->d - GCN_V0, out, 4, half, mask);
}
uint32_t to = i->three ? i->d2 : GCN_VCC;
gcn_put_mask(w, to, made);
++w->pc;
return GRID_OK;
}

static int multiply_add_64(gcn_wave* w, const gcn_insn* i) { // v_mad_u64_u32, v_mad_i64_i32
  bool with_sign = i->name[6] == 'i';
  uint64_t made = 0;
  EACH_HALF(2, 4)
  const void* sum;
  code = gcn__source(w, i, 2, 8, half, NULL, room[2], &sum);
  if (code) return code;
  for (int l = 0; l < GRID_LANES; ++l) {
    uint32_t x = ((const uint32_t*)rows[0])[l], y = ((const uint32_t*)rows[1])[l];
    uint64_t z = ((const uint64_t*)sum)[l],
             p = with_sign ? (uint64_t)((int64_t)(int32_t)x * (int32_t)y) : (uint64_t)x * y;
    out[l] = p + z;
    if (mask >> l & 1) made |= (uint64_t)(out[l] < p) << (32 * half + l);
  }
  gcn__result(w, i, i->d - GCN_V0, out, 8, half, mask);
}
gcn_put_mask(w, i->d2, made);
++w->pc;
return GRID_OK;
}

// Division's steps (12.10): what keeps them from overflowing and from losing bits, for f32 and f64.
#define DIVISION(T, t, size, bits_of, mantissa, most, far, up, low, least, under, ld, abs_of)                          \
  static int exponent_##t(T x) { return (int)(bits_of(x) >> mantissa & (2 * most + 1)); }                              \
  static bool subnormal_##t(T x) { return exponent_##t(x) == 0 && x != 0; }                                            \
  /* x: what is scaled; y: below; z: above */                                                                          \
  static T scaled_##t(T x, T y, T z, bool* flag) {                                                                     \
    *flag = false;                                                                                                     \
    if (y == 0 || z == 0) return (T)NAN;                                                                               \
    if (exponent_##t(z) - exponent_##t(y) >= far) {                                                                    \
      *flag = true;                                                                                                    \
      return x == y ? ld(x, up) : x;                                                                                   \
    }                                                                                                                  \
    if (subnormal_##t(y)) return ld(x, up);                                                                            \
    bool inverse = fabs(1.0 / (double)y) < 0x1p-1022, quotient = abs_of(z / y) < least; /* 1 / y is an f64 always */   \
    *flag = quotient;                                                                                                  \
    if (inverse && quotient) return x == y ? ld(x, -up) : x;                                                           \
    if (inverse) return ld(x, -up);                                                                                    \
    if (quotient) return x == z ? ld(x, up) : x;                                                                       \
    return exponent_##t(z) <= low ? ld(x, up) : x;                                                                     \
  }                                                                                                                    \
  static int scale_##t(gcn_wave* w, const gcn_insn* i) {                                                               \
    uint64_t made = 0;                                                                                                 \
    EACH_HALF(3, size)                                                                                                 \
    for (int l = 0; l < GRID_LANES; ++l) {                                                                             \
      bool flag;                                                                                                       \
      ((T*)out)[l] = scaled_##t(((const T*)rows[0])[l], ((const T*)rows[1])[l], ((const T*)rows[2])[l], &flag);        \
      if (mask >> l & 1) made |= (uint64_t)flag << (32 * half + l);                                                    \
    }                                                                                                                  \
    gcn__result(w, i, i->d - GCN_V0, out, size, half, mask);                                                           \
  }                                                                                                                    \
  gcn_put_mask(w, i->d2, made);                                                                                        \
  ++w->pc;                                                                                                             \
  return GRID_OK;                                                                                                      \
  }                                                                                                                    \
  /* The scale that stands last: up where the quotient was held down, down where it was held up. */                    \
  static int fmas_##t(gcn_wave* w, const gcn_insn* i) {                                                                \
    uint64_t vcc = gcn_vcc(w);                                                                                         \
    EACH_HALF(3, size)                                                                                                 \
    for (int l = 0; l < GRID_LANES; ++l) {                                                                             \
      T z = ((const T*)rows[2])[l];                                                                                    \
      int by = vcc >> (32 * half + l) & 1 ? (exponent_##t(z) > most ? up : -up) : 0;                                   \
      ((T*)out)[l] = fused_##t(((const T*)rows[0])[l], ((const T*)rows[1])[l], z, by);                                 \
    }                                                                                                                  \
    gcn__result(w, i, i->d - GCN_V0, out, size, half, mask);                                                           \
  }                                                                                                                    \
  ++w->pc;                                                                                                             \
  return GRID_OK;                                                                                                      \
  }                                                                                                                    \
  static T fixed_##t(T q, T y, T z) {                                                                                  \
    bool minus = !signbit(y) != !signbit(z);                                                                           \
    if (z != z || y != y || (y == 0 && z == 0) || (isinf(y) && isinf(z))) return (T)NAN;                               \
    bool below = exponent_##t(z) - exponent_##t(y) < under; /* what overflows comes out of the steps as NaN */         \
    T r = y == 0 || isinf(z) ? (T)INFINITY : isinf(y) || z == 0 || below ? 0 : q != q ? (T)INFINITY : abs_of(q);       \
    return minus ? -r : r;                                                                                             \
  }                                                                                                                    \
  static int fixup_##t(gcn_wave* w, const gcn_insn* i) {                                                               \
    EACH_HALF(3, size)                                                                                                 \
    for (int l = 0; l < GRID_LANES; ++l)                                                                               \
      ((T*)out)[l] = fixed_##t(((const T*)rows[0])[l], ((const T*)rows[1])[l], ((const T*)rows[2])[l]);                \
    gcn__result(w, i, i->d - GCN_V0, out, size, half, mask);                                                           \
  }                                                                                                                    \
  ++w->pc;                                                                                                             \
  return GRID_OK;                                                                                                      \
  }
// (x * y + z) * 2^by, rounded once.
static float fused_f32(float x, float y, float z, int by) {
  return grid__canonical((float)ldexp(grid__odd_fma(x, y, z), by));
}
#ifdef __x86_64__
__extension__ typedef __float128 wide;
#else
typedef long double wide;
#endif
static double fused_f64(double x, double y, double z, int by) {
  if (!by) return fma(x, y, z);
  return (double)(((wide)x * y + z) * (by > 0 ? 0x1p128 : 0x1p-128));
}
DIVISION(float, f32, 4, grid__bits_of_float, 23, 127, 96, 64, 23, 0x1p-126f, -150, ldexpf, fabsf)
DIVISION(double, f64, 8, grid__bits_of_double, 52, 1023, 768, 128, 53, 0x1p-1022, -1075, ldexp, fabs)

static int fixup_f16(gcn_wave* w, const gcn_insn* i) {
  EACH_HALF(3, 2)
  for (int l = 0; l < GRID_LANES; ++l)
    ((uint16_t*)out)[l] =
        grid__half_of(fixed_f32(grid__half(((const uint16_t*)rows[0])[l]), grid__half(((const uint16_t*)rows[1])[l]),
                                grid__half(((const uint16_t*)rows[2])[l])));
  gcn__result(w, i, i->d - GCN_V0, out, 2, half, mask);
}
++w->pc;
return GRID_OK;
}

// v_fma_mix_f32, _mixlo_f16, _mixhi_f16: op_sel_hi says which sources are f16, op_sel which half; neg_hi is abs.
static int mixed(gcn_wave* w, const gcn_insn* i) {
  gcn_insn plain = *i;
  plain.neg = plain.abs = 0;
  uint64_t exec = gcn_exec(w);
  for (int half = 0; half < 2; ++half) {
    uint32_t mask = (uint32_t)(exec >> 32 * half);
    float x[3][GRID_LANES];
    if (!mask) continue;
    for (int n = 0; n < 3; ++n) {
      uint64_t room[GRID_LANES];
      const void* row;
      bool narrow = i->op_sel_hi >> n & 1;
      int code = gcn__source(w, &plain, n, narrow ? 2 : 4, half, NULL, room, &row);
      if (code) return code;
      for (int l = 0; l < GRID_LANES; ++l) {
        float v = narrow ? grid__half(((const uint16_t*)row)[l]) : ((const float*)row)[l];
        if (i->neg_hi >> n & 1) v = fabsf(v);
        x[n][l] = i->neg >> n & 1 ? -v : v;
      }
    }
    uint32_t out[GRID_LANES];
    uint16_t halves[GRID_LANES];
    for (int l = 0; l < GRID_LANES; ++l) {
      float r = fmaf(x[0][l], x[1][l], x[2][l]);
      if (i->clamp) r = r > 0 ? r < 1 ? r : 1 : 0;
      out[l] = grid__bits_of_float(grid__canonical(r));
      halves[l] = grid__half_of(i->clamp ? r : grid__odd_float(grid__odd_fma(x[0][l], x[1][l], x[2][l])));
    }
    gcn_insn to = *i;
    to.op_sel = i->name[9] == 'h' ? 8 : 0;
    if (i->name[9] == '_') {
      gcn__result(w, i, i->d - GCN_V0, out, 4, half, mask);
    } else {
      uint32_t* d = gcn_row(w, i->d - GCN_V0, half);
      for (uint32_t m = mask; m; m &= m - 1) {
        int l = __builtin_ctz(m);
        d[l] = to.op_sel ? (d[l] & 0xffff) | (uint32_t)halves[l] << 16 : (d[l] & 0xffff0000) | halves[l];
      }
    }
  }
  ++w->pc;
  return GRID_OK;
}

static uint32_t class_of(double v, bool subnormal, bool quiet) {
  bool minus = signbit(v);
  if (v != v) return quiet ? 2 : 1;
  if (isinf(v)) return minus ? 1 << 2 : 1 << 9;
  if (v == 0) return minus ? 1 << 5 : 1 << 6;
  return subnormal ? (minus ? 1 << 4 : 1 << 7) : minus ? 1 << 3 : 1 << 8;
}

// v_cmp_class: is the number of one of the kinds that source 1 has bits for?
static int classes(gcn_wave* w, const gcn_insn* i) {
  int bytes = strstr(i->name, "f64") ? 8 : strstr(i->name, "f32") ? 4 : 2, kinds = bytes == 2 ? 2 : 4;
  uint64_t exec = gcn_exec(w), result = 0;
  for (int half = 0; half < 2; ++half) {
    uint64_t room[2][GRID_LANES];
    const void *row, *wanted;
    if (!(uint32_t)(exec >> 32 * half)) continue;
    int code = gcn__source(w, i, 0, bytes, half, NULL, room[0], &row);
    if (!code) code = gcn__source(w, i, 1, kinds, half, NULL, room[1], &wanted);
    if (code) return code;
    for (int l = 0; l < GRID_LANES; ++l) {
      uint64_t bits = 0, of_kind = 0;
      memcpy(&bits, (const uint8_t*)row + l * bytes, (size_t)bytes);
      memcpy(&of_kind, (const uint8_t*)wanted + l * kinds, (size_t)kinds);
      double v = bytes == 8   ? grid__double_of_bits(bits)
                 : bytes == 4 ? (double)grid__float_of_bits((uint32_t)bits)
                              : (double)grid__half((uint16_t)bits);
      int mantissa = bytes == 8 ? 52 : bytes == 4 ? 23 : 10;
      double least = bytes == 8 ? 0x1p-1022 : bytes == 4 ? 0x1p-126 : 0x1p-14;
      uint32_t kind = class_of(v, fabs(v) < least, bits >> (mantissa - 1) & 1);
      result |= (uint64_t)((kind & of_kind) != 0) << (32 * half + l);
    }
  }
  result &= exec;
  gcn_put_mask(w, i->d, result);
  ++w->pc;
  return GRID_OK;
}

// Pairs of f32 in two registers: each half of the result takes the half of each source that op_sel says.
static int packed_floats(gcn_wave* w, const gcn_insn* i) {
  int count = strstr(i->name, "fma") ? 3 : 2;
  bool add = strstr(i->name, "add"), move = strstr(i->name, "mov");
  uint64_t exec = gcn_exec(w);
  for (int half = 0; half < 2; ++half) {
    uint32_t mask = (uint32_t)(exec >> 32 * half);
    if (!mask) continue;
    uint32_t out[2][GRID_LANES];
    for (int part = 0; part < 2; ++part) {
      uint64_t room[3][GRID_LANES];
      const void* rows[3];
      gcn_insn one = *i;
      one.neg = part ? i->neg_hi : i->neg;
      one.abs = 0;
      for (int n = 0; n < count; ++n) {
        bool upper = (part ? i->op_sel_hi : i->op_sel) >> n & 1;
        if (one.s[n] >= GCN_V0 || one.s[n] < GCN_EXEC) one.s[n] = (uint16_t)(one.s[n] + upper);
        int code = gcn__source(w, &one, n, 4, half, NULL, room[n], &rows[n]);
        if (code) return code;
      }
      for (int l = 0; l < GRID_LANES; ++l) {
        float x = ((const float*)rows[0])[l], y = ((const float*)rows[1])[l];
        float r = count == 3 ? fmaf(x, y, ((const float*)rows[2])[l]) : add ? x + y : x * y;
        out[part][l] = move ? ((const uint32_t*)rows[part])[l] : grid__bits_of_float(grid__canonical(r));
      }
    }
    for (int part = 0; part < 2; ++part) gcn__result(w, i, (uint32_t)(i->d - GCN_V0 + part), out[part], 4, half, mask);
  }
  ++w->pc;
  return GRID_OK;
}

// Pairs of 16 bits in one register, by the row for one of them.
static int packed_halves(gcn_wave* w, const gcn_insn* i) {
  int count = i->row->size[3] ? 3 : i->row->size[2] ? 2 : 1;
  uint64_t exec = gcn_exec(w);
  for (int half = 0; half < 2; ++half) {
    uint32_t mask = (uint32_t)(exec >> 32 * half), out[GRID_LANES];
    uint16_t parts[2][GRID_LANES];
    if (!mask) continue;
    for (int part = 0; part < 2; ++part) {
      uint64_t room[3][GRID_LANES];
      const void* rows[3] = {0};
      gcn_insn one = *i;
      one.neg = part ? i->neg_hi : i->neg;
      one.abs = 0;
      one.op_sel = part ? i->op_sel_hi : i->op_sel;
      for (int n = 0; n < count; ++n) {
        int from = i->reversed && n < 2 ? 1 - n : n;
        int code = gcn__source(w, &one, from, 2, half, NULL, room[n], &rows[n]);
        if (code) return code;
      }
      i->row->lanes(parts[part], rows[0], rows[1], rows[2]);
    }
    for (int l = 0; l < GRID_LANES; ++l) out[l] = parts[0][l] | (uint32_t)parts[1][l] << 16;
    gcn__result(w, i, i->d - GCN_V0, out, 4, half, mask);
  }
  ++w->pc;
  return GRID_OK;
}

static int convert_pair(gcn_wave* w, const gcn_insn* i) { // v_cvt_pkrtz_f16_f32
  EACH_HALF(2, 4)
  for (int l = 0; l < GRID_LANES; ++l) {
    uint64_t low = grid__narrow(((const float*)rows[0])[l], GRID_F16, GRID_ZERO, false);
    uint64_t high = grid__narrow(((const float*)rows[1])[l], GRID_F16, GRID_ZERO, false);
    ((uint32_t*)out)[l] = (uint32_t)(low | high << 16);
  }
  gcn__result(w, i, i->d - GCN_V0, out, 4, half, mask);
}
++w->pc;
return GRID_OK;
}

static int accumulation(gcn_wave* w, const gcn_insn* i) { // v_accvgpr_read, v_accvgpr_write
  bool read = i->name[10] == 'r';
  gcn_insn one = *i;
  if (read) one.s[0] = (uint16_t)(one.s[0] + 256);
  uint64_t exec = gcn_exec(w);
  for (int half = 0; half < 2; ++half) {
    uint64_t room[GRID_LANES];
    const void* row;
    if (!(uint32_t)(exec >> 32 * half)) continue;
    int code = gcn__source(w, &one, 0, 4, half, NULL, room, &row);
    if (code) return code;
    gcn__result(w, i, (uint32_t)(i->d - GCN_V0 + (read ? 0 : 256)), row, 4, half, (uint32_t)(exec >> 32 * half));
  }
  ++w->pc;
  return GRID_OK;
}

static int exchange(gcn_wave* w, const gcn_insn* i) { // v_swap_b32
  uint32_t from = i->s[0] - GCN_V0, to = i->d - GCN_V0;
  int code = gcn__ready(w, i, from, 1);
  if (!code) code = gcn__ready(w, i, to, 1);
  if (code) return code;
  uint32_t *x = gcn_row(w, from, 0), *y = gcn_row(w, to, 0);
  for (uint64_t m = gcn_exec(w); m; m &= m - 1) {
    int l = __builtin_ctzll(m);
    uint32_t old = x[l];
    x[l] = y[l], y[l] = old;
  }
  ++w->pc;
  return GRID_OK;
}

static int nothing(gcn_wave* w, const gcn_insn* i) {
  (void)i;
  ++w->pc;
  return GRID_OK;
}

bool gcn__special(gcn_insn* i) {
  static const struct {
    const char* name;
    gcn_run run;
    uint8_t class;
  } rows[] = {{"v_readfirstlane_b32", read_first, GRID_CLASS_MOVE},
              {"v_readlane_b32", read_lane, GRID_CLASS_MOVE},
              {"v_writelane_b32", write_lane, GRID_CLASS_MOVE},
              {"v_mbcnt_lo_u32_b32", count_below, GRID_CLASS_INTEGER},
              {"v_mbcnt_hi_u32_b32", count_below, GRID_CLASS_INTEGER},
              {"v_add_co_u32", carry, GRID_CLASS_INTEGER},
              {"v_addc_co_u32", carry, GRID_CLASS_INTEGER},
              {"v_sub_co_u32", carry, GRID_CLASS_INTEGER},
              {"v_subb_co_u32", carry, GRID_CLASS_INTEGER},
              {"v_subrev_co_u32", carry, GRID_CLASS_INTEGER},
              {"v_subbrev_co_u32", carry, GRID_CLASS_INTEGER},
              {"v_mad_u64_u32", multiply_add_64, GRID_CLASS_INTEGER},
              {"v_mad_i64_i32", multiply_add_64, GRID_CLASS_INTEGER},
              {"v_div_scale_f32", scale_f32, GRID_CLASS_FLOAT},
              {"v_div_fmas_f32", fmas_f32, GRID_CLASS_FLOAT},
              {"v_div_fixup_f32", fixup_f32, GRID_CLASS_FLOAT},
              {"v_div_scale_f64", scale_f64, GRID_CLASS_FLOAT},
              {"v_div_fmas_f64", fmas_f64, GRID_CLASS_FLOAT},
              {"v_div_fixup_f64", fixup_f64, GRID_CLASS_FLOAT},
              {"v_div_fixup_f16", fixup_f16, GRID_CLASS_FLOAT},
              {"v_fma_mix_f32", mixed, GRID_CLASS_FMA},
              {"v_fma_mixlo_f16", mixed, GRID_CLASS_FMA},
              {"v_fma_mixhi_f16", mixed, GRID_CLASS_FMA},
              {"v_cmp_class_f16", classes, GRID_CLASS_FLOAT},
              {"v_cmp_class_f32", classes, GRID_CLASS_FLOAT},
              {"v_cmp_class_f64", classes, GRID_CLASS_FLOAT},
              {"v_pk_fma_f32", packed_floats, GRID_CLASS_FMA},
              {"v_pk_mul_f32", packed_floats, GRID_CLASS_FLOAT},
              {"v_pk_add_f32", packed_floats, GRID_CLASS_FLOAT},
              {"v_pk_mov_b32", packed_floats, GRID_CLASS_MOVE},
              {"v_cvt_pkrtz_f16_f32", convert_pair, GRID_CLASS_FLOAT},
              {"v_accvgpr_read_b32", accumulation, GRID_CLASS_MOVE},
              {"v_accvgpr_write_b32", accumulation, GRID_CLASS_MOVE},
              {"v_accvgpr_read", accumulation, GRID_CLASS_MOVE},
              {"v_accvgpr_write", accumulation, GRID_CLASS_MOVE},
              {"v_swap_b32", exchange, GRID_CLASS_MOVE},
              {"v_nop", nothing, GRID_CLASS_CONTROL}};
  static const struct {
    const char *name, *key;
    bool reversed;
  } halves[] = {{"v_pk_fma_f16", "fma.f16", false},         {"v_pk_add_f16", "add.f16", false},
                {"v_pk_mul_f16", "mul.f16", false},         {"v_pk_min_f16", "min.f16", false},
                {"v_pk_max_f16", "max.f16", false},         {"v_pk_add_u16", "add.u16", false},
                {"v_pk_sub_i16", "sub.u16", false},         {"v_pk_add_i16", "add.u16", false},
                {"v_pk_sub_u16", "sub.u16", false},         {"v_pk_mul_lo_u16", "mul.lo.u16", false},
                {"v_pk_mad_u16", "mad.lo.u16", false},      {"v_pk_mad_i16", "mad.lo.u16", false},
                {"v_pk_min_i16", "min.s16", false},         {"v_pk_max_i16", "max.s16", false},
                {"v_pk_min_u16", "min.u16", false},         {"v_pk_max_u16", "max.u16", false},
                {"v_pk_lshlrev_b16", "amd.lshl.b16", true}, {"v_pk_lshrrev_b16", "amd.lshr.b16", true},
                {"v_pk_ashrrev_i16", "amd.ashr.i16", true}};
  if (i->dpp) return false;
  for (size_t k = 0; k < sizeof rows / sizeof *rows; ++k) {
    if (strcmp(rows[k].name, i->name)) continue;
    i->run = rows[k].run;
    i->class = rows[k].class;
    if (i->run == carry || i->run == multiply_add_64 || i->run == scale_f32 || i->run == scale_f64)
      i->abs = 0;                                      // its bits are a register's
    bool parts = i->run == classes || i->run == carry; // that may have parts of registers as sources
    return (!i->clamp || i->run == mixed) && !i->omod && (parts || !i->sdwa);
  }
  for (size_t k = 0; k < sizeof halves / sizeof *halves; ++k) {
    if (strcmp(halves[k].name, i->name) || i->clamp || i->sdwa) continue;
    i->row = grid__lane_row(halves[k].key);
    i->reversed = halves[k].reversed;
    i->run = packed_halves;
    i->class = GRID_CLASS_FLOAT;
    return i->row != NULL;
  }
  return false;
}
