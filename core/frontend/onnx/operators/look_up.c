// Elements at places that come at run time.
#include "core/frontend/onnx/rows.h"

#include <stdlib.h>
#include <string.h>

#define IN(k) pb__o_in(o, k)
#define OUT(v) pb__o_out(o, 0, v)

// The numbers of constant indices, in the node's arena. NULL: they come at run time.
static int64_t* known_indices(pb_onnx* o) {
  int64_t count;
  return pb__all_integers(o->l, o->n, 1, &o->arena, &count);
}

// Below 0 counted from the end.
static int place(pb_onnx* o, int at, int64_t extent) {
  if (pb_type_is_float(pb__o_type(o, at)->type) || pb__o_type(o, at)->type == PB_I1)
    pb__o_refuse(o, "indices of %s", pb_type_name(pb__o_type(o, at)->type));
  at = pb__o_cast(o, at, PB_I64);
  int below = pb__o_compare(o, "LT", at, pb__o_integer(o, PB_I64, 0));
  return pb__o_select(o, below, pb__o_add(o, at, pb__o_integer(o, PB_I64, extent)), at);
}

static int with_last_dim(pb_onnx* o, int v) {
  int64_t shape[PB_FLAT_RANK + 1];
  int rank = pb__o_type(o, v)->rank;
  memcpy(shape, pb__o_type(o, v)->shape, sizeof(int64_t) * PB_FLAT_RANK);
  shape[rank] = 1;
  return pb__o_reshape(o, v, rank + 1, shape);
}

void pb__o_op_gather(pb_onnx* o) {
  int x = pb__o_in_moved(o, 0), axis = pb__o_axis(o, pb__o_int(o, "axis", 0), pb__o_type(o, x)->rank), at = IN(1);
  const pb_flat_type in = *pb__o_type(o, x), where = *pb__o_type(o, at);
  int rank = in.rank - 1 + where.rank;
  if (rank > PB_FLAT_RANK || where.rank >= PB_FLAT_RANK) pb__o_refuse(o, "a result of more than 8 dims");
  if (pb__o_bad(o)) return;
  pb_onnx_places p = {.dropped = 1, .drop = {axis}, .maps = 1, .map = {axis}};
  int64_t shape[2 * PB_FLAT_RANK];
  int to = 0;
  for (int r = 0; r < in.rank; ++r) {
    p.size[r] = r == axis ? 1 : in.shape[r];
    for (int k = 0; k < where.rank && r == axis; ++k) shape[to++] = where.shape[k];
    if (r == axis) continue;
    p.window[p.windows++] = to;
    shape[to++] = in.shape[r];
  }
  OUT(pb__o_gather(o, x, with_last_dim(o, place(o, at, in.shape[axis])), &p, rank, shape));
}

// Vectors that say every dim: along `axis` the index, along the others where it stands.
static int all_places(pb_onnx* o, int at, int axis, int64_t extent) {
  const pb_flat_type where = *pb__o_type(o, at);
  int64_t shape[PB_FLAT_RANK + 1];
  int parts[PB_FLAT_RANK];
  memcpy(shape, where.shape, sizeof where.shape);
  shape[where.rank] = 1;
  for (int r = 0; r < where.rank; ++r) {
    int v = r == axis ? place(o, at, extent) : pb__o_iota(o, PB_I64, where.rank, where.shape, r);
    parts[r] = pb__o_reshape(o, v, where.rank + 1, shape);
  }
  return pb__o_join(o, where.rank, parts, where.rank);
}

// Whether the indices lie beside the tensor's elements, along the axis any number of them. Where extents are open that
// hangs on these, and so does whether there is an element to be found.
static bool inside(pb_onnx* o, const pb_flat_type* where, const pb_flat_type* in, int axis) {
  bool fits = where->rank == in->rank && in->rank > 0 && in->rank < PB_FLAT_RANK;
  for (int r = 0; fits && r < in->rank; ++r) fits = r == axis || where->shape[r] <= in->shape[r];
  for (int r = 0; fits && r < in->rank; ++r)
    if (r != axis || where->shape[r] > 0)
      pb_consts_guard(o->l->consts, false, r == axis ? 1 : where->shape[r], in->shape[r], "indices that do not fit");
  return fits;
}

