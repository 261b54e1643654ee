// Seams: a pointwise nest that reads tensors put together of copies, as those turned round by some places are, becomes
// a nest for each part between the seams, which reads what was copied where it lies. Requires the program function in
// value form; leaves it in value form. Exact: the same operations on the same numbers.
//
//   before   r[0] = u[n - 1];  r[1 + i] = u[i];  y[i] = u[i] + r[i]
//   after    y[0] = u[0] + u[n - 1];  y[1 + i] = u[1 + i] + u[i]
//
// Where most of the nest is one part: a stencil over an image that is closed round its edges moves it twice, instead of
// twice more for each neighbour. Only on chips whose memory is cached: where movers bring tiles, they put together on
// the way.
#include "core/s3/compose.h"
#include "core/s3/s3.h"

#include <string.h>

enum {
  MOST_CUTS = 6, // of a dim, its two ends among them
  MOST_PARTS = 27,
  LEAST_SHARE = 8,  // the largest part is all but one of so many
  MOST_READERS = 8, // of what was put together: to copy it once is less than to cut them all
  MOST_ROUNDS = 4
};

typedef struct seams {
  pb_program from, to;
  bool* joined; // by value: put together of copies, and all that read it are cut
} seams;

// Where a nest is cut: along each dim, in order, from 0 to its extent.
typedef struct cuts {
  int64_t at[PB_NEST_DIMS][MOST_CUTS];
  int count[PB_NEST_DIMS];
} cuts;

// Whether each index of the access goes by a dim of its own, and no dim walks two.
static bool walks_apart(const pb_nest* nest, const pb_access* access, int* dim_of) {
  bool walked[PB_NEST_DIMS] = {false};
  if (!pb_access_is_plain(access) || pb_access_can_leave(nest, access)) return false;
  for (int r = 0; r < access->rank; ++r) {
    if (!pb_index_shifted(&access->index[r], &dim_of[r])) return false;
    if (dim_of[r] < 0) continue;
    if (walked[dim_of[r]]) return false;
    walked[dim_of[r]] = true;
  }
  return true;
}

static bool is_part(const pb_nest* nest) {
  int dim_of[PB_NEST_RANK];
  return pb_copies_elements(nest) && walks_apart(nest, &nest->access[1], dim_of);
}

// Whether copies make all of the tensor, and none of them what another one has made.
static bool is_put_together(const seams* s, int v) {
  const pb_program* p = &s->from;
  int64_t writers = 0, elements = 0;
  if (!pb_program_is_local(p, v) || pb_program_last_writer(p, v) < 0) return false;
  PB_FOR_WRITERS (n, p, v) {
    if (!is_part(&p->nests[n]) || p->value_of[n][0] == v) return false;
    ++writers;
    elements += pb_nest_iterations(&p->nests[n]);
  }
  return writers > 1 && elements == pb_value_elements(&p->values[v]);
}

// Whether the nest computes each element for itself, and may be cut along any dim.
static bool is_pointwise(const pb_nest* nest) {
  int dim_of[PB_NEST_RANK], dims = 0;
  const pb_access* store = &nest->access[nest->access_count - 1];
  if (nest->reduce != PB_SET || nest->outer_count || pb_nest_is_fixed(nest) || pb_nest_needs_its_loops(nest) ||
      pb_copies_elements(nest) || !walks_apart(nest, store, dim_of))
    return false;
  for (int r = 0; r < store->rank; ++r) dims += dim_of[r] >= 0;
  return dims == nest->dim_count;
}

static bool reads_joined(const seams* s, int n, int a) {
  return a + 1 < s->from.nests[n].access_count && s->joined[s->from.value_of[n][a]];
}

static bool add_cut(cuts* c, int d, int64_t at) {
  int k = 0;
  while (k < c->count[d] && c->at[d][k] < at) ++k;
  if (k < c->count[d] && c->at[d][k] == at) return true;
  if (c->count[d] == MOST_CUTS) return false;
  memmove(c->at[d] + k + 1, c->at[d] + k, sizeof **c->at * (size_t)(c->count[d] - k));
  c->at[d][k] = at;
  ++c->count[d];
  return true;
}

// Where the writer's part begins along index r of the tensor, and how long it is.
static int64_t part_first(const pb_nest* writer, int r) { return writer->access[1].index[r].cst; }

static int64_t part_length(const pb_nest* writer, int r) {
  int d;
  return pb_index_shifted(&writer->access[1].index[r], &d) && d >= 0 ? writer->extent[d] : 1;
}

// Cuts the nest where the parts end of what its access a reads.
static bool cut_by(const seams* s, int n, int a, cuts* c) {
  const pb_program* p = &s->from;
  const pb_nest* nest = &p->nests[n];
  int dim_of[PB_NEST_RANK];
  if (!walks_apart(nest, &nest->access[a], dim_of)) return false;
  PB_FOR_WRITERS (w, p, p->value_of[n][a])
    for (int r = 0; r < nest->access[a].rank; ++r) {
      int d = dim_of[r];
      if (d < 0) continue;
      int64_t first = part_first(&p->nests[w], r) - nest->access[a].index[r].cst;
      const int64_t ends[] = {first, first + part_length(&p->nests[w], r)};
      for (int k = 0; k < 2; ++k)
        if (ends[k] > 0 && ends[k] < nest->extent[d] && !add_cut(c, d, ends[k])) return false;
    }
  return true;
}

