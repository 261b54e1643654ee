// One expression of the symbols for a number that was seen in each sample: a sum of at most three products of atoms and
// a number, with integer coefficients, or an atom, or two of them, shifted, divided by a small number and rounded down,
// which is an atom from then on. Atoms are the symbols at first. There are more samples than such an expression has
// coefficients, so that one which goes through all of them is no accident; where a divided one could be shifted in two
// ways it is none, and where two divided ones that are not the same at other extents go through all.
#include "core/open/open.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
  MOST_ATOMS = 4096,
  MOST_PRODUCTS = 2304,
  MOST_TERMS = 4 * MOST_ATOMS,
  MOST_DIVISOR = 8,
  COUNT = PB_OPEN_SAMPLES,
  PROBES = 8
};
// Those in front: terms of which sums of two and three are tried with any coefficients, atoms whose products with all
// others are terms, and of which two are divided.
enum { MOST_OF_TWO = 160, MOST_OF_THREE = 40, MOST_FACTORS = PB_MOST_SYMBOLS + 16, MOST_DIVIDED = 64, MOST_DEPTH = 4 };

typedef struct term { // a product of atoms
  int size;
  int64_t at[COUNT];
} term;

struct pb_fit {
  pb_sizes* sizes;
  pb_arena* arena;
  int symbol_count, atom_count, term_count;
  term *atoms, *terms;
  pb_table known;   // by numbers
  pb_table steps;   // terms by how they grow from sample to sample, which leaves out what is added to them
  pb_table of_size; // terms by their size
  const pb_symbols* symbols;
  int64_t* probes[PROBES]; // sizes at extents that no sample has
  size_t probed, probe_room;
};

static uint32_t mixed(uint32_t x) {
  x = (x ^ x >> 16) * 0x7feb352du;
  x = (x ^ x >> 15) * 0x846ca68bu;
  return x ^ x >> 16;
}

// Small extents and large ones.
static void probe(pb_fit* f) {
  const pb_sizes* sizes = f->sizes;
  if (sizes->count > f->probe_room) {
    size_t room = 2 * sizes->count;
    for (int p = 0; p < PROBES; ++p) {
      int64_t* more = PB_NEW_ARRAY(f->arena, int64_t, room);
      if (f->probed) memcpy(more, f->probes[p], f->probed * sizeof *more);
      f->probes[p] = more;
    }
    f->probe_room = room;
  }
  for (int p = 0; p < PROBES; ++p) {
    int64_t at[PB_MOST_SYMBOLS];
    for (int s = 0; s < f->symbols->count; ++s)
      at[s] = f->symbols->times[f->symbols->same[s]] *
              (1 + mixed((uint32_t)(f->symbols->same[s] * PROBES + p)) % (p % 2 ? 12u : 1000u));
    for (size_t k = f->probed; k < sizes->count; ++k)
      if (!pb_size_value(sizes->items[k], at, f->probes[p], &f->probes[p][k])) f->probes[p][k] = 0;
  }
  f->probed = sizes->count;
}

// Whether two sizes are the same at those extents too.
static bool is_same(pb_fit* f, int a, int b) {
  probe(f);
  for (int p = 0; p < PROBES; ++p)
    if (f->probes[p][a] != f->probes[p][b]) return false;
  return true;
}

// How numbers grow from the first sample on.
typedef struct growth {
  int64_t by[COUNT - 1];
} growth;

static growth growth_of(const int64_t* numbers) {
  growth g;
  for (int k = 1; k < COUNT; ++k) g.by[k - 1] = numbers[k] - numbers[0];
  return g;
}

static const void* kept(pb_fit* f, const void* key, size_t bytes) {
  void* copy = pb_alloc(f->arena, bytes);
  memcpy(copy, key, bytes);
  return copy;
}

static bool add_term(pb_fit* f, const term* a, const term* b) {
  if (f->term_count == MOST_TERMS) return false;
  term* t = &f->terms[f->term_count];
  t->size = b ? pb_size_make(f->sizes, PB_SIZE_MUL, a->size, b->size) : a->size;
  for (int k = 0; k < COUNT; ++k) t->at[k] = b ? a->at[k] * b->at[k] : a->at[k];
  if (pb_table_find(&f->of_size, &t->size, sizeof t->size) >= 0) return true;
  growth g = growth_of(t->at);
  pb_table_add(&f->of_size, kept(f, &t->size, sizeof t->size), sizeof t->size, f->term_count);
  if (pb_table_find(&f->steps, &g, sizeof g) < 0)
    pb_table_add(&f->steps, kept(f, &g, sizeof g), sizeof g, f->term_count);
  ++f->term_count;
  return true;
}

static term* keep_atom(pb_fit* f, const term* atom) {
  if (f->atom_count == MOST_ATOMS) return NULL;
  f->atoms[f->atom_count] = *atom;
  return &f->atoms[f->atom_count++];
}

