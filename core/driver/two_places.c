// A loop whose turns end by copying what they made to where the next turn reads it, as
//
//     0: unless(c) -> 4                    0: unless(c) -> 6
//     1: k4(x, y, c)                       1: k4(x, y, c)
//     2: move(x, y) 65536 bytes            2: unless(c) -> 5
//     3: jump() -> 0                       3: k4(y, x, c)
//                                          4: jump() -> 0
//                                          5: move(x, y) 65536 bytes
//
// is two turns, of which each reads what the other one made: x and y change places instead of a copy. Who leaves the
// loop in front of the second turn finds the value in y, and copies it once.
//
// Needs: the steps of a loop's turn are all there, and no place of the arena has its offset yet. Leaves: the second
// turn behind the first, with places of its own for what lies inside of a turn.
#include "core/driver/host_places.h"

#include <stdlib.h>
#include <string.h>

enum { LEAST_BYTES = 4096, MOST_STEPS = 512, MOST_PAIRS = 16 };

typedef struct pair {
  int variable, value, step; // places; the step that moves
  uint64_t bytes;
} pair;

typedef struct doubling {
  pb_host* host;
  int begin, jump;    // the loop's first step, and the jump back
  const char* origin; // the loop's
  pair pairs[MOST_PAIRS];
  int count;
  int* place; // of the second turn, by place of the first; -1: none yet
} doubling;

static pb_step* step_at(const doubling* d, int s) { return &d->host->engine->steps[s]; }

// The place of the arena that an argument is, -1.
static int place_of(const pb_step* step, int argument) {
  const pb_arg* arg = &step->args[argument];
  return arg->space == PB_SPACE_ARENA ? (int)arg->value : -1;
}

static bool is_jump(const pb_step* step) { return step->op == PB_HOST_JUMP || step->op == PB_HOST_UNLESS; }

// How often steps of the loop other than launches write the place, or read it, from `first` on.
static int moved(const doubling* d, int place, int first, bool written) {
  int count = 0;
  for (int s = first; s <= d->jump; ++s) {
    const pb_step* step = step_at(d, s);
    if (step->op == PB_HOST_LAUNCH) continue;
    for (int a = 0; a < step->arg_count; ++a) count += (!a && !is_jump(step)) == written && place_of(step, a) == place;
  }
  return count;
}

// The moves that the turn ends with, of large tensors that a launch of this very turn has made.
static void find_pairs(doubling* d) {
  int first = d->jump;
  while (first > d->begin && step_at(d, first - 1)->op == PB_HOST_MOVE) --first;
  for (int s = first; s < d->jump && d->count < MOST_PAIRS; ++s) {
    const pb_step* step = step_at(d, s);
    pair p = {place_of(step, 0), place_of(step, 1), s, step->bytes};
    if (step->bytes < LEAST_BYTES || p.variable < 0 || p.value < 0) continue;
    const pb_host_place *variable = &d->host->places[p.variable], *value = &d->host->places[p.value];
    bool made_here = value->first >= d->begin && step_at(d, value->first)->op == PB_HOST_LAUNCH;
    if (!made_here || variable->bytes != value->bytes) continue;
    if (moved(d, p.variable, d->begin, true) > 1 || moved(d, p.variable, first, false)) continue;
    if (moved(d, p.value, d->begin, true) || moved(d, p.value, first, false) > 1) continue;
    d->pairs[d->count++] = p;
  }
}

static bool is_swapped(const doubling* d, int s) {
  for (int k = 0; k < d->count; ++k)
    if (d->pairs[k].step == s) return true;
  return false;
}

