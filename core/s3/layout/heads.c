// Inside `layout`, in front of choosing: heads that lie beside each other in a row and end inside a row of lanes. What
// a product of two computed tensors multiplies gets a row for each head instead, by a copy whose rows end in the codes'
// zero, so that whatever is multiplied by them adds nothing; so does what it makes, and a copy puts that back.
//
//   before   s[h, t, n] += q[t, h * 64 + c] * (k[n, h * 64 + c] - zk)                            rows of 256 lanes
//   after    q'[h * T + t, c] = q[t, h * 64 + c];   k'[h * N + n, c] = k[n, h * 64 + c], behind them zk
//            s[h, t, n] += q'[h * T + t, c] * (k'[h * N + n, c] - zk)
//
// Weights need none of this: their packing fills them up. Copying the codes once is cheaper than products that make and
// take such rows, which would fill a part of every row of lanes with zeros.
#include "core/s3/layout/layout.h"

#include <stdlib.h>
#include <string.h>

// Heads of a row: `count` of them that are `width` wide, behind `first` others. Where groups of `group` share something
// those that walk them do so group by group; 1: each is one of its own.
typedef struct heads {
  int64_t first, count, width, group;
} heads;

// A copy to be put among the nests.
typedef struct copy {
  pb_insertion put;
  heads heads;
  bool fills; // what lies behind the rows that it makes
  double zero;
} copy;

typedef struct parting {
  pb_layout* l;
  copy* copies;
  size_t count, capacity;
} parting;

// The dim that walks the elements of one head, where it ends inside a row of lanes and all else that moves the access
// along its row steps over whole heads; -1: there is none.
static int dim_of_head(const pb_layout* l, const pb_nest* nest, const pb_access* access) {
  const pb_index* index = &access->index[1];
  int found = -1;
  if (access->rank != 2 || !pb_access_is_plain(access)) return -1;
  for (int d = 0; d < nest->dim_count; ++d)
    if (index->coef[d] == 1 && nest->extent[d] > 1) found = found < 0 ? d : nest->dim_count;
  if (found < 0 || found == nest->dim_count || nest->extent[found] % l->lanes == 0) return -1;
  int64_t width = nest->extent[found];
  for (int d = 0; d < nest->dim_count; ++d)
    if (d != found && (index->coef[d] < 0 || index->coef[d] % width) && nest->extent[d] > 1) return -1;
  return access->shape[1] % width || index->cst % width ? -1 : found;
}

// Those that the access walks.
static heads heads_of(const pb_nest* nest, const pb_access* access, int64_t width) {
  const pb_index* index = &access->index[1];
  heads h = {index->cst / width, 1, width, 1};
  int walking = 0;
  for (int d = 0; d < nest->dim_count; ++d) {
    int64_t step = index->coef[d] / width;
    h.count += step * (nest->extent[d] - 1);
    walking += step > 0 && nest->extent[d] > 1;
    if (nest->extent[d] > 1 && step > h.group) h.group = step;
  }
  if (walking != 2 || h.count % h.group) h.group = 1;
  return h;
}

// The access to a tensor with a row for each of these heads.
static void part_access(pb_access* access, const heads* h) {
  pb_index *rows = &access->index[0], *along = &access->index[1];
  for (int c = 0; c < PB_NEST_COLS; ++c) {
    rows->coef[c] += along->coef[c] / h->width * access->shape[0];
    along->coef[c] %= h->width;
  }
  rows->cst += (along->cst / h->width - h->first) * access->shape[0];
  along->cst = 0;
  access->shape[0] *= h->count;
  access->shape[1] = h->width;
}

static int part_value(pb_layout* l, int v, const heads* h) {
  pb_access parted = pb_value_shape(&l->program.values[v]);
  parted.shape[0] *= h->count;
  parted.shape[1] = h->width;
  return pb_program_add_local(&l->program, &l->unit->pass, &parted);
}

