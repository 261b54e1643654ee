// Predicates, moves and selection: 9.7.6, 9.7.8 and 9.7.9 of the PTX ISA.
#include "targets/control/grid/machine/ptx/decode.h"

#include <stdio.h>

static bool is_predicate(const ptx_operand* o) {
  return o->kind == PTX_OPERAND_REGISTER && !strcmp(o->variable->type, "pred");
}

// setp.cmp{.bool}{.ftz}.type p{|q}, a, b{, c}
static void compare(ptx_decoder* d) {
  ptx__operands(d, 3, 4);
  bool flush = ptx__drop(d, "ftz");
  int mode = d->s->count == 4 ? (ptx__drop(d, "and")   ? PTX_AND
                                 : ptx__drop(d, "or")  ? PTX_OR
                                 : ptx__drop(d, "xor") ? PTX_XOR
                                                       : -1)
                              : PTX_COPY;
  if (mode < 0) ptx__wrong(d, "and, or or xor must stand there");
  if (d->word_count != 3) ptx__wrong(d, "a comparison that the machine does not know");
  char key[64];
  snprintf(key, sizeof key, "setp.%s.%s", d->words[1], d->words[2]);
  const grid_lane_row* row = grid__lane_row(key);
  if (!row) ptx__wrong(d, "a comparison that the machine does not know");
  d->class = *d->words[2] == 'f' || !strncmp(d->words[2], "bf", 2) ? GRID_CLASS_FLOAT : GRID_CLASS_INTEGER;
  uint32_t a = ptx__source(d, ptx__operand(d, 1), row->size[1]), b = ptx__source(d, ptx__operand(d, 2), row->size[2]);
  if (flush) {
    uint32_t fa = ptx__row(d, 4), fb = ptx__row(d, 4);
    ptx__lanes(d, "ftz.f32", fa, a, 0, 0);
    ptx__lanes(d, "ftz.f32", fb, b, 0, 0);
    a = fa, b = fb;
  }
  const ptx_operand* to = ptx__operand(d, 0);
  uint32_t p = ptx__destination(d, to->kind == PTX_OPERAND_PAIR ? &to->parts[0] : to, 0);
  uint32_t q = to->kind == PTX_OPERAND_PAIR ? ptx__destination(d, &to->parts[1], 0) : GRID_NONE;
  if (mode == PTX_COPY && q == GRID_NONE) {
    ptx__lanes(d, key, p, a, b, 0);
    return;
  }
  uint32_t c = mode == PTX_COPY ? 0 : ptx__source(d, ptx__operand(d, 3), 0), t = ptx__row(d, 0);
  if (mode != PTX_COPY) { // c may be p or q
    uint32_t kept = ptx__row(d, 0);
    ptx__logic(d, PTX_COPY, kept, c, 0);
    c = kept;
  }
  ptx__lanes(d, key, t, a, b, 0);
  ptx__logic(d, mode, p, t, c);
  if (q != GRID_NONE) ptx__logic(d, mode | PTX_NOT_A, q, t, c);
}

static void logic(ptx_decoder* d) {
  const char* op = d->words[0];
  int mode = !strcmp(op, "and") ? PTX_AND : !strcmp(op, "or") ? PTX_OR : !strcmp(op, "xor") ? PTX_XOR : PTX_COPY;
  if (!strcmp(op, "not")) mode |= PTX_NOT_A;
  bool two = (mode & 3) != PTX_COPY;
  ptx__operands(d, 2 + two, 2 + two);
  uint32_t a = ptx__source(d, ptx__operand(d, 1), 0), b = two ? ptx__source(d, ptx__operand(d, 2), 0) : 0;
  ptx__logic(d, mode, ptx__destination(d, ptx__operand(d, 0), 0), a, b);
}

static void pack(ptx_decoder* d, const ptx_operand* to, const ptx_operand* from, uint32_t bytes) {
  uint32_t part = bytes / (uint32_t)from->count, rows[4];
  if ((from->count != 2 && from->count != 4) || part < 2 || bytes > 8)
    ptx__wrong(d, "%d parts of %u bits", from->count, 8 * bytes);
  for (int k = 0; k < from->count; ++k) rows[k] = ptx__source(d, &from->parts[k], part);
  uint32_t out = ptx__destination(d, to, bytes);
  if (from->count == 2) {
    ptx__lanes(d, bytes == 4 ? "pack.b32" : "pack.b64", out, rows[0], rows[1], 0);
    return;
  }
  uint32_t low = ptx__row(d, 4), high = ptx__row(d, 4);
  ptx__lanes(d, "pack.b32", low, rows[0], rows[1], 0);
  ptx__lanes(d, "pack.b32", high, rows[2], rows[3], 0);
  ptx__lanes(d, "pack.b64", out, low, high, 0);
}

