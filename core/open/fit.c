// One expression of the symbols for a number that was seen in each sample: a sum of at most three products of atoms and
// a number, with integer coefficients, or an atom, or two of them, shifted, divided by a small number and rounded down,
// which is an atom from then on. Atoms are the symbols at first. There are more samples than such an expression has
// coefficients, so that one which goes through all of them is no accident; where a divided one could be shifted in two
// ways it is none.
#include "core/open/open.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ATOMS = PB_MOST_SYMBOLS + 16, MOST_TERMS = 1024, MOST_DIVISOR = 8, COUNT = PB_OPEN_SAMPLES };
enum { MOST_OF_TWO = 160, MOST_OF_THREE = 40 }; // terms of which sums of two and three are tried: those in front

typedef struct term { // a product of atoms
  int size;
  int64_t at[COUNT];
} term;

struct pb_fit {
  pb_sizes* sizes;
  pb_arena* arena;
  int symbol_count, atom_count, term_count;
  term atoms[MOST_ATOMS], terms[MOST_TERMS];
  pb_table known; // by numbers
};

static bool add_term(pb_fit* f, const term* a, const term* b) {
  if (f->term_count == MOST_TERMS) return false;
  term* t = &f->terms[f->term_count];
  t->size = b ? pb_size_make(f->sizes, PB_SIZE_MUL, a->size, b->size) : a->size;
  for (int k = 0; k < COUNT; ++k) t->at[k] = b ? a->at[k] * b->at[k] : a->at[k];
  for (int o = 0; o < f->term_count; ++o)
    if (f->terms[o].size == t->size) return true;
  ++f->term_count;
  return true;
}

static term* keep_atom(pb_fit* f, const term* atom) {
  if (f->atom_count == MOST_ATOMS) return NULL;
  f->atoms[f->atom_count] = *atom;
  return &f->atoms[f->atom_count++];
}

// With its products by the atoms that are there.
static void add_atom(pb_fit* f, const term* atom) {
  const term* a = keep_atom(f, atom);
  if (!a) return;
  (void)add_term(f, a, NULL);
  for (int o = 0; o < f->atom_count; ++o) (void)add_term(f, a, &f->atoms[o]);
}

// Of symbols their products of two and of three too, few behind many: where there are more than there is room for, it
// is products of three that are left out.
static void add_symbols(pb_fit* f) {
  for (int s = 0; s < f->symbol_count; ++s) (void)add_term(f, &f->atoms[s], NULL);
  for (int s = 0; s < f->symbol_count; ++s)
    for (int o = 0; o <= s; ++o) (void)add_term(f, &f->atoms[s], &f->atoms[o]);
  int pairs = f->term_count;
  for (int s = 0; s < f->symbol_count; ++s)
    for (int p = 0; p < pairs; ++p) (void)add_term(f, &f->terms[p], &f->atoms[s]);
}

pb_fit* pb_fit_start(pb_sizes* sizes, const pb_symbols* symbols, pb_arena* arena) {
  pb_fit* f = PB_NEW(arena, pb_fit);
  *f = (pb_fit){.sizes = sizes, .arena = arena};
  for (int s = 0; s < symbols->count; ++s) {
    if (symbols->same[s] != s) continue;
    term atom = {.size = pb_size_symbol(sizes, s)};
    pb_symbols at = *symbols;
    for (at.sample = 0; at.sample < COUNT; ++at.sample) atom.at[at.sample] = pb_symbol_extent(&at, s);
    if (keep_atom(f, &atom)) ++f->symbol_count;
  }
  add_symbols(f);
  return f;
}

typedef enum solution { FOUND, NONE, SINGULAR } solution;

// The coefficients of so many terms and of 1, by the first `rows` samples; NONE: they are no integers.
static solution solve_by(int rows, const term* const* t, int count, const int64_t* numbers, int64_t* coef) {
  long double m[COUNT][5];
  int n = count + 1;
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < count; ++c) m[r][c] = (long double)t[c]->at[r];
    m[r][count] = 1;
    m[r][n] = (long double)numbers[r];
  }
  for (int c = 0; c < n; ++c) {
    int best = c;
    for (int r = c; r < rows; ++r)
      if (fabsl(m[r][c]) > fabsl(m[best][c])) best = r;
    if (fabsl(m[best][c]) < 1e-9L) return SINGULAR;
    for (int k = 0; k <= n && best != c; ++k) {
      long double swap = m[best][k];
      m[best][k] = m[c][k];
      m[c][k] = swap;
    }
    for (int r = 0; r < rows; ++r) {
      long double by = m[r][c] / m[c][c];
      for (int k = c; k <= n && r != c; ++k) m[r][k] -= by * m[c][k];
    }
  }
  for (int c = 0; c < n; ++c) {
    long double x = m[c][n] / m[c][c];
    if (!(fabsl(x) < 1e15L) || fabsl(x - roundl(x)) > 1e-3L) return NONE;
    coef[c] = (int64_t)roundl(x);
  }
  return FOUND;
}

// Two of many symbols may go side by side in the first samples.
static bool solve(const term* const* t, int count, const int64_t* numbers, int64_t* coef) {
  solution found = solve_by(count + 1, t, count, numbers, coef);
  return (found == SINGULAR ? solve_by(COUNT, t, count, numbers, coef) : found) == FOUND;
}

