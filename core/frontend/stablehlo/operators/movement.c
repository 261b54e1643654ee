// Elements in other places: nothing is computed but where they come from.
#include "core/frontend/stablehlo/door.h"

#include <string.h>

pb_status pb__door_constant(pb_door* d, const pb_flat_op* op) {
  const pb_flat_attr* value = pb_flat_find(op, "value");
  const pb_flat_type *type = &value->type, *result = pb__door_type(d, op->results[0]);
  if (type->type != pb__door_outside(d, op->results[0]) || type->rank != result->rank ||
      memcmp(type->shape, result->shape, sizeof(int64_t) * (size_t)type->rank))
    return pb__door_refuse(d, op, "a value of another type than its result");
  size_t size = ((size_t)pb_type_bits(type->type) + 7) / 8, count = 1, step = type->is_complex ? 2 : 1;
  for (int r = 0; r < type->rank; ++r) count *= (size_t)type->shape[r];
  char* kept = pb_alloc_array(&d->m.consts->arena, count + 1, size);
  const char* from = (const char*)value->bytes + (size_t)d->part * size;
  for (size_t k = 0; k < count; ++k) memcpy(kept + k * size, from + k * step * size, size);
  if (type->type != result->type) // a byte each
    for (size_t k = 0; k < count; ++k) kept[k] = (char)pb__door_coded_number(d, op->results[0], kept[k]);
  d->value[op->results[0]] = pb_make_constant(&d->m, result->type, type->rank, type->shape, kept);
  return PB_OK;
}

pb_status pb__door_same(pb_door* d, const pb_flat_op* op) {
  if (op->result_count != op->operand_count) return pb__door_refuse(d, op, "another number of results");
  for (int k = 0; k < op->result_count; ++k)
    PB_TRY(pb__door_bind(d, op, op->results[k], pb__door_get(d, op->operands[k])));
  return PB_OK;
}

// An extent that is set to what it is.
pb_status pb__door_set_dimension_size(pb_door* d, const pb_flat_op* op) {
  const pb_flat_type* type = pb__door_type(d, op->operands[0]);
  int64_t dim = pb__door_int(op, "dimension", -1), size;
  bool known = pb__door_integers(d, pb__door_in(d, op, 1), 1, &size) == 1;
  if (dim < 0 || dim >= type->rank || !known || size != type->shape[dim])
    return pb__door_refuse(d, op, "to another extent than it has");
  return pb__door_bind(d, op, op->results[0], pb__door_get(d, op->operands[0]));
}

// The turn of a loop as a number of the type.
static int turn(pb_nest* n, int dim, pb_type type) {
  if (dim < 0) return pb_scalar_number(n, type, 0);
  int id = pb_nest_node(n, PB_OP_INDEX, PB_I64, -1, -1);
  n->expr[id].operand = dim;
  return pb_scalar_converted(n, id, PB_I64, type);
}

pb_status pb__door_iota(pb_door* d, const pb_flat_op* op) {
  int y = pb__door_result(d, op, 0), dims[PB_NEST_RANK];
  int64_t axis = pb__door_int(op, "iota_dimension", 0);
  pb_type type = pb_made(&d->m, y)->type;
  if (axis < 0 || axis >= pb_made(&d->m, y)->rank || type == PB_I1) return pb__door_refuse(d, op, "no such dimension");
  (void)pb_make_walk(&d->m, "point", y, dims);
  pb__door_store(d, turn(&d->m.nest, dims[axis], type), y, dims);
  if (pb__door_type(d, op->results[0])->is_complex)
    pb__door_set(d, op->results[0], (pb_door_value){y, pb__door_zeros(d, y)});
  return PB_OK;
}

// y from x, whose index r is scale[r] * y's index from[r] + shift[r]; from -1: shift alone.
static void moved(pb_door* d, int x, int y, const int* from, const int64_t* scale, const int64_t* shift) {
  int dims[PB_NEST_RANK];
  pb_nest* n = pb_make_walk(&d->m, "copy", y, dims);
  int access = pb_make_access(&d->m, x);
  for (int r = 0; r < pb_made(&d->m, x)->rank; ++r) {
    if (from[r] >= 0) pb_make_move(&d->m, access, r, dims[from[r]], scale[r]);
    n->access[access].index[r].cst = shift[r];
  }
  (void)pb_nest_load(n, access);
  pb_make_end(&d->m, y, dims);
}