static void every_dim(const pb_flat_type* in, pb_onnx_places* p) {
  *p = (pb_onnx_places){.dropped = in->rank, .maps = in->rank};
  for (int r = 0; r < in->rank; ++r) {
    p->drop[r] = p->map[r] = r;
    p->size[r] = 1;
  }
}

void pb__o_op_gather_elements(pb_onnx* o) {
  int x = IN(0), axis = pb__o_axis(o, pb__o_int(o, "axis", 0), pb__o_type(o, x)->rank), at = IN(1);
  const pb_flat_type in = *pb__o_type(o, x), where = *pb__o_type(o, at);
  pb_onnx_places p;
  if (!inside(o, &where, &in, axis)) pb__o_refuse(o, "indices that do not fit");
  if (pb__o_bad(o)) return;
  every_dim(&in, &p);
  OUT(pb__o_gather(o, x, all_places(o, at, axis, in.shape[axis]), &p, where.rank, where.shape));
}

static const char* combiner(pb_onnx* o) {
  static const char* const names[][2] = {
      {"none", "second"}, {"add", "add"}, {"mul", "multiply"}, {"max", "maximum"}, {"min", "minimum"}};
  const char* how = pb__o_text(o, "reduction", "none");
  for (size_t k = 0; k < sizeof names / sizeof *names; ++k)
    if (!strcmp(how, names[k][0])) return names[k][1];
  pb__o_refuse(o, "a reduction '%s'", how);
  return "second";
}

// The last dim of the indices has vectors over x's dims behind `batches`: each its own extent to count from the end.
static int vectors(pb_onnx* o, int at, const pb_flat_type* in, int batches) {
  const pb_flat_type where = *pb__o_type(o, at);
  int64_t extents[PB_FLAT_RANK], count = where.shape[where.rank - 1];
  int64_t* known = batches || o->l->consts->open ? NULL : known_indices(o);
  for (int k = 0; k < count; ++k) extents[k] = in->shape[batches + k];
  if (known) {
    for (int64_t k = 0, all = pb__o_elements(o, at); k < all; ++k) known[k] += known[k] < 0 ? extents[k % count] : 0;
    return pb__o_constant(o, PB_I64, where.rank, where.shape, known);
  }
  at = pb__o_cast(o, at, PB_I64);
  int below = pb__o_compare(o, "LT", at, pb__o_integer(o, PB_I64, 0));
  int more = pb__o_add(o, at, pb__o_constant(o, PB_I64, 1, &count, extents));
  at = pb__o_select(o, below, more, at);
  int parts[PB_FLAT_RANK + 1];
  int64_t shape[PB_FLAT_RANK];
  memcpy(shape, where.shape, sizeof shape);
  shape[where.rank - 1] = 1;
  for (int b = 0; b < batches; ++b) parts[b] = pb__o_iota(o, PB_I64, where.rank, shape, b);
  parts[batches] = at;
  return pb__o_join(o, batches + 1, parts, where.rank - 1);
}

static bool vectors_fit(const pb_flat_type* in, const pb_flat_type* where, int64_t batches) {
  bool fits = where->rank >= 1 && batches >= 0 && batches < where->rank && batches < in->rank &&
              where->shape[where->rank - 1] <= in->rank - batches && !pb_type_is_float(where->type);
  for (int b = 0; fits && b < batches; ++b) fits = where->shape[b] == in->shape[b];
  return fits;
}

