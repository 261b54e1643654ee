// Elements at places that come at run time: what reads them, and what changes them there. All dims of such a tensor
// count as one, so that one number says where.
#include "core/frontend/stablehlo/operators/pieces.h"
#include "core/s1/control.h"
#include "core/s1/places.h"

#include <string.h>

static int two(pb_nest* n, pb_op op, int a, int b) { return pb_nest_node(n, op, n->expr[a].type, a, b); }
static int number(pb_nest* n, int64_t value) { return pb_nest_integer(n, PB_I64, value); }

static int index_number(pb_nest* n, int access, pb_type type) {
  int v = pb_scalar_converted(n, pb_scalar_load(n, access, type), type, PB_I64);
  return type == PB_UI64 ? two(n, PB_OP_MINU, v, number(n, INT64_MAX)) : v;
}

static int kept(pb_nest* n, int v, int64_t most) {
  int last = number(n, most);
  return two(n, PB_OP_MIN, two(n, PB_OP_MAX, v, number(n, 0)), last);
}

static int plus(pb_nest* n, int sum, int v, int64_t stride) {
  if (stride != 1) v = two(n, PB_OP_MUL, v, number(n, stride));
  return sum < 0 ? v : two(n, PB_OP_ADD, sum, v);
}

int pb__door_turn(pb_nest* n, int dim) {
  if (dim < 0) return number(n, 0);
  int id = pb_nest_node(n, PB_OP_INDEX, PB_I64, -1, -1);
  n->expr[id].operand = dim;
  return id;
}

int pb__door_as_place(pb_nest* n, int at) {
  return pb_nest_node(n, PB_OP_SEXT, PB_INDEX, at < 0 ? number(n, 0) : at, -1);
}

int pb__door_within(pb_nest* n, int v, int64_t least, int64_t most) {
  int low = pb_nest_node(n, PB_OP_MAX, PB_I64, v, pb_nest_integer(n, PB_I64, least));
  return pb_nest_node(n, PB_OP_MIN, PB_I64, low, pb_nest_integer(n, PB_I64, most));
}

int pb__door_chosen(pb_nest* n, int truth, int yes, int no) {
  int id = pb_nest_node(n, PB_OP_SELECT, n->expr[yes].type, truth, yes);
  n->expr[id].args[2] = no;
  return id;
}

static void strides_of(const pb_s1_value* v, int64_t* stride) {
  int64_t all = 1;
  for (int r = v->rank - 1; r >= 0; --r) {
    stride[r] = all;
    all *= v->shape[r];
  }
}

// ---- slices ----

static const char within[] = "a slice is no larger than its tensor";

// Where a part of `size` begins along dim r, kept inside, as a node: operand `first` + r, or of real_dynamic_slice an
// element of its second operand.
static pb_status start_along(pb_door* d, const pb_flat_op* op, int first, int r, const pb_s1_value* x, int64_t size,
                             int* node) {
  bool listed = !strcmp(op->name, "stablehlo.real_dynamic_slice");
  int v = pb__door_in(d, op, listed ? 1 : first + r);
  const pb_s1_value from = *pb_made(&d->m, v);
  if (from.rank != listed || pb_type_is_float(from.type) || from.type == PB_I1)
    return pb__door_refuse(d, op, "a start that is no integer");
  pb_consts_guard(d->m.consts, false, size, x->shape[r], within);
  int access = pb_make_access(&d->m, v);
  if (listed) d->m.nest.access[access].index[0].cst = r;
  *node = kept(&d->m.nest, index_number(&d->m.nest, access, from.type), x->shape[r] - size);
  return PB_OK;
}

static bool has_starts(const pb_door* d, const pb_flat_op* op, int first, int rank) {
  if (strcmp(op->name, "stablehlo.real_dynamic_slice") != 0) return op->operand_count == first + rank;
  const pb_s1_value* list = pb_made(&d->m, pb__door_in(d, op, 1));
  return list->rank == 1 && list->shape[0] == rank;
}

static pb_status starts(pb_door* d, const pb_flat_op* op, int first, const pb_s1_value* x, const int64_t* size,
                        int* at) {
  int64_t stride[PB_NEST_RANK];
  strides_of(x, stride);
  *at = -1;
  if (!has_starts(d, op, first, x->rank)) return pb__door_refuse(d, op, "a start for each dimension");
  for (int r = 0; r < x->rank; ++r) {
    int start = -1;
    if (size[r] == x->shape[r]) { // it can begin at 0 alone
      pb_consts_guard(d->m.consts, false, size[r], x->shape[r], within);
      continue;
    }
    PB_TRY(start_along(d, op, first, r, x, size[r], &start));
    *at = plus(&d->m.nest, *at, start, stride[r]);
  }
  return PB_OK;
}

