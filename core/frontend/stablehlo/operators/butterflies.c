// Fourier transforms by passes of short ones, written out (Stockham's order, as Cochran and others 1967 have it): of
// what is left of the length, r m, behind s elements that are done
//
//   y[(j r + k) s + t] = e^(-2 pi i j k / (r m)) sum over q of e^(-2 pi i q k / r) x[(q m + j) s + t]
//
// Elements behind the dim are neighbours throughout, and nothing is put into another order. Each number that a pass
// makes is a nest of its own, which value form asks for, and all of them go through the same loops: they are beside
// each other, one loop in the target's code, in which what they have in common is computed once.
#include "core/frontend/stablehlo/operators/butterflies.h"

#include <math.h>
#include <string.h>

enum { MOST_RADIX = 7, LAST_RADIX = 7, NONE = -1 };

static const double tau = 6.283185307179586476925286766559;

// The next pass's radix of what is left; 0: there is none. What a nest reads has no room for the factors of a pass of
// seven, and the last pass has no factors.
static int64_t radix_of(int64_t left) {
  static const int64_t radixes[] = {4, 5, 3, 2, LAST_RADIX};
  for (int k = 0; k < (int)(sizeof radixes / sizeof *radixes); ++k)
    if (left % radixes[k] == 0 && (radixes[k] != LAST_RADIX || left == LAST_RADIX)) return radixes[k];
  return 0;
}

bool pb__door_has_butterflies(const pb_door* d, int64_t length) {
  if (!d->m.consts->in_turns || d->open || d->m.consts->open || length < 2) return false;
  while (length > 1) {
    int64_t radix = radix_of(length);
    if (!radix) return false;
    length /= radix;
  }
  return true;
}

pb_waves pb__door_new_waves(pb_door* d, pb_type type, const pb_transform* t, bool pairs) {
  if (pairs)
    return (pb_waves){pb_make_value(&d->m, type, 4, (const int64_t[]){t->before, t->length, 2, t->behind}), NONE, true};
  const int64_t shape[] = {t->before, t->length, t->behind};
  int re = pb_make_value(&d->m, type, 3, shape);
  return (pb_waves){re, pb_make_value(&d->m, type, 3, shape), false};
}

// e^(+-2 pi i p (q + shift) / length), scaled, for p < rows and q < columns: real or imaginary parts.
typedef struct turns_table {
  int64_t rows, columns, length;
  double shift, scale;
  bool inverse;
} turns_table;

static pb_waves table_of(pb_door* d, pb_type type, const turns_table* t) {
  size_t count = (size_t)(t->rows * t->columns);
  int values[2];
  for (int part = 0; part < 2; ++part) {
    double* wide = PB_NEW_ARRAY(&d->m.program->arena, double, count);
    float* narrow = PB_NEW_ARRAY(&d->m.program->arena, float, count);
    for (size_t k = 0; k < count; ++k) {
      int64_t p = (int64_t)k / t->columns, q = (int64_t)k % t->columns;
      double angle = tau * ((double)(p * q % t->length) + t->shift) / (double)t->length;
      wide[k] = t->scale * (!part ? cos(angle) : t->inverse ? sin(angle) : -sin(angle));
      narrow[k] = (float)wide[k];
    }
    const void* data = type == PB_F64 ? (const void*)wide : narrow;
    values[part] = pb_make_constant(&d->m, type, 2, (const int64_t[]){t->rows, t->columns}, data);
  }
  return (pb_waves){values[0], values[1], false};
}

// ---- numbers of a nest; -1 is 0 ----

static int plus(pb_nest* n, int a, int b) {
  if (a < 0 || b < 0) return a < 0 ? b : a;
  return pb_nest_node(n, PB_OP_ADD, n->expr[a].type, a, b);
}

static int minus(pb_nest* n, int a, int b) {
  if (b < 0) return a;
  if (a < 0) return pb_nest_node(n, PB_OP_NEG, n->expr[b].type, b, -1);
  return pb_nest_node(n, PB_OP_SUB, n->expr[a].type, a, b);
}

static int times(pb_nest* n, int a, int b) {
  return a < 0 || b < 0 ? NONE : pb_nest_node(n, PB_OP_MUL, n->expr[a].type, a, b);
}

static int by_number(pb_nest* n, int a, double number) {
  return a < 0 || number == 1 ? a : times(n, a, pb_nest_const(n, n->expr[a].type, number));
}

typedef struct pair {
  int part[2];
} pair;

// One part of a product.
static int product(pb_nest* n, pair a, pair b, int part) {
  int first = times(n, a.part[0], b.part[part]), second = times(n, a.part[1], b.part[!part]);
  return part ? plus(n, first, second) : minus(n, first, second);
}

// ---- a pass ----

typedef struct pass {
  pb_door* d;
  const pb_transform* t;
  pb_waves x, y, factors; // factors: of a table of rows, re -1: there are none
  pb_type type;
  int64_t radix, left, done; // m and s
  bool is_last;
  int loops[4];            // of the nest that is being made: before, j, t, behind
  int seen[MOST_RADIX][2]; // nodes of what it has loaded
  bool has_seen[MOST_RADIX][2];
} pass;