static void unpack(ptx_decoder* d, const ptx_operand* to, const ptx_operand* from, uint32_t bytes) {
  uint32_t part = bytes / (uint32_t)to->count;
  if ((to->count != 2 && to->count != 4) || part < 2 || bytes > 8)
    ptx__wrong(d, "%d parts of %u bits", to->count, 8 * bytes);
  uint32_t in = ptx__source(d, from, bytes), rows[4];
  for (int k = 0; k < to->count; ++k) rows[k] = ptx__destination(d, &to->parts[k], part);
  // A part may be a source's own row only where the widths are one, which they are not.
  if (to->count == 2) {
    if (to->parts[0].kind != PTX_OPERAND_SINK) ptx__lanes(d, bytes == 4 ? "low.b32" : "low.b64", rows[0], in, 0, 0);
    if (to->parts[1].kind != PTX_OPERAND_SINK) ptx__lanes(d, bytes == 4 ? "high.b32" : "high.b64", rows[1], in, 0, 0);
    return;
  }
  uint32_t low = ptx__row(d, 4), high = ptx__row(d, 4);
  ptx__lanes(d, "low.b64", low, in, 0, 0);
  ptx__lanes(d, "high.b64", high, in, 0, 0);
  for (int k = 0; k < 4; ++k) ptx__lanes(d, k & 1 ? "high.b32" : "low.b32", rows[k], k < 2 ? low : high, 0, 0);
}

static void move(ptx_decoder* d) {
  ptx__operands(d, 2, 2);
  if (d->word_count != 2) ptx__wrong(d, "a move that the machine does not know");
  const ptx_operand *to = ptx__operand(d, 0), *from = ptx__operand(d, 1);
  uint32_t bytes = ptx__type_bytes(ptx__last(d));
  d->class = GRID_CLASS_MOVE;
  if (!strcmp(ptx__last(d), "pred")) {
    logic(d);
  } else if (from->kind == PTX_OPERAND_VECTOR) {
    pack(d, to, from, bytes);
  } else if (to->kind == PTX_OPERAND_VECTOR) {
    unpack(d, to, from, bytes);
  } else {
    if (bytes != 2 && bytes != 4 && bytes != 8) ptx__wrong(d, "a move that the machine does not know");
    ptx_operand whole = *from; // variable + offset is an address
    uint32_t in = ptx__source(d, &whole, bytes);
    ptx__lanes(d,
               bytes == 2   ? "mov.b16"
               : bytes == 4 ? "mov.b32"
                            : "mov.b64",
               ptx__destination(d, to, bytes), in, 0, 0);
  }
}

static void select(ptx_decoder* d) {
  ptx__operands(d, 4, 4);
  uint32_t bytes = ptx__type_bytes(ptx__last(d));
  if (d->word_count != 2 || (bytes != 2 && bytes != 4 && bytes != 8))
    ptx__wrong(d, "a selection that the machine does not know");
  uint32_t a = ptx__source(d, ptx__operand(d, 1), bytes), b = ptx__source(d, ptx__operand(d, 2), bytes);
  uint32_t c = ptx__source(d, ptx__operand(d, 3), 0);
  ptx__lanes(d,
             bytes == 2   ? "selp.b16"
             : bytes == 4 ? "selp.b32"
                          : "selp.b64",
             ptx__destination(d, ptx__operand(d, 0), bytes), a, b, c);
}

// isspacep.space and testp.what: a predicate of one source.
static void test(ptx_decoder* d) {
  ptx__operands(d, 2, 2);
  if (!strcmp(d->words[0], "isspacep") && ptx__drop(d, "shared::cta")) d->words[d->word_count++] = "shared";
  char key[64];
  snprintf(key, sizeof key, "%s.%s%s%s", d->words[0], d->words[1], d->word_count > 2 ? "." : "",
           d->word_count > 2 ? d->words[2] : "");
  const grid_lane_row* row = grid__lane_row(key);
  if (!row) ptx__wrong(d, "a test that the machine does not know");
  uint32_t a = ptx__source(d, ptx__operand(d, 1), row->size[1]);
  ptx__lanes(d, key, ptx__destination(d, ptx__operand(d, 0), 0), a, a, 0);
}

// lop3.b32 d, a, b, c, table
static void table(ptx_decoder* d) {
  ptx__operands(d, 5, 5);
  if (d->word_count != 2) ptx__wrong(d, "a lop3 that the machine does not know");
  uint32_t a = ptx__source(d, ptx__operand(d, 1), 4), b = ptx__source(d, ptx__operand(d, 2), 4),
           c = ptx__source(d, ptx__operand(d, 3), 4);
  if (ptx__operand(d, 4)->kind != PTX_OPERAND_INTEGER || ptx__operand(d, 4)->bits > 255)
    ptx__wrong(d, "its table has 8 bits");
  uint32_t to = ptx__destination(d, ptx__operand(d, 0), 4);
  grid_insn* i = ptx__emit(d, GRID_OP_LUT);
  i->size = 4;
  i->d = to;
  i->a = a;
  i->b = b;
  i->c = c;
  i->mode = (uint8_t)ptx__operand(d, 4)->bits;
}

bool ptx__decode_move(ptx_decoder* d) {
  const char* op = d->words[0];
  if (!strcmp(op, "setp"))
    compare(d);
  else if (!strcmp(op, "mov"))
    move(d);
  else if (!strcmp(op, "selp"))
    select(d);
  else if (!strcmp(op, "lop3"))
    table(d);
  else if (!strcmp(op, "isspacep") || !strcmp(op, "testp"))
    test(d);
  else if (d->s->count && is_predicate(&d->s->operands[0]) &&
           (!strcmp(op, "and") || !strcmp(op, "or") || !strcmp(op, "xor") || !strcmp(op, "not")))
    logic(d);
  else
    return false;
  return true;
}