// Takes the pairs' moves out of the turn, and the jump back behind it.
static void take_moves(doubling* d, pb_host_span* loops, size_t loop_count) {
  int length = d->jump - d->begin, to = d->begin;
  int* at = malloc(sizeof *at * (size_t)(length + 2)); // where each step goes, by its number in the loop
  if (!at) pb_no_memory(sizeof *at * (size_t)(length + 2));
  for (int s = 0; s <= length + 1; ++s) {
    at[s] = to;
    to += s < length && !is_swapped(d, d->begin + s);
  }
  for (int s = 0; s < length; ++s) {
    pb_step* step = step_at(d, d->begin + s);
    if (is_swapped(d, d->begin + s)) continue;
    if (is_jump(step)) step->target = step->target <= d->jump ? at[step->target - d->begin] : -1; // -1: behind the loop
    if (step->like > d->begin) step->like = at[step->like - 1 - d->begin] + 1;
    *step_at(d, at[s]) = *step;
  }
  for (size_t p = 0; p < d->host->place_count; ++p) {
    pb_host_place* place = &d->host->places[p];
    if (place->first >= d->begin) place->first = at[place->first - d->begin];
    if (place->last >= d->begin) place->last = at[place->last - d->begin];
  }
  for (size_t l = 0; l < loop_count; ++l)
    if (loops[l].first >= d->begin)
      loops[l] = (pb_host_span){at[loops[l].first - d->begin], at[loops[l].last - d->begin]};
  d->jump = at[length];
  d->host->engine->step_count = d->jump;
  free(at);
}

// Where the second turn has what the first has in the place: values of the program where they are, but for the pairs.
static int second_place(doubling* d, int place) {
  for (int k = 0; k < d->count; ++k) {
    if (d->pairs[k].variable == place) return d->pairs[k].value;
    if (d->pairs[k].value == place) return d->pairs[k].variable;
  }
  if (place < d->host->value_places) return place;
  if (d->place[place] < 0) {
    pb_host_place other = d->host->places[place];
    other.first = other.last = -1;
    d->place[place] = pb__host_add(d->host, other);
  }
  return d->place[place];
}

static void add_second_turn(doubling* d) {
  pb_engine* e = d->host->engine;
  int length = d->jump - d->begin;
  for (int s = d->begin; s < d->jump; ++s) {
    int made = e->step_count++;
    pb_step* step = &e->steps[made];
    *step = *step_at(d, s);
    step->like = s + 1;
    if (is_jump(step) && step->target >= 0) step->target += length;
    for (int a = 0; a < step->arg_count; ++a) {
      int place = place_of(step, a);
      if (place >= 0) pb__host_use(d->host, made, a, second_place(d, place));
    }
  }
  e->steps[e->step_count++] = (pb_step){.op = PB_HOST_JUMP, .kernel = -1, .target = d->begin, .origin = d->origin};
}

// Copies behind the loop, for who leaves it in front of the second turn.
static void add_copies(doubling* d) {
  pb_engine* e = d->host->engine;
  int behind = e->step_count;
  for (int k = 0; k < d->count; ++k) {
    int s = e->step_count++;
    uint64_t bytes = d->pairs[k].bytes;
    e->steps[s] = (pb_step){.op = PB_HOST_MOVE, .kernel = -1, .bytes = bytes, .arg_count = 2};
    e->steps[s].origin = d->origin;
    pb__host_use(d->host, s, 0, d->pairs[k].variable);
    pb__host_use(d->host, s, 1, d->pairs[k].value);
  }
  for (int s = d->begin; s < behind; ++s)
    if (step_at(d, s)->target < 0 && is_jump(step_at(d, s)))
      step_at(d, s)->target = s < d->jump ? e->step_count : behind;
}

// Room for the second turn, the copies behind the loop, and all that was to come.
static void make_room(doubling* d) {
  pb_engine* e = d->host->engine;
  d->host->step_room += d->jump - d->begin + d->count + 1;
  pb_step* steps = PB_NEW_ARRAY(&e->arena, pb_step, (size_t)d->host->step_room);
  memcpy(steps, e->steps, sizeof *steps * (size_t)e->step_count);
  e->steps = steps;
}

pb_host_span pb__host_two_places(pb_host* host, pb_host_span loop, pb_host_span* inner, size_t inner_count) {
  doubling d = {.host = host, .begin = loop.first, .jump = loop.last};
  if (loop.last - loop.first > MOST_STEPS) return loop;
  d.origin = step_at(&d, d.jump)->origin;
  find_pairs(&d);
  if (!d.count) return loop;
  size_t places = host->place_count;
  d.place = malloc(places * sizeof *d.place);
  if (!d.place) pb_no_memory(places * sizeof *d.place);
  memset(d.place, 0xff, places * sizeof *d.place);
  make_room(&d);
  take_moves(&d, inner, inner_count);
  add_second_turn(&d);
  loop.last = host->engine->step_count - 1;
  add_copies(&d);
  free(d.place);
  return loop;
}