static const int64_t none[PB_NEST_RANK], one[PB_NEST_RANK] = {1, 1, 1, 1, 1, 1, 1, 1};

void pb__door_fill(pb_door* d, int y, int from) {
  int dims[PB_NEST_RANK], access;
  (void)pb_make_walk(&d->m, "init", y, dims);
  int node = pb__door_load(d, from, &access);
  pb__door_store(d, node, y, dims);
}

pb_status pb__door_broadcast_in_dim(pb_door* d, const pb_flat_op* op) {
  int x = pb__door_in(d, op, 0), y = pb__door_result(d, op, 0), from[PB_NEST_RANK];
  const pb_s1_value *in = pb_made(&d->m, x), *out = pb_made(&d->m, y);
  const int64_t* dims = pb__door_ints(d, op, "broadcast_dimensions", in->rank, 0);
  bool fits = dims && in->type == out->type;
  for (int r = 0; fits && r < in->rank; ++r) {
    fits = dims[r] >= 0 && dims[r] < out->rank && (in->shape[r] == 1 || in->shape[r] == out->shape[dims[r]]);
    from[r] = in->shape[r] == 1 ? -1 : fits ? (int)dims[r] : -1;
  }
  if (!fits) return pb__door_refuse(d, op, "dimensions that do not fit");
  const void* splat = pb_made_elements(&d->m, x) == 1 ? pb_made_splat(&d->m, x) : NULL;
  bool open = d->flat->values[op->results[0]].is_open || (d->m.consts->open && pb_made_elements(&d->m, y) > 32);
  if (splat && (open || pb_made_elements(&d->m, y) > 1 << 16)) { // whoever reads elements has the number all the same
    pb__door_fill(d, y, x);
    d->m.program->values[y].filled_with = 1 + x;
    return PB_OK;
  }
  if (splat) { // stays a constant
    const pb_s1_value type = *out;
    size_t size = ((size_t)pb_type_bits(type.type) + 7) / 8, count = (size_t)pb_made_elements(&d->m, y);
    char* all = pb_alloc_array(&d->m.consts->arena, count, size);
    for (size_t k = 0; k < count; ++k) memcpy(all + k * size, splat, size);
    d->value[op->results[0]] = pb_make_constant(&d->m, type.type, type.rank, type.shape, all);
    return PB_OK;
  }
  moved(d, x, y, from, one, none);
  return PB_OK;
}

int pb__door_copy(pb_door* d, int value, int rank, const int64_t* shape) {
  int y = pb_make_value(&d->m, pb_made(&d->m, value)->type, rank, shape);
  pb_make_copy(&d->m, value, y);
  return y;
}

int pb__door_flat(pb_door* d, int value) {
  int64_t all = pb_made_elements(&d->m, value);
  return pb_made(&d->m, value)->rank == 1 ? value : pb__door_copy(d, value, 1, &all);
}

pb_status pb__door_reshape(pb_door* d, const pb_flat_op* op) {
  int x = pb__door_in(d, op, 0);
  const pb_flat_type* type = pb__door_type(d, op->results[0]);
  int64_t elements = 1;
  for (int r = 0; r < type->rank; ++r) elements *= type->shape[r];
  if (elements != pb_made_elements(&d->m, x) || type->type != pb_made(&d->m, x)->type)
    return pb__door_refuse(d, op, "another number of elements");
  d->value[op->results[0]] = pb__door_copy(d, x, type->rank, type->shape);
  return PB_OK;
}

pb_status pb__door_transpose(pb_door* d, const pb_flat_op* op) {
  int x = pb__door_in(d, op, 0), y = pb__door_result(d, op, 0), from[PB_NEST_RANK];
  const pb_s1_value *in = pb_made(&d->m, x), *out = pb_made(&d->m, y);
  const int64_t* order = pb__door_ints(d, op, "permutation", in->rank, 0);
  unsigned seen = 0;
  bool fits = order && in->rank == out->rank;
  for (int r = 0; fits && r < in->rank; ++r) {
    fits = order[r] >= 0 && order[r] < in->rank && in->shape[order[r]] == out->shape[r];
    if (!fits) break;
    seen |= 1u << order[r];
    from[order[r]] = r;
  }
  if (!fits || seen != (1u << in->rank) - 1) return pb__door_refuse(d, op, "no permutation that fits");
  moved(d, x, y, from, one, none);
  return PB_OK;
}

