// A command is a number. Commands i, i + L, i + 2L, ... that differ by one constant step, for each i of a body of L
// commands, are iterations of a loop: fields, waits and signals alike, whatever they mean. Bodies are found greedily
// from the front, of all lengths that the chip allows the one that saves most words.
#include "targets/control/queues/reroll.h"

#include <string.h>

typedef struct number {
  uint64_t limb[PB_COMMAND_BITS / 64];
} number;

typedef struct reroller {
  const pb_chip* chip;
  uint8_t* words;
  size_t count, bytes;
  int limbs;
} reroller;

// Little-endian, in a form that compilers take as one load.
static uint64_t limb_at(const uint8_t* b) {
  return (uint64_t)b[0] | (uint64_t)b[1] << 8 | (uint64_t)b[2] << 16 | (uint64_t)b[3] << 24 | (uint64_t)b[4] << 32 |
         (uint64_t)b[5] << 40 | (uint64_t)b[6] << 48 | (uint64_t)b[7] << 56;
}

static number word(const reroller* r, size_t at) {
  number n = {{0}};
  const uint8_t* from = r->words + at * r->bytes;
  size_t whole = r->bytes / 8;
  for (size_t l = 0; l < whole; ++l) n.limb[l] = limb_at(from + l * 8);
  for (size_t k = whole * 8; k < r->bytes; ++k) n.limb[whole] |= (uint64_t)from[k] << k % 8 * 8;
  return n;
}

static number difference(const reroller* r, size_t to, size_t from) {
  number a = word(r, to), b = word(r, from), d = {{0}};
  uint64_t borrow = 0;
  for (int k = 0; k < r->limbs; ++k) {
    uint64_t middle = a.limb[k] - b.limb[k];
    d.limb[k] = middle - borrow;
    borrow = (a.limb[k] < b.limb[k]) | (middle < borrow);
  }
  if (r->bytes % 8) d.limb[r->limbs - 1] &= ((uint64_t)1 << r->bytes % 8 * 8) - 1;
  return d;
}

static bool same(const reroller* r, const number* a, const number* b) {
  return memcmp(a->limb, b->limb, (size_t)r->limbs * sizeof *a->limb) == 0;
}

static uint64_t low(const reroller* r, size_t at) { return limb_at(r->words + at * r->bytes); }

// Whether the first command of a body can be there a third time, by its low bytes alone: for most lengths it cannot.
static bool may_repeat(const reroller* r, size_t at, size_t length) {
  if (r->bytes < 8) return true;
  uint64_t a = low(r, at), b = low(r, at + length), c = low(r, at + 2 * length);
  return c - b == b - a;
}

// How many iterations of a body of `length` commands begin at `at`.
static size_t turns_of(const reroller* r, size_t at, size_t length, size_t most) {
  number steps[PB_MAX_LOOP_BODY];
  if (at + 2 * length > r->count) return 1;
  size_t iterations = 2;
  if (at + 3 * length <= r->count && !may_repeat(r, at, length)) return iterations;
  for (; iterations < most && at + (iterations + 1) * length <= r->count; ++iterations)
    for (size_t k = 0; k < length; ++k) {
      size_t now = at + iterations * length + k;
      number step = difference(r, now, now - length);
      if (iterations == 2) steps[k] = difference(r, at + length + k, at + k);
      if (!same(r, &step, &steps[k])) return iterations;
    }
  return iterations;
}

static void put(reroller* r, size_t to, const number* n) {
  for (size_t k = 0; k < r->bytes; ++k) r->words[to * r->bytes + k] = (uint8_t)(n->limb[k / 8] >> k % 8 * 8);
}

// Writes header and pairs to `to`, which is not behind `at`: a loop is shorter than what it stands for.
static size_t write_loop(reroller* r, size_t to, size_t at, size_t length, size_t iterations) {
  number pairs[2 * PB_MAX_LOOP_BODY];
  for (size_t k = 0; k < length; ++k) {
    pairs[2 * k] = word(r, at + k);
    pairs[2 * k + 1] = difference(r, at + length + k, at + k);
  }
  pb_command header = {.insn = r->chip->loop};
  header.values[r->chip->loop_iterations] = (int64_t)iterations;
  header.values[r->chip->loop_body] = (int64_t)length;
  if (pb_encode(r->chip, &header, r->words + to * r->bytes, NULL) != PB_OK) return 0;
  for (size_t k = 0; k < 2 * length; ++k) put(r, to + 1 + k, &pairs[k]);
  return 1 + 2 * length;
}

size_t pb_reroll(const pb_chip* chip, uint8_t* words, size_t count) {
  if (!chip->loop) return count;
  reroller r = {.chip = chip, .words = words, .count = count, .bytes = (size_t)chip->command_bytes};
  r.limbs = (int)((r.bytes + 7) / 8);
  size_t most = (size_t)pb_field_max(&chip->loop->fields[chip->loop_iterations]), to = 0;
  for (size_t at = 0; at < count;) {
    size_t length = 0, iterations = 0, saved = 0;
    for (size_t l = 1; l <= (size_t)chip->loop_most; ++l) {
      size_t t = turns_of(&r, at, l, most), words_then = 1 + 2 * l;
      if (t * l <= words_then + saved) continue;
      saved = t * l - words_then, length = l, iterations = t;
    }
    size_t written = saved ? write_loop(&r, to, at, length, iterations) : 0;
    if (written) {
      to += written;
      at += iterations * length;
      continue;
    }
    if (to != at) memmove(words + to * r.bytes, words + at * r.bytes, r.bytes);
    ++to, ++at;
  }
  return to;
}