// In how many dims a part is narrower than its whole. *axis: the last one of them; 0: in none.
static int narrow_dims(const pb_s1_value* whole, const int64_t* part, int* axis) {
  int count = 0;
  *axis = 0;
  for (int r = 0; r < whole->rank; ++r)
    if (part[r] != whole->shape[r]) *axis = r, ++count;
  return count;
}

// The dim in which a part is narrower than its whole; 0: in none. -1: in several.
static int narrow_dim(const pb_s1_value* whole, const int64_t* part) {
  int axis;
  return narrow_dims(whole, part, &axis) > 1 ? -1 : axis;
}

// Of one dim alone: the tensor is read as it lies.
static pb_status slice_along(pb_door* d, const pb_flat_op* op, int axis, int x, int y, int64_t size) {
  const pb_s1_value in = *pb_made(&d->m, x);
  int dims[PB_NEST_RANK], start = -1;
  pb_nest* n = pb_make_walk(&d->m, "gather", y, dims);
  PB_TRY(start_along(d, op, 1, axis, &in, size, &start));
  int place = pb__door_as_place(n, start), access = pb_make_access(&d->m, x);
  pb_make_along(&d->m, access, dims);
  (void)pb_nest_gather(n, access, axis, place);
  pb_make_end(&d->m, y, dims);
  return PB_OK;
}

pb_status pb__door_slice_at(pb_door* d, const pb_flat_op* op, const int64_t* size) {
  int x = pb__door_in(d, op, 0), y = pb__door_result(d, op, 0), dims[PB_NEST_RANK], at;
  const pb_s1_value in = *pb_made(&d->m, x), out = *pb_made(&d->m, y);
  bool fits = size && in.rank == out.rank;
  for (int r = 0; fits && r < in.rank; ++r) fits = size[r] == out.shape[r] && size[r] <= in.shape[r];
  if (!fits) return pb__door_refuse(d, op, "sizes that do not fit");
  int axis = narrow_dim(&in, size);
  if (in.rank && axis >= 0 && size[axis] != in.shape[axis] && has_starts(d, op, 1, in.rank))
    return slice_along(d, op, axis, x, y, size[axis]);
  int flat = pb__door_flat(d, x);
  pb_nest* n = pb_make_walk(&d->m, "gather", y, dims);
  PB_TRY(starts(d, op, 1, &in, size, &at));
  int access = pb_make_access(&d->m, flat);
  pb_make_flat(&d->m, access, in.rank, in.shape, dims);
  (void)pb_nest_gather(n, access, 0, pb__door_as_place(n, at));
  pb_make_end(&d->m, y, dims);
  return PB_OK;
}

pb_status pb__door_dynamic_slice(pb_door* d, const pb_flat_op* op) {
  return pb__door_slice_at(d, op, pb__door_ints(d, op, "slice_sizes", pb_made(&d->m, pb__door_in(d, op, 0))->rank, 0));
}

// What y begins as, in one dim; y itself where it has one.
static int begun(pb_door* d, int x, int y) {
  int64_t all = pb_made_elements(&d->m, y);
  int flat = pb_made(&d->m, y)->rank == 1 ? y : pb_make_value(&d->m, pb_made(&d->m, y)->type, 1, &all);
  pb_make_copy(&d->m, x, flat);
  return flat;
}

static void ended(pb_door* d, int flat, int y) {
  if (flat != y) pb_make_copy(&d->m, flat, y);
}

// The value, the last node, goes to what `flat` has at node `at` more than the access's index says.
static void store_at(pb_door* d, int flat, int at, int access_like) {
  pb_nest* n = &d->m.nest;
  int to = pb_make_access(&d->m, flat);
  if (access_like >= 0) memcpy(n->access[to].index, n->access[access_like].index, sizeof n->access[to].index);
  n->access[to].gathered = 1;
  n->stored_at = at;
  n->reduce = PB_ACC_BODY;
  pb_make_finish(&d->m);
}

// Whether nobody but the update reads what is in the variable by now, under whatever name: as a function's argument,
// behind a barrier, as what an update before has left.
static bool has_one_reader(const pb_door* d, int variable) {
  for (int flat = 0; flat < d->flat->value_count; ++flat)
    if (d->value[flat] == variable && d->uses[flat] > 1) return false;
  return true;
}

// Whether a loop's variable can be updated where it lies: nobody else reads what is there by now, an update before this
// one among it, and the turn is sure to come here.
static bool updates_variable(const pb_door* d, const pb_flat_op* op, int x, int u) {
  const pb_s1_value *in = pb_made(&d->m, x), *update = pb_made(&d->m, u);
  if (!in->is_updated || d->branches || d->part || !in->rank || op->operand_count != 2 + in->rank) return false;
  if (!has_one_reader(d, x)) return false;
  int axis = narrow_dim(in, update->shape), index = axis < 0 ? -1 : pb__door_in(d, op, 2 + axis);
  pb_type type = index < 0 ? PB_TYPE_COUNT : pb_made(&d->m, index)->type;
  return pb_s1_base(d->m.program, u) != x && (type == PB_I32 || type == PB_I64) && !pb_made(&d->m, index)->rank;
}