pb_status pb__door_slice(pb_door* d, const pb_flat_op* op) {
  int x = pb__door_in(d, op, 0), y = pb__door_result(d, op, 0), from[PB_NEST_RANK];
  const pb_s1_value *in = pb_made(&d->m, x), *out = pb_made(&d->m, y);
  const int64_t* start = pb__door_ints(d, op, "start_indices", in->rank, 0);
  const int64_t* limit = pb__door_ints(d, op, "limit_indices", in->rank, 0);
  const int64_t* step = pb__door_ints(d, op, "strides", in->rank, 1);
  bool fits = start && limit && step && in->rank == out->rank;
  for (int r = 0; fits && r < in->rank; ++r) {
    from[r] = r;
    fits = start[r] >= 0 && step[r] > 0 && limit[r] <= in->shape[r] && limit[r] > start[r] &&
           (limit[r] - start[r] + step[r] - 1) / step[r] == out->shape[r];
  }
  if (!fits) return pb__door_refuse(d, op, "bounds that do not fit");
  moved(d, x, y, from, step, start);
  return PB_OK;
}

pb_status pb__door_reverse(pb_door* d, const pb_flat_op* op) {
  int x = pb__door_in(d, op, 0), y = pb__door_result(d, op, 0), from[PB_NEST_RANK];
  const pb_s1_value *in = pb_made(&d->m, x), *out = pb_made(&d->m, y);
  const pb_flat_attr* turned = pb_flat_find(op, "dimensions");
  int64_t scale[PB_NEST_RANK], shift[PB_NEST_RANK] = {0};
  bool fits = turned->ints && in->rank == out->rank;
  for (int r = 0; fits && r < in->rank; ++r) {
    fits = in->shape[r] == out->shape[r];
    from[r] = r;
    scale[r] = 1;
  }
  for (int k = 0; fits && k < turned->count; ++k) {
    int64_t r = turned->ints[k];
    fits = r >= 0 && r < in->rank && scale[r] == 1;
    if (!fits) break;
    scale[r] = -1;
    shift[r] = in->shape[r] - 1;
  }
  if (!fits) return pb__door_refuse(d, op, "dimensions that do not fit");
  moved(d, x, y, from, scale, shift);
  return PB_OK;
}

pb_status pb__door_concatenate(pb_door* d, const pb_flat_op* op) {
  int y = pb__door_result(d, op, 0);
  const pb_s1_value out = *pb_made(&d->m, y);
  int64_t axis = pb__door_int(op, "dimension", 0), at = 0;
  if (axis < 0 || axis >= out.rank) return pb__door_refuse(d, op, "no such dimension");
  for (int k = 0; k < op->operand_count; ++k) {
    if (pb__door_is_empty(d, op->operands[k])) continue;
    const pb_s1_value* in = pb_made(&d->m, pb__door_in(d, op, k));
    bool fits = in->rank == out.rank && in->type == out.type;
    for (int r = 0; fits && r < in->rank; ++r) fits = r == axis || in->shape[r] == out.shape[r];
    if (!fits) return pb__door_refuse(d, op, "operand %d does not fit", k);
    at += in->shape[axis];
  }
  if (at != out.shape[axis]) return pb__door_refuse(d, op, "operands that do not fill the result");
  at = 0;
  for (int k = 0; k < op->operand_count; ++k) {
    if (pb__door_is_empty(d, op->operands[k])) continue;
    int x = pb__door_in(d, op, k), dims[PB_NEST_RANK];
    pb_nest* n = pb_make_walk(&d->m, "copy", x, dims);
    pb_make_along(&d->m, pb_make_access(&d->m, x), dims);
    (void)pb_nest_load(n, 0);
    int to = pb_make_access(&d->m, y);
    pb_make_along(&d->m, to, dims);
    n->access[to].index[axis].cst = at;
    at += pb_made(&d->m, x)->shape[axis];
    pb_make_finish(&d->m);
  }
  return PB_OK;
}

static int both(pb_nest* n, int a, int b) { return a < 0 ? b : pb_nest_node(n, PB_OP_AND, PB_I1, a, b); }

