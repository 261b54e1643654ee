// Vector arithmetic (CDNA 3 ISA, chapters 6 and 12.7 to 12.11): sources from vector and scalar registers, constants,
// parts of registers and other lanes; the work is a row of lanes.def on each half of the wave.
#include "targets/control/grid/machine/gcn/vector.h"

enum { REVERSED = 1, SUM = 2, CHOOSE = 4, FIRST_CONSTANT = 8, LAST_CONSTANT = 16, CLAMPED = 32 };

int gcn__ready(gcn_wave* w, const gcn_insn* i, uint32_t first, int count) {
  for (int k = 0; k < count; ++k) {
    uint32_t v = first + (uint32_t)k;
    if (w->v_pending[v] <= w->v_done && w->l_pending[v] <= w->l_done) continue;
    return gcn__stop(w, i, -1, GRID_PENDING, "%s%u is used before s_waitcnt has waited for what loads it",
                     v < 256 ? "v" : "a", v % 256);
  }
  return GRID_OK;
}

static uint64_t inline_float(uint32_t source, int bytes) {
  static const double values[] = {0.5, -0.5, 1, -1, 2, -2, 4, -4, 0.15915494309189535};
  double v = values[source - 240];
  if (bytes == 8) return grid__bits_of_double(v);
  if (bytes == 2) return source == 248 ? 0x3118 : grid__half_of((float)v);
  return source == 248 ? 0x3e22f983 : grid__bits_of_float((float)v);
}

static int scalar_value(gcn_wave* w, const gcn_insn* i, uint32_t s, int bytes, bool is_f64, uint64_t* value) {
  int dwords = bytes == 8 ? 2 : 1;
  if (s < 108 || s == GCN_M0 || s == GCN_EXEC || s == GCN_EXEC + 1) {
    for (int k = 0; k < dwords; ++k)
      if (w->s_pending[s + (uint32_t)k] > w->s_done)
        return gcn__stop(w, i, -1, GRID_PENDING, "s%u is used before s_waitcnt has waited for what loads it",
                         s + (uint32_t)k);
    *value = w->s[s] | (dwords == 2 ? (uint64_t)w->s[s + 1] << 32 : 0);
  } else if (s >= 128 && s <= 192) {
    *value = s - 128;
  } else if (s >= 193 && s <= 208) {
    *value = (uint64_t)(int64_t)(192 - (int)s);
  } else if (s >= 240 && s <= 248) {
    *value = inline_float(s, bytes);
  } else if (s == GCN_LITERAL) {
    *value = is_f64 ? (uint64_t)i->literal << 32 : dwords == 2 ? (uint64_t)(int64_t)(int32_t)i->literal : i->literal;
  } else if (s == 235 || s == 237) {
    *value = s == 235 ? GRID_SHARED : GRID_LOCAL;
    if (dwords == 1) *value = 0;
  } else if (s == 251 || s == 252) {
    *value = s == 251 ? !gcn_vcc(w) : !gcn_exec(w);
  } else if (s == 253) {
    *value = w->scc;
  } else if (s == GCN_NULL && w->kernel->text->is_rdna) {
    *value = 0;
  } else {
    return gcn__stop(w, i, -1, GRID_BAD_CODE, "source %u: the machine does not know it", s);
  }
  return GRID_OK;
}

int gcn__read_scalar(gcn_wave* w, const gcn_insn* i, uint32_t source, int dwords, uint64_t* value) {
  int code = scalar_value(w, i, source, 4 * dwords, false, value);
  if (!code && dwords == 1) *value = (uint32_t)*value;
  return code;
}

// The lane that DPP reads for `lane`; -1: none.
static int dpp_source(uint32_t control, int lane) {
  int row = lane & ~15, at = lane & 15;
  if (control < 0x100) return (lane & ~3) | (int)(control >> 2 * (lane & 3) & 3);
  int n = control & 15;
  switch (control >> 4) {
  case 0x10:
    return at + n < 16 ? lane + n : -1;
  case 0x11:
    return at - n >= 0 ? lane - n : -1;
  case 0x12:
    return row | ((at - n) & 15);
  case 0x15:
    return row | n;
  case 0x16: // RDNA's alone
    return lane ^ n;
  }
  switch (control) {
  case 0x130:
    return lane < 63 ? lane + 1 : -1;
  case 0x134:
    return (lane + 1) & 63;
  case 0x138:
    return lane - 1;
  case 0x13c:
    return (lane - 1) & 63;
  case 0x140:
    return row | (15 - at);
  case 0x141:
    return (lane & ~7) | (7 - (lane & 7));
  case 0x142:
    return row ? row - 1 : -1;
  case 0x143:
    return lane >= 32 ? 31 : -1;
  }
  return -2;
}

