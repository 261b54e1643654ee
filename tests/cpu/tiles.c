#include "tests/cpu/tiles.h"

#include <math.h>
#include <string.h>

// ---- decoding: VEX prefix of three bytes, opcode, ModRM, SIB, displacement ----

typedef struct vex {
  bool r, x, b; // fourth bits of ModRM.reg, SIB.index and SIB.base or ModRM.rm
  int vvvv;     // a third register
  int prefix;   // 0: none, 1: 66, 2: F3, 3: F2
  int opcode, mod, reg, rm;
} vex;

static bool read_vex(const uint8_t* bytes, vex* v) {
  enum { MAP_0F38 = 2 };
  if (bytes[0] != 0xC4 || (bytes[1] & 0x1F) != MAP_0F38 || bytes[2] & 0x84) return false; // W = 0, L = 0
  *v = (vex){.r = !(bytes[1] & 0x80),
             .x = !(bytes[1] & 0x40),
             .b = !(bytes[1] & 0x20),
             .vvvv = ~bytes[2] >> 3 & 15,
             .prefix = bytes[2] & 3,
             .opcode = bytes[3],
             .mod = bytes[4] >> 6,
             .reg = bytes[4] >> 3 & 7,
             .rm = bytes[4] & 7};
  return true;
}

static int64_t little_endian(const uint8_t* bytes, int count) {
  uint32_t value = 0;
  for (int k = 0; k < count; ++k) value |= (uint32_t)bytes[k] << 8 * k;
  return count == 1 ? (int8_t)value : (int32_t)value;
}

// The address behind ModRM; code->length is up to and with ModRM and grows by what follows.
static void read_address(const uint8_t* bytes, const vex* v, pb_tile_code* code) {
  int displacement = v->mod == 1 ? 1 : v->mod == 2 ? 4 : 0, base = v->rm;
  code->index = PB_TILE_NO_REGISTER;
  code->scale = 1;
  if (v->rm == 4) {
    int sib = bytes[code->length++], index = (sib >> 3 & 7) + 8 * v->x;
    code->scale = 1 << (sib >> 6);
    if (index != 4) code->index = index;
    base = sib & 7;
  }
  code->base = base + 8 * v->b;
  if (v->mod == 0 && base == 5) {
    code->base = v->rm == 4 ? PB_TILE_NO_REGISTER : PB_TILE_NEXT;
    displacement = 4;
  }
  code->displacement = displacement ? little_endian(bytes + code->length, displacement) : 0;
  code->length += displacement;
}

static bool decode_dot(const vex* v, pb_tile_code* code) {
  bool bf16 = v->opcode == 0x5C;
  if (v->mod != 3 || v->vvvv >= PB_TILES || v->r || v->b || (bf16 && v->prefix != 2)) return false;
  code->op = bf16 ? PB_TILE_DOT_BF16 : PB_TILE_DOT;
  code->a = v->rm;
  code->b = v->vvvv;
  code->a_is_signed = !bf16 && v->prefix & 2; // F3 and F2
  code->b_is_signed = !bf16 && v->prefix & 1; // 66 and F2
  return true;
}

bool pb_tile_decode(const uint8_t* bytes, pb_tile_code* code) {
  vex v;
  if (!read_vex(bytes, &v)) return false;
  *code = (pb_tile_code){.length = 5, .dest = v.reg, .base = PB_TILE_NO_REGISTER, .index = PB_TILE_NO_REGISTER};
  if (v.opcode == 0x5E || v.opcode == 0x5C) return decode_dot(&v, code);
  if (v.vvvv || v.r) return false;
  if (v.opcode == 0x49 && v.mod == 3) {
    if (v.rm != 0 || (v.prefix != 3 && (v.prefix != 0 || v.reg != 0))) return false;
    code->op = v.prefix == 3 ? PB_TILE_ZERO : PB_TILE_RELEASE;
    return true;
  }
  if (v.opcode == 0x49 && v.prefix == 0 && v.reg == 0) {
    code->op = PB_TILE_CONFIG;
    read_address(bytes, &v, code);
    return true;
  }
  if (v.opcode != 0x4B || v.mod == 3 || v.rm != 4 || v.prefix == 0) return false; // 66: a hint not to keep the lines
  code->op = v.prefix == 2 ? PB_TILE_STORE : PB_TILE_LOAD;
  read_address(bytes, &v, code);
  return true;
}

// ---- carrying out ----

static uint64_t value_of(const uint64_t* registers, int number, uint64_t next) {
  return number == PB_TILE_NO_REGISTER ? 0 : number == PB_TILE_NEXT ? next : registers[number];
}

static const char* configure(pb_tile_state* state, const uint8_t* at) {
  enum { ROW_BYTES_AT = 16, ROWS_AT = 48 };
  memset(state, 0, sizeof *state);
  if (at[0] == 0) return NULL; // palette 0: as before any configuration
  if (at[0] != 1) return "a palette other than 1";
  if (at[1] != 0) return "a start row";
  for (int k = 2; k < ROW_BYTES_AT; ++k)
    if (at[k]) return "reserved bytes that are not 0";
  for (int t = 0; t < PB_TILES; ++t) {
    state->row_bytes[t] = at[ROW_BYTES_AT + 2 * t] | at[ROW_BYTES_AT + 2 * t + 1] << 8;
    state->rows[t] = at[ROWS_AT + t];
    if (state->row_bytes[t] > PB_TILE_ROW_BYTES || state->rows[t] > PB_TILE_ROWS) return "a tile that is too large";
    if (!state->row_bytes[t] != !state->rows[t]) return "a tile with rows of nothing";
  }
  state->configured = true;
  return NULL;
}