// Whether the index of y lies where x goes, and, with gaps, on it: conditions along one dim. always: those too that
// hold at these extents.
static int inside(pb_nest* n, int dim, int64_t low, int64_t step, int64_t extent, int64_t of, bool always) {
  int condition = -1;
  if (dim < 0) {
    bool is = low <= 0 && -low % step == 0 && -low / step < extent;
    int yes = pb_nest_integer(n, PB_I64, 1);
    return pb_nest_node(n, PB_OP_EQUAL, PB_I1, pb_nest_integer(n, PB_I64, is), yes);
  }
  int at = turn(n, dim, PB_I64), from = pb_nest_integer(n, PB_I64, low);
  int64_t last = low + (extent - 1) * step;
  if (always || low > 0) condition = pb_nest_node(n, PB_OP_LESS_EQUAL, PB_I1, from, at);
  if (always || last < of - 1)
    condition = both(n, condition, pb_nest_node(n, PB_OP_LESS_EQUAL, PB_I1, at, pb_nest_integer(n, PB_I64, last)));
  if (step > 1) {
    int rest = pb_nest_node(n, PB_OP_SUB, PB_I64, at, from);
    rest = pb_nest_node(n, PB_OP_REM, PB_I64, rest, pb_nest_integer(n, PB_I64, step));
    condition = both(n, condition, pb_nest_node(n, PB_OP_EQUAL, PB_I1, rest, pb_nest_integer(n, PB_I64, 0)));
  }
  return condition;
}

// x along one dim of y: the quotient, kept inside.
static int place(pb_nest* n, int dim, int64_t low, int64_t step, int64_t extent) {
  int at = turn(n, dim, PB_I64);
  at = pb_nest_node(n, PB_OP_SUB, PB_I64, at, pb_nest_integer(n, PB_I64, low));
  if (step > 1) at = pb_nest_node(n, PB_OP_DIV, PB_I64, at, pb_nest_integer(n, PB_I64, step));
  at = pb_nest_node(n, PB_OP_MAX, PB_I64, at, pb_nest_integer(n, PB_I64, 0));
  return pb_nest_node(n, PB_OP_MIN, PB_I64, at, pb_nest_integer(n, PB_I64, extent - 1));
}

static void put_box(pb_door* d, int x, int with, int y, const int64_t* lo, const int64_t* hi) {
  const pb_s1_value out = *pb_made(&d->m, y);
  int dims[PB_NEST_RANK], access;
  for (int r = 0; r < out.rank; ++r)
    if (hi[r] <= lo[r]) return;
  (void)pb_make_start(&d->m, with >= 0 ? "pad" : "copy");
  for (int r = 0; r < out.rank; ++r) dims[r] = pb_make_loop(&d->m, hi[r] - lo[r]);
  const void* splat = with >= 0 ? pb_made_splat(&d->m, with) : NULL;
  if (splat && pb_type_is_narrow(out.type) && pb_made(&d->m, with)->type == out.type) { // its code: nests see a fill
    (void)pb_scalar_constant(&d->m.nest, pb_type_stored(out.type), splat);
  } else if (with >= 0) {
    pb__door_last(d, pb__door_load(d, with, &access), out.type);
  } else {
    access = pb_make_access(&d->m, x);
    pb_make_along(&d->m, access, dims);
    for (int r = 0; r < out.rank; ++r) d->m.nest.access[access].index[r].cst = lo[r];
    (void)pb_nest_load(&d->m.nest, access);
  }
  int to = pb_make_access(&d->m, y);
  pb_make_along(&d->m, to, dims);
  for (int r = 0; r < out.rank; ++r) d->m.nest.access[to].index[r].cst = lo[r];
  pb_make_finish(&d->m);
}

// Boxes dim by dim: in front of the inner one and behind it, within it along the dims before.
void pb__door_surround(pb_door* d, int x, int with, int y, const int64_t* from, const int64_t* size) {
  const pb_s1_value out = *pb_made(&d->m, y);
  int64_t lo[PB_NEST_RANK], hi[PB_NEST_RANK];
  for (int axis = 0; axis < out.rank; ++axis)
    for (int behind = 0; behind < 2; ++behind) {
      for (int r = 0; r < out.rank; ++r) {
        lo[r] = r < axis ? from[r] : 0;
        hi[r] = r < axis ? from[r] + size[r] : out.shape[r];
      }
      lo[axis] = behind ? from[axis] + size[axis] : 0;
      hi[axis] = behind ? out.shape[axis] : from[axis];
      put_box(d, x, with, y, lo, hi);
    }
}

