// Which loops the nests of a kernel share. Each dim of the last nest is followed through the values that lie between:
// where one nest stores an index by a dim and another loads it by a dim, the two are one loop. A loop is shared if
// every nest has it, and every value between carries it: then an iteration of it needs nothing that another iteration
// makes.
#include "core/s3/kernel/stages.h"

#include "core/s3/compose.h"
#include "core/s3/kernel/border.h"
#include "core/s3/kernels.h"

#include <mlir-c/BuiltinAttributes.h>
#include <string.h>

// Dims by what loop they are, -1: none; and indices of values.
typedef struct tracer {
  const pb_program* p;
  int (*loop_of_dim)[PB_NEST_DIMS];
  int (*loop_of_index)[PB_NEST_RANK]; // by value
  bool broken[PB_NEST_DIMS];          // loops that are not shared
} tracer;

static void join(tracer* t, int* a, int* b, bool* changed) {
  if (*a == *b) return;
  if (*a >= 0 && *b >= 0) {
    t->broken[*a] = t->broken[*b] = true;
    return;
  }
  *(*a < 0 ? a : b) = *a < 0 ? *b : *a;
  *changed = true;
}

static void trace_access(tracer* t, int n, int a, bool* changed) {
  const pb_nest* nest = &t->p->nests[n];
  const pb_access* access = &nest->access[a];
  int value = t->p->value_of[n][a], d;
  for (int r = 0; r < access->rank; ++r)
    if (pb_index_single(&access->index[r], &d) && d >= 0 && nest->extent[d] == access->shape[r])
      join(t, &t->loop_of_dim[n][d], &t->loop_of_index[value][r], changed);
}

static bool moves_alike(const pb_access* a, int da, const pb_access* b, int db) {
  for (int r = 0; r < a->rank; ++r)
    if (a->index[r].coef[da] != b->index[r].coef[db]) return false;
  return a->rank == b->rank;
}

// What sets a sum walks the loops that the sum is made in.
static void trace_init(tracer* t, int init, int sum, bool* changed) {
  const pb_nest *a = &t->p->nests[init], *b = &t->p->nests[sum];
  for (int d = 0; d < a->dim_count; ++d)
    for (int e = 0; e < b->dim_count; ++e)
      if (a->extent[d] == b->extent[e] && pb_access_uses(&a->access[a->access_count - 1], d) &&
          moves_alike(&a->access[a->access_count - 1], d, &b->access[b->access_count - 1], e))
        join(t, &t->loop_of_dim[init][d], &t->loop_of_dim[sum][e], changed);
}

static void trace(tracer* t) {
  const pb_program* p = t->p;
  for (bool changed = true; changed;) {
    changed = false;
    for (int n = p->nest_count - 1; n >= 0; --n) {
      for (int a = 0; a < p->nests[n].access_count; ++a)
        if (pb_program_is_local(p, p->value_of[n][a])) trace_access(t, n, a, &changed);
      PB_FOR_USES (k, p, pb_program_stored(p, n))
        if (k < n && p->nests[n].reduce != PB_SET && pb_program_same_place(p, k, n)) trace_init(t, k, n, &changed);
    }
  }
}

static int dim_of_loop(const tracer* t, int n, int loop) {
  int found = -1;
  for (int d = 0; d < t->p->nests[n].dim_count; ++d)
    if (t->loop_of_dim[n][d] == loop) found = found < 0 ? d : -2;
  return found;
}

// Whether the access moves along the loop by the index of the value that is the loop, and by no other.
static bool follows(const tracer* t, int n, int a, int loop, int dim) {
  const pb_access* access = &t->p->nests[n].access[a];
  int value = t->p->value_of[n][a], carried = 0, d;
  for (int r = 0; r < access->rank; ++r) {
    bool is_loop = t->loop_of_index[value][r] == loop;
    carried += is_loop;
    if (is_loop ? !pb_index_single(&access->index[r], &d) || d != dim : access->index[r].coef[dim] != 0) return false;
  }
  return carried == 1;
}

static bool is_shared(const tracer* t, int loop, int* dims) {
  if (t->broken[loop]) return false;
  for (int n = 0; n < t->p->nest_count; ++n) {
    const pb_nest* nest = &t->p->nests[n];
    dims[n] = dim_of_loop(t, n, loop);
    if (dims[n] < 0 || pb_nest_reduces_over(nest, dims[n])) return false;
    for (int a = 0; a < nest->access_count; ++a)
      if (pb_program_is_local(t->p, t->p->value_of[n][a]) && !follows(t, n, a, loop, dims[n])) return false;
  }
  return true;
}