// Whether the indices are constant, each of as many dims as the last of theirs is long, and rows one behind the other,
// as slices and masks that are read or set come out of PyTorch: from *first on, where these dims are taken as one.
static bool are_run(pb_onnx* o, const pb_flat_type* where, const pb_flat_type* in, int64_t* first) {
  const int64_t* known = where->rank < 2 ? NULL : known_indices(o);
  if (!known) return false;
  int64_t dims = where->shape[where->rank - 1], count = pb__elements(where->rank - 1, where->shape);
  for (int64_t k = 0; k < count; ++k) {
    int64_t row = 0;
    for (int64_t d = 0; d < dims; ++d) {
      int64_t at = known[k * dims + d];
      if (at < 0) at += in->shape[d];
      if (at < 0 || at >= in->shape[d]) return false;
      row = row * in->shape[d] + at;
    }
    if (!k) *first = row;
    if (row != *first + k) return false;
  }
  return true;
}

// Rows of x from `first` on, where its first dims are taken as one.
static int run_of(pb_onnx* o, int x, int dims, int64_t first, int rank, const int64_t* shape) {
  const pb_flat_type in = *pb__o_type(o, x);
  int64_t rows[PB_FLAT_RANK] = {1}, count = 1;
  for (int r = 0; r < dims; ++r) rows[0] *= in.shape[r];
  for (int r = dims; r < in.rank; ++r) rows[r - dims + 1] = in.shape[r];
  for (int r = 0; r < rank - (in.rank - dims); ++r) count *= shape[r];
  if (dims > 1) x = pb__o_reshape(o, x, in.rank - dims + 1, rows);
  if (count < rows[0]) x = pb__o_part(o, x, 0, first, first + count);
  return pb__o_reshape(o, x, rank, shape);
}

// Updates first, first + 1, ... that go to places at, at + 1, ... of an axis.
typedef struct run {
  int64_t at, first, count;
} run;

enum { MOST_RUNS = 64 };

static int by_place(const void* a, const void* b) {
  int64_t v = ((const run*)a)->at, w = ((const run*)b)->at;
  return v < w ? -1 : v > w;
}

// The runs of so many constant places, in the order of these. 0: two updates are for one place, or there are too many.
static int runs_of(pb_onnx* o, const int64_t* place, int64_t count, int64_t extent, run* runs) {
  int found = 0;
  for (int64_t k = 0; k < count; ++k) {
    int64_t at = place[k] < 0 ? place[k] + extent : place[k];
    run* last = found ? &runs[found - 1] : NULL;
    pb__guard_bound(o->l, place[k], extent);
    if (at < 0 || at >= extent) return 0;
    if (last && last->at + last->count == at) {
      ++last->count;
    } else {
      if (found == MOST_RUNS) return 0;
      runs[found++] = (run){at, k, 1};
    }
  }
  qsort(runs, (size_t)found, sizeof *runs, by_place);
  for (int k = 1; k < found; ++k)
    if (runs[k - 1].at + runs[k - 1].count > runs[k].at) return 0;
  return found;
}

// x with the updates at these places of the axis, or combined with what is there.
static int with_runs(pb_onnx* o, int x, int axis, int updates, const char* how, int count, const run* runs) {
  int64_t extent = pb__o_type(o, x)->shape[axis], done = 0;
  int parts[2 * MOST_RUNS + 1], many = 0;
  for (int k = 0; k < count; ++k) {
    const run* r = &runs[k];
    int part = pb__o_part(o, updates, axis, r->first, r->first + r->count);
    if (strcmp(how, "second")) part = pb__o_binary(o, how, pb__o_part(o, x, axis, r->at, r->at + r->count), part);
    if (r->at > done) parts[many++] = pb__o_part(o, x, axis, done, r->at);
    parts[many++] = part;
    done = r->at + r->count;
  }
  if (done < extent) parts[many++] = pb__o_part(o, x, axis, done, extent);
  return pb__o_join(o, many, parts, axis);
}