// In the place of an input that is donated: nobody else may read what was there.
static pb_status place_in(pb_door* d, const pb_flat_op* op, int x, int u) {
  const pb_s1_value in = *pb_made(&d->m, x), update = *pb_made(&d->m, u);
  int axis, several = narrow_dims(&in, update.shape, &axis);
  if (!in.rank || several > 1)
    return pb__door_refuse(d, op, "an update of a donated argument that is narrower in %d dims", several);
  if (d->uses[op->operands[0]] != 1)
    return pb__door_refuse(d, op, "an update of a donated argument that is read elsewhere too");
  int index = op->operand_count == 2 + in.rank ? pb__door_in(d, op, 2 + axis) : -1;
  pb_type type = index < 0 ? PB_TYPE_COUNT : pb_made(&d->m, index)->type;
  if ((type != PB_I32 && type != PB_I64) || pb_made(&d->m, index)->rank)
    return pb__door_refuse(d, op, "a start that is no i32 or i64");
  pb_control_place(&d->m, x, u, axis, index);
  pb__door_set(d, op->results[0], (pb_door_value){x, -1});
  return PB_OK;
}

pb_status pb__door_dynamic_update_slice(pb_door* d, const pb_flat_op* op) {
  int x = pb__door_in(d, op, 0), u = pb__door_in(d, op, 1), dims[PB_NEST_RANK], at;
  const pb_s1_value in = *pb_made(&d->m, x), update = *pb_made(&d->m, u);
  bool fits = in.rank == update.rank && in.type == update.type && pb__door_alike(d, op, 0, 0);
  for (int r = 0; fits && r < in.rank; ++r) fits = update.shape[r] <= in.shape[r];
  if (!fits) return pb__door_refuse(d, op, "an update that does not fit");
  if (updates_variable(d, op, x, u)) {
    int axis = narrow_dim(&in, update.shape);
    pb_control_place(&d->m, x, u, axis, pb__door_in(d, op, 2 + axis));
    pb__door_set(d, op->results[0], (pb_door_value){x, -1});
    return PB_OK;
  }
  if (in.made_of) return place_in(d, op, x, u);
  int y = pb__door_result(d, op, 0), flat = begun(d, x, y);
  pb_nest* n = pb_make_walk(&d->m, "point", u, dims);
  PB_TRY(starts(d, op, 2, &in, update.shape, &at));
  int place = pb__door_as_place(n, at), from = pb_make_access(&d->m, u);
  pb_make_along(&d->m, from, dims);
  (void)pb_nest_load(n, from);
  int to = pb_make_access(&d->m, flat);
  pb_make_flat(&d->m, to, in.rank, in.shape, dims);
  n->access[to].gathered = 1;
  n->stored_at = place;
  n->reduce = PB_ACC_BODY;
  pb_make_finish(&d->m);
  ended(d, flat, y);
  return PB_OK;
}

// ---- gather and scatter ----

typedef struct list {
  int count;
  int64_t at[PB_NEST_RANK];
} list;

static list read_list(const pb_flat_op* op, const char* attribute, const char* name) {
  list l;
  l.count = pb__door_list(op, attribute, name, PB_NEST_RANK, l.at);
  return l;
}

static int found(const list* l, int64_t item) {
  for (int k = 0; k < l->count; ++k)
    if (l->at[k] == item) return k;
  return -1;
}

static bool inside(const list* l, int rank) {
  for (int k = 0; k < l->count; ++k)
    if (l->at[k] < 0 || l->at[k] >= rank || found(l, l->at[k]) != k) return false;
  return l->count >= 0;
}

// What both have: `window` are the dims of updates (results) that walk a window, `dropped` those of the operand without
// one, `map` the operand's dims that a vector of indices moves; `batch` and `index_batch` go together.
typedef struct places {
  list window, dropped, map, batch, index_batch;
  int64_t vector; // the dim of the indices that has their vectors
} places;