static bool holds(const term* const* t, int count, const int64_t* coef, const int64_t* numbers) {
  for (int k = 0; k < COUNT; ++k) {
    int64_t sum = coef[count], part;
    for (int c = 0; c < count; ++c)
      if (__builtin_mul_overflow(coef[c], t[c]->at[k], &part) || __builtin_add_overflow(sum, part, &sum)) return false;
    if (sum != numbers[k]) return false;
  }
  return true;
}

static int by_terms(pb_fit* f, const term* const* t, int count, const int64_t* numbers) {
  int64_t coef[4];
  if (!solve(t, count, numbers, coef) || !holds(t, count, coef, numbers)) return -1;
  int sum = pb_size_number(f->sizes, coef[count]);
  for (int c = count - 1; c >= 0; --c)
    sum = pb_size_make(f->sizes, PB_SIZE_ADD, pb_size_times(f->sizes, t[c]->size, coef[c]), sum);
  return sum;
}

static int polynomial(pb_fit* f, const int64_t* numbers) {
  const term* t[3];
  for (int count = 1; count <= 3; ++count) {
    int at[3] = {0, 1, 2}, most = f->term_count;
    if (count == 2 && most > MOST_OF_TWO) most = MOST_OF_TWO;
    if (count == 3 && most > MOST_OF_THREE) most = MOST_OF_THREE;
    for (bool more = count <= most; more;) {
      for (int c = 0; c < count; ++c) t[c] = &f->terms[at[c]];
      int size = by_terms(f, t, count, numbers);
      if (size >= 0) return size;
      int c = count - 1;
      while (c >= 0 && at[c] == most - count + c) --c;
      more = c >= 0;
      if (more) ++at[c];
      for (int k = c + 1; more && k < count; ++k) at[k] = at[k - 1] + 1;
    }
  }
  return -1;
}

// floor((of + shift) / by), where the samples leave one shift alone; -1 else.
static int quotient(pb_fit* f, const term* of, int by, const int64_t* numbers) {
  int64_t least = INT64_MIN, most = INT64_MAX;
  for (int k = 0; k < COUNT; ++k) {
    int64_t lo = numbers[k] * by - of->at[k], hi = lo + by - 1;
    if (lo > least) least = lo;
    if (hi < most) most = hi;
  }
  if (least != most) return -1;
  int shifted = pb_size_plus(f->sizes, of->size, least), divisor = pb_size_number(f->sizes, by);
  term atom = {.size = pb_size_make(f->sizes, PB_SIZE_DIV, shifted, divisor)};
  memcpy(atom.at, numbers, sizeof atom.at);
  add_atom(f, &atom);
  return atom.size;
}

// a * times + b or - b. `size` is made once the numbers fit.
static bool is_quotient(const term* a, int times, const term* b, int sign, int by, const int64_t* numbers, term* sum) {
  int64_t least = INT64_MIN, most = INT64_MAX;
  for (int k = 0; k < COUNT && least <= most; ++k) {
    sum->at[k] = a->at[k] * times + sign * b->at[k];
    int64_t lo = numbers[k] * by - sum->at[k], hi = lo + by - 1;
    if (lo > least) least = lo;
    if (hi < most) most = hi;
  }
  return least == most;
}

// Of an atom; else of a multiple of one and another: what a stride leaves over of an extent, what lies between two
// places.
static int divided(pb_fit* f, const int64_t* numbers) {
  for (int k = 0; k < COUNT; ++k)
    if (numbers[k] > INT32_MAX || numbers[k] < INT32_MIN) return -1;
  for (int by = 2; by <= MOST_DIVISOR; ++by)
    for (int a = 0; a < f->atom_count; ++a) {
      int size = quotient(f, &f->atoms[a], by, numbers);
      if (size >= 0) return size;
    }
  for (int by = 2; by <= MOST_DIVISOR; ++by)
    for (int times = -MOST_DIVISOR; times <= MOST_DIVISOR; ++times)
      for (int pair = 0; pair < f->atom_count * f->atom_count * 2; ++pair) {
        const term *a = &f->atoms[pair / 2 / f->atom_count], *b = &f->atoms[pair / 2 % f->atom_count];
        int sign = pair % 2 ? 1 : -1;
        term sum;
        if (a == b || !times || !is_quotient(a, times, b, sign, by, numbers, &sum)) continue;
        int most = pb_size_times(f->sizes, a->size, times), other = pb_size_times(f->sizes, b->size, sign);
        sum.size = pb_size_make(f->sizes, PB_SIZE_ADD, most, other);
        return quotient(f, &sum, by, numbers);
      }
  return -1;
}

int pb_fit_find(pb_fit* f, const int64_t* numbers) {
  int same = 1;
  while (same < COUNT && numbers[same] == numbers[0]) ++same;
  if (same == COUNT) return pb_size_number(f->sizes, numbers[0]); // however large
  int known = pb_table_find(&f->known, numbers, sizeof(int64_t) * COUNT);
  if (known >= 0) return known - 1;
  int size = polynomial(f, numbers);
  if (size < 0) size = divided(f, numbers);
  int64_t* key = PB_NEW_ARRAY(f->arena, int64_t, COUNT);
  memcpy(key, numbers, sizeof(int64_t) * COUNT);
  if (size >= 0) pb_table_add(&f->known, key, sizeof(int64_t) * COUNT, size + 1);
  return size;
}

void pb_fit_add(pb_fit* f, int size, const int64_t* numbers) {
  term atom = {.size = size};
  memcpy(atom.at, numbers, sizeof atom.at);
  add_atom(f, &atom);
}

void pb_fit_end(pb_fit* f) { pb_table_free(&f->known); }
