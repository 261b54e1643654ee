// Vector instructions that are more than one operation on a lane: carries, division's steps, packed pairs, and what
// goes between vector and scalar registers.
#include "targets/control/grid/machine/gcn/vector.h"

#include <fenv.h>

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
  w->s[i->d - GCN_V0] = gcn_row(w, i->s[0] - GCN_V0, 0)[lane & 63];
  w->s_pending[i->d - GCN_V0] = 0;
  ++w->pc;
  return GRID_OK;
}

static int write_lane(gcn_wave* w, const gcn_insn* i) {
  uint64_t lane, value;
  int code = gcn__read_scalar(w, i, i->s[0], 1, &value);
  if (!code) code = gcn__read_scalar(w, i, i->s[1], 1, &lane);
  if (code) return code;
  gcn_row(w, i->d - GCN_V0, 0)[lane & 63] = (uint32_t)value;
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
  bool three =
      i->encoding == GCN_VOP3 || (i->encoding == GCN_VOP2 && i->words == 2 && i->s[0] != GCN_LITERAL && !i->sdwa);
  if (in) {
    int code = gcn__read_scalar(w, i, three ? i->s[2] : GCN_VCC, 2, &given);
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
uint32_t to = three ? i->d2 : GCN_VCC;
w->s[to] = (uint32_t)made;
w->s[to + 1] = (uint32_t)(made >> 32);
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
w->s[i->d2] = (uint32_t)made;
w->s[i->d2 + 1] = (uint32_t)(made >> 32);
++w->pc;
return GRID_OK;
}

static int exponent(float x) { return (int)(grid__bits_of_float(x) >> 23 & 0xff); }
static bool subnormal(float x) { return exponent(x) == 0 && x != 0; }

// 12.10: what a quotient needs so that its steps neither overflow nor lose bits. x: what is scaled; y: below; z: above.
static float div_scale(float x, float y, float z, bool* flag) {
  *flag = false;
  if (y == 0 || z == 0) return NAN;
  if (exponent(z) - exponent(y) >= 96) {
    *flag = true;
    return x == y ? ldexpf(x, 64) : x;
  }
  if (subnormal(y)) return ldexpf(x, 64);
  bool inverse = fabs(1.0 / (double)y) < 0x1p-126, quotient = fabs((double)z / (double)y) < 0x1p-126;
  if (inverse && quotient) {
    *flag = true;
    return x == y ? ldexpf(x, 64) : x;
  }
  if (inverse) return ldexpf(x, -64);
  if (quotient) {
    *flag = true;
    return x == z ? ldexpf(x, 64) : x;
  }
  return exponent(z) <= 23 ? ldexpf(x, 64) : x;
}

static int division_scale(gcn_wave* w, const gcn_insn* i) {
  uint64_t made = 0;
  EACH_HALF(3, 4)
  for (int l = 0; l < GRID_LANES; ++l) {
    bool flag;
    ((float*)out)[l] =
        div_scale(((const float*)rows[0])[l], ((const float*)rows[1])[l], ((const float*)rows[2])[l], &flag);
    if (mask >> l & 1) made |= (uint64_t)flag << (32 * half + l);
  }
  gcn__result(w, i, i->d - GCN_V0, out, 4, half, mask);
}
w->s[i->d2] = (uint32_t)made;
w->s[i->d2 + 1] = (uint32_t)(made >> 32);
++w->pc;
return GRID_OK;
}

static int division_fma(gcn_wave* w, const gcn_insn* i) {
  uint64_t vcc = gcn_vcc(w);
  EACH_HALF(3, 4)
  for (int l = 0; l < GRID_LANES; ++l) {
    float f = fmaf(((const float*)rows[0])[l], ((const float*)rows[1])[l], ((const float*)rows[2])[l]);
    // The scale that stands last: up where the quotient was held down, down where it was held up.
    bool scaled = vcc >> (32 * half + l) & 1;
    ((float*)out)[l] = grid__canonical(scaled ? ldexpf(f, exponent(((const float*)rows[2])[l]) > 127 ? 64 : -64) : f);
  }
  gcn__result(w, i, i->d - GCN_V0, out, 4, half, mask);
}
++w->pc;
return GRID_OK;
}

static float div_fixup(float q, float y, float z) {
  bool minus = !signbit(y) != !signbit(z);
  if (z != z || y != y) return NAN;
  if ((y == 0 && z == 0) || (isinf(y) && isinf(z))) return -NAN;
  if (y == 0 || isinf(z)) return minus ? -INFINITY : INFINITY;
  if (isinf(y) || z == 0) return minus ? -0.0f : 0.0f;
  return minus ? -fabsf(q) : fabsf(q);
}

static int division_fix(gcn_wave* w, const gcn_insn* i) {
  EACH_HALF(3, 4)
  for (int l = 0; l < GRID_LANES; ++l)
    ((float*)out)[l] =
        grid__canonical(div_fixup(((const float*)rows[0])[l], ((const float*)rows[1])[l], ((const float*)rows[2])[l]));
  gcn__result(w, i, i->d - GCN_V0, out, 4, half, mask);
}
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
        uint16_t words[2 * GRID_LANES];
        int code = gcn__source(w, &one, from, 2, half, NULL, room[n], &rows[n]);
        if (code) return code;
        if (i->row->size[n + 1] == 4) { // a count of bits
          for (int l = 0; l < GRID_LANES; ++l) words[2 * l] = ((const uint16_t*)rows[n])[l], words[2 * l + 1] = 0;
          memcpy(room[n], words, sizeof words);
          rows[n] = room[n];
        }
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
              {"v_div_scale_f32", division_scale, GRID_CLASS_FLOAT},
              {"v_div_fmas_f32", division_fma, GRID_CLASS_FLOAT},
              {"v_div_fixup_f32", division_fix, GRID_CLASS_FLOAT},
              {"v_pk_fma_f32", packed_floats, GRID_CLASS_FMA},
              {"v_pk_mul_f32", packed_floats, GRID_CLASS_FLOAT},
              {"v_pk_add_f32", packed_floats, GRID_CLASS_FLOAT},
              {"v_pk_mov_b32", packed_floats, GRID_CLASS_MOVE},
              {"v_cvt_pkrtz_f16_f32", convert_pair, GRID_CLASS_FLOAT},
              {"v_accvgpr_read_b32", accumulation, GRID_CLASS_MOVE},
              {"v_accvgpr_write_b32", accumulation, GRID_CLASS_MOVE},
              {"v_accvgpr_read", accumulation, GRID_CLASS_MOVE},
              {"v_accvgpr_write", accumulation, GRID_CLASS_MOVE},
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
  if (i->dpp || i->sdwa) return false;
  for (size_t k = 0; k < sizeof rows / sizeof *rows; ++k) {
    if (strcmp(rows[k].name, i->name)) continue;
    i->run = rows[k].run;
    i->class = rows[k].class;
    if (i->run == carry || i->run == multiply_add_64 || i->run == division_scale)
      i->abs = 0; // its bits are a register's
    return !i->clamp && !i->omod;
  }
  for (size_t k = 0; k < sizeof halves / sizeof *halves; ++k) {
    if (strcmp(halves[k].name, i->name) || i->clamp) continue;
    i->row = grid__lane_row(halves[k].key);
    i->reversed = halves[k].reversed;
    i->run = packed_halves;
    i->class = GRID_CLASS_FLOAT;
    return i->row != NULL;
  }
  return false;
}