static pb_status check_places(pb_door* d, const pb_flat_op* op, const places* p, const pb_s1_value* x,
                              const pb_s1_value* indices, const pb_s1_value* u) {
  bool fits = inside(&p->window, u->rank) && inside(&p->dropped, x->rank) && inside(&p->map, x->rank) &&
              inside(&p->batch, x->rank) && inside(&p->index_batch, indices->rank) &&
              p->batch.count == p->index_batch.count && p->vector >= 0 && p->vector <= indices->rank &&
              p->window.count + p->dropped.count + p->batch.count == x->rank &&
              u->rank - p->window.count == indices->rank - (p->vector < indices->rank) &&
              (p->vector < indices->rank ? indices->shape[p->vector] : 1) == p->map.count &&
              !pb_type_is_float(indices->type) && indices->type != PB_I1 && found(&p->index_batch, p->vector) < 0;
  for (int r = 0; fits && r < p->batch.count; ++r)
    fits = found(&p->dropped, p->batch.at[r]) < 0 && found(&p->map, p->batch.at[r]) < 0 &&
           indices->shape[p->index_batch.at[r]] == x->shape[p->batch.at[r]];
  for (int r = 0, s = 0; fits && r < u->rank; ++r) {
    if (found(&p->window, r) >= 0) continue;
    if (s == p->vector) ++s;
    fits = u->shape[r] == indices->shape[s++];
  }
  return fits ? PB_OK : pb__door_refuse(d, op, "dimension numbers that do not fit");
}

// The loop of updates (results) that walks the dim r of the operand inside its window, -1: it has none.
static int window_loop(const places* p, int r, const int* dims) {
  int k = 0;
  if (found(&p->dropped, r) >= 0 || found(&p->batch, r) >= 0) return -1;
  for (int s = 0; s < r; ++s) k += found(&p->dropped, s) < 0 && found(&p->batch, s) < 0;
  return dims[p->window.at[k]];
}

static int64_t window_extent(const places* p, int r, const pb_s1_value* u) {
  int k = 0;
  if (found(&p->dropped, r) >= 0 || found(&p->batch, r) >= 0) return 1;
  for (int s = 0; s < r; ++s) k += found(&p->dropped, s) < 0 && found(&p->batch, s) < 0;
  return u->shape[p->window.at[k]];
}

// The loop that walks the dim s of the indices.
static int index_loop(const places* p, int s, int u_rank, const int* dims) {
  int at = s - (p->vector < s), k = 0;
  for (int r = 0; r < u_rank; ++r)
    if (found(&p->window, r) < 0 && k++ == at) return dims[r];
  return -1;
}

// Component k of the vector that belongs to this turn.
static int component(pb_door* d, const places* p, int indices, int k, int u_rank, const int* dims) {
  const pb_s1_value value = *pb_made(&d->m, indices);
  int access = pb_make_access(&d->m, indices);
  for (int s = 0; s < value.rank; ++s)
    if (s != p->vector) pb_make_move(&d->m, access, s, index_loop(p, s, u_rank, dims), 1);
  if (p->vector < value.rank) d->m.nest.access[access].index[p->vector].cst = k;
  return index_number(&d->m.nest, access, value.type);
}

// Component k of all vectors of constant indices, in their order, brought to [0, last]. NULL: what is read at open
// extents is kept to those where none has to be.
static const int64_t* known_component(pb_door* d, const places* p, const pb_s1_value* at, const int64_t* all, int k,
                                      int64_t last, pb_arena* arena) {
  bool open = d->m.consts->open;
  int64_t most = 0, inner = 1, vector = p->vector < at->rank ? at->shape[p->vector] : 1, count = 1;
  for (int s = 0; s < at->rank; ++s) {
    if (s > p->vector) inner *= at->shape[s];
    if (s != p->vector) count *= at->shape[s];
  }
  int64_t* table = PB_NEW_ARRAY(arena, int64_t, (size_t)count + 1);
  for (int64_t j = 0; j < count; ++j) {
    int64_t place = all[(j / inner * vector + k) * inner + j % inner];
    if (at->type == PB_UI64 && place < 0) place = last;
    if (open && (place < 0 || place > last)) return NULL;
    if (place > most) most = place;
    table[j] = place < 0 ? 0 : place < last ? place : last;
  }
  if (open) pb_consts_guard(d->m.consts, false, most, last, "an index lies inside as it does here");
  return table;
}

// Places that the model says: slices of the operand. false: they are looked up.
static bool gather_known(pb_door* d, const places* p, int x, int indices, int y, const int64_t* size) {
  const pb_s1_value in = *pb_made(&d->m, x), at = *pb_made(&d->m, indices), out = *pb_made(&d->m, y);
  int64_t count = pb_made_elements(&d->m, indices);
  int own[PB_NEST_RANK];
  if (count > PB_PLACES_MOST || !pb__door_elements(d, indices)) return false;
  pb_arena scratch = {0};
  int64_t* all = PB_NEW_ARRAY(&scratch, int64_t, (size_t)count + 1);
  bool known = pb__door_decided(d, indices, (int)count, all) == count;
  pb_places made = {.x = x, .y = y};
  for (int r = 0; r < out.rank; ++r) {
    own[r] = r;
    made.walked[r] = found(&p->window, r) < 0;
  }
  for (int r = 0; known && r < in.rank; ++r) {
    int k = found(&p->map, r), b = found(&p->batch, r);
    made.along[r] = b >= 0 ? index_loop(p, (int)p->index_batch.at[b], out.rank, own) : window_loop(p, r, own);
    if (k < 0) continue;
    made.table[r] = known_component(d, p, &at, all, k, in.shape[r] - size[r], &scratch);
    known = made.table[r] != NULL;
  }
  bool done = known && pb_make_places(&d->m, &made);
  pb_arena_free(&scratch);
  return done;
}