// Source 0 from other lanes, for both halves; lanes that nothing is read for do not take part.
static int dpp_row(gcn_wave* w, const gcn_insn* i, uint32_t* row, uint64_t* mask) {
  const uint32_t* from = gcn_row(w, i->s[0] - GCN_V0, 0);
  uint64_t exec = gcn_exec(w);
  for (int l = 0; l < GCN_LANES; ++l) {
    int source = dpp_source(i->dpp_control, l);
    if (source == -2)
      return gcn__stop(w, i, l, GRID_BAD_CODE, "DPP control %#x: the machine does not know it", i->dpp_control);
    bool there = source >= 0 && (exec >> source & 1 || i->dpp_all);
    row[l] = there ? from[source] : 0;
    bool banked = i->dpp_masks >> (l >> 2 & 3) & 1 && i->dpp_masks >> (4 + (l >> 4)) & 1;
    if (!banked || (!there && !i->dpp_zero)) *mask &= ~(UINT64_C(1) << l);
  }
  return GRID_OK;
}

static uint32_t part_of(uint32_t v, uint8_t select) {
  uint32_t which = (select - 1) & 7, with_sign = select > 8;
  if (which < 4)
    v = v >> 8 * which & 0xff, v = with_sign ? (uint32_t)(int8_t)v : v;
  else if (which < 6)
    v = v >> 16 * (which - 4) & 0xffff, v = with_sign ? (uint32_t)(int16_t)v : v;
  return v;
}

static void modify(void* row, int bytes, bool neg, bool abs) {
  for (int l = 0; l < GRID_LANES; ++l) {
    uint64_t v = 0, sign = UINT64_C(1) << (8 * bytes - 1);
    memcpy(&v, (uint8_t*)row + l * bytes, (size_t)bytes);
    if (abs) v &= ~sign;
    if (neg) v ^= sign;
    memcpy((uint8_t*)row + l * bytes, &v, (size_t)bytes);
  }
}

int gcn__source(gcn_wave* w, const gcn_insn* i, int n, int bytes, int half, const uint32_t* other_lanes, uint64_t* room,
                const void** row) {
  uint32_t s = i->s[n];
  bool neg = i->neg >> n & 1, abs = i->abs >> n & 1;
  *row = room;
  if (s < GCN_V0) {
    uint64_t value;
    bool is_f64 = i->row && bytes == 8 && strstr(i->row->key, "f64");
    int code = scalar_value(w, i, s, bytes, is_f64, &value);
    if (code) return code;
    if (bytes == 2 && i->op_sel >> n & 1) value >>= 16;
    for (int l = 0; l < GRID_LANES; ++l) memcpy((uint8_t*)room + l * bytes, &value, (size_t)bytes);
  } else {
    uint32_t v = s - GCN_V0;
    int code = gcn__ready(w, i, v, bytes == 8 ? 2 : 1);
    if (code) return code;
    const uint32_t* low = n == 0 && other_lanes ? other_lanes + 32 * half : gcn_row(w, v, half);
    uint8_t sdwa = n == 0 ? i->sdwa : n == 1 ? i->sdwa1 : 0;
    if (bytes == 4 && !sdwa && !neg && !abs) {
      *row = low;
      return GRID_OK;
    }
    const uint32_t* high = bytes == 8 ? gcn_row(w, v + 1, half) : low;
    for (int l = 0; l < GRID_LANES; ++l) {
      uint64_t value = sdwa ? part_of(low[l], sdwa) : low[l];
      if (bytes == 8) value |= (uint64_t)high[l] << 32;
      if (bytes == 2 && i->op_sel >> n & 1) value >>= 16;
      memcpy((uint8_t*)room + l * bytes, &value, (size_t)bytes);
    }
  }
  if (neg || abs) modify(room, bytes, neg, abs);
  return GRID_OK;
}

static void scale(float* row, const gcn_insn* i) {
  static const float factors[] = {1, 2, 4, 0.5f};
  for (int l = 0; l < GRID_LANES; ++l) {
    if (i->omod) row[l] *= factors[i->omod];
    if (i->clamp) row[l] = row[l] > 0 ? row[l] < 1 ? row[l] : 1 : 0;
  }
}