static pb_nest* nest_of(pass* p) { return &p->d->m.nest; }

// An access to an element of one part, so many in front of that of the loops' first turns.
static int element(pass* p, pb_waves at, int part, int64_t first, int64_t by_left) {
  int access = pb_make_access(&p->d->m, at.pairs || !part ? at.re : at.im);
  pb_access* made = &nest_of(p)->access[access];
  pb_make_move(&p->d->m, access, 0, p->loops[0], 1);
  pb_make_move(&p->d->m, access, 1, p->loops[1], by_left);
  pb_make_move(&p->d->m, access, 1, p->loops[2], 1);
  pb_make_move(&p->d->m, access, made->rank - 1, p->loops[3], 1);
  made->index[1].cst = first;
  if (at.pairs) made->index[2].cst = part;
  return access;
}

static int input(pass* p, int64_t q, int part) {
  if (p->has_seen[q][part]) return p->seen[q][part];
  bool is_there = p->x.pairs || !part || p->x.im >= 0;
  p->has_seen[q][part] = true;
  if (is_there) {
    int access = element(p, p->x, part, q * p->left * p->done, p->done);
    p->seen[q][part] = pb_nest_load(nest_of(p), access);
  } else {
    p->seen[q][part] = NONE;
  }
  return p->seen[q][part];
}

// One part of number k of a transform of two or four: (x0 +- x2) +- (x1 +- x3), the odd ones a quarter turned.
static int of_even(pass* p, int64_t k, int part) {
  pb_nest* n = nest_of(p);
  if (p->radix == 2) {
    int a = input(p, 0, part), b = input(p, 1, part);
    return k ? minus(n, a, b) : plus(n, a, b);
  }
  bool odd = k % 2;
  int other = odd ? !part : part, a = input(p, 0, part), b = input(p, 2, part), c = input(p, 1, other),
      e = input(p, 3, other);
  int first = odd ? minus(n, a, b) : plus(n, a, b), second = odd ? minus(n, c, e) : plus(n, c, e);
  bool adds = odd ? (k == 1) == !part : !k;
  if (odd && p->t->inverse) adds = !adds;
  return adds ? plus(n, first, second) : minus(n, first, second);
}

// The same of an odd length: what lies as far from the end as from the beginning has the same cosine, and the opposite
// sine.
static int of_odd(pass* p, int64_t k, int part) {
  pb_nest* n = nest_of(p);
  int sum = input(p, 0, part);
  for (int64_t q = 1; 2 * q < p->radix; ++q) {
    int a = input(p, q, part), b = input(p, p->radix - q, part);
    int both = by_number(n, plus(n, a, b), cos(tau * (double)(k * q % p->radix) / (double)p->radix));
    sum = plus(n, sum, both);
  }
  for (int64_t q = 1; 2 * q < p->radix && k; ++q) {
    int64_t at = k * q % p->radix;
    bool beyond = 2 * at > p->radix, adds = (part == 0) != beyond;
    double sine = sin(tau * (double)(beyond ? p->radix - at : at) / (double)p->radix);
    int a = input(p, q, !part), b = input(p, p->radix - q, !part), apart = by_number(n, minus(n, a, b), sine);
    if (p->t->inverse) adds = !adds;
    sum = adds ? plus(n, sum, apart) : minus(n, sum, apart);
  }
  return sum;
}

static int plain(pass* p, int64_t k, int part) { return p->radix % 2 ? of_odd(p, k, part) : of_even(p, k, part); }

// The factors of number k: those between passes, or those by which what is made is turned.
static pair factors_of(pass* p, int64_t k) {
  pair made;
  for (int part = 0; part < 2; ++part) {
    int access = pb_make_access(&p->d->m, part ? p->factors.im : p->factors.re);
    pb_index* row = &nest_of(p)->access[access].index[0];
    row->cst = p->is_last ? k * p->done : k;
    if (p->is_last) pb_make_move(&p->d->m, access, 0, p->loops[2], 1);
    pb_make_move(&p->d->m, access, 1, p->loops[p->is_last ? 3 : 1], 1);
    made.part[part] = pb_nest_load(nest_of(p), access);
  }
  return made;
}

static void start(pass* p, int64_t first, int64_t second) {
  (void)pb_make_start(&p->d->m, PB_PART_BESIDE);
  const int64_t extents[] = {p->t->before, first, second, p->t->behind};
  for (int k = 0; k < 4; ++k) p->loops[k] = pb_make_loop(&p->d->m, extents[k]);
  memset(p->has_seen, 0, sizeof p->has_seen);
}

// Ends the nest: the number, or 0, is the part of that element.
static void store(pass* p, int number, int part, int64_t first, int64_t by_left) {
  pb_nest* n = nest_of(p);
  pb__door_last(p->d, number < 0 ? pb_nest_const(n, p->type, 0) : number, p->type);
  (void)element(p, p->y, part, first, by_left);
  pb_make_finish(&p->d->m);
}