// What the vectors of indices were put together of, component by component: read where it lies, it needs no tensor of
// vectors. false: something else made them.
static bool find_components(pb_door* d, const pb_flat_op* op, const places* p, int* parts) {
  int indices = op->operands[1];
  const pb_flat_op* made = indices < d->flat->value_count ? pb__door_maker_of(d, indices) : NULL;
  if (!made || strcmp(made->name, "stablehlo.concatenate") || d->m.consts->open ||
      made->operand_count != p->map.count || pb__door_int(made, "dimension", -1) != p->vector)
    return false;
  for (int k = 0; k < made->operand_count; ++k) {
    parts[k] = pb__door_in(d, made, k);
    if (parts[k] < 0 || pb_made(&d->m, parts[k])->shape[p->vector] != 1) return false;
  }
  return true;
}

pb_status pb__door_gather(pb_door* d, const pb_flat_op* op) {
  int x = pb__door_in(d, op, 0), indices = pb__door_in(d, op, 1), y = pb__door_result(d, op, 0), dims[PB_NEST_RANK];
  const pb_s1_value in = *pb_made(&d->m, x), out = *pb_made(&d->m, y);
  const char* numbers = "dimension_numbers";
  places p = {read_list(op, numbers, "offset_dims"),
              read_list(op, numbers, "collapsed_slice_dims"),
              read_list(op, numbers, "start_index_map"),
              read_list(op, numbers, "operand_batching_dims"),
              read_list(op, numbers, "start_indices_batching_dims"),
              pb__door_field(op, numbers, "index_vector_dim", 0)};
  const int64_t* size = pb__door_ints(d, op, "slice_sizes", in.rank, 0);
  PB_TRY(check_places(d, op, &p, &in, pb_made(&d->m, indices), &out));
  bool fits = size && p.map.count + 2 < PB_NEST_ACCESSES;
  for (int r = 0; fits && r < in.rank; ++r) fits = size[r] == window_extent(&p, r, &out) && size[r] <= in.shape[r];
  if (!fits) return pb__door_refuse(d, op, "slices that do not fit");
  for (int r = 0; r < in.rank; ++r) // a result of no elements takes none
    pb_consts_guard_of(d->m.consts, size[r], in.shape[r], size[r] == 1 ? out.rank : 0, out.shape, within);
  if (gather_known(d, &p, x, indices, y, size)) return PB_OK;
  int64_t stride[PB_NEST_RANK];
  strides_of(&in, stride);
  int flat = pb__door_flat(d, x), at = -1, parts[PB_NEST_RANK];
  pb_nest* n = pb_make_walk(&d->m, "gather", y, dims);
  bool apart = find_components(d, op, &p, parts);
  for (int k = 0; k < p.map.count; ++k) {
    int64_t r = p.map.at[k];
    int start = component(d, &p, apart ? parts[k] : indices, apart ? 0 : k, out.rank, dims);
    at = plus(n, at, kept(n, start, in.shape[r] - size[r]), stride[r]);
  }
  int access = pb_make_access(&d->m, flat);
  for (int r = 0; r < in.rank; ++r) pb_make_move(&d->m, access, 0, window_loop(&p, r, dims), stride[r]);
  for (int k = 0; k < p.batch.count; ++k)
    pb_make_move(&d->m, access, 0, index_loop(&p, (int)p.index_batch.at[k], out.rank, dims), stride[p.batch.at[k]]);
  (void)pb_nest_gather(n, access, 0, pb__door_as_place(n, at));
  pb_make_end(&d->m, y, dims);
  return PB_OK;
}

static int both(pb_nest* n, int a, int b) { return a < 0 ? b : pb_nest_node(n, PB_OP_AND, PB_I1, a, b); }

// The dim of updates along which the indices' dim s goes.
static int index_dim(const places* p, int s, int u_rank) {
  int dims[PB_NEST_RANK];
  for (int r = 0; r < u_rank; ++r) dims[r] = r;
  return index_loop(p, s, u_rank, dims);
}