void gcn__result(gcn_wave* w, const gcn_insn* i, uint32_t v, const void* row, int bytes, int half, uint32_t mask) {
  uint32_t *low = gcn_row(w, v, half), *high = gcn_row(w, v + (bytes == 8), half);
  w->v_pending[v] = w->l_pending[v] = 0;
  if (bytes == 8) w->v_pending[v + 1] = w->l_pending[v + 1] = 0;
  for (int l = 0; l < GRID_LANES; ++l) {
    if (!(mask >> l & 1)) continue;
    if (bytes == 4) {
      low[l] = ((const uint32_t*)row)[l];
    } else if (bytes == 2) {
      uint32_t h = ((const uint16_t*)row)[l];
      low[l] = i->op_sel & 8 ? (low[l] & 0xffff) | h << 16 : i->keeps ? (low[l] & 0xffff0000) | h : h;
    } else {
      low[l] = (uint32_t)((const uint64_t*)row)[l];
      high[l] = (uint32_t)(((const uint64_t*)row)[l] >> 32);
    }
  }
}

// A result that goes to a part of its register; the rest becomes 0, the part's sign, or stays. Returns its bytes then.
static int to_part(gcn_wave* w, const gcn_insn* i, void* row, int bytes, int half) {
  uint32_t which = (i->sdwa_to - 1) & 7, rest = (uint32_t)(i->sdwa_to - 1) >> 3, made[GRID_LANES];
  uint32_t bits = which < 4 ? 8 : 16, from = which < 4 ? 8 * which : 16 * (which - 4);
  uint32_t part = (UINT32_C(1) << bits) - 1, upper = from + bits < 32 ? UINT32_MAX << (from + bits) : 0;
  const uint32_t* old = gcn_row(w, i->d - GCN_V0, half);
  for (int l = 0; l < GRID_LANES; ++l) {
    uint32_t value = 0;
    memcpy(&value, (uint8_t*)row + l * bytes, (size_t)bytes);
    value &= part;
    made[l] = value << from;
    if (rest == 1 && value >> (bits - 1)) made[l] |= upper;
    if (rest == 2) made[l] |= old[l] & ~(part << from);
  }
  memcpy(row, made, sizeof made);
  return 4;
}

static int arithmetic(gcn_wave* w, const gcn_insn* i) {
  uint64_t exec = gcn_exec(w);
  uint32_t moved[GCN_LANES];
  int code = GRID_OK;
  if (i->dpp) {
    code = gcn__ready(w, i, i->s[0] - GCN_V0, 1);
    if (!code) code = dpp_row(w, i, moved, &exec);
    if (code) return code;
  }
  uint64_t choice = 0;
  if (i->store) { // of CHOOSE
    code = gcn__read_scalar(w, i, i->s[2], (int)w->halves, &choice);
    if (code) return code;
  }
  for (int half = 0; half < 2; ++half) {
    uint32_t mask = (uint32_t)(exec >> 32 * half);
    if (!mask) continue;
    uint64_t room[3][GRID_LANES], out[GRID_LANES];
    const void* rows[3] = {room[0], room[1], room[2]};
    int count = i->store ? 2 : i->row->size[3] ? 3 : i->row->size[2] ? 2 : 1;
    for (int n = 0; n < count; ++n) {
      int from = i->reversed && n < 2 ? 1 - n : n;
      code = gcn__source(w, i, from, i->row->size[n + 1], half, i->dpp ? moved : NULL, room[n], &rows[n]);
      if (code) return code;
    }
    uint32_t bits = (uint32_t)(choice >> 32 * half);
    if (i->store) {
      const void* first = rows[0];
      rows[0] = rows[1], rows[1] = first, rows[2] = &bits;
    }
    bool direct = mask == UINT32_MAX && i->row->size[0] == 4 && !i->omod && !i->clamp && !i->sdwa_to;
    uint32_t v = i->d - GCN_V0;
    if (direct) {
      w->v_pending[v] = w->l_pending[v] = 0;
      i->row->lanes(gcn_row(w, v, half), rows[0], rows[1], rows[2]);
      continue;
    }
    i->row->lanes(out, rows[0], rows[1], rows[2]);
    if (i->omod || i->clamp) scale((float*)out, i);
    int bytes = i->row->size[0];
    if (i->sdwa_to) bytes = to_part(w, i, out, bytes, half);
    gcn__result(w, i, v, out, bytes, half, mask);
  }
  ++w->pc;
  return GRID_OK;
}