static const char* move(pb_tile_state* state, const pb_tile_code* code, uint8_t* address, uint64_t stride) {
  int tile = code->dest, bytes = state->row_bytes[tile];
  for (int row = 0; row < PB_TILE_ROWS; ++row) {
    bool there = row < state->rows[tile];
    uint8_t *mine = state->data[tile][row], *memory = address + (uint64_t)row * stride;
    if (code->op == PB_TILE_STORE) {
      if (there) memcpy(memory, mine, (size_t)bytes);
      continue;
    }
    memset(mine, 0, PB_TILE_ROW_BYTES);
    if (there) memcpy(mine, memory, (size_t)bytes);
  }
  return NULL;
}

static int factor(uint8_t byte, bool is_signed) { return is_signed ? (int8_t)byte : byte; }

static const char* misfit(const pb_tile_state* state, const pb_tile_code* code) {
  int d = code->dest, a = code->a, b = code->b;
  if (d == a || d == b || a == b) return "a product with one tile twice";
  if (state->row_bytes[d] % 4 || state->row_bytes[a] % 4 || state->rows[d] != state->rows[a] ||
      state->row_bytes[d] != state->row_bytes[b] || state->row_bytes[a] != 4 * state->rows[b])
    return "a product of tiles that do not fit together";
  return NULL;
}

// What is below the least normal number counts as 0, in factors, sums and results.
static float flushed(float number) { return fabsf(number) < 0x1p-126f ? copysignf(0, number) : number; }

static float bf16_at(const uint8_t* row, int k) {
  uint32_t bits = ((uint32_t)row[2 * k] | (uint32_t)row[2 * k + 1] << 8) << 16;
  float number;
  memcpy(&number, &bits, sizeof number);
  return flushed(number);
}

// Even and odd products are summed apart; their sum is added to what was there.
static const char* dot_bf16(pb_tile_state* state, const pb_tile_code* code) {
  int d = code->dest, a = code->a, b = code->b;
  for (int m = 0; m < state->rows[d]; ++m)
    for (int n = 0; n < state->row_bytes[d] / 4; ++n) {
      float sums[2] = {0, 0}, old;
      for (int k = 0; k < state->rows[b]; ++k)
        for (int g = 0; g < 2; ++g)
          sums[g] =
              flushed(fmaf(bf16_at(state->data[a][m], 2 * k + g), bf16_at(state->data[b][k], 2 * n + g), sums[g]));
      memcpy(&old, &state->data[d][m][4 * n], sizeof old);
      old = flushed(flushed(old) + flushed(sums[0] + sums[1]));
      memcpy(&state->data[d][m][4 * n], &old, sizeof old);
    }
  for (int m = state->rows[d]; m < PB_TILE_ROWS; ++m) memset(state->data[d][m], 0, PB_TILE_ROW_BYTES);
  return NULL;
}

static const char* dot(pb_tile_state* state, const pb_tile_code* code) {
  int d = code->dest, a = code->a, b = code->b;
  for (int m = 0; m < state->rows[d]; ++m) {
    uint32_t sums[PB_TILE_ROW_BYTES / 4];
    memcpy(sums, state->data[d][m], sizeof sums);
    for (int k = 0; k < state->rows[b]; ++k)
      for (int n = 0; n < state->row_bytes[d] / 4; ++n)
        for (int j = 0; j < 4; ++j)
          sums[n] += (uint32_t)(factor(state->data[a][m][4 * k + j], code->a_is_signed) *
                                factor(state->data[b][k][4 * n + j], code->b_is_signed));
    memcpy(state->data[d][m], sums, (size_t)state->row_bytes[d]);
  }
  for (int m = state->rows[d]; m < PB_TILE_ROWS; ++m) memset(state->data[d][m], 0, PB_TILE_ROW_BYTES);
  return NULL;
}

const char* pb_tile_execute(pb_tile_state* state, const pb_tile_code* code, const uint64_t registers[16],
                            uint64_t next) {
  uint64_t index = value_of(registers, code->index, next) * (uint64_t)code->scale;
  uint64_t address = value_of(registers, code->base, next) + (uint64_t)code->displacement;
  if (code->op == PB_TILE_CONFIG) return configure(state, (const uint8_t*)(uintptr_t)(address + index));
  if (code->op == PB_TILE_RELEASE) {
    memset(state, 0, sizeof *state);
    return NULL;
  }
  if (!state->configured) return "tiles that are not configured";
  if (!state->rows[code->dest]) return "a tile that is not configured";
  bool multiplies = code->op == PB_TILE_DOT || code->op == PB_TILE_DOT_BF16;
  if (multiplies && misfit(state, code)) return misfit(state, code);
  if (multiplies) return code->op == PB_TILE_DOT ? dot(state, code) : dot_bf16(state, code);
  if (code->op == PB_TILE_ZERO) {
    memset(state->data[code->dest], 0, sizeof state->data[code->dest]);
    return NULL;
  }
  return move(state, code, (uint8_t*)(uintptr_t)address, index);
}
