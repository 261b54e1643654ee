// Several programs of one model, for other extents or targets: their constants become one, and what they must have in
// common.
#include "core/artefact/format.h"

#include <stdlib.h>
#include <string.h>

typedef struct constant {
  const uint8_t* bytes;
  uint64_t count, hash, at; // at: in the common constants
} constant;

typedef struct pool {
  constant* items;
  size_t count, capacity;
  size_t* buckets; // an item more; 0: none
  size_t bucket_count;
  size_t* chain; // by item
  size_t chain_count, chain_capacity;
  uint64_t bytes;
} pool;

static int by_value(const void* a, const void* b) {
  uint64_t x = *(const uint64_t*)a, y = *(const uint64_t*)b;
  return (x > y) - (x < y);
}

// Where the engine's constants begin, each once, in order, and their end; malloc'ed.
static uint64_t* starts_of(const pb_engine* e, size_t* count) {
  size_t all = 0, kept = 0;
  for (int s = 0; s < e->step_count; ++s) all += (size_t)e->steps[s].arg_count;
  uint64_t* starts = malloc((all + 2) * sizeof *starts);
  if (!starts) pb_no_memory((all + 2) * sizeof *starts);
  all = 0;
  for (int s = 0; s < e->step_count; ++s)
    for (int a = 0; a < e->steps[s].arg_count; ++a)
      if (pb_is_constant(&e->steps[s].args[a])) starts[all++] = e->steps[s].args[a].value;
  starts[all++] = e->const_bytes;
  qsort(starts, all, sizeof *starts, by_value);
  for (size_t k = 0; k < all; ++k)
    if (!kept || starts[kept - 1] != starts[k]) starts[kept++] = starts[k];
  *count = kept - 1;
  return starts;
}

static uint64_t place(pool* p, const uint8_t* bytes, uint64_t count) {
  constant new = {bytes, count, pb__crc64(0, bytes, count), pb__align_up(p->bytes, PB_ENGINE_ALIGN)};
  size_t* bucket = &p->buckets[new.hash % p->bucket_count];
  for (size_t k = *bucket; k; k = p->chain[k - 1]) {
    const constant* old = &p->items[k - 1];
    if (old->hash == new.hash && old->count == count && !memcmp(old->bytes, bytes, count)) return old->at;
  }
  PB_PUSH(p->items, p->count, p->capacity, new);
  PB_PUSH(p->chain, p->chain_count, p->chain_capacity, *bucket);
  *bucket = p->count;
  p->bytes = new.at + count;
  return new.at;
}

static void move_arguments(pb_engine* e, const uint64_t* starts, const uint64_t* to, size_t count) {
  for (int s = 0; s < e->step_count; ++s)
    for (int a = 0; a < e->steps[s].arg_count; ++a) {
      pb_arg* arg = &e->steps[s].args[a];
      if (!pb_is_constant(arg)) continue;
      const uint64_t* at = bsearch(&arg->value, starts, count, sizeof *starts, by_value);
      arg->value = to[at - starts];
    }
}

// Constants of the system's memory, and of those that they lie in apart.
enum { MEMORIES = 1 + PB_ENGINE_MAX_APART };

static void open_pool(pool* p) {
  *p = (pool){.bucket_count = 4096};
  p->buckets = calloc(p->bucket_count, sizeof *p->buckets);
  if (!p->buckets) pb_no_memory(p->bucket_count * sizeof *p->buckets);
}

static void close_pool(pool* p) {
  free(p->items);
  free(p->chain);
  free(p->buckets);
}

// Offsets in the pools; those of each are moved behind the one before when that is full.
static void pool_engine(pool* pools, const pb_engine* e, const uint64_t* starts, uint64_t* to, size_t count) {
  uint64_t ends[PB_ENGINE_MAX_APART];
  for (int k = 0; k < PB_ENGINE_MAX_APART; ++k) ends[k] = pb_engine_apart(e, k);
  for (size_t k = 0; k < count; ++k) {
    int m = 0;
    while (m + 1 < MEMORIES && starts[k] >= ends[m]) ++m;
    to[k] = place(&pools[m], e->consts + starts[k], starts[k + 1] - starts[k]);
  }
}

static void move_behind(pb_engine* e, const uint64_t* behind) {
  for (int s = 0; s < e->step_count; ++s)
    for (int a = 0; a < e->steps[s].arg_count; ++a) {
      int number = pb_apart_memory(&e->steps[s].args[a]);
      if (number >= 0) e->steps[s].args[a].value += behind[number + 1];
    }
}

