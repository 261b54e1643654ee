#include "core/s3/compose.h"

#include <string.h>

bool pb_copies_elements(const pb_nest* nest) {
  return pb_nest_is_copy(nest) && !nest->access[0].boxed && !pb_nest_is_fixed(nest);
}

bool pb_walks_all(const pb_nest* nest, const pb_access* access, int* dim_of) {
  for (int r = 0; r < access->rank; ++r) {
    if (!pb_index_single(&access->index[r], &dim_of[r])) return false;
    if (access->shape[r] != (dim_of[r] < 0 ? 1 : nest->extent[dim_of[r]])) return false;
  }
  return true;
}

bool pb_walks_elements(const pb_nest* nest, const pb_access* access, int* dim_of) {
  bool walked[PB_NEST_DIMS] = {false};
  int count = 0;
  if (!pb_walks_all(nest, access, dim_of)) return false;
  for (int r = 0; r < access->rank; ++r) {
    if (dim_of[r] < 0) continue;
    if (walked[dim_of[r]]) return false;
    walked[dim_of[r]] = true;
    ++count;
  }
  return count == nest->dim_count && !access->boxed && !access->gathered;
}

pb_access pb_access_compose(const pb_access* outer, const int* dim_of, const pb_access* inner) {
  pb_access out = *inner;
  for (int r = 0; r < inner->rank; ++r) {
    pb_index* to = &out.index[r];
    memset(to->coef, 0, sizeof to->coef);
    for (int k = 0; k < outer->rank; ++k) {
      int64_t scale = dim_of[k] < 0 ? 0 : inner->index[r].coef[dim_of[k]];
      for (int c = 0; scale && c < PB_NEST_COLS; ++c) to->coef[c] += scale * outer->index[k].coef[c];
      to->cst += scale * outer->index[k].cst;
    }
  }
  return out;
}

int pb_program_source(const pb_program* p, int n, int a, pb_access* source) {
  const pb_access* access = &p->nests[n].access[a];
  int dim_of[PB_NEST_RANK], copy = pb_program_only_writer(p, p->value_of[n][a]);
  if (copy < 0 || copy >= n || !pb_copies_elements(&p->nests[copy]) || access->boxed || access->gathered ||
      access->splat || !pb_walks_elements(&p->nests[copy], &p->nests[copy].access[1], dim_of) ||
      pb_access_can_leave(&p->nests[n], access))
    return -1;
  *source = pb_access_compose(access, dim_of, &p->nests[copy].access[0]);
  return copy;
}

void pb_program_read_source(pb_program* p, pb_arena* arena, int n, int a, int copy, const pb_access* source) {
  p->nests[n].access[a] = *source;
  pb_program_set_value(p, arena, n, a, p->value_of[copy][0]);
}

static bool is_read(const pb_program* p, int value) {
  PB_FOR_USES (n, p, value)
    if (!p->gone[n] && !pb_program_writes(p, n, value)) return true;
  return false;
}

bool pb_program_drop_copies(pb_program* p) {
  bool any = false;
  for (int n = p->nest_count - 1; n >= 0; --n) {
    int value = pb_program_stored(p, n);
    p->gone[n] |= pb_copies_elements(&p->nests[n]) && pb_program_is_local(p, value) && !is_read(p, value);
    any |= p->gone[n];
  }
  return any;
}

void pb_program_drop_unread(pb_program* p) {
  for (int n = p->nest_count - 1; n >= 0; --n) {
    int value = pb_program_stored(p, n);
    p->gone[n] |= pb_program_is_local(p, value) && !is_read(p, value);
  }
}

pb_access pb_access_of_matrix(const pb_nest* nest, pb_type type, const int* index_of) {
  pb_access m = {.type = type, .rank = 2, .shape = {1, 1}, .buffer = -1};
  for (int d = nest->dim_count - 1; d >= 0; --d) {
    if (index_of[d] < 0) continue;
    m.index[index_of[d]].coef[d] = m.shape[index_of[d]];
    m.shape[index_of[d]] *= nest->extent[d];
  }
  return m;
}

