// Products of a warp and the loads of their fragments: 9.7.14 of the PTX ISA.
#include "targets/control/grid/machine/lanes/number.h"
#include "targets/control/grid/machine/ptx/decode.h"

#include <stdio.h>

// Shapes by the type of the factors; a register holds `per` of them.
static const struct {
  const char* type;
  grid_format format;
  int bits;
} factors[] = {{"f16", GRID_F16, 16}, {"bf16", GRID_BF16, 16}, {"tf32", GRID_TF32, 32},
               {"s8", GRID_S8, 8},    {"u8", GRID_U8, 8},      {"f64", GRID_F64, 64}};

static uint32_t* registers(ptx_decoder* d, uint32_t* list, const ptx_operand* o, int count, uint32_t bytes,
                           bool write) {
  const ptx_operand* parts = o->kind == PTX_OPERAND_VECTOR ? o->parts : o;
  int has = o->kind == PTX_OPERAND_VECTOR ? o->count : 1;
  if (has != count) ptx__wrong(d, "a fragment of %d registers, where %d are taken", has, count);
  for (int k = 0; k < count; ++k)
    *list++ = write ? ptx__destination(d, &parts[k], bytes) : ptx__source(d, &parts[k], bytes);
  return list;
}

// mma.sync.aligned.mMnNkK.row.col{.satfinite}.D.A.B.C d, a, b, c
static void product(ptx_decoder* d) {
  int m, n, k;
  if (!ptx__drop(d, "sync") || !ptx__drop(d, "aligned") || d->word_count < 8 ||
      sscanf(d->words[1], "m%dn%dk%d", &m, &n, &k) != 3)
    ptx__wrong(d, "a product that the machine does not know");
  bool saturate = ptx__drop(d, "satfinite");
  if (!ptx__drop(d, "row") || !ptx__drop(d, "col") || d->word_count != 6)
    ptx__wrong(d, "a product that the machine does not know");
  int a = -1, b = -1;
  for (int f = 0; f < (int)(sizeof factors / sizeof *factors); ++f) {
    if (!strcmp(factors[f].type, d->words[3])) a = f;
    if (!strcmp(factors[f].type, d->words[4])) b = f;
  }
  const char *result = d->words[2], *sum = d->words[5];
  bool whole = !strcmp(result, "s32"), half = !strcmp(result, "f16"), wide = !strcmp(result, "f64");
  bool known = a >= 0 && b >= 0 && factors[a].bits == factors[b].bits && !strcmp(result, sum) && n == 8 &&
               (whole  ? factors[a].bits == 8 && (k == 16 || k == 32) && m == 16
                : wide ? factors[a].bits == 64 && m == 8 && k == 4
                       : a == b && m == 16 && factors[a].bits >= 16 && factors[a].bits <= 32 &&
                             (half ? factors[a].format == GRID_F16 : !strcmp(result, "f32")) &&
                             (factors[a].bits == 16 ? k == 8 || k == 16 : k == 4 || k == 8));
  if (!known) ptx__wrong(d, "a product that the machine does not know");
  uint32_t* list = PB_NEW_ARRAY(d->r->arena, uint32_t, 32);
  int per = wide ? 1 : 32 / factors[a].bits;
  int count_a = m * k / 32 / per, count_b = n * k / 32 / per, count_c = m * n / 32 / (half ? 2 : 1);
  uint32_t bytes = wide ? 8 : 4;
  ptx__operands(d, 4, 4);
  uint32_t* at = registers(d, list, ptx__operand(d, 0), count_c, bytes, true);
  at = registers(d, at, ptx__operand(d, 1), count_a, bytes, false);
  at = registers(d, at, ptx__operand(d, 2), count_b, bytes, false);
  registers(d, at, ptx__operand(d, 3), count_c, bytes, false);
  d->class = GRID_CLASS_MATRIX;
  grid_insn* i = ptx__emit(d, GRID_OP_MMA);
  i->list = list;
  i->space = (uint8_t)factors[a].format;
  i->mode = (uint8_t)factors[b].format;
  i->count = (uint8_t)k;
  i->bytes = (uint8_t)m;
  i->flag = saturate;
  i->extend = half;
}

// ldmatrix and stmatrix, m8n8 of 16 bits.
static void fragment(ptx_decoder* d, bool load) {
  bool transposed = ptx__drop(d, "trans");
  int count = ptx__drop(d, "x1") ? 1 : ptx__drop(d, "x2") ? 2 : ptx__drop(d, "x4") ? 4 : 0;
  bool shared = ptx__drop(d, "shared") || ptx__drop(d, "shared::cta");
  if (!count || !ptx__drop(d, "sync") || !ptx__drop(d, "aligned") || !ptx__drop(d, "m8n8") || d->word_count != 2 ||
      strcmp(ptx__last(d), "b16"))
    ptx__wrong(d, "fragments that the machine does not know");
  ptx__operands(d, 2, 2);
  const ptx_operand *regs = ptx__operand(d, !load), *memory = ptx__operand(d, load);
  if (memory->kind != PTX_OPERAND_MEMORY) ptx__wrong(d, "an address in brackets must stand there");
  uint32_t* list = PB_NEW_ARRAY(d->r->arena, uint32_t, 4);
  registers(d, list, regs, count, 4, load);
  ptx_operand at = *memory->parts;
  at.offset = 0;
  uint32_t bytes = at.kind == PTX_OPERAND_REGISTER ? ptx__register_bytes(d, &at) : 8;
  uint32_t row = ptx__source(d, &at, bytes);
  d->class = GRID_CLASS_MEMORY;
  grid_insn* i = ptx__emit(d, load ? GRID_OP_LDMATRIX : GRID_OP_STMATRIX);
  i->list = list;
  i->count = (uint8_t)count;
  i->mode = transposed;
  i->a = row;
  i->flag = bytes == 4;
  i->offset = memory->parts->offset;
  i->space = shared ? GRID_SPACE_SHARED : GRID_SPACE_GENERIC;
  i->bytes = 16;
}

static void transpose(ptx_decoder* d) {
  ptx__operands(d, 2, 2);
  uint32_t a = ptx__source(d, ptx__operand(d, 1), 4), to = ptx__destination(d, ptx__operand(d, 0), 4);
  grid_insn* i = ptx__emit(d, GRID_OP_MOVMATRIX);
  i->d = to;
  i->a = a;
}

bool ptx__decode_matrix(ptx_decoder* d) {
  const char* op = d->words[0];
  if (!strcmp(op, "mma"))
    product(d);
  else if (!strcmp(op, "ldmatrix") || !strcmp(op, "stmatrix"))
    fragment(d, *op == 'l');
  else if (!strcmp(op, "movmatrix"))
    transpose(d);
  else
    return false;
  return true;
}