static int compare(gcn_wave* w, const gcn_insn* i) {
  uint64_t exec = gcn_exec(w), result = 0;
  for (int half = 0; half < 2; ++half) {
    uint64_t room[2][GRID_LANES];
    const void* rows[2];
    uint32_t bits;
    if (!(uint32_t)(exec >> 32 * half)) continue;
    for (int n = 0; n < 2; ++n) {
      int code = gcn__source(w, i, n, i->row->size[n + 1], half, NULL, room[n], &rows[n]);
      if (code) return code;
    }
    i->row->lanes(&bits, rows[0], rows[1], NULL);
    result |= (uint64_t)bits << 32 * half;
  }
  result &= exec;
  if (i->store) gcn_put_mask(w, GCN_EXEC, result); // v_cmpx
  gcn_put_mask(w, i->d, result);
  ++w->pc;
  return GRID_OK;
}

// v_cmp{x}_CONDITION_TYPE
static bool comparison(gcn_insn* i) {
  static const char* const conditions[][2] = {{"lt", "lt"},   {"eq", "eq"},   {"le", "le"},   {"gt", "gt"},
                                              {"ge", "ge"},   {"o", "num"},   {"u", "nan"},   {"nge", "ltu"},
                                              {"nlg", "equ"}, {"ngt", "leu"}, {"nle", "gtu"}, {"neq", "neu"},
                                              {"nlt", "geu"}, {"ne", "ne"},   {"lg", "ne"}};
  static const char* const types[][2] = {{"f16", "f16"}, {"f32", "f32"}, {"f64", "f64"}, {"i16", "s16"}, {"u16", "u16"},
                                         {"i32", "s32"}, {"u32", "u32"}, {"i64", "s64"}, {"u64", "u64"}};
  const char* at = i->name + 5;
  if (strncmp(i->name, "v_cmp", 5)) return false;
  i->store = *at == 'x';
  at += i->store + 1;
  const char* type = strrchr(i->name, '_');
  char key[48];
  for (size_t c = 0; c < sizeof conditions / sizeof *conditions; ++c) {
    size_t length = strlen(conditions[c][0]);
    if ((size_t)(type - at) != length || memcmp(at, conditions[c][0], length)) continue;
    for (size_t t = 0; t < sizeof types / sizeof *types; ++t) {
      if (strcmp(type + 1, types[t][0])) continue;
      snprintf(key, sizeof key, "setp.%s.%s", conditions[c][1], types[t][1]);
      i->row = grid__lane_row(key);
      i->run = compare;
      return i->row && i->row->predicate && !i->dpp;
    }
  }
  return false;
}

static const struct {
  const char *name, *key;
  int how;
} vectors[] = {
#define VECTOR(name, key, how) {name, key, how},
#include "targets/control/grid/machine/gcn/vector.def"
#undef VECTOR
};

static bool floats(const char* key) { return strstr(key, ".f32") || strstr(key, ".f16") || strstr(key, ".f64"); }

bool gcn__vector(gcn_insn* i) {
  i->class = GRID_CLASS_INTEGER;
  if (i->encoding == GCN_VOPC && comparison(i)) return true;
  for (size_t k = 0; k < sizeof vectors / sizeof *vectors; ++k) {
    if (strcmp(vectors[k].name, i->name)) continue;
    int how = vectors[k].how;
    bool whole = !floats(vectors[k].key);
    if (whole && i->clamp != !!(how & CLAMPED)) continue;
    i->row = grid__lane_row(vectors[k].key);
    if (!i->row) return false;
    i->run = arithmetic;
    i->reversed = how & REVERSED;
    i->store = how & CHOOSE;
    if (how & SUM) i->s[2] = i->d;
    if (how & FIRST_CONSTANT) i->s[2] = i->s[1], i->s[1] = GCN_LITERAL;
    if (how & LAST_CONSTANT) i->s[2] = GCN_LITERAL;
    if (how & CHOOSE && !i->three) i->s[2] = GCN_VCC;
    if (i->encoding == GCN_VOP3P) i->op_sel = 0; // of dot products: they take whole registers
    if (how & CLAMPED) i->clamp = false;
    if ((i->clamp || i->omod) && (i->row->size[0] != 4 || whole)) return false;
    if (i->sdwa_to && i->row->size[0] == 8) return false;
    i->class = !strncmp(vectors[k].key, "fma", 3)   ? GRID_CLASS_FMA
               : !strncmp(vectors[k].key, "mov", 3) ? GRID_CLASS_MOVE
               : floats(vectors[k].key)             ? GRID_CLASS_FLOAT
                                                    : GRID_CLASS_INTEGER;
    return true;
  }
  return !i->sdwa_to && gcn__special(i);
}