// From a tensor to its twin with a row for each head, or (`back`) the other way round.
static void add_copy(parting* p, int at, int v, int parted, const heads* h, double zero, bool back, const char* name) {
  const pb_value* value = &p->l->program.values[v];
  int from = back ? parted : v, to = back ? v : parted;
  pb_nest nest;
  pb_nest_begin(&nest, name, "copy", 2);
  pb_access* whole = &nest.access[back];
  *whole = pb_value_shape(value);
  pb_nest_walk(&nest, &whole->index[1], h->width * h->group, h->count / h->group);
  pb_nest_walk(&nest, &whole->index[1], h->width, h->group);
  pb_nest_walk(&nest, &whole->index[0], 1, value->shape[0]);
  pb_nest_walk(&nest, &whole->index[1], 1, h->width);
  whole->index[1].cst = h->first * h->width;
  nest.access[!back] = *whole;
  part_access(&nest.access[!back], h);
  pb_nest_load(&nest, 0);
  copy c = {{at, to, from, to, pb_nest_kept(&p->l->unit->pass, &nest)}, *h, !back, zero};
  PB_PUSH(p->copies, p->count, p->capacity, c);
}

// The copy of these heads of the value with that number behind them, if there is one.
static int find_parted(const parting* p, int v, const heads* h, double zero) {
  for (size_t k = 0; k < p->count; ++k) {
    const copy* c = &p->copies[k];
    if (c->put.from == v && !memcmp(&c->heads, h, sizeof *h) && c->zero == zero) return c->put.to;
  }
  return -1;
}

// What nest n reads by access a.
static void part_factor(parting* p, int n, int a, int64_t width, double zero) {
  pb_program* all = &p->l->program;
  pb_nest* nest = &all->nests[n];
  int v = all->value_of[n][a];
  heads h = heads_of(nest, &nest->access[a], width);
  int parted = find_parted(p, v, &h, zero);
  if (parted < 0) {
    parted = part_value(p->l, v, &h);
    add_copy(p, n, v, parted, &h, zero, false, nest->name);
  }
  part_access(&nest->access[a], &h);
  pb_program_set_value(all, &p->l->unit->pass, n, a, parted);
}

// The dim that walks the whole row of an access, alone; -1: none.
static int along_row(const pb_nest* nest, const pb_access* access) {
  int d = access->rank == 2 ? pb_access_whole_dim(nest, access, 1) : -1;
  return d >= 0 && !access->index[0].coef[d] ? d : -1;
}

static bool is_start(const pb_nest* nest) {
  return nest->reduce == PB_SET && nest->access_count == 1 && along_row(nest, &nest->access[0]) >= 0;
}

// The one nest that takes the sums of nest n, element by element and with nothing but constants beside them, into a
// tensor that nobody else writes; -1: there is none such.
static int only_taker(const pb_layout* l, int n) {
  const pb_program* p = &l->program;
  int v = pb_program_stored(p, n), taker = -1;
  PB_FOR_USES (k, p, v) {
    if (k == n || (k < n && pb_program_writes(p, k, v) && is_start(&p->nests[k]))) continue;
    if (k < n || taker >= 0) return -1;
    taker = k;
  }
  if (taker < 0 || p->nests[taker].reduce != PB_SET || pb_nest_gathers(&p->nests[taker])) return -1;
  const pb_nest* nest = &p->nests[taker];
  const pb_access* store = &nest->access[nest->access_count - 1];
  int made = pb_program_stored(p, taker), d = along_row(nest, store);
  bool plain = d >= 0 && pb_program_is_local(p, made) && nest->dim_count + 2 <= PB_NEST_DIMS;
  for (int a = 0; plain && a + 1 < nest->access_count; ++a) {
    int from = p->value_of[taker][a];
    plain = from == v ? !memcmp(nest->access[a].index, store->index, 2 * sizeof *store->index)
                      : p->values[from].kind == PB_VALUE_CONST;
  }
  PB_FOR_USES (k, p, made) plain &= k == taker || !pb_program_writes(p, k, made);
  return plain ? taker : -1;
}

