// cvt (9.7.9 of the PTX ISA): integers by extension, what loops are full of by rows of lanes.def, the rest by number.c.
#include "targets/control/grid/machine/lanes/number.h"
#include "targets/control/grid/machine/ptx/decode.h"

#include <stdio.h>

static int format_of(const char* type) {
  static const struct {
    const char* type;
    grid_format format;
  } types[] = {{"u8", GRID_U8},     {"s8", GRID_S8},   {"u16", GRID_U16}, {"s16", GRID_S16}, {"u32", GRID_U32},
               {"s32", GRID_S32},   {"u64", GRID_U64}, {"s64", GRID_S64}, {"f16", GRID_F16}, {"bf16", GRID_BF16},
               {"tf32", GRID_TF32}, {"f32", GRID_F32}, {"f64", GRID_F64}};
  for (size_t k = 0; k < sizeof types / sizeof *types; ++k)
    if (!strcmp(types[k].type, type)) return (int)types[k].format;
  return -1;
}

typedef struct conversion {
  int round, flags;
  bool integral; // rounds to a whole number
} conversion;

static conversion take(ptx_decoder* d) {
  static const char* const rounds[] = {"rn", "rz", "rm", "rp", "rna"};
  static const char* const whole[] = {"rni", "rzi", "rmi", "rpi"};
  conversion c = {0};
  for (int k = 0; k < 5; ++k)
    if (ptx__drop(d, rounds[k])) c.round = k;
  for (int k = 0; k < 4; ++k)
    if (ptx__drop(d, whole[k])) c.round = k, c.integral = true;
  if (ptx__drop(d, "ftz")) c.flags |= GRID_FLUSH;
  if (ptx__drop(d, "sat") || ptx__drop(d, "satfinite")) c.flags |= GRID_SATURATE;
  if (ptx__drop(d, "relu")) c.flags |= GRID_RELU;
  return c;
}

static void by_number(ptx_decoder* d, const conversion* c, uint32_t to, uint32_t size, int dst, uint32_t from,
                      uint32_t bytes, int src) {
  grid_insn* i = ptx__emit(d, GRID_OP_CONVERT);
  i->d = to;
  i->size = (uint8_t)size;
  i->a = from;
  i->bytes = (uint8_t)bytes;
  i->space = (uint8_t)src;
  i->mode = (uint8_t)dst;
  i->round = (uint8_t)c->round;
  i->count = (uint8_t)c->flags;
}

// Two f32 into a pair of narrower floats; the first source is the upper one.
static void pair(ptx_decoder* d, const conversion* c, const char* type) {
  uint32_t to = ptx__destination(d, ptx__operand(d, 0), 4);
  uint32_t a = ptx__source(d, ptx__operand(d, 1), 4), b = ptx__source(d, ptx__operand(d, 2), 4);
  bool bfloat = *type == 'b';
  if (!c->round && !c->flags) {
    ptx__lanes(d, bfloat ? "cvt.bf16x2.f32" : "cvt.f16x2.f32", to, a, b, 0);
    return;
  }
  uint32_t high = ptx__row(d, 2), low = ptx__row(d, 2);
  by_number(d, c, high, 2, bfloat ? GRID_BF16 : GRID_F16, a, 4, GRID_F32);
  by_number(d, c, low, 2, bfloat ? GRID_BF16 : GRID_F16, b, 4, GRID_F32);
  ptx__lanes(d, "pack.b32", to, low, high, 0);
}

static uint32_t operand_bytes(ptx_decoder* d, const ptx_operand* o, int format) {
  uint32_t bytes = (uint32_t)grid__format_bytes((grid_format)format);
  if (o->kind != PTX_OPERAND_REGISTER) return bytes < 2 ? 2 : bytes;
  uint32_t has = ptx__register_bytes(d, o);
  if (has < bytes) ptx__wrong(d, "%s is narrower than its type", o->name);
  return has;
}

static void integers(ptx_decoder* d, uint32_t to, uint32_t size, int dst, uint32_t from, uint32_t bytes, int src) {
  static const char* const names[] = {"u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64"};
  int d_bytes = grid__format_bytes((grid_format)dst), s_bytes = grid__format_bytes((grid_format)src);
  int effective = d_bytes <= s_bytes ? dst : src;
  // A signed source in an unsigned type of a wider register: the type's width ends its sign.
  if (d_bytes > s_bytes && (src & 1) && !(dst & 1) && size > (uint32_t)d_bytes) {
    uint32_t middle = ptx__row(d, size);
    ptx__extend(d, middle, size, from, bytes, names[src]);
    ptx__extend(d, to, size, middle, size, names[dst]);
    return;
  }
  ptx__extend(d, to, size, from, bytes, names[effective]);
}

bool ptx__decode_convert(ptx_decoder* d) {
  if (strcmp(d->words[0], "cvt")) return false;
  d->class = GRID_CLASS_MOVE;
  conversion c = take(d);
  if (d->word_count == 4 && !strcmp(d->words[1], "pack")) return false;
  if (d->word_count != 3) ptx__wrong(d, "a conversion that the machine does not know");
  const char *to_type = d->words[1], *from_type = d->words[2];
  if ((!strcmp(to_type, "f16x2") || !strcmp(to_type, "bf16x2")) && !strcmp(from_type, "f32")) {
    ptx__operands(d, 3, 3);
    pair(d, &c, to_type);
    return true;
  }
  ptx__operands(d, 2, 2);
  int dst = format_of(to_type), src = format_of(from_type);
  if (dst < 0 || src < 0) ptx__wrong(d, "a conversion that the machine does not know");
  const ptx_operand *out = ptx__operand(d, 0), *in = ptx__operand(d, 1);
  uint32_t size = operand_bytes(d, out, dst), bytes = operand_bytes(d, in, src);
  uint32_t from = ptx__source(d, in, bytes), to = ptx__destination(d, out, size);
  if (dst <= GRID_S64 && src <= GRID_S64 && !c.flags) {
    integers(d, to, size, dst, from, bytes, src);
    return true;
  }
  char key[64];
  static const char* const whole[] = {"rni.", "rzi.", "rmi.", "rpi."};
  snprintf(key, sizeof key, "cvt.%s%s.%s", c.integral ? whole[c.round] : "", to_type, from_type);
  const grid_lane_row* row = c.flags || (c.round && !c.integral) ? NULL : grid__lane_row(key);
  if (row && row->size[0] == size && row->size[1] == bytes) {
    ptx__lanes(d, key, to, from, 0, 0);
    return true;
  }
  if (c.integral && dst >= GRID_F16) c.flags |= GRID_INTEGRAL;
  by_number(d, &c, to, size, dst, from, bytes, src);
  return true;
}