// The same of indices that are alike along all dims but the axis, and go all the way along those.
static int whole_runs(pb_onnx* o, const pb_flat_type* where, const pb_flat_type* in, int axis, run* runs) {
  int64_t inner = 1, outer = 1, count = where->shape[axis];
  for (int r = 0; r < where->rank; ++r) {
    if (r != axis && where->shape[r] != in->shape[r]) return 0;
    if (r < axis) outer *= where->shape[r];
    if (r > axis) inner *= where->shape[r];
  }
  int64_t* known = known_indices(o);
  if (!known) return 0;
  for (int64_t k = 0; k < outer * count * inner; ++k)
    if (known[k] != known[k / inner % count * inner]) return 0;
  for (int64_t k = 0; k < count; ++k) known[k] = known[k * inner];
  return runs_of(o, known, count, in->shape[axis], runs);
}

void pb__o_op_scatter_elements(pb_onnx* o) {
  int x = IN(0), axis = pb__o_axis(o, pb__o_int(o, "axis", 0), pb__o_type(o, x)->rank), at = IN(1), with = IN(2);
  const pb_flat_type in = *pb__o_type(o, x), where = *pb__o_type(o, at);
  const char* how = combiner(o);
  pb_onnx_places p;
  if (!inside(o, &where, &in, axis) || !pb__o_same_shape(o, at, with))
    pb__o_refuse(o, "indices or updates that do not fit");
  if (pb__o_bad(o)) return;
  run runs[MOST_RUNS];
  int count = whole_runs(o, &where, &in, axis, runs);
  if (count) {
    OUT(with_runs(o, x, axis, with, how, count, runs));
    return;
  }
  every_dim(&in, &p);
  OUT(pb__o_scatter(o, x, all_places(o, at, axis, in.shape[axis]), with, how, &p));
}

// Indices of no dims mean the whole tensor, each of them.
static int whole_for_each(pb_onnx* o, int x, const pb_flat_type* where) {
  const pb_flat_type in = *pb__o_type(o, x);
  int64_t shape[2 * PB_FLAT_RANK];
  int rank = where->rank - 1 + in.rank;
  memcpy(shape, where->shape, sizeof *shape * (size_t)(where->rank - 1));
  memcpy(shape + where->rank - 1, in.shape, sizeof *shape * (size_t)in.rank);
  if (rank > PB_FLAT_RANK) pb__o_refuse(o, "a result of more than 8 dims");
  return pb__o_bad(o) ? x : pb__o_expand(o, x, rank, shape);
}

static int whole_by_each(pb_onnx* o, int x, int with, const char* how, const pb_flat_type* where) {
  const pb_flat_type in = *pb__o_type(o, x), update = *pb__o_type(o, with);
  int64_t shape[PB_FLAT_RANK + 1], count = pb__elements(where->rank - 1, where->shape);
  bool gone[PB_FLAT_RANK] = {true}, fits = update.rank == where->rank - 1 + in.rank && in.rank < PB_FLAT_RANK;
  for (int r = 0; fits && r < update.rank; ++r)
    fits = update.shape[r] == (r < where->rank - 1 ? where->shape[r] : in.shape[r - where->rank + 1]);
  if (!fits) pb__o_refuse(o, "updates that do not fit");
  if (pb__o_bad(o) || count < 1) return x;
  shape[0] = count;
  memcpy(shape + 1, in.shape, sizeof *shape * (size_t)in.rank);
  with = pb__o_reshape(o, with, in.rank + 1, shape);
  if (strcmp(how, "second") != 0) return pb__o_binary(o, how, x, pb__o_reduce(o, with, how, gone));
  return pb__o_reshape(o, pb__o_part(o, with, 0, count - 1, count), in.rank, in.shape); // the last one stays
}

