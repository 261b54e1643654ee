// Scatter at places that the model itself says: no index is left to be read at run time. The operand falls into boxes,
// those of the windows and those around them, and each is made by a nest of its own. Windows that meet are made one
// after the other, each on what the one before left.
#include "core/frontend/stablehlo/operators/pieces.h"

#include <string.h>

enum { MOST_PIECES = 64, MOST_ROUNDS = 4 };

typedef struct box {
  int64_t lo[PB_NEST_RANK], hi[PB_NEST_RANK];
} box;

// A nest to be made: a window's, or a copy of what no window of its round changes.
typedef struct piece {
  int round, window; // window -1: a copy
  box at;
} piece;

typedef struct cutter {
  int rank, count, rounds, begin; // begin: the first piece of the round
  piece pieces[MOST_PIECES];
} cutter;

static bool meets(const box* a, const box* b, int rank) {
  for (int r = 0; r < rank; ++r)
    if (a->lo[r] >= b->hi[r] || b->lo[r] >= a->hi[r]) return false;
  return true;
}

static bool add(cutter* c, int window, const box* at) {
  if (c->count == MOST_PIECES) return false;
  c->pieces[c->count++] = (piece){c->rounds - 1, window, *at};
  return true;
}

// What is left of a piece without the box: slabs in front of it and behind, dim by dim.
static bool cut_off(cutter* c, int k, const box* out) {
  box rest = c->pieces[k].at;
  c->pieces[k] = c->pieces[--c->count];
  for (int r = 0; r < c->rank; ++r)
    for (int behind = 0; behind < 2; ++behind) {
      box slab = rest;
      if (behind)
        slab.lo[r] = out->hi[r] > rest.lo[r] ? out->hi[r] : rest.lo[r];
      else
        slab.hi[r] = out->lo[r] < rest.hi[r] ? out->lo[r] : rest.hi[r];
      if (slab.lo[r] >= slab.hi[r]) continue;
      if (!add(c, -1, &slab)) return false;
      if (behind)
        rest.hi[r] = slab.lo[r];
      else
        rest.lo[r] = slab.hi[r];
    }
  return true;
}

static bool begin_round(cutter* c, const box* whole) {
  if (c->rounds++ == MOST_ROUNDS) return false;
  c->begin = c->count;
  return add(c, -1, whole);
}

static bool is_changed(const cutter* c, const box* at) {
  for (int k = c->begin; k < c->count; ++k)
    if (c->pieces[k].window >= 0 && meets(&c->pieces[k].at, at, c->rank)) return true;
  return false;
}

static bool cut_all(cutter* c, const box* whole, int count, const pb_door_window* windows) {
  if (!begin_round(c, whole)) return false;
  for (int w = 0; w < count; ++w) {
    box at;
    memcpy(at.lo, windows[w].lo, sizeof at.lo);
    memcpy(at.hi, windows[w].hi, sizeof at.hi);
    if (!meets(&at, whole, c->rank)) continue;
    if (is_changed(c, &at) && !begin_round(c, whole)) return false;
    for (int k = c->count - 1; k >= c->begin; --k)
      if (c->pieces[k].window < 0 && meets(&c->pieces[k].at, &at, c->rank) && !cut_off(c, k, &at)) return false;
    if (!add(c, w, &at)) return false;
  }
  return true;
}

static int load_box(pb_door* d, int value, const box* at, const int* dims) {
  int access = pb_make_access(&d->m, value);
  pb_make_along(&d->m, access, dims);
  for (int r = 0; r < pb_made(&d->m, value)->rank; ++r) d->m.nest.access[access].index[r].cst = at->lo[r];
  return access;
}

static int load_update(pb_door* d, int u, const box* at, const int* dims, const int* walks, const pb_door_window* w) {
  int access = pb_make_access(&d->m, u);
  for (int s = 0; s < pb_made(&d->m, u)->rank; ++s) {
    pb_index* index = &d->m.nest.access[access].index[s];
    int r = walks[s];
    index->cst = r < 0 ? w->at[s] : at->lo[r] - w->from[r];
    if (r >= 0) pb_make_move(&d->m, access, s, dims[r], 1);
  }
  return access;
}

// Whether the body has nothing of what was there: its result is the update.
static bool only_sets(const pb_flat_op* op) {
  if (!op->region_count) return false;
  const pb_flat_block* b = &op->regions[0];
  return b->op_count == 1 && b->argument_count == 2 && b->ops[0].operand_count == 1 &&
         b->ops[0].operands[0] == b->arguments[1];
}

static pb_status make_piece(pb_door* d, const pb_flat_op* op, const piece* p, int from, int to, const int* walks,
                            const pb_door_window* windows) {
  const pb_type type = pb_made(&d->m, from)->type;
  int rank = pb_made(&d->m, from)->rank, dims[PB_NEST_RANK], u = pb__door_in(d, op, 2), arguments[2], result;
  bool copies = p->window < 0 || only_sets(op);
  (void)pb_make_start(&d->m, copies ? "copy" : "point");
  for (int r = 0; r < rank; ++r) dims[r] = pb_make_loop(&d->m, p->at.hi[r] - p->at.lo[r]);
  if (p->window < 0) {
    (void)pb_nest_load(&d->m.nest, load_box(d, from, &p->at, dims));
  } else if (copies) {
    (void)pb_nest_load(&d->m.nest, load_update(d, u, &p->at, dims, walks, &windows[p->window]));
  } else {
    arguments[0] = pb_scalar_load(&d->m.nest, load_box(d, from, &p->at, dims), type);
    arguments[1] = pb_scalar_load(&d->m.nest, load_update(d, u, &p->at, dims, walks, &windows[p->window]), type);
    PB_TRY(pb__door_body(d, &d->m.nest, op, 0, (pb_door_ends){2, arguments}, 1, &type, &result));
    pb__door_last(d, result, type);
  }
  (void)load_box(d, to, &p->at, dims);
  pb_make_finish(&d->m);
  return PB_OK;
}

pb_status pb__door_change_windows(pb_door* d, const pb_flat_op* op, const int* walks, int count,
                                  const pb_door_window* windows, bool* made) {
  int from = pb__door_in(d, op, 0), to = -1;
  const pb_s1_value x = *pb_made(&d->m, from);
  cutter c = {.rank = x.rank};
  box whole = {{0}, {0}};
  memcpy(whole.hi, x.shape, sizeof(int64_t) * (size_t)x.rank);
  *made = cut_all(&c, &whole, count, windows);
  if (!*made) return PB_OK;
  for (int k = 0, round = -1; k < c.count; ++k) {
    if (c.pieces[k].round != round) {
      round = c.pieces[k].round;
      from = to >= 0 ? to : from;
      to = round + 1 == c.rounds ? pb__door_result(d, op, 0) : pb_make_value(&d->m, x.type, x.rank, x.shape);
    }
    PB_TRY(make_piece(d, op, &c.pieces[k], from, to, walks, windows));
  }
  return PB_OK;
}