// How long the longest part is along the dim.
static int64_t longest(const cuts* c, int d) {
  int64_t most = 0;
  for (int k = 0; k + 1 < c->count[d]; ++k)
    if (c->at[d][k + 1] - c->at[d][k] > most) most = c->at[d][k + 1] - c->at[d][k];
  return most;
}

// Where the nest is cut: nowhere if it reads nothing that was put together. false: there would be too many parts.
static bool find_cuts(const seams* s, int n, cuts* c) {
  const pb_nest* nest = &s->from.nests[n];
  for (int d = 0; d < nest->dim_count; ++d) {
    c->count[d] = 0;
    if (!add_cut(c, d, 0) || !add_cut(c, d, nest->extent[d])) return false;
  }
  for (int a = 0; a < nest->access_count; ++a)
    if (reads_joined(s, n, a) && !cut_by(s, n, a, c)) return false;
  size_t parts = 1;
  for (int d = 0; d < nest->dim_count; ++d) parts *= (size_t)c->count[d] - 1;
  return parts <= MOST_PARTS;
}

// Whether all that read the tensor can be cut at its seams, and most of what they do is in one part of each.
static bool are_cut(const seams* s, int v) {
  cuts c;
  double all = 0, largest = 0;
  int readers = 0;
  PB_FOR_USES (n, &s->from, v) {
    const pb_nest* nest = &s->from.nests[n];
    double whole = 1, part = 1;
    if (pb_program_writes(&s->from, n, v)) continue;
    if (++readers > MOST_READERS || !is_pointwise(nest) || !find_cuts(s, n, &c)) return false;
    for (int d = 0; d < nest->dim_count; ++d) {
      whole *= (double)nest->extent[d];
      part *= (double)longest(&c, d);
    }
    all += whole;
    largest += part;
  }
  return all > 0 && largest >= all * (1 - 1.0 / LEAST_SHARE);
}

// Tensors are taken for joined until one that reads them says otherwise.
static bool find_joined(seams* s) {
  bool any = false;
  for (int v = 0; v < s->from.value_count; ++v) s->joined[v] = is_put_together(s, v);
  for (bool changed = true; changed;) {
    changed = any = false;
    for (int v = 0; v < s->from.value_count; ++v) {
      if (!s->joined[v]) continue;
      s->joined[v] = are_cut(s, v);
      changed |= !s->joined[v];
      any |= s->joined[v];
    }
  }
  return any;
}

// The copy that made what the part's access stands at: between seams it is one.
static int writer_of(const seams* s, const pb_nest* part, const pb_access* access, int v) {
  PB_FOR_WRITERS (w, &s->from, v) {
    bool inside = true;
    for (int r = 0; inside && r < access->rank; ++r) {
      int64_t least, most, first = part_first(&s->from.nests[w], r);
      inside = pb_index_range(part, &access->index[r], &least, &most) && least >= first &&
               most < first + part_length(&s->from.nests[w], r);
    }
    if (inside) return w;
  }
  return -1;
}

static void read_copied(const seams* s, pb_nest* part, int a, int* value_of) {
  int w = writer_of(s, part, &part->access[a], value_of[a]), dim_of[PB_NEST_RANK];
  const pb_nest* copy = &s->from.nests[w];
  pb_access at = part->access[a];
  (void)walks_apart(copy, &copy->access[1], dim_of);
  for (int r = 0; r < at.rank; ++r) at.index[r].cst -= part_first(copy, r);
  part->access[a] = pb_access_compose(&at, dim_of, &copy->access[0]);
  value_of[a] = s->from.value_of[w][0];
}

static void add_part(seams* s, int n, const cuts* c, const int* number) {
  pb_nest* part = pb_program_add_nest(&s->to, &s->from.nests[n], s->from.value_of[n]);
  for (int d = 0; d < part->dim_count; ++d) {
    pb_nest_shift_dim(part, d, c->at[d][number[d]]);
    part->extent[d] = c->at[d][number[d] + 1] - c->at[d][number[d]];
  }
  for (int a = 0; a < part->access_count; ++a)
    if (reads_joined(s, n, a)) read_copied(s, part, a, s->to.value_of[s->to.nest_count - 1]);
}

static bool next_part(const pb_nest* nest, const cuts* c, int* number) {
  for (int d = nest->dim_count; d-- > 0; number[d] = 0)
    if (++number[d] + 1 < c->count[d]) return true;
  return false;
}

static void write_nest(seams* s, int n) {
  cuts c;
  int number[PB_NEST_DIMS] = {0};
  if (s->joined[pb_program_stored(&s->from, n)]) return;
  (void)find_cuts(s, n, &c);
  do add_part(s, n, &c, number);
  while (next_part(&s->from.nests[n], &c, number));
}

// What was put together of tensors that were put together themselves, as an image rolled along two dims is, takes a
// round for each.
bool pb_s3_seams(pb_unit* unit, pb_program* p) {
  seams s = {.from = *p, .joined = PB_NEW_ARRAY(&unit->pass, bool, (size_t)p->value_count + 1)};
  int rounds = 0;
  for (; rounds < MOST_ROUNDS && find_joined(&s); ++rounds) {
    pb_program_begin_nests(&s.from, &unit->pass, &s.to);
    for (int n = 0; n < s.from.nest_count; ++n) write_nest(&s, n);
    pb_program_index(&s.to, &unit->pass);
    s.from = s.to;
  }
  *p = s.from;
  return rounds > 0;
}