void pb__o_op_gather_nd(pb_onnx* o) {
  int x = IN(0), at = IN(1), rank = 0;
  const pb_flat_type in = *pb__o_type(o, x), where = *pb__o_type(o, at);
  int64_t batches = pb__o_int(o, "batch_dims", 0), shape[2 * PB_FLAT_RANK];
  if (!vectors_fit(&in, &where, batches)) pb__o_refuse(o, "indices that do not fit");
  if (pb__o_bad(o)) return;
  int maps = (int)(batches + where.shape[where.rank - 1]);
  if (!maps) {
    OUT(whole_for_each(o, x, &where));
    return;
  }
  pb_onnx_places p = {.dropped = maps, .maps = maps};
  for (int r = 0; r < where.rank - 1; ++r) shape[rank++] = where.shape[r];
  for (int r = 0; r < in.rank; ++r) {
    p.size[r] = r < maps ? 1 : in.shape[r];
    if (r < maps) {
      p.drop[r] = p.map[r] = r;
    } else {
      p.window[p.windows++] = rank;
      shape[rank++] = in.shape[r];
    }
  }
  if (rank > PB_FLAT_RANK) pb__o_refuse(o, "a result of more than 8 dims");
  int64_t first = 0;
  if (!pb__o_bad(o) && !batches && are_run(o, &where, &in, &first)) {
    OUT(run_of(o, x, maps, first, rank, shape));
    return;
  }
  if (!pb__o_bad(o)) OUT(pb__o_gather(o, x, vectors(o, at, &in, (int)batches), &p, rank, shape));
}

void pb__o_op_scatter_nd(pb_onnx* o) {
  int x = IN(0), at = IN(1), with = IN(2);
  const pb_flat_type in = *pb__o_type(o, x), where = *pb__o_type(o, at), update = *pb__o_type(o, with);
  const char* how = combiner(o);
  if (!vectors_fit(&in, &where, 0)) pb__o_refuse(o, "indices that do not fit");
  if (pb__o_bad(o)) return;
  int maps = (int)where.shape[where.rank - 1];
  if (!maps) {
    OUT(whole_by_each(o, x, with, how, &where));
    return;
  }
  bool rows = update.rank == in.rank && maps == 1 && where.rank == 2;
  for (int r = 0; rows && r < in.rank; ++r) rows = update.shape[r] == (r ? in.shape[r] : where.shape[0]);
  const int64_t* known = rows ? known_indices(o) : NULL;
  run runs[MOST_RUNS];
  int count = known ? runs_of(o, known, where.shape[0], in.shape[0], runs) : 0;
  if (count) {
    OUT(with_runs(o, x, 0, with, how, count, runs));
    return;
  }
  pb_onnx_places p = {.dropped = maps, .maps = maps};
  for (int r = 0; r < maps; ++r) p.drop[r] = p.map[r] = r;
  for (int r = where.rank - 1; r < update.rank; ++r) p.window[p.windows++] = r;
  OUT(pb__o_scatter(o, x, vectors(o, at, &in, 0), with, how, &p));
}

// Columns: a vector has one row.
void pb__o_op_array_features(pb_onnx* o) {
  int x = pb__o_in_moved(o, 0), at = IN(1);
  int64_t count = pb__o_elements(o, at), shape[PB_FLAT_RANK];
  const pb_flat_type given = *pb__o_type(o, x);
  if (given.rank < 1) pb__o_refuse(o, "of a number");
  if (pb__o_bad(o)) return;
  if (given.rank == 1) x = pb__o_reshape(o, x, 2, (const int64_t[]){1, given.shape[0]});
  const pb_flat_type in = *pb__o_type(o, x);
  int last = in.rank - 1;
  pb_onnx_places p = {.windows = last, .dropped = 1, .drop = {last}, .maps = 1, .map = {last}};
  for (int r = 0; r < last; ++r) {
    p.window[r] = r;
    shape[r] = p.size[r] = in.shape[r];
  }
  p.size[last] = 1;
  shape[last] = count;
  at = place(o, pb__o_reshape(o, at, 2, (const int64_t[]){count, 1}), in.shape[last]);
  OUT(pb__o_gather(o, x, at, &p, in.rank, shape));
}
