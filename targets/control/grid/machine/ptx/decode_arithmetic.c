// What lanes.def says by itself: 9.7.1 to 9.7.8 of the PTX ISA. The decoder takes rounding, saturation and flushing
// off.
#include "targets/control/grid/machine/ptx/decode.h"

#include <stdio.h>

typedef struct modifiers {
  int round;
  bool flush, saturate, relu;
} modifiers;

static modifiers take(ptx_decoder* d) {
  static const char* const rounds[] = {"rn", "rz", "rm", "rp"};
  modifiers m = {0};
  for (int k = 0; k < 4; ++k)
    if (ptx__drop(d, rounds[k])) m.round = k;
  ptx__drop(d, "approx");
  ptx__drop(d, "full");
  m.flush = ptx__drop(d, "ftz");
  const char* type = ptx__last(d);
  if (*type == 'f' && ptx__drop(d, "sat")) m.saturate = true;
  m.relu = ptx__drop(d, "relu");
  return m;
}

// The row of the words that are left; its type by bits where signs do not matter.
static const grid_lane_row* find(const ptx_decoder* d, bool flush, char* key, size_t size) {
  const char* op = !strcmp(d->words[0], "mad") && *ptx__last(d) == 'f' ? "fma" : d->words[0];
  for (int as_bits = 0; as_bits < 2; ++as_bits) {
    int at = snprintf(key, size, "%s", op);
    for (int k = 1; k < d->word_count && at < (int)size; ++k) {
      const char* word = d->words[k];
      bool last = k == d->word_count - 1;
      if (last && flush) at += snprintf(key + at, size - (size_t)at, ".ftz");
      if (at >= (int)size) return NULL;
      bool bare = !strcmp(op, "slct") ? k == 1 : last; // its type says only how wide it is
      if (bare && as_bits && (*word == 'u' || *word == 's' || *word == 'f'))
        at += snprintf(key + at, size - (size_t)at, ".b%s", word + 1);
      else
        at += snprintf(key + at, size - (size_t)at, ".%s", !strcmp(word, "NaN") ? "nan" : word);
    }
    if (at >= (int)size) return NULL;
    const grid_lane_row* row = grid__lane_row(key);
    if (row) return row;
  }
  return NULL;
}

static void insert_field(ptx_decoder* d) { // bfi d, a, b, start, length
  ptx__operands(d, 5, 5);
  uint32_t packed = ptx__row(d, 8), s[4];
  for (int k = 0; k < 4; ++k) s[k] = ptx__source(d, ptx__operand(d, k + 1), 4);
  uint32_t to = ptx__destination(d, ptx__operand(d, 0), 4);
  ptx__lanes(d, "bfi.b32", packed, s[0], s[2], s[3]);
  ptx__lanes(d, "bfi.put.b32", to, s[1], packed, 0);
}

// add.cc, addc{.cc}, sub.cc, subc{.cc}, mad.lo|hi.cc, madc.lo|hi{.cc}: a sum with the carry of CC.
static bool carries(ptx_decoder* d) {
  const char* op = d->words[0];
  bool in = !strcmp(op, "addc") || !strcmp(op, "subc") || !strcmp(op, "madc"), out = ptx__drop(d, "cc");
  if (!in && !out) return false;
  const char* type = ptx__last(d);
  uint32_t bytes = ptx__type_bytes(type);
  if (bytes != 4 && bytes != 8) ptx__wrong(d, "a carry that the machine does not know");
  if (d->carry == GRID_NONE) d->carry = ptx__row(d, 4);
  uint32_t carry = in ? d->carry : ptx__constant(d, 0, 4), a, b;
  if (*op == 'm') {
    ptx__operands(d, 4, 4);
    char key[32];
    snprintf(key, sizeof key, "mul.%s.%s", ptx__drop(d, "hi") ? "hi" : "lo", type);
    uint32_t x = ptx__source(d, ptx__operand(d, 1), bytes), y = ptx__source(d, ptx__operand(d, 2), bytes);
    a = ptx__row(d, bytes);
    ptx__lanes(d, key, a, x, y, 0);
    b = ptx__source(d, ptx__operand(d, 3), bytes);
  } else {
    ptx__operands(d, 3, 3);
    a = ptx__source(d, ptx__operand(d, 1), bytes);
    b = ptx__source(d, ptx__operand(d, 2), bytes);
  }
  const char* sum = *op == 's' ? "subc" : "addc";
  char key[32];
  uint32_t next = ptx__row(d, 4), to = ptx__destination(d, ptx__operand(d, 0), bytes);
  if (out) {
    snprintf(key, sizeof key, "%s.carry.u%u", sum, 8 * bytes);
    ptx__lanes(d, key, next, a, b, carry);
  }
  snprintf(key, sizeof key, "%s.u%u", sum, 8 * bytes);
  ptx__lanes(d, key, to, a, b, carry);
  if (out) ptx__lanes(d, "mov.b32", d->carry, next, 0, 0);
  return true;
}

bool ptx__decode_arithmetic(ptx_decoder* d) {
  const char* op = d->words[0];
  if (d->word_count < 2) return false;
  if (!strcmp(op, "bfi") && !strcmp(ptx__last(d), "b32")) {
    insert_field(d);
    return true;
  }
  if (carries(d)) return true;
  modifiers m = take(d);
  if (!strcmp(op, "shf") || !strcmp(op, "prmt")) m.round = 0;
  char key[80];
  const grid_lane_row* row = find(d, m.flush, key, sizeof key);
  bool flush = m.flush && !row;
  if (flush) row = find(d, false, key, sizeof key);
  if (!row || row->predicate) return false;
  const char* type = ptx__last(d);
  bool is_float = *type == 'f' || !strncmp(type, "bf", 2);
  d->class = !is_float                                  ? GRID_CLASS_INTEGER
             : !strcmp(op, "fma") || !strcmp(op, "mad") ? GRID_CLASS_FMA
                                                        : GRID_CLASS_FLOAT;
  int sources = row->size[3] ? 3 : row->size[2] ? 2 : 1;
  ptx__operands(d, sources + 1, sources + 1);
  uint32_t s[3] = {0};
  for (int k = 0; k < sources; ++k) s[k] = ptx__source(d, ptx__operand(d, k + 1), row->size[k + 1]);
  uint32_t to = ptx__destination(d, ptx__operand(d, 0), row->size[0]);
  for (int k = 0; k < sources && flush; ++k) {
    if (row->size[k + 1] != 4) continue;
    uint32_t flushed = ptx__row(d, 4);
    ptx__lanes(d, "ftz.f32", flushed, s[k], 0, 0);
    s[k] = flushed;
  }
  ptx__lanes(d, key, to, s[0], s[1], s[2]);
  d->k->code[d->k->count - 1].round = (uint8_t)m.round;
  if (flush && row->size[0] == 4 && !strcmp(type, "f32")) ptx__lanes(d, "ftz.f32", to, to, 0, 0);
  if (m.saturate) {
    if (strcmp(type, "f32")) ptx__wrong(d, ".sat of this type: the machine does not know it");
    ptx__lanes(d, "sat.f32", to, to, 0, 0);
  }
  if (m.relu) {
    snprintf(key, sizeof key, "relu.%s", type);
    ptx__lanes(d, key, to, to, 0, 0);
  }
  return true;
}