// Edges alone, without gaps: y is made in pieces, of which one is what it keeps of x.
static bool pad_by_pieces(pb_door* d, int x, int with, const int64_t* low, const int64_t* step, int y) {
  const pb_s1_value in = *pb_made(&d->m, x), out = *pb_made(&d->m, y);
  int64_t first[PB_NEST_RANK] = {0}, at[PB_NEST_RANK] = {0}, size[PB_NEST_RANK] = {0};
  int dims[PB_NEST_RANK];
  for (int r = 0; r < in.rank; ++r) {
    first[r] = low[r] < 0 ? -low[r] : 0;
    at[r] = low[r] < 0 ? 0 : low[r];
    size[r] = in.shape[r] - first[r] < out.shape[r] - at[r] ? in.shape[r] - first[r] : out.shape[r] - at[r];
    if (size[r] < 1 || (step[r] != 1 && in.shape[r] > 1)) return false;
  }
  pb__door_surround(d, -1, with, y, at, size);
  pb_nest* n = pb_make_start(&d->m, "copy");
  for (int r = 0; r < in.rank; ++r) dims[r] = pb_make_loop(&d->m, size[r]);
  int from = pb_make_access(&d->m, x);
  pb_make_along(&d->m, from, dims);
  (void)pb_nest_load(n, from);
  int to = pb_make_access(&d->m, y);
  pb_make_along(&d->m, to, dims);
  for (int r = 0; r < in.rank; ++r) {
    n->access[from].index[r].cst = first[r];
    n->access[to].index[r].cst = at[r];
  }
  pb_make_finish(&d->m);
  return true;
}

// Each element of y looks for its own of x, by numbers that its body computes: gaps, and edges that keep nothing of x.
// step: 1 + the gap. Where edges hang on open extents, and which of them there are, this is the one form for all.
static void pad(pb_door* d, int x, int with, const int64_t* low, const int64_t* step, int y) {
  if (!d->borders && pad_by_pieces(d, x, with, low, step, y)) return;
  const pb_s1_value in = *pb_made(&d->m, x), out = *pb_made(&d->m, y);
  int flat = pb__door_flat(d, x), dims[PB_NEST_RANK];
  pb_nest* n = pb_make_walk(&d->m, "gather", y, dims);
  int condition = -1, at = -1, access;
  for (int r = 0; r < in.rank; ++r) {
    int c = inside(n, dims[r], low[r], step[r], in.shape[r], out.shape[r], d->borders);
    if (c >= 0) condition = both(n, condition, c);
    int p = place(n, dims[r], low[r], step[r], in.shape[r]);
    if (at >= 0) at = pb_nest_node(n, PB_OP_MUL, PB_I64, at, pb_nest_integer(n, PB_I64, in.shape[r]));
    at = at >= 0 ? pb_nest_node(n, PB_OP_ADD, PB_I64, at, p) : p;
  }
  if (at < 0) at = pb_nest_integer(n, PB_I64, 0);
  int number = pb_nest_gather(n, pb_make_access(&d->m, flat), 0, pb_nest_node(n, PB_OP_SEXT, PB_INDEX, at, -1));
  if (condition >= 0) {
    int other = pb_scalar_encoded(n, pb__door_load(d, with, &access), in.type);
    int chosen = pb_nest_node(n, PB_OP_SELECT, n->expr[number].type, condition, number);
    n->expr[chosen].args[2] = other;
  }
  pb_make_end(&d->m, y, dims);
}

pb_status pb__door_padded(pb_door* d, const pb_flat_op* op, int x, int with, const int64_t* edges, const int64_t* step,
                          int* y) {
  const pb_s1_value in = *pb_made(&d->m, x);
  int64_t low[PB_NEST_RANK], shape[PB_NEST_RANK], elements = 1;
  for (int r = 0; r < in.rank; ++r) {
    low[r] = edges[2 * r];
    shape[r] = (in.shape[r] - 1) * step[r] + 1 + low[r] + edges[2 * r + 1];
    if (shape[r] < 1 || shape[r] > pb_most_elements(d->m.consts) / elements)
      return pb__door_refuse(d, op, "a padding that does not fit");
    elements *= shape[r];
  }
  *y = pb_make_value(&d->m, in.type, in.rank, shape);
  pad(d, x, with, low, step, *y);
  return PB_OK;
}