// Where a window begins along the operand's dim r; `at`: which window it is, by dims of the updates.
static int64_t known_start(const places* p, const pb_s1_value* indices, const int64_t* numbers, int r,
                           const int64_t* at, int u_rank) {
  int k = found(&p->map, r), b = found(&p->batch, r);
  if (b >= 0) return at[index_dim(p, (int)p->index_batch.at[b], u_rank)];
  if (k < 0) return 0;
  int64_t place = 0;
  for (int s = 0; s < indices->rank; ++s)
    place = place * indices->shape[s] + (s == p->vector ? k : at[index_dim(p, s, u_rank)]);
  return indices->type == PB_UI64 && numbers[place] < 0 ? INT64_MAX : numbers[place];
}

// The windows of updates where the indices are constants, in their order. -1: they are not, or are too many.
static int known_windows(pb_door* d, const places* p, int x, int indices, int u, int most, pb_door_window* windows) {
  enum { NUMBERS = 256 };
  const pb_s1_value *in = pb_made(&d->m, x), *at = pb_made(&d->m, indices), *update = pb_made(&d->m, u);
  int64_t numbers[NUMBERS], count = 1;
  if (pb__door_decided(d, indices, NUMBERS, numbers) < 0) return -1;
  for (int s = 0; s < update->rank; ++s)
    if (found(&p->window, s) < 0) count *= update->shape[s];
  if (count > most) return -1;
  for (int64_t k = 0; k < count; ++k) {
    pb_door_window* w = &windows[k];
    memset(w, 0, sizeof *w);
    int64_t rest = k;
    for (int s = update->rank - 1; s >= 0; --s) {
      if (found(&p->window, s) >= 0) continue;
      w->at[s] = rest % update->shape[s];
      rest /= update->shape[s];
    }
    for (int r = 0; r < in->rank; ++r) {
      int64_t from = known_start(p, at, numbers, r, w->at, update->rank), size = window_extent(p, r, update);
      w->from[r] = from;
      if (from >= in->shape[r] || from <= -size) continue; // outside: [0, 0)
      w->lo[r] = from < 0 ? 0 : from;
      w->hi[r] = from + size < in->shape[r] ? from + size : in->shape[r];
    }
  }
  return (int)count;
}

// Constant indices: each window is a box. Where extents are open it is the elements that are looked at, one by one:
// what a window has inside of the operand hangs on them.
static pb_status scatter_known(pb_door* d, const pb_flat_op* op, const places* p, bool* made) {
  enum { MOST = 64 };
  pb_door_window windows[MOST];
  int x = pb__door_in(d, op, 0), u = pb__door_in(d, op, 2), rank = pb_made(&d->m, x)->rank, own[PB_NEST_RANK];
  int walks[PB_NEST_RANK], count = -1;
  *made = false;
  if (!d->m.consts->open) count = known_windows(d, p, x, pb__door_in(d, op, 1), u, MOST, windows);
  if (count < 0) return PB_OK;
  for (int s = 0; s < PB_NEST_RANK; ++s) walks[s] = -1, own[s] = s;
  for (int r = 0; r < rank; ++r)
    if (window_loop(p, r, own) >= 0) walks[window_loop(p, r, own)] = r;
  return pb__door_change_windows(d, op, walks, count, windows, made);
}

// A node where the condition holds (-1: always), else what is there: the last node.
static void chosen_last(pb_nest* n, int condition, int made, int old) {
  if (condition >= 0) made = pb__door_chosen(n, condition, made, old);
  if (made != n->expr_count - 1) (void)pb_nest_node(n, PB_OP_BITCAST, n->expr[made].type, made, -1);
}

// What the body makes of the element that is there and the update, or the former where the condition does not hold.
static pb_status combine(pb_door* d, const pb_flat_op* op, pb_type type, int old, int update, int condition) {
  pb_nest* n = &d->m.nest;
  int arguments[] = {pb_scalar_decoded(n, old, type), pb_scalar_load(n, update, type)}, result;
  PB_TRY(pb__door_body(d, n, op, 0, (pb_door_ends){2, arguments}, 1, &type, &result));
  chosen_last(n, condition, pb_scalar_encoded(n, result, type), old);
  return PB_OK;
}

// The same of elements that lie in one number, and an update for each.
static pb_status combine_packed(pb_door* d, const pb_flat_op* op, const pb_door_state* s, int old, const int* updates,
                                int condition) {
  pb_nest* n = &d->m.nest;
  int all[2 * PB_DOOR_RESULTS], results[PB_DOOR_RESULTS];
  for (int k = 0; k < s->count; ++k) all[k] = pb__door_unpacked(n, s, old, k);
  for (int k = 0; k < s->count; ++k) all[s->count + k] = pb_scalar_load(n, updates[k], s->types[k]);
  PB_TRY(pb__door_body(d, n, op, 0, (pb_door_ends){2 * s->count, all}, s->count, s->types, results));
  chosen_last(n, condition, pb__door_packed(n, s, results), old);
  return PB_OK;
}