static void find_shared(pb_stages* s, pb_arena* arena) {
  const pb_program* p = s->program;
  size_t nests = (size_t)p->nest_count;
  tracer t = {.p = p};
  t.loop_of_dim = pb_alloc_array(arena, nests, sizeof *t.loop_of_dim);
  t.loop_of_index = pb_alloc_array(arena, (size_t)p->value_count + 1, sizeof *t.loop_of_index);
  s->dim = pb_alloc_array(arena, nests, sizeof *s->dim);
  s->loop = pb_alloc_array(arena, (size_t)p->value_count + 1, sizeof *s->loop);
  memset(s->loop, 0xff, ((size_t)p->value_count + 1) * sizeof *s->loop);
  memset(t.loop_of_dim, 0xff, nests * sizeof *t.loop_of_dim);
  memset(t.loop_of_index, 0xff, ((size_t)p->value_count + 1) * sizeof *t.loop_of_index);
  int last = p->nest_count - 1, *dims = PB_NEW_ARRAY(arena, int, nests);
  for (int d = 0; d < p->nests[last].dim_count; ++d)
    if (pb_access_uses(&p->nests[last].access[p->nests[last].access_count - 1], d)) t.loop_of_dim[last][d] = d;
  trace(&t);
  for (int d = 0; d < p->nests[last].dim_count && s->shared < PB_MAX_SHARED; ++d) {
    if (t.loop_of_dim[last][d] != d || !is_shared(&t, d, dims)) continue;
    s->extent[s->shared] = p->nests[last].extent[d];
    for (int n = 0; n < p->nest_count; ++n) s->dim[n][s->shared] = dims[n];
    for (int v = 0; v < p->value_count; ++v)
      for (int r = 0; r < PB_NEST_RANK; ++r)
        if (t.loop_of_index[v][r] == d) s->loop[v][r] = s->shared;
    ++s->shared;
  }
}

// ---- stages ----

// By the nest's own dims: of what lies between only an iteration's part is there, which the loops around do not move.
static bool same_walk(const pb_nest* nest, int loads, int stores) {
  const pb_access *load = &nest->access[loads], *store = &nest->access[stores];
  for (int r = 0; r < load->rank && load->rank == store->rank; ++r)
    if (memcmp(load->index[r].coef, store->index[r].coef, PB_NEST_DIMS * sizeof *load->index[r].coef)) return false;
  return load->rank == store->rank;
}

// Whether the pointwise nest can take the sums in registers: it walks them as it walks what it stores.
static bool is_epilogue(const pb_program* p, int n, int value) {
  const pb_nest* nest = &p->nests[n];
  if (nest->reduce != PB_SET || nest->expr_count < 2) return false;
  for (int a = 0; a + 1 < nest->access_count; ++a)
    if (p->value_of[n][a] == value && !same_walk(nest, a, nest->access_count - 1)) return false;
  return true;
}

static int number_stages(const pb_program* p, pb_arena* arena, int* of) {
  int *number = PB_NEW_ARRAY(arena, int, (size_t)p->nest_count + 1), count = 0;
  for (int n = 0; n < p->nest_count; ++n) {
    bool last = true;
    for (int k = n + 1; k < p->nest_count; ++k) last &= of[k] != of[n];
    if (last) number[of[n]] = count++;
  }
  for (int n = 0; n < p->nest_count; ++n) of[n] = number[of[n]];
  return count;
}

int pb_stages_split(const pb_program* p, pb_arena* arena, int** of) {
  *of = PB_NEW_ARRAY(arena, int, (size_t)p->nest_count + 1);
  for (int n = 0; n < p->nest_count; ++n) (*of)[n] = n;
  for (int n = 0; n < p->nest_count; ++n) {
    if (p->nests[n].reduce == PB_SET) continue;
    int value = pb_program_stored(p, n);
    PB_FOR_USES (k, p, value)
      if (k < n && pb_program_writes(p, k, value)) (*of)[k] = n;
    for (int taker; pb_program_is_local(p, value) && (taker = pb_program_only_reader(p, value)) > n &&
                    is_epilogue(p, taker, value);) {
      (*of)[taker] = n;
      value = pb_program_stored(p, taker);
    }
  }
  return number_stages(p, arena, *of);
}