pb_status pb__door_pad(pb_door* d, const pb_flat_op* op) {
  int x = pb__door_in(d, op, 0), with = pb__door_in(d, op, 1), y = pb__door_result(d, op, 0);
  const pb_s1_value *in = pb_made(&d->m, x), *out = pb_made(&d->m, y);
  const int64_t* low = pb__door_ints(d, op, "edge_padding_low", in->rank, 0);
  const int64_t* high = pb__door_ints(d, op, "edge_padding_high", in->rank, 0);
  const int64_t* gap = pb__door_ints(d, op, "interior_padding", in->rank, 0);
  int64_t step[PB_NEST_RANK];
  bool fits = low && high && gap && out->rank == in->rank && pb_made(&d->m, with)->rank == 0 &&
              pb_made(&d->m, with)->type == in->type;
  for (int r = 0; fits && r < in->rank; ++r) {
    fits = gap[r] >= 0 && low[r] + high[r] + in->shape[r] + (in->shape[r] - 1) * gap[r] == out->shape[r];
    step[r] = gap[r] + 1;
    d->gaps |= gap[r] > 0;
  }
  if (!fits) return pb__door_refuse(d, op, "paddings that do not fit");
  pad(d, x, with, low, step, y);
  return PB_OK;
}

// The same bits; of another width the last dim counts the parts.
pb_status pb__door_bitcast_convert(pb_door* d, const pb_flat_op* op) {
  if (pb__door_alike(d, op, 0, 0)) return pb__door_bind(d, op, op->results[0], pb__door_get(d, op->operands[0]));
  int x = pb__door_in(d, op, 0), y = pb__door_result(d, op, 0), dims[PB_NEST_RANK];
  const pb_s1_value in = *pb_made(&d->m, x), out = *pb_made(&d->m, y);
  pb_type from = pb_type_stored(in.type), to = pb_type_stored(out.type);
  int a = pb_type_bits(from), b = pb_type_bits(to);
  if (in.type == PB_I1 || out.type == PB_I1) return pb__door_refuse(d, op, "of truths into another type");
  if (pb__door_type(d, op->operands[0])->is_complex || pb__door_type(d, op->results[0])->is_complex)
    return pb__door_refuse(d, op, "of complex numbers into another type");
  const pb_s1_value* less = a < b ? &out : &in; // the one without a dim for parts
  int parts = a < b ? b / a : a / b;
  bool fits = a == b ? in.rank == out.rank
                     : (a < b ? &in : &out)->rank == less->rank + 1 && (a < b ? &in : &out)->shape[less->rank] == parts;
  for (int r = 0; fits && r < less->rank; ++r) fits = in.shape[r] == out.shape[r];
  if (!fits) return pb__door_refuse(d, op, "a shape that does not fit");
  pb_nest* n = pb_make_walk(&d->m, "point", y, dims);
  pb_type whole = a < b ? pb_type_stored(b == 16   ? PB_I16
                                         : b == 32 ? PB_I32
                                                   : PB_I64)
                        : (a == 8    ? PB_I8
                           : a == 16 ? PB_I16
                           : a == 32 ? PB_I32
                                     : PB_I64);
  int bits = -1;
  for (int p = 0; p < (a < b ? parts : 1); ++p) {
    int access = pb_make_access(&d->m, x);
    for (int r = 0; r < less->rank; ++r) pb_make_move(&d->m, access, r, dims[r], 1);
    if (a < b) n->access[access].index[less->rank].cst = p;
    int v = pb_nest_load(n, access);
    if (from == PB_F32 || from == PB_F64) v = pb_nest_node(n, PB_OP_BITCAST, a == 32 ? PB_I32 : PB_I64, v, -1);
    if (a < b) {
      v = pb_nest_node(n, PB_OP_ZEXT, whole, v, -1);
      if (p) v = pb_nest_node(n, PB_OP_SHL, whole, v, pb_nest_integer(n, whole, p * a));
      v = bits < 0 ? v : pb_nest_node(n, PB_OP_OR, whole, bits, v);
    }
    bits = v;
  }
  if (a > b) {
    int shift = turn(n, dims[less->rank], PB_I64);
    shift = pb_nest_node(n, PB_OP_MUL, PB_I64, shift, pb_nest_integer(n, PB_I64, b));
    if (a < 64) shift = pb_nest_node(n, PB_OP_TRUNC, whole, shift, -1);
    bits = pb_nest_node(n, PB_OP_SHRU, whole, bits, shift);
    bits = pb_nest_node(n, PB_OP_TRUNC, b == 8 ? PB_I8 : b == 16 ? PB_I16 : PB_I32, bits, -1);
  }
  if (to == PB_F32 || to == PB_F64) (void)pb_nest_node(n, PB_OP_BITCAST, to, bits, -1);
  pb_make_end(&d->m, y, dims);
  return PB_OK;
}