void pb_engine_share(pb_engine* first) {
  pool pools[MEMORIES];
  for (int m = 0; m < MEMORIES; ++m) open_pool(&pools[m]);
  for (pb_engine* e = first; e; e = e->next) {
    size_t count;
    uint64_t *starts = starts_of(e, &count), *to = malloc((count + 1) * sizeof *to);
    if (!to) pb_no_memory((count + 1) * sizeof *to);
    pool_engine(pools, e, starts, to, count);
    move_arguments(e, starts, to, count);
    free(starts);
    free(to);
  }
  uint64_t behind[MEMORIES], bytes = 0;
  for (int m = 0; m < MEMORIES; ++m) {
    behind[m] = bytes;
    bytes += pb__align_up(pools[m].bytes, PB_ENGINE_ALIGN);
  }
  uint8_t* all = pb_alloc(&first->arena, bytes + 1);
  for (int m = 0; m < MEMORIES; ++m)
    for (size_t k = 0; k < pools[m].count; ++k) {
      const constant* item = &pools[m].items[k];
      if (item->count) memcpy(all + behind[m] + item->at, item->bytes, item->count);
    }
  for (pb_engine* e = first; e; e = e->next) {
    move_behind(e, behind);
    e->consts = all;
    e->const_bytes = bytes;
    e->shares = e != first;
  }
  for (int m = 0; m < MEMORIES; ++m) close_pool(&pools[m]);
}

static bool same_tensors(int count, const pb_tensor_info* a, int others, const pb_tensor_info* b) {
  bool same = count == others;
  for (int k = 0; same && k < count; ++k)
    same = !strcmp(a[k].name, b[k].name) && a[k].type == b[k].type && a[k].rank == b[k].rank;
  return same;
}

static bool same_shapes(const pb_engine* a, const pb_engine* b) {
  bool same = true;
  for (int k = 0; k < a->input_count; ++k)
    for (int d = 0; d < a->inputs[k].rank; ++d) same &= a->inputs[k].shape[d] == b->inputs[k].shape[d];
  return same;
}

static bool same_target(const pb_engine* a, const pb_engine* b) { return !strcmp(a->target, b->target); }

// The profile of that number of the first target.
static const pb_engine* first_of(const pb_engine* first, int number) {
  for (; number; --number) first = first->next;
  return first;
}

// Profiles stand target by target, of each those of the first, in its order; several are of grids alone.
static pb_status check_targets(const pb_engine* first, const char* path, int code, pb_diag* diag) {
  pb_place place = {.file = path};
  int each = 0, number = 0;
  const pb_engine *last = NULL, *e = first;
  for (; e && same_target(e, first); e = e->next) ++each;
  if (!e) return PB_OK;
  for (e = first; e; last = e, e = e->next, number = (number + 1) % each) {
    if (last && (number ? !same_target(e, last) : same_target(e, last)))
      return pb_error(diag, place, code, NULL, "targets with other numbers of profiles");
    if (!same_shapes(e, first_of(first, number)))
      return pb_error(diag, place, code, NULL, "targets with profiles for other shapes");
    if (e->kernel_count && !pb_engine_has_grid(e))
      return pb_error(diag, place, code, "GPUs", "several targets, and '%s' is controlled otherwise", e->target);
  }
  return number ? pb_error(diag, place, code, NULL, "targets with other numbers of profiles") : PB_OK;
}

pb_status pb__profiles_check(const pb_engine* first, const char* path, int code, pb_diag* diag) {
  pb_place place = {.file = path};
  int count = 0;
  for (const pb_engine* e = first; e; e = e->next) {
    if (++count > PB_ENGINE_MAX_PROFILES)
      return pb_error(diag, place, code, NULL, "more than %d profiles", PB_ENGINE_MAX_PROFILES);
    if (e->const_bytes != first->const_bytes)
      return pb_error(diag, place, code, NULL, "profiles with constants of their own");
    if (!same_tensors(e->input_count, e->inputs, first->input_count, first->inputs) ||
        !same_tensors(e->output_count, e->outputs, first->output_count, first->outputs))
      return pb_error(diag, place, code, NULL, "profiles whose tensors are not of the same names, types and ranks");
    for (const pb_engine* other = first; other != e; other = other->next) {
      if (!same_target(e, other)) continue;
      if (memcmp(e->chip_hash, other->chip_hash, sizeof e->chip_hash))
        return pb_error(diag, place, code, NULL, "profiles for several descriptions of '%s'", e->target);
      if (same_shapes(e, other))
        return pb_error(diag, place, code, "extents that differ", "two profiles for the same shapes of all inputs");
    }
  }
  return check_targets(first, path, code, diag);
}