int pb_stages_split_first(const pb_program* p, pb_arena* arena, int** of) {
  int count = pb_stages_split(p, arena, of), sum = 0, taken = 0;
  while (sum < p->nest_count && ((*of)[sum] || p->nests[sum].reduce == PB_SET)) ++sum;
  for (int n = sum + 1; n < p->nest_count; ++n) taken += (*of)[n] == 0;
  if (sum == p->nest_count || !taken) return 0;
  for (int n = 0; n < p->nest_count; ++n) (*of)[n] += (*of)[n] > 0 || n > sum;
  return count + 1;
}

static bool in_one_stage(const pb_program* p, const int* of, int value) {
  int stage = -1;
  PB_FOR_USES (n, p, value) {
    if (stage >= 0 && of[n] != stage) return false;
    stage = of[n];
  }
  return true;
}

static bool same_shape(const pb_value* a, const pb_value* b) {
  return a->type == b->type && a->rank == b->rank && !memcmp(a->shape, b->shape, sizeof *a->shape * (size_t)a->rank);
}

// Whether the nest fills whole vectors of the rows that it stores. Where it does not, a last vector that begins
// earlier, so as to be whole, makes some elements twice. The tensor's own rows may be longer than what the nest stores
// of them.
static bool fills_vectors(const pb_nest* nest, int64_t lanes) {
  const pb_access* store = &nest->access[nest->access_count - 1];
  int64_t elements = 1, reach = 1; // along the row, and from the first to the last one
  for (int d = 0; d < nest->dim_count && store->rank; ++d) {
    int64_t step = store->index[store->rank - 1].coef[d];
    if (step < 0) return false;
    if (!step) continue;
    elements *= nest->extent[d];
    reach += step * (nest->extent[d] - 1);
  }
  return lanes > 0 && elements == reach && elements % lanes == 0;
}

// Whether all other nests that use the value run before nest n. Stages run one after the other, which is not the order
// of the nests: a stage stands where its last nest does.
static bool is_last_use(const pb_program* p, const int* of, int value, int n) {
  PB_FOR_USES (k, p, value)
    if (k != n && of[k] >= of[n]) return false;
  return true;
}

// The local that nest n reads for the last time, each element where it writes it and once, so that what it makes may
// take the local's place; -1: none.
static int taken_over(const pb_program* p, const int* of, int n, int64_t lanes) {
  const pb_nest* nest = &p->nests[n];
  const pb_value* made = &p->values[pb_program_stored(p, n)];
  if (nest->reduce != PB_SET || !fills_vectors(nest, lanes)) return -1;
  for (int a = 0; a + 1 < nest->access_count; ++a) {
    int value = p->value_of[n][a];
    bool fits = pb_program_is_local(p, value) && same_shape(&p->values[value], made) && is_last_use(p, of, value, n) &&
                pb_same_indices(&nest->access[a], &nest->access[nest->access_count - 1]);
    for (int b = 0; b + 1 < nest->access_count; ++b) fits &= b == a || p->value_of[n][b] != value;
    if (fits) return value;
  }
  return -1;
}

// Whether the stage sums: where it takes its sum in parts, what the parts leave lies in the place of the stage's
// result.
static bool sums_in_stage(const pb_program* p, const int* of, int stage) {
  for (int k = 0; k < p->nest_count; ++k)
    if (of[k] == stage && p->nests[k].reduce != PB_SET) return true;
  return false;
}

void pb_stages_homes(const pb_program* p, const int* of, int64_t lanes, pb_arena* arena, int** home) {
  *home = PB_NEW_ARRAY(arena, int, (size_t)p->value_count + 1);
  for (int v = 0; v < p->value_count; ++v) (*home)[v] = pb_program_is_local(p, v) && in_one_stage(p, of, v) ? -1 : v;
  for (int n = 0; n < p->nest_count; ++n) {
    int made = pb_program_stored(p, n), from = taken_over(p, of, n, lanes);
    if (from < 0 || (*home)[from] < 0 || (*home)[made] != made || !pb_program_is_local(p, made)) continue;
    if (pb_program_next_use(p, made, -1) == n && !sums_in_stage(p, of, of[n])) (*home)[made] = (*home)[from];
  }
}