// Nest n walks a whole row of `v`: it walks head by head instead, of the value that is parted.
static void walk_heads(pb_layout* l, int n, int v, int parted, const heads* h) {
  pb_nest* nest = &l->program.nests[n];
  for (int a = 0; a < nest->access_count; ++a) {
    if (l->program.value_of[n][a] != v) continue;
    int d = along_row(nest, &nest->access[a]);
    if (d >= 0 && h->width < nest->extent[d]) pb_nest_cut_dim(nest, d, h->width);
    if (d >= 0 && h->group > 1) pb_nest_cut_dim(nest, d, h->group);
    part_access(&nest->access[a], h);
    pb_program_set_value(&l->program, &l->unit->pass, n, a, parted);
  }
}

// The sums of nest n, and the codes that are made of them.
static void part_result(parting* p, int n, const heads* h, int taker) {
  pb_program* all = &p->l->program;
  int sums = pb_program_stored(all, n), codes = pb_program_stored(all, taker);
  int parted = part_value(p->l, sums, h), parted_codes = part_value(p->l, codes, h);
  add_copy(p, taker + 1, codes, parted_codes, h, 0, true, all->nests[taker].name);
  PB_FOR_USES (k, all, sums)
    if (k < n) walk_heads(p->l, k, sums, parted, h);
  walk_heads(p->l, n, sums, parted, h);
  walk_heads(p->l, taker, codes, parted_codes, h);
  pb_nest* nest = &all->nests[taker]; // its dims have been cut
  for (int a = 0; a + 1 < nest->access_count; ++a)
    if (all->value_of[taker][a] == sums) {
      part_access(&nest->access[a], h);
      pb_program_set_value(all, &p->l->unit->pass, taker, a, parted);
    }
}

// A product of two computed tensors. One factor alone may lie as it does: what is behind its rows is multiplied by 0.
static void part_product(parting* p, int n, const pb_contraction_dims* roles) {
  pb_layout* l = p->l;
  const pb_nest* nest = &l->program.nests[n];
  const pb_access *x = &nest->access[roles->x], *w = &nest->access[roles->w], *y = &nest->access[roles->y];
  int of_x = dim_of_head(l, nest, x), of_w = dim_of_head(l, nest, w), of_y = dim_of_head(l, nest, y);
  bool heads_in_x = of_x >= 0 && nest->extent[of_x] < x->shape[1];
  bool heads_in_y = of_y >= 0 && nest->extent[of_y] < y->shape[1];
  heads h = heads_in_y ? heads_of(nest, y, nest->extent[of_y]) : (heads){0};
  int taker = heads_in_y ? only_taker(l, n) : -1;
  double zero = 0;
  if (of_w < 0 || !pb__layout_zero_of_codes(nest, roles->w, &zero) ||
      (heads_in_y && (taker < 0 || h.count * h.width < y->shape[1])))
    return;
  if (heads_in_x) part_factor(p, n, roles->x, nest->extent[of_x], 0);
  part_factor(p, n, roles->w, nest->extent[of_w], zero);
  if (heads_in_y) part_result(p, n, &h, taker);
}

static void insert_copies(const parting* p) {
  pb_insertion* copies = PB_NEW_ARRAY(&p->l->unit->pass, pb_insertion, p->count);
  for (size_t k = 0; k < p->count; ++k) copies[k] = p->copies[k].put;
  pb_program_insert(&p->l->program, &p->l->unit->pass, copies, (int)p->count);
}

bool pb__layout_ends_in(const pb_layout* l, int v, double* zero) {
  if (v >= l->parted_count || !l->parted[v].ends) return false;
  *zero = l->parted[v].zero;
  return true;
}

void pb__layout_part_heads(pb_layout* l) {
  parting p = {.l = l};
  pb_contraction_dims roles;
  for (int n = 0; n < l->program.nest_count; ++n)
    if (!pb__layout_is_apart(l, n) && pb__layout_contraction_dims(l, n, &roles) && !pb__layout_weighs(l, n, &roles))
      part_product(&p, n, &roles);
  if (p.count) insert_copies(&p);
  l->parted_count = l->program.value_count;
  l->parted = PB_NEW_ARRAY(&l->unit->pass, pb_layout_parted, (size_t)l->parted_count + 1);
  for (size_t k = 0; k < p.count; ++k)
    l->parted[p.copies[k].put.to] = (pb_layout_parted){p.copies[k].fills, p.copies[k].zero};
  free(p.copies);
}