int pb_tested_index(const pb_nest* nest, const pb_access* access, int dim) {
  for (int r = access->rank - 1; r >= 0 && access->boxed; --r)
    if (access->index[r].coef[dim] && pb_index_can_leave(nest, &access->index[r], access->shape[r])) return r;
  return -1;
}

bool pb_leaves_tensors(const pb_nest* nest) {
  for (int a = 0; a < nest->access_count; ++a)
    if (!nest->access[a].boxed && pb_access_can_leave(nest, &nest->access[a])) return true;
  return false;
}

bool pb_same_indices(const pb_access* a, const pb_access* b) {
  return a->rank == b->rank && !memcmp(a->index, b->index, sizeof *a->index * (size_t)a->rank);
}

bool pb_same_walk(const pb_access* a, const pb_access* b) {
  return pb_same_indices(a, b) && !memcmp(a->shape, b->shape, sizeof *a->shape * (size_t)a->rank);
}

bool pb_same_places(const pb_nest* nest, const pb_access* a, const pb_access* b) {
  if (a->rank < 2 || b->rank < 2 || pb_access_elements(a) != pb_access_elements(b)) return false;
  for (int d = 0; d < nest->dim_count; ++d)
    if (nest->extent[d] > 1 && pb_access_stride(a, d) != pb_access_stride(b, d)) return false;
  return pb_access_offset(a) == pb_access_offset(b);
}

int pb_program_only_writer(const pb_program* p, int value) {
  int writer = -1;
  if (!pb_program_is_local(p, value)) return -1;
  PB_FOR_WRITERS (n, p, value) {
    if (writer >= 0) return -1;
    writer = n;
  }
  return writer;
}

int pb_program_only_reader(const pb_program* p, int value) {
  int reader = -1;
  PB_FOR_USES (n, p, value) {
    if (pb_program_is_gone(p, n) || !pb_program_reads(p, n, value) || pb_program_writes(p, n, value)) continue;
    if (reader >= 0) return -1;
    reader = n;
  }
  return reader;
}

int pb_program_init_of(const pb_program* p, int n) {
  int made = pb_program_stored(p, n), init = -1;
  PB_FOR_USES (k, p, made) {
    bool writes = pb_program_writes(p, k, made);
    if (k == n || (k > n && !writes)) continue;
    if (k > n || init >= 0 || !writes || p->nests[k].reduce != PB_SET) return -1;
    init = k;
  }
  return init;
}

bool pb_program_is_reduced(const pb_program* p, int value) {
  PB_FOR_WRITERS (n, p, value)
    if (p->nests[n].reduce != PB_SET) return true;
  return false;
}

bool pb_stores_apart(const pb_nest* a, const pb_nest* b) {
  const pb_access *x = &a->access[a->access_count - 1], *y = &b->access[b->access_count - 1];
  for (int r = 0; r < x->rank && !x->gathered && !y->gathered; ++r) {
    int64_t low[2], high[2], step = 0;
    for (int side = 0; side < 2; ++side) {
      const pb_nest* nest = side ? b : a;
      const pb_index* index = side ? &y->index[r] : &x->index[r];
      if (!pb_index_range(nest, index, &low[side], &high[side])) return false;
      for (int d = 0; d < nest->dim_count; ++d) step = pb_gcd(step, index->coef[d]);
    }
    if (high[0] < low[1] || high[1] < low[0]) return true;
    if (step > 1 && (x->index[r].cst - y->index[r].cst) % step) return true;
  }
  return false;
}

static bool is_fixed_at_0(const pb_index* index) {
  static const pb_index zero;
  return !memcmp(index, &zero, sizeof zero);
}

bool pb_repeats_along(const pb_access* read, const pb_access* store) {
  if (read->rank != store->rank || (read->rank != 2 && read->rank != 4)) return false;
  for (int r = 0; r < read->rank; ++r) {
    bool same = !memcmp(&read->index[r], &store->index[r], sizeof read->index[r]);
    if (!same && !(read->shape[r] == 1 && is_fixed_at_0(&read->index[r]))) return false;
  }
  if (read->rank == 2) return read->shape[0] == store->shape[0];
  if (store->shape[1] > 1) return !is_fixed_at_0(&read->index[1]);
  return read->shape[3] == store->shape[3] || pb_access_elements(read) == 1; // of one channel: rows, or one number
}