// The dim along which indices say rows, all else of the tensor being the windows; -1: it is not so.
static int rows_of(const places* p, const pb_s1_value* x, const pb_s1_value* u, bool open) {
  if (open || p->map.count != 1 || p->batch.count || x->rank < 1) return -1;
  for (int r = 0; r < x->rank; ++r)
    if (window_extent(p, r, u) != (r == p->map.at[0] ? 1 : x->shape[r])) return -1;
  return (int)p->map.at[0];
}

// Rows go to rows: the tensor keeps its dims, which threads may share (core/s3/kernel/plain.c).
static pb_status scatter_rows(pb_door* d, const pb_flat_op* op, const places* p, int axis) {
  int x = pb__door_in(d, op, 0), u = pb__door_in(d, op, 2), y = pb__door_result(d, op, 0), dims[PB_NEST_RANK];
  const pb_s1_value in = *pb_made(&d->m, x), update = *pb_made(&d->m, u);
  pb_make_copy(&d->m, x, y);
  pb_nest* n = pb_make_walk(&d->m, "point", u, dims);
  int place = component(d, p, pb__door_in(d, op, 1), 0, update.rank, dims);
  int inside = pb_nest_node(n, PB_OP_LESS_EQUALU, PB_I1, place, number(n, in.shape[axis] - 1)); // below 0 is far above
  int where = pb__door_as_place(n, kept(n, place, in.shape[axis] - 1));
  int own = pb_make_access(&d->m, y), from = pb_make_access(&d->m, u);
  for (int r = 0; r < in.rank; ++r)
    if (r != axis) pb_make_move(&d->m, own, r, window_loop(p, r, dims), 1);
  pb_make_along(&d->m, from, dims);
  PB_TRY(combine(d, op, in.type, pb_nest_gather(n, own, axis, where), from, inside));
  int to = pb_make_access(&d->m, y);
  memcpy(n->access[to].index, n->access[own].index, sizeof n->access[to].index);
  n->access[to].gathered = 1 + axis;
  n->stored_at = where;
  n->reduce = PB_ACC_BODY;
  pb_make_finish(&d->m);
  return PB_OK;
}

// The place of this turn's update as one number, and whether it lies inside (-1: always).
static int place_of_update(pb_door* d, const places* p, const pb_s1_value* in, int indices, int u_rank, const int* dims,
                           int* condition) {
  pb_nest* n = &d->m.nest;
  int64_t stride[PB_NEST_RANK];
  int at = -1;
  strides_of(in, stride);
  *condition = -1;
  for (int r = 0; r < in->rank; ++r) {
    int k = found(&p->map, r), b = found(&p->batch, r);
    int place = k >= 0 ? component(d, p, indices, k, u_rank, dims) : -1;
    int loop = b >= 0 ? index_loop(p, (int)p->index_batch.at[b], u_rank, dims) : window_loop(p, r, dims);
    if (loop >= 0) {
      int turn = pb__door_turn(n, loop);
      place = place >= 0 ? two(n, PB_OP_ADD, place, turn) : turn;
    }
    if (place < 0) continue;
    int last = number(n, in->shape[r] - 1);
    int inner = pb_nest_node(n, PB_OP_LESS_EQUALU, PB_I1, place, last); // below 0 is far above
    *condition = both(n, *condition, inner);
    at = plus(n, at, kept(n, place, in->shape[r] - 1), stride[r]);
  }
  return pb__door_as_place(n, at);
}