static void make(pass* p, int64_t k, int part) {
  start(p, p->left, p->done);
  pb_nest* n = nest_of(p);
  int number;
  if (p->factors.re < 0 || (!k && !p->is_last)) {
    number = plain(p, k, part);
  } else {
    pair worked = {{plain(p, k, 0), plain(p, k, 1)}};
    number = product(n, worked, factors_of(p, k), part);
  }
  if (p->is_last) number = by_number(n, number, p->t->scale);
  store(p, number, part, k * p->done, p->radix * p->done);
}

void pb__door_butterflies(pb_door* d, const pb_transform* t, pb_waves x, pb_waves y) {
  pass p = {.d = d, .t = t, .x = x, .type = pb_made(&d->m, x.re)->type, .done = 1};
  for (int64_t left = t->length; left > 1; left = p.left, p.done *= p.radix, p.x = p.y) {
    p.radix = radix_of(left);
    p.left = left / p.radix;
    p.is_last = p.left == 1;
    p.y = p.is_last ? y : pb__door_new_waves(d, p.type, t, false);
    p.factors = (pb_waves){NONE, NONE, false};
    turns_table table = {p.radix, p.left, left, 0, 1, t->inverse};
    if (p.is_last) table = (turns_table){t->length, t->behind, t->turned, 0, 1, t->inverse};
    if (table.length) p.factors = table_of(d, p.type, &table);
    for (int part = 0; part < 2; ++part) // the first one and the last one read what all of that part do
      for (int64_t k = p.radix; k-- > 0;) make(&p, k, part);
  }
}

// ---- real numbers ----

// Of z, the transform of x[2 j] + i x[2 j + 1], and its end's conjugate as far from the other end, w = e^(-2 pi i / 2
// n):
//   y[k] = (z[k] + conj z[n - k]) / 2 - i w^k (z[k] - conj z[n - k]) / 2, and z[n] is z[0];
// back the same with i and w^-k, of which the n elements sum to 2 n times as much.
typedef struct halves {
  pass p;
  bool back;
  double half;
} halves;

// Those between both ends: element k and the one as far from the end are read, the loop's turn is k - 1.
static void make_inner(halves* h, int part) {
  pass* p = &h->p;
  start(p, p->t->length - 1, 1);
  pb_nest* n = nest_of(p);
  pair sum, apart, factors;
  for (int k = 0; k < 2; ++k) {
    int a = pb_nest_load(n, element(p, p->x, k, 1, 1)), b = pb_nest_load(n, element(p, p->x, k, p->t->length - 1, -1));
    sum.part[k] = k ? minus(n, a, b) : plus(n, a, b);
    apart.part[k] = k ? plus(n, a, b) : minus(n, a, b);
  }
  for (int k = 0; k < 2; ++k) {
    int access = pb_make_access(&p->d->m, k ? p->factors.im : p->factors.re);
    pb_make_move(&p->d->m, access, 1, p->loops[1], 1);
    for (int r = 0; r < 2; ++r) n->access[access].index[r].cst = 1; // row 0 is all of e^0
    factors.part[k] = pb_nest_load(n, access);
  }
  int first = by_number(n, sum.part[part], h->half), second = product(n, apart, factors, part);
  store(p, plus(n, first, second), part, 1, 1);
}

// Both ends are real numbers: the sum and the difference of the parts of element 0, and back.
static void make_end(halves* h, int which, int part) {
  pass* p = &h->p;
  start(p, 1, 1);
  pb_nest* n = nest_of(p);
  int number = NONE;
  if (h->back || !part) {
    int a = pb_nest_load(n, element(p, p->x, 0, 0, 0));
    int b = pb_nest_load(n, element(p, p->x, !h->back, h->back ? p->t->length : 0, 0));
    number = by_number(n, which || part ? minus(n, a, b) : plus(n, a, b), h->back ? h->half : 1);
  }
  store(p, number, part, which ? p->t->length : 0, 0);
}

static void make_halves(halves* h) {
  for (int part = 0; part < 2 && h->p.t->length > 1; ++part) make_inner(h, part);
  for (int which = 0; which < (h->back ? 1 : 2); ++which)
    for (int part = 0; part < 2; ++part) make_end(h, which, part);
}

void pb__door_halves_of_pairs(pb_door* d, const pb_transform* t, pb_waves z, pb_waves y) {
  halves h = {.p = {.d = d, .t = t, .x = z, .y = y, .type = pb_made(&d->m, z.re)->type}, .half = 0.5};
  turns_table table = {2, t->length, 2 * t->length, (double)t->length / 2, h.half, false}; // -i: a quarter of a turn
  h.p.factors = table_of(d, h.p.type, &table);
  make_halves(&h);
}

void pb__door_pairs_of_halves(pb_door* d, const pb_transform* t, pb_waves x, pb_waves z) {
  halves h = {.p = {.d = d, .t = t, .x = x, .y = z, .type = pb_made(&d->m, x.re)->type}, .back = true};
  h.half = 0.5 / (double)t->length;
  turns_table table = {2, t->length, 2 * t->length, (double)t->length / 2, h.half, true};
  h.p.factors = table_of(d, h.p.type, &table);
  make_halves(&h);
}