// Of what lies between an iteration has a part only, whose ends are not those that a box tests.
static bool is_plain(const pb_program* p, int n) {
  const pb_nest* nest = &p->nests[n];
  for (int a = 0; a < nest->access_count; ++a)
    if (nest->access[a].boxed && pb_program_is_local(p, p->value_of[n][a])) return false;
  return nest->dim_count > 0 && !pb_program_is_fixed(p, n);
}

static bool is_block(const pb_stages* s, const pb_blocks* blocks, const pb_block* b) {
  int64_t unit = pb_key_loop_unit(s->program, &blocks->keys);
  return b->row >= 0 && b->rows >= 1 && b->row + b->rows <= s->extent[blocks->row] && b->key >= 0 && b->keys >= unit &&
         b->key + b->keys <= blocks->keys.keys && b->key % unit == 0 && b->keys % unit == 0;
}

// Of what the first reduction makes the one index that no shared loop walks.
bool pb_stages_keys(const pb_stages* s, pb_arena* arena, pb_key_loop* loop) {
  const pb_program* p = s->program;
  int n = 0, index = -1;
  while (n < p->nest_count && p->nests[n].reduce == PB_SET) ++n;
  if (n == p->nest_count || !pb_program_is_local(p, pb_program_stored(p, n))) return false;
  int first = pb_program_stored(p, n);
  for (int r = 0; r < p->values[first].rank; ++r) {
    bool lanes = s->rows_in_lanes && r + 1 == p->values[first].rank;
    if (s->loop[first][r] >= 0 || p->values[first].shape[r] == 1 || lanes) continue;
    if (index >= 0) return false;
    index = r;
  }
  return index >= 0 && pb_key_loop_find(p, first, index, arena, loop);
}

static bool read_blocks(pb_stages* s, MlirAttribute a, pb_arena* arena) {
  pb_blocks* blocks = PB_NEW(arena, pb_blocks);
  intptr_t numbers = mlirAttributeIsADenseI64Array(a) ? mlirDenseArrayGetNumElements(a) : 0;
  blocks->count = (int)(numbers / 4);
  if (numbers % 4 != 1 || numbers / 4 < 1 || numbers / 4 > PB_MAX_BLOCKS) return false;
  if (!pb_stages_keys(s, arena, &blocks->keys)) return false;
  blocks->row = (int)mlirDenseI64ArrayGetElement(a, 0);
  if (blocks->row < 0 || blocks->row >= s->shared) return false;
  for (int k = 0; k < blocks->count; ++k) {
    int64_t n[4];
    for (int i = 0; i < 4; ++i) n[i] = mlirDenseI64ArrayGetElement(a, 1 + 4 * k + i);
    blocks->items[k] = (pb_block){n[0], n[1], n[2], n[3]};
    if (!is_block(s, blocks, &blocks->items[k])) return false;
  }
  s->blocks = blocks;
  return true;
}

bool pb_stages_read(const pb_program* program, pb_arena* arena, pb_stages* s) {
  *s = (pb_stages){.program = program};
  for (int n = 0; n < program->nest_count; ++n)
    if (!is_plain(program, n)) return false;
  if (!program->nest_count) return false;
  find_shared(s, arena);
  if (mlirOperationIsNull(program->func)) return true;
  MlirAttribute blocks = pb_op_attribute(program->func, "pb.blocks");
  return mlirAttributeIsNull(blocks) || read_blocks(s, blocks, arena);
}

// The lanes of index r of a value, where some accesses walk it by blocks and lanes and others by one dim; 0: not so.
static int64_t lanes_of(const pb_program* p, int v, int r) {
  int64_t lanes = 0, extent = p->values[v].shape[r], unit;
  int dim, lane;
  PB_FOR_ACCESSES (n, a, p, v) {
    if (!pb_walks_by_blocks(&p->nests[n], &p->nests[n].access[a].index[r], extent, &dim, &lane, &unit)) return 0;
    if (lane >= 0 && lanes && unit != lanes) return 0;
    if (lane >= 0) lanes = unit;
  }
  return lanes > 1 && p->values[v].rank < PB_NEST_RANK ? lanes : 0;
}