// Several operands, or complex ones whose parts meet in the body: what is there lies in one number (door.h).
static pb_status scatter_together(pb_door* d, const pb_flat_op* op, const places* p) {
  int results = op->result_count, x[PB_DOOR_RESULTS], u[PB_DOOR_RESULTS], dims[PB_NEST_RANK], access, condition;
  int count = pb__door_flat_operands(d, op, 0, results, PB_DOOR_RESULTS, x), worked[PB_DOOR_RESULTS];
  pb_type types[PB_DOOR_RESULTS];
  bool fits = count > 0 && count == pb__door_flat_operands(d, op, results + 1, results, PB_DOOR_RESULTS, u);
  for (int k = 0; fits && k < count; ++k) types[k] = pb_made(&d->m, x[k])->type;
  if (!fits || !pb__door_fits_state(types, count) || p->map.count + count + 4 > PB_NEST_ACCESSES)
    return pb__door_refuse(d, op, "more than %d operands, or more than 128 bits of them", PB_DOOR_RESULTS);
  const pb_s1_value in = *pb_made(&d->m, x[0]), update = *pb_made(&d->m, u[0]);
  pb_door_state before = pb__door_new_state(d, types, count, in.rank, in.shape);
  pb_door_state after = pb__door_new_state(d, types, count, in.rank, in.shape);
  pb_nest* n = pb_make_walk(&d->m, "point", before.value, dims);
  for (int k = 0; k < count; ++k) {
    worked[k] = pb__door_load(d, x[k], &access);
    if (access >= 0) pb_make_along(&d->m, access, dims);
  }
  (void)pb__door_packed(n, &before, worked);
  pb_make_end(&d->m, before.value, dims);
  int flat = begun(d, before.value, after.value);
  n = pb_make_walk(&d->m, "point", u[0], dims);
  int where = place_of_update(d, p, &in, pb__door_in(d, op, results), update.rank, dims, &condition);
  int own = pb_make_access(&d->m, flat), updates[PB_DOOR_RESULTS];
  for (int k = 0; k < count; ++k) pb_make_along(&d->m, updates[k] = pb_make_access(&d->m, u[k]), dims);
  PB_TRY(combine_packed(d, op, &after, pb_nest_gather(n, own, 0, where), updates, condition));
  store_at(d, flat, where, -1);
  ended(d, flat, after.value);
  pb__door_take_results(d, op, &after);
  return PB_OK;
}

// Operands of one shape, results like them, updates of one shape and of the operands' types.
static bool goes_together(const pb_door* d, const pb_flat_op* op) {
  int results = op->result_count;
  if (results < 1 || op->operand_count != 2 * results + 1) return false;
  const pb_flat_type *x = pb__door_type(d, op->operands[0]), *u = pb__door_type(d, op->operands[results + 1]);
  for (int k = 0; k < results; ++k) {
    const pb_flat_type *a = pb__door_type(d, op->operands[k]), *b = pb__door_type(d, op->operands[results + 1 + k]);
    if (!pb__door_alike(d, op, k, k) || a->type != b->type || a->is_complex != b->is_complex || a->rank != x->rank ||
        b->rank != u->rank || memcmp(a->shape, x->shape, sizeof(int64_t) * (size_t)x->rank) ||
        memcmp(b->shape, u->shape, sizeof(int64_t) * (size_t)u->rank))
      return false;
  }
  return true;
}

// Updates in their order; one whose place lies outside changes nothing.
pb_status pb__door_scatter(pb_door* d, const pb_flat_op* op) {
  int results = op->result_count;
  if (!goes_together(d, op)) return pb__door_refuse(d, op, "operands, updates and results that do not fit");
  int x = pb__door_in(d, op, 0), indices = pb__door_in(d, op, results), u = pb__door_in(d, op, results + 1);
  int dims[PB_NEST_RANK], condition;
  const pb_s1_value in = *pb_made(&d->m, x), update = *pb_made(&d->m, u);
  const char* numbers = "scatter_dimension_numbers";
  places p = {read_list(op, numbers, "update_window_dims"),
              read_list(op, numbers, "inserted_window_dims"),
              read_list(op, numbers, "scatter_dims_to_operand_dims"),
              read_list(op, numbers, "input_batching_dims"),
              read_list(op, numbers, "scatter_indices_batching_dims"),
              pb__door_field(op, numbers, "index_vector_dim", 0)};
  PB_TRY(check_places(d, op, &p, &in, pb_made(&d->m, indices), &update));
  if (p.map.count + 4 > PB_NEST_ACCESSES) return pb__door_refuse(d, op, "updates that do not fit");
  bool by_parts = pb__door_by_parts(op), has_pairs = false, made;
  for (int k = 0; k < results; ++k) has_pairs |= pb__door_type(d, op->results[k])->is_complex;
  if (results > 1 && has_pairs && by_parts) return pb__door_refuse(d, op, "several operands of complex numbers");
  if (results > 1 || (has_pairs && !by_parts)) return scatter_together(d, op, &p);
  PB_TRY(scatter_known(d, op, &p, &made));
  if (made) return PB_OK;
  int axis = rows_of(&p, &in, &update, d->m.consts->open);
  if (axis >= 0) return scatter_rows(d, op, &p, axis);
  int y = pb__door_result(d, op, 0), flat = begun(d, x, y);
  pb_nest* n = pb_make_walk(&d->m, "point", u, dims);
  int where = place_of_update(d, &p, &in, indices, update.rank, dims, &condition);
  int own = pb_make_access(&d->m, flat), from = pb_make_access(&d->m, u);
  pb_make_along(&d->m, from, dims);
  PB_TRY(combine(d, op, in.type, pb_nest_gather(n, own, 0, where), from, condition));
  store_at(d, flat, where, -1);
  ended(d, flat, y);
  return PB_OK;
}
