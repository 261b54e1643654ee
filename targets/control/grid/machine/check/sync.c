// What atomics hand on (8.7 to 8.10 of the PTX ISA): a release at a place, by itself or by a fence before it, and an
// acquire that finds it there, by itself or by a fence behind it. What came before the one comes before what is behind
// the other.
#include "targets/control/grid/machine/block.h"

#include <pthread.h>
#include <stdlib.h>

// A place and all that has been released there, by block.
struct grid_place {
  uint64_t address;
  grid_heard* heard;
  size_t count, capacity;
};

struct grid_places {
  pthread_mutex_t lock;
  struct grid_place* places;
  size_t count, capacity;
};

struct grid_places* grid__places_open(void) {
  struct grid_places* p = calloc(1, sizeof *p);
  if (p) pthread_mutex_init(&p->lock, NULL);
  return p;
}

void grid__places_close(struct grid_places* p) {
  if (!p) return;
  for (size_t n = 0; n < p->count; ++n) free(p->places[n].heard);
  free(p->places);
  pthread_mutex_destroy(&p->lock);
  free(p);
}

static struct grid_place* find(struct grid_places* p, uint64_t address, bool make) {
  for (size_t n = 0; n < p->count; ++n)
    if (p->places[n].address == address) return &p->places[n];
  if (!make) return NULL;
  struct grid_place new = {.address = address};
  PB_PUSH(p->places, p->count, p->capacity, new);
  return &p->places[p->count - 1];
}

static void merge(grid_heard** list, size_t* count, size_t* capacity, const grid_heard* h, bool by_hearer) {
  for (size_t n = 0; n < *count; ++n) {
    grid_heard* old = &(*list)[n];
    if (old->tag != h->tag || (by_hearer && (old->by != h->by || old->at != h->at))) continue;
    for (int o = 0; o < GRID_MAX_WARPS; ++o)
      if (h->clocks[o] > old->clocks[o]) old->clocks[o] = h->clocks[o];
    return;
  }
  PB_PUSH(*list, *count, *capacity, *h);
}

// Whether warp w has heard what warp `by` of its block heard at `at`.
static bool reached(const grid_block* b, const grid_warp* w, const grid_heard* h) {
  return h->by == w->index || b->known[w->index][h->by] > h->at;
}

bool grid__synced(const grid_block* b, const grid_warp* w, uint32_t tag, uint32_t warp, uint32_t clock) {
  for (size_t n = 0; n < b->heard_count; ++n)
    if (b->heard[n].tag == tag && b->heard[n].clocks[warp] > clock && reached(b, w, &b->heard[n])) return true;
  return false;
}

static void acquire(grid_block* b, grid_warp* w) {
  for (size_t n = 0; n < w->asked_count; ++n) {
    grid_heard* h = &w->asked[n];
    if (h->tag == b->tag) { // of this block: what barriers say, too
      for (uint32_t o = 0; o < b->warp_count; ++o)
        if (o != w->index && h->clocks[o] > b->known[w->index][o]) b->known[w->index][o] = h->clocks[o];
      grid__know_least(b, w);
      continue;
    }
    h->by = w->index;
    h->at = w->clock;
    merge(&b->heard, &b->heard_count, &b->heard_capacity, h, true);
  }
  w->asked_count = 0;
}

// All that w knows now, with what it did itself.
static void snapshot(grid_block* b, grid_warp* w) {
  grid__release(b, w);
  w->fence = (grid_heard){.tag = b->tag};
  memcpy(w->fence.clocks, b->known[w->index], sizeof w->fence.clocks);
  w->fence.clocks[w->index] = w->clock;
  w->fenced = true;
}

void grid__fence(grid_block* b, grid_warp* w) {
  acquire(b, w);
  snapshot(b, w);
}

void grid__sync(const grid_request* q, bool reads, bool writes, bool acquires, bool releases) {
  grid_block* b = q->block;
  grid_warp* w = q->warp;
  struct grid_places* places = b->launch->places;
  if (!b->launch->device->check) return;
  if (releases) snapshot(b, w);
  if (!w->fenced && !reads) return;
  pthread_mutex_lock(&places->lock);
  for (uint32_t m = q->mask; m; m &= m - 1) {
    int l = __builtin_ctz(m);
    struct grid_place* place = find(places, q->address[l], writes && w->fenced);
    for (size_t n = 0; place && reads && n < place->count; ++n)
      merge(&w->asked, &w->asked_count, &w->asked_capacity, &place->heard[n], false);
    if (place && writes && w->fenced) {
      merge(&place->heard, &place->count, &place->capacity, &w->fence, false);
      for (size_t n = 0; n < b->heard_count; ++n)
        if (reached(b, w, &b->heard[n])) merge(&place->heard, &place->count, &place->capacity, &b->heard[n], false);
    }
    if (q->uniform) break;
  }
  pthread_mutex_unlock(&places->lock);
  if (acquires) acquire(b, w);
}