static void cut_index(pb_program* p, int v, int r, int64_t lanes) {
  int dim, lane;
  int64_t unit;
  PB_FOR_ACCESSES (n, a, p, v)
    if (pb_walks_by_blocks(&p->nests[n], &p->nests[n].access[a].index[r], p->values[v].shape[r], &dim, &lane, &unit) &&
        lane < 0)
      pb_nest_cut_dim(&p->nests[n], dim, lanes);
  pb_program_cut_value(p, v, r, lanes);
}

// What sets a sum walks by blocks and lanes what the sum does, if it is no value between.
static void cut_init(pb_nest* init, const pb_nest* sum) {
  const pb_access *set = &init->access[init->access_count - 1], *made = &sum->access[sum->access_count - 1];
  for (int e = 0; e < init->dim_count; ++e)
    for (int d = 0; d < sum->dim_count; ++d) {
      if (!moves_alike(set, e, made, d) || !pb_access_uses(made, d)) continue;
      if (init->extent[e] == sum->extent[d] || init->extent[e] % sum->extent[d]) continue;
      pb_nest_cut_dim(init, e, sum->extent[d]);
      break;
    }
}

static void cut_inits(pb_program* p) {
  for (int n = 0; n < p->nest_count; ++n)
    for (int k = 0; k < n && p->nests[n].reduce != PB_SET; ++k)
      if (p->nests[k].reduce == PB_SET && pb_program_same_place(p, k, n)) cut_init(&p->nests[k], &p->nests[n]);
}

void pb_stages_cut_rows(pb_program* p, int64_t lanes_alone) {
  for (bool changed = true; changed; cut_inits(p)) {
    changed = false;
    for (int v = 0; v < p->value_count; ++v)
      for (int r = 0; r < p->values[v].rank && pb_program_is_local(p, v); ++r) {
        int64_t lanes = lanes_of(p, v, r);
        if (!lanes || (lanes_alone && lanes != lanes_alone)) continue;
        cut_index(p, v, r++, lanes);
        changed = true;
      }
  }
}

static bool walks_rows(const pb_stages* s, int loop) {
  for (int v = 0; v < s->program->value_count; ++v) {
    int rank = s->program->values[v].rank;
    if (pb_program_is_local(s->program, v) && rank && s->loop[v][rank - 1] == loop) return true;
  }
  return false;
}

void pb_stages_keep_rows(pb_stages* s) {
  for (int k = s->shared - 1; k >= 0; --k) {
    if (!walks_rows(s, k)) continue;
    size_t behind = (size_t)(--s->shared - k);
    memmove(&s->extent[k], &s->extent[k + 1], behind * sizeof *s->extent);
    for (int n = 0; n < s->program->nest_count; ++n)
      memmove(&s->dim[n][k], &s->dim[n][k + 1], behind * sizeof *s->dim[n]);
    for (int v = 0; v < s->program->value_count; ++v)
      for (int r = 0; r < PB_NEST_RANK; ++r) {
        int* loop = &s->loop[v][r];
        *loop = *loop == k ? -1 : *loop > k ? *loop - 1 : *loop;
      }
  }
}

// Bytes of the kernel's arguments that sums in every iteration of a loop read alike.
static int64_t reused(const pb_stages* s, int loop) {
  const pb_program* p = s->program;
  int64_t bytes = 0;
  for (int n = 0; n < p->nest_count; ++n)
    for (int a = 0; p->nests[n].reduce != PB_SET && a + 1 < p->nests[n].access_count; ++a) {
      const pb_access* access = &p->nests[n].access[a];
      if (!pb_program_is_local(p, p->value_of[n][a]) && !pb_access_uses(access, s->dim[n][loop]))
        bytes += pb_value_bytes(&p->values[p->value_of[n][a]]);
    }
  return bytes;
}

// Whether loop a is to be inside loop b.
static bool goes_inside(const pb_stages* s, int a, int b) {
  int64_t more = reused(s, a) - reused(s, b);
  return more > 0 || (more == 0 && s->extent[a] > s->extent[b]);
}

static void swap_loops(pb_stages* s, int a, int b) {
  PB_SWAP(int64_t, s->extent[a], s->extent[b]);
  for (int n = 0; n < s->program->nest_count; ++n) PB_SWAP(int, s->dim[n][a], s->dim[n][b]);
  for (int v = 0; v < s->program->value_count; ++v)
    for (int r = 0; r < PB_NEST_RANK; ++r) {
      int* loop = &s->loop[v][r];
      *loop = *loop == a ? b : *loop == b ? a : *loop;
    }
}

