// Lifts look-ups: elements at indices that come at run time, or, where the indices are constant neighbours, a slice.
#include "core/s1/lift/lift.h"
#include "core/s1/places.h"

#include <stdlib.h>
#include <string.h>

// Constant indices.
typedef struct indices {
  int64_t *items, count; // items NULL: they are not constant
  int rank;
  int64_t shape[PB_GRAPH_RANK];
} indices;

// Whether they are first, first + step, ... with a step of 1 or more.
static bool steps(const indices* at, int64_t extent, int64_t* first, int64_t* step) {
  *first = at->items[0];
  *step = 1;
  for (int64_t k = 0; k < at->count; ++k) {
    int64_t place = at->items[k] < 0 ? at->items[k] + extent : at->items[k];
    if (place < 0 || place >= extent) return false;
    if (k == 0) *first = place;
    if (k == 1) *step = place - *first;
    if (*step < 1 || place != *first + k * *step) return false;
  }
  return true;
}

// The slice that the indices take, under the shape that they have.
static void gather_slice(lifter* l, const pb_node* n, const pb_s1_op* gather, int64_t first, int64_t step,
                         const indices* at) {
  pb_s1_op op = pb_s1_new_op(n->name, n->op, PB_S1_SLICE);
  const pb_s1_value x = l->out->values[gather->x];
  int64_t shape[PB_GRAPH_RANK], made[PB_GRAPH_RANK];
  int rank = 0, *result = &l->value_of[n->outputs[0]];
  memcpy(shape, x.shape, sizeof shape);
  for (int r = 0; r < x.rank; ++r) op.step[r] = 1;
  op.step[gather->axis] = step;
  op.start[gather->axis] = first;
  shape[gather->axis] = at->count;
  op.x = gather->x;
  op.y = pb__add_value(l, l->g->tensors[n->outputs[0]].name, x.type, x.rank, shape);
  pb__push_op(l, op);
  *result = op.y;
  if (at->rank == 1) return;
  for (int r = 0; r < x.rank; ++r) {
    if (r != gather->axis) made[rank++] = shape[r];
    for (int k = 0; r == gather->axis && k < at->rank; ++k) made[rank++] = at->shape[k];
  }
  *result = pb__reshaped(l, l->g->tensors[n->outputs[0]].name, op.y, rank, made);
  if (!pb_s1_merges(&l->out->values[op.y], &l->out->values[*result])) pb__own(l, n, result);
}

// y at constant indices, as copies of parts of x. false: they would be too many, or an index says no place, or rows of
// a table that is constant itself, which is read once as it is.
static bool gather_known(lifter* l, const pb_s1_op* gather, const indices* at, pb_arena* arena) {
  const pb_s1_value* x = &l->out->values[gather->x];
  int64_t extent = x->shape[gather->axis];
  if (!at->items || at->count > PB_PLACES_MOST || l->out->values[gather->y].rank > PB_NEST_RANK ||
      l->out->values[pb_s1_base(l->out, gather->x)].const_id >= 0)
    return false;
  pb_places p = {.x = gather->x, .y = gather->y};
  int64_t* table = PB_NEW_ARRAY(arena, int64_t, (size_t)at->count);
  for (int64_t k = 0; k < at->count; ++k) {
    table[k] = at->items[k] < 0 ? at->items[k] + extent : at->items[k];
    pb__guard_bound(l, at->items[k], extent);
    if (table[k] < 0 || table[k] >= extent) return false;
  }
  for (int r = 0, d = 0; r < x->rank; ++r) {
    bool looked_up = r == gather->axis;
    p.along[r] = looked_up ? -1 : d;
    if (looked_up) p.table[r] = table;
    for (int k = 0; looked_up && !gather->pointwise && k < at->rank; ++k) p.walked[d++] = true;
    if (gather->pointwise || !looked_up) p.walked[d++] = gather->pointwise;
  }
  pb_maker* m = PB_NEW(arena, pb_maker);
  *m = (pb_maker){.program = l->out, .consts = l->consts, .name = gather->name, .type = gather->type};
  return pb_make_places(m, &p);
}

// Of an axis that is there.
static pb_status gather(lifter* l, const pb_node* n, pb_s1_op op, const indices* at, pb_arena* arena) {
  const pb_s1_value x = l->out->values[op.x];
  int64_t first, step;
  if (at->items && at->rank + x.rank - 1 <= PB_GRAPH_RANK && !op.pointwise &&
      steps(at, x.shape[op.axis], &first, &step)) {
    gather_slice(l, n, &op, first, step, at);
    return PB_OK;
  }
  PB_TRY(pb__own_any(l, n, n->inputs[1], &op.z));
  const pb_s1_value z = l->out->values[op.z];
  int64_t shape[2 * PB_GRAPH_RANK];
  int rank = 0;
  if (op.pointwise) {
    bool fits = z.rank == x.rank;
    for (int r = 0; fits && r < x.rank; ++r) fits = r == op.axis || z.shape[r] <= x.shape[r];
    if (!fits) return pb__refuse(l, n, NULL, "indices that do not fit");
    rank = z.rank;
    memcpy(shape, z.shape, sizeof z.shape);
  }
  for (int r = 0; r < x.rank && !op.pointwise; ++r) {
    for (int k = 0; k < z.rank && r == op.axis; ++k) shape[rank++] = z.shape[k];
    if (r != op.axis) shape[rank++] = x.shape[r];
  }
  op.y = pb__add_value(l, l->g->tensors[n->outputs[0]].name, x.type, rank, shape);
  l->value_of[n->outputs[0]] = op.y;
  if (!gather_known(l, &op, at, arena)) pb__push_op(l, op);
  return PB_OK;
}

pb_status pb__lift_gather(lifter* l, const pb_node* n, bool* known) {
  pb_s1_op op = pb_s1_new_op(n->name, n->op, PB_S1_GATHER);
  op.pointwise = pb__is(n, "GatherElements");
  *known = op.pointwise || pb__is(n, "Gather");
  if (!*known) return PB_OK;
  PB_TRY(pb__own_any(l, n, pb__input(n, 0), &op.x));
  const pb_s1_value x = l->out->values[op.x];
  if (!pb__axis(pb_node_int(n, "axis", 0), x.rank, &op.axis))
    return pb__refuse(l, n, NULL, "an axis that is not there");
  l->unsigned_codes[n->outputs[0]] = l->unsigned_codes[n->inputs[0]];
  pb_type type = pb__type_of(l, pb__input(n, 1));
  if (type != PB_I64 && type != PB_I32) return pb__refuse(l, n, NULL, "indices that are neither i64 nor i32");
  const pb_const* c = pb__constant(l, n->inputs[1]);
  pb_arena scratch = {0};
  indices at = {.count = 0};
  at.items = pb__all_integers(l, n, 1, &scratch, &at.count);
  if (c) at.rank = c->rank;
  if (c) memcpy(at.shape, c->shape, sizeof at.shape);
  pb_status status = gather(l, n, op, &at, &scratch);
  pb_arena_free(&scratch);
  return status;
}
