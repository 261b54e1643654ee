// Bands: a large tensor that one nest takes by a few neighbouring lines at a time, as the second of two stencils takes
// the first one's, is made in bands of lines, each with those that the band behind it begins with: these are made
// twice. Requires the program function in value form, its layouts chosen; leaves it in value form. Exact: the same
// elements.
//
//   before   v[i, j] = x[i, j] + x[i, j + 1];  y[i, j] = v[i, j] + v[i + 2, j]                         i < 224
//   after    v[b, q, j] = x[b * 32 + q, j] + x[b * 32 + q, j + 1];                              b < 7, q < 34
//            y[b * 32 + i, j] = v[b, i, j] + v[b, i + 2, j]                                             i < 32
//
// An iteration over bands needs nothing of another one, so both are one kernel (stages.c), and what lies between stays
// in a near cache. Halo of overlapped tiles, as in Halide and PolyMage.
#include "core/s3/chip_facts.h"
#include "core/s3/kernel/vector.h"
#include "core/s3/s3.h"

#include <string.h>

enum {
  PARTS_OF_NEAR = 4, // of the second cache, that a band may take
  LEAST_NEW = 3      // lines of a band for each that is made twice
};

typedef struct banding {
  pb_program* p;
  int value, r, reader, dim; // index r, which that dim of its reader moves
  int64_t least, most;       // lines that it takes at its first turn
} banding;

// The lines of index r that the reader takes by access a, where one dim that stays moves it, line by line, and what it
// sums over; false: it is not so.
static bool find_lines(banding* b, const pb_nest* nest, const pb_access* access) {
  const pb_index* index = &access->index[b->r];
  int64_t least = index->cst, most = index->cst;
  int dim = -1;
  for (int d = 0; d < PB_NEST_COLS; ++d) {
    if (!index->coef[d]) continue;
    bool window = d < nest->dim_count && index->coef[d] > 0 && pb_nest_reduces_over(nest, d);
    if (window) most += index->coef[d] * (nest->extent[d] - 1);
    if (!window && (d >= nest->dim_count || index->coef[d] != 1 || dim >= 0)) return false;
    if (!window) dim = d;
  }
  if (dim < 0 || (b->dim >= 0 && b->dim != dim) || !pb_access_is_plain(access)) return false;
  for (int s = 0; s < access->rank; ++s)
    if (s != b->r && access->index[s].coef[dim]) return false;
  b->least = b->dim < 0 || least < b->least ? least : b->least;
  b->most = b->dim < 0 || most > b->most ? most : b->most;
  b->dim = dim;
  return true;
}

static bool may_cut(const pb_nest* nest, int dims) {
  return nest->dim_count + dims <= PB_NEST_DIMS && !pb_nest_is_fixed(nest);
}

// Whether whoever makes the value makes all of it, line by line, and one nest alone takes it so.
static bool find(banding* b) {
  const pb_value* v = &b->p->values[b->value];
  b->reader = b->dim = -1;
  PB_FOR_ACCESSES (n, a, b->p, b->value) {
    const pb_nest* nest = &b->p->nests[n];
    const pb_access* access = &nest->access[a];
    if (!may_cut(nest, 1) || access->rank != v->rank) return false;
    if (a == nest->access_count - 1) {
      if (pb_access_whole_dim(nest, access, b->r) < 0) return false;
    } else {
      if ((b->reader >= 0 && b->reader != n) || !find_lines(b, nest, access)) return false;
      b->reader = n;
    }
  }
  if (b->reader < 0 || b->most == b->least) return false;
  const pb_nest* nest = &b->p->nests[b->reader];
  int stored = pb_program_stored(b->p, b->reader);
  PB_FOR_WRITERS (n, b->p, stored)
    if (!may_cut(&b->p->nests[n], 1)) return false;
  return b->most + nest->extent[b->dim] <= v->shape[b->r];
}

// Lines of a band: as many as a near cache holds a part of; 0: none divide what is there, or most would be made twice.
static int64_t lines_of(const banding* b, int64_t near) {
  const pb_value* v = &b->p->values[b->value];
  int64_t all = b->p->nests[b->reader].extent[b->dim], again = b->most - b->least, line = pb_value_bytes(v);
  for (int r = 0; r <= b->r; ++r) line /= v->shape[r];
  int64_t lines = near / PARTS_OF_NEAR / (line ? line : 1) - again;
  for (lines = lines < all ? lines : all; lines > 0 && all % lines;) --lines;
  return lines >= again * LEAST_NEW && lines < all ? lines : 0;
}

// Index r of the access becomes two: the band, which `dim` moves, and the line in it, which moves with all else.
static void cut_access(pb_access* access, const banding* b, int dim, int64_t bands, int64_t lines) {
  access->index[b->r].coef[dim] = 0;
  access->shape[b->r] = lines;
  pb_access_add_index(access, b->r, bands, dim);
}

static void cut(banding* b, int64_t lines) {
  pb_program* p = b->p;
  int64_t bands = p->nests[b->reader].extent[b->dim] / lines, whole = lines + b->most - b->least;
  int at = 0; // the index of its result that the dim moves
  while (!pb_nest_store(&p->nests[b->reader])->index[at].coef[b->dim]) ++at;
  PB_FOR_WRITERS (n, p, pb_program_stored(p, b->reader)) { // what its sums begin with, too
    pb_nest* nest = &p->nests[n];
    int d = n == b->reader ? b->dim : pb_index_dim(&pb_nest_store(nest)->index[at]);
    if (d >= 0 && nest->extent[d] == bands * lines) pb_nest_cut_dim(nest, d, lines);
  }
  PB_FOR_WRITERS (n, p, b->value) {
    pb_nest* nest = &p->nests[n];
    int d = pb_access_whole_dim(nest, pb_nest_store(nest), b->r);
    pb_nest_shift_dim(nest, d, b->least);
    nest->extent[d] = bands * lines;
    pb_nest_cut_dim(nest, d, lines);
    nest->extent[d + 1] = whole;
    pb_nest_store(nest)->index[b->r].cst = 0;
    cut_access(pb_nest_store(nest), b, d, bands, whole);
  }
  PB_FOR_ACCESSES (n, a, p, b->value)
    if (n == b->reader) {
      p->nests[n].access[a].index[b->r].cst -= b->least;
      cut_access(&p->nests[n].access[a], b, b->dim, bands, whole);
    }
  pb_value* v = &p->values[b->value];
  memmove(&v->shape[b->r + 1], &v->shape[b->r], sizeof *v->shape * (size_t)(v->rank++ - b->r));
  memset(v->border, 0, sizeof v->border);
  v->shape[b->r] = bands;
  v->shape[b->r + 1] = whole;
}

bool pb_s3_bands(pb_unit* unit, pb_program* p) {
  int64_t near = pb_vector_facts_of(unit->chip).cache[1];
  bool any = false;
  for (int v = 0; v < p->value_count && near; ++v) {
    bool large = pb_program_is_local(p, v) && p->values[v].type == PB_F32 && pb_value_bytes(&p->values[v]) > 2 * near;
    for (int r = p->values[v].rank - 2; r >= 0 && large && p->values[v].rank < PB_NEST_RANK; --r) {
      banding b = {.p = p, .value = v, .r = r};
      int64_t lines = find(&b) ? lines_of(&b, near) : 0;
      if (!lines) continue;
      cut(&b, lines);
      any = true;
      break;
    }
  }
  return any;
}