void pb_stages_order_by_reuse(pb_stages* s) {
  for (int end = s->shared; end > 1; --end)
    for (int k = 0; k + 1 < end; ++k)
      if (goes_inside(s, k, k + 1)) swap_loops(s, k, k + 1);
}

// ---- programs of some of the nests ----

int pb_program_next_value(const pb_program* p, const int* nests, int count, int after) {
  int least = -1;
  for (int k = 0; k < count; ++k)
    for (int a = 0, n = nests[k]; a < p->nests[n].access_count; ++a) {
      int v = p->value_of[n][a];
      if (v > after && (least < 0 || v < least)) least = v;
    }
  return least;
}

static bool used_elsewhere(const pb_program* p, const int* nests, int count, int value) {
  PB_FOR_USES (n, p, value) {
    bool among = false;
    for (int k = 0; k < count; ++k) among |= nests[k] == n;
    if (!among) return true;
  }
  return false;
}

void pb_program_view(const pb_program* p, const int* nests, int count, pb_arena* arena, pb_program* out) {
  *out = (pb_program){.func = p->func, .nest_count = count, .reserved = p->reserved};
  out->nests = pb_alloc_raw(arena, (size_t)count * sizeof *out->nests);
  out->value_of = pb_alloc_array(arena, (size_t)count + 1, sizeof *out->value_of);
  out->gone = PB_NEW_ARRAY(arena, bool, (size_t)count + 1);
  for (int v = -1; (v = pb_program_next_value(p, nests, count, v)) >= 0;) ++out->value_count;
  out->value_capacity = out->value_count;
  out->values = PB_NEW_ARRAY(arena, pb_value, (size_t)out->value_count + 1);
  for (int k = 0; k < count; ++k) pb_nest_copy(&out->nests[k], &p->nests[nests[k]]);
  for (int v = -1, at = 0; (v = pb_program_next_value(p, nests, count, v)) >= 0; ++at) {
    out->values[at] = p->values[v];
    if (pb_program_is_local(p, v) && used_elsewhere(p, nests, count, v)) out->values[at].kind = PB_VALUE_INPUT;
    for (int k = 0; k < count; ++k)
      for (int a = 0; a < out->nests[k].access_count; ++a)
        if (p->value_of[nests[k]][a] == v) out->value_of[k][a] = at;
  }
  pb_program_index(out, arena);
}

// Of what nest n multiplies.
static void print_borders(const pb_program* p, int n, const int* number, pb_text* text) {
  for (int a = 0; a + 1 < p->nests[n].access_count; ++a) {
    int v = p->value_of[n][a];
    pb_border borders[PB_NEST_RANK];
    int count = pb_borders_of(&p->values[v], borders);
    if (count && !pb_program_multiplies(p, n, v)) continue;
    for (int b = 0; b < count; ++b)
      pb_text_add(text, "border %d: %lld %lld %lld\n", number[v], (long long)borders[b].stride,
                  (long long)borders[b].begin, (long long)borders[b].end);
  }
}

void pb_program_print_view(const pb_program* p, pb_arena* arena, pb_text* text) {
  int* number = PB_NEW_ARRAY(arena, int, (size_t)p->value_count + 1);
  int count = 0, serial = 0;
  for (int n = 0; n < p->nest_count; ++n) {
    pb_nest nest = p->nests[n];
    nest.name = "";
    for (int a = 0; a < nest.access_count; ++a) {
      int v = p->value_of[n][a];
      if (!number[v]) number[v] = ++count;
      nest.access[a].ref = pb_printf(arena, "%%v%d_%d", number[v], (int)p->values[v].kind);
    }
    pb_nest_print(text, &nest, 0, &serial);
  }
  for (int n = 0; n < p->nest_count; ++n) print_borders(p, n, number, text);
  for (int v = 0; v < p->value_count; ++v) {
    if (!p->values[v].expands) continue;
    pb_nest expands = *p->values[v].expands;
    for (int a = 0; a < expands.access_count; ++a) expands.access[a].ref = pb_printf(arena, "%%e%d_%d", number[v], a);
    expands.name = "";
    pb_nest_print(text, &expands, 0, &serial);
  }
}