// With its products by the atoms that are there; of many those by the symbols.
static void add_atom(pb_fit* f, const term* atom) {
  const term* a = keep_atom(f, atom);
  if (!a) return;
  (void)add_term(f, a, NULL);
  int factors = f->atom_count <= MOST_FACTORS ? f->atom_count : f->symbol_count;
  for (int o = 0; o < factors; ++o) (void)add_term(f, a, &f->atoms[o]);
}

// Of symbols their products of two and of three too, few behind many: where there are more than there is room for, it
// is products of three that are left out.
static void add_symbols(pb_fit* f) {
  for (int s = 0; s < f->symbol_count; ++s) (void)add_term(f, &f->atoms[s], NULL);
  for (int s = 0; s < f->symbol_count; ++s)
    for (int o = 0; o <= s; ++o) (void)add_term(f, &f->atoms[s], &f->atoms[o]);
  int pairs = f->term_count;
  for (int s = 0; s < f->symbol_count; ++s)
    for (int p = 0; p < pairs && f->term_count < MOST_PRODUCTS; ++p) (void)add_term(f, &f->terms[p], &f->atoms[s]);
}

pb_fit* pb_fit_start(pb_sizes* sizes, const pb_symbols* symbols, pb_arena* arena) {
  pb_fit* f = PB_NEW(arena, pb_fit);
  *f = (pb_fit){.sizes = sizes, .arena = arena, .symbols = symbols};
  f->atoms = PB_NEW_ARRAY(arena, term, MOST_ATOMS);
  f->terms = PB_NEW_ARRAY(arena, term, MOST_TERMS);
  for (int s = 0; s < symbols->count; ++s) {
    if (symbols->same[s] != s) continue;
    term atom = {.size = pb_size_symbol(sizes, s)};
    pb_symbols at = *symbols;
    for (at.sample = 0; at.sample < COUNT; ++at.sample) atom.at[at.sample] = pb_symbol_extent(&at, s);
    if (keep_atom(f, &atom)) ++f->symbol_count;
  }
  for (int s = 0; s < symbols->count; ++s) { // as symbols of their own: the quotients of those that are multiples
    int64_t times = symbols->times[s];
    if (symbols->same[s] != s || times == 1) continue;
    int symbol = pb_size_symbol(sizes, s), by = pb_size_number(sizes, times);
    term atom = {.size = pb_size_make(sizes, PB_SIZE_DIV, symbol, by)};
    pb_symbols at = *symbols;
    for (at.sample = 0; at.sample < COUNT; ++at.sample) atom.at[at.sample] = pb_symbol_extent(&at, s) / times;
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

// The sum or the difference of any two terms, which few sums of two are looked through for: a term for each, and the
// other one by what is left.
static int of_any_two(pb_fit* f, const int64_t* numbers) {
  const growth n = growth_of(numbers);
  for (int k = 0; k < f->term_count; ++k) {
    const growth a = growth_of(f->terms[k].at);
    for (int signs = 0; signs < 4; ++signs) {
      growth rest;
      for (int s = 0; s < COUNT - 1; ++s) {
        int64_t left = n.by[s] - (signs & 1 ? -a.by[s] : a.by[s]);
        rest.by[s] = signs & 2 ? -left : left;
      }
      int other = pb_table_find(&f->steps, &rest, sizeof rest);
      const term* both[2] = {&f->terms[k], &f->terms[other < 0 ? k : other]};
      int size = other < 0 || other == k ? -1 : by_terms(f, both, 2, numbers);
      if (size >= 0) return size;
    }
  }
  return -1;
}

static int polynomial(pb_fit* f, const int64_t* numbers) {
  const term* t[3];
  for (int count = 1; count <= 3; ++count) {
    int any = count == 3 && f->term_count > MOST_OF_TWO ? of_any_two(f, numbers) : -1;
    if (any >= 0) return any;
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

// One term with any coefficients.
static int of_one(pb_fit* f, const int64_t* numbers) {
  for (int k = 0; k < f->term_count; ++k) {
    const term* t = &f->terms[k];
    int size = by_terms(f, &t, 1, numbers);
    if (size >= 0) return size;
  }
  return -1;
}

// An atom times what is found by itself, which may be such a product: elements of a tensor several of whose extents are
// quotients.
static int factored(pb_fit* f, const int64_t* numbers, int depth) {
  int atoms = f->atom_count < MOST_DIVIDED ? f->atom_count : MOST_DIVIDED;
  for (int a = 0; a < atoms && depth; ++a) {
    int64_t rest[COUNT];
    bool divides = true;
    for (int k = 0; k < COUNT && divides; ++k) {
      int64_t by = f->atoms[a].at[k];
      divides = by > 1 && numbers[k] % by == 0;
      if (divides) rest[k] = numbers[k] / by;
    }
    int size = divides ? of_one(f, rest) : -1;
    if (divides && size < 0) size = factored(f, rest, depth - 1);
    if (size >= 0) return pb_size_make(f->sizes, PB_SIZE_MUL, f->atoms[a].size, size);
  }
  return -1;
}

// a * times + b * sign, divided and shifted. b: NULL, none.
typedef struct division {
  const term *a, *b;
  int times, sign, by;
} division;

// The one shift that the samples leave: floor((sum + shift) / by). false: there is none, or several.
static bool shift_of(const division* d, const int64_t* numbers, int64_t* shift) {
  int64_t least = INT64_MIN, most = INT64_MAX;
  for (int k = 0; k < COUNT && least <= most; ++k) {
    int64_t sum = d->a->at[k] * d->times + (d->b ? d->sign * d->b->at[k] : 0);
    int64_t lo = numbers[k] * d->by - sum, hi = lo + d->by - 1;
    if (lo > least) least = lo;
    if (hi < most) most = hi;
  }
  *shift = least;
  return least == most;
}

static int quotient(pb_fit* f, const division* d, int64_t shift) {
  int sum = pb_size_times(f->sizes, d->a->size, d->times);
  if (d->b) {
    int other = pb_size_times(f->sizes, d->b->size, d->sign);
    sum = pb_size_make(f->sizes, PB_SIZE_ADD, sum, other);
  }
  int shifted = pb_size_plus(f->sizes, sum, shift), by = pb_size_number(f->sizes, d->by);
  return pb_size_make(f->sizes, PB_SIZE_DIV, shifted, by);
}

// Of an atom; else of a multiple of one, as a scale makes of an extent, and another: what a stride leaves over of an
// extent, what lies between two places. -1: there is none, or there are two, and which one it is at other extents is
// not known.
static int divided_size(pb_fit* f, const int64_t* numbers) {
  int found = -1, atoms = f->atom_count < MOST_DIVIDED ? f->atom_count : MOST_DIVIDED;
  int64_t shift;
  for (int by = 2; by <= MOST_DIVISOR; ++by)
    for (int a = 0; a < 2 * f->atom_count; ++a) {
      division d = {.a = &f->atoms[a / 2], .times = a % 2 ? -1 : 1, .by = by};
      if (shift_of(&d, numbers, &shift)) return quotient(f, &d, shift);
    }
  for (int by = 2; by <= MOST_DIVISOR; ++by)
    for (int times = -MOST_DIVISOR; times <= MOST_DIVISOR; ++times)
      for (int pair = 0; times && pair < atoms * atoms * 2; ++pair) {
        division d = {&f->atoms[pair / 2 / atoms], &f->atoms[pair / 2 % atoms], times, pair % 2 ? 1 : -1, by};
        if (d.a == d.b && pair % 2) continue;
        if (d.a == d.b) d.b = NULL;
        if (!shift_of(&d, numbers, &shift)) continue;
        int size = quotient(f, &d, shift);
        if (found >= 0 && !is_same(f, found, size)) return -1;
        if (found < 0) found = size;
      }
  return found;
}

static int divided(pb_fit* f, const int64_t* numbers) {
  for (int k = 0; k < COUNT; ++k)
    if (numbers[k] > INT32_MAX || numbers[k] < INT32_MIN) return -1;
  term atom = {.size = divided_size(f, numbers)};
  memcpy(atom.at, numbers, sizeof atom.at);
  if (atom.size >= 0) add_atom(f, &atom);
  return atom.size;
}

int pb_fit_find(pb_fit* f, const int64_t* numbers) {
  int same = 1;
  while (same < COUNT && numbers[same] == numbers[0]) ++same;
  if (same == COUNT) return pb_size_number(f->sizes, numbers[0]); // however large
  int known = pb_table_find(&f->known, numbers, sizeof(int64_t) * COUNT);
  if (known >= 0) return known - 1;
  int size = polynomial(f, numbers);
  if (size < 0) size = factored(f, numbers, MOST_DEPTH);
  if (size < 0) size = divided(f, numbers);
  if (size < 0) return -1;
  term found = {.size = size};
  memcpy(found.at, numbers, sizeof found.at);
  (void)add_term(f, &found, NULL); // others may be made of it
  pb_table_add(&f->known, kept(f, numbers, sizeof found.at), sizeof found.at, size + 1);
  return size;
}

bool pb_fit_add(pb_fit* f, int size, const int64_t* numbers) {
  if (pb_table_find(&f->of_size, &size, sizeof size) >= 0) return true;
  int other = polynomial(f, numbers);
  if (other >= 0 && !is_same(f, other, size)) return false;
  term atom = {.size = size};
  memcpy(atom.at, numbers, sizeof atom.at);
  add_atom(f, &atom);
  return true;
}

void pb_fit_end(pb_fit* f) {
  pb_table_free(&f->known);
  pb_table_free(&f->steps);
  pb_table_free(&f->of_size);
}
